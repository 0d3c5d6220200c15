"""Entries added up by a monoid: each row, or all of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...formats import Bitmap, VectorStore
from ..registry import implements
from ..spec import ReduceRows, ReduceScalar
from . import presence, types
from .atomics import bit_count, fetch_add, next_chunk
from .compile import kernel
from .constants import cast_value, sum_value
from .operands import plain, values_of
from .rows import share_words
from .threads import parts_for, run, threads_for
from .types import combine, converted, present, stops, value_at

# Partial sums cover pieces of fixed size, so that a floating sum does not depend on the number of threads.
_PIECE = 1 << 16
_DONE = 1


@implements(ReduceRows, engine="cpu")
def reduce_rows(q: ReduceRows) -> VectorStore:
    """t(i) = (+)_j a(i, j), for the rows that have entries."""
    a, z = q.a, q.monoid.z
    indptr = plain(a.pattern.indptr)
    same = None if a.iso is None else sum_value(q.monoid, cast_value(a.iso, z))
    if same is not None:
        return presence.from_slots(a.nrows, z, presence.from_flags(np.diff(indptr) > 0), None, same)
    words, values = presence.no_bits(a.nrows), np.empty(a.nrows, z)
    parts = parts_for(a.nvals + a.nrows)
    counts = np.zeros(parts, np.int64)
    method = _reduce_rows if a.iso is None else _reduce_rows_iso
    run(method, parts, indptr, values_of(a), types.monoid(q.monoid), words, values, counts)
    return presence.from_slots(a.nrows, z, words, values, None, int(counts.sum()))


@kernel
def _reduce_rows(
    t: int, threads: int, control: Any, indptr: Any, values: Any, add: Any, words: Any, made: Any, counts: Any
) -> None:
    nrows = indptr.size - 1
    count = 0
    for w in range(share_words(indptr, t, threads), share_words(indptr, t + 1, threads)):
        found = np.uint32(0)
        for i in range(w << 5, min((w << 5) + 32, nrows)):
            p, end = np.int64(indptr[i]), np.int64(indptr[i + 1])
            if p == end:
                continue
            total = converted(add, value_at(values, p))
            p += 1
            while p < end and not stops(add, total):
                total = combine(add, total, converted(add, value_at(values, p)))
                p += 1
            made[i] = total
            found |= np.uint32(1) << np.uint32(i & 31)
        words[w] = found
        count += bit_count(found)
    counts[t] = count


@kernel
def _reduce_rows_iso(
    t: int, threads: int, control: Any, indptr: Any, values: Any, add: Any, words: Any, made: Any, counts: Any
) -> None:
    """As `_reduce_rows` where all entries share one value: it is combined by doubling, and no entry is read."""
    nrows = indptr.size - 1
    share = (words.size + threads - 1) // threads
    count = 0
    for w in range(share * t, min(share * (t + 1), words.size)):
        found = np.uint32(0)
        for i in range(w << 5, min((w << 5) + 32, nrows)):
            left = np.int64(indptr[i + 1]) - np.int64(indptr[i])
            if left == 0:
                continue
            power = converted(add, value_at(values, 0))
            while left & 1 == 0:
                power = combine(add, power, power)
                left >>= 1
            total = power
            left >>= 1
            while left:
                power = combine(add, power, power)
                if left & 1:
                    total = combine(add, total, power)
                left >>= 1
            made[i] = total
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
    same = None if a.iso is None else sum_value(q.monoid, cast_value(a.iso, z))
    if same is not None:
        return same
    words = a.words if isinstance(a, Bitmap) else None
    slots = a.size if isinstance(a, Bitmap) else a.nvals
    pieces = -(-slots // _PIECE)
    totals = np.empty(pieces + 1, z)
    # The last two places: how many pieces are finished, and whether a terminal value was met.
    state = np.zeros(pieces + 2, np.int64)
    operands = (slots, values_of(a), words, types.monoid(q.monoid))
    run(_reduce, min(threads_for(slots), pieces), *operands, totals, state, work=slots)
    total: np.generic = z.type(totals[pieces])
    return total


@kernel
def _reduce(
    t: int, threads: int, control: Any, slots: int, values: Any, words: Any, add: Any, totals: Any, state: Any
) -> None:
    pieces = totals.size - 1
    while True:
        piece = next_chunk(control)
        if piece >= pieces:
            return
        p, end = piece * _PIECE, min((piece + 1) * _PIECE, slots)
        if state[pieces + 1] == 0:
            while p < end and not present(words, p):
                p += 1
            if p < end:
                total = converted(add, value_at(values, p))
                p += 1
                while p < end and not stops(add, total):
                    if present(words, p):
                        total = combine(add, total, converted(add, value_at(values, p)))
                    p += 1
                totals[piece] = total
                state[piece] = _DONE
                if stops(add, total):
                    state[pieces + 1] = 1
        if fetch_add(state, pieces, 1) == pieces - 1:
            # The thread that finishes the last piece adds them up, in order.
            first = 0
            while state[first] != _DONE:
                first += 1
            total = totals[first]
            for other in range(first + 1, pieces):
                if state[other] == _DONE:
                    total = combine(add, total, totals[other])
            totals[pieces] = total
