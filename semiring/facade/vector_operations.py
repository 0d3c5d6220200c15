"""The operations of the algebra on vectors: products, reductions, diagonals, other sizes.

`Vector` binds the public functions as its methods.  Element-wise operations are shared with Matrix (`infix`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack, cast

from .. import operators
from ..exceptions import InvalidType
from ..formats import VectorStore
from ..operators.types import TypedSemiring
from ..ops import reshape
from ..ops.assign import column_matrix, row_matrix
from ..ops.convert import index_list
from ..ops.inner import inner as inner_product
from ..ops.mxv import vxm as product
from ..ops.reduce import reduce_scalar
from ..ops.write import Plan
from ..storage.coerce import extent, sizes
from . import aggregate, axis_labels
from .base import Sparse
from .scalar import Scalar
from .writing import Writing

if TYPE_CHECKING:
    from .matrix import Matrix
    from .operand import Dense
    from .vector import Vector


def vxm(self: Vector, other: Matrix | Dense, op: Any = "plus_times", **writing: Unpack[Writing]) -> Vector:
    """w(j) = (+)_k self(k) (x) A(k, j).

    Parameters
    ----------
    other : Matrix of shape (size, n), or an array; the ``.T`` of a Matrix is read in place
    op : semiring, by object or name
    **writing : mask, accum, replace, out

    Raises
    ------
    DimensionMismatch, DomainMismatch, DeviceMismatch, UnknownOperator

    Notes
    -----
    Cost: O(entries of the rows in self) for push, at most O(nvals) for pull; a mask on the output reduces both.
    The cost model chooses push or pull (`config.direction` forces one).

    Examples
    --------
    >>> A = Matrix.from_coo([0, 0, 1], [1, 2, 2], [1, 9, 2], shape=(3, 3))
    >>> u = Vector.from_coo([0, 1], [10, 100], size=3)
    >>> u.vxm(A).to_dict(), u.vxm(A, "min_plus").to_dict(), u.vxm(A, "any_pair", mask=~u.S).to_dict()
    ({1: 10, 2: 290}, {1: 11, 2: 19}, {2: 1})
    """
    if getattr(other, "ndim", None) != 2 or not isinstance(other, Sparse):
        other = cast("Matrix", self._operand("vxm", other, 2))
    u, (a, transposed) = self.store, other.operand
    plan = product(u, a, op, transposed=transposed)
    made = self._deliver(plan, writing) if writing else self._new(None, plan)
    unnamed = self._labels is other._labels is None
    return made if unnamed else made._labeled_product(self, other)


def inner(self: Vector, other: Vector | Dense, op: Any = "plus_times") -> Scalar:
    """S = (+)_k self(k) (x) other(k); empty where they have no position in common.

    Parameters
    ----------
    other : Vector of the same size, or an array
    op : semiring, by object or name

    Raises
    ------
    DimensionMismatch, DomainMismatch, DeviceMismatch, UnknownOperator

    Notes
    -----
    Cost O(entries of both), queued at once.  Reading the value waits for it, not for what is queued later.

    Examples
    --------
    >>> u, v = Vector.from_dense([1, 2, 3]), Vector.from_coo([0, 2], [10, 100], size=3)
    >>> u.inner(v).value, u.inner(v, "min_plus").value
    (310, 11)
    """
    plan = inner_product(self.store, self._same_kind(other).store, op)
    return self._scalar_class._pending(plan.dtype, plan.queue())  # type: ignore[no-any-return]


def outer(self: Vector, other: Vector | Dense, op: Any = "times", **writing: Unpack[Writing]) -> Matrix:
    """C(i, j) = self(i) (x) other(j).

    Parameters
    ----------
    other : Vector, or an array
    op : binary operator, by object or name
    **writing : mask, accum, replace, out

    Raises
    ------
    DomainMismatch, DeviceMismatch, UnknownOperator

    Notes
    -----
    Cost O(entries of self times entries of `other`), without a mask.

    Examples
    --------
    >>> u, v = Vector.from_coo([0, 2], [1, 2], size=3), Vector.from_dense([10, 100])
    >>> u.outer(v).to_dicts()
    {0: {0: 10, 1: 100}, 2: {0: 20, 1: 200}}
    """
    column = self._matrix_class._new(column_matrix(index_list(self.store)))
    row = self._matrix_class._new(row_matrix(index_list(self._same_kind(other).store)))
    mult = operators.lookup_binary(op).typed(self.dtype, other.dtype)
    add = operators.monoid.any.typed(mult.z)
    made = column.mxm(row, TypedSemiring(add, mult), **writing)
    if self._labels is not None or getattr(other, "_labels", None) is not None:
        made._labels = axis_labels.known((self.labels, getattr(other, "labels", None), None))
    return made  # type: ignore[no-any-return]


def reduce(self: Vector, op: Any = "plus", *, allow_empty: bool = True) -> Scalar:
    """S = (+) of all entries; empty if there are none.

    Parameters
    ----------
    op : monoid or aggregator, by object or name
    allow_empty : False: the monoid's identity in place of an empty Scalar

    Raises
    ------
    DomainMismatch, UnknownOperator
    InvalidValue
        For ``allow_empty=False`` with an aggregator, or a monoid, that has no identity.

    Notes
    -----
    Cost O(nvals) at most, queued at once.  Reading the value waits for it, not for what is queued later.

    Examples
    --------
    >>> v = Vector.from_coo([0, 2], [5, 6], size=3)
    >>> v.reduce().value, v.reduce("max").value, v.reduce("mean").value, v.reduce("argmax").value
    (11, 6, 5.5, 2)
    """
    aggregator = aggregate.as_aggregator(op)
    if aggregator is not None:
        return aggregate.whole(self, aggregator, allow_empty)
    store = self.store
    monoid = operators.lookup_monoid(op).typed(store.dtype)
    return aggregate.pending(self._scalar_class, monoid, reduce_scalar(store, monoid), allow_empty)


def diag(self: Vector, k: int = 0, dtype: Any = None, *, name: str | None = None) -> Matrix:
    """D(p, p + k) = w(p): the square Matrix of size + abs(k) rows with this vector on its k-th diagonal.

    Parameters
    ----------
    k : which diagonal; above the main one for k > 0, below for k < 0
    dtype : type of the values; by default theirs
    name : shown by `repr`

    Raises
    ------
    InvalidType
        For a k that is not an integer.
    DomainMismatch

    Notes
    -----
    Cost O(size + nvals).

    Examples
    --------
    >>> v = Vector.from_coo([0, 2], [5, 6], size=3)
    >>> v.diag().to_dicts(), v.diag(1).to_dicts()
    ({0: {0: 5}, 2: {2: 6}}, {0: {1: 5}, 2: {3: 6}})
    """
    if isinstance(k, bool) or not hasattr(k, "__index__"):
        raise InvalidType(f"diag: k must be an integer, got {k!r}")
    store = self.store if dtype is None else self.dup(dtype).store
    made = self._matrix_class._new(reshape.diagonal_matrix(store, k.__index__()), name=name)
    if self._labels is not None and not k:
        made._labels = (self._labels[0], *self._labels)
    return made  # type: ignore[no-any-return]


def resize(self: Vector, size: int | None = None, *, shape: tuple[int] | None = None) -> None:
    """Change the number of positions to `size` (or `shape`); entries past the end are dropped.

    Parameters
    ----------
    size (or shape) : the new number of positions

    Raises
    ------
    InvalidValue
        For a size that is missing, negative or not an integer.

    Notes
    -----
    Cost O(nvals).

    Examples
    --------
    >>> v = Vector.from_coo([0, 2], [5, 6], size=3)
    >>> v.resize(2)
    >>> v.size, v.to_dict()
    (2, {0: 5})
    """
    (count,) = sizes("resize", shape, size=size)
    self._become(reshape.resize_vector(self.store, extent("size", count)))


def linked_vxm(u: Any, a: Any, op: Any) -> Plan[VectorStore]:
    """Return one link of a chain, ``u @ A``: see `semiring.facade.chain`."""
    return product(u[0], a[0], op, transposed=a[1])


def linked_inner(cls: type[Scalar], u: Any, v: Any, op: Any) -> Scalar:
    """Return one link of a chain, ``u @ v``: see `semiring.facade.chain`."""
    plan = inner_product(u[0], v[0], op)
    return cls._pending(plan.dtype, plan.value)
