"""Vector from and to arrays: pairs, dense, dictionaries.  `Vector` binds these functions as its methods."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from .. import dtypes
from ..devices import local_device, on_device, whole_of
from ..exceptions import DomainMismatch, InvalidType, InvalidValue, OutputNotEmpty
from ..formats import Full, array_module, dense_values, device_of
from ..formats.vectors import SingleEntry
from ..memory.allocation import allocating, require
from ..memory.arrays import as_type, assign_at, to_device, to_host
from ..ops import reshape
from ..ops.build import build_vector, is_mean
from ..ops.cast import cast_scalar
from ..ops.convert import index_list
from ..record_types import shown
from ..storage.coerce import as_indices, extent, size_for, sizes, value_type
from ..symbolic import Symbolic
from .display import counted
from .operand import (
    as_values,
    check_mean_fits,
    dense_dtype,
    device_for,
    differs,
    exported,
    exported_indices,
    exported_values,
    is_scalar,
    labeled,
    mean_of,
    one_value,
    pickled_type,
    scalar,
)

if TYPE_CHECKING:
    from .vector import Vector


V = TypeVar("V", bound="Vector")
_NUMBERS = frozenset((bool, int, float))


def from_coo(
    cls: type[Vector],
    indices: Any,
    values: Any = True,
    dtype: Any = None,
    *,
    size: int | None = None,
    shape: tuple[int] | None = None,
    dup_op: Any = None,
    name: str | None = None,
    device: str | None = None,
) -> Vector:
    """w(indices[p]) = values[p].

    Parameters
    ----------
    indices : integers, in any order (list, NumPy or CuPy array)
    values : as many values; or one for all, which is stored once; or None, which means True
    dtype : type of the values; by default theirs
    size (or shape) : number of positions; by default the largest index + 1
    dup_op : binary operator that combines repeated indices, from the first on; ``"last"`` keeps the last value,
        ``"mean"`` averages: of integers and bools in float64, whatever `dtype` is
    name : shown by `repr`
    device : ``"cpu"`` or ``"cuda"``; by default the GPU if an array is there, else the configured one

    Raises
    ------
    DuplicateIndex
        If an index repeats and there is no `dup_op`.
    IndexOutOfBound, InvalidValue, DomainMismatch, OutOfMemory

    Notes
    -----
    Cost O(k log k) for k entries.  Arrays on the GPU are checked there: synchronizes.

    Examples
    --------
    >>> Vector.from_coo([2, 0, 2], [5, 6, 7], size=4, dup_op="plus").to_dict()
    {0: 6, 2: 12}
    >>> Vector.from_coo([0, 3], True).to_dict()
    {0: True, 3: True}
    """
    if dup_op is not None and is_mean(dup_op):
        shared: dict[str, Any] = {"size": size, "shape": shape, "device": device}
        return mean_of(  # type: ignore[no-any-return]
            lambda x, t, dup: from_coo(cls, indices, x, t, dup_op=dup, **shared), values, dtype, name
        )
    if type(indices) is list and len(indices) == 1 and type(values) in _NUMBERS and size is not None and shape is None:
        index = indices[0]  # one entry from Python numbers: the source of a search needs no array
        if (type(index) is int or isinstance(index, np.integer)) and 0 <= index < extent("size", size):
            chosen = dtypes.lookup(type(values) if dtype is None else dtype)
            if chosen is not dtypes.INT64 or -(2**63) <= values < 2**63:
                where, value = device_for(device=device), cast_scalar(values, chosen)
                return cls._new(SingleEntry(size, chosen, int(index), value, where), name=name)
    where = device_for(indices, values, device=device)
    indices, values = (
        as_indices("indices", indices),
        as_values(True if values is None else values, dtype, ndim=1 if cls._infers_arrays else None),
    )
    chosen = value_type("values", values, dtype)
    (count,) = sizes("from_coo", shape, size=size)
    count = extent("size", size_for(indices) if count is None else count)
    return cls._new(build_vector(indices, values, count, chosen, dup_op, where), name=name)


def from_dense(
    cls: type[Vector],
    values: Any,
    missing_value: Any = None,
    *,
    dtype: Any = None,
    name: str | None = None,
    device: str | None = None,
) -> Vector:
    """w(i) = values[i], except where it equals `missing_value`.

    Parameters
    ----------
    values : one-dimensional NumPy or CuPy array, or a list
    missing_value : the value that represents a missing entry (NaN matches NaN); None: all are present
    dtype : type of the values; by default theirs
    name : shown by `repr`
    device : ``"cpu"`` or ``"cuda"``; by default the GPU if the array is there, else the configured one

    Raises
    ------
    InvalidValue, DomainMismatch, OutOfMemory

    Notes
    -----
    Cost O(size); the values are copied.  With a `missing_value` it synchronizes on the GPU.

    Examples
    --------
    >>> Vector.from_dense([5, 0, 7], missing_value=0).to_dict()
    {0: 5, 2: 7}
    >>> Vector.from_dense(np.arange(3.0)).format
    'full'
    """
    where = device_for(values, device=device)
    array = as_values(values, dtype, ndim=1 if cls._infers_arrays else None, name="from_dense")
    if array.ndim == 0:
        raise InvalidType(
            f"from_dense: expected an array or a list, got {values!r}; Vector.from_scalar repeats a value"
        )
    if array.ndim != 1:
        raise InvalidValue(f"from_dense: expected one dimension, got shape {array.shape}")
    chosen = value_type("from_dense", array, dtype)
    if missing_value is None:
        with allocating("from_dense", where):
            array = as_type(to_device(array, where), chosen)
        made = Full(int(array.size), chosen, array, None, local_device(where))
        return cls._new(on_device(where, made), name=name)
    indices = array_module(device_of(array)).flatnonzero(differs(array, missing_value))
    return cls.from_coo(indices, array[indices], chosen, size=int(array.size), name=name, device=where)


def full(
    cls: type[Vector],
    value: Any,
    size: int | None = None,
    dtype: Any = None,
    *,
    shape: tuple[int] | None = None,
    name: str | None = None,
    device: str | None = None,
) -> Vector:
    """w(i) = value for every i; stored as one value for any size.

    Parameters
    ----------
    value : number or Scalar
    size (or shape) : number of positions
    dtype : type of the value; by default its own
    name : shown by `repr`
    device : ``"cpu"`` or ``"cuda"``; by default the configured one

    Raises
    ------
    InvalidValue, EmptyObject, DomainMismatch

    Notes
    -----
    Cost and memory O(1).

    Examples
    --------
    >>> Vector.full(2.5, 3).to_dict()
    {0: 2.5, 1: 2.5, 2: 2.5}
    """
    if type(value) is float and (dtype is None or dtype is float):
        chosen = dtypes.FP64
    else:
        value = one_value(value, dtype)
        if isinstance(value, Symbolic):
            chosen = value.traced_dtype(dtypes.BOOL) if dtype is None else dtypes.lookup(dtype)
        else:
            chosen = value_type("value", np.asarray(value), dtype)
    (count,) = sizes("full", shape, size=size)
    return cls._new(reshape.full_vector(value, extent("size", count), chosen, device_for(device=device)), name=name)


def from_dict(
    cls: type[Vector],
    entries: Mapping[int, Any],
    dtype: Any = None,
    *,
    size: int | None = None,
    shape: tuple[int] | None = None,
    name: str | None = None,
) -> Vector:
    """w(i) = entries[i].

    Parameters
    ----------
    entries : dictionary {index: value}
    dtype : type of the values; by default theirs
    size (or shape) : number of positions; by default the largest index + 1
    name : shown by `repr`

    Raises
    ------
    InvalidValue, IndexOutOfBound, DomainMismatch

    Notes
    -----
    Cost O(k log k) for k entries.

    Examples
    --------
    >>> v = Vector.from_dict({0: 5, 3: 6}, size=5)
    >>> v.size, v.to_dict()
    (5, {0: 5, 3: 6})
    """
    if not isinstance(entries, Mapping):
        raise InvalidValue(f"from_dict: expected a dictionary {{index: value}}, got {type(entries).__name__}")
    return cls.from_coo(list(entries), list(entries.values()), dtype, size=size, shape=shape, name=name)


def from_pairs(
    cls: type[Vector],
    pairs: Iterable[tuple[int, Any]],
    dtype: Any = None,
    *,
    size: int | None = None,
    shape: tuple[int] | None = None,
    dup_op: Any = None,
    name: str | None = None,
) -> Vector:
    """w(i) = x for every pair (i, x).

    Parameters
    ----------
    pairs : pairs (index, value), in any order
    dtype : type of the values; by default theirs
    size (or shape) : number of positions; by default the largest index + 1
    dup_op : binary operator that combines repeated indices
    name : shown by `repr`

    Raises
    ------
    InvalidValue, DuplicateIndex, IndexOutOfBound, DomainMismatch

    Notes
    -----
    Cost O(k log k) for k entries.

    Examples
    --------
    >>> Vector.from_pairs([(3, 5), (0, 6)]).to_dict()
    {0: 6, 3: 5}
    """
    try:
        listed = [(i, x) for i, x in pairs]
    except (TypeError, ValueError) as error:
        raise InvalidValue(f"from_pairs: expected pairs (index, value) ({error})") from error
    indices, values = ([pair[k] for pair in listed] for k in range(2))
    return cls.from_coo(indices, values, dtype, size=size, shape=shape, dup_op=dup_op, name=name)


def build(self: V, indices: Any, values: Any, *, dup_op: Any = None, clear: bool = False, size: int | None = None) -> V:
    """Fill this empty vector, w(indices[p]) = values[p], and return it.

    Parameters
    ----------
    indices, values, dup_op : as `from_coo`
    clear : replace the entries that there are
    size : the new number of positions; None: unchanged

    Raises
    ------
    OutputNotEmpty
        If it has entries, and not `clear`.
    DuplicateIndex, IndexOutOfBound, InvalidValue, DomainMismatch

    Notes
    -----
    Cost O(k log k) for k entries.  On the GPU the checks synchronize.

    Examples
    --------
    >>> Vector(int, 4).build([3, 0], [5, 6]).to_dict()
    {0: 6, 3: 5}
    """
    if not clear and self.nvals:
        raise OutputNotEmpty(
            f"build: the Vector already has {counted(self.nvals)}; call .clear() first, or give clear=True"
        )
    size = self.store.size if size is None else extent("size", size)
    dtype = self._described.dtype
    if dup_op is not None and is_mean(dup_op):
        check_mean_fits(dtype)
        self._become(type(self).from_coo(indices, values, dtype, size=size, dup_op=dup_op, device=self.device).store)
        return self
    made = build_vector(as_indices("indices", indices), as_values(values, dtype), size, dtype, dup_op, self.device)
    self._become(made)
    return self


# -- exports ---------------------------------------------------------------------------------------------


def to_dense(self: Vector, fill_value: Any = None, dtype: Any = None, *, device: str | None = None) -> Any:
    """Return an array of `size` values, the caller's own.

    Parameters
    ----------
    fill_value : the value where nothing is stored; needed unless all positions hold a value
    dtype : type of the array, to which values and `fill_value` are cast; by default the one that holds both
    device : ``"cpu"`` returns NumPy arrays, ``"cuda"`` CuPy arrays; None: those of the vector's device

    Raises
    ------
    InvalidValue
        If an entry is missing and there is no `fill_value`.
    DomainMismatch, OutOfMemory

    Notes
    -----
    Cost O(size).

    Examples
    --------
    >>> Vector.from_coo([0, 2], [5, 6], size=4).to_dense(fill_value=-1).tolist()
    [5, -1, 6, -1]
    """
    store, fill = whole_of(self.store), scalar(fill_value)
    if fill is None and store.nvals != store.size:
        raise InvalidType(f"to_dense: {store.size - store.nvals} of {store.size} are missing; give fill_value=")
    chosen = dense_dtype(store.dtype, fill, dtype)
    require("to_dense", store.device, store.size * chosen.itemsize)
    with allocating("to_dense", store.device):
        if store.format == "full":
            return exported(shown(as_type(dense_values(store), chosen, copy=store.iso is None)), device)
        entries = index_list(store)
        xp = array_module(store.device)
        array = xp.full(store.size, cast_scalar(0 if fill is None else fill, chosen), dtype=chosen)
        values = as_type(dense_values(entries), chosen, copy=False)
        assign_at(array, entries.indices, values)
    return exported(shown(array), device)


def dlpack(self: Vector, **options: Any) -> Any:
    """Return the values as a one-dimensional DLPack capsule, without a copy.

    ``numpy.from_dlpack(v)``, ``cupy.from_dlpack(v)`` and ``torch.from_dlpack(v)`` call it.  The array shares the memory
    of this vector and must not be written to.

    Parameters
    ----------
    **options : as the protocol defines them (``stream``, ``max_version``, ``dl_device``, ``copy``)

    Raises
    ------
    BufferError
        Unless the format is ``"full"`` with a value for each position; `to_dense` has no such condition.

    Examples
    --------
    >>> v = Vector.from_dense([1.0, 2.0, 4.0], device="cpu")
    >>> np.from_dlpack(v).sum()
    np.float64(7.0)
    """
    store = self.store
    if store.format != "full" or store.values is None:
        raise BufferError(
            f"only a full vector with a value for each position shares its memory, this one is {self.format!r} with "
            f"{store.nvals} of {store.size}; use to_dense(fill_value=...)"
        )
    return store.values.__dlpack__(**options)


def dlpack_device(self: Vector) -> tuple[int, int]:
    """Return (device type, device number), as the DLPack protocol defines them."""
    if self.device == "cpu":
        return 1, 0
    return 2, int(array_module("cuda").cuda.Device().id)


def pickled(self: Vector) -> Any:
    """Return what `pickle` stores: the indices and values on the host."""
    entries = index_list(whole_of(self.store))
    values = entries.iso if entries.values is None else to_host(entries.values)
    return labeled(
        self,
        _restore,
        (
            type(self),
            to_host(entries.indices),
            values,
            pickled_type(entries.dtype),
            self.store.size,
            self.name,
        ),
    )


def _restore(cls: type[Any], indices: Any, values: Any, dtype: Any, size: int, name: str | None) -> Any:
    return cls.from_coo(indices, values, np.dtype(dtype), size=size, name=name)


def constructed(kind: str, dtype: Any, *named: str) -> np.dtype[Any]:
    """Return the type passed to a constructor; DomainMismatch with the right call for any other argument.

    A type of python-graphblas, which has NumPy's type as its attribute ``np_type``, is one.
    """
    if isinstance(dtype, dict) and dtype and all(isinstance(name, str) for name in dtype):  # the fields of a record
        return dtypes.lookup(dtype)
    if isinstance(dtype, (str, type, np.dtype)) or isinstance(getattr(dtype, "np_type", None), np.dtype):
        return dtypes.lookup(dtype)
    if is_scalar(dtype):
        raise DomainMismatch(
            f"{kind}: the type of the values comes first, {kind}(float, {', '.join(named)}); got {dtype!r} there"
        )
    if dtype is not None:
        how = _constructor(kind, dtype)
        raise DomainMismatch(f"{kind}: expected the type of the values first, got a {type(dtype).__name__}; use {how}")
    return dtypes.lookup(dtype)


def _constructor(kind: str, value: Any) -> str:
    """Return the call that makes an object of this kind of what was passed in place of a type."""
    from .migration_errors import constructor_of

    if hasattr(type(value), "store"):
        return ".dup() of it"
    how = constructor_of(value, kind)
    return (
        how
        if how and not how.endswith("from_dense")
        else f"{kind}.from_dense, or {kind}.from_coo for indices and values"
    )


def to_coo(
    self: Vector,
    dtype: Any = None,
    *,
    index_dtype: Any = np.int64,
    device: str | None = None,
    indices: bool = True,
    values: bool = True,
    sort: bool = True,
) -> tuple[Any, Any]:
    """(indices, values), ascending.

    Parameters
    ----------
    dtype : type of the values; None: unchanged
    indices, values : False: None in place of that array
    sort : accepted for programs of python-graphblas; the entries are ascending either way
    index_dtype : type of the indices.  None: as they are stored, int32 below 2**31 positions, without a copy;
        arithmetic on them, such as ``i * n + j``, then wraps at 2**31.
    device : ``"cpu"`` returns NumPy arrays, ``"cuda"`` CuPy arrays; None: those of the vector's device

    Raises
    ------
    InvalidValue
        If the type cannot hold the last position.
    DomainMismatch, OutOfMemory

    Notes
    -----
    Arrays of this vector's device, which it may share: NumPy arrays are read-only, CuPy arrays must not be written
    to.  Cost O(nvals) and 8 bytes an entry for int64 indices, with ``index_dtype=None`` O(1); O(size) for a bitmap,
    and O(nvals) for one value that all share.  Synchronizes on the GPU for a bitmap.

    Examples
    --------
    >>> indices, values = Vector.from_coo([3, 0], [5, 6]).to_coo()
    >>> indices.tolist(), values.tolist()
    ([0, 3], [6, 5])
    """
    entries = index_list(whole_of(self.store))
    places = exported_indices("to_coo", entries.indices, entries.size, index_dtype) if indices else None
    listed = exported_values("to_coo", entries, dtype, device) if values else None
    return None if places is None else exported(places, device), listed


def to_dict(self: Vector) -> dict[int, Any]:
    """{index: value} of all entries, as Python numbers.  Synchronizes on the GPU.

    Examples
    --------
    >>> Vector.from_coo([3, 0], [5, 6]).to_dict()
    {0: 6, 3: 5}
    """
    indices, values = self.to_coo(index_dtype=None)
    return dict(zip(to_host(indices).tolist(), to_host(values).tolist(), strict=True))
