"""Slices of a matrix as uncompressed matrices: iteration over them, and copies of their results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar, cast

import numpy as np

from ...formats import CSR, Array, Full, Pattern, Store, array_module, index_dtype
from ...formats.pattern import scalar_facts
from ...memory.allocation import require
from ...memory.arrays import address_of, copied, to_device
from ...record_types import zero
from .. import recording, registry
from ..requests.operations import Keep, Mxm, Mxv
from ..requests.storage import Slices
from .bounds import slice_bounds

S = TypeVar("S", bound=Store)
_NEEDS_UNCOMPRESSED = (
    "this operation needs uncompressed rows in the memory of the device; "
    "use smaller types or iso values, or a device with more memory"
)
# Values of one copy to the device.
_CHUNK = 1 << 24


@dataclass(frozen=True, eq=False)
class RowSlice:
    """The rows from `first` to `last` of a matrix, as a separate uncompressed matrix.

    Its arrays are buffers, which may be overwritten when the slice after the next is requested.
    """

    first: int
    last: int
    rows: CSR

    def full_height(self, nrows: int) -> CSR:
        """Return the rows at their offsets in the whole matrix of `nrows` rows, all others empty.

        For operators that read the row of an entry.  Cost O(nrows).
        """
        pattern = self.rows.pattern
        assert isinstance(pattern, Pattern)
        offsets = array_module(pattern.device).empty(nrows + 1, dtype=pattern.indptr.dtype)
        offsets[: self.first] = 0
        offsets[self.first : self.last + 1] = pattern.indptr
        offsets[self.last + 1 :] = pattern.nvals
        full = Pattern(nrows, pattern.ncols, offsets, pattern.indices)
        return CSR(full, self.rows.dtype, self.rows.values, self.rows.iso)

    def offset_preserving(self, full_height: bool, nrows: int) -> CSR:
        """Return the rows at their offsets in the whole matrix if `full_height`, else as a separate matrix."""
        return self.full_height(nrows) if full_height else self.rows

    def detached(self, store: S) -> S:
        """Return a result of this slice that does not use its buffers: arrays that overlap them are copied."""
        buffers = [_extent(a) for a in (self.rows.indptr, self.rows.indices, self.rows.values) if a is not None]
        result = _copied(store, buffers)
        if isinstance(result, CSR):
            result = replace(result, pattern=_copied(result.pattern, buffers), cache={})
        return cast(S, result)


def _copied(record: Any, buffers: list[tuple[int, int]]) -> Any:
    """Return a store or a pattern with copies of the arrays that overlap the buffers."""
    changes: dict[str, Any] = {}
    for field in fields(record):
        value = getattr(record, field.name)
        if hasattr(value, "nbytes") and hasattr(value, "dtype") and value.ndim and value.size:
            begin, end = _extent(value)
            if any(begin < other_end and other_begin < end for other_begin, other_end in buffers):
                changes[field.name] = copied(value)
    if changes and hasattr(record, "facts"):
        changes["facts"] = scalar_facts(record)
    return replace(record, **changes) if changes else record


def _extent(array: Array) -> tuple[int, int]:
    """Return the addresses that an array covers."""
    begin = address_of(array)
    return begin, begin + int(array.nbytes)


def walk(a: CSR, engine: str, bounds: tuple[int, ...], selected: Iterable[int]) -> Iterator[RowSlice]:
    """Yield the requested slices of a, in order."""
    chosen = tuple(selected)
    if chosen:
        found = registry.run(Slices(a, bounds, chosen), engine)
        for s, rows in zip(chosen, found, strict=True):
            yield RowSlice(bounds[s], bounds[s + 1], rows)


def value_chunks(a: CSR) -> Iterator[tuple[int, Full]]:
    """Copy the values of a matrix from host memory to its device in chunks; yield (first entry, values)."""
    assert a.values is not None
    for first in range(0, a.nvals, _CHUNK):
        part = to_device(a.values[first : first + _CHUNK], a.device)
        yield first, Full(int(part.size), a.dtype, part)


def note_slices(bounds: tuple[int, ...], selected: Iterable[int], **details: Any) -> None:
    """Record for `explain` the number of slices, and of those that were skipped."""
    count = len(bounds) - 1
    recording.note(kernel="sliced", slices=count, skipped=count - len(list(selected)), **details)


def is_uncompressed(a: Any) -> bool:
    """Return whether these are uncompressed rows that kernels can address."""
    kind = getattr(a, "kind", None)
    return kind is not None and bool(kind.uncompressed)


def drop_unread(a: CSR, read: bool) -> CSR:
    """Return the matrix if its values are `read`; else its structure only, so that no values are copied."""
    return a if read or a.iso is not None else CSR(a.pattern, a.dtype, None, zero(a.dtype))


def require_copies(operation: str, device: str, stores: Iterable[CSR]) -> None:
    """Raise OutOfMemory unless uncompressed copies of all these matrices fit together in the memory of the device."""
    nbytes = sum(
        a.nvals * (index_dtype(a.ncols).itemsize + (0 if a.iso is not None else a.dtype.itemsize)) for a in stores
    )
    require(operation, device, nbytes, hint=_NEEDS_UNCOMPRESSED)


def uncompressed(a: CSR, engine: str, operation: str) -> CSR:
    """Return the matrix uncompressed and device-resident; itself if it is uncompressed and kernels can read it.

    Raises OutOfMemory if it does not fit.  Besides the result it needs the memory of two slices.
    """
    if is_uncompressed(a):
        return a
    require_copies(operation, a.device, (a,))
    xp = array_module(a.device)
    columns = xp.empty(a.nvals, dtype=index_dtype(a.ncols))
    values = None if a.iso is not None else xp.empty(a.nvals, dtype=a.dtype)
    where = slice_bounds(a.pattern)
    (rows, entries), selected = where, where.filled()
    for s, row_slice in zip(selected, walk(a, engine, rows, selected), strict=True):
        slot = slice(entries[s], entries[s + 1])
        columns[slot] = row_slice.rows.indices
        if values is not None:
            values[slot] = row_slice.rows.values
    pattern = Pattern(a.nrows, a.ncols, a.indptr, columns, scalar_facts(a.pattern))
    return CSR(pattern, a.dtype, values, a.iso)


def run_masked(request: Mxv | Mxm, engine: str) -> Any:
    """Return the masked result of a product, whether or not the engine fuses the mask."""
    if request.mask is None:
        return registry.run(request, engine)
    row = registry.find(request, engine)
    if row is not None and "mask" in row.fuses:
        return registry.call(row, request)
    return registry.run(Keep(registry.run(replace(request, mask=None), engine), request.mask), engine)


def same_iso(values: Iterable[np.generic | None]) -> np.generic | None:
    """Return the value that all are, bit by bit; None if one is None or they differ."""
    found = list(values)
    first = found[0] if found else None
    if first is None or any(value is None or value.tobytes() != first.tobytes() for value in found):
        return None
    return first
