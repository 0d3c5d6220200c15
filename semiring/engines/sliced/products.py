"""Products: by slices of the rows that a direction reads, and only of those that it needs.

A pull needs the slices in which the mask admits a row; their results stand one after the other.  A push needs the
slices of the transpose in which the vector has entries; their results are united by the monoid.  Of such a slice only
the rows from the first that is needed to the last are read.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import cast

from ...formats import CSR, Full, VectorStore
from ...formats.vectors import empty_vector
from ...operators.types import TypedBinary, TypedMonoid
from .. import registry
from ..operands import Mask, Rows
from ..registry import slices
from ..spec import Ewise, Mxm, Mxv, Transpose
from .bounds import WORD, cuts, entries_at, row_bounds
from .matrices import RowRanges
from .pieces import bare, is_plain, note_slices, run_masked, walk, whole
from .vectors import Listed, Part, admitted, converted, joined


@slices(Mxv, fuses=("mask",))
def mxv(q: Mxv, engine: str) -> VectorStore:
    """t(o) = (+)_k M(o, k) (x) u(k), by push or by pull."""
    return product(q, engine)[0]


def product(q: Mxv, engine: str) -> tuple[VectorStore, str]:
    """The product, and the direction that was taken."""
    work = _Work(q, engine)
    direction = work.direction()
    if direction == "push":
        return work.push(), direction
    return work.pull(), direction


def united(a: VectorStore, b: VectorStore, add: TypedMonoid, engine: str) -> VectorStore:
    """The sum of two vectors on the union of their structures; under ``any`` what is there stays."""
    op = TypedBinary("first", add.z, add.z, add.z, "x") if add.is_any else add.op
    return cast(VectorStore, registry.run(Ewise(a, b, op, "union"), engine))


class _Work:
    """One product: what each direction would read, and both ways to do it."""

    def __init__(self, q: Mxv, engine: str) -> None:
        self.q, self.engine = q, engine
        self._admitted: Listed | None = None
        self._listed: Listed | None = None
        self.read = ("y" if q.flip else "x") in q.semiring.mult.uses

    def direction(self) -> str:
        """The forced direction; else the one whose rows are there, or plain, or whose needed slices hold less."""
        q = self.q
        if q.direction != "auto":
            return q.direction
        if not (q.by_row.ready and q.by_column.ready):
            return "push" if q.by_column.ready else "pull"
        pulled, pushed = q.by_row.get(), q.by_column.get()
        if is_plain(pulled) or isinstance(q.vector, Full):
            return "pull"
        if is_plain(pushed):
            return "push"
        pull = _size(pulled, self._pulled_slices(pulled))
        return "push" if _size(pushed, self._pushed_slices(pushed)) < pull else "pull"

    def _pulled_slices(self, a: CSR) -> list[int]:
        where = cuts(a.pattern)
        mask = self.q.mask
        if mask is not None and self._admitted is None:
            self._admitted = admitted(mask, self.q.nout, where.rows, self.engine)
        allowed = self._admitted
        filled = where.filled()
        return [s for s in filled if allowed is None or allowed.has(s)]

    def _pushed_slices(self, a: CSR) -> list[int]:
        where = cuts(a.pattern)
        if self._listed is None:
            self._listed = Listed(self.q.vector, where.rows, self.engine)
        return [s for s in where.filled() if self._listed.has(s)]

    def pull(self) -> VectorStore:
        """Each slice of rows gives the results of its rows."""
        q, engine, a = self.q, self.engine, self.q.by_row.get()
        if is_plain(a):
            spare = _made_plain(q.by_column, engine)
            return cast(VectorStore, run_masked(replace(q, by_column=spare, direction="pull"), engine))
        bounds, wanted = cuts(a.pattern).rows, self._pulled_slices(a)
        note_slices(bounds, wanted, direction="pull")
        listed, chosen = self._admitted, wanted
        if listed is not None:
            bounds, wanted = listed.around(chosen, WORD)
        tall = ("yj" if q.flip else "xi") in q.semiring.mult.uses
        parts = []
        for s, piece in zip(chosen, walk(bare(a, self.read), engine, bounds, wanted), strict=True):
            rows = piece.standing(tall, a.nrows)
            mask = None
            if listed is not None:
                some = listed.standing(s) if tall else listed.part(s, piece.first, piece.last)
                mask = Mask(some, structural=True, complement=False)
            question = replace(
                q,
                nout=rows.nrows,
                by_row=Rows(rows),
                by_column=_turned(rows, engine),
                mask=mask,
                direction="pull",
            )
            answer = piece.kept(run_masked(question, engine))
            # An answer that stands at its height is a list of positions that need not be moved.
            part = Part(0, 0, converted(answer, "index", engine)) if tall else Part(piece.first, piece.last, answer)
            parts.append(part)
        return joined(q.nout, q.semiring.z, parts, engine, a.device)

    def push(self) -> VectorStore:
        """Each slice of the transpose scatters the entries of the vector that belong to its rows."""
        q, engine, a = self.q, self.engine, self.q.by_column.get()
        if is_plain(a):
            spare = _made_plain(q.by_row, engine)
            return cast(VectorStore, run_masked(replace(q, by_row=spare, direction="push"), engine))
        chosen, listed = self._pushed_slices(a), self._listed
        note_slices(cuts(a.pattern).rows, chosen, direction="push")
        assert listed is not None
        bounds, wanted = listed.around(chosen, 1)
        tall = bool(q.semiring.mult.uses & {"xj", "yi"})
        total: VectorStore | None = None
        for s, piece in zip(chosen, walk(bare(a, self.read), engine, bounds, wanted), strict=True):
            rows = piece.standing(tall, a.nrows)
            question = replace(
                q,
                ninner=rows.nrows,
                by_row=_turned(rows, engine),
                by_column=Rows(rows),
                vector=listed.standing(s) if tall else listed.part(s, piece.first, piece.last),
                direction="push",
            )
            answer = piece.kept(run_masked(question, engine))
            total = answer if total is None else united(total, answer, q.semiring.add, engine)
        return empty_vector(q.nout, q.semiring.z, a.device) if total is None else total


def _size(a: CSR, wanted: list[int]) -> int:
    held = cuts(a.pattern).held()
    return sum(held[s] for s in wanted)


def _given(rows: CSR) -> Callable[[], CSR]:
    return lambda: rows


def _made_plain(rows: Rows, engine: str) -> Rows:
    """The other orientation, plain, for an engine that cannot take the direction that it was asked for."""
    return Rows(None, lambda: whole(rows.get(), engine, "mxv"))


def _turned(rows: CSR, engine: str) -> Rows:
    """The transpose of a slice, for an engine that cannot take the direction that it was asked for."""
    return Rows(None, lambda: cast(CSR, registry.run(Transpose(rows), engine)))


@slices(Mxm, fuses=("mask",))
def mxm(q: Mxm, engine: str) -> CSR:
    """t(i, j) = (+)_k A(i, k) (x) B(k, j): A by slices of its rows, all of B plain beside them."""
    uses, mask = q.semiring.mult.uses, q.mask
    a, b = bare(q.a, "x" in uses), whole(bare(q.b, "y" in uses), engine, "mxm")
    by_slices = [
        store for store in (a, None if mask is None else mask.store) if not is_plain(store) and store is not None
    ]
    if not by_slices:
        return cast(CSR, run_masked(replace(q, a=a, b=b), engine))
    bounds = row_bounds(*(cast(CSR, store).pattern for store in by_slices))
    here = entries_at(a.pattern, bounds).held()
    if mask is None:
        wanted = [s for s, count in enumerate(here) if count]
    else:
        there = entries_at(cast(CSR, mask.store).pattern, bounds).held()
        wanted = [s for s, count in enumerate(here) if count and (there[s] or mask.complement)]
    note_slices(bounds, wanted)
    tall = "xi" in uses
    made = RowRanges(q.name, a.nrows, b.ncols, q.semiring.z, a.device)
    masks = iter(()) if mask is None else walk(cast(CSR, mask.store), engine, bounds, wanted)
    for piece in walk(a, engine, bounds, wanted):
        question = replace(q, a=piece.standing(tall, a.nrows), b=b, mask=None)
        if mask is not None:
            other = next(masks)
            slice_mask = Mask(other.standing(tall, a.nrows), mask.structural, mask.complement)
            made.add(piece, other.kept(run_masked(replace(question, mask=slice_mask), engine)))
        else:
            made.add(piece, registry.run(question, engine))
    return made.matrix()
