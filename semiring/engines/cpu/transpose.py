"""Transposition and symmetry of patterns."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...formats import CSR, Pattern, index_dtype, plain_pattern
from ..registry import implements
from ..spec import IsSymmetric, Transpose
from .atomics import barrier
from .compile import device, kernel
from .operands import bits_of, plain, rows_of
from .rows import lower_bound, share
from .threads import run, threads_for
from .types import put, value_at


@implements(Transpose, engine="cpu")
def transpose(q: Transpose) -> CSR:
    """t(j, i) = a(i, j), by counting the entries of each column."""
    return transposed(q.a)


def transposed(a: CSR) -> CSR:
    """t(j, i) = a(i, j).  Cost O(nvals + ncols); each thread counts for itself."""
    indptr, indices = rows_of(a)
    nvals, offsets = a.nvals, index_dtype(a.nvals)
    # Each thread needs a counter a column: more threads than entries fill would only add passes over counters.
    threads = min(threads_for(nvals), max(1, 4 * nvals // max(a.ncols, 1)))
    out_indptr = np.empty(a.ncols + 1, offsets)
    out_indices = np.empty(nvals, index_dtype(a.nrows))
    values = None if a.values is None else np.empty(nvals, a.dtype)
    counters = np.zeros((threads, a.ncols), offsets)
    sums = np.zeros(threads, np.int64)
    made = (out_indptr, out_indices, bits_of(values))
    run(_transpose, threads, indptr, indices, bits_of(a.values), counters, sums, *made)
    return CSR(Pattern(a.ncols, a.nrows, out_indptr, out_indices), a.dtype, values, a.iso)


@device
def offsets_from_counts(t: int, threads: int, control: Any, counters: Any, sums: Any, indptr: Any) -> bool:
    """Turn counters[thread, key] into the place where that thread puts its first entry of that key."""
    keys = counters.shape[1]
    first, last = t * keys // threads, (t + 1) * keys // threads
    total = 0
    if not barrier(control, threads):  # all counters are complete
        return False
    for s in range(threads):
        for key in range(first, last):
            total += counters[s, key]
    sums[t] = total
    if not barrier(control, threads):
        return False
    offset = 0
    for s in range(t):
        offset += sums[s]
    for key in range(first, last):
        indptr[key] = offset
        for s in range(threads):
            count = counters[s, key]
            counters[s, key] = offset
            offset += count
    if t == threads - 1:
        indptr[keys] = offset
    return barrier(control, threads)  # type: ignore[no-any-return]


@kernel
def _transpose(
    t: int,
    threads: int,
    control: Any,
    indptr: Any,
    indices: Any,
    values: Any,
    counters: Any,
    sums: Any,
    out_indptr: Any,
    out_indices: Any,
    out_values: Any,
) -> None:
    low, high = share(indptr, t, threads), share(indptr, t + 1, threads)
    mine = counters[t]
    for p in range(indptr[low], indptr[high]):
        mine[indices[p]] += 1
    if not offsets_from_counts(t, threads, control, counters, sums, out_indptr):
        return
    for i in range(low, high):
        for p in range(indptr[i], indptr[i + 1]):
            j = indices[p]
            place = mine[j]
            mine[j] = place + 1
            out_indices[place] = i
            put(out_values, place, value_at(values, p))


@implements(IsSymmetric, engine="cpu")
def is_symmetric(q: IsSymmetric) -> bool:
    """True if a(j, i) is present wherever a(i, j) is."""
    pattern = plain_pattern(q.pattern)
    if pattern.nrows != pattern.ncols:
        return False
    threads = threads_for(pattern.nvals)
    refuted = np.zeros(1, np.int64)
    indptr = plain(pattern.indptr)
    run(_find_asymmetry, threads, indptr, plain(pattern.indices), indptr[:-1].copy(), refuted)
    return not refuted[0]


@kernel
def _find_asymmetry(t: int, threads: int, control: Any, indptr: Any, indices: Any, cursors: Any, refuted: Any) -> None:
    """Each thread watches the rows j of its range; rows i are visited in order.

    In a symmetric pattern the entries (i, j) come by in the order in which row j holds its columns i, so that
    one cursor a row tells whether each is matched.
    """
    nrows = indptr.size - 1
    low, high = share(indptr, t, threads), share(indptr, t + 1, threads)
    for i in range(nrows):
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
    # Entries (j, i) that nobody matched have no counterpart.
    for j in range(low, high):
        if cursors[j] != indptr[j + 1]:
            refuted[0] = 1
