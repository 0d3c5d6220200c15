"""Extraction of parts of vectors and matrices, in any order and with repetitions."""

from __future__ import annotations

import numpy as np

from ...formats import CSR, Full, IndexList, Pattern, VectorStore, index_dtype
from ...memory.allocation import require
from ..registry import implements
from ..requests.operands import Index
from ..requests.operations import ExtractMatrix, ExtractRow, ExtractVector
from . import presence
from .compile import kernel
from .index_rank import is_wide, ranked, ranks
from .operands import Array, bits_of, rows_of
from .rows import share
from .scatter import positions
from .select import kept_columns
from .threads import parts_for, run
from .transpose import transposed
from .types import put, value_at


@implements(ExtractVector, engine="cpu")
def extract_vector(q: ExtractVector) -> VectorStore:
    """t(p) = u(index[p])."""
    u, index = q.u, q.index
    if index.is_all:
        return u
    if isinstance(u, IndexList):
        return _listed(u, index)
    if isinstance(u, Full) and u.values is not None and index.array is None and index.step == 1:
        return Full(index.count, u.dtype, u.values[index.start : index.start + index.count].copy())
    selected = positions(index)
    words = presence.from_flags(presence.probe(presence.presence(u), selected))
    return presence.from_slots(index.count, u.dtype, words, None if u.values is None else u.values[selected], u.iso)


def _listed(u: IndexList, index: Index) -> IndexList:
    """Extract from an index list: a range by arithmetic on u's entries, an array by binary search."""
    dtype = index_dtype(index.count)
    if index.array is None:
        rank = ranks(index, u.indices)
        entries = np.flatnonzero(rank >= 0)
        entries = entries if index.step > 0 else entries[::-1]
        return IndexList(index.count, u.dtype, rank[entries], None if u.values is None else u.values[entries], u.iso)
    selected = positions(index)
    slot = np.searchsorted(u.indices, selected)
    found = np.flatnonzero(np.append(u.indices, -1)[slot] == selected)
    values = None if u.values is None else u.values[slot[found]]
    return IndexList(index.count, u.dtype, found.astype(dtype), values, u.iso)


@implements(ExtractRow, engine="cpu")
def extract_row(q: ExtractRow) -> VectorStore:
    """t(j) = a(row, j)."""
    a = q.a
    part = slice(int(a.indptr[q.row]), int(a.indptr[q.row + 1]))
    values = None if a.values is None else a.values[part].copy()
    return IndexList(a.ncols, a.dtype, a.indices[part].copy(), values, a.iso)


@implements(ExtractMatrix, engine="cpu")
def extract_matrix(q: ExtractMatrix) -> CSR:
    """t(p, q) = a(rows[p], cols[q]).

    Columns in ascending or descending order are renumbered while rows are copied.  Otherwise the columns are extracted
    as rows of the transpose, and transposing back sorts them.  For a wide matrix only the chosen columns are
    transposed, so that the cost is proportional to the entries and the chosen columns.
    """
    a, cols = q.a, q.cols
    chosen = a if q.rows.is_all else _rows(a, positions(q.rows))
    if cols.is_all:
        return chosen
    if cols.array is None:
        made = chosen_columns(chosen, cols)
        return made if cols.step > 0 else _backwards(made)
    selected = positions(cols)
    if bool((selected[1:] > selected[:-1]).all()):
        return chosen_columns(chosen, cols)
    if is_wide(a.ncols, chosen.nvals + selected.size):
        distinct, selected = ranked(selected)
        chosen = chosen_columns(chosen, Index(a.ncols, distinct.size, array=distinct))
    return transposed(_rows(transposed(chosen), selected))


def _rows(a: CSR, rows: Array) -> CSR:
    """t(p, j) = a(rows[p], j)."""
    indptr, indices = rows_of(a)
    offsets = np.empty(rows.size + 1, np.int64)
    run(_sum_lengths, 1, indptr, rows, offsets)
    total = int(offsets[-1])
    require("extract", "cpu", total * (indices.dtype.itemsize + (0 if a.values is None else a.dtype.itemsize)))
    made_indptr = offsets.astype(index_dtype(total))
    made_indices = np.empty(total, indices.dtype)
    values = None if a.values is None else np.empty(total, a.dtype)
    arguments = (indptr, indices, bits_of(a.values), rows, made_indptr, made_indices, bits_of(values))
    run(_copy_rows, parts_for(total + rows.size), *arguments)
    return CSR(Pattern(rows.size, a.ncols, made_indptr, made_indices), a.dtype, values, a.iso)


@kernel
def _sum_lengths(t, threads, control, indptr, rows, offsets):
    """offsets: where each of these rows begins, if they follow one another, and their total length."""
    total = np.int64(0)
    for i in range(rows.size):
        offsets[i] = total
        row = np.uintp(rows[i])
        total += np.int64(indptr[row + np.uintp(1)]) - np.int64(indptr[row])
    offsets[rows.size] = total


@kernel
def _copy_rows(t, threads, control, indptr, indices, values, rows, out_indptr, out_indices, out_values):
    for i in range(share(out_indptr, t, threads), share(out_indptr, t + 1, threads)):
        shift = np.int64(indptr[rows[i]]) - np.int64(out_indptr[i])
        for p in range(np.int64(out_indptr[i]), np.int64(out_indptr[i + 1])):
            out_indices[np.uintp(p)] = indices[np.uintp(p + shift)]
            put(out_values, p, value_at(values, p + shift))


def chosen_columns(a: CSR, cols: Index) -> CSR:
    """t(i, q) = a(i, cols[q]) in the order of a's entries; an index array ascends."""
    indices = ranks(cols, a.indices)
    return kept_columns(a, indices, indices >= 0, cols.count)


def _backwards(a: CSR) -> CSR:
    """Return the matrix with the entries of each row in reverse order."""
    indptr = a.indptr.astype(np.int64)
    order = np.repeat(indptr[:-1] + indptr[1:] - 1, np.diff(indptr)) - np.arange(a.nvals)
    values = None if a.values is None else a.values[order]
    return CSR(Pattern(a.nrows, a.ncols, a.indptr, a.indices[order]), a.dtype, values, a.iso)
