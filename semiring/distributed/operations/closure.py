"""Closures: loops whose steps are products on the grid.

    c = x (+) x A (+) x A^2 (+) ...

A step multiplies the frontier, the entries that are new or have improved.  Where entries are final on arrival, a mask
keeps those that are present already out of the product.  Sums that change nothing where they belong are not sent.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...engines import registry
from ...engines.operands import Mask
from ...engines.registry import across
from ...engines.spec import Closure, ClosureResult, Ewise, Keep, Mxv, Select, Step
from ...formats import CSR, VectorStore, with_values
from ...operators.types import TypedBinary, TypedIndexUnary
from ...ops.reduce import reduce_rows, reduce_scalar
from ..accounts import step
from ..grid import Grid
from ..parts import local, union, vector
from ..sieve import Excluded, Improvements, Sieve
from .products import product

# Sums that were sent are kept for so many columns, and for so many more for each entry of the block.
_SMALL, _SLOTS = 1 << 20, 16


@across(Closure)
def closure(q: Closure, grid: Grid) -> ClosureResult:
    """Multiply the frontier and fold it in, until no process has an entry that changed."""
    size, add = q.frontier.size, q.semiring.add
    piece: VectorStore = local(q.frontier)
    frontier: Any = q.frontier
    waiting = grid.total(piece.nvals)
    degrees = _degrees(q.by_row.get()) if q.trace else None
    sieve = _sieve(q, grid)
    trace: list[Step] = []
    steps = 0
    while waiting and steps < q.max_steps:
        steps += 1
        with step(grid, steps, frontier=waiting):
            if degrees is not None:
                trace.append(Step("push", waiting, _edges(local(frontier), degrees, grid)))
            mask = Mask(vector(grid, size, piece), True, True) if q.final_on_arrival else None
            # A row vector is multiplied: the rows of A are the columns of the other operand.
            request = Mxv(size, size, q.by_column, q.by_row, frontier, q.semiring, True, mask, q.direction)
            arriving = product(request, grid, sieve)
            before, piece = piece, union(piece, local(arriving), add)
            frontier = arriving if q.final_on_arrival else vector(grid, size, _changed(before, piece, grid))
            waiting = frontier.nvals  # collective
    return ClosureResult(vector(grid, size, piece), not waiting, steps, tuple(trace))


def _sieve(q: Closure, grid: Grid) -> Sieve:
    """Return what drops sums before they are sent; a hypersparse block has too few entries for a value a column."""
    if q.final_on_arrival:
        return Excluded(grid.engine, repeated=True)
    block = local((q.by_row if q.by_row.ready else q.by_column).get())
    return Improvements(q.semiring.add, grid.engine, _SMALL + _SLOTS * block.nvals)


def _changed(before: VectorStore, after: VectorStore, grid: Grid) -> VectorStore:
    """Return the entries that are new or have another value; NaN equals NaN, or a search would not end."""
    dtype, boolean = after.dtype, np.dtype(np.bool_)
    differs = TypedBinary("differs", dtype, dtype, boolean, "land(x != y, lor(x == x, y == y))")
    same = TypedIndexUnary("not", boolean, boolean, boolean, "lnot(x)")
    compared = registry.run(Ewise(after, before, differs, "intersect"), grid.engine)
    kept = registry.run(Select(compared, same, np.bool_(False)), grid.engine)
    return registry.run(Keep(after, Mask(kept, True, True)), grid.engine)  # type: ignore[no-any-return]


def _degrees(a: CSR) -> Any:
    """Return the number of entries of each row that has one."""
    return reduce_rows(with_values(a, np.dtype(np.int64), None, np.int64(1)), "plus").into()


def _edges(frontier: VectorStore, degrees: Any, grid: Grid) -> int:
    counted = registry.run(Keep(local(degrees), Mask(frontier, True, False)), grid.engine)
    return grid.total(int(reduce_scalar(counted, "plus")() or 0))
