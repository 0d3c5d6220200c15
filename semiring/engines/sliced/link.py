"""Union-find over rows, slice after slice."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import numpy as np

from ...formats import CSR, Array, Pattern, VectorStore, array_module, dense_values, index_dtype, structure_only
from ...memory.arrays import to_host
from .. import registry
from ..operands import Index
from ..registry import slices
from ..spec import ExtractMatrix, Link
from .bounds import cuts
from .pieces import Piece, note_slices, walk


@slices(Link)
def link(q: Link, engine: str) -> VectorStore:
    """Unite i and j for each entry (i, j) at positions [first, last) of its row; slices of skipped rows are not read.

    Which rows are skipped is settled before the first slice.  Synchronises where rows are skipped.
    """
    pattern = q.pattern
    a = structure_only(pattern)
    where = cuts(pattern)
    rows, wanted = where.rows, where.filled()
    skip = q.skipped()
    visited = None if skip is None else _visited(q.forest, skip)
    left: list[int] = []
    if visited is not None:
        xp = array_module(pattern.device)
        before = xp.concatenate([xp.zeros(1, dtype=np.int64), xp.cumsum(visited, dtype=np.int64)])
        # How many rows are visited up to each bound.  synchronises
        left = to_host(before[xp.asarray(np.array(rows, np.int64))]).tolist()
        wanted = [s for s in wanted if left[s] < left[s + 1]]
    note_slices(rows, wanted)
    forest = q.forest
    for s, piece in zip(wanted, walk(a, engine, rows, wanted), strict=True):
        standing = piece.tall(pattern.nrows)
        if visited is not None and left[s + 1] - left[s] < piece.last - piece.first:
            standing = _only(piece, visited, pattern.nrows, engine)
        forest = registry.run(replace(q, forest=forest, pattern=standing.pattern, skip=None), engine)
    if not wanted:
        empty = Pattern(pattern.nrows, pattern.ncols, *_no_entries(pattern))
        forest = registry.run(replace(q, pattern=empty, skip=None), engine)  # its trees are to be flat all the same
    return forest


def _visited(forest: VectorStore, skip: int) -> Array:
    """True for the rows whose root is another one than `skip`."""
    parent = dense_values(forest)
    while True:
        above = parent[parent]
        if bool(to_host((above == parent).all())):  # synchronises
            return parent != skip
        parent = above


def _only(piece: Piece, visited: Array, nrows: int, engine: str) -> CSR:
    """The visited rows of a piece where they stand in the whole, all others empty."""
    xp: Any = array_module(piece.rows.device)
    height = piece.last - piece.first
    places = xp.flatnonzero(visited[piece.first : piece.last])  # synchronises
    index = Index(height, int(places.size), array=places.astype(index_dtype(height)))
    columns = Index(piece.rows.ncols, piece.rows.ncols)
    chosen = cast(CSR, registry.run(ExtractMatrix(piece.rows, index, columns), engine))
    lengths = xp.zeros(nrows, dtype=np.int64)
    lengths[places + piece.first] = xp.diff(chosen.indptr)
    offsets = xp.zeros(nrows + 1, dtype=chosen.indptr.dtype)
    offsets[1:] = xp.cumsum(lengths)
    return replace(chosen, pattern=Pattern(nrows, chosen.ncols, offsets, chosen.indices), cache={})


def _no_entries(pattern: Any) -> tuple[Array, Array]:
    xp = array_module(pattern.device)
    return xp.zeros(pattern.nrows + 1, dtype=np.int32), xp.zeros(0, dtype=index_dtype(pattern.ncols))
