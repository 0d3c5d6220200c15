"""Vector: a sparse vector of one type, on the CPU or the GPU."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self, Unpack

from .. import operators
from ..engines.operands import Index
from ..exceptions import InvalidMask, InvalidType
from ..formats import VectorStore
from ..formats.vectors import empty_vector
from ..operators.types import TypedSemiring
from ..ops import check, reshape
from ..ops.assign import assign_vector, column_matrix, row_matrix
from ..ops.convert import convert, index_list
from ..ops.extract import extract_vector
from ..ops.inner import inner
from ..ops.mxv import vxm
from ..ops.reduce import reduce_scalar
from ..ops.write import Plan, Write
from ..storage.coerce import extent, sizes
from ..storage.index import position, positions
from . import aggregate, display, iteration, layout, rowwise, vector_arrays
from .base import Sparse
from .chain import link, linked
from .infix import Infix
from .operand import device_for, dimensions, expected, is_empty, is_scalar, scalar
from .scalar import Scalar
from .writing import MaskView, Writing

if TYPE_CHECKING:
    from .matrix import Matrix


class Vector(Infix):
    """A vector of `size` positions, of which some hold a value.

    Parameters
    ----------
    dtype : type of the values (NumPy dtype, Python type or name)
    size : number of positions
    name : shown by `repr`
    device : ``"cpu"`` or ``"cuda"``; by default the configured one

    Notes
    -----
    Missing is not zero: only stored entries exist.  Stored as an index list, a bitmap or full, as chosen
    by the operation that made it; `convert` changes the format.
    """

    __slots__ = ()
    ndim: ClassVar[int] = 1

    def __init__(
        self,
        dtype: Any = float,
        size: int | None = None,
        *,
        shape: tuple[int] | None = None,
        name: str | None = None,
        device: str | None = None,
    ) -> None:
        chosen, (count,) = vector_arrays.constructed("Vector", dtype, "size"), sizes("Vector", shape, size=size)
        self._hold(empty_vector(count or 0, chosen, device_for(device=device)), None, name)

    # -- from and to arrays: functions of `vector_arrays` --------------------------------------------------

    from_coo = classmethod(vector_arrays.from_coo)
    from_dense = classmethod(vector_arrays.from_dense)
    full = classmethod(vector_arrays.full)
    from_scalar = full
    from_dict = classmethod(vector_arrays.from_dict)
    from_pairs = classmethod(vector_arrays.from_pairs)
    build = vector_arrays.build
    to_coo = vector_arrays.to_coo
    to_dense = vector_arrays.to_dense
    to_dict = vector_arrays.to_dict
    __dlpack__ = vector_arrays.dlpack
    __dlpack_device__ = vector_arrays.dlpack_device
    items = iteration.vector_items
    __reduce__ = vector_arrays.pickled

    reposition = layout.reposition_vector
    reshape = layout.reshape_vector
    scan = rowwise.scan_vector
    sort = rowwise.sort_vector
    selectk = rowwise.selectk_vector

    # -- looking -----------------------------------------------------------------------------------------

    @property
    def size(self) -> int:
        """The number of positions."""
        store = self._store
        return check.shape_of(self._described)[0] if store is None else store.size

    @property
    def shape(self) -> tuple[int]:
        """(size,)."""
        return (self.size,)

    def __len__(self) -> int:
        return self.size

    def get(self, index: int, default: Any = None) -> Any:
        """w(index), or `default` where nothing is stored.

        Negative indices count from the end; IndexOutOfBound past it, InvalidValue if it is not an integer.  Cost O(1),
        or O(log nvals) for an index list.  Synchronises on the GPU.
        """
        value = self._element(self._at(index))()
        return default if value is None else value.item()

    def __contains__(self, index: int) -> bool:
        return self._element(self._at(index))() is not None

    def _at(self, index: Any) -> tuple[int]:
        return (position(scalar(index), self.size, "a vector"),)

    def convert(self, to: str) -> Self:
        """Store the same entries in another format; returns this vector.

        Parameters
        ----------
        to : ``"index"``, ``"bitmap"``, or ``"full"`` (only where all positions hold a value)

        Raises
        ------
        InvalidValue
        """
        self._store = convert(self.store, to)  # no entry changes, so a part of another object may be converted too
        return self

    # -- parts -------------------------------------------------------------------------------------------

    def __getitem__(self, key: Any) -> Any:
        """w[i]: a Scalar.  w[I]: a Vector, w(I[p]).

        I is a slice, integers, a boolean array, a full Vector of integers, or a mask (``m.S``): the result then has the
        size of w.  The result is a value; left of
        ``<<`` it is the target, so that ``w[I] << x`` and ``w[I](mask) << x`` write into w.  ``w[i] = x``,
        ``w[i](accum) << x`` and ``del w[i]`` cost O(1): they are collected and applied when w as a whole is next used.
        """
        if is_scalar(key):
            at = self._at(key)
            return self._scalar_class.pending(self.dtype, self._element(at), (self, at[0]))
        plan = self._masked(key) if isinstance(key, MaskView) else extract_vector(self.store, self._index(key))
        made = self._new(None, plan)
        made._origin = (self, key)
        return made

    def extract(self, index: Any, **writing: Unpack[Writing]) -> Vector:
        """w(I), by name.

        Parameters
        ----------
        index : slice, integers, boolean array, or full Vector of integers
        **writing : mask, accum, replace, out

        Raises
        ------
        IndexOutOfBound, InvalidValue, DomainMismatch, DeviceMismatch
        """
        return self._deliver(extract_vector(self.store, self._index(index)), writing)  # type: ignore[no-any-return]

    def __delitem__(self, key: Any) -> None:
        if is_scalar(key):
            self._delete_element(self._at(key))
            return
        if isinstance(key, MaskView):
            self._become(self._masked(~key).into())
            return
        index = self._index(key)
        self._become(assign_vector(self.store, index, empty_vector(index.count, self._described.dtype, self.device)))

    def _index(self, key: Any) -> Index:
        if key is None:
            return Index(self.store.size, self.store.size)
        if not isinstance(key, slice) and is_scalar(key):
            key = [position(scalar(key), self.size, "a vector")]
        return positions(index_value(key), self.size, "a vector", self.device)

    def _assign_region(self, key: Any, value: Any, write: Write, *, sub: bool) -> None:
        if write.mask is None and is_scalar(key) and is_scalar(value):
            self._write_element(self._at(key), value, write.accum)
            return
        if isinstance(key, MaskView):
            self._assign_masked(key, value, write)
            return
        index = self._index(key)
        if not isinstance(key, slice) and key is not None and is_scalar(key):
            check_element("v[i]", value, write, sub)
        if isinstance(value, (int, float, complex)):
            source: Any = value
        elif isinstance(value, Vector):
            source = value.store
        elif is_empty(value):
            source = empty_vector(index.count, self._described.dtype, self.device)
        elif is_scalar(value):
            source = scalar(value)
        elif dimensions(value) == 1:
            source = Vector.from_dense(value, device=self.device).store
        else:
            raise InvalidType(
                f"cannot assign a {type(value).__name__} to a Vector; expected a Vector or a scalar (an empty Scalar, "
                f"or del, deletes)"
            )
        self._become(assign_vector(self.store, index, source, write=write, sub=sub))

    # -- operations --------------------------------------------------------------------------------------

    def vxm(self, other: Matrix, op: Any = "plus_times", **writing: Unpack[Writing]) -> Vector:
        """w(j) = (+)_k self(k) (x) A(k, j).

        Parameters
        ----------
        other : Matrix of shape (size, n); the ``.T`` of one is read in place
        op : semiring, by object or name
        **writing : mask, accum, replace, out

        Raises
        ------
        DimensionMismatch, DomainMismatch, DeviceMismatch, UnknownOperator

        Notes
        -----
        Cost: O(entries of the rows in self) for push, at most O(nvals) for pull; a mask on the output reduces both.
        The cost model chooses push or pull (`config.direction` forces one).
        """
        if getattr(other, "ndim", None) != 2 or not isinstance(other, Sparse):
            raise expected("vxm", "Matrix", other)
        u, (a, transposed) = self.store, other.operand
        return self._deliver(vxm(u, a, op, transposed=transposed), writing)  # type: ignore[no-any-return]

    def __matmul__(self, other: Any) -> Any:
        if not isinstance(other, Sparse):
            return self._unknown(other)
        if not isinstance(other, Vector):
            return linked(type(self), "product", self, other, _vxm, "plus_times")
        made, chain = link("product", self, other, partial(_inner, self._scalar_class), "plus_times")
        made._chain = chain
        return made

    def inner(self, other: Vector, op: Any = "plus_times") -> Scalar:
        """S = (+)_k self(k) (x) other(k); empty where they have no position in common.

        Parameters
        ----------
        other : of the same size
        op : semiring, by object or name

        Raises
        ------
        DimensionMismatch, DomainMismatch, DeviceMismatch, UnknownOperator

        Notes
        -----
        Cost O(entries of both), queued at once.  Reading the value waits for it, not for what is queued later.
        """
        plan = inner(self.store, self._same_kind(other).store, op)
        return self._scalar_class.pending(plan.dtype, plan.queue())  # type: ignore[no-any-return]

    def outer(self, other: Vector, op: Any = "times", **writing: Unpack[Writing]) -> Matrix:
        """C(i, j) = self(i) (x) other(j).

        Parameters
        ----------
        other : Vector
        op : binary operator, by object or name
        **writing : mask, accum, replace, out

        Raises
        ------
        DomainMismatch, DeviceMismatch, UnknownOperator

        Notes
        -----
        Cost O(entries of self times entries of `other`), without a mask.
        """
        column = self._matrix_class._new(column_matrix(index_list(self.store)))
        row = self._matrix_class._new(row_matrix(index_list(self._same_kind(other).store)))
        mult = operators.lookup_binary(op).typed(self.dtype, other.dtype)
        add = operators.monoid.any.typed(mult.z)
        return column.mxm(row, TypedSemiring(add, mult), **writing)  # type: ignore[no-any-return]

    def reduce(self, op: Any = "plus", *, allow_empty: bool = True) -> Scalar:
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
        """
        aggregator = aggregate.as_aggregator(op)
        if aggregator is not None:
            return aggregate.whole(self, aggregator, allow_empty)
        store = self.store
        monoid = operators.lookup_monoid(op).typed(store.dtype)
        return aggregate.pending(self._scalar_class, monoid, reduce_scalar(store, monoid), allow_empty)

    def diag(self, k: int = 0, dtype: Any = None, *, name: str | None = None) -> Matrix:
        """D(p, p + k) = w(p): the square Matrix of size + abs(k) rows with this vector on its k-th diagonal.

        k > 0 is above the main one, k < 0 below.  `dtype`: type of the values, by default theirs; `name`: shown by
        `repr`.  InvalidType for a k that is not an integer.  Cost O(size + nvals).
        """
        if isinstance(k, bool) or not hasattr(k, "__index__"):
            raise InvalidType(f"diag: k must be an integer, got {k!r}")
        store = self.store if dtype is None else self.dup(dtype).store
        return self._matrix_class._new(reshape.diagonal_matrix(store, k.__index__()), name=name)  # type: ignore[no-any-return]

    def resize(self, size: int | None = None, *, shape: tuple[int] | None = None) -> None:
        """Change the number of positions to `size` (or `shape`); entries past the end are dropped.

        Raises
        ------
        InvalidValue
            For a size that is missing, negative or not an integer.

        Notes
        -----
        Cost O(nvals).
        """
        (count,) = sizes("resize", shape, size=size)
        self._become(reshape.resize_vector(self.store, extent("size", count)))

    def __repr__(self) -> str:
        return display.vector(self)

    def _repr_html_(self) -> str:
        return display.html(self)


Sparse._vector_class = Vector


def _vxm(u: Any, a: Any, op: Any) -> Plan[VectorStore]:
    return vxm(u[0], a[0], op, transposed=a[1])


def _inner(cls: type[Scalar], u: Any, v: Any, op: Any) -> Scalar:
    plan = inner(u[0], v[0], op)
    return cls.pending(plan.dtype, plan.value)


def index_value(key: Any) -> Any:
    """Return an index as the operations accept it: the store of a Vector, anything else unchanged."""
    return key.store if isinstance(key, Vector) else key


def check_element(place: str, value: Any, write: Write, sub: bool) -> None:
    """Raise InvalidType or InvalidMask where what is written to one element is no scalar, or has a mask of its own."""
    if sub and write.mask is not None:
        raise InvalidMask(f"{place} is one element, which has no mask of its own: write C(mask)[...] << x")
    if not is_scalar(value):
        raise InvalidType(f"{place} is one element; expected a scalar, got {type(value).__name__}")
