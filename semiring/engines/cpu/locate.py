"""The extreme entry of each row or group, with its position, in one pass over the entries."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...formats import Full, FullPattern, IndexList, VectorStore, index_dtype
from ..registry import UNCOMPRESSED_OR_FULL, implements
from ..requests.operations import Located, LocateGroups, LocateRows
from . import presence
from .atomics import MANY_STEPS, bit_count, stopped
from .compile import device, kernel
from .convert import as_index_list
from .operands import Array, indices_of, kernel_array, values_of
from .rows import share_words
from .scatter import targets
from .threads import parts_for, run, total
from .types import position, put, value_at

_INT64 = np.dtype(np.int64)
# Below one entry in this many, slots are allocated for the occurring groups only.
_SPARSE = 64


@implements(LocateRows, engine="cpu", accepts=UNCOMPRESSED_OR_FULL)
def locate_rows(q: LocateRows) -> Located:
    """w(i) = min_j a(i, j), p(i) = the first such j: parts of equally many entries and rows."""
    a = q.a
    indptr = kernel_array(a.indptr)
    indices = None if isinstance(a.pattern, FullPattern) else kernel_array(a.indices)
    words, places = presence.no_bits(a.nrows), presence.empty_slots("minloc", a.nrows, _INT64)
    made = None if a.values is None else presence.empty_slots("minloc", a.nrows, a.dtype)
    parts = parts_for(a.nvals + a.nrows)
    counts = np.zeros(parts, np.int64)
    run(_locate_rows, parts, indptr, indices, values_of(a), q.largest, words, made, places, counts)
    return _located(a.nrows, a, words, made, places, total(counts))


@implements(LocateGroups, engine="cpu")
def locate_groups(q: LocateGroups) -> Located:
    """w(g) = min of u(p) with index[p] = g, p(g) = the first such p: one pass on one thread."""
    u, size = q.u if isinstance(q.u, Full) else as_index_list(q.u), q.index.size
    groups = kernel_array(targets(q.index, u))
    if groups.size * _SPARSE >= size:
        return _in_slots(size, u, groups, q.largest)
    distinct, ranks = np.unique(groups, return_inverse=True)
    dense = _in_slots(distinct.size, u, ranks, q.largest)
    indices = distinct.astype(index_dtype(size))
    made = (IndexList(size, part.dtype, indices, part.values, part.iso) for part in (dense.values, dense.positions))
    return Located(*made)


def _in_slots(size: int, u: IndexList | Full, groups: Array, largest: bool) -> Located:
    words, places = presence.no_bits(size), presence.empty_slots("minloc_by", size, _INT64)
    made = None if u.values is None else presence.empty_slots("minloc_by", size, u.dtype)
    operands = groups, indices_of(u), values_of(u), largest
    run(_locate_groups, 1, *operands, words, made, places, work=groups.size)
    return _located(size, u, words, made, places, presence.count_bits(words))


def _located(size: int, a: Any, words: Array, made: Array | None, places: Array, count: int) -> Located:
    values: VectorStore = presence.from_slots(size, a.dtype, words, made, a.iso, count)
    return Located(values, presence.from_slots(size, _INT64, words, places, None, count))


@device
def _beats(value, best, largest):
    """Return whether a value is chosen in place of an earlier one: every number beats NaN."""
    if best != best:
        return value == value
    return value > best if largest else value < best


@device
def _place(values, begin, count, largest):
    """Return the place of the extreme value among `count` values from `begin`; the loops have no branches."""
    at, best, start = 0, value_at(values, begin), 1
    while start < count and best != best:
        best = value_at(values, begin + start)
        at = start if best == best else 0
        start += 1
    if largest:
        for p in range(start, count):
            value = value_at(values, begin + p)
            better = value > best
            best, at = value if better else best, p if better else at
    else:
        for p in range(start, count):
            value = value_at(values, begin + p)
            better = value < best
            best, at = value if better else best, p if better else at
    return at


@kernel
def _locate_rows(t, threads, control, indptr, indices, values, largest, words, made, places, counts):
    nrows = indptr.size - 1
    count = 0
    for w in range(share_words(indptr, t, threads), share_words(indptr, t + 1, threads)):
        found = np.uint32(0)
        for i in range(w << 5, min((w << 5) + 32, nrows)):
            begin, end = np.int64(indptr[i]), np.int64(indptr[i + 1])
            if begin == end:
                continue
            at = _place(values, begin, end - begin, largest)
            put(made, i, value_at(values, begin + at))
            if indices is None:
                places[i] = at
            else:
                places[i] = indices[begin + at]
            found |= np.uint32(1) << np.uint32(i & 31)
        words[w] = found
        count += bit_count(found)
    counts[t] = count


@kernel
def _locate_groups(t, threads, control, groups, indices, values, largest, words, made, places):
    for p in range(groups.size):
        if p & MANY_STEPS == 0 and stopped(control):
            return
        g = np.int64(groups[p])
        value = value_at(values, p)
        w, bit = g >> 5, np.uint32(1) << np.uint32(g & 31)
        if words[w] & bit == 0:
            words[w] |= bit
            put(made, g, value)
            places[g] = position(indices, p)
        elif made is None:
            continue
        elif _beats(value, made[g], largest):
            put(made, g, value)
            places[g] = position(indices, p)
