"""Values of a store: replaced on the same structure, and as a dense array."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from ..memory.arrays import Array, array_module
from .csr import CSR
from .vectors import Bitmap, Full, IndexList, VectorStore

S = TypeVar("S", CSR, IndexList, Bitmap, Full, VectorStore, CSR | VectorStore)


def with_values(store: S, dtype: np.dtype[Any], values: Array | None, iso: np.generic | None) -> S:
    """Return `store` with `values` (or one `iso` value) of `dtype` instead of its own; the structure is shared."""
    made: S = store.with_values(dtype, values, iso)
    return made


def dense_values(store: CSR | VectorStore) -> Array:
    """Return the values as an array, one for each slot of the store, also where it is iso-valued."""
    if store.values is not None:
        return store.values
    slots = (
        store.pattern.slots if isinstance(store, CSR) else store.nvals if isinstance(store, IndexList) else store.size
    )
    return array_module(store.device).full(slots, store.iso, dtype=store.dtype)
