"""Elementwise operations: a row of the result depends only on the same row of the operands."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ...formats import CSR, Full, array_module, dense_values, with_values
from ...memory.arrays import device_of
from .. import registry
from ..registry import slicing_rule
from ..requests.operands import Mask
from ..requests.operations import Apply, Ewise, Keep, Outside, Select
from ..rows.bounds import common_bounds, entries_at, slice_bounds
from ..rows.slices import is_uncompressed, note_slices, value_chunks, walk
from . import dense_rows
from .matrices import RowRanges, values_together


@slicing_rule(Apply)
def apply(q: Apply, engine: str) -> CSR:
    """T = op(a(i, j), i, j, k) on the structure of a, which the result shares."""
    assert isinstance(q.a, CSR)
    if not q.op.uses & {"i", "j"}:
        return _apply_to_values(q, q.a, engine)
    where = slice_bounds(q.a.pattern)
    rows, selected = where.rows, where.filled()
    note_slices(rows, selected)
    full_height = "i" in q.op.uses
    parts = []
    for row_slice in walk(q.a, engine, rows, selected):
        done = registry.run(replace(q, a=row_slice.offset_preserving(full_height, q.a.nrows)), engine)
        # The values only: the structure is that of the whole matrix, in its storage kind.
        parts.append(row_slice.detached(Full(done.nvals, done.dtype, done.values, done.iso, done.device)))
    if not parts:
        return with_values(q.a, q.op.z, array_module(q.a.device).empty(0, dtype=q.op.z), None)
    return with_values(q.a, q.op.z, *values_together(parts, q.op.z, q.a.device))


def _apply_to_values(q: Apply, a: CSR, engine: str) -> CSR:
    """Apply an operator that reads no position to the values as a vector; the structure is not read."""
    count = a.nvals
    if a.values is None or device_of(a.values) == a.device:
        done = registry.run(replace(q, a=Full(count, a.dtype, a.values, a.iso, a.device)), engine)
        if done.format == "full":
            return with_values(a, q.op.z, done.values, done.iso)
        return with_values(a, q.op.z, dense_values(done), None)
    values = array_module(a.device).empty(count, dtype=q.op.z)
    for first, here in value_chunks(a):
        done = registry.run(replace(q, a=here), engine)
        values[first : first + here.size] = dense_values(done)
    return with_values(a, q.op.z, values, None)


@slicing_rule(Select)
def select(q: Select, engine: str) -> CSR:
    """T = the entries of a for which op(a(i, j), i, j, k) holds."""
    assert isinstance(q.a, CSR)
    return _of_rows(q, q.a, "i" in q.op.uses, engine)


@slicing_rule(Outside)
def outside(q: Outside, engine: str) -> CSR:
    """T = the entries of a outside a region; row numbers of the region are those of the whole matrix."""
    assert isinstance(q.a, CSR)
    return _of_rows(q, q.a, True, engine)


def _of_rows(q: Select | Outside, a: CSR, full_height: bool, engine: str) -> CSR:
    """Run the request on each slice that has entries."""
    where = slice_bounds(a.pattern)
    rows, selected = where.rows, where.filled()
    note_slices(rows, selected)
    made = RowRanges(q.name, a.nrows, a.ncols, a.dtype, a.device)
    for row_slice in walk(a, engine, rows, selected):
        made.add(row_slice, registry.run(replace(q, a=row_slice.offset_preserving(full_height, a.nrows)), engine))
    return made.matrix()


@slicing_rule(Keep)
def keep(q: Keep, engine: str) -> CSR:
    """T = the entries of a that the mask admits; a slice without admitted entries is not read."""
    dense = dense_rows.keep(q, engine)
    if dense is not None:
        return dense
    a, mask = q.a, q.mask.store
    assert isinstance(a, CSR)
    assert isinstance(mask, CSR)
    rows = _bounds_of(a, mask)
    here, there = (entries_at(store.pattern, rows).held() for store in (a, mask))
    selected = [s for s, count in enumerate(here) if count and (there[s] or q.mask.complement)]
    note_slices(rows, selected)
    made = RowRanges(q.name, a.nrows, a.ncols, a.dtype, a.device)
    for row_slice, other in zip(walk(a, engine, rows, selected), walk(mask, engine, rows, selected), strict=True):
        slice_mask = Mask(other.rows, q.mask.structural, q.mask.complement)
        result = registry.run(Keep(row_slice.rows, slice_mask), engine)
        made.add(row_slice, other.detached(result))
    return made.matrix()


@slicing_rule(Ewise)
def ewise(q: Ewise, engine: str) -> CSR:
    """T = op(a, b), both matrices with the same slice bounds."""
    dense = dense_rows.ewise(q, engine)
    if dense is not None:
        return dense
    a, b = q.a, q.b
    assert isinstance(a, CSR)
    assert isinstance(b, CSR)
    rows = _bounds_of(a, b)
    counts = zip(*(entries_at(store.pattern, rows).held() for store in (a, b)), strict=True)
    needed: Any = all if q.mode == "intersect" else any
    selected = [s for s, both in enumerate(counts) if needed(both)]
    note_slices(rows, selected)
    full_height = bool(q.op.uses & {"xi", "yi"})
    made = RowRanges(q.name, a.nrows, a.ncols, q.op.z, a.device)
    for row_slice, other in zip(walk(a, engine, rows, selected), walk(b, engine, rows, selected), strict=True):
        request = replace(
            q, a=row_slice.offset_preserving(full_height, a.nrows), b=other.offset_preserving(full_height, a.nrows)
        )
        made.add(row_slice, other.detached(registry.run(request, engine)))
    return made.matrix()


def _bounds_of(*stores: CSR) -> tuple[int, ...]:
    """Return the slice bounds: uncompressed rows are device-resident, so only the others determine them."""
    return common_bounds(*(store.pattern for store in stores if not is_uncompressed(store)))
