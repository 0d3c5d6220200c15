"""Values of a store: replaced on the same structure, and as a dense array."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from ..exceptions import NotSupported
from ..memory.arrays import Array, array_module
from .csr import CSR
from .parts import PartValues, PartVector
from .vectors import Bitmap, Full, IndexList, SingleEntry, VectorStore

S = TypeVar("S", CSR, IndexList, Bitmap, Full, VectorStore, CSR | VectorStore)


def with_values(store: S, dtype: np.dtype[Any], values: Array | None, iso: np.generic | None) -> S:
    """Return `store` with `values` (or one `iso` value) of `dtype` instead of its own; the structure is shared."""
    if isinstance(store, CSR):
        return CSR(store.pattern, dtype, values, iso)
    if isinstance(store, PartVector):
        own = (None, iso) if iso is not None else (values.array, values.iso) if isinstance(values, PartValues) else None
        if own is None:
            raise NotSupported("the values of a vector on a grid of processes are replaced by operations alone")
        return PartVector(store.grid, store.size, dtype, with_values(store.part, dtype, *own), iso)
    if isinstance(store, SingleEntry) and iso is not None:
        return SingleEntry(store.size, dtype, store.index, iso, store.device)
    if isinstance(store, IndexList):
        return IndexList(store.size, dtype, store.indices, values, iso)
    if isinstance(store, Bitmap):
        return Bitmap(store.size, dtype, store.words, values, iso, store.count)
    return Full(store.size, dtype, values, iso, store.device)


def dense_values(store: CSR | VectorStore) -> Array:
    """Return the values as an array, one for each slot of the store, also where it is iso-valued."""
    if store.values is not None:
        return store.values
    slots = (
        store.pattern.slots if isinstance(store, CSR) else store.nvals if isinstance(store, IndexList) else store.size
    )
    return array_module(store.device).full(slots, store.iso, dtype=store.dtype)
