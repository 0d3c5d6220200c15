"""Reductions of a Matrix, by monoids and aggregators.

`Matrix` binds the public functions as its methods.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack, cast

from .. import operators
from ..ops.reduce import reduce_rows
from ..ops.reduce import reduce_scalar as scalar_of
from . import aggregate
from .base import plan_of
from .scalar import Scalar
from .vector import Vector
from .writing import Writing

if TYPE_CHECKING:
    from .matrix import Matrix


def reduce_rowwise(self: Matrix, op: Any = "plus", **writing: Unpack[Writing]) -> Vector:
    """w(i) = (+)_j self(i, j), for the rows that have entries.

    Parameters
    ----------
    op : monoid or aggregator, by object or name
    **writing : mask, accum, replace, out

    Raises
    ------
    DomainMismatch, UnknownOperator

    Notes
    -----
    Cost O(nvals) for a monoid, which is fused into a pending product (`mxm`); an aggregator makes a few such passes.
    """
    return _by_rows(self, op, False, writing)


def reduce_columnwise(self: Matrix, op: Any = "plus", **writing: Unpack[Writing]) -> Vector:
    """w(j) = (+)_i self(i, j), for the columns that have entries; see `reduce_rowwise`."""
    return _by_rows(self, op, True, writing)


def _by_rows(self: Matrix, op: Any, columns: bool, writing: Writing) -> Vector:
    """Reduce each row, or each column under `columns`."""
    aggregator = aggregate.as_aggregator(op)
    if aggregator is None and self._transpose_of is None and not columns:
        return cast(Vector, self._deliver(reduce_rows(self.source, op), writing, self._vector_class))
    a, transposed = self.operand
    if aggregator is None:
        plan = reduce_rows(a, op, transposed=columns != transposed)
    else:
        made = aggregate.rowwise(self._new(a), aggregator, columns != transposed)
        plan = made._plan or plan_of("reduce", made.store)
    return cast(Vector, self._deliver(plan, writing, self._vector_class))


def reduce_scalar(self: Matrix, op: Any = "plus", *, allow_empty: bool = True) -> Scalar:
    """S = (+) of all entries; empty if there are none.

    Parameters
    ----------
    op : monoid or aggregator, by object or name; positions are i * ncols + j
    allow_empty : False: the monoid's identity in place of an empty Scalar

    Raises
    ------
    DomainMismatch, UnknownOperator
    InvalidValue
        For ``allow_empty=False`` with an aggregator, or a monoid, that has no identity.

    Notes
    -----
    Cost O(nvals) at most, queued at once.  Reading the value waits for it, not for what is queued later.  A monoid is
    fused into a pending product (`mxm`).
    """
    aggregator = aggregate.as_aggregator(op)
    if aggregator is not None:
        return aggregate.whole(self, aggregator, allow_empty)
    monoid = operators.lookup_monoid(op).typed(self.dtype)
    source = self.source if self._transpose_of is None else self.operand[0]
    return aggregate.pending(self._scalar_class, monoid, scalar_of(source, monoid), allow_empty)


def reduce(self: Matrix, op: Any = "plus", *, allow_empty: bool = True) -> Scalar:
    """S = (+) of all entries, by the name that Vector uses; parameters, errors and cost as `reduce_scalar`."""
    return reduce_scalar(self, op, allow_empty=allow_empty)
