"""Transposition of dense matrices."""

from __future__ import annotations

import functools
from typing import Any

import cupy
import numpy as np

from ...dtypes import UINT8, UINT64
from ...formats import CSR, Array, FullPattern
from ...formats.full import every_row_full
from ..registry import FULL, implements
from ..requests.operations import Transpose
from .kernel import Handles, Kernel, kernel
from .primitives import moved
from .specialize import typedefs

__all__ = ["transposed_values"]

_FILE = "transpose_full.cuh"
_BLOCK = 256
_SIDE = 32


def _every_row(q: Transpose) -> bool:
    return isinstance(q.a.pattern, FullPattern) and q.a.pattern.every_row


@implements(
    Transpose,
    engine="cuda",
    accepts=FULL,
    when=_every_row,
)
def transpose_full(q: Transpose) -> CSR:
    """t(j, i) = a(i, j), where every position holds a value: one launch."""
    a = q.a
    values = None if a.values is None else transposed_values(a.values, a.nrows, a.ncols)
    return CSR(every_row_full(a.ncols, a.nrows, "cuda"), a.dtype, values, a.iso)


def transposed_values(values: Array, nrows: int, ncols: int) -> Array:
    """Return the values of a row-major array of this shape by columns."""
    out = cupy.empty(values.size, values.dtype)
    across = -(-ncols // _SIDE)
    _kernel(values.dtype)(across * -(-nrows // _SIDE), _BLOCK, values, nrows, ncols, across, out)
    return out


@functools.cache
def _kernel(value: np.dtype[Any]) -> Kernel:
    return kernel(_FILE, "transpose_full", typedefs(V=moved(value)))


def samples() -> Handles:
    """Return the kernels of this module for representative types and operators: see `catalog`."""
    return _kernel(UINT8), _kernel(UINT64)
