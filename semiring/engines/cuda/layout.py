"""Matrices side by side, and matrices in another shape."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any, NamedTuple

import cupy
import numpy as np

from ...dtypes import BOOL, FP32, FP64, INT8, INT32, INT64
from ...formats import CSR, Array, Pattern, index_dtype
from ...memory.allocation import require
from ..constants import shared_value
from ..registry import RESIDENT, implements
from ..spec_layout import Concat, Reshape
from . import samples
from .kernel import Kernel, kernel
from .launch import BLOCK, grid, one_wave, values_of
from .primitives import exclusive_scan, put
from .specialise import constants, typedefs


@implements(Concat, engine="cuda")
def concat(q: Concat) -> CSR:
    """t(rows[n] + i, cols[n] + j) = tiles[n](i, j): one pass over the entries of each tile; does not synchronise.

    Arrays that one tile alone determines are shared with it.
    """
    nvals = sum(tile.nvals for tile in q.tiles)
    iso = shared_value(q.tiles, q.dtype)
    offset, column = index_dtype(nvals), index_dtype(q.ncols)
    only = q.tiles[0] if len(q.tiles) == 1 else None
    moves = only is None or q.cols[0] != 0 or only.indices.dtype != column
    copies = iso is None and (only is None or only.dtype != q.dtype)
    width = column.itemsize * moves + q.dtype.itemsize * copies
    require("concat", "cuda", nvals * width + 3 * (q.nrows + 1) * offset.itemsize)
    indices = cupy.empty(nvals, column) if moves else None
    values = cupy.empty(nvals, q.dtype) if copies else None
    plans = [_plan(*_types(tile), offset, column, q.dtype) for tile in q.tiles]
    alone = [q.alone(n) for n in range(len(q.tiles))]
    indptr = _stacked_offsets(q, plans, offset) if all(alone) else _offsets(q, plans, offset)
    free = None if all(alone) else indptr.copy()
    first = 0
    for n, (row, tile, plan) in enumerate(zip(q.rows, q.tiles, plans, strict=True)):
        if free is None or alone[n]:
            _copy(tile, plan, q.cols[n], first, indices, values)
        else:
            operand = tile.nvals, tile.nrows, tile.indptr, tile.indices, *values_of(tile)
            blocks = grid(tile.nvals, per_thread=4)  # in several waves: its writes are uneven
            plan.copy(blocks, BLOCK, *operand, q.cols[n], free[row:], first, indices, values)
            if q.rows[n + 1 : n + 2] == (row,):  # another tile fills the rest of these rows
                plan.measure(grid(tile.nrows), BLOCK, tile.nrows, tile.indptr, free[row:])
        first += tile.nvals
    if only is not None:
        indices = only.indices if indices is None else indices
        values = only.values if iso is None and values is None else values
    return CSR(Pattern(q.nrows, q.ncols, indptr, indices), q.dtype, values, iso)


def _copy(tile: CSR, plan: _Plan, col: int, first: int, indices: Array | None, values: Array | None) -> None:
    """Copy the entries of a tile that is alone in its rows, from position `first`; no array: they are not copied."""
    n = tile.nvals
    if values is not None and tile.values is not None and tile.dtype == values.dtype:
        put(values, first, tile.values)
        values = None
    if indices is not None and col == 0 and tile.indices.dtype == indices.dtype:
        put(indices, first, tile.indices)
        indices = None
    if values is None and indices is not None:
        plan.columns(one_wave(plan.columns, n, 4), BLOCK, n, tile.indices, col, indices[first:])
    elif values is not None:
        operand = n, tile.nrows, tile.indptr, tile.indices, *values_of(tile)
        plan.copy(one_wave(plan.copy, n, 4), BLOCK, *operand, col, None, first, indices, values)


def _stacked_offsets(q: Concat, plans: list[_Plan], offset: np.dtype[Any]) -> Array:
    """Return the row offsets of tiles of which no two have a row in common: those of each tile, shifted."""
    indptr = cupy.empty(q.nrows + 1, offset)
    ends = (*q.rows[1:], q.nrows + 1)
    begin = first = 0
    for row, tile, plan, end in zip(q.rows, q.tiles, plans, ends, strict=True):
        rows = end - begin
        plan.shift(grid(rows), BLOCK, rows, row - begin, tile.nrows, tile.indptr, first, indptr[begin:])
        begin, first = end, first + tile.nvals
    return indptr


def _offsets(q: Concat, plans: list[_Plan], offset: np.dtype[Any]) -> Array:
    """Return the row offsets of any tiles, by a scan of the lengths of the rows."""
    lengths = cupy.zeros(q.nrows, offset)
    for row, tile, plan in zip(q.rows, q.tiles, plans, strict=True):
        plan.measure(grid(tile.nrows), BLOCK, tile.nrows, tile.indptr, lengths[row:])
    return exclusive_scan(lengths, offset)


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
        write(
            one_wave(write, a.nvals, 4),
            BLOCK,
            a.nvals,
            a.nrows,
            a.ncols,
            a.indptr,
            a.indices,
            columns,
            q.ncols,
            indices,
        )
    return CSR(Pattern(q.nrows, q.ncols, indptr, indices), a.dtype, a.values, a.iso)


def _types(a: CSR) -> tuple[np.dtype[Any], np.dtype[Any], np.dtype[Any]]:
    """Return the types of row offsets, columns and values."""
    return a.indptr.dtype, a.indices.dtype, a.dtype


class _Plan(NamedTuple):
    """The kernels that shift row offsets, add up row lengths, copy entries, and copy columns."""

    shift: Kernel
    measure: Kernel
    copy: Kernel
    columns: Kernel


@functools.lru_cache(maxsize=1024)
def _plan(*types: np.dtype[Any]) -> _Plan:
    """Return the kernels for the types P, I, A, O, J and Z."""
    text = _prologue(*types)
    return _Plan(
        *(kernel("layout.cuh", f"concat_{name}", text) for name in ("offsets", "lengths", "entries", "columns"))
    )


def _prologue(*types: np.dtype[Any]) -> str:
    return typedefs(**dict(zip(("P", "I", "A", "O", "J", "Z"), types, strict=True))) + constants(FORM=2)


def catalogue() -> Iterator[samples.Entry]:
    """Yield (kernel file, prologue): the rows of the catalogue for the kernels of this module."""
    for types in ((INT32, INT32, FP32, INT32, INT64, FP64), (INT64, INT64, INT8, INT64, INT32, BOOL)):
        yield "layout.cuh", _prologue(*types)
