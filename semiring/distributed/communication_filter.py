"""Sums that a product does not send, because the process that holds their position does not need them.

A product whose block has the outer positions in its columns computes sums for positions that other processes hold.  Not
needed are

    excluded   those that the mask of the product does not admit
    absorbed   in a closure, s with r (+) s = r for a sum r of that position that this process has sent before

Where entries of a closure are final on arrival every sum that was sent excludes its position, so a process sends at
most one for each position.  The holder of a segment also sends which of its positions are excluded, where that takes
fewer bytes than it is expected to save (`Excluded.update`).

Source: Lü, Tan, Chen, Sun, "Compression and Sieve: Reducing Communication in Parallel Breadth First Search on
Distributed Memory Systems", 2012 (positions that were sent before).
"""

from __future__ import annotations

import math
from typing import Any, Protocol, TypeVar

import numpy as np

from ..dtypes import BOOL
from ..engines import registry
from ..engines.requests.operands import Mask
from ..engines.requests.operations import Ewise, Keep
from ..formats import CSR, Bitmap, Full, IndexList, VectorStore, array_module, dense_values, with_values
from ..formats.bitmap import words_of_flags
from ..formats.vectors import Count, Uncounted
from ..operators import monoid as monoids
from ..operators.types import TypedMonoid
from ..ops.convert import index_list
from .accumulator import Collected
from .partition import union
from .vector_messages import chosen, position_bytes

__all__ = ["Excluded", "Improvements", "Sieve"]

S = TypeVar("S", CSR, VectorStore)

_TRUE = np.bool_(True)
_ANY = monoids.any[BOOL]


class Sieve(Protocol):
    """What drops sums before they are sent; kept from one product of a closure to the next."""

    def passed(self, t: VectorStore) -> VectorStore:
        """Return the sums that are to be sent."""


class Excluded:
    """Positions, of a vector or a matrix, for which no sum is needed.

    repeated: whether a position is excluded once a sum was sent for it.
    expected: how many positions of a vector may be excluded, nearly.
    """

    def __init__(self, engine: str, *, repeated: bool, expected: int = 0) -> None:
        self._engine, self._repeated, self._expected = engine, repeated, expected
        # The positions excluded so far; and those of the segment of this process that it has sent to the others.
        self._excluded: CSR | Collected | None = None
        self._sent: VectorStore | None = None

    @property
    def mask(self) -> Mask | None:
        """The mask that admits all other positions."""
        excluded = self._excluded
        if excluded is None:
            return None
        return Mask(excluded.store if isinstance(excluded, Collected) else excluded, True, True)

    def passed(self, t: S) -> S:
        """Return the sums at positions that are not excluded."""
        mask = self.mask
        if mask is not None:
            kept = registry.run(Keep(t, mask), self._engine)
            t = kept if t.iso is None else with_values(kept, t.dtype, None, t.iso)
        if self._repeated:
            self.exclude(t)
        return t

    def exclude(self, u: CSR | VectorStore) -> None:
        """Exclude the positions of the entries of a vector or a matrix as well."""
        made, known = _presence(u), self._excluded
        if isinstance(known, Collected):
            known.add(made)
        elif isinstance(u, CSR):
            self._excluded = made if known is None else union(known, made, _ANY)
        else:
            self._excluded = Collected(made, _ANY, self._engine, self._expected)

    def update(self, excluded: VectorStore, saved: float) -> VectorStore | None:
        """Return the excluded positions of the segment of this process to send; None where that does not pay.

        They are sent if their bytes are fewer than those that they save, `saved` for each on average.  Positions that
        were sent before are left out.
        """
        count = excluded.nvals - (0 if self._sent is None else self._sent.nvals)
        cost = position_bytes(chosen(excluded.size, count, 0, compress=False), excluded.size, count)
        if not count or cost >= saved * count:
            return None
        made = excluded
        if self._sent is not None:
            made = registry.run(Keep(excluded, Mask(self._sent, True, True)), self._engine)
        # Those that are excluded later may be added in place.
        self._sent = _copied(excluded)
        found: VectorStore = _presence(made)
        return found


class Improvements:
    """Sums by an idempotent monoid, and which of them change what is known.  Memory of a value for each position."""

    def __init__(self, add: TypedMonoid, engine: str, size: int, device: str) -> None:
        self._add, self._engine, self._size = add, engine, size
        xp = array_module(device)
        self._present, self._sums = xp.zeros(size, BOOL), xp.zeros(size, add.z)

    @property
    def store(self) -> VectorStore:
        """The sums so far."""
        words = words_of_flags(self._present)
        return Bitmap(self._size, self._add.z, words, self._sums, None, Uncounted(words))

    def passed(self, t: VectorStore) -> VectorStore:
        """Add sums; return those at new positions, and those that change.  NaN equals NaN.  Cost O(nvals)."""
        if not t.nvals:
            return t
        u: Any = index_list(t)
        at, new = u.indices, dense_values(u)
        seen, old = self._present[at], self._sums[at]
        pair = Ewise(Full(u.nvals, u.dtype, old), Full(u.nvals, u.dtype, new), self._add.op, "intersect")
        joined = dense_values(registry.run(pair, self._engine))
        absorbed = seen & ((joined == old) | ((joined != joined) & (old != old)))
        made = array_module(u.device).where(seen, joined, new)
        kept = array_module(u.device).flatnonzero(~absorbed)
        if kept.size < u.nvals:
            at, made = at[kept], made[kept]
        self._sums[at] = made
        self._present[at] = True
        return IndexList(u.size, u.dtype, at, made)


def saved_bytes(itemsize: int, density: float, degree: float) -> float:
    """Return the bytes that a process sends for a position on average, if its holder sends no exclusions.

    A value, with the probability that one of the entries of a column, `degree` of them on average, is in a row of the
    frontier, which has this share of the rows.
    """
    return itemsize * -math.expm1(-density * degree)


def everything(size: int, device: str) -> Full:
    """Return a vector that has an entry at each position."""
    return Full(size, BOOL, None, _TRUE, device)


def _presence(u: Any) -> Any:
    """Return which entries a vector or a matrix has."""
    return with_values(u, BOOL, None, _TRUE)


def _copied(u: VectorStore) -> VectorStore:
    """Return the presence of a vector, which nobody changes."""
    made: VectorStore = _presence(u)
    return Bitmap(u.size, BOOL, u.words.copy(), None, _TRUE, Count(u.nvals)) if isinstance(u, Bitmap) else made
