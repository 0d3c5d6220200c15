"""Arrays and values as kernels take them: few distinct types, so that few kernels are compiled."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...formats import CSR, IndexList, VectorStore

Array = np.ndarray[Any, Any]


class _Writable:
    """Presents a read-only array as a writable one: kernels never write operands, and numba types them apart."""

    def __init__(self, array: Array) -> None:
        self._array = array
        address, _ = array.__array_interface__["data"]
        self.__array_interface__ = {**array.__array_interface__, "data": (address, False)}


def plain(array: Array) -> Array:
    """The array as contiguous, aligned and of native byte order, in the eyes of numba also writable; rarely a copy."""
    if not (array.flags.c_contiguous and array.flags.aligned and array.dtype.isnative):
        return np.array(array, dtype=array.dtype.newbyteorder("="), order="C")
    return array if array.flags.writeable else np.asarray(_Writable(array))


def values_of(store: CSR | VectorStore, read: bool = True) -> Array | np.generic | None:
    """The values as a kernel argument: an array, the iso value, or None where nobody reads them."""
    if not read:
        return None
    return store.iso if store.values is None else plain(store.values)


def indices_of(u: VectorStore) -> Array | None:
    """The indices of an index list; None where slot p holds entry p."""
    return plain(u.indices) if isinstance(u, IndexList) else None


def bits_of(values: Array | None) -> Array | None:
    """Values as unsigned integers of their width: a kernel that only moves values needs no more than four types."""
    return None if values is None else plain(values).view(f"u{values.dtype.itemsize}")


def rows_of(a: CSR) -> tuple[Array, Array]:
    """Row offsets and columns."""
    return plain(a.indptr), plain(a.indices)
