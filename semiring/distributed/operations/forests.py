"""Forests: sums along their paths, and the spanning forest of a matrix in the order of its values.

    t(v) = (+) of u(w) over the descendants, or the ancestors, of v

In pointer jumping p(v) is the ancestor of v at distance 2^k, and t(v) the sum of what is nearer, so a round joins the
sums of v and p(v), and there are log2 of the height of the forest + 1 rounds.

The entries of a spanning forest are among those of the forests of the blocks, because both visit entries in one order:
the processes beside each other join theirs, then those above each other.  At most n - 1 entries are sent by each.

Sources: Wyllie, "The Complexity of Parallel Computations", 1979; Karger, Klein, Tarjan, JACM 42(2), 1995 (filtering by
the forests of parts).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...engines import registry
from ...engines.requests.graphs import FOREST_CYCLE, FOREST_RANGE, Span, Treefix, forest_error
from ...formats import CSR, IndexList, array_module, dense_values, index_dtype
from ..communicator import Communicator
from ..grid import Grid
from ..partition import local, matrix, to_global, union, vector
from ..routing import built, concatenate_triples, triples
from ..rules import grid_rule
from ..scattering import block_of
from .indexing import asked, delivered


@grid_rule(Treefix)
def treefix(q: Treefix, grid: Grid) -> Any:
    """Double the distance of p(v), and join the sums of v and p(v), until every path has reached its root."""
    xp, size = array_module(grid.local), q.parent.size
    first, last = grid.segment(size)
    parent = dense_values(local(q.parent)).astype(np.int64)
    if not grid.all_reduce_and(not bool(((parent < 0) | (parent >= size)).any())):
        raise forest_error(FOREST_RANGE)
    sums: Any = local(q.values)
    below = xp.flatnonzero(parent != xp.arange(first, last))
    above = parent[below]
    for _ in range(size.bit_length() + 1):
        if not grid.all_reduce_sum(int(below.size)):
            return vector(grid, size, sums)
        own = dense_values(sums)
        if q.up:
            arriving = delivered(grid, above, own[below], size, q.monoid.op)
        else:
            at, values = asked(grid, vector(grid, size, sums), above)
            order = xp.argsort(at)
            rows = below[at[order]].astype(index_dtype(last - first), copy=False)
            arriving = IndexList(last - first, sums.dtype, rows, values[order])
        sums = union(sums, arriving, q.monoid)
        pointers = IndexList(last - first, np.dtype(np.int64), below.astype(index_dtype(last - first)), above)
        at, next_above = asked(grid, vector(grid, size, pointers), above)
        order = xp.argsort(at)
        below, above = below[at[order]], next_above[order]
    raise forest_error(FOREST_CYCLE)


@grid_rule(Span)
def span(q: Span, grid: Grid) -> CSR:
    """Join the forests of the blocks, and keep the entries of the block that are in the forest of all."""
    a = q.a
    forest = registry.run(Span(to_global(grid, a), q.largest), grid.engine)
    forest = _joined(forest, q.largest, grid.row_comm, grid)
    forest = _joined(forest, q.largest, grid.col_comm, grid)
    return matrix(grid, a.shape, block_of(forest, grid), iso=a.iso)


def _joined(forest: CSR, largest: bool, group: Communicator, grid: Grid) -> CSR:
    """Return the spanning forest of the forests of a group of processes."""
    if group.size == 1:
        return forest
    t = concatenate_triples(group.allgather(triples(forest, 0, 0)), forest.dtype, grid.local)
    return registry.run(Span(built(t, forest.shape, forest.dtype, grid), largest), grid.engine)  # type: ignore[no-any-return]
