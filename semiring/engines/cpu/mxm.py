"""Matrix products, row by row: Gustavson's method with a dense accumulator for each thread.

A mask is fused: columns that it does not admit are not stored, and seldom accumulated.  Two passes: one counts the
entries of each row, the other computes them in place.  Of a row with many products both find the columns word by word
(`mxm_bits`); sums then begin with a start value, and each product is added without a test.  Few products, and results
that a mask limits to its own entries, have space for all that may be stored, and are computed without being counted.

An accumulator has a slot for each column of B.  Where B has far more columns than entries, its columns are renumbered
first, so that only non-empty columns have slots, and cost and memory are proportional to the entries.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ...formats import CSR, Array, BitmapPattern, Pattern, index_dtype, is_bitmap, structure_only, uncompressed_pattern
from ...formats.csr import empty_csr
from ...memory.allocation import require
from ...operators.types import TypedSemiring
from .. import recording
from ..recording import note
from ..registry import WITH_BITMAP, implements
from ..requests.operands import Index, Mask, simplified
from ..requests.operations import Mxm
from ..shared.iso_results import product_value
from . import types
from .atomics import CHUNKS_PER_THREAD, next_chunk, stopped
from .bits import list_bits
from .compile import kernel
from .extract import chosen_columns
from .index_rank import is_few, is_wide, ranked
from .mxm_bits import (
    clear_bits,
    clear_range,
    count_bits,
    is_found_by_words,
    packed_rows,
    set_structure,
    words_of,
)
from .mxm_dot import dot_products
from .mxm_work import products_before
from .operands import bits_of, kernel_array, rows_of, values_of
from .rows import share, sort_range
from .select import mask_pattern
from .threads import parts_for, run, threads_for
from .types import combine, position, present, product, put, row_at, stops, value_at

# What a mask admits: everything, all but its entries (listed, or as bits of all positions), or its entries.
_OPEN, _OUTSIDE, _OUTSIDE_BITS, _INSIDE = 0, 1, 2, 3
_NO_BITS = np.zeros(0, np.uint32)
_NONE_PACKED = packed_rows(np.zeros(1, np.int32), np.zeros(0, np.int32), 0, -1)
# Products for each of the few entries of `members` up to which the result has space for all of them at first (with 8
# bytes a value, less than the C library obtains from the system at once).
_PRODUCTS = 8


@implements(Mxm, engine="cpu", fuses=("mask",))
def mxm(q: Mxm) -> CSR:
    """t(i, j) = (+)_k A(i, k) (x) B(k, j), where the mask admits (i, j)."""
    simple = simplified(q.mask)
    if simple is False:
        return empty_csr(q.a.nrows, q.b.ncols, q.semiring.z, "cpu")
    mask = None if simple is True else mask_pattern(simple)
    work = _products(q) if q.by_row.ready else None
    if mask is not None and isinstance(simple, Mask) and not simple.complement:
        found = dot_products(q, mask, work)
        if found is not None:
            return found
    if recording.users:
        note(method="rows")
    whole = q.b
    if not is_wide(whole.ncols, whole.nvals):
        return _product(q, q.a, whole, mask, work)
    columns, ranks = ranked(whole.indices)
    b = CSR(Pattern(whole.nrows, columns.size, whole.indptr, ranks), whole.dtype, whole.values, whole.iso)
    if mask is not None:  # its entries in empty columns of B have no effect, complemented or not
        index = Index(whole.ncols, columns.size, array=columns)
        mask = uncompressed_pattern(chosen_columns(structure_only(mask), index).pattern)
    made = _product(q, q.a, b, mask, work, columns.astype(np.int64) if "yj" in q.semiring.mult.uses else None)
    indices = columns[made.indices].astype(index_dtype(whole.ncols), copy=False)
    return CSR(Pattern(made.nrows, whole.ncols, made.indptr, indices), made.dtype, made.values, made.iso)


def _products(q: Mxm) -> Array:
    """Return the number of products of the rows before each row, and of all rows."""
    return products_before(*rows_of(q.a), kernel_array(q.b.indptr))


def _is_outside_bits(q: Mxm) -> bool:
    """Return whether the mask is the complement of the structure of a bitmap matrix, and the operands are rows."""
    mask = q.mask
    if mask is None or not (mask.complement and mask.structural and is_bitmap(mask.store)):
        return False
    if not q.by_row.ready or not all(isinstance(x.pattern, Pattern) for x in (q.a, q.b)):
        return False
    return not is_wide(q.b.ncols, q.b.nvals)


@implements(Mxm, engine="cpu", accepts=WITH_BITMAP, fuses=("mask",), when=_is_outside_bits)
def mxm_outside_bits(q: Mxm) -> CSR:
    """t(i, j) = (+)_k A(i, k) (x) B(k, j), where a bitmap matrix, the mask, has no entry."""
    assert q.mask is not None
    assert isinstance(q.mask.store, CSR)
    pattern = q.mask.store.pattern
    assert isinstance(pattern, BitmapPattern)
    note(method="rows", mask="bits")
    return _product(q, q.a, q.b, None, None, bits=np.asarray(pattern.words))


def _product(
    q: Mxm,
    a: CSR,
    b: CSR,
    admitting: Pattern | None,
    work: Array | None,
    columns: Array | None = None,
    bits: Array | None = None,
) -> CSR:
    """Return the product of a and b with the semiring and mask of q; `admitting` holds the entries of the mask.

    work: the products before each row, if they are counted.  columns: the number of each column of b, for a
    multiplication that reads it; None: its position.  bits: of a mask that is a bitmap.
    """
    semiring = q.semiring
    known = product_value(semiring, a.iso, b.iso)
    mode = _OPEN
    if q.mask is not None and (admitting is not None or bits is not None):
        mode = _INSIDE if not q.mask.complement else _OUTSIDE if bits is None else _OUTSIDE_BITS
    a_indptr, a_indices = rows_of(a)
    b_indptr, b_indices = b_rows = rows_of(b)
    mask_rows = b_rows if admitting is None else (kernel_array(admitting.indptr), kernel_array(admitting.indices))
    admitted = (*mask_rows, _NO_BITS if bits is None else bits, b.ncols, mode)
    if work is None:
        work = products_before(a_indptr, a_indices, b_indptr)
    total_work = int(work[-1])
    threads, few = threads_for(total_work), is_few(total_work // _PRODUCTS)
    stamp, column = index_dtype(2 * a.nrows + 2), index_dtype(b.ncols)
    itemsize = 0 if known is not None else semiring.z.itemsize
    if not (few and is_few(b.ncols)):
        require("mxm", "cpu", threads * b.ncols * (stamp.itemsize + b_indices.dtype.itemsize + itemsize))
    marks, listed = np.zeros((threads, b.ncols), stamp), np.empty((threads, b.ncols), b_indices.dtype)
    counted = mode != _INSIDE and not few
    found = np.empty((threads, words_of(b.ncols)), np.uint64)
    packed = _NONE_PACKED
    if counted:
        packed = packed_rows(b_indptr, b_indices, b.ncols, int(np.diff(work).max(initial=0)))
    structure = (work, a_indptr, a_indices, b_indptr, b_indices, found, *packed)
    placed, ends = counted, None
    if counted:
        offsets = np.zeros(a.nrows + 1, np.int64)
        run(_count, threads, structure, admitted, marks, offsets, work=total_work)
        np.cumsum(offsets, out=offsets)
        total = int(offsets[-1])
        require("mxm", "cpu", total * (column.itemsize + itemsize))
        indptr = offsets.astype(index_dtype(total))
        marks[:] = 0
    elif admitting is None or mode != _INSIDE:
        total, indptr = total_work, np.zeros(a.nrows + 1, np.int32)
    elif threads == 1:
        total = min(total_work, admitting.nvals)
        if not few:
            require("mxm", "cpu", total * (column.itemsize + itemsize))
        indptr = np.zeros(a.nrows + 1, index_dtype(total))
    else:  # a row has as many entries as products or as the row of the mask, at most
        offsets = np.zeros(a.nrows + 1, np.int64)
        np.cumsum(np.minimum(np.diff(work), np.diff(admitting.indptr)), out=offsets[1:])
        total = int(offsets[-1])
        require("mxm", "cpu", 2 * total * (column.itemsize + itemsize))
        placed, indptr = True, offsets.astype(index_dtype(total))
        ends = indptr[:-1].copy()
    indices = np.empty(total, column)
    if known is not None:
        operators, reads_a, reads_b = _STRUCTURE
        made = totals = None
    else:
        operators, reads_a, reads_b = _operators(semiring)
        made, totals = np.empty(total, semiring.z), np.empty((threads, b.ncols), semiring.z)
    operands = (structure, values_of(a, reads_a), values_of(b, reads_b), admitted, *operators, columns)
    written = (placed, indptr, indptr[1:] if ends is None else ends, indices)
    run(_multiply, threads, *operands, (marks, listed, totals), written, made, work=total_work)
    if ends is not None:
        indptr, indices, made = _without_gaps(indptr, ends, indices, made)
    elif not counted:
        for array in (indices,) if made is None else (indices, made):
            array.resize(int(indptr[-1]), refcheck=False)  # in place: the arguments of the kernel are the only views
    return CSR(Pattern(a.nrows, b.ncols, indptr, indices), semiring.z, made, known)


def _without_gaps(starts: Array, ends: Array, indices: Array, made: Array | None) -> tuple[Array, Array, Array | None]:
    """Return offsets, columns and values of the rows that end before the next ones start."""
    offsets = np.zeros(starts.size, np.int64)
    np.cumsum(ends - starts[:-1], out=offsets[1:])
    total = int(offsets[-1])
    if total == indices.size:
        return starts, indices, made
    indptr, columns = offsets.astype(index_dtype(total)), np.empty(total, indices.dtype)
    values = None if made is None else np.empty(total, made.dtype)
    run(_close_gaps, parts_for(total), starts, indices, bits_of(made), indptr, columns, bits_of(values))
    return indptr, columns, values


@kernel
def _close_gaps(t, threads, control, starts, indices, made, indptr, columns, values):
    for i in range(share(indptr, t, threads), share(indptr, t + 1, threads)):
        p = np.int64(starts[i])
        for slot in range(indptr[i], indptr[i + 1]):
            columns[slot] = indices[p]
            put(values, slot, value_at(made, p))
            p += 1


# The operators of a product whose values are known.
_STRUCTURE: tuple[tuple[Any, ...], bool, bool] = (types.STRUCTURE, None, None), False, False


@functools.lru_cache(maxsize=1024)
def _operators(semiring: TypedSemiring) -> tuple[tuple[Any, ...], bool, bool]:
    """Return addition, multiplication and start value as kernel arguments, and whether values of A and B are read.

    start: a value s with s (+) z = z for every z, bit for bit; None where no such value is known.
    """
    add, uses = semiring.add, semiring.mult.uses
    # 0 plus -0 is 0, but -0 plus z is z.
    start = add.z.type(-0.0) if add.expr.is_addition and add.z.kind in "iuf" else None
    return (types.monoid(add), types.binary(semiring.mult), start), "x" in uses, "y" in uses


@kernel
def _count(t, threads, control, structure, mask, marks, offsets):
    """structure: products before each row; A; B; words of each thread; the number of each packed row of B; their words.

    mask: its rows and bits, columns of the result, and how it is used.
    """
    work, a_indptr, a_indices, b_indptr, b_indices, bits, numbers, packed = structure
    m_indptr, m_indices, m_bits, ncols, mode = mask
    mark, word = marks[t], bits[t]
    chunks = threads * CHUNKS_PER_THREAD if threads > 1 else 1
    while True:
        chunk = next_chunk(control)
        if chunk >= chunks:
            return
        for i in range(share(work, chunk, chunks), share(work, chunk + 1, chunks)):
            if stopped(control):
                return
            if a_indptr[i] == a_indptr[i + 1]:
                continue
            if is_found_by_words(work[i + 1] - work[i], word.size):
                set_structure(word, a_indptr[i], a_indptr[i + 1], a_indices, b_indptr, b_indices, numbers, packed)
                if mode == _OUTSIDE:
                    clear_bits(word, m_indices, m_indptr[i], m_indptr[i + 1])
                elif mode == _OUTSIDE_BITS:
                    clear_range(word, m_bits, np.int64(i) * ncols)
                offsets[i + 1] = count_bits(word)
                continue
            # Two stamps a row: an even one for columns of the mask, the next odd one for columns of the result.
            excluded, met = 2 * i + 2, 2 * i + 3
            if mode == _OUTSIDE:
                for m in range(m_indptr[i], m_indptr[i + 1]):
                    mark[m_indices[m]] = excluded
            found = 0
            for p in range(a_indptr[i], a_indptr[i + 1]):
                k = a_indices[p]
                for r in range(b_indptr[k], b_indptr[k + 1]):
                    j = b_indices[r]
                    state = mark[j]
                    if state != met and state != excluded:
                        if mode == _OUTSIDE_BITS and present(m_bits, np.int64(i) * ncols + j):
                            mark[j] = excluded
                            continue
                        mark[j] = met
                        found += 1
            offsets[i + 1] = found


@kernel
def _multiply(t, threads, control, structure, avals, bvals, mask, add, mult, start, columns, scratch, written, made):
    """Compute the rows of the result, from ``indptr[i]`` to ``ends[i]``.

    placed: rows have space from ``indptr[i]`` to ``indptr[i + 1]``; else `ends` is a view of `indptr`, and one thread
    writes row after row.
    """
    work, a_indptr, a_indices, b_indptr, b_indices, bits, numbers, packed = structure
    m_indptr, m_indices, m_bits, ncols, mode = mask
    (marks, lists, totals), (placed, indptr, ends, indices) = scratch, written
    mark, listed, total, word = marks[t], lists[t], row_at(totals, t), bits[t]
    chunks = threads * CHUNKS_PER_THREAD if threads > 1 else 1
    while True:
        chunk = next_chunk(control)
        if chunk >= chunks:
            return
        for i in range(share(work, chunk, chunks), share(work, chunk + 1, chunks)):
            if stopped(control):
                return
            if placed and indptr[i] == indptr[i + 1]:
                continue
            slot = np.int64(indptr[i])
            listing, met = 2 * i + 2, 2 * i + 3
            if mode != _INSIDE and is_found_by_words(work[i + 1] - work[i], word.size):
                set_structure(word, a_indptr[i], a_indptr[i + 1], a_indices, b_indptr, b_indices, numbers, packed)
                if mode == _OUTSIDE:
                    clear_bits(word, m_indices, m_indptr[i], m_indptr[i + 1])
                elif mode == _OUTSIDE_BITS:
                    clear_range(word, m_bits, np.int64(i) * ncols)
                end = list_bits(word, 0, word.size, indices, slot)
                ends[i] = end
                if made is not None:
                    if start is not None:
                        for s in range(slot, end):
                            put(total, indices[s], start)
                    # Sums in columns that the mask excludes are not read.
                    for p in range(a_indptr[i], a_indptr[i + 1]):
                        k = a_indices[p]
                        x = value_at(avals, p)
                        for r in range(b_indptr[k], b_indptr[k + 1]):
                            j = b_indices[r]
                            at = position(columns, np.int64(j))
                            z = product(mult, None, x, value_at(bvals, r), np.int64(i), np.int64(k), at)
                            if start is not None:
                                put(total, j, combine(add, value_at(total, j), z))
                            else:
                                is_next = mark[j] == met
                                mark[j] = met
                                put(total, j, combine(add, value_at(total, j), z) if is_next else z)
                    for s in range(slot, end):
                        put(made, s, value_at(total, indices[s]))
                continue
            if mode in (_OUTSIDE, _INSIDE):
                if mode == _INSIDE and m_indptr[i] == m_indptr[i + 1]:
                    ends[i] = slot
                    continue
                for m in range(m_indptr[i], m_indptr[i + 1]):
                    mark[m_indices[m]] = listing
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
                            at = position(columns, np.int64(j))
                            z = product(mult, None, x, value_at(bvals, r), np.int64(i), np.int64(k), at)
                            put(total, j, combine(add, so_far, z))
                    elif (state == listing) == (mode == _INSIDE):
                        if mode == _OUTSIDE_BITS and present(m_bits, np.int64(i) * ncols + j):
                            mark[j] = listing
                            continue
                        mark[j] = met
                        listed[found] = j
                        found += 1
                        at = position(columns, np.int64(j))
                        put(total, j, product(mult, None, x, value_at(bvals, r), np.int64(i), np.int64(k), at))
            if mode == _INSIDE:
                for m in range(m_indptr[i], m_indptr[i + 1]):  # the row of the mask is sorted
                    j = m_indices[m]
                    if mark[j] == met:
                        indices[slot] = j
                        put(made, slot, value_at(total, j))
                        slot += 1
                ends[i] = slot
                continue
            sort_range(listed, 0, found)
            for s in range(found):
                indices[slot] = listed[s]
                put(made, slot, value_at(total, listed[s]))
                slot += 1
            ends[i] = slot
