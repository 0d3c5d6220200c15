"""Reductions of a Matrix, by monoids and aggregators.

`Matrix` binds the public functions as its methods.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack, cast

from .. import operators
from ..ops.reduce import reduce_rows
from ..ops.reduce import reduce_scalar as scalar_of
from . import aggregate
from .inspection import plan_of
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

    Examples
    --------
    >>> A = Matrix.from_coo([0, 0, 2], [0, 1, 1], [5, 6, 7])
    >>> A.reduce_rowwise().to_dict(), A.reduce_rowwise("max").to_dict(), A.reduce_rowwise("count").to_dict()
    ({0: 11, 2: 7}, {0: 6, 2: 7}, {0: 2, 2: 1})
    """
    return _by_rows(self, op, False, writing)


def reduce_columnwise(self: Matrix, op: Any = "plus", **writing: Unpack[Writing]) -> Vector:
    """w(j) = (+)_i self(i, j), for the columns that have entries.

    Parameters
    ----------
    op : monoid or aggregator, by object or name
    **writing : mask, accum, replace, out

    Raises
    ------
    DomainMismatch, UnknownOperator

    Notes
    -----
    Cost O(nvals) for a monoid, a few times that for an aggregator.

    Examples
    --------
    >>> A = Matrix.from_coo([0, 0, 2], [0, 1, 1], [5, 6, 7])
    >>> A.reduce_columnwise().to_dict(), A.reduce_columnwise("mean").to_dict()
    ({0: 5, 1: 13}, {0: 5.0, 1: 6.5})
    """
    return _by_rows(self, op, True, writing)


def _by_rows(self: Matrix, op: Any, columns: bool, writing: Writing) -> Vector:
    """Reduce each row, or each column under `columns`."""
    aggregator = aggregate.as_aggregator(op)
    if aggregator is None and self._transpose_of is None and not columns:
        plan = reduce_rows(self._source, op)
        return _labeled(self, cast(Vector, self._deliver(plan, writing, self._vector_class)), columns)
    a, transposed = self.operand
    if aggregator is None:
        plan = reduce_rows(a, op, transposed=columns != transposed)
    else:
        made = aggregate.rowwise(self._new(a), aggregator, columns != transposed)
        plan = made._plan or plan_of("reduce", made.store)
    found = _labeled(self, cast(Vector, self._deliver(plan, writing, self._vector_class)), columns)
    if self._labels is not None and not writing and aggregate.gives_positions(aggregator):
        found.value_labels = self._labels[not columns]
    return found


def _labeled(self: Matrix, made: Vector, columns: bool) -> Vector:
    if self._labels is not None and (labels := self._labels[columns]) is not None:
        made._labels = labels, None
    return made


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

    Examples
    --------
    >>> A = Matrix.from_coo([0, 0, 2], [0, 1, 1], [5, 6, 7])
    >>> A.reduce_scalar().value, A.reduce_scalar("max").value, Matrix(int, 2, 2).reduce_scalar(allow_empty=False).value
    (18, 7, 0)
    """
    aggregator = aggregate.as_aggregator(op)
    if aggregator is not None:
        return aggregate.whole(self, aggregator, allow_empty)
    monoid = operators.lookup_monoid(op).typed(self.dtype)
    source = self._source if self._transpose_of is None else self.operand[0]
    return aggregate.pending(self._scalar_class, monoid, scalar_of(source, monoid), allow_empty)
