"""Slices of a matrix as plain matrices: walking over them, and keeping what is made of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar, cast

import numpy as np

from ...formats import CSR, Array, Full, Pattern, Store, array_module, index_dtype
from ...formats.pattern import scalar_facts
from ...memory.allocation import require
from ...memory.arrays import address_of, to_device
from .. import recording, registry
from ..spec import Keep, Mxm, Mxv
from ..spec_forms import Slices
from .bounds import cuts

S = TypeVar("S", bound=Store)
_NEEDS_PLAIN = (
    "this operation rewrites every entry, so it needs the plain form in the memory of the device; "
    "use smaller types or iso values, or a device with more memory"
)
# Values that travel to the device at once.
_TRAVEL = 1 << 24


@dataclass(frozen=True, eq=False)
class Piece:
    """The rows from `first` to `last` of a matrix, as a plain matrix of their own.

    It lends its arrays: they may be overwritten once the piece after the next is asked for.
    """

    first: int
    last: int
    rows: CSR

    def tall(self, nrows: int) -> CSR:
        """The rows where they stand in the whole matrix of `nrows` rows, all others empty.

        For operators that read the row of an entry.  Cost O(nrows).
        """
        pattern = self.rows.pattern
        assert isinstance(pattern, Pattern)
        offsets = array_module(pattern.device).empty(nrows + 1, dtype=pattern.indptr.dtype)
        offsets[: self.first] = 0
        offsets[self.first : self.last + 1] = pattern.indptr
        offsets[self.last + 1 :] = pattern.nvals
        standing = Pattern(nrows, pattern.ncols, offsets, pattern.indices)
        return CSR(standing, self.rows.dtype, self.rows.values, self.rows.iso)

    def standing(self, tall: bool, nrows: int) -> CSR:
        """The rows where they stand if `tall`, else by themselves."""
        return self.tall(nrows) if tall else self.rows

    def kept(self, store: S) -> S:
        """An answer about this piece as something to keep: arrays that are lent are copied."""
        lent = [_extent(a) for a in (self.rows.indptr, self.rows.indices, self.rows.values) if a is not None]
        answer = _copied(store, lent)
        if isinstance(answer, CSR):
            answer = replace(answer, pattern=_copied(answer.pattern, lent), cache={})
        return cast(S, answer)


def _copied(record: Any, lent: list[tuple[int, int]]) -> Any:
    """A store or a pattern with its own copies of the arrays that lie in lent memory."""
    changes = {}
    for field in fields(record):
        value = getattr(record, field.name)
        if hasattr(value, "nbytes") and hasattr(value, "dtype") and value.ndim and value.size:
            begin, end = _extent(value)
            if any(begin < other_end and other_begin < end for other_begin, other_end in lent):
                changes[field.name] = value.copy()
    return replace(record, **changes) if changes else record


def _extent(array: Array) -> tuple[int, int]:
    """The addresses that an array covers."""
    begin = address_of(array)
    return begin, begin + int(array.nbytes)


def walk(a: CSR, engine: str, bounds: tuple[int, ...], wanted: Iterable[int]) -> Iterator[Piece]:
    """The wanted slices of a, one after the other."""
    chosen = tuple(wanted)
    if chosen:
        found = registry.run(Slices(a, bounds, chosen), engine)
        for s, rows in zip(chosen, found, strict=True):
            yield Piece(bounds[s], bounds[s + 1], rows)


def travelling(a: CSR) -> Iterator[tuple[int, Full]]:
    """The values of a matrix that lie in host memory, part after part in that of its device: (first entry, values)."""
    assert a.values is not None
    for first in range(0, a.nvals, _TRAVEL):
        part = to_device(a.values[first : first + _TRAVEL], a.device)
        yield first, Full(int(part.size), a.dtype, part)


def note_slices(bounds: tuple[int, ...], wanted: Iterable[int], **details: Any) -> None:
    """Tell `explain` how many slices there are and how many of them were not needed."""
    count = len(bounds) - 1
    recording.note(kernel="sliced", slices=count, skipped=count - len(list(wanted)), **details)


def is_plain(a: Any) -> bool:
    """True for uncompressed rows that kernels can address."""
    kind = getattr(a, "kind", None)
    return kind is not None and bool(kind.uncompressed)


def bare(a: CSR, read: bool) -> CSR:
    """The matrix itself if its values are `read`; else its structure alone, so that no values are copied."""
    return a if read or a.iso is not None else CSR(a.pattern, a.dtype, None, a.dtype.type(0))


def whole(a: CSR, engine: str, operation: str) -> CSR:
    """The matrix as plain rows in the memory of the device: for operations that rewrite all entries in another order.

    Raises OutOfMemory if they do not fit.  Besides the result it needs what two slices do.
    """
    if is_plain(a):
        return a
    device, column = a.device, index_dtype(a.ncols)
    size = a.nvals * (column.itemsize + (0 if a.iso is not None else a.dtype.itemsize))
    require(operation, device, size, hint=_NEEDS_PLAIN)
    xp = array_module(device)
    columns = xp.empty(a.nvals, dtype=column)
    values = None if a.iso is not None else xp.empty(a.nvals, dtype=a.dtype)
    where = cuts(a.pattern)
    (rows, entries), wanted = where, where.filled()
    for s, piece in zip(wanted, walk(a, engine, rows, wanted), strict=True):
        place = slice(entries[s], entries[s + 1])
        columns[place] = piece.rows.indices
        if values is not None:
            values[place] = piece.rows.values
    pattern = Pattern(a.nrows, a.ncols, a.indptr, columns, scalar_facts(a.pattern))
    return CSR(pattern, a.dtype, values, a.iso)


def run_masked(question: Mxv | Mxm, engine: str) -> Any:
    """The answer without what the mask does not admit, whether or not the engine's own answer leaves it out."""
    if question.mask is None:
        return registry.run(question, engine)
    row = registry.find(question, engine)
    if row is not None and "mask" in row.fuses:
        return registry.call(row, question)
    return registry.run(Keep(registry.run(replace(question, mask=None), engine), question.mask), engine)


def same_iso(values: Iterable[np.generic | None]) -> np.generic | None:
    """The value that all are, bit by bit; None if one is none or they differ."""
    found = list(values)
    first = found[0] if found else None
    if first is None or any(value is None or value.tobytes() != first.tobytes() for value in found):
        return None
    return first
