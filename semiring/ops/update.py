"""Writes that change few entries, in the arrays of the store:  C<M> accum= T  at a cost of those entries.

For vectors, and for matrices that have a value for each position: bitmaps and those without missing entries.

A store is immutable for everyone who holds it.  While an object carries out a write to itself it exchanges its store
for a `Lease`; the store may be updated in place if it and its arrays then have no other holder: no copy, mask, pending
operation or exported array.  Everything else makes a new store, as `ops.write` defines it, with the same entries.

A reader in another thread obtains the store from the lease.  Then it is held twice, so that the write makes a new one.
"""

from __future__ import annotations

import _thread
import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from ..engines import registry
from ..engines.requests.operands import Mask, simplified
from ..engines.requests.operations import UpdateMatrix, UpdateVector
from ..engines.rows.bits import with_bits
from ..engines.shared.iso_results import POSITIONS
from ..exceptions import OutOfMemory
from ..formats import (
    CSR,
    Bitmap,
    BitmapPattern,
    Full,
    FullPattern,
    IndexList,
    Pattern,
    VectorStore,
    dense_values,
)
from ..formats.bitmap import prefers_bitmap
from ..memory.allocation import require
from ..memory.arrays import copied
from ..operators.types import TypedBinary

# What `sys.getrefcount` returns for an object that one attribute holds: it depends on how the interpreter passes it.
_ONE_HOLDER = (lambda holder: sys.getrefcount(holder.held))(SimpleNamespace(held=object()))
# One entry in so many: the share of the entries up to which a write is an update.
_FEW = 8
# The most positions of a matrix that becomes a bitmap because few entries are accumulated into it: the values of
# positions without an entry then occupy at most some hundred megabytes.
_MOST_SLOTS = 1 << 24


class Lease:
    """The store of an object during a write to it, in the place of the object's logged element writes.

    base: the store.  `_lock` is held while the store is handed out, and while a kernel updates it.
    """

    __slots__ = ("_lock", "_shared", "base")

    def __init__(self, base: Any) -> None:
        self.base = base
        self._shared = False
        self._lock = _thread.RLock()

    def check_holders(self) -> None:
        """Count the holders of the store; callers hold no reference to it but this lease."""
        self._shared = sys.getrefcount(self.base) > _ONE_HOLDER

    def store(self) -> Any:
        """Return the store to a reader, after which it is not updated in place."""
        with self._lock:
            self._shared = True
            return self.base

    def updated(self, update: Callable[[], Any]) -> Any:
        """Return the store after an update in place, or None, without a call, if it has other holders."""
        with self._lock:
            if self._shared or not _is_only_holder(self.base):
                return None
            self.base = update()
            return self.base


def may_lease(store: Any) -> bool:
    """Return whether a store has an array of values for every position, in memory of its own."""
    slots = store.pattern.by_position if isinstance(store, CSR) else isinstance(store, (Bitmap, Full))
    return slots and store.values is not None and store.values.base is None


def _is_only_holder(store: Any) -> bool:
    """Return whether the arrays of a store are held by the store alone."""
    if sys.getrefcount(store.values) > _ONE_HOLDER or not may_lease(store):
        return False
    if not getattr(store.values.flags, "writeable", True):  # CuPy's arrays have no such flag
        return False
    if isinstance(store, Full) or (isinstance(store, CSR) and not isinstance(store.pattern, BitmapPattern)):
        return True
    if isinstance(store, CSR):
        if sys.getrefcount(store.pattern) > _ONE_HOLDER:
            return False
        store = store.pattern
    return sys.getrefcount(store.words) <= _ONE_HOLDER and store.words.base is None


def updated(
    lease: Lease | None, c: Any, t: Any, mask: Mask | None, accum: TypedBinary | None, engine: str, *, masked: bool
) -> Any:
    """Return the store of  C<M> accum= T  made in the arrays of C, or None where that is not possible or not cheap.

    accum: typed.  masked: T has no entry outside the mask.
    """
    if isinstance(c, CSR):
        if not registry.implemented(UpdateMatrix, engine) or not _adds_few(c, t, mask, accum, masked=masked):
            return None
        if lease is not None and lease.base is c and may_lease(c):
            in_place = UpdateMatrix(c, t, accum)
            update = registry.find(in_place, engine)
            made = None if update is None else lease.updated(lambda: registry.call(update, in_place))
            if made is not None:
                return made
        own = _with_own_slots(c, t, engine)
        return None if own is None else registry.run(UpdateMatrix(own, t, accum), engine)
    if lease is None or lease.base is not c or not may_lease(c):
        return None
    request = _request(c, t, mask, accum, masked=masked)
    if request is None:
        return None
    row = registry.find(request, engine)
    return None if row is None else lease.updated(lambda: registry.call(row, request))


def _adds_few(c: CSR, t: CSR, mask: Mask | None, accum: TypedBinary | None, *, masked: bool) -> bool:
    """Return whether the write changes C at the entries of T alone, which are few rows' entries in memory."""
    if accum is not None:
        if not (mask is None or masked) or accum.uses & POSITIONS:
            return False
    # All entries that the mask admits have one in T, so none is deleted.
    elif (
        mask is None or not mask.structural or mask.complement or getattr(mask.store, "pattern", None) is not t.pattern
    ):
        return False
    if not isinstance(t.pattern, Pattern) or t.placement != "device":
        return False
    return t.nvals * _FEW <= c.nrows * c.ncols


def _with_own_slots(c: CSR, t: CSR, engine: str) -> CSR | None:
    """Return a copy of C that may be updated in place, with a slot for each position; None if that costs too much.

    Rows become a bitmap matrix if they have the entries of one, and many for each of T: later writes of few entries are
    then updates in place, where each of them would move all entries.
    """
    slots, pattern = c.nrows * c.ncols, c.pattern
    if c.placement != "device" or t.nvals * _FEW > c.nvals:
        return None
    try:
        if isinstance(pattern, (BitmapPattern, FullPattern)):
            require("update", c.device, slots * c.dtype.itemsize)
            if isinstance(pattern, BitmapPattern):
                pattern = BitmapPattern(c.nrows, c.ncols, copied(pattern.words), pattern.count)
            elif not pattern.every_row:
                return None
            return CSR(pattern, c.dtype, copied(dense_values(c)) if c.iso is None else dense_values(c))
        if not isinstance(pattern, Pattern) or slots > _MOST_SLOTS or not prefers_bitmap(c.nvals, slots):
            return None
        return with_bits(CSR(pattern, c.dtype, dense_values(c)), engine, "update")
    except OutOfMemory:
        return None


def _request(
    c: Bitmap | Full, t: VectorStore, mask: Mask | None, accum: TypedBinary | None, *, masked: bool
) -> UpdateVector | None:
    """Return the request, or None if no operand lists the few positions that may change."""
    if isinstance(c, Bitmap) and not c.count.known and not hasattr(c.count.source, "data"):
        return None  # the number of entries is not in an array of the device
    if accum is not None:
        if masked:
            mask = None
        if _lists_few(t):
            return UpdateVector(c, t, t, mask, accum)
        if mask is not None and not mask.complement and not isinstance(mask.store, CSR) and _lists_few(mask.store):
            return UpdateVector(c, t, mask.store, None if mask.structural else mask, accum)
        return None
    simple = simplified(mask)
    if isinstance(simple, bool) or simple.complement or isinstance(simple.store, CSR) or not _lists_few(simple.store):
        return None
    if isinstance(c, Full) and not _covers(t, simple):
        return None  # it might not remain full
    return UpdateVector(c, t, simple.store, None if simple.structural else simple, None)


def _lists_few(u: Any) -> bool:
    """Return whether a vector lists or marks its entries, and they are known to be few."""
    known = isinstance(u, IndexList) or (isinstance(u, Bitmap) and u.count.known)
    return known and u.nvals * _FEW <= u.size


def _covers(t: VectorStore, mask: Mask) -> bool:
    """Return whether T has an entry wherever the mask admits one, as far as that is known."""
    store: Any = mask.store
    if isinstance(t, IndexList):
        return isinstance(store, IndexList) and t.indices is store.indices
    if isinstance(t, Bitmap):
        return isinstance(store, Bitmap) and t.words is store.words
    return True
