"""Parts of vectors for slices of rows, and vectors joined from such parts."""

from __future__ import annotations

from typing import Any, NamedTuple, cast

import numpy as np

from ...formats import (
    Array,
    Bitmap,
    Count,
    Full,
    IndexList,
    VectorStore,
    array_module,
    dense_values,
    device_of,
    index_dtype,
    word_count,
)
from ...formats.vectors import Uncounted, empty_vector
from ...memory.arrays import to_host
from .. import registry
from ..requests.operands import Mask
from ..requests.operations import Convert, Keep
from ..rows.bounds import WORD
from ..rows.slices import same_iso


class Part(NamedTuple):
    """The positions from `first` to `last` of a vector."""

    first: int
    last: int
    entries: VectorStore


class Listed:
    """A vector as an index list divided at row bounds.  Synchronizes once, to read the positions of the bounds."""

    def __init__(self, u: VectorStore, bounds: tuple[int, ...], engine: str) -> None:
        self.u = converted(u, "index", engine)
        self.bounds = bounds
        self.at = positions_below(bounds, self.u.indices)

    def has(self, s: int) -> bool:
        """Return whether slice s holds entries."""
        return bool(self.at[s] < self.at[s + 1])

    def around(self, chosen: list[int], unit: int) -> tuple[tuple[int, ...], list[int]]:
        """Return (bounds, selected): for each chosen slice with entries, the rows from its first entry to its last.

        Rounded outwards to multiples of `unit`, of which all slice bounds are.  Synchronizes once.
        """
        ends = [slot for s in chosen for slot in (self.at[s], self.at[s + 1] - 1)]
        if not ends:
            return (), []
        positions = array_module(self.u.device).asarray(np.array(ends, np.int64))
        rows = to_host(self.u.indices[positions]).tolist()  # synchronizes
        bounds: list[int] = []
        selected = []
        for low, high in zip(rows[::2], rows[1::2], strict=True):
            first, last = low // unit * unit, min((high // unit + 1) * unit, self.u.size)
            if not bounds or bounds[-1] != first:
                bounds.append(first)
            selected.append(len(bounds) - 1)
            bounds.append(last)
        return tuple(bounds), selected

    def part(self, s: int, first: int, last: int) -> IndexList:
        """Return the entries in slice s, all from `first` to `last`, at their positions relative to `first`."""
        here = self.offset_preserving(s)
        indices = (here.indices - first).astype(index_dtype(last - first), copy=False)
        return IndexList(last - first, here.dtype, indices, here.values, here.iso)

    def offset_preserving(self, s: int) -> IndexList:
        """Return the entries in slice s, at their positions in the whole vector."""
        u, begin, end = self.u, self.at[s], self.at[s + 1]
        values = None if u.values is None else u.values[begin:end]
        return IndexList(u.size, u.dtype, u.indices[begin:end], values, u.iso)


def positions_below(bounds: tuple[int, ...], ascending: Array) -> list[int]:
    """Return the number of the ascending positions before each bound.  Synchronizes."""
    if ascending.size == 0:
        return [0] * len(bounds)
    xp = array_module(device_of(ascending))
    edges = xp.asarray(np.array(bounds, np.int64)).astype(ascending.dtype)
    return cast("list[int]", to_host(xp.searchsorted(ascending, edges)).tolist())  # synchronizes


def admitted(mask: Mask, size: int, bounds: tuple[int, ...], engine: str) -> Listed:
    """Return the positions that a mask admits, divided at row bounds."""
    everywhere = Full(size, np.dtype(np.bool_), None, np.bool_(True), mask.store.device)
    return Listed(registry.run(Keep(everywhere, mask), engine), bounds, engine)


def converted(u: VectorStore, to: str, engine: str) -> Any:
    """Convert the vector to a format; return it itself if it has that format."""
    return u if u.format == to else registry.run(Convert(u, to), engine)


def joined(size: int, dtype: np.dtype[Any], parts: list[Part], engine: str, device: str) -> VectorStore:
    """Join ascending disjoint parts, each of which begins at a multiple of 32; the rest is empty."""
    if not parts:
        return empty_vector(size, dtype, device)
    if all(isinstance(part.entries, IndexList) for part in parts):
        return _listed(size, dtype, parts, device)
    values, iso = _slots(size, dtype, parts, engine, device)
    if all(isinstance(part.entries, Full) for part in parts) and sum(p.last - p.first for p in parts) == size:
        return Full(size, dtype, values, iso, device)
    words = array_module(device).zeros(word_count(size), dtype=np.uint32)
    counts = list[Count]()
    for first, last, entries in parts:
        bits: Bitmap = converted(entries, "bitmap", engine)
        words[first // WORD : first // WORD + word_count(last - first)] = bits.words
        counts.append(bits.count)
    known = all(count.known for count in counts)
    return Bitmap(size, dtype, words, values, iso, Count(sum(c.get() for c in counts)) if known else Uncounted(words))


def _listed(size: int, dtype: np.dtype[Any], parts: list[Part], device: str) -> IndexList:
    xp = array_module(device)
    filled = [part for part in parts if part.entries.nvals]
    if not filled:
        return empty_vector(size, dtype, device)
    index = index_dtype(size)
    indices = xp.concatenate([part.entries.indices.astype(index) + index.type(part.first) for part in filled])
    iso = same_iso([part.entries.iso for part in filled])
    values = None if iso is not None else xp.concatenate([dense_values(part.entries) for part in filled])
    return IndexList(size, dtype, indices, values, iso)


def _slots(
    size: int, dtype: np.dtype[Any], parts: list[Part], engine: str, device: str
) -> tuple[Array | None, np.generic | None]:
    """Return (values, iso) of all positions; values of absent entries are arbitrary."""
    iso = same_iso([part.entries.iso for part in parts])
    if iso is not None:
        return None, iso
    values = array_module(device).empty(size, dtype=dtype)
    for first, last, entries in parts:
        slots = converted(entries, "bitmap", engine) if isinstance(entries, IndexList) else entries
        values[first:last] = slots.iso if slots.values is None else slots.values
    return values, None
