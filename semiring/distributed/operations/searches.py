"""Searches from many sources.

Where every process may hold the matrix as a whole, each searches from its own sources, those of the rows of the result
in its segment, as one process does: nothing is sent in the levels.  Every level reads the matrix, so it is replicated
whatever that sends, unless there are fewer sources than processes.  Else a level is a product of the matrix of all
frontiers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...engines.requests.graphs import ClosureMany, ClosureManyResult
from ...engines.requests.operands import Mask, Rows
from ...engines.requests.operations import Mxm
from ...formats import CSR, array_module, dense_values, index_dtype, structure_only, with_values
from ...formats.hypersparse import empty_matrix
from ...operators import semiring as semirings
from ...ops.build import build_matrix
from ...ops.cast import cast_store
from ...ops.closure_many import closure_many as searched
from ...ops.convert import index_list
from ...ops.reduce import reduce_rows
from ...ops.write import merge
from ..communication_filter import Excluded
from ..grid import Grid
from ..partition import local, matrix, restrict
from ..replication import admitted, replica
from ..routing import Triples, concatenate_triples, routed
from ..rows import blocks_of_rows
from ..rules import grid_rule
from ..traffic_log import step
from .matrix_products import product

_INT64 = np.dtype(np.int64)


@grid_rule(ClosureMany)
def closure_many(q: ClosureMany, grid: Grid) -> ClosureManyResult:
    """Search apart with the whole matrix, or level by level together."""
    columns = q.by_column.ready and not q.by_row.ready
    a = structure_only((q.by_column if columns else q.by_row).get().pattern)
    if q.sources.size >= grid.size and admitted(grid, a, values=False):
        return _apart(q, replica(grid, a, values=False), columns, grid)
    return _together(q, grid)


def _apart(q: ClosureMany, whole: CSR, transposed: bool, grid: Grid) -> ClosureManyResult:
    """Search from the sources of the segment."""
    (first, last), k, n = grid.segment(q.sources.size), q.sources.size, whole.nrows
    found = searched(q.sources[first:last], whole, transposed=transposed, levels=q.levels, counts=q.counts)
    steps, counts = max(grid.comm.allgather(found.steps)), None
    if found.counts is not None:
        rows = restrict(found.counts, (0, last - first), (0, steps))
        counts = blocks_of_rows(grid, rows, (k, steps))
    levels = None if found.levels is None else _divided(found.levels, steps, (k, n), q.dtype, grid)
    return ClosureManyResult(levels, counts, steps)


def _divided(levels: CSR, steps: int, shape: tuple[int, int], dtype: np.dtype[Any], grid: Grid) -> CSR:
    """Return the levels in blocks, of the rows of each segment; they are sent in a byte where there are few."""
    if grid.shape[1] == 1:
        return matrix(grid, shape, levels)
    short = cast_store(levels, np.min_scalar_type(steps), grid.engine)
    return matrix(grid, shape, cast_store(local(blocks_of_rows(grid, short, shape)), dtype, grid.engine))


def _together(q: ClosureMany, grid: Grid) -> ClosureManyResult:
    """F A, without what has a level, is the next frontier, with a row for each source."""
    a = structure_only(q.by_row.get().pattern)
    k, n = int(q.sources.size), a.nrows
    rows = array_module(grid.local).arange(k, dtype=index_dtype(k))
    frontier: CSR = build_matrix(rows, q.sources, np.bool_(True), k, n, np.dtype(np.bool_), None, grid.device)
    by_row, ring = Rows(a), semirings.any_pair[np.dtype(np.bool_)]
    sieve = Excluded(grid.engine, repeated=True)
    levels = empty_matrix(k, n, q.dtype, grid.device)
    counted: list[Triples] = []
    steps = 0
    while frontier.nvals:
        with step(grid, steps + 1, frontier=frontier.nvals):
            levels = merge(levels, with_values(frontier, q.dtype, None, q.dtype.type(steps)), grid.device)
            if q.counts:
                counted.append(_counted(frontier, steps, grid))
            request = Mxm(frontier, by_row, None, ring, mask=Mask(levels, True, True))
            frontier = product(request, grid, sieve)
            steps += 1
    counts = routed(grid, concatenate_triples(counted, _INT64, grid.local), (k, steps), _INT64) if q.counts else None
    return ClosureManyResult(levels if q.levels else None, counts, steps)


def _counted(frontier: CSR, step: int, grid: Grid) -> Triples:
    """Return the entries of each row of the segment, as a column of the counts."""
    ones = with_values(frontier, _INT64, None, np.int64(1))
    found: Any = index_list(local(reduce_rows(ones, "plus").into()))
    rows = found.indices.astype(np.int64) + grid.segment(frontier.nrows)[0]
    return Triples(rows, rows * 0 + step, dense_values(found), None)
