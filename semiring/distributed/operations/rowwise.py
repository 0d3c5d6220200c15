"""Operations on the entries of each row.

A matrix scaled by a vector needs the vector's elements of its block's rows or columns.  The others read a row in order,
or all of it: they are computed on the rows of a segment, and results with entries in the columns go back to the blocks.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ...engines import registry
from ...engines.requests.operands import Index
from ...engines.requests.operations import Located, LocateGroups, LocateRows, Scale, Scan, SelectK, SortedRows, SortRows
from ...engines.shared.iso_results import POSITIONS
from ...formats import CSR, Full, IndexList, array_module, dense_values, index_dtype
from ...ops.convert import index_list
from ...ops.ewise import ewise_mult
from ..grid import Grid
from ..partition import (
    allgather_segments,
    col_segments,
    embed_vector,
    local,
    matrix,
    restrict,
    row_segments,
    to_global,
    vector,
)
from ..routing import by_owner, exchanged
from ..rows import blocks_of_rows, global_rows, whole_rows
from ..rules import grid_rule
from .indexing import members_at


@grid_rule(Scale)
def scale(q: Scale, grid: Grid) -> Any:
    """Gather the elements of the rows, or of the columns, of the block."""
    a, segments = q.a, row_segments if q.by_rows else col_segments
    u: Any = allgather_segments(grid, q.u, segments)
    if q.op.uses & POSITIONS:
        extent = a.nrows if q.by_rows else a.ncols
        u = embed_vector(u, extent, grid.segment(extent, segments(grid).start)[0])
        made = restrict(_scaled(to_global(grid, a), u, q), grid.rows(a.nrows), grid.cols(a.ncols))
    else:
        made = _scaled(local(a), u, q)
    return matrix(grid, a.shape, made, keeps=a if grid.all_reduce_and(made.nvals == local(a).nvals) else None)


def _scaled(a: Any, u: Any, q: Scale) -> CSR:
    made: CSR = (ewise_mult(u, a, q.op) if q.by_rows else ewise_mult(a, u, q.op)).into()
    return made


@grid_rule(Scan)
def scan(q: Scan, grid: Grid) -> Any:
    """Add up each row in the order of its columns, as on one process."""
    made = registry.run(replace(q, a=whole_rows(grid, q.a)), grid.engine)
    return blocks_of_rows(grid, made, q.a.shape, keeps=q.a)


@grid_rule(SortRows)
def sort_rows(q: SortRows, grid: Grid) -> SortedRows:
    """Sort the rows of each segment."""
    made = registry.run(replace(q, a=whole_rows(grid, q.a)), grid.engine)
    values = blocks_of_rows(grid, made.values, q.a.shape)
    return SortedRows(values, blocks_of_rows(grid, made.columns, q.a.shape))


@grid_rule(SelectK)
def select_k(q: SelectK, grid: Grid) -> Any:
    """Choose in each block, then among the entries that the blocks beside each other have chosen."""
    a = q.a
    rows, cols = grid.rows(a.nrows), grid.cols(a.ncols)
    if q.how == "random":  # the numbers that are compared are functions of the positions
        chosen = restrict(registry.run(replace(q, a=to_global(grid, a)), grid.engine), rows, cols)
        few = matrix(grid, a.shape, chosen, iso=a.iso)
        made: CSR = registry.run(replace(q, a=global_rows(grid, few)), grid.engine)
        made = restrict(made, grid.segment(a.nrows), (0, a.ncols))
    else:
        few = matrix(grid, a.shape, registry.run(replace(q, a=local(a)), grid.engine), iso=a.iso)
        if grid.shape[1] == 1:
            return few
        made = registry.run(replace(q, a=whole_rows(grid, few)), grid.engine)
    found = blocks_of_rows(grid, made, a.shape)
    return matrix(grid, a.shape, local(found), iso=a.iso)


@grid_rule(LocateRows)
def locate_rows(q: LocateRows, grid: Grid) -> Located:
    """Find the entry of each row of the segment."""
    found = registry.run(replace(q, a=_candidates(q, grid)), grid.engine)
    size = q.a.nrows
    return Located(vector(grid, size, found.values, iso=q.a.iso), vector(grid, size, found.positions))


def _candidates(q: LocateRows, grid: Grid) -> CSR:
    """Return rows with the entry that wins in each block; of one block its rows."""
    a = q.a
    if grid.shape[1] == 1:
        return local(a)
    how = "largest" if q.largest else "smallest"
    best = registry.run(SelectK(local(a), 1, how, 0), grid.engine)
    return whole_rows(grid, matrix(grid, a.shape, best, iso=a.iso))


@grid_rule(LocateGroups)
def locate_groups(q: LocateGroups, grid: Grid) -> Located:
    """Find the entry of each group in the segment, and send it to the holder of the group."""
    u, size = q.u, q.index.size
    first, last = grid.segment(u.size)
    own, everything = index_list(local(u)), array_module(grid.local).arange(last - first, dtype=np.int64)
    labels = members_at(q.index, everything, first, grid)
    index = Index(size, int(labels.size), array=labels.astype(index_dtype(size), copy=False))
    found = registry.run(replace(q, u=own, index=index), grid.engine)
    values, positions = index_list(found.values), index_list(found.positions)
    groups = values.indices.astype(np.int64)
    order, targets = by_owner(groups, size, grid)
    best, places = dense_values(values)[order], dense_values(positions)[order] + first
    groups, best, places = exchanged(grid, targets, best, places)
    # In the order of the ranks, and so of the positions in the vector.
    begin, end = grid.segment(size)
    index = Index(end - begin, int(groups.size), array=(groups - begin).astype(index_dtype(end - begin), copy=False))
    candidates = Full(int(groups.size), u.dtype, best, None, grid.local)
    made = registry.run(LocateGroups(candidates, index, q.largest), grid.engine)
    chosen = index_list(made.positions)
    at = IndexList(end - begin, np.dtype(np.int64), chosen.indices, places[dense_values(chosen)])
    return Located(vector(grid, size, made.values, iso=u.iso), vector(grid, size, at))
