"""Matrix products under a mask: a dot product for each entry of the mask.

Row i of A is entered into a dense array of marks of the thread, which the entries of row j of the transpose of B probe
for each entry (i, j) of the mask.  If row j is much longer than row i, the entries of the latter are searched in it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.core import types as numba_types

from ...formats import CSR, Pattern, index_dtype
from ...memory.allocation import require
from ..constants import product_value
from ..recording import note
from ..spec import Mxm
from . import types
from .atomics import next_chunk, stopped
from .compile import kernel
from .members import is_wide
from .operands import kernel_array, rows_of, values_of
from .rows import lower_bound, share
from .select import kept_rows
from .threads import run, threads_for
from .types import call, combine, put, stops, value_at

__all__ = ["dot_products", "term"]

_CHUNKS_PER_THREAD = 32
# Entries of a row of B' for each of the row of A, from which on the latter are searched in the former (reasoned: the
# steps of a search among a thousand entries).
_SWAP = 10


def dot_products(q: Mxm, mask: Pattern) -> CSR | None:
    """Return t(i, j) = (+)_k A(i, k) (x) B(k, j) for the entries of the mask; None if rows of B cost less.

    Memory beyond the result: a value and a byte for each entry of the mask, and for each thread 4 to 16 bytes for each
    column of A.
    """
    columns = q.by_column
    if columns is None or q.method not in ("auto", "dot") or is_wide(q.a.ncols, q.a.nvals):
        return None
    if q.method == "auto" and not columns.ready:
        return None
    a, t, semiring = q.a, columns.get(), q.semiring
    a_indptr, a_indices = rows_of(a)
    t_indptr, t_indices = rows_of(t)
    m_indptr, m_indices = kernel_array(mask.indptr), kernel_array(mask.indices)
    probes = np.zeros(mask.nvals + 1, np.int64)
    swapped = _SWAP * np.repeat(np.diff(a_indptr), np.diff(m_indptr))
    np.cumsum(np.minimum(np.diff(t_indptr)[m_indices], swapped), out=probes[1:])
    total = int(probes[-1])
    if q.method == "auto" and q.by_row.ready and int(np.diff(q.b.indptr)[a_indices].sum()) < total:
        return None
    note(method="dot", probes=total)
    known = product_value(semiring, a.iso, t.iso)
    uses = semiring.mult.uses if known is None else frozenset()
    threads, stamp = threads_for(total + a.nvals), index_dtype(a.nrows + 1)
    reads_a = "x" in uses and a.iso is None
    slots = threads * a.ncols * (stamp.itemsize + (8 if reads_a else 0))
    require("mxm", "cpu", slots + mask.nvals * (1 + (0 if known is not None else semiring.z.itemsize)))
    marks = np.zeros((threads, a.ncols), stamp)
    places = np.empty((threads, a.ncols if reads_a else 1), np.int64)
    found = np.zeros(mask.nvals, np.bool_)
    made = None if known is not None else np.empty(mask.nvals, semiring.z)
    operators: tuple[Any, ...] = (types.STRUCTURE, None)
    if known is None:
        operators = (types.monoid(semiring.add), types.binary(semiring.mult))
    rows = (probes[m_indptr], a_indptr, a_indices, t_indptr, t_indices, m_indptr, m_indices)
    values = (values_of(a, "x" in uses), values_of(t, "y" in uses))
    run(_dot, threads, rows, values, *operators, marks, places, reads_a, found, made, work=total + a.nvals)
    return kept_rows(CSR(mask, semiring.z, made, known), found)


@kernel
def _dot(
    t: int,
    threads: int,
    control: Any,
    rows: Any,
    values: Any,
    add: Any,
    mult: Any,
    marks: Any,
    places: Any,
    reads_a: bool,
    found: Any,
    made: Any,
) -> None:
    """rows: the work up to each row, then offsets and columns of A, B' and the mask.  values: those of A and B'."""
    work, a_indptr, a_indices, t_indptr, t_indices, m_indptr, m_indices = rows
    avals, bvals = values
    mark, place = marks[t], places[t]
    chunks = threads * _CHUNKS_PER_THREAD
    while True:
        chunk = next_chunk(control)
        if chunk >= chunks:
            return
        for i in range(share(work, chunk, chunks), share(work, chunk + 1, chunks)):
            if stopped(control):
                return
            begin, end, stamp = a_indptr[i], a_indptr[i + 1], i + 1
            if begin == end or m_indptr[i] == m_indptr[i + 1]:
                continue
            for p in range(begin, end):
                mark[a_indices[p]] = stamp
                if reads_a:
                    place[a_indices[p]] = p
            for m in range(m_indptr[i], m_indptr[i + 1]):
                j = m_indices[m]
                first, last = t_indptr[j], t_indptr[j + 1]
                hit = False
                if last - first > _SWAP * (end - begin):
                    for p in range(begin, end):
                        k = a_indices[p]
                        r = lower_bound(t_indices, first, last, k)
                        if r < last and t_indices[r] == k:
                            x, y = value_at(avals, p), value_at(bvals, r)
                            _accumulate(add, mult, made, m, hit, x, y, np.int64(i), np.int64(k), np.int64(j))
                            hit = True
                            if stops(add, value_at(made, m)):
                                break
                else:
                    for r in range(first, last):
                        k = t_indices[r]
                        if mark[k] == stamp:
                            at = place[k] if reads_a else np.int64(begin)
                            x, y = value_at(avals, at), value_at(bvals, r)
                            _accumulate(add, mult, made, m, hit, x, y, np.int64(i), np.int64(k), np.int64(j))
                            hit = True
                            if stops(add, value_at(made, m)):
                                break
                found[m] = hit


def _accumulate(add: Any, mult: Any, made: Any, m: Any, hit: Any, x: Any, y: Any, i: Any, k: Any, j: Any) -> None:
    """made[m] = x (x) y, or with `hit` made[m] (+) x (x) y; nothing where there are no values."""
    raise NotImplementedError


@types.overload_for(_accumulate)
def _choose_accumulate(add: Any, mult: Any, made: Any, m: Any, hit: Any, x: Any, y: Any, i: Any, k: Any, j: Any) -> Any:
    if isinstance(made, numba_types.NoneType):
        return lambda add, mult, made, m, hit, x, y, i, k, j: None

    def accumulated(add: Any, mult: Any, made: Any, m: Any, hit: Any, x: Any, y: Any, i: Any, k: Any, j: Any) -> None:
        product = term(mult, x, y, i, k, j)
        if hit:
            put(made, m, combine(add, value_at(made, m), product))
        else:
            put(made, m, product)

    return accumulated


def term(mult: Any, x: Any, y: Any, i: Any, k: Any, j: Any) -> Any:
    """Return the product of x at (i, k) and y at (k, j); None without an operator."""
    raise NotImplementedError


@types.overload_for(term)
def _choose_term(mult: Any, x: Any, y: Any, i: Any, k: Any, j: Any) -> Any:
    if isinstance(mult, numba_types.NoneType):
        return lambda mult, x, y, i, k, j: None
    return lambda mult, x, y, i, k, j: call(mult, x, y, i, k, k, j)
