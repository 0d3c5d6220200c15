"""Matrices side by side, and matrices in another shape: entries keep their order within a row, or altogether."""

from __future__ import annotations

import numpy as np

from ...formats import CSR, Pattern, index_dtype
from ...memory.allocation import require
from ..registry import RESIDENT, implements
from ..requests.operations import Concat, Reshape
from ..shared.iso_results import shared_value
from .compile import kernel
from .operands import kernel_array, rows_of, values_of
from .rows import lower_bound, share
from .threads import parts_for, run
from .types import converted, put, value_at


@implements(Concat, engine="cpu")
def concat(q: Concat) -> CSR:
    """t(rows[n] + i, cols[n] + j) = tiles[n](i, j): one pass over the entries of each tile."""
    nvals = sum(tile.nvals for tile in q.tiles)
    iso = shared_value(q.tiles, q.dtype)
    offset, column = index_dtype(nvals), index_dtype(q.ncols)
    width = column.itemsize + (0 if iso is not None else q.dtype.itemsize)
    require("concat", "cpu", nvals * width + 2 * (q.nrows + 1) * offset.itemsize)
    indptr, indices = np.zeros(q.nrows + 1, offset), np.empty(nvals, column)
    values = None if iso is not None else np.empty(nvals, q.dtype)
    for row, tile in zip(q.rows, q.tiles, strict=True):
        indptr[row + 1 : row + 1 + tile.nrows] += np.diff(tile.indptr).astype(offset, copy=False)
    np.cumsum(indptr, out=indptr)
    free = indptr[:-1].copy()
    for row, col, tile in zip(q.rows, q.cols, q.tiles, strict=True):
        arguments = *rows_of(tile), values_of(tile, iso is None), col, free[row : row + tile.nrows], indices, values
        run(_copy_tile, parts_for(tile.nvals + tile.nrows), *arguments)
    return CSR(Pattern(q.nrows, q.ncols, indptr, indices), q.dtype, values, iso)


@kernel
def _copy_tile(t, threads, control, indptr, indices, values, col, free, out_indices, out_values):
    """Copy the rows of a part to their first free positions, which then are behind them."""
    for i in range(share(indptr, t, threads), share(indptr, t + 1, threads)):
        begin, length = np.int64(indptr[i]), np.int64(indptr[i + 1]) - np.int64(indptr[i])
        to = np.int64(free[i])
        for s in range(length):
            out_indices[np.uintp(to + s)] = np.int64(indices[np.uintp(begin + s)]) + col
            put(out_values, to + s, converted(out_values, value_at(values, begin + s)))
        free[i] = to + length


@implements(Reshape, engine="cpu", accepts=RESIDENT)
def reshape(q: Reshape) -> CSR:
    """t(p // ncols, p % ncols) = a(i, j) for p = i * a.ncols + j: row offsets by search, columns in one pass."""
    a = q.a
    column = index_dtype(q.ncols)
    require("reshape", "cpu", a.nvals * column.itemsize + (q.nrows + 1) * a.indptr.itemsize)
    indptr, indices = np.empty(q.nrows + 1, a.indptr.dtype), np.empty(a.nvals, column)
    run(_reshape_offsets, parts_for(q.nrows), *rows_of(a), a.ncols, q.ncols, indptr)
    run(_reshape_columns, parts_for(a.nvals + a.nrows), *rows_of(a), a.ncols, q.ncols, indices)
    values = None if a.values is None else kernel_array(a.values)
    return CSR(Pattern(q.nrows, q.ncols, indptr, indices), a.dtype, values, a.iso)


@kernel
def _reshape_offsets(t, threads, control, indptr, indices, a_ncols, ncols, out):
    """out[row] = the number of entries of a before position row * ncols."""
    nrows = indptr.size - 1
    for row in range(t * out.size // threads, (t + 1) * out.size // threads):
        position = row * ncols
        i = position // a_ncols if a_ncols else nrows
        if i < nrows:
            out[row] = lower_bound(indices, indptr[i], indptr[i + 1], position - i * a_ncols)
        else:
            out[row] = indptr[nrows]


@kernel
def _reshape_columns(t, threads, control, indptr, indices, a_ncols, ncols, out):
    for i in range(share(indptr, t, threads), share(indptr, t + 1, threads)):
        for p in range(np.int64(indptr[i]), np.int64(indptr[i + 1])):
            out[np.uintp(p)] = (np.int64(i) * a_ncols + np.int64(indices[np.uintp(p)])) % ncols
