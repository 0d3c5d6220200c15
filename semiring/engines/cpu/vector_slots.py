"""Alignment of vectors: the same slot denotes the same index in each of them.

Few entries are aligned in compact slots, one for each index that occurs in any of the lists; else slot p is index p.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...formats import IndexList, VectorStore, index_dtype
from ..requests.operands import Mask
from . import presence
from .operands import Array, kernel_array
from .presence import Words

# Compact slots are faster below one entry of both lists in this many indices.
_SPARSE = 16


class Slots(NamedTuple):
    """indices: the index of each slot, ascending, or None where slot p is index p; size: the number of slots."""

    indices: Array | None
    size: int

    def operand(self, u: VectorStore) -> tuple[Words | None, Any]:
        """Return presence bits (None: all) and values (array or iso) of a vector in these slots."""
        if self.indices is None:
            return presence.slots(u)
        if not isinstance(u, IndexList):
            words = presence.from_flags(presence.probe(presence.presence(u), self.indices))
            return words, u.iso if u.values is None else u.values[self.indices]
        flags = np.zeros(self.size, np.bool_)
        slot = np.asarray(np.searchsorted(self.indices, u.indices))
        held: Array = np.asarray(slot < self.size)
        held[held] = self.indices[slot[held]] == u.indices[held]
        flags[slot[held]] = True
        if u.values is None:
            return presence.from_flags(flags), u.iso
        values = np.zeros(self.size, u.dtype)
        values[slot[held]] = u.values[held]
        return presence.from_flags(flags), values

    def admitted(self, mask: Mask | None, size: int) -> Words | None:
        """Return the slots that a mask over all `size` indices admits, as bits; None for all."""
        if self.indices is None or mask is None:
            return presence.admitted(mask, size)
        return presence.from_flags(presence.admits(mask, self.indices))

    def store(
        self, size: int, dtype: np.dtype[Any], words: Words, values: Array | None, iso: np.generic | None, count: int
    ) -> VectorStore:
        """Return the vector of `size` with the entries of these slots."""
        if self.indices is None:
            return presence.from_slots(size, dtype, words, values, iso, count)
        if count == self.size:
            return IndexList(size, dtype, self.indices, values, iso)
        held = presence.to_indices(words, self.size)
        return IndexList(size, dtype, self.indices[held], None if values is None else values[held], iso)


def few(a: VectorStore, b: VectorStore) -> tuple[IndexList, IndexList] | None:
    """Return two index lists of so few entries that compact slots are faster; None for any others."""
    if isinstance(a, IndexList) and isinstance(b, IndexList) and (a.nvals + b.nvals) * _SPARSE < a.size:
        return a, b
    return None


def union(a: VectorStore, b: VectorStore) -> Slots:
    """Return slots for every index that occurs in a or in b."""
    lists = few(a, b)
    if lists is not None:
        indices = np.union1d(lists[0].indices, lists[1].indices).astype(index_dtype(a.size), copy=False)
        return Slots(indices, indices.size)
    return Slots(None, a.size)


def intersection(a: VectorStore, b: VectorStore) -> Slots:
    """Return slots for every index that may occur in both."""
    lists = [u for u in (a, b) if isinstance(u, IndexList) and u.nvals * _SPARSE < u.size]
    if not lists:
        return Slots(None, a.size)
    shortest = min(lists, key=lambda u: u.nvals)
    return Slots(kernel_array(shortest.indices), shortest.nvals)
