"""Reductions: each process reduces its part, and the results are combined in the order of the ranks."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...engines.requests.operations import ReduceRows, ReduceScalar
from ...engines.shared.expression_numpy import evaluate_scalars
from ...operators.types import TypedMonoid
from ...ops import reduce
from ..agreement import Agreed
from ..grid import Grid
from ..partition import local, reduce_scatter, row_segments
from ..rules import grid_rule


@grid_rule(ReduceRows)
def reduce_rows(q: ReduceRows, grid: Grid) -> Any:
    """Reduce the rows of the block, then those of the blocks beside it."""
    return reduce_scatter(
        grid, reduce.reduce_rows(local(q.a), q.monoid).into(), row_segments(grid), q.a.nrows, q.monoid
    )


@grid_rule(ReduceScalar)
def reduce_scalar(q: ReduceScalar, grid: Grid) -> Any:
    """Reduce the part; combine when the value is read, or now if that is collective."""
    return Agreed(combined(grid.comm.allgather(reduce.reduce_scalar(local(q.a), q.monoid)()), q.monoid))


def combined(values: list[np.generic | None], monoid: TypedMonoid) -> np.generic | None:
    """Return the sum of the values that there are, from the first one on."""
    total: np.generic | None = None
    for value in values:
        if total is None or value is None:
            total = value if total is None else total
        elif not monoid.is_any:
            total = evaluate_scalars(monoid.expr, monoid.z, [("x", total), ("y", value)])
    return total
