"""Matrix products under a mask: a dot product for each entry of the mask.

Row i of A is entered into a dense array of marks of the thread, a byte for each column, which the entries of row j of
the transpose of B probe for each entry (i, j) of the mask.  Of a long row j, only those from the first to the last
column of row i probe, which are half of them under L in L L'.  If row j is much longer than row i, the entries of the
latter are searched in it.  The marks are cleared after the row.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...exceptions import OutOfMemory
from ...formats import CSR, Array, Pattern
from ...memory.allocation import require
from ..recording import note
from ..requests.operations import Mxm
from ..shared.iso_results import product_value
from . import tuning, types
from .atomics import CHUNKS_PER_THREAD, next_chunk, stopped
from .compile import inlined, kernel
from .index_rank import is_wide
from .mxm_work import SWAP, column_offsets, probes_before, products_before
from .operands import kernel_array, rows_of, values_of
from .rows import lower_bound, share
from .select import kept_rows
from .threads import run, threads_for
from .types import combine, converted, product, put, repeated, stops, value_at

# Entries of a row of B' from which on a search for the first column is repaid (reasoned: about as many probes as a
# search of mispredicted steps takes).
LONG = 64


class DotWork(NamedTuple):
    """Dot products that cost least: the kernel's arrays, and the numbers that divide the work.

    rows: the probes up to each row, then offsets and columns of A, B' and the mask.  values: those of A and B', None
    where they are not read.  operators: addition and multiplication.  constant: the value of all results, or None.
    reads_a: whether A has values that are read.  work: probes and entries of A.
    """

    rows: tuple[Array, ...]
    values: tuple[Any, Any]
    operators: tuple[Any, ...]
    constant: np.generic | None
    reads_a: bool
    work: int
    threads: int

    def run(self, memory: Scratch, reduce: types.Operator | None, found: Array, made: Array | None) -> None:
        """Compute whether there is a result, and the result, for each entry of the mask, or by `reduce` each row."""
        operands = (self.rows, self.values, *self.operators, *memory, reduce, found, made)
        run(_dot, self.threads, *operands, work=self.work)


def dot_work(q: Mxm, mask: Pattern, work: Array | None = None) -> DotWork | None:
    """Return what dot products for the entries of the mask read; None if rows of B cost less.

    work: the products before each row, if they are counted.
    """
    columns = q.by_column
    if columns is None or q.method not in ("auto", "dot") or is_wide(q.a.ncols, q.a.nvals):
        return None
    if q.method == "auto" and work is not None and tuning.PRODUCT_COST * int(work[-1]) < tuning.DOT_ENTRY * mask.nvals:
        return None
    known = product_value(q.semiring, q.a.iso, (q.by_row if q.by_row.ready else columns).get().iso)
    chosen = _columns_of_b(q, mask, work, valued=known is None and bool(q.semiring.mult.uses & {"x", "y"}))
    if chosen is None:
        return None
    (t, probes), a, semiring = chosen, q.a, q.semiring
    a_indptr, a_indices = rows_of(a)
    t_indptr, t_indices = rows_of(t)
    m_indptr, m_indices = kernel_array(mask.indptr), kernel_array(mask.indices)
    total = int(probes[-1])
    note(method="dot", probes=total)
    uses = semiring.mult.uses if known is None else frozenset()
    operators: tuple[Any, ...] = (types.STRUCTURE, None)
    if known is None:
        operators = (types.monoid(semiring.add), types.binary(semiring.mult))
    rows = (probes, a_indptr, a_indices, t_indptr, t_indices, m_indptr, m_indices)
    values = (values_of(a, "x" in uses), values_of(t, "y" in uses))
    steps = total + a.nvals
    return DotWork(rows, values, operators, known, "x" in uses and a.iso is None, steps, threads_for(steps))


def _columns_of_b(q: Mxm, mask: Pattern, work: Array | None, *, valued: bool) -> tuple[CSR, Array] | None:
    """Return B by columns and the probes before each row, if dot products cost least; else None.

    A transpose that is not at hand is a part of their cost.  It is cached with B; where its structure is symmetric, and
    no values are read, it is B itself.  valued: whether probes read values.
    """
    columns, given = q.by_column, q.method == "dot"
    assert columns is not None
    if not (given or columns.ready or q.by_row.ready):
        return None
    a_indptr, a_indices = rows_of(q.a)
    m_indptr, m_indices = kernel_array(mask.indptr), kernel_array(mask.indices)
    left = None
    if not given and q.by_row.ready:
        if work is None:
            work = products_before(a_indptr, a_indices, kernel_array(q.b.indptr))
        left = tuning.PRODUCT_COST * int(work[-1]) - tuning.DOT_ENTRY * mask.nvals
        if not columns.ready:
            left -= tuning.TRANSPOSED_ENTRY * q.b.nvals
        if left < 0:
            return None
    t_indptr = kernel_array(columns.get().indptr) if given or columns.ready else column_offsets(q.b)
    probes = probes_before(a_indptr, t_indptr, m_indptr, m_indices)
    probe = tuning.VALUED_PROBE if valued else tuning.PROBE_OF_DOT
    if left is not None and left < probe * int(probes[-1]):
        return None
    try:
        return columns.get(), probes
    except OutOfMemory:  # rows of B need no transpose
        if given:
            raise
        return None


class Scratch(NamedTuple):
    """What the threads need for the rows of A: a mark for each column, and the place of its entry where A is read."""

    marks: Array
    places: Array
    reads_a: bool


def scratch(q: Mxm, dots: DotWork, more: int) -> Scratch:
    """Return the scratch memory; OutOfMemory where it does not fit with `more` bytes."""
    slots = q.a.ncols if dots.reads_a else 1
    require("mxm", "cpu", dots.threads * (q.a.ncols + 8 * slots) + more)
    marks = np.zeros((dots.threads, q.a.ncols), np.uint8)
    return Scratch(marks, np.empty((dots.threads, slots), np.int64), dots.reads_a)


def dot_products(q: Mxm, mask: Pattern, work: Array | None) -> CSR | None:
    """Return t(i, j) = (+)_k A(i, k) (x) B(k, j) for the entries of the mask; None if rows of B cost less.

    Memory beyond the result: a value and a byte for each entry of the mask, and for each thread a byte for each column
    of A, or 9 if the values of A are read.
    """
    dots = dot_work(q, mask, work)
    if dots is None:
        return None
    z = q.semiring.z
    memory = scratch(q, dots, mask.nvals * (1 + (0 if dots.constant is not None else z.itemsize)))
    found = np.zeros(mask.nvals, np.bool_)
    made = None if dots.constant is not None else np.empty(mask.nvals, z)
    dots.run(memory, None, found, made)
    return kept_rows(CSR(mask, z, made, dots.constant), found)


@kernel
def _dot(t, threads, control, rows, values, add, mult, marks, places, reads_a, reduce, found, made):
    """rows, values: as in `DotWork`.  reduce: a monoid for the results of each row, or None."""
    work, a_indptr, a_indices, _, _, m_indptr, _ = rows
    mark, place = marks[t], places[t]
    chunks = threads * CHUNKS_PER_THREAD
    while True:
        chunk = next_chunk(control)
        if chunk >= chunks:
            return
        for i in range(share(work, chunk, chunks), share(work, chunk + 1, chunks)):
            if stopped(control):
                return
            begin, end = np.int64(a_indptr[i]), np.int64(a_indptr[i + 1])
            if begin == end or m_indptr[i] == m_indptr[i + 1]:
                continue
            _enter(a_indices, begin, end, mark, place, reads_a)
            any_hit, total = False, converted(reduce, 0)
            for m in range(m_indptr[i], m_indptr[i + 1]):
                hit, value = _entry(rows, values, add, mult, mark, place, reads_a, np.int64(i), begin, end, m)
                if reduce is None:
                    found[m] = hit
                    put(made, m, value)
                elif hit:
                    part = converted(reduce, value)
                    total = combine(reduce, total, part) if any_hit else part
                    any_hit = True
                    if stops(reduce, total):
                        break
            _leave(a_indices, begin, end, mark)
            if reduce is not None:
                found[i] = any_hit
                put(made, i, total)


@inlined
def _entry(rows, values, add, mult, mark, place, reads_a, i, begin, end, m):
    """Return the dot product for entry m of the mask, in row i, whose entries of A are those from begin to end."""
    _, _, a_indices, t_indptr, t_indices, _, m_indices = rows
    j = np.int64(m_indices[m])
    first, last = between(t_indices, t_indptr[j], t_indptr[j + 1], a_indices[begin], a_indices[end - 1])
    return dot(add, mult, values, (a_indices, begin, end, t_indices, first, last), mark, place, reads_a, i, j)


@inlined
def _enter(indices, begin, end, mark, place, reads_a):
    """Mark the columns of a row of A, and store the places of its entries if they are read."""
    for p in range(begin, end):
        put(mark, value_at(indices, p), 1)
        if reads_a:
            put(place, value_at(indices, p), p)


@inlined
def _leave(indices, begin, end, mark):
    """Clear the marks of a row of A."""
    for p in range(begin, end):
        put(mark, value_at(indices, p), 0)


@inlined
def between(indices, begin, end, low, high):
    """Return the part of the entries [begin, end) of a long row from column `low` to column `high`, both included."""
    first, last = np.int64(begin), np.int64(end)
    if last - first >= LONG and indices[first] < low:
        first = lower_bound(indices, first + 1, last, low)
    if last - first >= LONG and indices[last - 1] > high:
        last = lower_bound(indices, first, last - 1, high + 1)
    return first, last


@types.by_types
def dot(add, mult, values, columns, mark, place, reads_a, i, j):
    """Return whether row i of A and row j of B' have a column in common, and the sum of the products.

    values: those of A and B', or None.  columns: the columns of A and the range of row i, then the same of B' and j.
    mark, place: of row i.
    """
    if types.is_none(mult):
        return _any_common
    return _summed if mult.expr.uses or add.terminal else _counted


def _summed(add, mult, values, columns, mark, place, reads_a, i, j):
    a_indices, begin, end, t_indices, first, last = columns
    avals, bvals = values
    hit, total = False, converted(add, 0)
    if last - first > SWAP * (end - begin):
        for p in range(begin, end):
            k = a_indices[p]
            r = lower_bound(t_indices, first, last, k)
            if r < last and t_indices[r] == k:
                z = product(mult, None, value_at(avals, p), value_at(bvals, r), i, np.int64(k), j)
                total = combine(add, total, z) if hit else z
                hit = True
                if stops(add, total):
                    break
    else:
        for r in range(first, last):
            k = value_at(t_indices, r)
            if value_at(mark, k):
                at = value_at(place, k) if reads_a else begin
                z = product(mult, None, value_at(avals, at), value_at(bvals, r), i, np.int64(k), j)
                total = combine(add, total, z) if hit else z
                hit = True
                if stops(add, total):
                    break
    return hit, total


def _counted(add, mult, values, columns, mark, place, reads_a, i, j):
    """Sum products of one value: their number is counted without branches, then the value is doubled."""
    count = common(columns, mark)
    return count != 0, repeated(add, product(mult, None, None, None, i, i, j), count)


def _any_common(add, mult, values, columns, mark, place, reads_a, i, j):
    _, begin, end, t_indices, first, last = columns
    if last - first > SWAP * (end - begin):
        return common(columns, mark) != 0, None
    for r in range(first, last):
        if value_at(mark, value_at(t_indices, r)):
            return True, None
    return False, None


@inlined
def common(columns, mark):
    """Return the number of columns that two rows have in common; columns, mark: as in `dot`."""
    a_indices, begin, end, t_indices, first, last = columns
    count = np.int64(0)
    if last - first > SWAP * (end - begin):
        for p in range(begin, end):
            r = lower_bound(t_indices, first, last, a_indices[p])
            count += r < last and t_indices[r] == a_indices[p]
    else:
        for r in range(first, last):
            count += value_at(mark, value_at(t_indices, r))
    return count
