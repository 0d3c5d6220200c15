"""Evaluate aggregators: reductions by parts and steps, and the search for an entry.

An aggregator is data (`operators.agg`).  Parts are reductions of a function of the entries, steps combine them:
mean = (plus of x) / (plus of 1).  Searches (`argmin`, `first`) find the position or the value of one entry of
each row; NaN is behind all numbers.
"""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import operators
from ..engines.programs import traced
from ..engines.requests.operands import Index
from ..engines.shared.expression_numpy import evaluate
from ..exceptions import InvalidType, InvalidValue, UnknownOperator
from ..formats import Full
from ..memory.arrays import to_host
from ..ops.cast import cast_scalar
from ..ops.extract import element
from ..ops.locate import Groups, as_rows, locate_by, reduce_by
from ..symbolic import Symbolic
from .scalar import Scalar

if TYPE_CHECKING:
    from .matrix import Matrix
    from .vector import Vector


def as_aggregator(op: Any) -> Any:
    """Return the aggregator that `op` is or names, or None if a monoid of that name computes it."""
    if isinstance(op, (operators.agg.Aggregator, operators.agg.TypedAggregator)):
        return op
    if op is builtins.sum:  # the monoid `plus` would keep a small type, and wrap
        return operators.agg.sum
    if isinstance(op, str):
        try:
            operators.lookup_monoid(op)
        except UnknownOperator as no_monoid:
            try:
                return operators.lookup_agg(op)
            except UnknownOperator as no_aggregator:
                raise (no_aggregator if no_aggregator.close else no_monoid) from None
    return None


def gives_positions(aggregator: Any) -> bool:
    """Return whether results are positions in a row or a column, such as of `argmax`; False for None."""
    searched = getattr(aggregator, "parent", aggregator)
    return getattr(searched, "gives", "") == "position"


def rowwise(a: Matrix, aggregator: Any, transposed: bool) -> Vector:
    """Return the aggregate of each row (each column under `transposed`) that has entries."""
    if isinstance(aggregator, operators.agg.TypedAggregator):
        found = rowwise(a.dup(aggregator.type), aggregator.parent, transposed)
        return found if aggregator.parent.composite else found.dup(aggregator.return_type)
    if aggregator.composite:
        return _finalized(aggregator, [rowwise(a, one, transposed) for one in aggregator.composite])
    if aggregator.at:
        return _search(a.T if transposed else a, aggregator)
    plan = aggregator.typed(a.dtype)
    mapped = [(a.apply(init), monoid) for init, monoid in plan.parts]
    if transposed:
        return _finished(plan, [part.reduce_columnwise(monoid) for part, monoid in mapped])
    return _finished(plan, [part.reduce_rowwise(monoid) for part, monoid in mapped])


def by_groups(u: Vector, groups: Groups, aggregator: Any) -> Vector:
    """Return the aggregate of each group that has entries.

    Searches and composite aggregators read the groups as the rows of a matrix, in which the column is the index in u;
    the smallest and the largest entry are found without it.
    """
    searched = aggregator.parent if isinstance(aggregator, operators.agg.TypedAggregator) else aggregator
    if searched.at in ("min", "max") and searched is aggregator:
        values, places = locate_by(groups, searched.at == "max")
        return u._new(values if searched.gives == "value" else places)
    if searched.at or searched.composite or searched is not aggregator:
        return rowwise(u._matrix_class._new(as_rows(groups, u.size)), aggregator, False)
    plan = aggregator.typed(u.dtype)
    part = u._new(groups.u)
    mapped = [(part.apply(init), monoid) for init, monoid in plan.parts]
    return _finished(plan, [u._new(reduce_by(groups._replace(u=of.store), monoid).into()) for of, monoid in mapped])


def _finished(plan: Any, parts: list[Any]) -> Vector:
    """Return the result of the steps of a plan on the reduced parts."""
    results = list(parts)
    for operator, left, right in plan.steps:
        if right is None:
            results.append(results[left].apply(operator))
        else:
            results.append(results[left].ewise_mult(results[right], operator))
    return results[-1]  # type: ignore[no-any-return]


def _search(a: Matrix, aggregator: Any) -> Vector:
    """Return the position or the value of one entry of each row: its extreme, its first or its last, its mode."""
    if aggregator.at == "mode":
        return _modes(a)
    if aggregator.at in ("min", "max"):
        values, places = a.minloc() if aggregator.at == "min" else a.maxloc()
        return values if aggregator.gives == "value" else places
    columns = a.apply(operators.indexunary.colindex)
    place = columns.reduce_rowwise("max" if aggregator.at == "last" else "min")
    if aggregator.gives == "position":
        return place
    return a.dup(mask=_equal_to(place, columns).V).reduce_rowwise("any")


def _modes(a: Matrix) -> Vector:
    """Return the most frequent value of each row, of several the smallest.

    In a sorted row equal values are neighbors.  A value that differs from the one before begins a run; the running
    maximum of these places is where the run of each entry begins.
    """
    values, _ = a.sort()
    places = values.apply(operators.indexunary.colindex)
    begins = places.dup(mask=values.ewise_mult(values.reposition(0, 1), "ne").V)
    since = places.ewise_mult(places.apply("second", right=0).ewise_add(begins, "max").scan("max"), "minus")
    longest = _equal_to(since.reduce_rowwise("max"), since).V
    first = places.dup(mask=longest).reduce_rowwise("min")
    return values.dup(mask=_equal_to(first, places).V).reduce_rowwise("any")


def _equal_to(v: Vector, a: Matrix) -> Matrix:
    """E(i, j) = (v(i) == A(i, j)) for a vector with an element for each row that has entries.

    Any other elements may be added, and a full vector costs one pass over the entries.
    """
    full: Vector = v._vector_class.full(cast_scalar(0, v.dtype), v.size, device=v.device).ewise_add(v, "second")
    return full.ewise_mult(a, "eq")


def pending(cls: type[Scalar], monoid: Any, compute: Any, allow_empty: bool) -> Scalar:
    """Return a reduction by a typed monoid as a `cls`: its identity in place of no value, unless `allow_empty`.

    By a monoid without identity (`any`) it is computed at once: InvalidValue if there is no entry.
    """
    if allow_empty:
        return cls._pending(monoid.z, compute)
    identity = monoid.identity
    if identity is None:
        found = compute()
        if found is not None:
            return cls._pending(monoid.z, lambda: found)
        raise InvalidValue(f"reduce: {monoid!r} has no identity, which allow_empty=False needs")

    def filled() -> Any:
        value = compute()
        return identity if value is None else value

    return cls._pending(monoid.z, filled)


def reduced(x: Any, op: Any, *, allow_empty: bool = True) -> Scalar:
    """Return the reduction of all entries of a Vector or a Matrix."""
    return (x.reduce if x.ndim == 1 else x.reduce_scalar)(op, allow_empty=allow_empty)  # type: ignore[no-any-return]


def whole(x: Any, aggregator: Any, allow_empty: bool = True) -> Scalar:
    """Return the aggregate of all entries of a Vector or a Matrix, pending."""
    if isinstance(aggregator, operators.agg.TypedAggregator):
        found = whole(x.dup(aggregator.type), aggregator.parent, allow_empty)
        if aggregator.parent.composite:
            return found
        return type(found)._pending(aggregator.return_type, found._read)
    if not allow_empty:
        if aggregator.at or len(aggregator.parts) != 1 or aggregator.steps:
            raise InvalidValue(f"reduce: {aggregator!r} has no value for no entries; allow_empty=False is for monoids")
        init, monoid = aggregator.typed(x.dtype).parts[0]
        return reduced(x.apply(init), monoid, allow_empty=False)
    taken = x.dup()  # its entries now, independent of later changes of x
    if aggregator.composite:
        return _composite(taken, aggregator)
    if not aggregator.at:
        plan = aggregator.typed(x.dtype)
        return x._scalar_class._pending(plan.dtype, lambda: _by_parts(taken, plan))  # type: ignore[no-any-return]
    dtype = np.dtype(np.int64) if aggregator.gives == "position" else x.dtype
    return x._scalar_class._pending(dtype, lambda: _found(taken, aggregator))  # type: ignore[no-any-return]


def _finalized(aggregator: Any, results: list[Vector]) -> Vector:
    """Return what the function of a composite aggregator makes of these results."""
    made: Vector = aggregator.finalize(*results, {})
    if getattr(made, "ndim", 0) != 1 or made.size != results[0].size:
        raise InvalidType(f"{aggregator!r}: finalize= must return a Vector of size {results[0].size}, got {made!r}")
    return made


def _composite(x: Any, aggregator: Any) -> Scalar:
    """Return a composite aggregate of all entries, pending: that of Vectors of one element."""
    make = x._vector_class
    parts = [whole(x, one) for one in aggregator.composite]

    def compute() -> Any:
        values = [part._read() for part in parts]
        results = [
            make(part.dtype, 1) if value is None else make.from_dense(np.array([value], part.dtype))
            for part, value in zip(parts, values, strict=True)
        ]
        return _finalized(aggregator, results).reduce("any")._read()

    dtype = _finalized(aggregator, [make(part.dtype, 1) for part in parts]).dtype
    return x._scalar_class._pending(dtype, compute)  # type: ignore[no-any-return]


def _by_parts(x: Any, plan: Any) -> Any:
    results: list[Any] = []
    for init, monoid in plan.parts:
        value = reduced(x.apply(init), monoid)._read()
        if value is None:
            return None
        results.append(value)
    if plan.steps and any(isinstance(value, Symbolic) for value in results):
        return _symbolic_steps(x, plan, results)
    for operator, left, right in plan.steps:
        variables = {"x": cast_scalar(results[left], operator.x)}
        if right is not None:
            variables["y"] = cast_scalar(results[right], operator.y)
        results.append(evaluate(operator.expr, variables, operator.z)[()])
    return results[-1]


def _symbolic_steps(x: Any, plan: Any, results: list[Any]) -> Any:
    """Return the result of the steps in a loop that is traced: they are requests on vectors of one element."""
    missing = [value.traced_missing() for value in results if isinstance(value, Symbolic)]
    parts = [
        x._vector_class._new(Full(1, value.dtype, None, traced.without_missing(value)))  # zero where there is none
        for value in results
    ]
    return traced.with_missing(element(_finished(plan, parts).store, 0), missing[0])


def _found(x: Any, aggregator: Any) -> Any:
    """Return the position or the value of one entry; positions in a matrix are counted by rows."""
    if traced.users and x.ndim == 1 and traced.is_traced(x.store) and aggregator.at in ("min", "max"):
        values, places = locate_by(Groups(x.store, Index(1, x.size, 0, 0), None), aggregator.at == "max")
        return element(values if aggregator.gives == "value" else places, 0)
    if aggregator.at == "mode":
        return _modes(x._vector_class.from_dense(x.to_coo(index_dtype=None)[-1]).reshape(1, x.nvals)).get(0)
    if aggregator.at in ("min", "max"):
        extreme = reduced(x, aggregator.at)._read()
        if extreme is None or aggregator.gives == "value":
            return extreme
        if extreme == extreme:  # else all entries are NaN
            x = x.select("==", extreme)
    if not x.nvals:
        return None
    parts = [to_host(part[-1:] if aggregator.at == "last" else part[:1])[0] for part in x.to_coo(index_dtype=None)]
    if aggregator.gives == "value":
        return parts[-1]
    return int(parts[0]) if x.ndim == 1 else int(parts[0]) * x.ncols + int(parts[1])
