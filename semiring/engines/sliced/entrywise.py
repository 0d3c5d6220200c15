"""Operations entry by entry: the structure and the values of a result's row come from the same row of the operands."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ...formats import CSR, Full, array_module, dense_values, with_values
from ...memory.arrays import device_of
from .. import registry
from ..operands import Mask
from ..registry import slices
from ..spec import Apply, Ewise, Keep, Outside, Select
from .bounds import cuts, entries_at, row_bounds
from .matrices import RowRanges, values_together
from .pieces import is_plain, note_slices, travelling, walk


@slices(Apply)
def apply(q: Apply, engine: str) -> CSR:
    """T = op(a(i, j), i, j, k) on the structure of a, which the result shares."""
    assert isinstance(q.a, CSR)
    if not q.op.uses & {"i", "j"}:
        return _apply_to_values(q, q.a, engine)
    where = cuts(q.a.pattern)
    rows, wanted = where.rows, where.filled()
    note_slices(rows, wanted)
    tall = "i" in q.op.uses
    parts = []
    for piece in walk(q.a, engine, rows, wanted):
        done = registry.run(replace(q, a=piece.standing(tall, q.a.nrows)), engine)
        # Its values alone: the structure is that of the whole, in the form in which that lies.
        parts.append(piece.kept(Full(done.nvals, done.dtype, done.values, done.iso, done.device)))
    if not parts:
        return with_values(q.a, q.op.z, array_module(q.a.device).empty(0, dtype=q.op.z), None)
    return with_values(q.a, q.op.z, *values_together(parts, q.op.z, q.a.device))


def _apply_to_values(q: Apply, a: CSR, engine: str) -> CSR:
    """Where no position is read the values are a vector, and the structure stays out of it."""
    count = a.nvals
    if a.values is None or device_of(a.values) == a.device:
        done = registry.run(replace(q, a=Full(count, a.dtype, a.values, a.iso, a.device)), engine)
        if done.format == "full":
            return with_values(a, q.op.z, done.values, done.iso)
        return with_values(a, q.op.z, dense_values(done), None)
    values = array_module(a.device).empty(count, dtype=q.op.z)
    for first, here in travelling(a):
        done = registry.run(replace(q, a=here), engine)
        values[first : first + here.size] = dense_values(done)
    return with_values(a, q.op.z, values, None)


@slices(Select)
def select(q: Select, engine: str) -> CSR:
    """The entries of a for which op(a(i, j), i, j, k) holds."""
    assert isinstance(q.a, CSR)
    return _of_rows(q, q.a, "i" in q.op.uses, engine)


@slices(Outside)
def outside(q: Outside, engine: str) -> CSR:
    """The entries of a outside a region; the region's rows are those of the whole."""
    assert isinstance(q.a, CSR)
    return _of_rows(q, q.a, True, engine)


def _of_rows(q: Select | Outside, a: CSR, tall: bool, engine: str) -> CSR:
    """The question put to each slice that has entries."""
    where = cuts(a.pattern)
    rows, wanted = where.rows, where.filled()
    note_slices(rows, wanted)
    made = RowRanges(q.name, a.nrows, a.ncols, a.dtype, a.device)
    for piece in walk(a, engine, rows, wanted):
        made.add(piece, registry.run(replace(q, a=piece.standing(tall, a.nrows)), engine))
    return made.matrix()


@slices(Keep)
def keep(q: Keep, engine: str) -> CSR:
    """The entries of a that the mask admits; a slice that the mask cannot admit is not read."""
    a, mask = q.a, q.mask.store
    assert isinstance(a, CSR)
    assert isinstance(mask, CSR)
    rows = _bounds_of(a, mask)
    here, there = (entries_at(store.pattern, rows).held() for store in (a, mask))
    wanted = [s for s, count in enumerate(here) if count and (there[s] or q.mask.complement)]
    note_slices(rows, wanted)
    made = RowRanges(q.name, a.nrows, a.ncols, a.dtype, a.device)
    for piece, other in zip(walk(a, engine, rows, wanted), walk(mask, engine, rows, wanted), strict=True):
        slice_mask = Mask(other.rows, q.mask.structural, q.mask.complement)
        answer = registry.run(Keep(piece.rows, slice_mask), engine)
        made.add(piece, other.kept(answer))
    return made.matrix()


@slices(Ewise)
def ewise(q: Ewise, engine: str) -> CSR:
    """T = op(a, b), both matrices cut alike."""
    a, b = q.a, q.b
    assert isinstance(a, CSR)
    assert isinstance(b, CSR)
    rows = _bounds_of(a, b)
    counts = zip(*(entries_at(store.pattern, rows).held() for store in (a, b)), strict=True)
    needed: Any = all if q.mode == "intersect" else any
    wanted = [s for s, both in enumerate(counts) if needed(both)]
    note_slices(rows, wanted)
    tall = bool(q.op.uses & {"xi", "yi"})
    made = RowRanges(q.name, a.nrows, a.ncols, q.op.z, a.device)
    for piece, other in zip(walk(a, engine, rows, wanted), walk(b, engine, rows, wanted), strict=True):
        question = replace(q, a=piece.standing(tall, a.nrows), b=other.standing(tall, a.nrows))
        made.add(piece, other.kept(registry.run(question, engine)))
    return made.matrix()


def _bounds_of(*stores: CSR) -> tuple[int, ...]:
    """Where to cut: plain rows are there anyway, so only the others decide."""
    return row_bounds(*(store.pattern for store in stores if not is_plain(store)))
