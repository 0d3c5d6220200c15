"""Elementwise operations: intersection, union, and union with the absent side filled; here, those on vectors."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ...formats import CSR, IndexList, Pattern, VectorStore, index_dtype
from ...operators.types import TypedBinary
from ..registry import implements
from ..requests.operations import Ewise
from ..shared.iso_results import POSITIONS, cast_value, ewise_value
from . import presence, types, vector_slots
from .atomics import bit_count
from .compile import kernel
from .ewise_matrix import matrices
from .threads import parts_for, run, total
from .types import call, converted, position, value_at

_MODES = {"intersect": 0, "union": 1, "fill": 2}
_INTERSECT, _UNION = 0, 1


@implements(Ewise, engine="cpu")
def ewise(q: Ewise) -> CSR | VectorStore:
    """T = op(a, b) where both are present; in the modes union and fill also where one is."""
    if isinstance(q.a, CSR) and isinstance(q.b, CSR):
        return matrices(q, q.a, q.b)
    assert not isinstance(q.a, CSR)
    assert not isinstance(q.b, CSR)
    return _vectors(q, q.a, q.b)


def _operators(q: Ewise) -> tuple[Any, Any, Any, int]:
    """Return operator, alpha, beta, mode as kernel arguments."""
    op, alpha, beta = _without_defaults(q.op)
    if q.alpha is not None:
        alpha = cast_value(q.alpha, q.op.x)
    if q.beta is not None:
        beta = cast_value(q.beta, q.op.y)
    return op, alpha, beta, _MODES[q.mode]


@functools.lru_cache(maxsize=1024)
def _without_defaults(op: TypedBinary) -> tuple[Any, Any, Any]:
    """Return the operator as a kernel argument, and zeros of its types where no default is given."""
    return types.binary(op), cast_value(0, op.x), cast_value(0, op.y)


def _vectors(q: Ewise, a: VectorStore, b: VectorStore) -> VectorStore:
    if q.mode == "intersect":
        slots = vector_slots.intersection(a, b)
    elif q.op.uses & POSITIONS:
        slots = vector_slots.union(a, b)
    elif (lists := vector_slots.few(a, b)) is not None:
        return _lists(q, *lists)
    else:
        slots = vector_slots.Slots(None, a.size)
    awords, avals = slots.operand(a)
    bwords, bvals = slots.operand(b)
    z = q.op.z
    left, right = presence.expanded(awords, slots.size), presence.expanded(bwords, slots.size)
    constant = ewise_value(q)
    if constant is not None:
        words = left & right if q.mode == "intersect" else left | right
        return slots.store(a.size, z, words, None, constant, presence.count_bits(words))
    words, made = presence.no_bits(slots.size), presence.empty_slots("ewise", slots.size, z)
    parts = parts_for(slots.size)
    counts = np.zeros(parts, np.int64)
    operators = _operators(q)
    run(_slots, parts, slots.indices, left, avals, right, bvals, *operators, words, made, counts)
    return slots.store(a.size, z, words, made, None, total(counts))


def _lists(q: Ewise, a: IndexList, b: IndexList) -> IndexList:
    """Merge two index lists as the rows of two matrices; the operator reads no positions."""
    left, right = (
        CSR(Pattern(1, u.size, np.array([0, u.nvals], index_dtype(u.nvals)), u.indices), u.dtype, u.values, u.iso)
        for u in (a, b)
    )
    row = matrices(q, left, right)
    return IndexList(a.size, row.dtype, row.indices, row.values, row.iso)


@kernel
def _slots(t, threads, control, indices, awords, avals, bwords, bvals, op, alpha, beta, mode, words, made, counts):
    size, zero, count = made.size, np.int64(0), 0
    for w in range(t * words.size // threads, (t + 1) * words.size // threads):
        left, right = awords[w], bwords[w]
        found = left & right if mode == _INTERSECT else left | right
        base = np.int64(w) << 5
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
            i = position(indices, p)
            if left & right & bit:
                made[p] = call(op, value_at(avals, p), value_at(bvals, p), i, zero, i, zero)
            elif mode == _UNION:
                made[p] = converted(op, value_at(avals, p)) if left & bit else converted(op, value_at(bvals, p))
            elif left & bit:
                made[p] = call(op, value_at(avals, p), beta, i, zero, i, zero)
            else:
                made[p] = call(op, alpha, value_at(bvals, p), i, zero, i, zero)
    counts[t] = count
