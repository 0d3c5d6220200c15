"""Conversion of vectors between formats."""

from __future__ import annotations

import numpy as np

from ...exceptions import InvalidValue
from ...formats import Bitmap, Count, Full, IndexList, VectorStore, index_dtype
from ...memory.allocation import require
from ..registry import implements
from ..requests.operations import Convert
from . import presence


@implements(Convert, engine="cpu")
def convert(q: Convert) -> VectorStore:
    """t(i) = u(i), stored as an index list, a bitmap, or full."""
    return as_format(q.u, q.to)


def as_format(u: VectorStore, to: str) -> VectorStore:
    """Return `u` in the format `to`; `u` itself where it has that format."""
    if u.format == to:
        return u
    if to == "index":
        return as_index_list(u)
    if to == "full" and u.nvals != u.size:
        raise InvalidValue(f"only a vector with all {u.size} entries can be stored as full; this one has {u.nvals}")
    words, values = presence.slots(u)
    # Not the writable view of a read-only array that kernels read.
    array = np.asarray(values) if isinstance(u, IndexList) and u.values is not None else u.values
    if to == "full":
        return Full(u.size, u.dtype, array, u.iso)
    bits = presence.all_bits(u.size) if words is None else words
    return Bitmap(u.size, u.dtype, bits, array, u.iso, Count(u.nvals))


def as_index_list(u: VectorStore) -> IndexList:
    """Return `u` as an index list."""
    if isinstance(u, IndexList):
        return u
    if isinstance(u, Full):
        require("convert", "cpu", u.size * index_dtype(u.size).itemsize)
        indices = np.arange(u.size, dtype=index_dtype(u.size))
        return IndexList(u.size, u.dtype, indices, u.values, u.iso)
    indices = presence.to_indices(u.words, u.size)
    return IndexList(u.size, u.dtype, indices, None if u.values is None else u.values[indices], u.iso)
