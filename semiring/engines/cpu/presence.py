"""Presence bits, by NumPy: 32 entries a word, so that even a pass over all of them is cheap.

These passes touch a thirty-second of what values would, and NumPy does them at the speed of memory; kernels that
would have to be compiled for them are not worth the wait.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...formats import Bitmap, Count, Full, IndexList, VectorStore, index_dtype, word_count
from ...memory.allocation import require
from ..operands import Mask
from .members import is_wide

Words = np.ndarray[Any, Any]

# Below one entry in so many, bits are set and found entry by entry instead of word by word.
_SPARSE = 64


def empty_slots(operation: str, size: int, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """A value for each of `size` indices, not set; OutOfMemory where so many do not fit."""
    require(operation, "cpu", size * dtype.itemsize)
    return np.empty(size, dtype)


def no_bits(size: int) -> Words:
    """No entry."""
    return np.zeros(word_count(size), np.uint32)


def all_bits(size: int) -> Words:
    """Every entry."""
    return trimmed(np.full(word_count(size), 0xFFFFFFFF, np.uint32), size)


def spelled(words: Words | None, size: int) -> Words:
    """The bits, also where all are set: with one type of presence there are fewer kernels to compile."""
    return all_bits(size) if words is None else words


def trimmed(words: Words, size: int) -> Words:
    """The same array, with the bits past `size` cleared."""
    if size & 31:
        words[-1] &= np.uint32((1 << (size & 31)) - 1)
    return words


def complement(words: Words, size: int) -> Words:
    """The entries that are not there."""
    return trimmed(~words, size)


def count_bits(words: Words) -> int:
    """The number of entries."""
    return int(np.bitwise_count(words).sum(dtype=np.int64))


def from_flags(flags: np.ndarray[Any, Any]) -> Words:
    """Bits from one boolean an entry."""
    words = no_bits(flags.size)
    packed = np.packbits(flags, bitorder="little")
    words.view(np.uint8)[: packed.size] = packed
    return words


def from_indices(indices: np.ndarray[Any, Any], size: int) -> Words:
    """Bits from ascending indices."""
    if indices.size == 1:  # a source: not worth eight passes over an array of one
        words, i = no_bits(size), int(indices[0])
        words[i >> 5] = 1 << (i & 31)
        return words
    if indices.size * _SPARSE < size:
        words = no_bits(size)
        if indices.size:
            place = indices >> 5
            first = np.flatnonzero(np.concatenate(([True], place[1:] != place[:-1])))
            bits = np.uint32(1) << (indices & 31).astype(np.uint32)
            words[place[first]] = np.bitwise_or.reduceat(bits, first)
        return words
    require("convert", "cpu", size)
    flags = np.zeros(size, np.bool_)
    flags[indices] = True
    return from_flags(flags)


def to_indices(words: Words, size: int) -> np.ndarray[Any, Any]:
    """The indices of the entries, ascending."""
    occupied = np.flatnonzero(words)
    dtype = index_dtype(size)
    if occupied.size * 2 > words.size:
        return np.flatnonzero(to_flags(words, size)).astype(dtype, copy=False)
    bits = np.unpackbits(words[occupied].view(np.uint8), bitorder="little").reshape(-1, 32)
    place, bit = np.nonzero(bits)
    return (occupied[place] * 32 + bit).astype(dtype, copy=False)


def to_flags(words: Words, size: int) -> np.ndarray[Any, Any]:
    """One boolean an entry."""
    flags: np.ndarray[Any, Any] = np.unpackbits(words.view(np.uint8), count=size, bitorder="little")
    return flags.view(np.bool_)


def probe(words: Words | None, indices: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """For each index whether it is there; with None all are."""
    if words is None:
        return np.ones(indices.size, np.bool_)
    bits = words[indices >> 5] >> (indices & 31).astype(np.uint32)
    return np.asarray(bits & np.uint32(1) != 0)


def presence(u: VectorStore) -> Words | None:
    """The bits of a vector, None for a full one.  Not to be written to."""
    if isinstance(u, Bitmap):
        return np.asarray(u.words)
    return from_indices(u.indices, u.size) if isinstance(u, IndexList) else None


def admitted(mask: Mask | None, size: int) -> Words | None:
    """The entries that a mask over a vector admits, None for all.  Not to be written to."""
    if mask is None:
        return None
    store = mask.store
    assert isinstance(store, (IndexList, Bitmap, Full))
    words: Words | None
    if mask.structural or (store.iso is not None and store.iso != 0):
        words = presence(store)
    elif store.iso is not None:
        words = no_bits(size)
    elif isinstance(store, IndexList):
        words = from_indices(store.indices[store.values != 0], size)
    else:
        words = from_flags(np.asarray(store.values != 0))
        if isinstance(store, Bitmap):
            words &= store.words
    if not mask.complement:
        return words
    return no_bits(size) if words is None else complement(words, size)


def admits(mask: Mask | None, indices: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """For each index whether the mask admits it; the bits of a sparse mask over a wide vector are never made."""
    if mask is None:
        return np.ones(indices.size, np.bool_)
    store = mask.store
    assert isinstance(store, (IndexList, Bitmap, Full))
    # A bit costs about a thirty-second of what the entry of a table does.
    if not isinstance(store, IndexList) or not is_wide(store.size // 32, indices.size + store.nvals):
        return probe(admitted(mask, store.size), indices)
    listed = store.indices
    if not mask.structural:
        nonzero = store.values != 0 if store.values is not None else np.full(listed.size, store.iso != 0)
        listed = listed[nonzero]
    place = np.searchsorted(listed, indices)
    return np.asarray((np.append(listed, -1)[place] == indices) != mask.complement)


def slots(u: VectorStore) -> tuple[Words | None, np.ndarray[Any, Any] | np.generic]:
    """Bits and values of a vector, where values are one a slot, or the iso value."""
    words = presence(u)
    if u.iso is not None:
        return words, u.iso
    assert u.values is not None
    if not isinstance(u, IndexList):
        return words, u.values
    require("convert", "cpu", u.size * u.dtype.itemsize)
    values = np.zeros(u.size, u.dtype)
    values[u.indices] = u.values
    return words, values


def from_slots(
    size: int,
    dtype: np.dtype[Any],
    words: Words,
    values: np.ndarray[Any, Any] | None,
    iso: np.generic | None,
    count: int | None = None,
) -> VectorStore:
    """A vector from bits and slots: full where all are there."""
    found = count_bits(words) if count is None else count
    if found == size:
        return Full(size, dtype, values, iso)
    return Bitmap(size, dtype, words, values, iso, Count(found))
