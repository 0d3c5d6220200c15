"""The direction of each step of a closure on a grid, by the cost model of `engines.shared.direction`.

A push reads the rows of the frontier and sends sums; a pull needs the frontier of its columns, and on a grid of one
column sends no sums.  All processes choose by the same numbers, those of the whole grid.
"""

from __future__ import annotations

from typing import Any, cast

from ...dtypes import INT64
from ...engines import recording, registry
from ...engines.requests.graphs import Closure
from ...engines.requests.operands import Mask
from ...engines.requests.operations import Keep
from ...engines.shared.direction import Costs, Work, prefers_pull
from ...formats import CSR, VectorStore, index_dtype, with_values
from ...operators import monoid as monoids
from ...ops.reduce import reduce_rows, reduce_scalar
from ..grid import Grid
from ..partition import local

__all__ = ["Directions", "edges_of"]

# An edge that a push follows makes a sum, which is sent and added; a probe of a pull is a read.  Reasoned.
_COSTS = Costs(edge=4, probe=1)
_DEGREES, _LONGEST = "degrees on a grid", "longest row on a grid"


class Directions:
    """Chooses for the frontiers of one closure, in their order.  Constructing it is collective."""

    def __init__(self, q: Closure, grid: Grid) -> None:
        self._q, self._grid = q, grid
        self._reached = 0
        self._both = q.direction == "auto" and q.by_row.ready and q.by_column.ready
        if self._both:
            self._entries, self._longest = q.by_row.get().nvals, longest(q.by_row.get(), grid)

    def pushes(self, frontier: VectorStore, waiting: int) -> bool:
        """Return whether a step pushes.  frontier: the segment of it; waiting: the entries of all.  Collective."""
        q, self._reached = self._q, self._reached + waiting
        if not self._both:
            return q.by_row.ready and not (q.direction == "pull" and q.by_column.ready)
        a = q.by_row.get()
        entries, rows, early = self._entries, max(a.nrows, 1), q.final_on_arrival
        open_rows = max(rows - self._reached, 0) if early else rows
        work = Work(entries, open_rows, entries * open_rows // rows, early)
        if not prefers_pull(_COSTS, work, waiting, min(entries, waiting * self._longest)):
            return True
        # Rows that a search finds first have more entries than the mean.
        if prefers_pull(_COSTS, work, waiting, waiting * entries / rows):
            return False
        edges = edges_of(frontier, a, self._grid)
        recording.note(edges=edges)
        return not prefers_pull(_COSTS, work, waiting, edges)


def degrees(a: CSR, grid: Grid) -> Any:
    """Return the number of entries of each row that has one, kept with the matrix.  Collective."""
    facts = a.pattern.facts
    if _DEGREES not in facts:
        dtype = index_dtype(a.ncols)
        ones = with_values(a, dtype, None, dtype.type(1))
        # Kept by all processes, or by none.
        facts[_DEGREES] = grid.run_then_barrier(lambda: reduce_rows(ones, "plus").into())
    return facts[_DEGREES]


def longest(a: CSR, grid: Grid) -> int:
    """Return the number of entries of the longest row, kept with the matrix.  Collective."""
    facts = a.pattern.facts
    if _LONGEST not in facts:
        found = degrees(a, grid)
        facts[_LONGEST] = grid.run_then_barrier(lambda: int(reduce_scalar(found, "max")() or 0))
    return cast(int, facts[_LONGEST])


def edges_of(frontier: VectorStore, a: CSR, grid: Grid) -> int:
    """Return the number of entries in the rows of a frontier, of which this is the segment.  Collective."""
    counted = registry.run(Keep(local(degrees(a, grid)), Mask(frontier, True, False)), grid.engine)
    return grid.all_reduce_sum(int(reduce_scalar(counted, monoids.plus[INT64])() or 0))
