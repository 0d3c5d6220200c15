"""Products in slices of the rows that a direction reads, restricted to the necessary ones.

A pull needs the slices in which the mask admits a row; their results are concatenated.  A push needs the slices of the
transpose in which the vector has entries; their results are combined by the monoid.  Of such a slice only the rows
from the first necessary one to the last are read.
"""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from ...formats import CSR, VectorStore
from ...formats.vectors import empty_vector
from ...operators.expression import Expression
from ...operators.types import TypedBinary, TypedMonoid
from .. import registry
from ..registry import slicing_rule
from ..requests.operands import Mask, Rows
from ..requests.operations import Ewise, Mxm, Mxv, Transpose
from ..rows.bounds import WORD, common_bounds, entries_at, slice_bounds
from ..rows.slices import drop_unread, is_uncompressed, note_slices, run_masked, uncompressed, walk
from ..shared.direction import preset, reading_less
from .matrices import RowRanges
from .vectors import Listed, Part, admitted, converted, joined


@slicing_rule(Mxv, fuses=("mask",))
def mxv(q: Mxv, engine: str) -> VectorStore:
    """t(o) = (+)_k M(o, k) (x) u(k), by push or by pull."""
    return product(q, engine)[0]


def product(q: Mxv, engine: str) -> tuple[VectorStore, str]:
    """Return the product, and its direction."""
    work = _Work(q, engine)
    direction = work.direction()
    if direction == "push":
        return work.push(), direction
    return work.pull(), direction


def united(a: VectorStore, b: VectorStore, add: TypedMonoid, engine: str) -> VectorStore:
    """Return the sum of two vectors on the union of their structures; under ``any`` the entries of `a` are kept."""
    op = TypedBinary("first", add.z, add.z, add.z, Expression("x")) if add.is_any else add.op
    return cast(VectorStore, registry.run(Ewise(a, b, op, "union"), engine))


class _Work:
    """One product: the slices that each direction needs, and the two methods."""

    def __init__(self, q: Mxv, engine: str) -> None:
        self.q, self.engine = q, engine
        self._admitted: Listed | None = None
        self._listed: Listed | None = None
        self.read = ("y" if q.flip else "x") in q.semiring.mult.uses

    def direction(self) -> str:
        """Return the preset direction; else the one with uncompressed rows, or fewer entries to read in slices."""
        known = preset(self.q)
        if known is not None:
            return known
        pulled, pushed = self.q.by_row.get(), self.q.by_column.get()
        if is_uncompressed(pulled) or is_uncompressed(pushed):
            return "pull" if is_uncompressed(pulled) else "push"
        pull = _size(pulled, self._pulled_slices(pulled))
        return reading_less(_size(pushed, self._pushed_slices(pushed)), pull)

    def _pulled_slices(self, a: CSR) -> list[int]:
        where = slice_bounds(a.pattern)
        mask = self.q.mask
        if mask is not None and self._admitted is None:
            self._admitted = admitted(mask, self.q.nout, where.rows, self.engine)
        allowed = self._admitted
        filled = where.filled()
        return [s for s in filled if allowed is None or allowed.has(s)]

    def _pushed_slices(self, a: CSR) -> list[int]:
        where = slice_bounds(a.pattern)
        if self._listed is None:
            self._listed = Listed(self.q.vector, where.rows, self.engine)
        return [s for s in where.filled() if self._listed.has(s)]

    def pull(self) -> VectorStore:
        """Compute the results of each slice of rows, and join them."""
        q, engine, a = self.q, self.engine, self.q.by_row.get()
        if is_uncompressed(a):
            spare = _uncompressed(q.by_column, engine)
            return cast(VectorStore, run_masked(replace(q, by_column=spare, direction="pull"), engine))
        bounds, selected = slice_bounds(a.pattern).rows, self._pulled_slices(a)
        note_slices(bounds, selected, direction="pull")
        listed, chosen = self._admitted, selected
        if listed is not None:
            bounds, selected = listed.around(chosen, WORD)
        full_height = ("yj" if q.flip else "xi") in q.semiring.mult.uses
        parts = []
        for s, row_slice in zip(chosen, walk(drop_unread(a, self.read), engine, bounds, selected), strict=True):
            rows = row_slice.offset_preserving(full_height, a.nrows)
            mask = None
            if listed is not None:
                some = listed.offset_preserving(s) if full_height else listed.part(s, row_slice.first, row_slice.last)
                mask = Mask(some, structural=True, complement=False)
            request = replace(
                q,
                nout=rows.nrows,
                by_row=Rows(rows),
                by_column=_transposed(rows, engine),
                mask=mask,
                direction="pull",
            )
            result = row_slice.detached(run_masked(request, engine))
            # The positions of a full-height result are final.
            part = (
                Part(0, 0, converted(result, "index", engine))
                if full_height
                else Part(row_slice.first, row_slice.last, result)
            )
            parts.append(part)
        return joined(q.nout, q.semiring.z, parts, engine, a.device)

    def push(self) -> VectorStore:
        """Scatter the entries of the vector through each slice of the transpose, and add the results."""
        q, engine, a = self.q, self.engine, self.q.by_column.get()
        if is_uncompressed(a):
            spare = _uncompressed(q.by_row, engine)
            return cast(VectorStore, run_masked(replace(q, by_row=spare, direction="push"), engine))
        chosen, listed = self._pushed_slices(a), self._listed
        note_slices(slice_bounds(a.pattern).rows, chosen, direction="push")
        assert listed is not None
        bounds, selected = listed.around(chosen, 1)
        full_height = bool(q.semiring.mult.uses & {"xj", "yi"})
        total: VectorStore | None = None
        for s, row_slice in zip(chosen, walk(drop_unread(a, self.read), engine, bounds, selected), strict=True):
            rows = row_slice.offset_preserving(full_height, a.nrows)
            request = replace(
                q,
                ninner=rows.nrows,
                by_row=_transposed(rows, engine),
                by_column=Rows(rows),
                vector=listed.offset_preserving(s) if full_height else listed.part(s, row_slice.first, row_slice.last),
                direction="push",
            )
            result = row_slice.detached(run_masked(request, engine))
            total = result if total is None else united(total, result, q.semiring.add, engine)
        return empty_vector(q.nout, q.semiring.z, a.device) if total is None else total


def _size(a: CSR, selected: list[int]) -> int:
    held = slice_bounds(a.pattern).held()
    return sum(held[s] for s in selected)


def _uncompressed(rows: Rows, engine: str) -> Rows:
    """Return the other orientation, uncompressed on demand, for an engine without this direction."""
    return Rows(None, lambda: uncompressed(rows.get(), engine, "mxv"))


def _transposed(rows: CSR, engine: str) -> Rows:
    """Return the transpose of a slice, computed on demand, for an engine without this direction."""
    return Rows(None, lambda: cast(CSR, registry.run(Transpose(rows), engine)))


@slicing_rule(Mxm, fuses=("mask",))
def mxm(q: Mxm, engine: str) -> CSR:
    """t(i, j) = (+)_k A(i, k) (x) B(k, j): A in slices of its rows, B resident, uncompressed or with full rows."""
    uses, mask = q.semiring.mult.uses, q.mask
    a, b = drop_unread(q.a, "x" in uses), drop_unread(q.b, "y" in uses)
    by_slices = [
        store for store in (a, None if mask is None else mask.store) if not is_uncompressed(store) and store is not None
    ]
    if not (by_slices and b.format == "full" and b.placement == "device"):
        b = uncompressed(b, engine, "mxm")
    if not by_slices:
        return cast(CSR, run_masked(replace(q, a=a, by_row=Rows(b), by_column=None), engine))
    bounds = common_bounds(*(cast(CSR, store).pattern for store in by_slices))
    here = entries_at(a.pattern, bounds).held()
    if mask is None:
        selected = [s for s, count in enumerate(here) if count]
    else:
        there = entries_at(cast(CSR, mask.store).pattern, bounds).held()
        selected = [s for s, count in enumerate(here) if count and (there[s] or mask.complement)]
    note_slices(bounds, selected)
    full_height = "xi" in uses
    made = RowRanges(q.name, a.nrows, b.ncols, q.semiring.z, a.device)
    masks = iter(()) if mask is None else walk(cast(CSR, mask.store), engine, bounds, selected)
    for row_slice in walk(a, engine, bounds, selected):
        request = replace(
            q, a=row_slice.offset_preserving(full_height, a.nrows), by_row=Rows(b), by_column=None, mask=None
        )
        if mask is not None:
            other = next(masks)
            slice_mask = Mask(other.offset_preserving(full_height, a.nrows), mask.structural, mask.complement)
            made.add(row_slice, other.detached(run_masked(replace(request, mask=slice_mask), engine)))
        else:
            made.add(row_slice, registry.run(request, engine))
    return made.matrix()
