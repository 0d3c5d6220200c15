"""Aggregators carried out: reductions by parts and steps, and the search for an entry.

An aggregator is data (`operators.agg`).  Parts are reductions of a function of the entries, steps combine them:
mean = (plus of x) / (plus of 1).  Searches (`argmin`, `first`) find the position or the value of one entry of
each row: the entries that equal the row's extreme are selected, and the first of them is taken.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import operators
from .engines.numpy_helpers import evaluate
from .exceptions import UnknownOperator
from .ops.cast import cast_scalar
from .scalar import Scalar

if TYPE_CHECKING:
    from .matrix import Matrix
    from .vector import Vector


def as_aggregator(op: Any) -> Any:
    """The aggregator that `op` names, or None where a monoid of that name serves."""
    if isinstance(op, operators.agg.Aggregator):
        return op
    if isinstance(op, str):
        try:
            operators.lookup_monoid(op)
        except UnknownOperator:
            return operators.lookup_agg(op)
    return None


def matrix(a: Matrix, aggregator: Any, transposed: bool) -> Vector:
    """The aggregate of each row (each column under `transposed`) that has entries."""
    if aggregator.at:
        return _search(a.T.new() if transposed else a, aggregator)
    plan = aggregator.typed(a.dtype)
    results: list[Any] = []
    for init, monoid in plan.parts:
        mapped = a.apply(init)
        results.append(mapped.reduce_columnwise(monoid) if transposed else mapped.reduce_rowwise(monoid))
    for operator, left, right in plan.steps:
        if right is None:
            results.append(results[left].apply(operator))
        else:
            results.append(results[left].ewise_mult(results[right], operator))
    return results[-1]  # type: ignore[no-any-return]


def vector(v: Vector, aggregator: Any) -> Scalar:
    """The aggregate of all entries of a vector."""
    return _scalar(v, aggregator, lambda mapped, monoid: mapped.reduce(monoid))


def whole(a: Matrix, aggregator: Any) -> Scalar:
    """The aggregate of all entries of a matrix."""
    return _scalar(a, aggregator, lambda mapped, monoid: mapped.reduce_scalar(monoid))


def _scalar(x: Any, aggregator: Any, fold: Any) -> Scalar:
    if aggregator.at:
        return _search_scalar(x, aggregator)
    plan = aggregator.typed(x.dtype)

    def compute() -> np.generic | None:
        results = [fold(x.apply(init), monoid).value for init, monoid in plan.parts]
        if any(value is None for value in results):
            return None
        for operator, left, right in plan.steps:
            variables = {"x": cast_scalar(results[left], operator.x)}
            if right is not None:
                variables["y"] = cast_scalar(results[right], operator.y)
            results.append(evaluate(operator.expr, variables, operator.z)[()])
        return results[-1]  # type: ignore[no-any-return]

    return Scalar.pending(plan.dtype, compute)


def _search(a: Matrix, aggregator: Any) -> Vector:
    """The first entry of each row that is its extreme (or simply its first or last): position or value."""
    candidates = a
    if aggregator.at in ("min", "max"):
        # E(i, j) = (extreme of row i == A(i, j)), by a product with the diagonal matrix of the extremes.
        extremes = a.reduce_rowwise(aggregator.at).diag()
        equal = extremes.mxm(a, operators.semiring.register_anonymous("any", "eq"))
        candidates = a.dup(mask=equal.V)
    columns = candidates.apply(operators.indexunary.colindex, 0)
    place = columns.reduce_rowwise("max" if aggregator.at == "last" else "min")
    if aggregator.gives == "position":
        return place
    if aggregator.at in ("min", "max"):
        return a.reduce_rowwise(aggregator.at)
    # V(i, j) = (place of row i == j): the value stands at the place.
    at_place = place.diag().mxm(columns, operators.semiring.register_anonymous("any", "eq"))
    return a.dup(mask=at_place.V).reduce_rowwise("any")


def _search_scalar(x: Any, aggregator: Any) -> Scalar:
    wants_position = aggregator.gives == "position"
    dtype = np.dtype(np.int64) if wants_position else x.dtype

    def compute() -> np.generic | None:
        found = x
        if aggregator.at in ("min", "max"):
            extreme = (x.reduce if x.ndim == 1 else x.reduce_scalar)(aggregator.at).value
            if extreme is None or not wants_position:
                return extreme  # type: ignore[no-any-return]
            found = x.select("==", extreme)
        parts = found.to_coo()
        if parts[0].size == 0:
            return None
        at = -1 if aggregator.at == "last" else 0
        place = parts[0] if x.ndim == 1 else parts[0].astype(np.int64) * x.ncols + parts[1]
        from .formats.arrays import to_host

        chosen = place if wants_position else parts[-1]
        return to_host(chosen[at : at + 1] if at == 0 else chosen[at:])[0]  # type: ignore[no-any-return]

    return Scalar.pending(dtype, compute)
