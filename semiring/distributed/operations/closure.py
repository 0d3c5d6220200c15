"""Closures: loops whose steps are products on the grid.

    c = x (+) x A (+) x A^2 (+) ...

A step multiplies the frontier, the entries that are new or have improved.  Where entries are final on arrival, a mask
keeps those that are present already out of the product.  Sums that change nothing where they belong are not sent, where
that costs less than to send them.  What a process keeps from step to step is changed in place, unless it has few
entries at many positions, so a step with few entries costs no pass over all positions.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...engines import recording, registry
from ...engines.requests.graphs import Closure, ClosureResult, Step
from ...engines.requests.operands import Mask
from ...engines.requests.operations import Ewise, Keep, Mxv, Select
from ...engines.shared.iso_results import arrivals
from ...formats import VectorStore
from ...operators.expression import Expression
from ...operators.types import TypedBinary, TypedIndexUnary, TypedMonoid
from ..accumulator import Collected, has_slots
from ..communication_filter import Excluded, Improvements, Sieve
from ..grid import Grid
from ..partition import col_segments, local, row_segments, union, vector
from ..rules import grid_rule
from ..traffic_log import step
from .directions import Directions, edges_of
from .products import product

# The kind of `arrivals` whose values are read from entries or positions.
_VALUES = 2


@grid_rule(Closure)
def closure(q: Closure, grid: Grid) -> ClosureResult:
    """Multiply the frontier and fold it in, until no process has an entry that changed."""
    size, final = q.frontier.size, q.final_on_arrival
    entries = local((q.by_row if q.by_row.ready else q.by_column).get()).nvals
    found = _found(q, grid, entries)
    directions = Directions(q, grid)
    sieves = dict[bool, Sieve | None]()
    frontier: Any = q.frontier
    waiting = grid.all_reduce_sum(local(frontier).nvals)
    trace: list[Step] = []
    steps = 0
    while waiting and steps < q.max_steps:
        steps += 1
        with step(grid, steps, frontier=waiting):
            push = directions.pushes(local(frontier), waiting)
            recording.note(direction="push" if push else "pull")
            if q.trace:
                edges = edges_of(local(frontier), q.by_row.get(), grid)
                trace.append(Step("push" if push else "pull", waiting, edges))
            mask = Mask(vector(grid, size, found.store), True, True) if final else None
            # A row vector is multiplied: the rows of A are the columns of the other operand.
            request = Mxv(size, size, q.by_column, q.by_row, frontier, q.semiring, True, mask, q.direction)
            if push not in sieves:
                sieves[push] = _sieve(q, grid, entries, col_segments(grid) if push else row_segments(grid))
            arriving = product(request, grid, sieves[push], by_column=push)
            if isinstance(found, Collected):
                found.add(local(arriving))
                frontier = arriving
            else:
                frontier = vector(grid, size, found.passed(local(arriving)))
            waiting = frontier.nvals  # collective
    return ClosureResult(vector(grid, size, found.store), not waiting, steps, tuple(trace))


def _found(q: Closure, grid: Grid, entries: int) -> Collected | Improvements | _Union:
    """Return what collects the segment of this process: the first entries."""
    segment, add = local(q.frontier), q.semiring.add
    if q.final_on_arrival:
        return Collected(segment, add, grid.engine, entries)
    if not has_slots(segment.size, entries):
        return _Union(segment, add, grid.engine)
    made = Improvements(add, grid.engine, segment.size, grid.local)
    made.passed(segment)
    return made


def _sieve(q: Closure, grid: Grid, entries: int, outer: range) -> Sieve | None:
    """Return what drops sums for the segments of `outer` before they are sent; None where they cost less than that."""
    if q.final_on_arrival:
        a = (q.by_row if q.by_row.ready else q.by_column).get()
        if grid.comm.direct and arrivals(q.semiring, q.frontier, a).kind < _VALUES:  # bits alone are sent
            return None
        return Excluded(grid.engine, repeated=True, expected=entries)
    size = grid.segment(q.frontier.size, outer.stop - 1)[1] - grid.segment(q.frontier.size, outer.start)[0]
    if len(outer) == 1 or not has_slots(size, entries):
        return None
    return Improvements(q.semiring.add, grid.engine, size, grid.local)


class _Union:
    """Sums at few of many positions."""

    def __init__(self, found: VectorStore, add: TypedMonoid, engine: str) -> None:
        self.store, self._add, self._engine = found, add, engine

    def passed(self, t: VectorStore) -> VectorStore:
        """Add sums; return those that are new or have another value; NaN equals NaN, or a search would not end."""
        before, self.store = self.store, union(self.store, t, self._add)
        dtype, boolean = t.dtype, np.dtype(np.bool_)
        differs = TypedBinary("differs", dtype, dtype, boolean, Expression("land(x != y, lor(x == x, y == y))"))
        same = TypedIndexUnary("not", boolean, boolean, boolean, Expression("lnot(x)"))
        compared = registry.run(Ewise(self.store, before, differs, "intersect"), self._engine)
        kept = registry.run(Select(compared, same, np.bool_(False)), self._engine)
        return registry.run(Keep(self.store, Mask(kept, True, True)), self._engine)  # type: ignore[no-any-return]
