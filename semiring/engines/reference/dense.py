"""Conversion of stores to two dense arrays, values and presence, and back.

All definitions of this engine use such pairs: ``values[p]`` is meaningful only where ``present[p]``.  Vectors
have one axis, matrices two.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...formats import (
    CSR,
    Bitmap,
    Count,
    Full,
    IndexList,
    Pattern,
    Store,
    VectorStore,
    index_dtype,
    word_count,
)
from ..requests.operands import Index, Mask
from ..shared.expression_numpy import cast

Dense = tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]


def densify(store: Store) -> Dense:
    """Return (values, present) of a store; absent values are 0, so that results are deterministic."""
    if isinstance(store, CSR):
        values = np.zeros(store.shape, store.dtype)
        present = np.zeros(store.shape, np.bool_)
        rows = np.repeat(np.arange(store.nrows), np.diff(store.indptr))
        values[rows, store.indices] = store.iso if store.values is None else store.values
        present[rows, store.indices] = True
        return values, present
    return _densify_vector(store)


def _densify_vector(store: VectorStore) -> Dense:
    values = np.zeros(store.size, store.dtype)
    present = np.zeros(store.size, np.bool_)
    if isinstance(store, IndexList):
        values[store.indices] = store.iso if store.values is None else store.values
        present[store.indices] = True
    else:
        present[:] = True if isinstance(store, Full) else unpack(store.words, store.size)
        slots = np.full(store.size, store.iso, store.dtype) if store.values is None else store.values
        values[present] = slots[present]
    return values, present


def sparsify(values: np.ndarray[Any, Any], present: np.ndarray[Any, Any], dtype: np.dtype[Any]) -> Any:
    """Return the store of a dense pair, cast to `dtype`: an index list for one axis, CSR for two."""
    kept = cast(values[present], dtype)
    if values.ndim == 1:
        indices = np.flatnonzero(present).astype(index_dtype(values.size))
        return IndexList(values.size, dtype, indices, kept)
    nrows, ncols = values.shape
    indptr = np.concatenate([[0], np.cumsum(present.sum(axis=1))])
    columns = np.nonzero(present)[1]
    pattern = Pattern(nrows, ncols, indptr.astype(index_dtype(columns.size)), columns.astype(index_dtype(ncols)))
    return CSR(pattern, dtype, kept)


def convert(u: VectorStore, to: str) -> VectorStore:
    """Return the same vector as an index list, a bitmap, or full; in the last case every entry must be present."""
    values, present = densify(u)
    if to == "index":
        listed: IndexList = sparsify(values, present, u.dtype)
        return listed
    if to == "bitmap":
        return Bitmap(u.size, u.dtype, pack(present), values, None, Count(int(present.sum())))
    assert present.all(), "a vector is full only where every entry is present"
    return Full(u.size, u.dtype, values)


def unpack(words: np.ndarray[Any, Any], size: int) -> np.ndarray[Any, Any]:
    """Return the presence of each index: bit ``p % 32`` of word ``p // 32``."""
    p = np.arange(size)
    bits: np.ndarray[Any, Any] = (words[p // 32] >> (p % 32).astype(np.uint32)) & np.uint32(1) != 0
    return bits


def pack(present: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the words of presence bits; bits past the end are 0."""
    words = np.zeros(word_count(present.size), np.uint32)
    for p in np.flatnonzero(present):
        words[p // 32] |= np.uint32(1) << np.uint32(p % 32)
    return words


def admitted(mask: Mask) -> np.ndarray[Any, Any]:
    """Return where the mask admits a result, as a dense array of bool."""
    values, present = densify(mask.store)
    listed: np.ndarray[Any, Any] = present if mask.structural else present & (values != 0)
    return ~listed if mask.complement else listed


def positions(index: Index) -> np.ndarray[Any, Any]:
    """Return the positions of an index set, in order."""
    if index.array is not None:
        return np.asarray(index.array, np.int64)
    return index.start + index.step * np.arange(index.count, dtype=np.int64)


def coordinates(shape: tuple[int, ...]) -> Dense:
    """Return (i, j) of every slot; a vector is a column, so its j is 0."""
    if len(shape) == 1:
        return np.arange(shape[0], dtype=np.int64), np.zeros(shape[0], np.int64)
    i, j = np.indices(shape, dtype=np.int64)
    return i, j
