"""Matrices side by side, and matrices in another shape."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import cupy
import numpy as np

from ...dtypes import BOOL, FP32, FP64, INT8, INT32, INT64
from ...formats import CSR, Pattern, index_dtype
from ...memory.allocation import require
from ..constants import shared_value
from ..registry import RESIDENT, implements
from ..spec_layout import Concat, Reshape
from . import samples
from .kernel import Kernel, kernel
from .launch import BLOCK, grid, values_of
from .primitives import exclusive_scan
from .specialise import constants, typedefs


@implements(Concat, engine="cuda")
def concat(q: Concat) -> CSR:
    """t(rows[n] + i, cols[n] + j) = tiles[n](i, j): one pass over the entries of each tile; does not synchronise."""
    nvals = sum(tile.nvals for tile in q.tiles)
    iso = shared_value(q.tiles, q.dtype)
    offset, column = index_dtype(nvals), index_dtype(q.ncols)
    width = column.itemsize + (0 if iso is not None else q.dtype.itemsize)
    require("concat", "cuda", nvals * width + 3 * (q.nrows + 1) * offset.itemsize)
    indices = cupy.empty(nvals, column)
    values = None if iso is not None else cupy.empty(nvals, q.dtype)
    lengths = cupy.zeros(q.nrows, offset)
    plans = [_plan(*_types(tile), offset, column, q.dtype) for tile in q.tiles]
    for row, tile, (measure, _) in zip(q.rows, q.tiles, plans, strict=True):
        measure(grid(tile.nrows), BLOCK, tile.nrows, tile.indptr, lengths[row:])
    indptr = exclusive_scan(lengths, offset)
    free = None if all(map(q.alone, range(len(q.tiles)))) else indptr.copy()
    first = 0
    for n, (row, tile, (measure, copy)) in enumerate(zip(q.rows, q.tiles, plans, strict=True)):
        rows = None if free is None or q.alone(n) else free[row:]
        operand = tile.nvals, tile.nrows, tile.indptr, tile.indices, *values_of(tile)
        copy(grid(tile.nvals), BLOCK, *operand, q.cols[n], rows, first, indices, values)
        if rows is not None:
            measure(grid(tile.nrows), BLOCK, tile.nrows, tile.indptr, rows)
        first += tile.nvals
    return CSR(Pattern(q.nrows, q.ncols, indptr, indices), q.dtype, values, iso)


@implements(Reshape, engine="cuda", accepts=RESIDENT)
def reshape(q: Reshape) -> CSR:
    """t(p // ncols, p % ncols) = a(i, j) for p = i * a.ncols + j: three launches; the values are shared."""
    a, column = q.a, index_dtype(q.ncols)
    require("reshape", "cuda", (a.nvals + a.nrows) * column.itemsize + (q.nrows + 1) * a.indptr.itemsize)
    indptr, indices = cupy.empty(q.nrows + 1, a.indptr.dtype), cupy.empty(a.nvals, column)
    columns = cupy.empty(a.nrows, column)
    text = _prologue(*_types(a), a.indptr.dtype, column, a.dtype)
    offsets, rows, write = (kernel("layout.cuh", f"reshape_{name}", text) for name in ("offsets", "rows", "columns"))
    offsets(grid(q.nrows + 1), BLOCK, a.nrows, a.ncols, a.indptr, a.indices, q.nrows, q.ncols, indptr)
    if a.nvals:  # there is a column
        rows(grid(a.nrows), BLOCK, a.nrows, a.ncols, q.ncols, columns)
        write(grid(a.nvals), BLOCK, a.nvals, a.nrows, a.indptr, a.indices, columns, q.ncols, indices)
    return CSR(Pattern(q.nrows, q.ncols, indptr, indices), a.dtype, a.values, a.iso)


def _types(a: CSR) -> tuple[np.dtype[Any], np.dtype[Any], np.dtype[Any]]:
    """Return the types of row offsets, columns and values."""
    return a.indptr.dtype, a.indices.dtype, a.dtype


@functools.lru_cache(maxsize=1024)
def _plan(*types: np.dtype[Any]) -> tuple[Kernel, Kernel]:
    """Return the kernels that add up row lengths and copy entries, for the types P, I, A, O, J and Z."""
    text = _prologue(*types)
    return kernel("layout.cuh", "concat_lengths", text), kernel("layout.cuh", "concat_entries", text)


def _prologue(*types: np.dtype[Any]) -> str:
    return typedefs(**dict(zip(("P", "I", "A", "O", "J", "Z"), types, strict=True))) + constants(FORM=2)


def catalogue() -> Iterator[samples.Entry]:
    """Yield (kernel file, prologue): the rows of the catalogue for the kernels of this module."""
    for types in ((INT32, INT32, FP32, INT32, INT64, FP64), (INT64, INT64, INT8, INT64, INT32, BOOL)):
        yield "layout.cuh", _prologue(*types)
