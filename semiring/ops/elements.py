"""Writes to single elements, collected and applied together:  C(i, j) = x,  C(i, j) accum= x,  delete C(i, j).

One write into a store costs a copy of it, so an object logs writes to single elements in `Elements`, and applies them
when its store is next read.  The result is that of the writes one after another, each as `ops.assign` defines it.

Steps of the application, for k logged positions:
1. The accumulators of a position whose stored value is not known yet are evaluated on the stored values, which are
   read together.
2. Deleted positions: the entries outside a mask of them are kept.
3. Written positions: if all are stored, the values are copied and overwritten, and the structure is shared; else they
   are merged into the entries.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import Any, cast

import numpy as np

from .. import dtypes
from ..config import engine_for
from ..devices import on_device, whole_of
from ..engines import recording, registry
from ..engines.requests.operands import Mask
from ..engines.requests.operations import Keep
from ..engines.rows.bits import bits_of
from ..engines.rows.residency import listed_or_resident
from ..engines.shared.expression_numpy import cast as cast_values
from ..engines.shared.expression_numpy import evaluate
from ..engines.shared.iso_results import POSITIONS
from ..formats import CSR, Array, Bitmap, Count, IndexList, Store, dense_values, index_dtype, is_bitmap, with_values
from ..formats.bitmap import bits_shaped
from ..memory.arrays import array_module, assign_at, copied, to_device, to_host
from ..operators.types import TypedBinary
from .apply import scalar_dtype
from .build import build_matrix
from .cast import cast_scalar
from .convert import index_list
from .extract import column_numbers, element, places, row_numbers
from .write import merge

# (row, column) in a matrix, (index,) in a vector.
Position = tuple[int, ...]
Values = np.ndarray[Any, Any]

# Logged writes after which they are applied, so that the log stays small beside the entries that it describes.
LIMIT = 1 << 18


class _Step:
    """A write with an accumulator to a position whose stored value is not known yet.

    before: the earlier write of this kind to the position, or None.  op: on the types of both operands.
    value: in its own type.
    """

    __slots__ = ("at", "before", "op", "value")

    def __init__(self, before: _Step | None, op: TypedBinary, value: np.generic, at: Position) -> None:
        self.before, self.op, self.value, self.at = before, op, value, at

    def on(self, stored: np.generic | None, dtype: np.dtype[Any]) -> np.generic:
        """Return the value after this write and those before it; `stored` is that of the base, or None."""
        value = stored
        for step in self.all():
            value = _accumulated(value, step.op, step.value, dtype, self.at)
        assert value is not None
        return value

    def all(self) -> list[_Step]:
        """Return the writes of this kind to the position, the first one first."""
        steps = [self]
        while steps[-1].before is not None:
            steps.append(steps[-1].before)
        return steps[::-1]


# What a position holds after its logged writes: a value of the store's type, None if it was deleted, or a step.
_Change = np.generic | _Step | None
# Stands for the change of a position that has none.
_UNKNOWN: Any = object()


class Elements:
    """A store, and the writes to single elements of it that are not applied yet.

    One thread writes, or several in an order that the program ensures; any number of threads may read meanwhile.
    `_lock` is held for a write and for the exchange of the store, never during an application.
    """

    __slots__ = ("_base", "_changes", "_lock", "_writes")

    def __init__(self, base: Store) -> None:
        self._base: Any = base
        self._changes: dict[Position, _Change] = {}
        self._writes = 0  # since the last application, those to one position included
        self._lock = threading.RLock()

    @property
    def base(self) -> Any:
        """The store without the logged writes: of the same shape, type and device."""
        return self._base

    def set(self, at: Position, value: Any) -> None:
        """C(at) = value, cast to the type of C.  InvalidValue for anything but a number."""
        self._write(at, cast_scalar(value, self._base.dtype))

    def delete(self, at: Position) -> None:
        """Delete the entry at a position, if there is one."""
        self._write(at, None)

    def accumulate(self, at: Position, value: Any, accum: Any) -> None:
        """C(at) accum= value: on the stored value if there is one, else C(at) = value.

        DomainMismatch where the operator has no form for both types, InvalidValue for anything but a number.
        """
        dtype = self._base.dtype
        op, own = _typed(accum, dtype, scalar_dtype(value, dtype))
        new = cast_scalar(value, own)
        change = self._changes.get(at, _UNKNOWN)
        if change is _UNKNOWN or isinstance(change, _Step):
            self._write(at, _Step(change if isinstance(change, _Step) else None, op, new, at))
        else:
            self._write(at, _accumulated(cast("np.generic | None", change), op, new, dtype, at))

    def _write(self, at: Position, change: _Change) -> None:
        with self._lock:
            self._writes += 1
            self._changes[at] = change
        if self._writes >= LIMIT:
            self.store()

    def reader(self, at: Position) -> Callable[[], np.generic | None]:
        """Return the function that reads the present value at a position, None if there is none.

        Later writes do not change what it returns.  A call searches the row, and applies nothing.
        """
        with self._lock:
            base, change = self._base, self._changes.get(at, _UNKNOWN)
        if change is _UNKNOWN:
            return lambda: element(base, *at)
        if isinstance(change, _Step):
            return lambda: change.on(element(base, *at), base.dtype)
        return lambda: cast("np.generic | None", change)

    def store(self) -> Any:
        """Return the store with all logged writes applied, and log none afterwards.

        An application that fails changes nothing; the next call repeats it.
        """
        if not self._changes:
            return self._base
        with self._lock:
            base, changes, writes = self._base, dict(self._changes), self._writes
        listener = recording.listener()
        if listener is None:
            made = _applied(base, changes)
        else:
            made = listener.elements(base, len(changes), partial(_applied, base, changes))
        with self._lock:
            if self._base is base and self._writes == writes:
                self._base = made
                self._changes, self._writes = {}, 0
        return made


def _typed(accum: Any, dtype: np.dtype[Any], own: np.dtype[Any]) -> tuple[TypedBinary, np.dtype[Any]]:
    """Return the operator on the types of the stored and the new value, and the type of the new value."""
    accum.typed(own, own)
    both = dtype if dtype == own else dtypes.unify(dtype, own)
    return accum.typed(both, both), own


def _accumulated(
    stored: np.generic | None, op: TypedBinary, value: np.generic, dtype: np.dtype[Any], at: Position
) -> np.generic:
    """Return op(stored, value), or the value where nothing is stored; in the type of the store."""
    if stored is None:
        return cast_scalar(value, dtype)
    return _evaluated(op, np.array([stored]), np.array([value]), [at], dtype)[0]  # type: ignore[no-any-return]


def _evaluated(
    op: TypedBinary, stored: Values, values: Values, positions: list[Position], dtype: np.dtype[Any]
) -> Values:
    """Return op(stored, values), one for each position, in the type of the store."""
    operands = {"x": cast_values(stored, op.x), "y": cast_values(values, op.y)}
    if op.uses & POSITIONS:
        i, j = np.array([(*at, 0)[:2] for at in positions], np.int64).T
        operands.update(xi=i, xj=j, yi=i, yj=j)
    return cast_values(np.broadcast_to(evaluate(op.expr, operands, op.z), values.shape), dtype)


# -- application -----------------------------------------------------------------------------------------


def _applied(c: Any, changes: dict[Position, _Change]) -> Any:
    """Return the store after the changes."""
    steps = {at: change for at, change in changes.items() if isinstance(change, _Step)}
    if steps:
        stored = _stored(c, list(steps))
        changes = changes | _accumulated_together(steps, stored, c.dtype)
    deleted = [at for at, change in changes.items() if change is None]
    if deleted:
        c = _kept(c, deleted, complement=True)
    if len(deleted) == len(changes):
        return c
    written = {at: change for at, change in changes.items() if change is not None} if deleted else changes
    return _written(c, list(written), np.array(list(written.values()), c.dtype))


def _accumulated_together(
    steps: dict[Position, _Step], stored: dict[Position, np.generic], dtype: np.dtype[Any]
) -> dict[Position, _Change]:
    """Return the value of each position after its steps: all first steps of one operator together, then the second."""
    made: dict[Position, Any] = {at: stored.get(at) for at in steps}
    pending = {at: iter(step.all()) for at, step in steps.items()}
    while pending:
        groups: dict[tuple[TypedBinary, np.dtype[Any]], dict[Position, np.generic]] = {}
        for at, rest in list(pending.items()):
            step = next(rest, None)
            if step is None:
                del pending[at]
            elif made[at] is None:
                made[at] = cast_scalar(step.value, dtype)
            else:
                groups.setdefault((step.op, step.value.dtype), {})[at] = step.value
        for (op, own), values in groups.items():
            places = list(values)
            before = np.array([made[at] for at in places], dtype)
            made.update(
                zip(places, _evaluated(op, before, np.array(list(values.values()), own), places, dtype), strict=True)
            )
    return made


def _kept(c: Store, positions: list[Position], *, complement: bool) -> Any:
    """Return the entries at these positions, or under `complement` those at all others."""
    boolean = np.dtype(np.bool_)
    mask = Mask(_of_positions(c, _coordinates(positions), boolean, None, np.bool_(True)), True, complement)
    return registry.run(Keep(c, mask), engine_for(c.device))


def _stored(c: Store, positions: list[Position]) -> dict[Position, np.generic]:
    """Return the entries at these positions, read together.  Synchronizes."""
    kept = whole_of(_kept(c, positions, complement=False))
    if isinstance(kept, CSR):
        rows = listed_or_resident(kept)
        at: tuple[Array, ...] = row_numbers(rows), column_numbers(rows)
        values = dense_values(rows)
    else:
        entries = index_list(kept)
        at, values = (entries.indices,), dense_values(entries)
    keys = zip(*(to_host(part).tolist() for part in at), strict=True)
    return dict(zip(keys, to_host(values), strict=True))


def _written(c: Any, positions: list[Position], values: Values) -> Any:
    """Return the store with these values at these positions."""
    at = _coordinates(positions)
    same = c.iso is not None and values.tobytes() == np.full_like(values, c.iso).tobytes()
    if isinstance(c, Bitmap):
        return _marked(c, at[0], None if same else values)
    if is_bitmap(c):
        marked = _marked(bits_of(c), at[0] * c.ncols + at[1], None if same else values)
        return bits_shaped(marked, *c.shape)
    if same:
        return merge(c, _of_positions(c, at, c.dtype, None, c.iso), engine_for(c.device))
    found = places(c, *at)
    if found is not None:
        new = dense_values(c) if c.iso is not None else copied(c.values)
        assign_at(new, found, to_device(values, c.device))
        return with_values(c, c.dtype, new, None)
    return merge(c, _of_positions(c, at, c.dtype, values, None), engine_for(c.device))


def _marked(c: Bitmap, indices: Values, values: Values | None) -> Bitmap:
    """Return the bitmap with entries at these indices; values: None for that of all entries of c."""
    ascending = np.sort(indices)
    words, first = np.unique(ascending >> 5, return_index=True)
    bits = np.bitwise_or.reduceat(np.uint32(1) << (ascending & 31).astype(np.uint32), first)
    at, made = to_device(words, c.device), copied(c.words)
    old = to_host(array_module(c.device).take(made, at))  # synchronizes on the GPU
    assign_at(made, at, to_device(old | bits, c.device))
    added = int(np.bitwise_count(bits & ~old).sum())
    count = Count(c.nvals + added)
    if values is None:
        return Bitmap(c.size, c.dtype, made, None, c.iso, count)
    new = dense_values(c) if c.values is None else copied(c.values)
    assign_at(new, to_device(indices, c.device), to_device(values, c.device))
    return Bitmap(c.size, c.dtype, made, new, None, count)


def _coordinates(positions: list[Position]) -> tuple[Values, ...]:
    return tuple(np.array(axis, np.int64) for axis in zip(*positions, strict=True))


def _of_positions(
    c: Store,
    at: tuple[Values, ...],
    dtype: np.dtype[Any],
    values: Values | None,
    iso: np.generic | None,
) -> Any:
    """Return a store of the shape of c with entries at distinct positions."""
    if isinstance(c, CSR):
        rows, cols = at
        return build_matrix(rows, cols, iso if values is None else values, c.nrows, c.ncols, dtype, None, c.device)
    (indices,) = at
    order = np.argsort(indices)
    ascending = to_device(indices[order].astype(index_dtype(c.size), copy=False), c.device)
    listed = None if values is None else to_device(values[order], c.device)
    return on_device(c.device, IndexList(c.size, dtype, ascending, listed, iso))
