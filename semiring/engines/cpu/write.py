"""C<M, replace> accum= T for vectors, in one pass over presence words."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...formats import VectorStore
from ..registry import implements
from ..requests.operations import WriteMxv, WriteVector
from ..shared.iso_results import write_value
from . import presence, types, vector_slots
from .atomics import bit_count
from .compile import kernel
from .operands import Array
from .presence import Words
from .threads import parts_for, run, total
from .types import combine, converted, value_at


@implements(WriteVector, engine="cpu")
def write_vector(q: WriteVector) -> VectorStore:
    """Z = T, or C accum T on the union; inside the mask C becomes Z, outside it is unchanged, or deleted by replace."""
    c, t = q.c, q.t
    slots = vector_slots.union(c, t)
    cwords, cvals = slots.operand(c)
    twords, tvals = slots.operand(t)
    cwords, twords = presence.expanded(cwords, slots.size), presence.expanded(twords, slots.size)
    mask = presence.expanded(slots.admitted(q.mask, c.size), slots.size)
    constant = write_value(q)
    if constant is not None:
        words = _written(q, cwords, twords, mask)
        return slots.store(c.size, c.dtype, words, None, constant, presence.count_bits(words))
    words, made = presence.no_bits(slots.size), presence.empty_slots("write", slots.size, c.dtype)
    parts = parts_for(slots.size)
    counts = np.zeros(parts, np.int64)
    accum = None if q.accum is None else types.binary(q.accum)
    run(_write, parts, cwords, cvals, twords, tvals, mask, accum, q.replace, words, made, counts)
    return slots.store(c.size, c.dtype, words, made, None, total(counts))


def written_slots(q: WriteMxv, words: Words, values: Any, iso: Any, mask: Words | None, counts: Array) -> VectorStore:
    """C<M, replace> accum= T, for a product T in slots, whose arrays become those of the result.

    iso: the value of all entries of T, which has no array of values then.  mask: the slots that M admits, None for all.
    counts: the entries of T by thread.
    """
    c, size = q.c, q.nout
    assert c is not None
    if iso is not None:
        t = presence.from_slots(size, q.semiring.z, words, values, iso, total(counts))
        return write_vector(WriteVector(c, t, q.mask, q.accum, q.replace))
    cwords, cvals = presence.slots(c)
    # A slot is read before it is written.
    made = values if values.dtype == c.dtype else np.empty(size, c.dtype)
    accum = None if q.accum is None else types.binary(q.accum)
    if mask is None or cwords is None:
        every = presence.expanded(None, size)
        mask, cwords = every if mask is None else mask, every if cwords is None else cwords
    # One part needs no control array of its own.
    _write(0, 1, counts, cwords, cvals, words, values, mask, accum, q.replace, words, made, counts)
    return presence.from_slots(size, c.dtype, words, made, None, int(counts[0]))


def _written(q: WriteVector, c: Words, t: Words, mask: Words) -> Words:
    """Return the presence bits of the result."""
    inside = (t if q.accum is None else c | t) & mask
    return inside if q.replace else inside | (c & ~mask)


@kernel
def _write(t, threads, control, cwords, cvals, twords, tvals, mask, accum, replace, words, made, counts):
    size, count = made.size, 0
    for w in range(t * words.size // threads, (t + 1) * words.size // threads):
        old, new, admitted = cwords[w], twords[w], mask[w]
        base = np.int64(w) << 5
        # Entries of C that are kept inside the mask, and outside it.
        kept = old & admitted if accum is not None else np.uint32(0)
        rest = np.uint32(0) if replace else old & ~admitted
        fresh = new & admitted
        found = fresh | kept | rest
        if base + 32 > size:
            found &= (np.uint32(1) << np.uint32(size - base)) - np.uint32(1)
        words[w] = found
        count += bit_count(found)
        if found == 0:
            continue
        for p in range(base, min(base + 32, size)):
            bit = np.uint32(1) << np.uint32(p - base)
            if found & bit == 0:
                continue
            if fresh & bit == 0:
                made[p] = value_at(cvals, p)
            elif kept & bit == 0:
                made[p] = converted(made, value_at(tvals, p))
            else:
                made[p] = converted(made, combine(accum, value_at(cvals, p), value_at(tvals, p)))
    counts[t] = count
