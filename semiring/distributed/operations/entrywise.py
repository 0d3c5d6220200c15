"""Operations on matching parts, which each process computes by itself: nothing is sent."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ...engines import registry
from ...engines.requests.operands import Mask, Rows
from ...engines.requests.operations import Apply, Convert, Ewise, Keep, Select
from ...formats import CSR, VectorStore
from ...operators.types import TypedBinary, TypedIndexUnary
from ..grid import Grid
from ..partition import full_if_dense, local, local_mask, matrix, restrict, restrict_vector, to_global, vector
from ..rules import grid_rule

_POSITIONS = frozenset({"i", "j", "xi", "xj", "yi", "yj"})


@grid_rule(Ewise)
@grid_rule(Apply)
@grid_rule(Select)
@grid_rule(Keep)
def on_parts(q: Any, grid: Grid) -> Any:
    """Compute the part of the result from the parts of the operands."""
    op = getattr(q, "op", None)
    if grid.size > 1 and isinstance(op, (TypedBinary, TypedIndexUnary)) and op.uses & _POSITIONS:
        # Conditions on a diagonal hold of positions in a block with another thunk.
        if not (isinstance(q, Select) and isinstance(q.a, CSR) and q.op.expr.diagonal_condition):
            return _with_positions(q, grid)
        of_k: Any = q.k.dtype
        limits, shift = np.iinfo(of_k), grid.rows(q.a.nrows)[0] - grid.cols(q.a.ncols)[0]
        q = replace(q, k=of_k.type(min(max(int(q.k) + shift, limits.min), limits.max)))
    made = registry.run(_of_parts(q), grid.engine)
    return _whole(q, made, grid)


@grid_rule(Convert)
def convert(q: Convert, grid: Grid) -> Any:
    """Convert the segment of each process."""
    segment = local(q.u)
    made = segment if segment.format == q.to else registry.run(Convert(segment, q.to), grid.engine)
    return vector(grid, q.u.size, made, iso=q.u.iso)


def _of_parts(q: Any) -> Any:
    return type(q)(*[_of_part(getattr(q, name)) for name in q.__match_args__])


def _of_part(value: Any) -> Any:
    """Return the part of an operand, or a value of the request that is no operand."""
    if isinstance(value, (CSR, VectorStore)):
        return local(value)
    assert not isinstance(value, Rows)
    return local_mask(value) if isinstance(value, Mask) else value


def _whole(q: Any, made: Any, grid: Grid) -> Any:
    # Entries are kept as they are, so their common value is that of the result.
    iso = q.a.iso if isinstance(q, (Keep, Select)) else None
    if isinstance(q.a, CSR):
        return matrix(grid, q.a.shape, made, keeps=q.a if isinstance(q, Apply) else None, iso=iso)
    return vector(grid, q.a.size, made, iso=iso)


def _with_positions(q: Any, grid: Grid) -> Any:
    """Give the parts the positions of the whole object meanwhile; this copies the columns of a matrix."""
    names = [name for name in ("a", "b") if isinstance(getattr(q, name, None), (CSR, VectorStore))]
    made = registry.run(replace(q, **{name: to_global(grid, getattr(q, name)) for name in names}), grid.engine)
    if isinstance(q.a, CSR):
        made = restrict(made, grid.rows(q.a.nrows), grid.cols(q.a.ncols))
    else:
        made = full_if_dense(restrict_vector(made, *grid.segment(q.a.size)))
    return _whole(q, made, grid)
