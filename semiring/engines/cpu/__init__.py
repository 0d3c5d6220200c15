"""The CPU engine: numba kernels on the same stores as the GPU's, on all cores, compiled once and cached on disk."""

from . import (
    apply,
    build,
    closure,
    codecs,
    convert,
    ewise,
    extract,
    link,
    mxm,
    mxv,
    permute,
    reduce,
    scatter,
    select,
    transpose,
    write,
)

__all__ = [
    "apply",
    "build",
    "closure",
    "codecs",
    "convert",
    "ewise",
    "extract",
    "link",
    "mxm",
    "mxv",
    "permute",
    "reduce",
    "scatter",
    "select",
    "transpose",
    "write",
]
