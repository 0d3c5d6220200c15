"""Extraction of parts of a matrix: only slices with requested rows are read."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from ...formats import CSR, Array, VectorStore, array_module, index_dtype
from .. import registry
from ..registry import slicing_rule
from ..requests.operands import Index
from ..requests.operations import ExtractMatrix, ExtractRow
from ..rows.bounds import slice_bounds
from ..rows.slices import note_slices, walk
from . import dense_rows
from .matrices import RowRanges
from .vectors import positions_below


@slicing_rule(ExtractRow)
def extract_row(q: ExtractRow, engine: str) -> VectorStore:
    """t(j) = a(row, j), from a slice of that row."""
    dense = dense_rows.extract_row(q)
    if dense is not None:
        return dense
    (row_slice,) = walk(q.a, engine, (q.row, q.row + 1), (0,))
    return row_slice.detached(cast(VectorStore, registry.run(ExtractRow(row_slice.rows, 0), engine)))


@slicing_rule(ExtractMatrix)
def extract_matrix(q: ExtractMatrix, engine: str) -> CSR:
    """t(p, q) = a(rows[p], cols[q]): rows in ascending order in slices, then in the requested order."""
    dense = dense_rows.extract_matrix(q)
    if dense is not None:
        return dense
    a = q.a
    where = slice_bounds(a.pattern)
    rows = where.rows
    made = RowRanges(q.name, q.rows.count, q.cols.count, a.dtype, a.device)
    if q.rows.is_all:
        selected = where.filled()
        note_slices(rows, selected)
        for row_slice in walk(a, engine, rows, selected):
            height = row_slice.last - row_slice.first
            made.add(row_slice, registry.run(ExtractMatrix(row_slice.rows, Index(height, height), q.cols), engine))
        return made.matrix()
    ascending, back = _ascending(q.rows, a.device)
    at = positions_below(rows, ascending)  # synchronizes
    selected = [s for s in where.filled() if at[s] < at[s + 1]]
    note_slices(rows, selected)
    for s, row_slice in zip(selected, walk(a, engine, rows, selected), strict=True):
        height = row_slice.last - row_slice.first
        positions = (ascending[at[s] : at[s + 1]] - row_slice.first).astype(index_dtype(height), copy=False)
        index = Index(height, int(positions.size), array=positions)
        found = registry.run(ExtractMatrix(row_slice.rows, index, q.cols), engine)
        made.put(at[s], at[s + 1], row_slice.detached(found))
    sorted_rows = made.matrix()
    if back is None:
        return sorted_rows
    order, columns = Index(q.rows.count, q.rows.count, array=back), Index(q.cols.count, q.cols.count)
    return cast(CSR, registry.run(ExtractMatrix(sorted_rows, order, columns), engine))


def _ascending(index: Index, device: str) -> tuple[Array, Array | None]:
    """Return the positions in ascending order, and the rank of each position of the index (None: in order)."""
    xp: Any = array_module(device)
    if index.array is None:
        positions = xp.arange(index.count, dtype=np.int64)
        if index.step > 0:
            return positions * index.step + index.start, None
        last = index.start + index.step * (index.count - 1)
        return positions * -index.step + last, positions[::-1].astype(index_dtype(index.count))
    order = xp.argsort(index.array)
    back = xp.empty(index.count, dtype=index_dtype(index.count))
    back[order] = xp.arange(index.count, dtype=back.dtype)
    return index.array[order].astype(np.int64), back
