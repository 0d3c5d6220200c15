"""Extraction and assignment: requests for positions are sent to those who hold them.

An index is a range or an array that every process has, or a vector on the grid, of which each has a piece.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from ...engines import registry
from ...engines.operands import Index
from ...engines.registry import across
from ...engines.spec import (
    BuildVector,
    ExtractMatrix,
    ExtractRow,
    ExtractVector,
    Outside,
    ScatterMatrix,
    ScatterVector,
)
from ...formats import CSR, Array, IndexList, PartVector, array_module, dense_values, index_dtype
from ...formats.parts import piece_bounds
from ...ops.cast import typed_second
from ...ops.convert import index_list
from ...ops.extract import extract_matrix
from ..grid import Grid
from ..parts import local, matrix, packed, vector
from ..routing import Triples, divided, routed, triples


@across(ExtractVector)
def extract_vector(q: ExtractVector, grid: Grid) -> Any:
    """Ask the holders of the positions for their entries."""
    u, size = q.u, q.index.count
    first, last = grid.piece(size)
    wanted = _members(q.index, first, last, grid)
    order, requests = _by_owner(wanted, u.size, grid)
    asked = grid.all.exchange(requests)
    begin, end = grid.piece(u.size)
    replies: list[Any] = []
    for positions in asked:
        if positions is None:
            replies.append(None)
            continue
        at = (positions - begin).astype(index_dtype(end - begin), copy=False)
        part = registry.run(ExtractVector(local(u), Index(end - begin, int(at.size), array=at)), grid.engine)
        replies.append(index_list(part))
    found = grid.all.exchange(replies)
    return vector(grid, size, _replied(found, order, requests, last - first, u.dtype, grid), iso=u.iso)


def _replied(found: list[Any], order: Array, requests: list[Any], size: int, dtype: Any, grid: Grid) -> Any:
    """Return a piece of the entries that came back, each to the position that it was asked for."""
    xp, at = array_module(grid.local), 0
    places, values = [xp.zeros(0, np.int64)], [xp.zeros(0, dtype)]
    for reply, request in zip(found, requests, strict=True):
        if request is None:
            continue
        places.append(order[at : at + request.size][reply.indices])
        values.append(dense_values(reply))
        at += request.size
    return _built(xp.concatenate(places), xp.concatenate(values), size, dtype, None, grid)


def _built(indices: Array, values: Array, size: int, dtype: Any, dup: Any, grid: Grid) -> Any:
    spec = BuildVector(size, dtype, indices.astype(index_dtype(size), copy=False), values, None, dup)
    return packed(registry.run(spec, grid.engine))


@across(ScatterVector)
def scatter_vector(q: ScatterVector, grid: Grid) -> Any:
    """Send the entries to the holders of their positions, which combine them in the order of the ranks."""
    piece: IndexList = index_list(local(q.u))
    first, last = grid.piece(q.u.size)
    members = _members(q.index, first, last, grid)[piece.indices]
    order, targets = _by_owner(members, q.index.size, grid)
    messages: list[Any] = []
    values, at = dense_values(piece)[order], 0
    for target in targets:
        count = 0 if target is None else target.size
        messages.append(None if target is None else (target, values[at : at + count]))
        at += count
    found = [part for part in grid.all.exchange(messages) if part is not None]
    xp = array_module(grid.local)
    begin, end = grid.piece(q.index.size)
    indices = xp.concatenate([xp.zeros(0, np.int64), *(part[0] for part in found)]) - begin
    together = xp.concatenate([xp.zeros(0, piece.dtype), *(part[1] for part in found)])
    dup = typed_second(piece.dtype) if q.dup is None else q.dup
    return vector(grid, q.index.size, _built(indices, together, end - begin, piece.dtype, dup, grid))


def _members(index: Index, first: int, last: int, grid: Grid) -> Array:
    """Return the members of an index from number `first` to `last`, which are those of this process's piece."""
    xp = array_module(grid.local)
    if isinstance(index.array, PartVector):
        return dense_values(local(index.array)).astype(np.int64)
    if index.array is not None:
        return index.array[first:last].astype(np.int64)
    return xp.arange(first, last, dtype=np.int64) * index.step + index.start


def _everyone(index: Index, grid: Grid) -> Array:
    """Return all members of an index."""
    if isinstance(index.array, PartVector):
        from ..scattering import gathered

        return dense_values(gathered(index.array)).astype(np.int64)
    return _members(index, 0, index.count, grid)


def _by_owner(positions: Array, size: int, grid: Grid) -> tuple[Array, list[Any]]:
    """Return a stable order of positions by the process that holds them, and the positions for each process."""
    xp = array_module(grid.local)
    bounds = xp.asarray(piece_bounds(size, grid.size)[1:-1], dtype=np.int64)
    owner = xp.searchsorted(bounds, positions, side="right")
    order, ends = divided(positions, owner, grid.size, grid.local)
    sorted_positions = positions[order]
    parts = [sorted_positions[low:high] for low, high in itertools.pairwise(ends)]
    return order, [part if part.size else None for part in parts]


@across(ExtractMatrix)
def extract_matrix_on_grid(q: ExtractMatrix, grid: Grid) -> Any:
    """Extract from every block what the index selects of it, and send it to where it belongs."""
    a, shape = q.a, (q.rows.count, q.cols.count)
    rows, row_numbers = _inside(q.rows, grid.rows(a.nrows), grid)
    cols, col_numbers = _inside(q.cols, grid.cols(a.ncols), grid)
    t = triples(extract_matrix(local(a), rows, cols).into(), 0, 0)
    moved = Triples(row_numbers[t.rows], col_numbers[t.cols], t.values, t.iso)
    return routed(grid, moved, shape, a.dtype, iso=a.iso)


def _inside(index: Index, part: tuple[int, int], grid: Grid) -> tuple[Index, Array]:
    """Return the members of an index that are in a range, relative to it, and their numbers in the index."""
    members, xp = _everyone(index, grid), array_module(grid.local)
    numbers = xp.flatnonzero((members >= part[0]) & (members < part[1]))
    size = part[1] - part[0]
    inside = (members[numbers] - part[0]).astype(index_dtype(size), copy=False)
    return Index(size, int(inside.size), array=inside), numbers.astype(np.int64)


@across(ScatterMatrix)
def scatter_matrix(q: ScatterMatrix, grid: Grid) -> Any:
    """Send every entry to the holder of its new position; repeats combine in the order of the ranks."""
    a, shape = q.a, (q.rows.size, q.cols.size)
    t = triples(local(a), grid.rows(a.nrows)[0], grid.cols(a.ncols)[0])
    rows, cols = _everyone(q.rows, grid)[t.rows], _everyone(q.cols, grid)[t.cols]
    dup = typed_second(a.dtype) if q.dup is None else q.dup
    return routed(grid, Triples(rows, cols, t.values, t.iso), shape, a.dtype, dup=dup)


@across(ExtractRow)
def extract_row(q: ExtractRow, grid: Grid) -> Any:
    """Send the parts of the row to the holders of their positions."""
    a = q.a
    first, last = grid.rows(a.nrows)
    here = first <= q.row < last
    block = local(a)
    one = Index(last - first, int(here), q.row - first if here else 0)
    part = triples(extract_matrix(block, one, Index(block.ncols, block.ncols)).into(), 0, grid.cols(a.ncols)[0])
    values = part.values
    if values is None:
        values = array_module(grid.local).full(part.cols.size, part.iso, a.dtype)
    order, targets = _by_owner(part.cols, a.ncols, grid)
    messages: list[Any] = []
    values, at = values[order], 0
    for target in targets:
        count = 0 if target is None else target.size
        messages.append(None if target is None else (target, values[at : at + count]))
        at += count
    found = [message for message in grid.all.exchange(messages) if message is not None]
    xp = array_module(grid.local)
    begin, end = grid.piece(a.ncols)
    indices = xp.concatenate([xp.zeros(0, np.int64), *(message[0] for message in found)]) - begin
    together = xp.concatenate([xp.zeros(0, a.dtype), *(message[1] for message in found)])
    return vector(grid, a.ncols, _built(indices, together, end - begin, a.dtype, None, grid), iso=a.iso)


@across(Outside)
def outside(q: Outside, grid: Grid) -> Any:
    """Keep what is outside the region in every part."""
    a: Any = q.a
    if not isinstance(a, CSR):
        at, _ = _inside(q.rows, grid.piece(a.size), grid)
        return vector(grid, a.size, registry.run(Outside(local(a), at, None), grid.engine), iso=a.iso)
    assert q.cols is not None
    rows, _ = _inside(q.rows, grid.rows(a.nrows), grid)
    cols, _ = _inside(q.cols, grid.cols(a.ncols), grid)
    return matrix(grid, a.shape, registry.run(Outside(local(a), rows, cols), grid.engine), like=a, iso=a.iso)
