"""Products of a sparse and a full matrix under a mask: the rows of the result that it has, or its entries alone.

An entry of the mask needs the products of one row of A and one column of B, of which the sparse one is traversed and
the other is read at its positions.  Whole rows of the result are computed by vector instructions, several columns at a
time.  The method that visits fewer entries, with columns counted by their vectors, is used.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...formats import CSR, Array, Pattern, structure_only, uncompressed_pattern
from ...formats.csr import empty_csr
from ...memory.allocation import require
from ...operators.types import TypedSemiring
from ..recording import note
from ..registry import WITH_FULL, implements
from ..requests.operands import Mask, simplified
from ..requests.operations import Keep, Mxm
from ..shared.iso_results import product_value
from .atomics import CHUNKS_PER_THREAD, FEW_STEPS, next_chunk, stopped
from .compile import inlined, kernel
from .mxm_full import by_transposes, gives_full, reads_full, stored_rows
from .mxm_full_rows import COLUMNS_PER_ENTRY, operators_of, row_products
from .operands import kernel_array, rows_of, values_of
from .rows import lower_bound
from .select import keep, kept_rows, mask_pattern
from .threads import run, threads_for
from .types import combine, position, product, put, stops, value_at


class _Sides(NamedTuple):
    """The operands by role: the sparse one, whose rows are traversed, and the full one.

    sparse: A, or the transpose of B under `flip`.  full: B, or A under `flip`.
    """

    sparse: CSR
    full: CSR
    flip: bool


def _is_masked(q: Mxm) -> bool:
    """Return whether one operand is sparse, the other full, and a mask lists the positions that it admits."""
    mask = q.mask
    if mask is None or mask.complement or mask.store.format != "csr":
        return False
    if q.a.format != "full":
        return gives_full(q.by_row, q.by_column)
    if q.by_column is None or gives_full(q.by_row, q.by_column) or gives_full(q.by_column, q.by_row):
        return False
    return reads_full(q)


@implements(Mxm, engine="cpu", accepts=WITH_FULL, when=_is_masked, fuses=("mask",), priority=2)
def mxm_full_masked(q: Mxm) -> CSR:
    """t(i, j) = (+)_k A(i, k) (x) B(k, j) where the mask admits (i, j), for a sparse and a full operand."""
    mask, semiring = simplified(q.mask), q.semiring
    if not isinstance(mask, Mask):
        return empty_csr(q.a.nrows, q.ncols, semiring.z, "cpu")
    sides, entries = _sides(q), mask_pattern(mask)
    lengths, counts = np.diff(sides.sparse.indptr), np.diff(entries.indptr)
    if sides.flip:
        terms = lengths[entries.indices]
        present = np.repeat(np.diff(q.a.indptr) > 0, counts) & (terms > 0)
        whole = q.a.nvals // max(q.a.ncols, 1) * (sides.sparse.nvals + q.a.ncols + q.ncols) // COLUMNS_PER_ENTRY
    else:
        terms = np.repeat(lengths, counts)
        present = terms > 0
        whole = int(lengths[counts > 0].sum()) * (1 + q.ncols // COLUMNS_PER_ENTRY)
    entries = uncompressed_pattern(kept_rows(structure_only(entries), present).pattern)
    known = product_value(semiring, q.a.iso, (sides.sparse if sides.flip else sides.full).iso)
    if known is not None:
        note(method="structure")
        return CSR(entries, semiring.z, None, known)
    visits = int(terms.sum())
    if visits <= whole:
        note(method="dot")
        return CSR(entries, semiring.z, _entry_values(entries, sides, semiring, visits))
    if sides.flip:
        made = by_transposes(q)
    else:
        note(method="rows of B")
        made = row_products(sides.sparse, sides.full, semiring, rows=counts > 0)
    return CSR(entries, semiring.z, _values_at(made, entries))


def _sides(q: Mxm) -> _Sides:
    """Return the operands by role; the sparse one without entries that meet an empty row of a full B."""
    if q.a.format == "full":
        assert q.by_column is not None
        return _Sides(q.by_column.get(), q.a, True)
    b = q.b
    every_row = b.nvals == b.nrows * b.ncols
    return _Sides(q.a if every_row else kept_rows(q.a, (np.diff(b.indptr) > 0)[q.a.indices]), b, False)


def _values_at(a: CSR, entries: Pattern) -> Array:
    """Return the values of a matrix at positions at which it has entries."""
    assert a.values is not None
    if a.format != "full":
        made = keep(Keep(a, Mask(structure_only(entries), True, False)))
        assert made.values is not None
        return made.values
    return a.values[np.repeat(a.indptr[:-1], np.diff(entries.indptr)) + entries.indices]


def _entry_values(entries: Pattern, sides: _Sides, semiring: TypedSemiring, visits: int) -> Array:
    """Return the value of each entry; all of them have a product.  visits: the entries of the sparse rows, summed."""
    require("mxm", "cpu", entries.nvals * semiring.z.itemsize)
    made = np.empty(entries.nvals, semiring.z)
    add, mult, reads_sparse, reads_full = operators_of(semiring, flip=sides.flip)
    structure = (kernel_array(entries.indptr), kernel_array(entries.indices), *rows_of(sides.sparse))
    values = (values_of(sides.sparse, reads_sparse), values_of(sides.full, reads_full))
    operators = (add, mult, sides.flip or None, stored_rows(sides.full), sides.full.ncols)
    work = visits + entries.nvals
    run(_sums, threads_for(work), *structure, *values, *operators, made, work=work)
    return made


@inlined
def _full_slot(flip, ranks, k, other, width):
    """Return the position of the value of the full matrix at (k, other); at (other, k) under `flip`."""
    return position(ranks, k) * width + other if flip is None else position(ranks, other) * width + k


@kernel
def _sums(t, threads, control, indptr, indices, s_indptr, s_indices, svals, fvals, add, mult, flip, ranks, width, made):
    chunks = threads * CHUNKS_PER_THREAD
    while True:
        chunk = next_chunk(control)
        if chunk >= chunks:
            return
        first, last = made.size * chunk // chunks, made.size * (chunk + 1) // chunks
        i = lower_bound(indptr, 0, indptr.size, first + 1) - 1
        for m in range(first, last):
            if m & FEW_STEPS == 0 and stopped(control):
                return
            while indptr[i + 1] <= m:
                i += 1
            row, other = np.int64(i), np.int64(indices[m])
            if flip is not None:
                row, other = other, row
            p, end = np.int64(s_indptr[row]), np.int64(s_indptr[row + 1])
            k = np.int64(s_indices[p])
            y = value_at(fvals, _full_slot(flip, ranks, k, other, width))
            total = product(mult, flip, value_at(svals, p), y, row, k, other)
            p += 1
            while p < end and not stops(add, total):
                k = np.int64(s_indices[p])
                y = value_at(fvals, _full_slot(flip, ranks, k, other, width))
                total = combine(add, total, product(mult, flip, value_at(svals, p), y, row, k, other))
                p += 1
            put(made, m, total)
