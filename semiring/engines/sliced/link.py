"""Union-find over rows in slices."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import numpy as np

from ...formats import CSR, Array, Pattern, VectorStore, array_module, dense_values, index_dtype, structure_only
from ...memory.arrays import to_host
from .. import registry
from ..registry import slicing_rule
from ..requests.graphs import Link
from ..requests.operands import Index
from ..requests.operations import ExtractMatrix
from ..rows.bounds import slice_bounds
from ..rows.slices import RowSlice, note_slices, walk


@slicing_rule(Link)
def link(q: Link, engine: str) -> VectorStore:
    """Unite i and j for each entry (i, j) at positions [first, last) of its row; slices of skipped rows are not read.

    The skipped rows are determined before the first slice.  Synchronizes where rows are skipped.
    """
    pattern = q.pattern
    a = structure_only(pattern)
    where = slice_bounds(pattern)
    rows, selected = where.rows, where.filled()
    skip = q.skipped()
    visited = None if skip is None else _visited(q.forest, skip)
    visited_before: list[int] = []
    if visited is not None:
        xp = array_module(pattern.device)
        before = xp.concatenate([xp.zeros(1, dtype=np.int64), xp.cumsum(visited, dtype=np.int64)])
        # The number of visited rows up to each bound.  synchronizes
        visited_before = to_host(before[xp.asarray(np.array(rows, np.int64))]).tolist()
        selected = [s for s in selected if visited_before[s] < visited_before[s + 1]]
    note_slices(rows, selected)
    forest = q.forest
    for s, row_slice in zip(selected, walk(a, engine, rows, selected), strict=True):
        full = row_slice.full_height(pattern.nrows)
        if visited is not None and visited_before[s + 1] - visited_before[s] < row_slice.last - row_slice.first:
            full = _only(row_slice, visited, pattern.nrows, engine)
        forest = registry.run(replace(q, forest=forest, pattern=full.pattern, skip=None), engine)
    if not selected:
        empty = Pattern(pattern.nrows, pattern.ncols, *_no_entries(pattern))
        forest = registry.run(replace(q, pattern=empty, skip=None), engine)  # flattens its trees
    return forest


def _visited(forest: VectorStore, skip: int) -> Array:
    """Return for each row whether its root differs from `skip`."""
    parent = dense_values(forest)
    while True:
        above = parent[parent]
        if bool(to_host((above == parent).all())):  # synchronizes
            return parent != skip
        parent = above


def _only(row_slice: RowSlice, visited: Array, nrows: int, engine: str) -> CSR:
    """Return the visited rows of a slice at their offsets in the whole matrix, all others empty."""
    xp: Any = array_module(row_slice.rows.device)
    height = row_slice.last - row_slice.first
    positions = xp.flatnonzero(visited[row_slice.first : row_slice.last])  # synchronizes
    index = Index(height, int(positions.size), array=positions.astype(index_dtype(height)))
    columns = Index(row_slice.rows.ncols, row_slice.rows.ncols)
    chosen = cast(CSR, registry.run(ExtractMatrix(row_slice.rows, index, columns), engine))
    lengths = xp.zeros(nrows, dtype=np.int64)
    lengths[positions + row_slice.first] = xp.diff(chosen.indptr)
    offsets = xp.zeros(nrows + 1, dtype=chosen.indptr.dtype)
    offsets[1:] = xp.cumsum(lengths)
    return replace(chosen, pattern=Pattern(nrows, chosen.ncols, offsets, chosen.indices), cache={})


def _no_entries(pattern: Any) -> tuple[Array, Array]:
    xp = array_module(pattern.device)
    return xp.zeros(pattern.nrows + 1, dtype=np.int32), xp.zeros(0, dtype=index_dtype(pattern.ncols))
