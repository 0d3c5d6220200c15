"""Parts of vectors and matrices, repeated and reordered as asked."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...formats import CSR, IndexList, Pattern, VectorStore, index_dtype
from ..registry import implements
from ..spec import ExtractMatrix, ExtractRow, ExtractVector, Index
from . import presence
from .compile import kernel
from .operands import Array, bits_of, rows_of
from .rows import share
from .scatter import positions
from .threads import parts_for, run
from .transpose import transposed
from .types import put, value_at


@implements(ExtractVector, engine="cpu")
def extract_vector(q: ExtractVector) -> VectorStore:
    """t(p) = u(index[p])."""
    u, index = q.u, q.index
    if index.is_all:
        return u
    wanted = positions(index)
    if isinstance(u, IndexList):
        place = np.searchsorted(u.indices, wanted)
        found = np.flatnonzero(np.append(u.indices, -1)[place] == wanted)
        indices = found.astype(index_dtype(index.count))
        return IndexList(index.count, u.dtype, indices, None if u.values is None else u.values[place[found]], u.iso)
    words = presence.from_flags(presence.probe(presence.presence(u), wanted))
    return presence.from_slots(index.count, u.dtype, words, None if u.values is None else u.values[wanted], u.iso)


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

    Columns in ascending order are renumbered as rows are copied.  Any others are the rows of a transpose: columns
    are taken from it as rows are, and transposing back sorts them.
    """
    a = q.a
    if q.cols.is_all:
        return a if q.rows.is_all else _rows(a, positions(q.rows))
    wanted = positions(q.cols)
    if wanted.size and bool((wanted[1:] > wanted[:-1]).all()):
        renumbered = np.full(a.ncols, -1, index_dtype(a.ncols))
        renumbered[wanted] = np.arange(wanted.size)
        return _columns(a if q.rows.is_all else _rows(a, positions(q.rows)), renumbered, q.cols)
    chosen = a if q.rows.is_all else _rows(a, positions(q.rows))
    return transposed(_rows(transposed(chosen), wanted))


def _rows(a: CSR, rows: Array) -> CSR:
    """t(p, j) = a(rows[p], j)."""
    indptr, indices = rows_of(a)
    lengths = (indptr[rows + 1] - indptr[rows]).astype(np.int64)
    offsets = np.zeros(rows.size + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    total = int(offsets[-1])
    made_indptr = offsets.astype(index_dtype(total))
    made_indices = np.empty(total, indices.dtype)
    values = None if a.values is None else np.empty(total, a.dtype)
    arguments = (indptr, indices, bits_of(a.values), rows, made_indptr, made_indices, bits_of(values))
    run(_copy_rows, parts_for(total + rows.size), *arguments)
    return CSR(Pattern(rows.size, a.ncols, made_indptr, made_indices), a.dtype, values, a.iso)


@kernel
def _copy_rows(
    t: int,
    threads: int,
    control: Any,
    indptr: Any,
    indices: Any,
    values: Any,
    rows: Any,
    out_indptr: Any,
    out_indices: Any,
    out_values: Any,
) -> None:
    for i in range(share(out_indptr, t, threads), share(out_indptr, t + 1, threads)):
        shift = np.int64(indptr[rows[i]]) - np.int64(out_indptr[i])
        for p in range(out_indptr[i], out_indptr[i + 1]):
            out_indices[p] = indices[p + shift]
            put(out_values, p, value_at(values, p + shift))


def _columns(a: CSR, renumbered: Array, cols: Index) -> CSR:
    """The entries of a in columns that have a new number, there."""
    indices = renumbered[a.indices]
    holds = indices >= 0
    kept = np.zeros(a.nvals + 1, np.int64)
    np.cumsum(holds, out=kept[1:])
    total = int(kept[-1])
    indptr = kept[a.indptr].astype(index_dtype(total))
    made = indices[holds].astype(index_dtype(cols.count), copy=False)
    values = None if a.values is None else a.values[holds]
    return CSR(Pattern(a.nrows, cols.count, indptr, made), a.dtype, values, a.iso)
