"""Vector: a sparse vector of one type, on the CPU or the GPU."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np

from . import aggregate, display, dtypes, operators
from .base import Sparse, device_for, scalar
from .config import default_device
from .exceptions import InvalidValue
from .formats import Full, array_module, dense_values
from .formats.arrays import to_device, to_host
from .formats.vectors import empty_vector
from .infix import Infix, is_scalar
from .ops import reshape
from .ops.assign import assign_vector
from .ops.build import build_vector
from .ops.convert import convert, index_list
from .ops.extract import element, extract_vector
from .ops.index import position, positions
from .ops.mxv import vxm
from .ops.reduce import reduce_scalar
from .ops.write import Write
from .scalar import Scalar

if TYPE_CHECKING:
    from .matrix import Matrix, Transposed


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
    Missing is not zero: only stored entries exist.  Held as an index list, a bitmap or full, whichever the
    operation that made it found best; `convert` chooses.
    """

    __slots__ = ()

    def __init__(self, dtype: Any = float, size: int = 0, *, name: str | None = None, device: str | None = None):
        store = empty_vector(_size(size), dtypes.lookup(dtype), device_for(device=device))
        self._store, self._plan, self._remake, self._origin, self.name = store, None, None, None, name

    # -- construction ------------------------------------------------------------------------------------

    @classmethod
    def from_coo(
        cls,
        indices: Any,
        values: Any = True,
        dtype: Any = None,
        *,
        size: int | None = None,
        dup_op: Any = None,
        name: str | None = None,
        device: str | None = None,
    ) -> Self:
        """w(indices[p]) = values[p].

        Parameters
        ----------
        indices : integers, in any order (list, NumPy or CuPy array)
        values : as many values, or one for all (then the vector is iso-valued)
        dtype : type of the values; by default theirs
        size : number of positions; by default the largest index + 1
        dup_op : binary operator that combines repeated indices

        Raises
        ------
        DuplicateIndex
            If an index repeats and there is no `dup_op`.
        IndexOutOfBound, InvalidValue, DomainMismatch

        Notes
        -----
        Cost O(k log k) for k entries.  Arrays on the GPU are checked there: synchronises.
        """
        where = device_for(indices, values, device=device)
        indices, values = as_array(indices, np.int64), as_values(values)
        chosen = dtypes.lookup(values.dtype if dtype is None else dtype)
        if size is None:
            size = int(to_host(indices.max())) + 1 if indices.size else 0  # synchronises on the GPU
        return cls._new(build_vector(indices, values, _size(size), chosen, dup_op, where), name=name)

    @classmethod
    def from_dense(
        cls,
        values: Any,
        missing_value: Any = None,
        *,
        dtype: Any = None,
        name: str | None = None,
        device: str | None = None,
    ) -> Self:
        """w(i) = values[i], except where it equals `missing_value` (NaN matches NaN); None: all are present."""
        where = device_for(values, device=device)
        array = as_array(values)
        if array.ndim != 1:
            raise InvalidValue(f"from_dense: expected one dimension, got shape {array.shape}")
        chosen = dtypes.lookup(array.dtype if dtype is None else dtype)
        if missing_value is None:
            array = to_device(array, where).astype(chosen, copy=True)
            return cls._new(Full(int(array.size), chosen, array, None, where), name=name)
        indices = array_module("cuda" if hasattr(array, "get") else "cpu").flatnonzero(differs(array, missing_value))
        made = cls.from_coo(indices, array[indices], chosen, size=int(array.size), device=where)
        made.name = name
        return made

    @classmethod
    def full(
        cls, value: Any, size: int, dtype: Any = None, *, name: str | None = None, device: str | None = None
    ) -> Self:
        """w(i) = value for every i; held as one value, whatever the size."""
        value = scalar(value)
        chosen = dtypes.lookup(np.asarray(value).dtype if dtype is None else dtype)
        return cls._new(reshape.full_vector(value, _size(size), chosen, device_for(device=device)), name=name)

    from_scalar = full

    @classmethod
    def from_dict(cls, entries: Mapping[int, Any], dtype: Any = None, *, size: int | None = None) -> Self:
        """w(i) = entries[i]."""
        return cls.from_coo(list(entries), list(entries.values()), dtype, size=size)

    @classmethod
    def from_pairs(
        cls, pairs: Iterable[tuple[int, Any]], dtype: Any = None, *, size: int | None = None, dup_op: Any = None
    ) -> Self:
        """w(i) = x for every pair (i, x)."""
        listed = list(pairs)
        return cls.from_coo([i for i, _ in listed], [x for _, x in listed], dtype, size=size, dup_op=dup_op)

    def build(self, indices: Any, values: Any, *, dup_op: Any = None) -> Self:
        """Fill this empty vector from (index, value) pairs; OutputNotEmpty if it has entries."""
        _empty("Vector", self.nvals)
        made = build_vector(as_array(indices, np.int64), as_values(values), self.size, self.dtype, dup_op, self.device)
        self._become(made)
        return self

    # -- looking -----------------------------------------------------------------------------------------

    @property
    def size(self) -> int:
        """The number of positions."""
        return self._plan.shape[0] if self._plan is not None else cast(int, self.store.size)

    @property
    def shape(self) -> tuple[int]:
        """(size,)."""
        return (self.size,)

    @property
    def ndim(self) -> int:
        """1."""
        return 1

    def __len__(self) -> int:
        return self.size

    def get(self, index: int, default: Any = None) -> Any:
        """w(index), or `default` where nothing is stored.  Synchronises."""
        value = element(self.store, position(index, self.size, "a vector"))
        return default if value is None else value

    def __contains__(self, index: int) -> bool:
        return element(self.store, position(index, self.size, "a vector")) is not None

    def to_coo(self) -> tuple[Any, Any]:
        """(indices, values), ascending, as arrays of this vector's device.  Synchronises on the GPU."""
        entries = index_list(self.store)
        return entries.indices, dense_values(entries)

    def to_dense(self, fill_value: Any = None, dtype: Any = None) -> Any:
        """An array of `size` values; `fill_value` stands where nothing is stored (needed unless all are)."""
        store = self.store
        chosen = store.dtype if dtype is None else dtypes.lookup(dtype)
        if store.format == "full":
            return dense_values(store).astype(chosen, copy=store.iso is None)
        if fill_value is None:
            if store.nvals != store.size:
                raise InvalidValue("to_dense: some entries are missing; give fill_value=")
            fill_value = 0
        entries = index_list(store)
        array = array_module(store.device).full(store.size, scalar(fill_value), dtype=chosen)
        array[entries.indices] = dense_values(entries).astype(chosen)
        return array

    def to_numpy(self, fill_value: Any = None) -> np.ndarray[Any, Any]:
        """`to_dense` as a NumPy array.  Synchronises on the GPU."""
        return to_host(self.to_dense(fill_value))

    def to_dict(self) -> dict[int, Any]:
        """{index: value}.  Synchronises on the GPU."""
        indices, values = self.to_coo()
        return dict(zip(to_host(indices).tolist(), to_host(values).tolist(), strict=True))

    def convert(self, to: str) -> Self:
        """Hold the same entries as ``"index"``, ``"bitmap"`` or ``"full"``; returns this vector."""
        self._become(convert(self.store, to))
        return self

    # -- parts -------------------------------------------------------------------------------------------

    def __getitem__(self, key: Any) -> Any:
        """w[i]: a Scalar.  w[I]: a Vector, w(I[p]); I a slice, integers, or a full Vector of integers."""
        if isinstance(key, (int, np.integer, Scalar)):
            at = position(scalar(key), self.size, "a vector")
            store = self.store
            return Scalar.pending(store.dtype, lambda: element(store, at), lambda value: self._set(at, value))
        made = self._new(None, extract_vector(self.store, self._index(key)))
        made._origin = (self, key)
        return made

    def extract(self, index: Any, **writing: Any) -> Vector:
        """w(I), by name: takes mask, accum, replace and out."""
        return self._deliver(extract_vector(self.store, self._index(index)), writing)  # type: ignore[arg-type, no-any-return]

    def __delitem__(self, key: Any) -> None:
        index = self._index([position(scalar(key), self.size, "a vector")] if is_scalar(key) else key)
        nothing = empty_vector(index.count, self.dtype, self.device)
        self._become(assign_vector(self.store, index, nothing))

    def _set(self, at: int, value: Any) -> None:
        if value is None:
            del self[at]
        else:
            self._become(assign_vector(self.store, self._index([at]), value))

    def _index(self, key: Any) -> Any:
        return positions(index_value(key), self.size, "a vector", self.device)

    def _assign_region(self, key: Any, value: Any, write: Write, *, sub: bool) -> None:
        if isinstance(key, (int, np.integer, Scalar)):
            key = [position(scalar(key), self.size, "a vector")]
        self._become(assign_vector(self.store, self._index(key), assigned(value, Vector), write=write, sub=sub))

    # -- operations --------------------------------------------------------------------------------------

    def vxm(self, other: Matrix | Transposed, op: Any = "plus_times", **writing: Any) -> Vector:
        """w(j) = (+)_k self(k) (x) A(k, j).

        Parameters
        ----------
        other : Matrix of shape (size, n), or the ``.T`` of one
        op : semiring, by object or name
        **writing : mask, accum, replace, out

        Raises
        ------
        DimensionMismatch, DomainMismatch, DeviceMismatch

        Notes
        -----
        Cost: O(entries of the rows that meet self) pushing, O(nvals) at most pulling; a mask that the output
        structure meets first saves both.  Push or pull is chosen by rule (`config.direction` forces one).
        """
        u = self.store
        a, transposed = other.operand

        def remake(operator: Any) -> Any:
            plan = vxm(u, a, operator, transposed=transposed)
            return self._deliver(plan, {}, cls=Vector, remake=("product", remake))

        plan = vxm(u, a, op, transposed=transposed)
        return self._deliver(plan, writing, cls=Vector, remake=("product", remake))  # type: ignore[arg-type, no-any-return]

    def __matmul__(self, other: Any) -> Any:
        if isinstance(other, Vector):
            return self.inner(other)
        return self.vxm(other) if hasattr(other, "operand") else NotImplemented

    def inner(self, other: Vector, op: Any = "plus_times") -> Scalar:
        """S = (+)_k self(k) (x) other(k)."""
        semiring = operators.lookup_semiring(op).typed(self.dtype, other.dtype)
        return Vector.reduce(self.ewise_mult(other, semiring.mult), semiring.add)

    def outer(self, other: Vector, op: Any = "times", **writing: Any) -> Matrix:
        """C(i, j) = self(i) (x) other(j)."""
        from .matrix import Matrix
        from .ops.assign import column_matrix, row_matrix

        column = Matrix._new(column_matrix(index_list(self.store)))
        semiring = operators.semiring.register_anonymous("any", operators.lookup_binary(op))
        return column.mxm(Matrix._new(row_matrix(index_list(other.store))), semiring, **writing)

    def reduce(self, op: Any = "plus") -> Scalar:
        """S = (+) of all entries, a Scalar that is empty if there are none; `op` a monoid or an aggregator.

        Reading its value synchronises.
        """
        aggregator = aggregate.as_aggregator(op)
        if aggregator is not None:
            return aggregate.vector(self, aggregator)
        monoid = operators.lookup_monoid(op).typed(self.dtype)
        store = self.store
        return Scalar.pending(monoid.z, lambda: reduce_scalar(store, monoid))

    def diag(self, k: int = 0) -> Matrix:
        """The square Matrix that holds this vector on its k-th diagonal."""
        from .matrix import Matrix

        return Matrix._new(reshape.diagonal_matrix(self.store, k))

    def resize(self, size: int) -> None:
        """Change the number of positions; entries past the end are dropped."""
        self._become(reshape.resize_vector(self.store, _size(size)))

    def __reduce__(self) -> Any:
        indices, values = (to_host(part) for part in self.to_coo())
        if self.is_iso:
            values = self.iso_value
        return _restore, (indices, values, self.dtype.str, self.size, self.name)

    def __repr__(self) -> str:
        return display.vector(self)

    def _repr_html_(self) -> str:
        return display.html(self)


def _restore(indices: Any, values: Any, dtype: str, size: int, name: str | None) -> Vector:
    return Vector.from_coo(indices, values, np.dtype(dtype), size=size, name=name, device=default_device())


def _size(value: Any) -> int:
    if isinstance(value, (bool, float)) or not hasattr(value, "__index__"):
        raise InvalidValue(f"size must be an integer, got {value!r}")
    if value < 0:
        raise InvalidValue(f"size must not be negative, got {value}")
    return int(value)


def _empty(kind: str, nvals: int) -> None:
    from .exceptions import OutputNotEmpty

    if nvals:
        raise OutputNotEmpty(f"build: the {kind} already has {nvals} entries; call .clear() first")


def as_array(values: Any, empty: Any = None) -> Any:
    """A NumPy or CuPy array of what the user gave; an empty list becomes an array of the type `empty`."""
    if hasattr(values, "__cuda_array_interface__"):
        return array_module("cuda").asarray(values)
    array = np.asarray(values)
    return array.astype(empty) if empty is not None and array.size == 0 else array


def as_values(values: Any) -> Any:
    """An array of values, or one value as a zero-dimensional array."""
    return np.asarray(scalar(values)) if is_scalar(values) else as_array(values)


def differs(array: Any, missing: Any) -> Any:
    """Where `array` is not `missing`; NaN counts as equal to NaN."""
    return array == array if missing != missing else array != missing


def index_value(key: Any) -> Any:
    """An index as the operations take it: the store of a Vector, else as it is."""
    return key.store if isinstance(key, Vector) else key


def assigned(value: Any, *kinds: type) -> Any:
    """The right side of ``<<`` on a region: the store of an object, or a scalar."""
    if isinstance(value, kinds):
        return cast(Sparse[Any], value).store
    if is_scalar(value):
        return scalar(value)
    if isinstance(value, (list, tuple)) or getattr(value, "ndim", 0) == 1:
        return Vector.from_dense(value).store
    raise InvalidValue(f"cannot assign a {type(value).__name__} here; expected {kinds[0].__name__} or a scalar")
