"""Elementwise operations: intersection, union, and union with the absent side filled."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...formats import CSR, Pattern, VectorStore, index_dtype
from ..constants import cast_value, ewise_value
from ..registry import implements
from ..spec import Ewise
from . import align, presence, types
from .atomics import bit_count
from .compile import kernel
from .operands import rows_of, values_of
from .rows import share
from .threads import parts_for, run, total
from .types import call, converted, position, put, value_at

_MODES = {"intersect": 0, "union": 1, "fill": 2}
_INTERSECT, _UNION = 0, 1


@implements(Ewise, engine="cpu")
def ewise(q: Ewise) -> CSR | VectorStore:
    """T = op(a, b) where both are present; in the modes union and fill also where one is."""
    if isinstance(q.a, CSR) and isinstance(q.b, CSR):
        return _matrices(q, q.a, q.b)
    assert not isinstance(q.a, CSR)
    assert not isinstance(q.b, CSR)
    return _vectors(q, q.a, q.b)


def _operators(q: Ewise, constant: np.generic | None) -> tuple[Any, Any, Any, int]:
    """Return operator, alpha, beta, mode as kernel arguments; no operator for a constant result."""
    mode = _MODES[q.mode]
    if constant is not None:
        return None, None, None, mode
    alpha = q.op.x.type(0) if q.alpha is None else cast_value(q.alpha, q.op.x)
    beta = q.op.y.type(0) if q.beta is None else cast_value(q.beta, q.op.y)
    return types.binary(q.op), alpha, beta, mode


def _vectors(q: Ewise, a: VectorStore, b: VectorStore) -> VectorStore:
    slots = align.intersection(a, b) if q.mode == "intersect" else align.union(a, b)
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
    operators = _operators(q, None)
    run(_slots, parts, slots.indices, left, avals, right, bvals, *operators, words, made, counts)
    return slots.store(a.size, z, words, made, None, total(counts))


@kernel
def _slots(
    t: int,
    threads: int,
    control: Any,
    indices: Any,
    awords: Any,
    avals: Any,
    bwords: Any,
    bvals: Any,
    op: Any,
    alpha: Any,
    beta: Any,
    mode: int,
    words: Any,
    made: Any,
    counts: Any,
) -> None:
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


def _matrices(q: Ewise, a: CSR, b: CSR) -> CSR:
    constant = ewise_value(q)
    op, alpha, beta, mode = _operators(q, constant)
    work = a.indptr.astype(np.int64) + b.indptr
    parts = parts_for(a.nvals + b.nvals + a.nrows)
    offsets = np.zeros(a.nrows + 1, np.int64)
    run(_count_rows, parts, work, *rows_of(a), *rows_of(b), mode, offsets)
    np.cumsum(offsets, out=offsets)
    total = int(offsets[-1])
    indptr, indices = offsets.astype(index_dtype(total)), np.empty(total, index_dtype(a.ncols))
    made = None if constant is not None else np.empty(total, q.op.z)
    known = constant is not None
    left, right = values_of(a, not known), values_of(b, not known)
    operands = (*rows_of(a), left, *rows_of(b), right)
    run(_merge_rows, parts, work, *operands, op, alpha, beta, mode, indptr, indices, made)
    return CSR(Pattern(a.nrows, a.ncols, indptr, indices), q.op.z, made, constant)


@kernel
def _count_rows(
    t: int,
    threads: int,
    control: Any,
    work: Any,
    a_indptr: Any,
    a_indices: Any,
    b_indptr: Any,
    b_indices: Any,
    mode: int,
    offsets: Any,
) -> None:
    for i in range(share(work, t, threads), share(work, t + 1, threads)):
        p, p_end, r, r_end = a_indptr[i], a_indptr[i + 1], b_indptr[i], b_indptr[i + 1]
        both = 0
        either = np.int64(p_end - p) + np.int64(r_end - r)
        while p < p_end and r < r_end:
            j, k = a_indices[p], b_indices[r]
            both += j == k
            p += j <= k
            r += k <= j
        offsets[i + 1] = both if mode == _INTERSECT else either - both


@kernel
def _merge_rows(
    t: int,
    threads: int,
    control: Any,
    work: Any,
    a_indptr: Any,
    a_indices: Any,
    avals: Any,
    b_indptr: Any,
    b_indices: Any,
    bvals: Any,
    op: Any,
    alpha: Any,
    beta: Any,
    mode: int,
    indptr: Any,
    indices: Any,
    made: Any,
) -> None:
    for row in range(share(work, t, threads), share(work, t + 1, threads)):
        i, slot = np.int64(row), np.int64(indptr[row])
        p, p_end = np.int64(a_indptr[i]), np.int64(a_indptr[i + 1])
        r, r_end = np.int64(b_indptr[i]), np.int64(b_indptr[i + 1])
        while p < p_end or r < r_end:
            if mode == _INTERSECT and (p == p_end or r == r_end):
                break
            left = p < p_end and (r == r_end or a_indices[p] <= b_indices[r])
            right = r < r_end and (p == p_end or b_indices[r] <= a_indices[p])
            j = np.int64(a_indices[p]) if left else np.int64(b_indices[r])
            if (left and right) or mode != _INTERSECT:
                indices[slot] = j
                if left and right:
                    put(made, slot, _combined(op, value_at(avals, p), value_at(bvals, r), i, j))
                elif mode == _UNION:
                    put(made, slot, converted(op, value_at(avals, p)) if left else converted(op, value_at(bvals, r)))
                elif left:
                    put(made, slot, _combined(op, value_at(avals, p), beta, i, j))
                else:
                    put(made, slot, _combined(op, alpha, value_at(bvals, r), i, j))
                slot += 1
            p += left
            r += right


def _combined(op: Any, x: Any, y: Any, i: Any, j: Any) -> Any:
    """op(x, y) at (i, j); None without an operator."""
    raise NotImplementedError


@types.overload_for(_combined)
def _choose_combined(op: Any, x: Any, y: Any, i: Any, j: Any) -> Any:
    if not isinstance(op, types.OperatorType):
        return lambda op, x, y, i, j: None
    return lambda op, x, y, i, j: call(op, x, y, i, j, i, j)
