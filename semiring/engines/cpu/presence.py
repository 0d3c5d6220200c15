"""Presence bits in NumPy: 32 entries a word, so that a pass over all of them is cheap.

These passes read a thirty-second of the bytes of values, and NumPy runs them at memory bandwidth; compiled kernels
would not repay their compilation.  The exceptions are the bits of a short index list, and the indices of few words of
bits: NumPy needs several calls for them, and two kernels serve all operations.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ...formats import Bitmap, Count, Full, IndexList, VectorStore, index_dtype, word_count
from ...memory.allocation import require
from ..requests.operands import Mask, simplified
from .bits import list_bits
from .compile import kernel
from .index_rank import is_wide
from .operands import kernel_array
from .threads import parts_for, run
from .types import position

Words = np.ndarray[Any, Any]

# Below one entry in this many, bits are set and found entry by entry instead of word by word.
_SPARSE = 64
# Up to this many words, Python counts bits faster than two NumPy calls do (reasoned: it copies 512 bytes).
_FEW_WORDS = 128
# Index lists of up to this length, and as many words, are converted by one kernel, on one thread and without checks for
# an abort.
_SHORT = 1 << 15


def empty_slots(operation: str, size: int, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """Return uninitialized values for `size` indices; OutOfMemory where they do not fit."""
    if size > _SHORT:
        require(operation, "cpu", size * dtype.itemsize)
    return np.empty(size, dtype)


def no_bits(size: int) -> Words:
    """Return the bits of no entry."""
    return np.zeros((size + 31) >> 5, np.uint32)


def all_bits(size: int) -> Words:
    """Return the bits of all entries."""
    words = np.empty(word_count(size), np.uint32)
    words.fill(0xFFFFFFFF)
    return trimmed(words, size)


def expanded(words: Words | None, size: int) -> Words:
    """Return the bits, also where all are set: one type of presence needs fewer compiled kernels.

    Callers must not write to them.
    """
    if words is not None:
        return words
    return all_bits(size) if size > 32 * _FEW_WORDS else _all_of_few(size)


@functools.lru_cache(maxsize=256)
def _all_of_few(size: int) -> Words:
    """Return the bits of all entries of a short vector; shared, so nobody writes to them."""
    return all_bits(size)


def trimmed(words: Words, size: int) -> Words:
    """Clear the bits past `size`; return the same array."""
    if size & 31:
        words[-1] &= np.uint32((1 << (size & 31)) - 1)
    return words


def complement(words: Words, size: int) -> Words:
    """Return the bits of the absent entries."""
    return trimmed(~words, size)


def count_bits(words: Words) -> int:
    """Return the number of entries."""
    if words.size <= _FEW_WORDS:
        return int.from_bytes(words.tobytes(), "little").bit_count()
    return int(np.bitwise_count(words).sum(dtype=np.int64))


def from_flags(flags: np.ndarray[Any, Any]) -> Words:
    """Return bits from one boolean an entry."""
    words = no_bits(flags.size)
    packed = np.packbits(flags, bitorder="little")
    words.view(np.uint8)[: packed.size] = packed
    return words


def from_indices(indices: np.ndarray[Any, Any], size: int) -> Words:
    """Return bits from ascending indices."""
    if indices.size == 1:  # the source of a search: avoids eight NumPy calls on an array of one
        words, i = no_bits(size), int(indices[0])
        words[i >> 5] = 1 << (i & 31)
        return words
    if indices.size <= _SHORT:
        words = no_bits(size)
        _set_bits(kernel_array(indices), words)
        return words
    if indices.size * _SPARSE < size:
        words = no_bits(size)
        word = indices >> 5
        first = np.flatnonzero(np.concatenate(([True], word[1:] != word[:-1])))
        bits = np.uint32(1) << (indices & 31).astype(np.uint32)
        words[word[first]] = np.bitwise_or.reduceat(bits, first)
        return words
    require("convert", "cpu", size)
    flags = np.zeros(size, np.bool_)
    flags[indices] = True
    return from_flags(flags)


@kernel
def _set_bits(indices, words):
    for p in range(indices.size):
        i = position(indices, p)
        words[i >> 5] |= np.uint32(1) << np.uint32(i & 31)


def to_indices(words: Words, size: int) -> np.ndarray[Any, Any]:
    """Return the indices of the entries, ascending."""
    if words.size <= _SHORT:
        indices = np.empty(count_bits(words), index_dtype(size))
        _list_bits(words, indices)
        return indices
    parts = parts_for(words.size)
    bounds = np.arange(parts + 1) * words.size // parts
    starts = np.zeros(parts + 1, np.int64)
    np.cumsum(np.add.reduceat(np.bitwise_count(words), bounds[:-1], dtype=np.int64), out=starts[1:])
    indices = np.empty(int(starts[-1]), index_dtype(size))
    run(_list_part, parts, words, bounds, starts, indices)
    return indices


@kernel
def _list_part(t, threads, control, words, bounds, starts, indices):
    list_bits(words, bounds[t], bounds[t + 1], indices, starts[t])


@kernel
def _list_bits(words, indices):
    list_bits(words, 0, words.size, indices, 0)


def to_flags(words: Words, size: int) -> np.ndarray[Any, Any]:
    """Return one boolean an entry."""
    flags: np.ndarray[Any, Any] = np.unpackbits(words.view(np.uint8), count=size, bitorder="little")
    return flags.view(np.bool_)


def probe(words: Words | None, indices: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return for each index whether it is present; with None all are."""
    if words is None:
        return np.ones(indices.size, np.bool_)
    bits = words[indices >> 5] >> (indices & 31).astype(np.uint32)
    return np.asarray(bits & np.uint32(1) != 0)


def presence(u: VectorStore) -> Words | None:
    """Return the bits of a vector, None for a full one.  Callers must not write to them."""
    if isinstance(u, Bitmap):
        return np.asarray(u.words)
    return from_indices(u.indices, u.size) if isinstance(u, IndexList) else None


def admitted(mask: Mask | None, size: int) -> Words | None:
    """Return the entries that a mask over a vector admits, None for all.  Callers must not write to them."""
    simple = simplified(mask)
    if isinstance(simple, bool):
        return None if simple else no_bits(size)
    store = simple.store
    assert isinstance(store, (IndexList, Bitmap, Full))
    if simple.structural:
        words = presence(store)
        if words is None:
            words = expanded(None, size)
    elif isinstance(store, IndexList):
        words = from_indices(store.indices[store.values != 0], size)
    else:
        words = from_flags(np.asarray(store.values != 0))
        if isinstance(store, Bitmap):
            words &= store.words
    return complement(words, size) if simple.complement else words


def admits(mask: Mask | None, indices: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return for each index whether the mask admits it; a sparse mask over a wide vector is not expanded to bits."""
    simple = simplified(mask)
    if isinstance(simple, bool):
        return np.full(indices.size, simple)
    store = simple.store
    assert isinstance(store, (IndexList, Bitmap, Full))
    # A bit costs about a thirty-second of an entry of a table.
    if not isinstance(store, IndexList) or not is_wide(store.size // 32, indices.size + store.nvals):
        return probe(admitted(simple, store.size), indices)
    listed = store.indices if simple.structural else store.indices[store.values != 0]
    rank = np.searchsorted(listed, indices)
    return np.asarray((np.append(listed, -1)[rank] == indices) != simple.complement)


def slots(u: VectorStore) -> tuple[Words | None, np.ndarray[Any, Any] | np.generic]:
    """Return bits and values of a vector as kernel arguments; values are one a slot, or the iso value."""
    words = None if isinstance(u, Full) else presence(u)
    if u.iso is not None:
        return words, u.iso
    assert u.values is not None
    if not isinstance(u, IndexList):
        return words, u.values if u.values.flags.carray and u.values.dtype.isnative else kernel_array(u.values)
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
    """Return a vector from bits and slots: full where all are present."""
    found = count_bits(words) if count is None else count
    made = Full(size, dtype, values, iso) if found == size else Bitmap(size, dtype, words, values, iso, Count(found))
    vars(made)["device"] = "cpu"  # what it would be derived as
    return made
