"""Entries that are collected step by step: those of a step are added in place where they are few.

A union of all that was found with the few entries of a step costs a pass over all, and a search along a path has a
million steps.  After the first addition the arrays belong to the collection, which is why they may change
(docs/decisions/0033).  Who reads them as a mask, or has been sent their bits, may find entries of later steps: those
are in the closure too, so nothing that they keep out is needed.
"""

from __future__ import annotations

from typing import cast

import numpy as np

from ..engines import registry
from ..engines.requests.operations import UpdateVector
from ..engines.rows.slices import same_iso
from ..formats import Bitmap, Count, Full, IndexList, VectorStore, array_module, dense_values, with_values, word_count
from ..operators.types import TypedMonoid
from .partition import first_of, union

__all__ = ["Collected", "has_slots"]

# A vector has slots for so many positions, and for so many more for each entry that it may get.
_SMALL, _SLOTS = 1 << 20, 16


def has_slots(size: int, expected: int) -> bool:
    """Return whether a vector that may get so many entries, nearly, has a slot for each position."""
    return size <= _SMALL + _SLOTS * expected


class Collected:
    """A vector to which entries are added; where both have one, an idempotent monoid combines them.

    Of `any` the first one stays.

    expected: how many entries it may get, nearly (`has_slots`).
    """

    def __init__(self, found: VectorStore, add: TypedMonoid, engine: str, expected: int) -> None:
        self._add, self._engine = add, engine
        self._slots = has_slots(found.size, expected) and registry.implemented(UpdateVector, engine)
        self._store, self._owned = found, False
        # The value that all entries share, also where they have slots.
        self._iso = found.iso

    @property
    def store(self) -> VectorStore:
        """The entries so far.  Later additions may change its arrays."""
        u = self._store
        return u if self._iso is None or u.iso is not None else with_values(u, u.dtype, None, self._iso)

    def add(self, t: VectorStore) -> None:
        """Add entries.  Cost O(entries of t) where they are listed; a pass over the bits where they are a bitmap."""
        if isinstance(t, IndexList) and not t.nvals:
            return
        self._iso = None if self._iso is None or t.iso is None else same_iso([self._iso, t.iso])
        if isinstance(t, Full) or not self._slots:
            self._store = union(self.store, t, self._add)
        else:
            self._store = self._updated(self._with_slots(), t)
        self._owned = True

    def _updated(self, u: Bitmap | Full, t: VectorStore) -> VectorStore:
        accum = first_of(t.dtype) if self._add.is_any else self._add.op
        return cast(VectorStore, registry.run(UpdateVector(u, t, t, None, accum), self._engine))

    def _with_slots(self) -> Bitmap | Full:
        """Return the entries in arrays of the collection with a slot for each position."""
        u = self._store
        if self._owned and isinstance(u, (Bitmap, Full)) and u.values is not None:
            return u
        xp = array_module(u.device)
        if isinstance(u, IndexList):
            words, values = xp.zeros(word_count(u.size), np.uint32), xp.empty(u.size, u.dtype)
            return cast(Bitmap, self._updated(Bitmap(u.size, u.dtype, words, values, None, Count(0)), u))
        values = dense_values(u) if u.values is None else u.values.copy()
        if isinstance(u, Full):
            return Full(u.size, u.dtype, values)
        assert isinstance(u, Bitmap)
        return Bitmap(u.size, u.dtype, u.words.copy(), values, None, u.count)
