"""Vector from and to arrays: pairs, dense, dictionaries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Self

import numpy as np

from . import dtypes
from .base import Sparse, device_for, scalar
from .engines.memory import allocating
from .exceptions import InvalidValue, OutputNotEmpty
from .formats import Full, array_module, dense_values, device_of
from .formats.arrays import to_device, to_host
from .formats.vectors import empty_vector
from .infix import Infix, is_scalar
from .ops import reshape
from .ops.apply import scalar_dtype
from .ops.build import build_vector
from .ops.check import extent
from .ops.convert import index_list


class VectorArrays(Infix):
    """The constructors and exports of `Vector`."""

    __slots__ = ()

    def __init__(
        self, dtype: Any = float, size: int = 0, *, name: str | None = None, device: str | None = None
    ) -> None:
        where = device_for(device=device)
        self._hold(empty_vector(extent("size", size), dtypes.lookup(dtype), where), None, name)

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
        values : as many values; or one for all, which is held once; or None, which means True
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
        indices = as_array(indices, np.int64)
        values = as_values(True if values is None else values)
        chosen = dtypes.lookup(values.dtype if dtype is None else dtype)
        if size is None:
            size = int(to_host(indices.max())) + 1 if indices.size else 0  # synchronises on the GPU
        return cls._new(build_vector(indices, values, extent("size", size), chosen, dup_op, where), name=name)

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
        """w(i) = values[i], except where it equals `missing_value`.

        Parameters
        ----------
        values : one-dimensional NumPy or CuPy array, or a list
        missing_value : what stands for no entry (NaN matches NaN); None: all are present
        dtype : type of the values; by default theirs

        Raises
        ------
        InvalidValue, DomainMismatch

        Notes
        -----
        Cost O(size); the values are copied.  With a `missing_value` it synchronises on the GPU.
        """
        where = device_for(values, device=device)
        array = as_array(values)
        if array.ndim != 1:
            raise InvalidValue(f"from_dense: expected one dimension, got shape {array.shape}")
        chosen = dtypes.lookup(array.dtype if dtype is None else dtype)
        if missing_value is None:
            array = to_device(array, where).astype(chosen, copy=True)
            return cls._new(Full(int(array.size), chosen, array, None, where), name=name)
        indices = array_module(device_of(array)).flatnonzero(differs(array, missing_value))
        return cls.from_coo(indices, array[indices], chosen, size=int(array.size), name=name, device=where)

    @classmethod
    def full(
        cls, value: Any, size: int, dtype: Any = None, *, name: str | None = None, device: str | None = None
    ) -> Self:
        """w(i) = value for every i; held as one value, whatever the size.

        Parameters
        ----------
        value : number or Scalar
        size : number of positions
        dtype : type of the value; by default its own

        Raises
        ------
        InvalidValue, EmptyObject, DomainMismatch
        """
        value = scalar(value)
        chosen = dtypes.lookup(np.asarray(value).dtype if dtype is None else dtype)
        return cls._new(reshape.full_vector(value, extent("size", size), chosen, device_for(device=device)), name=name)

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
        """Fill this empty vector: w(indices[p]) = values[p].

        Parameters
        ----------
        indices, values, dup_op : as `from_coo`

        Raises
        ------
        OutputNotEmpty
            If it has entries.
        DuplicateIndex, IndexOutOfBound, InvalidValue, DomainMismatch
        """
        if self.nvals:
            raise OutputNotEmpty(f"build: the Vector already has {self.nvals} entries; call .clear() first")
        made = build_vector(
            as_array(indices, np.int64), as_values(values), self.store.size, self.dtype, dup_op, self.device
        )
        self._become(made)
        return self

    # -- exports -----------------------------------------------------------------------------------------

    def to_coo(self) -> tuple[Any, Any]:
        """(indices, values), ascending.

        Arrays of this vector's device, which it may share: do not write to them.  Synchronises on the GPU where it
        is a bitmap.
        """
        entries = index_list(self.store)
        return entries.indices, dense_values(entries)

    def to_dense(self, fill_value: Any = None, dtype: Any = None) -> Any:
        """An array of `size` values, of this vector's device, and the caller's own.

        Parameters
        ----------
        fill_value : stands where nothing is stored; needed unless all positions hold a value
        dtype : type of the array; by default the one that holds both the values and `fill_value`

        Raises
        ------
        InvalidValue
            If an entry is missing and there is no `fill_value`.
        DomainMismatch, OutOfMemory
        """
        store, fill = self.store, scalar(fill_value)
        if fill is None and store.nvals != store.size:
            raise InvalidValue(f"to_dense: {store.size - store.nvals} of {store.size} are missing; give fill_value=")
        chosen = dense_dtype(store.dtype, fill, dtype)
        with allocating("to_dense", store.device):
            if store.format == "full":
                return dense_values(store).astype(chosen, copy=store.iso is None)
            entries = index_list(store)
            array = array_module(store.device).full(store.size, 0 if fill is None else fill, dtype=chosen)
            array[entries.indices] = dense_values(entries).astype(chosen)
        return array

    def to_dict(self) -> dict[int, Any]:
        """{index: value}.  Synchronises on the GPU."""
        indices, values = self.to_coo()
        return dict(zip(to_host(indices).tolist(), to_host(values).tolist(), strict=True))

    def __reduce__(self) -> Any:
        entries = index_list(self.store)
        values = entries.iso if entries.values is None else to_host(entries.values)
        return _restore, (type(self), to_host(entries.indices), values, self.dtype.str, self.store.size, self.name)


def _restore(cls: type[Any], indices: Any, values: Any, dtype: str, size: int, name: str | None) -> Any:
    return cls.from_coo(indices, values, np.dtype(dtype), size=size, name=name)


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


def dimensions(value: Any) -> int | None:
    """How many dimensions an array, or a list that stands for one, has; None for anything else."""
    if isinstance(value, (list, tuple)):
        return np.ndim(value)
    return value.ndim if hasattr(value, "ndim") and not isinstance(value, Sparse) else None


def dense_dtype(stored: np.dtype[Any], fill: Any, dtype: Any) -> np.dtype[Any]:
    """The type of a dense copy: as asked, else one that holds the values and what fills the gaps."""
    if dtype is not None:
        return dtypes.lookup(dtype)
    return stored if fill is None else dtypes.unify(stored, scalar_dtype(fill, stored))
