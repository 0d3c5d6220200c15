"""Encoding of rows slice by slice, so that the uncompressed pattern need never exist as a whole.

The finished pattern equals, bit for bit, the one that encoding all rows at once produces: entries that do not fill a
tile are kept for the next slice (`TilePartitioner`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from ...formats import CSR, TILE, Array, Codec, CompressedPattern, Pattern, Placement, array_module, index_dtype
from ...formats.ccsr import at_dtype, compressed_nbytes
from ...formats.codecs import DEFINITIONS
from ...formats.tiles import tile_count
from ...memory.arrays import to_device, to_host
from ...memory.locked import locked_empty
from ...memory.placement import placed
from ...memory.transfer import download
from .. import registry
from ..requests.storage import Encode, MeasureCompressed

# A slice of rows: a matrix, a pattern, or (offsets from 0, columns).
Rows = CSR | Pattern | tuple[Array, Array]


class Encoder:
    """Builds a compressed pattern from slices of rows.

    Parameters
    ----------
    ncols : number of columns
    codec : name of the codec
    engine : name of the engine that encodes; slices are copied to its device
    indptr : the offsets of all rows, on that device
    used : the number of stream elements without padding, if known (`measured`): the stream is then allocated once;
        otherwise joining the parts temporarily needs twice its memory
    placement : where the stream is assembled: for ``"pinned"`` and ``"host"`` in host memory, and device memory holds
        the part of one slice at a time

    Notes
    -----
    Cost O(entries), and O(rows).  Each slice synchronizes on the GPU.
    """

    def __init__(
        self,
        ncols: int,
        codec: Codec,
        engine: str,
        indptr: Array,
        *,
        used: int | None = None,
        placement: Placement = "device",
    ) -> None:
        self.ncols, self.codec, self.engine, self.placement = ncols, codec, engine, placement
        self.device = "cuda" if engine == "cuda" else "cpu"
        self._indptr = indptr
        self._partitioner = TilePartitioner(ncols, self.device)
        self._bases: list[Array] = []
        self._ats: list[tuple[Array, int]] = []
        self._stream = _Stream(codec, self.device, placement, used)
        self._entries = 0

    def feed(self, rows: Rows) -> None:
        """Append rows; their columns must ascend and be less than ncols."""
        if isinstance(rows, CSR):
            rows = _uncompressed(rows)
        indptr, indices = (rows.indptr, rows.indices) if isinstance(rows, Pattern) else rows
        self._entries += int(indices.size)
        self._encode(self._partitioner.feed(indptr, indices))

    def finish(self, facts: dict[str, Any] | None = None) -> CompressedPattern:
        """Return the pattern of all rows fed.  The encoder cannot be used afterwards."""
        self._encode(self._partitioner.rest())
        xp = array_module(self.device)
        used = self._stream.used
        at = xp.zeros(tile_count(self._entries) + 1, at_dtype(used + DEFINITIONS[self.codec].padding))
        done = 0
        for part, start in self._ats:
            place = at[done : done + part.size]
            place[...] = part
            place += at.dtype.type(start)
            done += int(part.size)
        at[done:] = used
        base = xp.concatenate([xp.zeros(0, index_dtype(self.ncols)), *self._bases])
        stream = self._stream.finish()
        shape = int(self._indptr.size) - 1, self.ncols, self._entries
        arrays = self._indptr, base, at, stream
        return CompressedPattern(*shape, self.codec, *arrays, dict(facts or {}), self.placement)

    def _encode(self, tiles: Tiles | None) -> None:
        if tiles is None:
            return
        made = registry.run(Encode(tiles.pattern, self.codec, tiles.before), self.engine)
        self._bases.append(made.base)
        self._ats.append((made.at[:-1], self._stream.used))
        self._stream.add(made.stream[: -DEFINITIONS[self.codec].padding])


class _Stream:
    """The stream of the finished pattern: parts are joined at the end or, if the size is known, written in place."""

    def __init__(self, codec: Codec, device: str, placement: Placement, used: int | None) -> None:
        self.codec, self.device, self.placement = codec, device, placement
        # True if the parts are copied from GPU memory to host memory.
        self._leaves = device == "cuda" and placement != "device"
        self.used = 0
        self._parts: list[Array] = []
        self._whole = None if used is None else self._empty(used)

    def _empty(self, used: int) -> Array:
        """Allocate `used` elements and initialize the padding behind them."""
        definition = DEFINITIONS[self.codec]
        size, dtype = used + definition.padding, definition.element
        whole = locked_empty(size, dtype) if self._leaves else array_module(self.device).empty(size, dtype)
        whole[used:] = 0
        return whole

    def add(self, part: Array) -> None:
        """Append a part.  Synchronizes if the stream is in host memory."""
        if self._whole is None:
            self._parts.append(placed(part, "host", self.device) if self._leaves else part)
        elif self._leaves:
            download(part, self._whole[self.used : self.used + part.size])  # synchronizes
        else:
            self._whole[self.used : self.used + part.size] = part
        self.used += int(part.size)

    def finish(self) -> Array:
        """Return the whole stream, in the memory that `placement` names."""
        if self._whole is None:
            self._whole = self._empty(self.used)
            done = 0
            for part in _emptied(self._parts):
                self._whole[done : done + part.size] = part
                done += int(part.size)
        return placed(self._whole, self.placement, self.device)


def measured(slices: Iterable[Rows], ncols: int, codec: Codec, engine: str) -> int:
    """Return the exact number of stream elements, without padding, for rows given in slices.  Synchronizes."""
    partitioner = TilePartitioner(ncols, "cuda" if engine == "cuda" else "cpu")
    used = 0
    for rows in slices:
        if isinstance(rows, CSR):
            rows = _uncompressed(rows)
        indptr, indices = (rows.indptr, rows.indices) if isinstance(rows, Pattern) else rows
        used += _used(partitioner.feed(indptr, indices), codec, engine)
    return used + _used(partitioner.rest(), codec, engine)


def _used(tiles: Tiles | None, codec: Codec, engine: str) -> int:
    if tiles is None:
        return 0
    pattern = tiles.pattern
    nbytes = int(registry.run(MeasureCompressed(pattern, codec), engine))
    used = _elements_of(nbytes, pattern, codec)
    elements = DEFINITIONS[codec].elements_of_number
    if elements is not None and tiles.before >= 0:
        # The first row continues the previous slice: its first number is a gap, but the engine has measured a column.
        first = int(to_host(pattern.indices[:1])[0])  # synchronizes
        used += elements(first - tiles.before) - elements(first)
    return used


def _elements_of(nbytes: int, pattern: Pattern | CompressedPattern, codec: Codec) -> int:
    """Return the number of stream elements, without padding, of a pattern that needs `nbytes` when compressed."""
    nrows, ncols, nvals = pattern.nrows, pattern.ncols, pattern.nvals
    itemsize = DEFINITIONS[codec].element.itemsize
    used = (nbytes - compressed_nbytes(nrows, ncols, nvals, codec, 0)) // itemsize
    # Tile offsets of long streams are wider; the difference counts as elements here.
    wider = 4 * (tile_count(nvals) + 1) // itemsize
    return used if used + DEFINITIONS[codec].padding < 1 << 32 else used - wider


def _uncompressed(rows: CSR) -> Pattern:
    assert isinstance(rows.pattern, Pattern), "slices of rows are uncompressed"
    return rows.pattern


def _emptied(parts: list[Any]) -> Iterable[Any]:
    """Yield the members in order and remove each from the list, so that its memory is freed after use."""
    parts.reverse()
    while parts:
        yield parts.pop()


class Tiles(NamedTuple):
    """Whole tiles as an uncompressed pattern in device memory; `before` as in `requests.storage.Encode`."""

    pattern: Pattern
    before: int


class TilePartitioner:
    """Accepts consecutive slices of rows and returns the same entries in whole tiles.

    Entries that do not fill a tile are copied and kept for the next slice; arrays of a slice are not kept.  A row that
    is split begins the next tiles, and continues there from `before`.
    """

    def __init__(self, ncols: int, device: str) -> None:
        self.ncols, self.device = ncols, device
        xp = array_module(device)
        # The kept rows: their offsets, from 0 to the number of kept entries, and their columns.
        self._indptr, self._indices = xp.zeros(1, np.int64), xp.zeros(0, index_dtype(ncols))
        self._before = -1

    def feed(self, indptr: Array, indices: Array) -> Tiles | None:
        """Return the tiles that these rows complete, or None.  Offsets begin at 0.  Synchronizes."""
        xp, kept = array_module(self.device), int(self._indices.size)
        indptr = to_device(indptr, self.device).astype(np.int64, copy=False)
        indices = to_device(indices, self.device).astype(index_dtype(self.ncols), copy=False)
        if kept:
            indptr = xp.concatenate([self._indptr, indptr[1:] + kept])
            indices = xp.concatenate([self._indices, indices])
        total = int(indices.size)
        whole = total // TILE * TILE
        before, self._before = self._before, -1
        made = None
        if whole == total:
            made = self._tiles(indptr, indices, before)
            self._keep(xp.zeros(1, np.int64), indices[:0])
        elif whole == 0:
            self._before = before
            self._keep(indptr[: self._ends(indptr, total) + 1].copy(), indices.copy())
        else:
            # The row of the first entry to keep; whether the row begins at that entry.
            row = int(to_host(xp.searchsorted(indptr, xp.asarray([whole]), side="right"))[0]) - 1
            start, last = (int(to_host(x)[0]) for x in (indptr[row : row + 1], indices[whole - 1 : whole]))
            made = self._tiles(xp.minimum(indptr[: row + 2], whole), indices[:whole], before)
            self._before = last if start < whole else -1
            ends = self._ends(indptr, total)
            self._keep(xp.maximum(indptr[row : ends + 1] - whole, 0), indices[whole:].copy())
        return made

    def rest(self) -> Tiles | None:
        """Return the last, partial tile, or None."""
        made = self._tiles(self._indptr, self._indices, self._before)
        self._keep(self._indptr[:1], self._indices[:0])
        self._before = -1
        return made

    def _tiles(self, indptr: Array, indices: Array, before: int) -> Tiles | None:
        count = int(indices.size)
        if count == 0:
            return None
        offsets = indptr.astype(index_dtype(count), copy=False)
        return Tiles(Pattern(int(indptr.size) - 1, self.ncols, offsets, indices), before)

    def _keep(self, indptr: Array, indices: Array) -> None:
        self._indptr, self._indices = indptr, indices

    def _ends(self, indptr: Array, total: int) -> int:
        """Return the first position whose offset is `total`: empty rows after it are irrelevant."""
        xp: Any = array_module(self.device)
        return int(to_host(xp.searchsorted(indptr, xp.asarray([total])))[0])  # synchronizes
