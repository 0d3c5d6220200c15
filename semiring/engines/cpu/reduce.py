"""Reductions by a monoid: of each row, or of all entries."""

from __future__ import annotations

import numpy as np

from ...formats import Bitmap, VectorStore
from ..registry import UNCOMPRESSED_OR_FULL, implements
from ..requests.operations import ReduceRows, ReduceScalar
from ..shared.expression_numpy import scalar
from ..shared.iso_results import reduced_value
from . import presence, types
from .atomics import bit_count, fetch_add, next_chunk, trailing_zeros
from .compile import device, kernel
from .operands import kernel_array, values_of
from .rows import share_words
from .threads import parts_for, run, threads_for, total
from .types import accumulate, combine, converted, present, put, repeated, stops, value_at

# Partial sums cover chunks of fixed size, so that a floating sum does not depend on the number of threads.
_CHUNK = 1 << 16
_DONE = 1
# Values combined between two tests for a terminal value: loops without a test are vectorized.
_UNTESTED = 256


@types.by_types
def _folded(add, values, p, end):
    """Return the sum of values[p:end], which is not empty; of one value by doubling, without reading an entry."""
    if types.is_array(values):
        return lambda add, values, p, end: _added(add, values, p, end)
    return lambda add, values, p, end: repeated(add, converted(add, value_at(values, p)), end - p)


@device
def _added(add, values, p, end):
    """Return the sum of values[p:end]; tests for a terminal value only once in a while."""
    total = converted(add, value_at(values, p))
    p += 1
    while p < end and not stops(add, total):
        last = min(end, p + _UNTESTED)
        for q in range(p, last):
            total = accumulate(add, total, converted(add, value_at(values, q)))
        p = last
    return total


@implements(ReduceRows, engine="cpu", accepts=UNCOMPRESSED_OR_FULL)
def reduce_rows(q: ReduceRows) -> VectorStore:
    """t(i) = (+)_j a(i, j), for the rows that have entries."""
    a, z = q.a, q.monoid.z
    indptr = kernel_array(a.pattern.indptr)
    same = reduced_value(q.monoid, a.iso)
    if same is not None:
        return presence.from_slots(a.nrows, z, presence.from_flags(np.diff(indptr) > 0), None, same)
    words, values = presence.no_bits(a.nrows), np.empty(a.nrows, z)
    parts = parts_for(a.nvals + a.nrows)
    counts = np.zeros(parts, np.int64)
    run(_reduce_rows, parts, indptr, values_of(a), types.monoid(q.monoid), words, values, counts)
    return presence.from_slots(a.nrows, z, words, values, None, total(counts))


@types.by_types
def _first(values, indptr, t, threads):
    """Return the first word of presence bits of a part: parts read equally many entries, if they read any."""
    if types.is_array(values):
        return lambda values, indptr, t, threads: share_words(indptr, t, threads)
    return lambda values, indptr, t, threads: ((indptr.size + 30) >> 5) * t // threads


@kernel
def _reduce_rows(t, threads, control, indptr, values, add, words, made, counts):
    nrows = indptr.size - 1
    count = 0
    for w in range(_first(values, indptr, t, threads), _first(values, indptr, t + 1, threads)):
        found = np.uint32(0)
        for i in range(w << 5, min((w << 5) + 32, nrows)):
            p, end = np.int64(indptr[i]), np.int64(indptr[i + 1])
            if p == end:
                continue
            put(made, i, _folded(add, values, p, end))
            found |= np.uint32(1) << np.uint32(i & 31)
        words[w] = found
        count += bit_count(found)
    counts[t] = count


@implements(ReduceScalar, engine="cpu")
def reduce_scalar(q: ReduceScalar) -> np.generic | None:
    """(+) over all entries, or None if there is none."""
    a, z = q.a, q.monoid.z
    if a.nvals == 0:
        return None
    same = reduced_value(q.monoid, a.iso)
    if same is not None:
        return same
    words = a.words if isinstance(a, Bitmap) else None
    slots = a.size if isinstance(a, Bitmap) else a.nvals
    chunks = -(-slots // _CHUNK)
    totals = np.empty(chunks + 1, z)
    # The last two elements: the number of finished chunks, and whether a terminal value was found.
    state = np.zeros(chunks + 2, np.int64)
    operands = (slots, values_of(a), words, types.monoid(q.monoid))
    run(_reduce, min(threads_for(slots), chunks), *operands, totals, state, work=slots)
    return scalar(totals[chunks : chunks + 1], z)


@kernel
def _reduce(t, threads, control, slots, values, words, add, totals, state):
    chunks = totals.size - 1
    while True:
        chunk = next_chunk(control)
        if chunk >= chunks:
            return
        p, end = chunk * _CHUNK, min((chunk + 1) * _CHUNK, slots)
        if state[chunks + 1] == 0:
            while p < end and not present(words, p):
                p += 1
            if p < end:
                if words is None:
                    total = _folded(add, values, p, end)
                else:
                    total = converted(add, value_at(values, p))
                    p += 1
                    while p < end and not stops(add, total):
                        word = np.uint64(words[p >> 5]) >> np.uint64(p & 31)
                        while word != 0:
                            q = p + trailing_zeros(word)
                            total = combine(add, total, converted(add, value_at(values, q)))
                            word &= word - np.uint64(1)
                        p = ((p >> 5) + 1) << 5
                totals[chunk] = total
                state[chunk] = _DONE
                if stops(add, total):
                    state[chunks + 1] = 1
        if fetch_add(state, chunks, 1) == chunks - 1:
            # The thread that finishes the last chunk combines the totals in order.
            first = 0
            while state[first] != _DONE:
                first += 1
            total = value_at(totals, first)
            for other in range(first + 1, chunks):
                if state[other] == _DONE:
                    total = combine(add, total, totals[other])
            totals[chunks] = total
