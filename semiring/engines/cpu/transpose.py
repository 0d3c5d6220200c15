"""Transposition and symmetry of patterns."""

from __future__ import annotations

import numpy as np

from ...formats import CSR, Pattern, index_dtype, uncompressed_pattern
from ..registry import implements
from ..requests.operations import IsSymmetric, Transpose
from .atomics import FEW_STEPS, prefetch, stopped
from .compile import kernel
from .index_rank import is_few, is_wide, spread_offsets
from .operands import Array, bits_of, kernel_array, rows_of
from .rows import lower_bound, share
from .threads import run, threads_for
from .types import put, value_at

# Entries between a prefetch and its use (measured: from 32 to 64 the time is about the same; it is more below 16).
_AHEAD = 32


@implements(Transpose, engine="cpu")
def transpose(q: Transpose) -> CSR:
    """t(j, i) = a(i, j), by counting the entries of each column."""
    return transposed(q.a)


def transposed(a: CSR) -> CSR:
    """t(j, i) = a(i, j).  Cost O(nvals + ncols); each part has its own counters."""
    indptr, indices = rows_of(a)
    nvals, offsets = a.nvals, index_dtype(a.nvals)
    if is_few(nvals) or is_wide(a.ncols, nvals):
        return _sorted_by_column(a)
    # Each thread needs a counter a column: too many threads would only add passes over counters.
    threads = min(threads_for(nvals), max(1, 4 * nvals // max(a.ncols, 1)))
    out_indptr = np.empty(a.ncols + 1, offsets)
    out_indices = np.empty(nvals, index_dtype(a.nrows))
    values = None if a.values is None else np.empty(nvals, a.dtype)
    counters = np.zeros((threads, a.ncols), offsets)
    run(_count_columns, threads, indptr, indices, counters, work=nvals)
    offsets_from_counts(counters, out_indptr)
    made = (out_indices, bits_of(values))
    run(_transpose, threads, indptr, indices, bits_of(a.values), counters, *made, work=nvals)
    return CSR(Pattern(a.ncols, a.nrows, out_indptr, out_indices), a.dtype, values, a.iso)


def _sorted_by_column(a: CSR) -> CSR:
    """Transpose a matrix of few entries or few non-empty columns by sorting; the offsets are written in one pass."""
    order = np.argsort(a.indices, kind="stable")
    columns, counts = np.unique(a.indices, return_counts=True)
    offsets = np.zeros(columns.size + 1, index_dtype(a.nvals))
    np.cumsum(counts, out=offsets[1:])
    rows = np.repeat(np.arange(a.nrows, dtype=index_dtype(a.nrows)), np.diff(a.indptr))[order]
    pattern = Pattern(a.ncols, a.nrows, spread_offsets(columns, offsets, a.ncols), rows)
    return CSR(pattern, a.dtype, None if a.values is None else a.values[order], a.iso)


def offsets_from_counts(counters: Array, indptr: Array) -> None:
    """Turn counters[part, key] into the output position of the part's first entry of that key; `indptr`: of each key.

    Two passes over ranges of keys: their sums, then the positions.
    """
    parts = threads_for(counters.size)
    sums = np.zeros(parts, np.int64)
    if parts > 1:
        run(_sum_counts, parts, counters, sums, work=counters.size)
    run(_place_counts, parts, counters, sums, indptr, work=counters.size)


@kernel
def _sum_counts(t, threads, control, counters, sums):
    keys = counters.shape[1]
    total = 0
    for s in range(counters.shape[0]):
        if stopped(control):
            return
        for key in range(t * keys // threads, (t + 1) * keys // threads):
            total += counters[s, key]
    sums[t] = total


@kernel
def _place_counts(t, threads, control, counters, sums, indptr):
    keys = counters.shape[1]
    offset = 0
    for s in range(t):
        offset += sums[s]
    for key in range(t * keys // threads, (t + 1) * keys // threads):
        if key & FEW_STEPS == 0 and stopped(control):
            return
        indptr[key] = offset
        for s in range(counters.shape[0]):
            count = counters[s, key]
            counters[s, key] = offset
            offset += count
    if t == threads - 1:
        indptr[keys] = offset


@kernel
def _count_columns(t, threads, control, indptr, indices, counters):
    """counters[t, j] = the number of entries of column j in the rows of this part."""
    mine = counters[t]
    for i in range(share(indptr, t, threads), share(indptr, t + 1, threads)):
        if i & FEW_STEPS == 0 and stopped(control):
            return
        for p in range(np.int64(indptr[i]), np.int64(indptr[i + 1])):
            mine[np.uintp(indices[np.uintp(p)])] += 1


@kernel
def _transpose(t, threads, control, indptr, indices, values, cursors, out_indices, out_values):
    mine = cursors[t]
    last = indices.size - 1
    for i in range(share(indptr, t, threads), share(indptr, t + 1, threads)):
        if i & FEW_STEPS == 0 and stopped(control):
            return
        for p in range(np.int64(indptr[i]), np.int64(indptr[i + 1])):
            # Outputs are far apart in memory: prefetch those of an entry to come.
            ahead = mine[np.uintp(indices[np.uintp(min(p + _AHEAD, last))])]
            prefetch(out_indices, ahead)
            prefetch(out_values, ahead)
            j = np.uintp(indices[np.uintp(p)])
            out = mine[j]
            mine[j] = out + 1
            out_indices[np.uintp(out)] = i
            put(out_values, out, value_at(values, p))


@implements(IsSymmetric, engine="cpu")
def is_symmetric(q: IsSymmetric) -> bool:
    """Return whether a(j, i) is present wherever a(i, j) is."""
    pattern = uncompressed_pattern(q.pattern)
    if pattern.nrows != pattern.ncols:
        return False
    if is_few(pattern.nvals):
        rows = np.searchsorted(pattern.indptr, np.arange(pattern.nvals), side="right") - 1
        order = np.lexsort((rows, pattern.indices))  # the entries of the transpose, row by row
        return bool((rows[order] == pattern.indices).all() and (pattern.indices[order] == rows).all())
    threads = threads_for(pattern.nvals)
    refuted = np.zeros(1, np.int64)
    indptr = kernel_array(pattern.indptr)
    cursors = indptr[:-1].copy()
    indices = kernel_array(pattern.indices)
    run(_find_asymmetry, threads, indptr, indices, cursors, refuted, work=pattern.nvals + pattern.nrows)
    return not refuted[0]


@kernel
def _find_asymmetry(t, threads, control, indptr, indices, cursors, refuted):
    """Compare the rows j of a thread's range with the entries (i, j), visited in row order.

    In a symmetric pattern the entries (i, j) are visited in the order of the columns i of row j, so that one cursor
    a row suffices to match them.
    """
    nrows = indptr.size - 1
    low, high = share(indptr, t, threads), share(indptr, t + 1, threads)
    for i in range(nrows):
        if i & FEW_STEPS == 0 and stopped(control):
            return
        end = indptr[i + 1]
        p = indptr[i]
        if threads > 1:
            p = lower_bound(indices, p, end, low)
        while p < end and indices[p] < high:
            j = indices[p]
            cursor = cursors[j]
            if cursor >= indptr[j + 1] or indices[cursor] != i:
                refuted[0] = 1
                return
            cursors[j] = cursor + 1
            p += 1
        if refuted[0] != 0:
            return
    # Unmatched entries (j, i) have no counterpart.
    for j in range(low, high):
        if cursors[j] != indptr[j + 1]:
            refuted[0] = 1
