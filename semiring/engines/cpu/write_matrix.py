"""C<M, replace> accum= T for matrices, in two passes over the rows of C, T and the mask.

Both kernels accept `work`, which divides the rows among threads, and tuples: `offsets` and `columns` of C, T and the
mask, and `options` (complement, accumulated, replace).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...formats import CSR, Pattern, index_dtype, structure_only
from ..constants import write_value
from ..operands import simplified
from ..registry import implements
from ..spec_write import WriteMatrix
from . import types
from .compile import device, kernel
from .operands import bits_type, rows_of, values_of
from .rows import common, share
from .select import mask_pattern
from .threads import parts_for, run
from .types import call, converted, put, value_at


@implements(WriteMatrix, engine="cpu")
def write_matrix(q: WriteMatrix) -> CSR:
    """Z = T, or C accum T on the union; inside the mask C becomes Z, outside it is unchanged, or deleted by replace."""
    c, t = q.c, q.t
    c_indptr, c_indices = rows_of(c)
    t_indptr, t_indices = rows_of(t)
    m_indptr, m_indices, complement = _mask_rows(q)
    work = c_indptr.astype(np.int64) + t_indptr + m_indptr
    parts = parts_for(int(work[-1]) + c.nrows)
    offsets, columns = (c_indptr, t_indptr, m_indptr), (c_indices, t_indices, m_indices)
    operands = (work, offsets, columns, (complement, q.accum is not None, q.replace))
    counts = np.zeros(c.nrows + 1, np.int64)
    run(_count, parts, *operands, counts)
    np.cumsum(counts, out=counts)
    total = int(counts[-1])
    indptr, indices = counts.astype(index_dtype(total)), np.empty(total, index_dtype(c.ncols))
    constant = write_value(q)
    made = None if constant is not None else np.empty(total, c.dtype)
    accum = None if q.accum is None or constant is not None else types.binary(q.accum)
    values = [made, values_of(c, constant is None), values_of(t, constant is None)]
    if accum is None and c.dtype == t.dtype:  # values are only moved
        values = [None if held is None else held.view(bits_type(held.dtype)) for held in values]
    run(_merge, parts, *operands, accum, *values, indptr, indices)
    return CSR(Pattern(c.nrows, c.ncols, indptr, indices), c.dtype, made, constant)


def _mask_rows(q: WriteMatrix) -> tuple[Any, Any, bool]:
    """Return the rows of the mask, and whether it is complemented; an empty one admits all or no positions."""
    simple = simplified(q.mask)
    if isinstance(simple, bool):
        return np.zeros(q.c.nrows + 1, np.int32), np.empty(0, index_dtype(q.c.ncols)), simple
    return *rows_of(structure_only(mask_pattern(simple))), simple.complement


@kernel
def _count(
    t: int, threads: int, control: Any, work: Any, offsets: Any, columns: Any, options: Any, counts: Any
) -> None:
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
def _bounds(offsets: Any, i: Any) -> Any:
    """Return the first position and the end of row i of C, of T and of the mask."""
    c, t, m = offsets
    return np.int64(c[i]), np.int64(c[i + 1]), np.int64(t[i]), np.int64(t[i + 1]), np.int64(m[i]), np.int64(m[i + 1])


@device
def _admitted_pairs(
    a: Any, p: int, p_end: int, b: Any, r: int, r_end: int, mask: Any, m: int, m_end: int, complement: bool
) -> int:
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
def _merge(
    t: int,
    threads: int,
    control: Any,
    work: Any,
    offsets: Any,
    columns: Any,
    options: Any,
    accum: Any,
    made: Any,
    cvals: Any,
    tvals: Any,
    indptr: Any,
    indices: Any,
) -> None:
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


def _accumulated(accum: Any, c: Any, t: Any, i: Any, j: Any) -> Any:
    """accum(c, t) at (i, j); t without an accumulator."""
    raise NotImplementedError


@types.overload_for(_accumulated)
def _choose_accumulated(accum: Any, c: Any, t: Any, i: Any, j: Any) -> Any:
    if not isinstance(accum, types.OperatorType):
        return lambda accum, c, t, i, j: t
    return lambda accum, c, t, i, j: call(accum, c, t, i, j, i, j)
