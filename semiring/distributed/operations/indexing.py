"""Extraction and assignment: requests for positions are sent to those who hold them.

An index is a range or an array that every process has, or a vector on the grid, of which each has a segment.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...engines import registry
from ...engines.requests.operands import Index
from ...engines.requests.operations import (
    BuildVector,
    ExtractMatrix,
    ExtractRow,
    ExtractVector,
    Outside,
    ScatterMatrix,
    ScatterVector,
)
from ...formats import CSR, Array, IndexList, array_module, dense_values, index_dtype
from ...ops.cast import typed_second
from ...ops.convert import index_list
from ...ops.extract import extract_matrix
from ..grid import Grid
from ..part_stores import PartVector
from ..partition import full_if_dense, local, matrix, vector
from ..routing import Entries, by_owner, entries, exchanged, routed, triples
from ..rules import grid_rule


@grid_rule(ExtractVector)
def extract_vector(q: ExtractVector, grid: Grid) -> Any:
    """Send what is in a range to its new positions; of an array of positions, ask their holders for the entries."""
    u, size = q.u, q.index.count
    begin, end = grid.segment(u.size)
    if q.index.array is None:
        here, number = inside(q.index, (begin, end), grid)
        part = index_list(registry.run(ExtractVector(local(u), here), grid.engine))
        places = number(part.indices.astype(np.int64))
        return vector(grid, size, delivered(grid, places, dense_values(part), size), iso=u.iso)
    first, last = grid.segment(size)
    places, values = asked(grid, u, members(q.index, first, last, grid))
    return vector(grid, size, _built(places, values, last - first, u.dtype, None, grid), iso=u.iso)


def asked(grid: Grid, u: Any, wanted: Array) -> tuple[Array, Array]:
    """Return which of some positions have an entry, as numbers in `wanted`, and their values.  Collective.

    The positions are asked of those who hold them; they may repeat.
    """
    begin, end = grid.segment(u.size)
    order, requests = by_owner(wanted, u.size, grid)
    replies: dict[int, Any] = {}
    for rank, positions in grid.comm.exchange(requests).items():
        at = (positions - begin).astype(index_dtype(end - begin), copy=False)
        found = registry.run(ExtractVector(local(u), Index(end - begin, int(at.size), array=at)), grid.engine)
        replies[rank] = index_list(found)
    xp, first = array_module(grid.local), 0
    places, values = [xp.zeros(0, np.int64)], [xp.zeros(0, u.dtype)]
    found_of = grid.comm.exchange(replies, requests.keys())
    for rank, request in requests.items():
        places.append(order[first : first + request.size][found_of[rank].indices])
        values.append(dense_values(found_of[rank]))
        first += request.size
    return xp.concatenate(places), xp.concatenate(values)


def _built(indices: Array, values: Array, size: int, dtype: Any, dup: Any, grid: Grid) -> Any:
    spec = BuildVector(size, dtype, indices.astype(index_dtype(size), copy=False), values, None, dup)
    return full_if_dense(registry.run(spec, grid.engine))


def delivered(grid: Grid, positions: Array, values: Array, size: int, dup: Any = None) -> Any:
    """Return the segment with the entries that all processes have for it.  Collective.

    dup: combines entries at one position, in the order of the ranks.
    """
    order, targets = by_owner(positions, size, grid)
    found = exchanged(grid, targets, values[order])
    begin, end = grid.segment(size)
    return _built(found[0] - begin, found[1], end - begin, values.dtype, dup, grid)


@grid_rule(ScatterVector)
def scatter_vector(q: ScatterVector, grid: Grid) -> Any:
    """Send the entries to the holders of their positions, which combine them in the order of the ranks."""
    segment: IndexList = index_list(local(q.u))
    positions = members_at(q.index, segment.indices.astype(np.int64), grid.segment(q.u.size)[0], grid)
    dup = typed_second(segment.dtype) if q.dup is None else q.dup
    size = q.index.size
    return vector(grid, size, delivered(grid, positions, dense_values(segment), size, dup))


def members(index: Index, first: int, last: int, grid: Grid) -> Array:
    """Return the members `first` to `last` of an index that is an array, those of this process's segment."""
    if isinstance(index.array, PartVector):
        return dense_values(local(index.array)).astype(np.int64)
    assert index.array is not None
    return index.array[first:last].astype(np.int64)


def members_at(index: Index, numbers: Array, first: int, grid: Grid) -> Array:
    """Return some members of an index by their numbers in the segment of this process, which begins at `first`."""
    if index.array is None:
        return (numbers + first) * index.step + index.start
    if isinstance(index.array, PartVector):
        return dense_values(local(index.array))[numbers].astype(np.int64)
    return index.array[numbers + first].astype(np.int64)


def members_of(index: Index) -> Callable[[Array], Array]:
    """Return a function from numbers to the members of an index.  Collective for an index in parts."""
    if index.array is None:
        return lambda numbers: numbers * index.step + index.start
    members = _whole(index)
    return lambda numbers: members[numbers]


def _whole(index: Index) -> Array:
    """Return all members of an index that is an array."""
    if isinstance(index.array, PartVector):
        from ..scattering import allgather_store

        return dense_values(allgather_store(index.array)).astype(np.int64)
    assert index.array is not None
    return index.array.astype(np.int64, copy=False)


@grid_rule(ExtractMatrix)
def extract_matrix_on_grid(q: ExtractMatrix, grid: Grid) -> Any:
    """Extract from every block what the index selects of it, and send it to where it belongs."""
    a, shape = q.a, (q.rows.count, q.cols.count)
    rows, row_number = inside(q.rows, grid.rows(a.nrows), grid)
    cols, col_number = inside(q.cols, grid.cols(a.ncols), grid)
    chosen: CSR = extract_matrix(local(a), rows, cols).into()
    moved = Entries(chosen, 0, 0, lambda i, j: (row_number(i), col_number(j)))
    return routed(grid, moved, shape, a.dtype, iso=a.iso)


def inside(index: Index, part: tuple[int, int], grid: Grid) -> tuple[Index, Callable[[Array], Array]]:
    """Return the members of an index that are in a range, relative to it, and a function to their numbers in the index.

    Collective for an index in parts.
    """
    low, high = part
    if index.array is None:
        first, last = _numbers_between(index, low, high)
        start = index.start + index.step * first - low if first < last else 0
        return Index(high - low, last - first, start, index.step), lambda at: at + first
    all_members, xp = _whole(index), array_module(grid.local)
    numbers = xp.flatnonzero((all_members >= low) & (all_members < high)).astype(np.int64)
    size = high - low
    here = (all_members[numbers] - low).astype(index_dtype(size), copy=False)
    return Index(size, int(here.size), array=here), lambda at: numbers[at]


def _numbers_between(index: Index, low: int, high: int) -> tuple[int, int]:
    """Return the bounds of the numbers k with low <= start + step * k < high."""
    if index.step > 0:
        first, last = -((index.start - low) // index.step), -((index.start - high) // index.step)
    else:
        first, last = (high - index.start) // index.step + 1, (low - index.start) // index.step + 1
    first = min(max(first, 0), index.count)
    return first, min(max(last, first), index.count)


@grid_rule(ScatterMatrix)
def scatter_matrix(q: ScatterMatrix, grid: Grid) -> Any:
    """Send every entry to the holder of its new position; repeats combine in the order of the ranks."""
    a, shape = q.a, (q.rows.size, q.cols.size)
    dup = typed_second(a.dtype) if q.dup is None else q.dup
    of_rows, of_cols = members_of(q.rows), members_of(q.cols)
    return routed(grid, entries(grid, a, lambda rows, cols: (of_rows(rows), of_cols(cols))), shape, a.dtype, dup=dup)


@grid_rule(ExtractRow)
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
    return vector(grid, a.ncols, delivered(grid, part.cols, values, a.ncols), iso=a.iso)


@grid_rule(Outside)
def outside(q: Outside, grid: Grid) -> Any:
    """Keep what is outside the region in every part."""
    a: Any = q.a
    if not isinstance(a, CSR):
        at, _ = inside(q.rows, grid.segment(a.size), grid)
        return vector(grid, a.size, registry.run(Outside(local(a), at, None), grid.engine), iso=a.iso)
    assert q.cols is not None
    rows, _ = inside(q.rows, grid.rows(a.nrows), grid)
    cols, _ = inside(q.cols, grid.cols(a.ncols), grid)
    return matrix(grid, a.shape, registry.run(Outside(local(a), rows, cols), grid.engine), iso=a.iso)
