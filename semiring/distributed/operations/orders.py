"""Operations that finish rows in an order: loops of products; each process decides for the rows of its segment.

`Peel` takes a product for each round of removals, and `AcyclicClosure` two for each generation, so the number of
collectives is that of rounds and of generations.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...dtypes import BOOL, INT64
from ...engines import registry
from ...engines.requests.graphs import AcyclicClosure, AcyclicResult, Peel
from ...engines.requests.operands import Mask
from ...engines.requests.operations import Apply, Keep
from ...formats import CSR, Array, Full, IndexList, array_module, dense_values, index_dtype, structure_only
from ...operators import semiring as semirings
from ...ops.cast import cast_store
from ...ops.convert import index_list
from ...ops.mxv import vxm
from ...ops.write import merge
from ..grid import Grid
from ..partition import full_if_dense, local, union, vector
from ..rules import grid_rule


@grid_rule(Peel)
def peel(q: Peel, grid: Grid) -> Any:
    """Remove rows whose counts are below a level, and subtract their columns; then for the next level."""
    xp, size = array_module(grid.local), q.counts.size
    losers = structure_only(q.by_column)
    counts = dense_values(local(q.counts)).astype(np.int64)
    remain, level = xp.ones(counts.size, np.bool_), xp.zeros(counts.size, q.counts.dtype)
    k = 1 if q.least is None else q.least
    while grid.all_reduce_sum(int(remain.sum())):
        few = xp.flatnonzero(remain & (counts < k))
        if grid.all_reduce_sum(int(few.size)):
            remain[few] = False
            at, lost = _entries_of(few, losers, grid)
            counts[at] -= lost
        elif q.least is not None:
            level[remain] = k
            break
        else:
            low = int(counts[remain].min()) if bool(remain.any()) else np.iinfo(np.int64).max
            lowest = int(grid.comm.allgather_array(np.array([low])).min())
            level[remain] = lowest
            k = lowest + 1
    return vector(grid, size, Full(counts.size, q.counts.dtype, level))


@grid_rule(AcyclicClosure)
def acyclic_closure(q: AcyclicClosure, grid: Grid) -> AcyclicResult:
    """Multiply the rows that wait for no other one, and count the entries of the others in their columns down."""
    xp, a, size, z = array_module(grid.local), q.a, q.a.nrows, q.semiring.z
    pattern = structure_only(a.pattern)
    first, last = grid.segment(size)
    closed: Any = local(q.x)
    waits = xp.zeros(last - first, np.int64)
    at, arriving = _entries_of(xp.arange(last - first), pattern, grid)
    waits[at] = arriving
    ready = xp.flatnonzero(waits == 0)
    finished = 0
    while count := grid.all_reduce_sum(int(ready.size)):
        finished += count
        values = registry.run(Keep(closed, Mask(_marked(ready, last - first), True, False)), grid.engine)
        if q.then is not None:
            made = registry.run(Apply(values, q.then, np.bool_(False)), grid.engine)
            values = cast_store(made, z, grid.engine)
            closed = merge(closed, values, grid.engine)
        product = local(vxm(vector(grid, size, values), a, q.semiring).into())
        closed = union(closed, product, q.semiring.add)
        at, passed = _entries_of(ready, pattern, grid)
        waits[at] -= passed
        ready = at[waits[at] == 0]
    return AcyclicResult(vector(grid, size, full_if_dense(closed)), finished)


def _entries_of(rows: Array, pattern: CSR, grid: Grid) -> tuple[Array, Array]:
    """Return the columns of this process's segment in which some rows have entries, and their numbers.  Collective.

    rows: those of each process, numbered in its segment.
    """
    first, last = grid.segment(pattern.nrows)
    frontier = vector(grid, pattern.nrows, _marked(rows, last - first))
    found = index_list(local(vxm(frontier, pattern, semirings.plus_pair[INT64]).into()))
    return found.indices.astype(np.int64), dense_values(found)


def _marked(rows: Array, size: int) -> IndexList:
    return IndexList(size, BOOL, rows.astype(index_dtype(size), copy=False), None, np.bool_(True))
