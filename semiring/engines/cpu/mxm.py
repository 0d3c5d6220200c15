"""Matrix products, row by row: Gustavson's method with a dense accumulator for each thread.

A mask goes into the product: columns that it does not admit are never accumulated.  Two passes: one counts the
entries of each row, the other computes them in place.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.core import types as numba_types

from ...formats import CSR, Pattern, index_dtype, plain_pattern
from ..registry import implements
from ..spec import Mxm
from . import types
from .atomics import next_chunk, stopped
from .compile import kernel
from .constants import binary_value, sum_value
from .operands import plain, rows_of, values_of
from .rows import share, sort_range
from .select import mask_pattern
from .threads import run, threads_for
from .types import call, combine, put, stops, value_at

_OPEN, _INSIDE, _OUTSIDE = 0, 1, 2
_CHUNKS_PER_THREAD = 32


@implements(Mxm, engine="cpu", absorbs=("mask",))
def mxm(q: Mxm) -> CSR:
    """t(i, j) = (+)_k A(i, k) (x) B(k, j), where the mask admits (i, j)."""
    a, b, semiring = q.a, q.b, q.semiring
    known = sum_value(semiring.add, binary_value(semiring.mult, a.iso, b.iso))
    mode = _OPEN if q.mask is None else _OUTSIDE if q.mask.complement else _INSIDE
    mask = plain_pattern(b.pattern) if q.mask is None else mask_pattern(q.mask)
    admitted = (plain(mask.indptr), plain(mask.indices), mode)
    a_indptr, a_indices = rows_of(a)
    b_indptr, b_indices = rows_of(b)
    flops = np.zeros(a.nvals + 1, np.int64)
    np.cumsum(np.diff(b_indptr)[a_indices], out=flops[1:])
    work = flops[a_indptr]  # products up to each row: what rows are shared out by
    total_work = int(flops[-1])
    threads = threads_for(total_work)
    stamp = index_dtype(2 * a.nrows + 2)
    marks, listed = np.zeros((threads, b.ncols), stamp), np.empty((threads, b.ncols), b_indices.dtype)
    offsets = np.zeros(a.nrows + 1, np.int64)
    structure = (work, a_indptr, a_indices, b_indptr, b_indices)
    run(_count, threads, *structure, *admitted, marks, offsets, work=total_work)
    np.cumsum(offsets, out=offsets)
    total = int(offsets[-1])
    indptr, indices = offsets.astype(index_dtype(total)), np.empty(total, index_dtype(b.ncols))
    marks[:] = 0
    if known is not None:
        operators: tuple[Any, ...] = (types.STRUCTURE, None)
        made = totals = None
    else:
        operators = (types.monoid(semiring.add), types.binary(semiring.mult))
        made, totals = np.empty(total, semiring.z), np.empty((threads, b.ncols), semiring.z)
    uses = semiring.mult.uses if known is None else frozenset()
    values = (values_of(a, "x" in uses), values_of(b, "y" in uses))
    made_arrays = (totals, indptr, indices, made)
    run(_multiply, threads, *structure, *values, *admitted, *operators, marks, listed, *made_arrays, work=total_work)
    return CSR(Pattern(a.nrows, b.ncols, indptr, indices), semiring.z, made, known)


@kernel
def _count(
    t: int,
    threads: int,
    control: Any,
    work: Any,
    a_indptr: Any,
    a_indices: Any,
    b_indptr: Any,
    b_indices: Any,
    m_indptr: Any,
    m_indices: Any,
    mode: int,
    marks: Any,
    offsets: Any,
) -> None:
    mark = marks[t]
    chunks = threads * _CHUNKS_PER_THREAD
    while True:
        chunk = next_chunk(control)
        if chunk >= chunks:
            return
        for i in range(share(work, chunk, chunks), share(work, chunk + 1, chunks)):
            if stopped(control):
                return
            # Two stamps a row: an even one for columns of the mask, the odd one above for columns that were met.
            admitted, met = 2 * i + 2, 2 * i + 3
            if mode != _OPEN:
                for m in range(m_indptr[i], m_indptr[i + 1]):
                    mark[m_indices[m]] = admitted
            found = 0
            for p in range(a_indptr[i], a_indptr[i + 1]):
                k = a_indices[p]
                for r in range(b_indptr[k], b_indptr[k + 1]):
                    j = b_indices[r]
                    state = mark[j]
                    if state != met and (mode == _OPEN or (state == admitted) == (mode == _INSIDE)):
                        mark[j] = met
                        found += 1
            offsets[i + 1] = found


@kernel
def _multiply(
    t: int,
    threads: int,
    control: Any,
    work: Any,
    a_indptr: Any,
    a_indices: Any,
    b_indptr: Any,
    b_indices: Any,
    avals: Any,
    bvals: Any,
    m_indptr: Any,
    m_indices: Any,
    mode: int,
    add: Any,
    mult: Any,
    marks: Any,
    lists: Any,
    totals: Any,
    indptr: Any,
    indices: Any,
    made: Any,
) -> None:
    mark, listed, total = marks[t], lists[t], _row_of(totals, t)
    chunks = threads * _CHUNKS_PER_THREAD
    while True:
        chunk = next_chunk(control)
        if chunk >= chunks:
            return
        for i in range(share(work, chunk, chunks), share(work, chunk + 1, chunks)):
            if stopped(control):
                return
            admitted, met = 2 * i + 2, 2 * i + 3
            if mode != _OPEN:
                for m in range(m_indptr[i], m_indptr[i + 1]):
                    mark[m_indices[m]] = admitted
            found = 0
            for p in range(a_indptr[i], a_indptr[i + 1]):
                k = a_indices[p]
                x = value_at(avals, p)
                for r in range(b_indptr[k], b_indptr[k + 1]):
                    j = b_indices[r]
                    state = mark[j]
                    if state == met:
                        so_far = value_at(total, j)
                        if not stops(add, so_far):
                            term = _term(mult, x, value_at(bvals, r), np.int64(i), np.int64(k), np.int64(j))
                            put(total, j, combine(add, so_far, term))
                    elif mode == _OPEN or (state == admitted) == (mode == _INSIDE):
                        mark[j] = met
                        listed[found] = j
                        found += 1
                        put(total, j, _term(mult, x, value_at(bvals, r), np.int64(i), np.int64(k), np.int64(j)))
            place = np.int64(indptr[i])
            if mode == _INSIDE:
                for m in range(m_indptr[i], m_indptr[i + 1]):  # the mask's row is sorted already
                    j = m_indices[m]
                    if mark[j] == met:
                        indices[place] = j
                        put(made, place, value_at(total, j))
                        place += 1
                continue
            if found * 16 > mark.size:
                found = 0
                for column in range(mark.size):
                    if mark[column] == met:
                        listed[found] = column
                        found += 1
            else:
                sort_range(listed, 0, found)
            for s in range(found):
                indices[place] = listed[s]
                put(made, place, value_at(total, listed[s]))
                place += 1


def _row_of(array: Any, t: Any) -> Any:
    """array[t], or nothing where there is no array."""
    raise NotImplementedError


@types.meaning(_row_of)
def _choose_row(array: Any, t: Any) -> Any:
    if isinstance(array, numba_types.NoneType):
        return lambda array, t: None
    return lambda array, t: array[t]


def _term(mult: Any, x: Any, y: Any, i: Any, k: Any, j: Any) -> Any:
    """The product of x at (i, k) and y at (k, j); without an operator, nothing."""
    raise NotImplementedError


@types.meaning(_term)
def _choose_term(mult: Any, x: Any, y: Any, i: Any, k: Any, j: Any) -> Any:
    if isinstance(mult, numba_types.NoneType):
        return lambda mult, x, y, i, k, j: None
    return lambda mult, x, y, i, k, j: call(mult, x, y, i, k, k, j)
