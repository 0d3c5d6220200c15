"""Entries of each row in the order of their values: sorted rows, and the first entries in that order."""

from __future__ import annotations

import numpy as np

from ...formats import CSR, Pattern, index_dtype
from ...memory.allocation import require
from ..registry import RESIDENT, implements
from ..requests.operations import SelectK, SortedRows, SortRows
from ..shared.order import order_keys, random_keys
from .compile import kernel
from .operands import Array, kernel_array, rows_of
from .rows import share, sort_range
from .select import kept_rows
from .threads import parts_for, run


@implements(SortRows, engine="cpu", accepts=RESIDENT)
def sort_rows(q: SortRows) -> SortedRows:
    """The entries of each row in the order of their values, from column 0."""
    a = q.a
    require("sort", "cpu", a.nvals * (a.indices.itemsize + 24 + a.dtype.itemsize))
    indptr = kernel_array(a.indptr)
    columns = np.arange(a.nvals) - np.repeat(indptr[:-1], np.diff(indptr))
    pattern = Pattern(a.nrows, a.ncols, indptr, columns.astype(index_dtype(a.ncols)))
    values, found = a.values, a.indices
    if values is not None:
        order = _order(a, order_keys(values, q.descending))
        values, found = values[order], found[order]
    made = CSR(pattern, np.dtype(np.int64), found.astype(np.int64))
    return SortedRows(CSR(pattern, a.dtype, values, a.iso), made)


@implements(SelectK, engine="cpu", accepts=RESIDENT)
def select_k(q: SelectK) -> CSR:
    """Up to k entries of each row."""
    a = q.a
    lengths = np.diff(kernel_array(a.indptr))
    place = np.arange(a.nvals) - np.repeat(a.indptr[:-1], lengths)
    if q.how == "last":
        return kept_rows(a, place >= np.repeat(lengths, lengths) - q.k)
    holds = place < q.k
    if q.how == "random":
        keys: Array | None = random_keys(q.seed, np.repeat(np.arange(a.nrows), lengths), a.indices)
    else:
        keys = None if q.how == "first" or a.values is None else order_keys(a.values, q.how == "largest")
    if keys is not None:
        chosen = np.empty_like(holds)
        chosen[_order(a, keys)] = holds
        holds = chosen
    return kept_rows(a, holds)


def _order(a: CSR, keys: Array) -> Array:
    """Return the numbers of the entries, row by row in ascending order of their keys; equal keys keep their order."""
    order = np.empty(a.nvals, np.int64)
    indptr, _ = rows_of(a)
    parts = parts_for(a.nvals + a.nrows)
    if keys.itemsize == 4:
        run(_order_narrow, parts, indptr, keys, np.empty(a.nvals, np.uint64), order)
    else:
        run(_order_wide, parts, indptr, keys, order)
    return order


@kernel
def _order_narrow(t, threads, control, indptr, keys, packed, order):
    """Sort each key together with the place of its entry in the row, as one number."""
    for i in range(share(indptr, t, threads), share(indptr, t + 1, threads)):
        begin, end = np.int64(indptr[i]), np.int64(indptr[i + 1])
        for p in range(begin, end):
            packed[p] = np.uint64(keys[p]) << np.uint64(32) | np.uint64(p - begin)
        sort_range(packed, begin, end)
        for p in range(begin, end):
            order[p] = begin + np.int64(packed[p] & np.uint64(0xFFFFFFFF))


@kernel
def _order_wide(t, threads, control, indptr, keys, order):
    for i in range(share(indptr, t, threads), share(indptr, t + 1, threads)):
        begin, end = np.int64(indptr[i]), np.int64(indptr[i + 1])
        if end - begin > 1:
            order[begin:end] = begin + np.argsort(keys[begin:end], kind="mergesort")
        elif begin < end:
            order[begin] = begin
