"""Searches from many sources: levels whose steps are products of the matrix of all frontiers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...engines.operands import Mask, Rows
from ...engines.registry import across
from ...engines.spec import Mxm
from ...engines.spec_batched import ClosureMany, ClosureManyResult
from ...formats import CSR, array_module, dense_values, index_dtype, structure_only, with_values
from ...formats.hypersparse import empty_matrix
from ...operators import semiring as semirings
from ...ops.build import build_matrix
from ...ops.convert import index_list
from ...ops.reduce import reduce_rows
from ...ops.write import merge
from ..accounts import step
from ..grid import Grid
from ..parts import local
from ..routing import Triples, joined, routed
from ..sieve import Excluded
from .matrix_products import product

_INT64 = np.dtype(np.int64)


@across(ClosureMany)
def closure_many(q: ClosureMany, grid: Grid) -> ClosureManyResult:
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
    counts = routed(grid, joined(counted, _INT64, grid.local), (k, steps), _INT64) if q.counts else None
    return ClosureManyResult(levels if q.levels else None, counts, steps)


def _counted(frontier: CSR, step: int, grid: Grid) -> Triples:
    """Return the entries of each row of the piece, as a column of the counts."""
    ones = with_values(frontier, _INT64, None, np.int64(1))
    found: Any = index_list(local(reduce_rows(ones, "plus").into()))
    rows = found.indices.astype(np.int64) + grid.piece(frontier.nrows)[0]
    return Triples(rows, rows * 0 + step, dense_values(found), None)
