"""Reductions of rows, columns and groups of entries, by monoids and aggregators, and the entry that wins a reduction.

`Matrix` and `Vector` bind the public functions as their methods.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack, cast

from .. import operators
from ..ops import locate
from ..ops.locate import Groups
from ..ops.reduce import reduce_rows
from ..ops.reduce import reduce_scalar as scalar_of
from ..ops.write import Plan
from ..storage.coerce import as_indices, extent
from . import aggregate
from .axis_labels import known
from .base import Sparse, plan_of
from .concatenation import by_columns
from .operand import expected
from .scalar import Scalar
from .writing import Writing

if TYPE_CHECKING:
    from ..labels import Labels
    from .matrix import Matrix
    from .vector import Vector


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
        return _labeled(self, cast("Vector", self._deliver(plan, writing, self._vector_class)), columns)
    a, transposed = self.operand
    if aggregator is None:
        plan = reduce_rows(a, op, transposed=columns != transposed)
    else:
        made = aggregate.rowwise(self._new(a), aggregator, columns != transposed)
        plan = made._plan or plan_of("reduce", made.store)
    found = _labeled(self, cast("Vector", self._deliver(plan, writing, self._vector_class)), columns)
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


def minloc(self: Matrix, order: str = "rowwise") -> tuple[Vector, Vector]:
    """Return (w, p): w(i) = min_j self(i, j), and p(i), the first column j where it is.

    The reduction that MPI calls MINLOC: the value and its position, in one pass.

    Parameters
    ----------
    order : ``"rowwise"``, or ``"columnwise"`` for each column and the first row

    Returns
    -------
    Two Vectors with an element for each row (or column) that has entries: the values, and positions of int64.

    Raises
    ------
    DomainMismatch
        For values without an order, as complex numbers are.
    InvalidValue
        For another order.
    OutOfMemory

    Notes
    -----
    Of equal values the first wins, so all engines return the same.  NaN is behind all numbers, as in `sort`.  Cost
    O(nrows + nvals); rows of any length are divided evenly on the GPU.  By columns the CPU engine uses one thread.

    Any payload of the winning entries follows from p: ``v[p]`` where each row has entries.

    Examples
    --------
    >>> A = Matrix.from_coo([0, 0, 0, 2], [1, 3, 4, 0], [7, 3, 3, 5], shape=(3, 5))
    >>> w, p = A.minloc()
    >>> w.to_dict(), p.to_dict()
    ({0: 3, 2: 5}, {0: 3, 2: 0})
    """
    return _located(self, order, "minloc")


def maxloc(self: Matrix, order: str = "rowwise") -> tuple[Vector, Vector]:
    """Return (w, p): w(i) = max_j self(i, j), and p(i), the first column j where it is.

    Parameters
    ----------
    order : ``"rowwise"``, or ``"columnwise"`` for each column and the first row

    Returns
    -------
    Two Vectors with an element for each row (or column) that has entries: the values, and positions of int64.

    Raises
    ------
    DomainMismatch, InvalidValue, OutOfMemory

    Notes
    -----
    As `minloc`; NaN is behind all numbers here too.

    Examples
    --------
    >>> A = Matrix.from_coo([0, 0, 0, 2], [1, 3, 4, 0], [7, 3, 3, 5], shape=(3, 5))
    >>> w, p = A.maxloc("columnwise")
    >>> w.to_dict(), p.to_dict()
    ({0: 5, 1: 7, 3: 3, 4: 3}, {0: 2, 1: 0, 3: 0, 4: 0})
    """
    return _located(self, order, "maxloc")


def _located(a: Matrix, order: str, name: str) -> tuple[Vector, Vector]:
    columns = by_columns(name, order)
    store, transposed = a.operand
    values, places = locate.locate(store, name == "maxloc", by_columns=columns != transposed)
    found, at = a._vector_class._new(values), a._vector_class._new(places)
    if a._labels is not None:
        rows, cols, named = a._labels
        if columns:
            rows, cols = cols, rows
        found._labels, at._labels = known((rows, named)), known((rows, cols))
    return found, at


def reduce_by(
    self: Vector, labels: Any, op: Any = "plus", *, size: int | None = None, **writing: Unpack[Writing]
) -> Vector:
    """w(g) = (+)_k self(k) over the entries with labels(k) = g: a segmented reduction.

    Parameters
    ----------
    labels : Vector or array of integers, of the size of this one: the group of each entry.  An entry without a label
        is in no group
    op : monoid or aggregator, by object or name
    size : number of groups; by default the size of this vector, as for labels that are vertices
    **writing : mask, accum, replace, out

    Returns
    -------
    Vector with an element for each group that has entries.

    Raises
    ------
    DimensionMismatch
        If there is not one label for each position.
    IndexOutOfBound
        For a label below 0, or not below `size`.
    DomainMismatch, UnknownOperator, DeviceMismatch, OutOfMemory

    Notes
    -----
    ``numpy.bincount`` and ``numpy.add.at`` for any monoid: ``v.reduce_by(labels, "plus", out=w, accum="plus")``.  Cost
    O(size + nvals), without a sort: values of up to 8 bytes, and sums of complex128, are combined by atomics on the GPU
    if the monoid is commutative, in an order that may differ from run to run (which changes floating sums alone).
    Groups of any size cost the same if one instruction combines (sums of 32 and 64 bits, min and max of such integers);
    else entries of a very large group wait for each other.  On the GPU it synchronizes, to check the labels.  `mode`
    and `first`, and aggregators of the user, sort the entries.

    Examples
    --------
    >>> v, group = Vector.from_dense([1, 2, 3, 4]), Vector.from_coo([0, 1, 3], [2, 0, 2], size=4)
    >>> v.reduce_by(group).to_dict(), v.reduce_by(group, "count", size=3).to_dict()
    ({0: 2, 2: 5}, {0: 1, 2: 2})
    """
    aggregator, groups = aggregate.as_aggregator(op), _groups(self, labels, _size(self, size))
    if aggregator is None:
        plan: Plan[Any] = locate.reduce_by(groups, op)
    else:
        found = aggregate.by_groups(self, groups, aggregator)
        plan = found._plan or plan_of("reduce_by", found.store)
    made = cast("Vector", self._deliver(plan, writing))
    if (names := _names(labels, made)) is not None:
        made._labels = names, None
    return made


def minloc_by(self: Vector, labels: Any, *, size: int | None = None) -> tuple[Vector, Vector]:
    """Return (w, p): w(g) = min_k self(k) over the entries with labels(k) = g, and p(g), the first k where it is.

    A scatter-reduction with the entry that won as its payload: the lightest edge of each component, say.

    Parameters
    ----------
    labels : Vector or array of integers, of the size of this one: the group of each entry.  An entry without a label
        is in no group
    size : number of groups; by default the size of this vector

    Returns
    -------
    Two Vectors with an element for each group that has entries: the values, and their indices, of int64.

    Raises
    ------
    DimensionMismatch, IndexOutOfBound
        As `reduce_by`.
    DomainMismatch
        For values without an order, as complex numbers are.
    DeviceMismatch, OutOfMemory

    Notes
    -----
    Of equal values the first wins, so all engines return the same.  NaN is behind all numbers.  Cost O(size + nvals),
    without a sort; on one thread of the CPU engine.  On the GPU it synchronizes, to check the labels.

    Examples
    --------
    >>> weight, component = Vector.from_dense([4.0, 1.0, 2.0, 1.0]), [0, 0, 3, 0]
    >>> w, p = weight.minloc_by(component)
    >>> w.to_dict(), p.to_dict()
    ({0: 1.0, 3: 2.0}, {0: 1, 3: 2})
    """
    return _located_by(self, labels, size, False)


def maxloc_by(self: Vector, labels: Any, *, size: int | None = None) -> tuple[Vector, Vector]:
    """Return (w, p): w(g) = max_k self(k) over the entries with labels(k) = g, and p(g), the first k where it is.

    Parameters
    ----------
    labels, size : as `minloc_by`

    Raises
    ------
    DimensionMismatch, IndexOutOfBound, DomainMismatch, DeviceMismatch, OutOfMemory

    Notes
    -----
    As `minloc_by`; NaN is behind all numbers here too.

    Examples
    --------
    >>> w, p = Vector.from_dense([4.0, 1.0, 2.0, 4.0]).maxloc_by([0, 0, 3, 0])
    >>> w.to_dict(), p.to_dict()
    ({0: 4.0, 3: 2.0}, {0: 0, 3: 2})
    """
    return _located_by(self, labels, size, True)


def _located_by(u: Vector, labels: Any, size: int | None, largest: bool) -> tuple[Vector, Vector]:
    values, places = locate.locate_by(_groups(u, labels, _size(u, size)), largest)
    found, at = u._new(values), u._new(places)
    found._labels, at._labels = known((_names(labels, found), u.value_labels)), known((_names(labels, at), u.labels))
    return found, at


def _names(groups: Any, made: Vector) -> Labels | None:
    """Return the labels of groups that are vertices."""
    labels: Labels | None = getattr(groups, "value_labels", None)
    return labels if labels is not None and len(labels) == made.size else None


def _size(u: Vector, size: int | None) -> int:
    return u.size if size is None else extent("size", size)


def _groups(u: Vector, labels: Any, size: int) -> Groups:
    """Return the entries of u that have a label, by groups; labels are checked."""
    if isinstance(labels, Sparse):
        if labels.ndim != 1:
            raise expected("labels", "Vector", labels)
        return locate.grouped(u.store, labels.store, size)
    return locate.grouped(u.store, as_indices("labels", labels), size)
