"""Parts of a matrix: only the slices that hold wanted rows are read."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from ...formats import CSR, Array, VectorStore, array_module, index_dtype
from .. import registry
from ..operands import Index
from ..registry import slices
from ..spec import ExtractMatrix, ExtractRow
from .bounds import cuts
from .matrices import RowRanges
from .pieces import note_slices, walk
from .vectors import places_of


@slices(ExtractRow)
def extract_row(q: ExtractRow, engine: str) -> VectorStore:
    """t(j) = a(row, j): a slice of that row alone."""
    (piece,) = walk(q.a, engine, (q.row, q.row + 1), (0,))
    return piece.kept(cast(VectorStore, registry.run(ExtractRow(piece.rows, 0), engine)))


@slices(ExtractMatrix)
def extract_matrix(q: ExtractMatrix, engine: str) -> CSR:
    """t(p, q) = a(rows[p], cols[q]): rows in ascending order slice by slice, then in the order that was asked for."""
    a = q.a
    where = cuts(a.pattern)
    rows = where.rows
    made = RowRanges(q.name, q.rows.count, q.cols.count, a.dtype, a.device)
    if q.rows.is_all:
        wanted = where.filled()
        note_slices(rows, wanted)
        for piece in walk(a, engine, rows, wanted):
            height = piece.last - piece.first
            made.add(piece, registry.run(ExtractMatrix(piece.rows, Index(height, height), q.cols), engine))
        return made.matrix()
    ascending, back = _ascending(q.rows, a.device)
    at = places_of(rows, ascending)  # synchronises
    wanted = [s for s in where.filled() if at[s] < at[s + 1]]
    note_slices(rows, wanted)
    for s, piece in zip(wanted, walk(a, engine, rows, wanted), strict=True):
        height = piece.last - piece.first
        places = (ascending[at[s] : at[s + 1]] - piece.first).astype(index_dtype(height), copy=False)
        index = Index(height, int(places.size), array=places)
        found = registry.run(ExtractMatrix(piece.rows, index, q.cols), engine)
        made.put(at[s], at[s + 1], piece.kept(found))
    sorted_rows = made.matrix()
    if back is None:
        return sorted_rows
    order, columns = Index(q.rows.count, q.rows.count, array=back), Index(q.cols.count, q.cols.count)
    return cast(CSR, registry.run(ExtractMatrix(sorted_rows, order, columns), engine))


def _ascending(index: Index, device: str) -> tuple[Array, Array | None]:
    """The positions in ascending order, and for each of the index the place where it stands there (None: in order)."""
    xp: Any = array_module(device)
    if index.array is None:
        places = xp.arange(index.count, dtype=np.int64)
        if index.step > 0:
            return places * index.step + index.start, None
        last = index.start + index.step * (index.count - 1)
        return places * -index.step + last, places[::-1].astype(index_dtype(index.count))
    order = xp.argsort(index.array)
    back = xp.empty(index.count, dtype=index_dtype(index.count))
    back[order] = xp.arange(index.count, dtype=back.dtype)
    return index.array[order].astype(np.int64), back
