"""Reductions: each process reduces its part, and the results are combined."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...engines.requests.operations import ReduceRows, ReduceScalar
from ...engines.shared.expression_numpy import evaluate, scalar
from ...operators.types import TypedMonoid
from ...ops import reduce
from ..agreement import Agreed
from ..grid import Grid
from ..partition import local, reduce_scatter, row_segments
from ..rules import grid_rule


@grid_rule(ReduceRows)
def reduce_rows(q: ReduceRows, grid: Grid) -> Any:
    """Reduce the rows of the block, then those of the blocks beside it."""
    return reduce_scatter(grid, reduce.reduce_rows(local(q.a), q.monoid).into(), row_segments, q.a.nrows, q.monoid)


@grid_rule(ReduceScalar)
def reduce_scalar(q: ReduceScalar, grid: Grid) -> Any:
    """Reduce the part; combine when the value is read, or now if that is collective."""
    return Agreed(combined(grid, reduce.reduce_scalar(local(q.a), q.monoid)(), q.monoid))


def combined(grid: Grid, value: np.generic | None, monoid: TypedMonoid) -> np.generic | None:
    """Return the sum of the values of those processes that have one, None if none has.  Collective.

    Neighbors in the order of the ranks are combined, then their sums: log2 of the number of processes times.
    """
    mine = np.zeros(1, [("present", np.bool_), ("value", monoid.z)])
    if value is not None:
        mine["present"], mine["value"] = True, value
    found = grid.comm.allgather_array(mine)[:, 0]
    values = found["value"][found["present"]]
    if monoid.is_any:
        values = values[:1]
    while values.size > 1:
        first, second = values[::2], values[1::2]
        sums = evaluate(monoid.expr, {"x": first[: second.size], "y": second}, monoid.z)
        values = np.concatenate([sums, first[second.size :]])
    return scalar(values, monoid.z) if values.size else None
