"""Elementwise operations on matrices, in two passes over the rows of both: entries are counted, then computed.

Whether the next entries of two rows match is unpredictable.  The loops therefore advance by the results of comparisons
instead of branching on them: a mispredicted branch costs more than several steps of a merge.
"""

from __future__ import annotations

import numpy as np

from ...formats import CSR, Pattern, index_dtype
from ..requests.operations import Ewise
from ..shared.iso_results import cast_value, ewise_value
from . import types
from .compile import inlined, kernel
from .operands import rows_of, values_of
from .rows import common, equal_run, lopsided, lower_bound, share
from .threads import parts_for, run
from .types import call, converted, put, value_at

# Steps of an intersection after which the matches found are combined.
_STEPS = 128


def matrices(q: Ewise, a: CSR, b: CSR) -> CSR:
    """T = op(a, b) where both are present; in the modes union and fill also where one is."""
    intersect = q.mode == "intersect"
    work = a.indptr.astype(np.int64) + b.indptr
    parts = parts_for(a.nvals + b.nvals + a.nrows)
    offsets = np.zeros(a.nrows + 1, np.int64)
    a_rows, b_rows = rows_of(a), rows_of(b)
    run(_count_rows, parts, work, *a_rows, *b_rows, intersect, offsets)
    if parts > 1:
        np.cumsum(offsets, out=offsets)
    total = int(offsets[-1])
    indptr, indices = offsets.astype(index_dtype(total)), np.empty(total, index_dtype(a.ncols))
    constant = ewise_value(q)
    read = constant is None
    made = np.empty(total, q.op.z) if read else None
    operands = (work, *a_rows, values_of(a, read), *b_rows, values_of(b, read))
    op = types.binary(q.op) if read else None
    if intersect:
        run(_intersect_rows, parts, *operands, op, indptr, indices, made)
    else:
        fill = read and q.mode == "fill"
        alpha, beta = (cast_value(q.alpha, q.op.x), cast_value(q.beta, q.op.y)) if fill else (None, None)
        run(_unite_rows, parts, *operands, op, alpha, beta, indptr, indices, made)
    return CSR(Pattern(a.nrows, a.ncols, indptr, indices), q.op.z, made, constant)


@inlined
def _bounds(indptr, i):
    return np.int64(indptr[i]), np.int64(indptr[i + 1])


@kernel
def _count_rows(t, threads, control, work, a_indptr, a_indices, b_indptr, b_indices, intersect, offsets):
    """offsets[i + 1] = the number of entries of row i of the result; with one thread, of all rows up to i."""
    found = 0
    for i in range(share(work, t, threads), share(work, t + 1, threads)):
        p, p_end = _bounds(a_indptr, i)
        r, r_end = _bounds(b_indptr, i)
        # Where few entries are written to a matrix, most rows of one operand are empty.
        both = common(a_indices, p, p_end, b_indices, r, r_end) if p < p_end and r < r_end else 0
        if threads > 1:
            found = 0
        found += both if intersect else p_end - p + r_end - r - both
        offsets[i + 1] = found


@kernel
def _intersect_rows(
    t, threads, control, work, a_indptr, a_indices, avals, b_indptr, b_indices, bvals, op, indptr, indices, made
):
    matches = np.empty((_STEPS, 2), np.int64)  # positions in A and in B
    for row in range(share(work, t, threads), share(work, t + 1, threads)):
        i, (slot, last) = np.int64(row), _bounds(indptr, row)
        if slot == last:
            continue
        p, p_end = _bounds(a_indptr, row)
        r, r_end = _bounds(b_indptr, row)
        for _ in range(equal_run(a_indices, p, p_end, b_indices, r, r_end)):
            j = np.int64(a_indices[p])
            indices[slot] = j
            put(made, slot, call(op, value_at(avals, p), value_at(bvals, r), i, j, i, j))
            slot += 1
            p += 1
            r += 1
        while slot < last:
            if lopsided(p_end - p, r_end - r):
                r = lower_bound(b_indices, r, r_end, a_indices[p])
            elif lopsided(r_end - r, p_end - p):
                p = lower_bound(a_indices, p, p_end, b_indices[r])
            count = 0
            for _ in range(min(p_end - p, r_end - r, _STEPS)):
                j, k = a_indices[np.uintp(p)], b_indices[np.uintp(r)]
                matches[np.uintp(count), 0] = p
                matches[np.uintp(count), 1] = r
                count += j == k
                p += j <= k
                r += k <= j
            for m in range(count):
                x, y = matches[m, 0], matches[m, 1]
                j = np.int64(a_indices[x])
                indices[slot] = j
                put(made, slot, call(op, value_at(avals, x), value_at(bvals, y), i, j, i, j))
                slot += 1


@kernel
def _unite_rows(
    t,
    threads,
    control,
    work,
    a_indptr,
    a_indices,
    avals,
    b_indptr,
    b_indices,
    bvals,
    op,
    alpha,
    beta,
    indptr,
    indices,
    made,
):
    for row in range(share(work, t, threads), share(work, t + 1, threads)):
        i, slot = np.int64(row), np.int64(indptr[row])
        p, p_end = _bounds(a_indptr, row)
        r, r_end = _bounds(b_indptr, row)
        for _ in range(equal_run(a_indices, p, p_end, b_indices, r, r_end) if p < p_end and r < r_end else 0):
            j = np.int64(a_indices[p])
            indices[slot] = j
            put(made, slot, call(op, value_at(avals, p), value_at(bvals, r), i, j, i, j))
            slot += 1
            p += 1
            r += 1
        while p < p_end and r < r_end:
            j, k = a_indices[np.uintp(p)], b_indices[np.uintp(r)]
            x, y = value_at(avals, p), value_at(bvals, r)
            first = min(j, k)
            indices[np.uintp(slot)] = first
            if j == k:
                put(made, slot, call(op, x, y, i, np.int64(first), i, np.int64(first)))
            elif j < k:
                put(made, slot, left_alone(op, x, beta, i, np.int64(first)))
            else:
                put(made, slot, right_alone(op, alpha, y, i, np.int64(first)))
            slot += 1
            p += j <= k
            r += k <= j
        for rest in range(p, p_end):
            indices[slot] = a_indices[rest]
            put(made, slot, left_alone(op, value_at(avals, rest), beta, i, np.int64(a_indices[rest])))
            slot += 1
        for rest in range(r, r_end):
            indices[slot] = b_indices[rest]
            put(made, slot, right_alone(op, alpha, value_at(bvals, rest), i, np.int64(b_indices[rest])))
            slot += 1


@types.by_types
def left_alone(op, x, beta, i, j):
    """op(x, beta) at (i, j); without beta, x as a result of op."""
    if types.is_none(beta):
        return lambda op, x, beta, i, j: converted(op, x)
    return lambda op, x, beta, i, j: call(op, x, beta, i, j, i, j)


@types.by_types
def right_alone(op, alpha, y, i, j):
    """op(alpha, y) at (i, j); without alpha, y as a result of op."""
    if types.is_none(alpha):
        return lambda op, alpha, y, i, j: converted(op, y)
    return lambda op, alpha, y, i, j: call(op, alpha, y, i, j, i, j)
