"""Batches of changes to a matrix, logged and applied together:  insert,  delete.

A batch (D, R) stands for  C := (C outside the positions of D) U R,  where an entry of both becomes op(c, r).  Two
batches of one associative operator compose, at the cost of their entries:

    (D1, R1), then (D2, R2)  =  (D1 U D2,  (R1 outside D2) U R2)

So a matrix that changes keeps its store and beside it what has come since: edges as they were given, which are sorted
when there are many or something reads them; and batches of sorted ones in falling order of their sizes, each at least
twice as large as the next, so that k batches of b entries cost O(k b log k).  What reads the whole matrix applies them
first, which costs a pass over its entries for what is deleted and one for what is written; so do changes that have more
than a share of the entries, which bounds the memory.  A compressed or pinned store is compressed or pinned again.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from itertools import groupby
from typing import Any, NamedTuple, cast

import numpy as np

from ..config import engine_for
from ..dtypes import BOOL
from ..engines import recording, registry
from ..engines.requests.operands import Mask
from ..engines.requests.operations import BuildMatrix, Ewise, Keep
from ..engines.rows.residency import listed_or_resident
from ..formats import CSR, Array, Pattern, array_module, device_of, structure_only
from ..operators.types import TypedBinary
from ..ops.build import duplicate_operator, from_triples
from ..ops.extract import column_numbers, row_numbers
from ..ops.reshape import resize_matrix
from ..ops.write import merge
from .compression import compress
from .memory_plan import moved

__all__ = ["Batch", "Changes", "UnsortedEdges", "count", "positions"]

# Changes are applied once they have more than this share of the entries of the store.
_LARGEST_SHARE = 1 / 8
# Edges are sorted once there are so many, or from so many calls.
_MOST_UNSORTED, _MOST_CALLS = 1 << 20, 64


class UnsortedEdges(NamedTuple):
    """Edges of one call, in the order in which they were given: to write with their values, or to delete.

    values, iso: of the type of the matrix, a value for each edge, or None and that of all; both None to delete.
    symmetric: whether (j, i) is among them where (i, j) is.
    """

    rows: Array
    cols: Array
    values: Array | None
    iso: np.generic | None
    symmetric: bool = False

    @property
    def deletes(self) -> bool:
        """Whether they are to be deleted."""
        return self.values is None and self.iso is None

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        return sum(int(part.nbytes) for part in (self.rows, self.cols, self.values) if part is not None)

    def sorted(self, like: CSR, op: TypedBinary | None) -> Batch:
        """Return the batch; like: a store of the matrix; op: combines the values of equal edges, from the first on."""
        dtype = BOOL if self.deletes else like.dtype
        iso = np.bool_(True) if self.deletes else self.iso
        op = duplicate_operator("any", BOOL) if self.deletes else op
        spec = BuildMatrix(like.nrows, like.ncols, dtype, self.rows, self.cols, self.values, iso, op)
        made = from_triples("insert", spec, like.device)
        return Batch(made, None, self.symmetric) if self.deletes else Batch(None, made, self.symmetric)

    @staticmethod
    def joined(several: Sequence[UnsortedEdges]) -> UnsortedEdges:
        """Return edges of several calls as those of one; all of them are to be written, or to be deleted."""
        first = several[0]
        if len(several) == 1:
            return first
        xp = array_module(device_of(first.rows))
        rows, cols = (xp.concatenate([getattr(each, end) for each in several]) for end in ("rows", "cols"))
        values, iso = None, first.iso
        if any(each.values is not None or _bits(each.iso) != _bits(iso) for each in several):
            dtype = next(each.iso.dtype if each.values is None else each.values.dtype for each in several)  # type: ignore[union-attr]
            values, iso = xp.concatenate([each.each_value(xp, dtype) for each in several]), None
        return UnsortedEdges(rows, cols, values, iso, all(each.symmetric for each in several))

    def each_value(self, xp: Any, dtype: np.dtype[Any]) -> Array:
        """Return a value for each edge."""
        return xp.full(self.rows.size, self.iso, dtype) if self.values is None else self.values


class Batch(NamedTuple):
    """Positions to delete, and after that entries to write; None for none.

    deleted: a structure.  written: entries of the type of the matrix.  symmetric: whether (j, i) is in each of both
    where (i, j) is, so that a symmetric structure remains one.
    """

    deleted: CSR | None
    written: CSR | None
    symmetric: bool = False

    @property
    def nvals(self) -> int:
        """The number of positions and entries."""
        return sum(part.nvals for _, part in self.named())

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        return sum(part.nbytes for _, part in self.named())

    def named(self) -> Iterator[tuple[str, CSR]]:
        """Yield what is not None, by name."""
        if self.deleted is not None:
            yield "deleted", self.deleted
        if self.written is not None:
            yield "written", self.written

    def edges(self) -> UnsortedEdges:
        """Return the edges of a batch that only deletes, or only writes."""
        part = self.deleted if self.written is None else self.written
        assert part is not None
        assert self.deleted is None or self.written is None
        rows = listed_or_resident(part)
        values, iso = (rows.values, rows.iso) if self.written is not None else (None, None)
        return UnsortedEdges(row_numbers(rows), column_numbers(rows), values, iso, self.symmetric)

    def then(self, later: Batch, op: TypedBinary | None) -> Batch:
        """Return the composition with a later batch of the same operator."""
        deleted, written = self.deleted, self.written
        if later.deleted is not None:
            deleted = later.deleted if deleted is None else merge(deleted, later.deleted, _engine(deleted))
            written = None if written is None else _outside(written, later.deleted)
        if later.written is not None:
            written = later.written if written is None else _united(written, later.written, op)
        return Batch(deleted, written, self.symmetric and later.symmetric)


class _State(NamedTuple):
    """A store, the sorted batches that come after it, and the edges that come after those."""

    store: CSR
    batches: tuple[Batch, ...] = ()
    edges: tuple[UnsortedEdges, ...] = ()


class Changes:
    """A store and the changes to it that are not applied yet.

    What it stands for never changes: a further change makes a new object, and the copies of a matrix share one.
    Sorting edges, and applying the changes, exchanges what it holds, for all of them.
    """

    __slots__ = ("_lock", "_state", "op")

    def __init__(self, state: _State, op: TypedBinary | None = None) -> None:
        self._state, self.op = state, op
        self._lock = threading.Lock()

    @classmethod
    def to(cls, store: CSR) -> Changes:
        """Return no changes to a store."""
        return cls(_State(store))

    @property
    def base(self) -> CSR:
        """The store without the changes: of the same shape, type and device."""
        return self._state.store

    @property
    def parts(self) -> tuple[Batch | UnsortedEdges, ...]:
        """The changes that are not applied, the first one first."""
        return self._state.batches + self._state.edges

    def then(self, change: Batch | UnsortedEdges, op: TypedBinary | None) -> Changes:
        """Return the changes with a further one; applies those before it if their operator does not compose with it.

        op: on values of the type of the matrix; None for a change that writes nothing.
        """
        state = self._state
        composes = op is None or self.op is None or (op == self.op and "associative" in op.laws)
        if not composes and len(state.batches) + len(state.edges):
            state = _State(self.store())
        op = op or self.op
        if isinstance(change, Batch):
            state = _sorted(state, op)
            made = Changes(state._replace(batches=_appended(state.batches, change, op)), op)
        else:
            made = Changes(state._replace(edges=(*state.edges, change)), op)
            sizes = [each.rows.size for each in made._state.edges]
            if sum(sizes) > _MOST_UNSORTED or len(sizes) > _MOST_CALLS:
                made.sorted()
        if made.nvals > _LARGEST_SHARE * state.store.nvals:
            made.store()
        return made

    @property
    def nvals(self) -> int:
        """The number of positions and entries of all changes."""
        state = self._state
        return sum(part.nvals for part in state.batches) + sum(int(part.rows.size) for part in state.edges)

    def resized(self, shape: tuple[int, int]) -> Changes:
        """Return the changes of a matrix that is extended to a shape; itself if it has the shape."""
        store, batches, edges = self._state
        if shape == store.shape:
            return self
        grown = tuple(
            batch._replace(**cast(Any, {name: resize_matrix(part, *shape) for name, part in batch.named()}))
            for batch in batches
        )
        return Changes(_State(resize_matrix(store, *shape), grown, edges), self.op)

    def sorted(self) -> _State:
        """Return the store and all changes as batches, and keep these in place of edges."""
        state = self._state
        return self._exchanged(state, _sorted(state, self.op)) if state.edges else state

    def store(self) -> CSR:
        """Return the store with all changes applied, and keep it in place of them.

        An application that fails changes nothing; the next call repeats it.
        """
        state = self._state
        if not state.batches and not state.edges:
            return state.store
        return self._exchanged(state, _State(self._applied(state))).store

    def _exchanged(self, state: _State, made: _State) -> _State:
        with self._lock:
            if self._state is state:
                self._state = made
        return made

    def _applied(self, state: _State) -> CSR:
        listens = recording.LOG.get() is not None
        timed = recording.timed("compact", "changes", _engine(state.store), changes=self.nvals)
        with timed if listens else nullcontext():
            return _after(*_composed(_sorted(state, self.op), self.op), self.op)


def _sorted(state: _State, op: TypedBinary | None) -> _State:
    """Return the state with edges as batches: successive calls that write, or that delete, are sorted together."""
    store, batches, edges = state
    for _, several in groupby(edges, lambda each: each.deletes):
        batches = _appended(batches, UnsortedEdges.joined(list(several)).sorted(store, op), op)
    return _State(store, batches)


def _appended(batches: tuple[Batch, ...], batch: Batch, op: TypedBinary | None) -> tuple[Batch, ...]:
    """Return the batches with a further one, composed with those that are not twice as large."""
    while batches and batches[-1].nvals < 2 * batch.nvals:
        batches, batch = batches[:-1], batches[-1].then(batch, op)
    return *batches, batch


def _composed(state: _State, op: TypedBinary | None) -> tuple[CSR, Batch]:
    """Return the store and all batches as one, composing the small ones first."""
    whole = state.batches[-1]
    for batch in reversed(state.batches[:-1]):
        whole = batch.then(whole, op)
    return state.store, whole


def positions(change: Batch | UnsortedEdges, like: CSR) -> CSR:
    """Return the positions of a change as a structure; like: a store of the matrix."""
    if isinstance(change, UnsortedEdges):
        change = change._replace(values=None, iso=None).sorted(like, None)
    part = change.deleted if change.written is None else change.written
    assert part is not None
    return structure_only(part.pattern)


def count(changes: Changes, positions: CSR) -> int:
    """Return how many of the positions of a structure have an entry.  Synchronizes."""
    store, batches, _ = changes.sorted()
    present = _inside(positions, store)
    for batch in batches:
        if batch.deleted is not None:
            present = _outside(present, batch.deleted)
        if batch.written is not None:
            present = merge(present, _inside(positions, batch.written), _engine(store))
    return present.nvals


def _after(store: CSR, batch: Batch, op: TypedBinary | None) -> CSR:
    """Return the store after a batch, compressed and placed as before."""
    made = store if batch.deleted is None else _outside(store, batch.deleted)
    made = made if batch.written is None else _united(made, batch.written, op)
    if batch.symmetric and store.pattern.facts.get("symmetric") and isinstance(made.pattern, Pattern):
        made.pattern.facts["symmetric"] = True
    codec, placement = store.pattern.codec, store.placement
    if codec is not None and made.pattern.codec is None:
        made = compress(made, codec)
    return made if made.placement == placement else moved(made, placement, None)


def _bits(value: np.generic | None) -> bytes | None:
    # 0.0 and -0.0 differ, and NaN is itself.
    return None if value is None else value.tobytes()


def _outside(c: CSR, positions: CSR) -> CSR:
    return cast(CSR, registry.run(Keep(c, Mask(positions, True, True)), _engine(c)))


def _inside(c: CSR, positions: CSR) -> CSR:
    return cast(CSR, registry.run(Keep(c, Mask(structure_only(positions.pattern), True, False)), _engine(c)))


def _united(c: CSR, written: CSR, op: TypedBinary | None) -> CSR:
    assert op is not None, "a batch that writes has an operator"
    return cast(CSR, registry.run(Ewise(c, written, op, "union"), _engine(c)))


def _engine(c: Any) -> str:
    return engine_for(c.device)
