"""The CPU engine: numba kernels over the same stores as the GPU's, on all cores, compiled once and kept on disk."""

from . import build, convert, mxv, scatter, transpose

__all__ = ["build", "convert", "mxv", "scatter", "transpose"]
