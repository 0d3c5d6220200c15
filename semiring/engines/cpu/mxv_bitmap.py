"""Products of a bitmap matrix, in the orientation in which it is stored, and a vector.

A thread computes a range of outputs, in words of presence bits.  By rows it passes over the bits of each row of the
matrix; by columns over the same range of every row.  Both add products in the order of the inner index.
"""

from __future__ import annotations

import numpy as np

from ...formats import VectorStore
from ...formats.bitmap import BitmapPattern
from ..recording import note
from ..registry import RESIDENT_BITMAP, implements
from ..requests.operations import Mxv
from . import presence
from .atomics import FEW_STEPS, bit_count, stopped, trailing_zeros
from .compile import device, kernel
from .mxv import product_plan
from .operands import values_of
from .threads import parts_for, run, total
from .types import combine, present, product, put, stops, value_at


@implements(Mxv, engine="cpu", accepts=RESIDENT_BITMAP)
def mxv_bitmap(q: Mxv) -> VectorStore:
    """t(o) = (+)_k M(o, k) (x) u(k), by the orientation that is at hand."""
    by_row = q.by_row.ready
    a = (q.by_row if by_row else q.by_column).get()
    pattern = a.pattern
    assert isinstance(pattern, BitmapPattern)
    note(kernel="bits by row" if by_row else "bits by column")
    plan = product_plan(q.semiring, q.flip)
    words, values = presence.no_bits(q.nout), presence.empty_slots("mxv", q.nout, q.semiring.z)
    uwords, uvals = presence.slots(q.vector)
    operands = (pattern.words, values_of(a, plan.matrix_read), uwords, uvals, plan.add, plan.mult, plan.flip)
    work = pattern.slots // 8 + q.nout
    parts = min(parts_for(work), max(words.size, 1))
    counts = np.zeros(parts, np.int64)
    run(_by_row if by_row else _by_column, parts, *operands, q.ninner, words, values, counts, work=work)
    return presence.from_slots(q.nout, q.semiring.z, words, values, None, total(counts))


@device
def _word(bits, p, end):
    """Return the bits from p to the end of its word or to `end`, as a uint64 that begins at p."""
    word = np.uint64(bits[p >> 5]) >> np.uint64(p & 31)
    return word if end - p >= 32 else word & ((np.uint64(1) << np.uint64(end - p)) - np.uint64(1))


@device
def _window(bits, p, end):
    """Return the 32 bits from p on, of two words, of which those from `end` on are 0."""
    shift, w = np.uint64(p & 31), p >> 5
    window = np.uint64(bits[w]) >> shift
    if shift != 0 and w + 1 < bits.size:
        window |= np.uint64(bits[w + 1]) << (np.uint64(32) - shift)
    window &= np.uint64(0xFFFFFFFF)
    return window if end - p >= 32 else window & ((np.uint64(1) << np.uint64(end - p)) - np.uint64(1))


@device
def _first(bits, uwords, base, end):
    """Return the first position of a row at which there is a product; `end` if there is none."""
    p = base
    while p < end:
        word = _word(bits, p, end)
        while word != 0:
            q = p + trailing_zeros(word)
            if present(uwords, q - base):
                return q
            word &= word - np.uint64(1)
        p = ((p >> 5) + 1) << 5
    return end


@kernel
def _by_row(t, threads, control, bits, avals, uwords, uvals, add, mult, flip, ninner, words, made, counts):
    nout, count = made.size, 0
    for w in range(t * words.size // threads, (t + 1) * words.size // threads):
        if stopped(control):
            return
        found = np.uint32(0)
        for o in range(w << 5, min((w << 5) + 32, nout)):
            base = np.int64(o) * ninner
            end = base + ninner
            p = _first(bits, uwords, base, end)
            if p == end:
                continue
            total = product(mult, flip, value_at(avals, p), value_at(uvals, p - base), np.int64(o), p - base, 0)
            p += 1
            while p < end and not stops(add, total):
                word = _word(bits, p, end)
                while word != 0:
                    q = p + trailing_zeros(word)
                    word &= word - np.uint64(1)
                    k = q - base
                    if present(uwords, k):
                        term = product(mult, flip, value_at(avals, q), value_at(uvals, k), np.int64(o), k, 0)
                        total = combine(add, total, term)
                p = ((p >> 5) + 1) << 5
            put(made, o, total)
            found |= np.uint32(1) << np.uint32(o & 31)
        words[w] = found
        count += bit_count(found)
    counts[t] = count


@kernel
def _by_column(t, threads, control, bits, avals, uwords, uvals, add, mult, flip, ninner, words, made, counts):
    nout, count = made.size, 0
    first, last = t * words.size // threads, (t + 1) * words.size // threads
    for k in range(ninner):
        if k & FEW_STEPS == 0 and stopped(control):
            return
        if not present(uwords, k):
            continue
        y, base = value_at(uvals, k), np.int64(k) * nout
        for w in range(first, last):
            here = _window(bits, base + (w << 5), base + nout)
            known = np.uint64(words[w])
            words[w] = np.uint32(known | here)
            again = here & known
            here ^= again
            while here != 0:
                o = np.int64(w << 5) + trailing_zeros(here)
                here &= here - np.uint64(1)
                put(made, o, product(mult, flip, value_at(avals, base + o), y, o, np.int64(k), 0))
            while again != 0:
                o = np.int64(w << 5) + trailing_zeros(again)
                again &= again - np.uint64(1)
                made[o] = combine(add, made[o], product(mult, flip, value_at(avals, base + o), y, o, np.int64(k), 0))
    for w in range(first, last):
        count += bit_count(words[w])
    counts[t] = count
