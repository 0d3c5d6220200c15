"""Matrix products, row by row: Gustavson's method with a dense accumulator for each thread.

A mask is fused: columns that it does not admit are not stored, and seldom accumulated.  Two passes: one counts the
entries of each row, the other computes them in place.  Of a row with many products both find the columns word by word
(`mxm_bits`); sums then begin with a start value, and each product is added without a test.  Few products have space for
all of them, and are computed without being counted.

An accumulator has a slot for each column of B.  Where B has far more columns than entries, its columns are renumbered
first, so that only non-empty columns have slots, and cost and memory are proportional to the entries.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numba.core import types as numba_types

from ...formats import CSR, Array, Pattern, index_dtype, structure_only, uncompressed_pattern
from ...formats.csr import empty_csr
from ...memory.allocation import require
from ...operators.types import TypedSemiring
from ..constants import product_value
from ..operands import Index, Mask, simplified
from ..recording import note
from ..registry import implements
from ..spec import Mxm
from . import types
from .atomics import next_chunk, stopped
from .compile import kernel
from .extract import chosen_columns
from .members import is_few, is_wide, ranked
from .mxm_bits import clear_bits, count_bits, is_found_by_words, listed_from, packed_rows, set_structure, words_of
from .mxm_dot import dot_products, term
from .mxm_work import products_before
from .operands import kernel_array, rows_of, values_of
from .rows import share, sort_range
from .select import mask_pattern
from .threads import run, threads_for
from .types import combine, position, put, stops, value_at

_OPEN, _INSIDE, _OUTSIDE = 0, 1, 2
_CHUNKS_PER_THREAD = 32
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
    if mask is not None and isinstance(simple, Mask) and not simple.complement:
        found = dot_products(q, mask)
        if found is not None:
            return found
    note(method="rows")
    whole = q.b
    if not is_wide(whole.ncols, whole.nvals):
        return _product(q, q.a, whole, mask)
    columns, ranks = ranked(whole.indices)
    b = CSR(Pattern(whole.nrows, columns.size, whole.indptr, ranks), whole.dtype, whole.values, whole.iso)
    if mask is not None:  # its entries in empty columns of B have no effect, complemented or not
        index = Index(whole.ncols, columns.size, array=columns)
        mask = uncompressed_pattern(chosen_columns(structure_only(mask), index).pattern)
    made = _product(q, q.a, b, mask, columns.astype(np.int64) if "yj" in q.semiring.mult.uses else None)
    indices = columns[made.indices].astype(index_dtype(whole.ncols), copy=False)
    return CSR(Pattern(made.nrows, whole.ncols, made.indptr, indices), made.dtype, made.values, made.iso)


def _product(q: Mxm, a: CSR, b: CSR, admitting: Pattern | None, columns: Array | None = None) -> CSR:
    """Return the product of a and b with the semiring and mask of q; `admitting` holds the entries of the mask.

    columns: the number of each column of b, for a multiplication that reads it; None: its position.
    """
    semiring = q.semiring
    known = product_value(semiring, a.iso, b.iso)
    mode = _OPEN if q.mask is None or admitting is None else _OUTSIDE if q.mask.complement else _INSIDE
    a_indptr, a_indices = rows_of(a)
    b_indptr, b_indices = b_rows = rows_of(b)
    mask_rows = b_rows if admitting is None else (kernel_array(admitting.indptr), kernel_array(admitting.indices))
    admitted = (*mask_rows, mode)
    work = products_before(a_indptr, a_indices, b_indptr)
    total_work = int(work[-1])
    threads = threads_for(total_work)
    stamp, column = index_dtype(2 * a.nrows + 2), index_dtype(b.ncols)
    itemsize = 0 if known is not None else semiring.z.itemsize
    require("mxm", "cpu", threads * b.ncols * (stamp.itemsize + b_indices.dtype.itemsize + itemsize))
    marks, listed = np.zeros((threads, b.ncols), stamp), np.empty((threads, b.ncols), b_indices.dtype)
    counted = not is_few(total_work // _PRODUCTS)
    most = int(np.diff(work).max(initial=0)) if counted and mode != _INSIDE else 0
    bits = np.empty((threads, words_of(b.ncols)), np.uint64)
    structure = (work, a_indptr, a_indices, b_indptr, b_indices, bits, *packed_rows(b_indptr, b_indices, b.ncols, most))
    if counted:
        offsets = np.zeros(a.nrows + 1, np.int64)
        run(_count, threads, *structure, *admitted, marks, offsets, work=total_work)
        np.cumsum(offsets, out=offsets)
        total = int(offsets[-1])
        require("mxm", "cpu", total * (column.itemsize + itemsize))
        indptr = offsets.astype(index_dtype(total))
        marks[:] = 0
    else:
        total, indptr = total_work, np.zeros(a.nrows + 1, np.int32)
    indices = np.empty(total, column)
    if known is not None:
        operators, reads_a, reads_b = _STRUCTURE
        made = totals = None
    else:
        operators, reads_a, reads_b = _operators(semiring)
        made, totals = np.empty(total, semiring.z), np.empty((threads, b.ncols), semiring.z)
    operands = (*structure, values_of(a, reads_a), values_of(b, reads_b), *admitted, *operators, columns)
    run(_multiply, threads, *operands, marks, listed, totals, counted, indptr, indices, made, work=total_work)
    if not counted:
        for array in (indices,) if made is None else (indices, made):
            array.resize(int(indptr[-1]), refcheck=False)  # in place: the arguments of the kernel are the only views
    return CSR(Pattern(a.nrows, b.ncols, indptr, indices), semiring.z, made, known)


# The operators of a product whose values are known.
_STRUCTURE: tuple[tuple[Any, ...], bool, bool] = (types.STRUCTURE, None, None), False, False


@functools.lru_cache(maxsize=1024)
def _operators(semiring: TypedSemiring) -> tuple[tuple[Any, ...], bool, bool]:
    """Return addition, multiplication and start value as kernel arguments, and whether values of A and B are read.

    start: a value s with s (+) z = z for every z, bit for bit; None where no such value is known.
    """
    add, uses = semiring.add, semiring.mult.uses
    # 0 plus -0 is 0, but -0 plus z is z.
    start = add.z.type(-0.0) if add.op.expr == "x + y" and add.z.kind in "iuf" else None
    return (types.monoid(add), types.binary(semiring.mult), start), "x" in uses, "y" in uses


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
    bits: Any,
    numbers: Any,
    packed: Any,
    m_indptr: Any,
    m_indices: Any,
    mode: int,
    marks: Any,
    offsets: Any,
) -> None:
    """bits: words of each thread.  numbers, packed: the number of each packed row of B, and their words."""
    mark, word = marks[t], bits[t]
    chunks = threads * _CHUNKS_PER_THREAD
    while True:
        chunk = next_chunk(control)
        if chunk >= chunks:
            return
        for i in range(share(work, chunk, chunks), share(work, chunk + 1, chunks)):
            if stopped(control):
                return
            if a_indptr[i] == a_indptr[i + 1]:
                continue
            if mode != _INSIDE and is_found_by_words(work[i + 1] - work[i], word.size):
                set_structure(word, a_indptr[i], a_indptr[i + 1], a_indices, b_indptr, b_indices, numbers, packed)
                if mode == _OUTSIDE:
                    clear_bits(word, m_indices, m_indptr[i], m_indptr[i + 1])
                offsets[i + 1] = count_bits(word)
                continue
            # Two stamps a row: an even one for columns of the mask, the next odd one for columns of the result.
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
    bits: Any,
    numbers: Any,
    packed: Any,
    avals: Any,
    bvals: Any,
    m_indptr: Any,
    m_indices: Any,
    mode: int,
    add: Any,
    mult: Any,
    start: Any,
    columns: Any,
    marks: Any,
    lists: Any,
    totals: Any,
    counted: bool,
    indptr: Any,
    indices: Any,
    made: Any,
) -> None:
    """Compute the rows of the result.  counted: their offsets are known; else one thread finds them, row by row."""
    mark, listed, total, word = marks[t], lists[t], _row_of(totals, t), bits[t]
    chunks = threads * _CHUNKS_PER_THREAD
    while True:
        chunk = next_chunk(control)
        if chunk >= chunks:
            return
        for i in range(share(work, chunk, chunks), share(work, chunk + 1, chunks)):
            if stopped(control):
                return
            if counted and indptr[i] == indptr[i + 1]:
                continue
            admitted, met = 2 * i + 2, 2 * i + 3
            if mode != _INSIDE and is_found_by_words(work[i + 1] - work[i], word.size):
                set_structure(word, a_indptr[i], a_indptr[i + 1], a_indices, b_indptr, b_indices, numbers, packed)
                if mode == _OUTSIDE:
                    clear_bits(word, m_indices, m_indptr[i], m_indptr[i + 1])
                slot = np.int64(indptr[i])
                end = listed_from(word, indices, slot)
                indptr[i + 1] = end
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
                            product = term(mult, x, value_at(bvals, r), np.int64(i), np.int64(k), at)
                            if start is not None:
                                put(total, j, combine(add, value_at(total, j), product))
                            else:
                                is_next = mark[j] == met
                                mark[j] = met
                                put(total, j, combine(add, value_at(total, j), product) if is_next else product)
                    for s in range(slot, end):
                        put(made, s, value_at(total, indices[s]))
                continue
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
                            at = position(columns, np.int64(j))
                            product = term(mult, x, value_at(bvals, r), np.int64(i), np.int64(k), at)
                            put(total, j, combine(add, so_far, product))
                    elif mode == _OPEN or (state == admitted) == (mode == _INSIDE):
                        mark[j] = met
                        listed[found] = j
                        found += 1
                        at = position(columns, np.int64(j))
                        put(total, j, term(mult, x, value_at(bvals, r), np.int64(i), np.int64(k), at))
            slot = np.int64(indptr[i])
            if mode == _INSIDE:
                for m in range(m_indptr[i], m_indptr[i + 1]):  # the row of the mask is sorted
                    j = m_indices[m]
                    if mark[j] == met:
                        indices[slot] = j
                        put(made, slot, value_at(total, j))
                        slot += 1
                indptr[i + 1] = slot
                continue
            sort_range(listed, 0, found)
            for s in range(found):
                indices[slot] = listed[s]
                put(made, slot, value_at(total, listed[s]))
                slot += 1
            indptr[i + 1] = slot


def _row_of(array: Any, t: Any) -> Any:
    """Return array[t], or None where there is no array."""
    raise NotImplementedError


@types.overload_for(_row_of)
def _choose_row(array: Any, t: Any) -> Any:
    if isinstance(array, numba_types.NoneType):
        return lambda array, t: None
    return lambda array, t: array[t]
