"""The CPU engine: numba kernels over the same stores as the GPU's, on all cores, compiled once and kept on disk."""

from . import (
    apply,
    build,
    closure,
    convert,
    ewise,
    extract,
    link,
    mxm,
    mxv,
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
    "convert",
    "ewise",
    "extract",
    "link",
    "mxm",
    "mxv",
    "reduce",
    "scatter",
    "select",
    "transpose",
    "write",
]
