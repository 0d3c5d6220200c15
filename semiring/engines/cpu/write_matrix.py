"""C<M, replace> accum= T for matrices, in two passes over the rows of C, T and the mask.

The first pass counts the entries of each row of the result; a result of few entries needs no count.  Both kernels
accept `work`, which divides the rows among threads, and tuples: `offsets` and `columns` of C, T and the mask, and
`options` (complement, accumulated, replace).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...formats import CSR, Pattern, index_dtype
from ..registry import implements
from ..requests.operands import simplified
from ..requests.operations import WriteMatrix
from ..shared.iso_results import write_value
from . import types
from .compile import device, kernel
from .operands import bits_type, kernel_array, rows_of, values_of
from .rows import common, share
from .select import mask_pattern
from .threads import parts_for, run
from .types import call, converted, put, value_at

# Entries of both operands up to which the result has space for all of them at first (with 8 bytes a value, less than
# the C library obtains from the system at once).
_UNCOUNTED = 1 << 13


@implements(WriteMatrix, engine="cpu")
def write_matrix(q: WriteMatrix) -> CSR:
    """Z = T, or C accum T on the union; inside the mask C becomes Z, outside it is unchanged, or deleted by replace."""
    c, t = q.c, q.t
    nrows, ncols = c.pattern.nrows, c.pattern.ncols
    c_indptr, c_indices = rows_of(c)
    t_indptr, t_indices = rows_of(t)
    m_indptr, m_indices, complement = _mask_rows(q)
    most = c_indices.size + t_indices.size
    parts = parts_for(most + m_indices.size + nrows)
    counts = np.zeros(nrows + 1, np.int64)
    # One part is divided by no offsets, and the result of few entries has space for all of both operands.
    work = counts if parts == 1 else c_indptr.astype(np.int64) + t_indptr + m_indptr
    operands = (work, (c_indptr, t_indptr, m_indptr), (c_indices, t_indices, m_indices))
    options = complement, q.accum is not None, q.replace
    counted = parts > 1 or most > _UNCOUNTED
    total = most
    if counted:
        run(_count, parts, *operands, options, counts)
        counts.cumsum(out=counts)
        total = int(counts[-1])
    indptr = counts.astype(index_dtype(total)) if counted else np.zeros(nrows + 1, index_dtype(total))
    indices = np.empty(total, index_dtype(ncols))
    constant = write_value(q)
    made = None if constant is not None else np.empty(total, c.dtype)
    accum = None if q.accum is None or constant is not None else types.binary(q.accum)
    reads = constant is None
    values: tuple[Any, ...] = made, values_of(c, reads), values_of(t, reads)
    if reads and accum is None and c.dtype == t.dtype:  # values are only moved
        bits = bits_type(c.dtype)
        values = tuple([held.view(bits) for held in values])
    run(_merge, parts, *operands, options, counted, accum, *values, indptr, indices)
    if not counted:
        del values  # in place: no other view of the arrays is left
        total = int(indptr[-1])
        indices.resize(total, refcheck=False)
        if made is not None:
            made.resize(total, refcheck=False)
    return CSR(Pattern(nrows, ncols, indptr, indices), c.dtype, made, constant)


def _mask_rows(q: WriteMatrix) -> tuple[Any, Any, bool]:
    """Return the rows of the mask, and whether it is complemented; an empty one admits all or no positions."""
    simple = simplified(q.mask)
    if isinstance(simple, bool):
        return np.zeros(q.c.nrows + 1, np.int32), np.empty(0, index_dtype(q.c.ncols)), simple
    pattern = mask_pattern(simple)
    return kernel_array(pattern.indptr), kernel_array(pattern.indices), simple.complement


@kernel
def _count(t, threads, control, work, offsets, columns, options, counts):
    """counts[i + 1] = the number of entries of row i of the result."""
    c_indices, t_indices, m_indices = columns
    complement, accumulated, replace = options
    for i in range(share(work, t, threads), share(work, t + 1, threads)):
        p, p_end, r, r_end, m, m_end = _bounds(offsets, i)
        listed = common(t_indices, r, r_end, m_indices, m, m_end)
        count = r_end - r - listed if complement else listed
        if not accumulated or replace:  # else all entries of C remain
            listed = common(c_indices, p, p_end, m_indices, m, m_end)
            inside = p_end - p - listed if complement else listed
            count += (inside if accumulated else 0) if replace else p_end - p - inside
        else:
            count += p_end - p
        if accumulated:  # those with an entry of T are counted twice
            count -= _admitted_pairs(c_indices, p, p_end, t_indices, r, r_end, m_indices, m, m_end, complement)
        counts[i + 1] = count


@device
def _bounds(offsets, i):
    """Return the first position and the end of row i of C, of T and of the mask."""
    c, t, m = offsets
    return np.int64(c[i]), np.int64(c[i + 1]), np.int64(t[i]), np.int64(t[i + 1]), np.int64(m[i]), np.int64(m[i + 1])


@device
def _admitted_pairs(a, p, p_end, b, r, r_end, mask, m, m_end, complement):
    """Return how many of the indices that two sorted ranges share the mask admits."""
    if m == m_end:
        return common(a, p, p_end, b, r, r_end) if complement else 0
    count = 0
    while p < p_end and r < r_end:
        j, k = a[p], b[r]
        if j == k:
            while m < m_end and mask[m] < j:
                m += 1
            count += (m < m_end and mask[m] == j) != complement
        p += j <= k
        r += k <= j
    return count


@kernel
def _merge(t, threads, control, work, offsets, columns, options, counted, accum, made, cvals, tvals, indptr, indices):
    """counted: rows begin at their offsets; else one thread writes them and their offsets one after another."""
    c_indices, t_indices, m_indices = columns
    complement, accumulated, replace = options
    for row in range(share(work, t, threads), share(work, t + 1, threads)):
        i, slot = np.int64(row), np.int64(indptr[row])
        p, p_end, r, r_end, m, m_end = _bounds(offsets, i)
        while p < p_end or r < r_end:
            left = p < p_end and (r == r_end or c_indices[p] <= t_indices[r])
            right = r < r_end and (p == p_end or t_indices[r] <= c_indices[p])
            j = np.int64(c_indices[p]) if left else np.int64(t_indices[r])
            while m < m_end and m_indices[m] < j:
                m += 1
            admitted = (m < m_end and m_indices[m] == j) != complement
            from_t = right and admitted
            from_c = left and (accumulated if admitted else not replace)
            if from_t or from_c:
                indices[slot] = j
                if not from_t:
                    put(made, slot, value_at(cvals, p))
                elif from_c:
                    put(made, slot, converted(made, _accumulated(accum, value_at(cvals, p), value_at(tvals, r), i, j)))
                else:
                    put(made, slot, converted(made, value_at(tvals, r)))
                slot += 1
            p += left
            r += right
        if not counted:
            indptr[row + 1] = slot


@types.by_types
def _accumulated(accum, c, t, i, j):
    """accum(c, t) at (i, j); t without an accumulator."""
    if types.is_none(accum):
        return lambda accum, c, t, i, j: t
    return lambda accum, c, t, i, j: call(accum, c, t, i, j, i, j)
