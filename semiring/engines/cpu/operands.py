"""Arrays and values as kernel arguments, of few distinct types, so that few kernels are compiled."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...dtypes import is_record
from ...formats import CSR, IndexList, Pattern, VectorStore, uncompressed_pattern

Array = np.ndarray[Any, Any]


class _Writable:
    """A writable view of a read-only array: kernels never write operands, and numba distinguishes the two types."""

    def __init__(self, array: Array) -> None:
        self._array = array
        address, _ = array.__array_interface__["data"]
        self.__array_interface__ = {**array.__array_interface__, "data": (address, False)}


def kernel_array(array: Array) -> Array:
    """Return the array as contiguous, aligned, native and, for numba, writable; rarely a copy."""
    flags = array.flags
    if flags.carray and array.dtype.isnative:  # contiguous, aligned and writable
        return array
    if not (flags.c_contiguous and flags.aligned and array.dtype.isnative):
        return np.array(array, dtype=array.dtype.newbyteorder("="), order="C")
    view = np.asarray(_Writable(array))
    return view.view(array.dtype) if is_record(array.dtype) else view  # NumPy names the bytes between fields


def values_of(store: CSR | VectorStore, read: bool = True) -> Array | np.generic | None:
    """Return the values as a kernel argument: an array, the iso value, or None where they are not read."""
    if not read:
        return None
    return store.iso if store.values is None else kernel_array(store.values)


def indices_of(u: VectorStore) -> Array | None:
    """Return the indices of an index list; None where slot p holds entry p."""
    return kernel_array(u.indices) if isinstance(u, IndexList) else None


def bits_of(values: Array | None) -> Array | None:
    """Return values as the integers of `bits_type`: a kernel that only moves values needs five types at most."""
    return None if values is None else kernel_array(values).view(bits_type(values.dtype))


def bits_type(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the type by which kernels move values of `dtype`: the unsigned integer of its width if there is one.

    Wider numbers are moved as they are, and records as so many bytes.
    """
    if dtype.itemsize in (1, 2, 4, 8):
        return np.dtype(f"u{dtype.itemsize}")
    return np.dtype([("bytes", "u1", (dtype.itemsize,))]) if is_record(dtype) else dtype


def matrix_of(a: CSR, read: bool = True) -> tuple[Array, Array, Array | np.generic | None]:
    """Return row offsets, columns and values, as one argument of a kernel or as three."""
    return *rows_of(a), values_of(a, read)


def rows_of(a: CSR) -> tuple[Array, Array]:
    """Return row offsets and columns."""
    pattern = a.pattern
    if type(pattern) is not Pattern:
        pattern = uncompressed_pattern(pattern)
    indptr, indices = pattern.indptr, pattern.indices
    if indptr.flags.carray and indices.flags.carray:  # Patterns have native indices
        return indptr, indices
    return kernel_array(indptr), kernel_array(indices)
