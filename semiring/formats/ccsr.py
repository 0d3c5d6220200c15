"""Compressed sparse rows: the columns as gaps, in one stream that is divided into tiles of 128 entries.

The numbering of entries is that of CSR: row i holds the entries from ``indptr[i]`` to ``indptr[i + 1]``, and values
are stored uncompressed in that order.  So a division of work by entries (merge paths, edge-balanced pushes) is the
same for compressed and uncompressed rows.  Tile t holds the entries 128 t to 128 t + 127, of any number of rows: a
row of 200 million entries is a million tiles, which any number of warps decode independently.
Beside the stream, each tile has two elements:

    base[t]   the column of its first entry (the *anchor*: nothing before the tile is needed to decode it)
    at[t]     where its part of the stream begins, in elements; ``at[ntiles]`` is where the last part ends

A codec fills the stream: `formats.codecs` has a module for each, which states the layout of a tile.

A compressed pattern is *well formed* (`requests.storage.CheckCompressed`) if

- the arrays have the dtypes and sizes stated below; `indptr` rises from 0 to nvals;
- `at` rises from 0, ``at[ntiles]`` plus the padding is the size of the stream, and each tile uses exactly the
  elements between ``at[t]`` and ``at[t + 1]``;
- the columns of each row ascend strictly and are below ncols;
- each tile satisfies the conditions that the module of its codec states.

Bits that no entry needs (padding, the rest of a word, numbers longer than the shortest encoding) may have any value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Self

import numpy as np

from ..exceptions import InvalidFormat
from ..memory.arrays import Array, array_module, index_dtype, to_host
from ..memory.placement import Placement, placed
from .codecs import CODECS, DEFINITIONS, Codec
from .pattern import AnyPattern
from .records import record
from .tiles import TILE, tile_count


def at_dtype(elements: int) -> np.dtype[Any]:
    """Return the dtype of `at` for a stream of so many elements, padding included: uint32 below 2^32, else int64."""
    return np.dtype(np.uint32) if elements < 1 << 32 else np.dtype(np.int64)


def compressed_nbytes(nrows: int, ncols: int, nvals: int, codec: Codec, used: int) -> int:
    """Return the bytes of all arrays of a compressed pattern whose tiles have `used` elements (``at[ntiles]``)."""
    definition = DEFINITIONS[codec]
    size, ntiles = used + definition.padding, tile_count(nvals)
    offsets, bases = index_dtype(nvals).itemsize, index_dtype(ncols).itemsize
    parts = at_dtype(size).itemsize
    return (nrows + 1) * offsets + ntiles * bases + (ntiles + 1) * parts + size * definition.element.itemsize


@record
class CompressedPattern(AnyPattern):
    """The structure of a matrix as compressed rows (see the module for the layout).

    nrows, ncols, nvals: shape and number of entries.
    codec: the name of the codec.
    indptr: ``nrows + 1`` offsets of entries; `index_dtype(nvals)`.
    base: the column of each tile's first entry; `index_dtype(ncols)`.
    at: where each tile begins in the stream, and where the last ends (``ntiles + 1``); uint32 where the stream has
        fewer than 2^32 elements, padding included, else int64 (`at_dtype`).
    stream: elements of the codec's type, longer than ``at[-1]`` by the padding of the codec; stored according to
        `placement`.  indptr, base and at are always in the device's memory.
    facts: see `AnyPattern`.
    """

    format = "ccsr"
    ARRAYS = ("indptr", "base", "at", "stream")
    ENTRIES = "stream"
    COUNTED = "stream"
    HAS_CODEC = True
    READ_BY_ENGINES = True

    nrows: int
    ncols: int
    nvals: int
    codec: Codec
    indptr: Array
    base: Array
    at: Array
    stream: Array
    facts: dict[str, Any] = field(default_factory=dict, repr=False)
    placement: Placement = "device"

    @property
    def ntiles(self) -> int:
        """The number of tiles."""
        return tile_count(self.nvals)

    @classmethod
    def sections(
        cls, nrows: int, ncols: int, nvals: int, codec: str | None, elements: int
    ) -> dict[str, tuple[int, np.dtype[Any]]]:
        """Return the size and the dtype of each array, for a stream of so many elements, padding included."""
        assert codec is not None
        return {
            "indptr": (nrows + 1, index_dtype(nvals)),
            "base": (tile_count(nvals), index_dtype(ncols)),
            "at": (tile_count(nvals) + 1, at_dtype(elements)),
            "stream": (elements, DEFINITIONS[codec].element),
        }

    @classmethod
    def wrong_ends(
        cls, arrays: Mapping[str, Array], nvals: int, codec: str | None, shape: tuple[int, ...]
    ) -> tuple[str, str | None] | None:
        """Check the ends of the row offsets, and that the tiles begin and end with the stream."""
        assert codec is not None
        wrong = super().wrong_ends(arrays, nvals, codec, shape)
        if wrong is not None:
            return wrong
        padding, least = DEFINITIONS[codec].padding, DEFINITIONS[codec].least_elements(nvals)
        length, first, last = int(arrays["stream"].size) - padding, int(arrays["at"][0]), int(arrays["at"][-1])
        if length < least:
            needed = f"at least {least} elements and {padding} of padding in the stream of {nvals} entries"
            return f"expected {needed}, found {length + padding}", None
        if (first, last) != (0, length):
            needed = f"tiles from 0 to {length}, {padding} before the end of the stream"
            return f"expected {needed}, found {first} to {last}", "at"
        return None

    @classmethod
    def of_arrays(
        cls,
        nrows: int,
        ncols: int,
        nvals: int,
        codec: str | None,
        arrays: Mapping[str, Array],
        facts: dict[str, Any],
        placement: Placement,
    ) -> Self:
        """Return the pattern with these arrays."""
        assert codec is not None
        tiles = arrays["base"], arrays["at"], arrays["stream"]
        return cls(nrows, ncols, nvals, codec, arrays["indptr"], *tiles, facts, placement)

    def around(self, begin: int, end: int, col: int) -> tuple[AnyPattern, int]:
        """Return a pattern whose row 1 holds the entries of [begin, end) in one tile, and the first of these entries.

        begin, end: a row that is not empty.  Of the tiles that begin within the row, the last one whose first column
        is at most `col` is chosen, so that it contains the entry of `col` if there is one.  Synchronizes.
        """
        xp = array_module(self.device)
        within = self.base[begin // TILE + 1 : -(-end // TILE)]
        tile = begin // TILE + int(to_host(xp.searchsorted(within, xp.asarray([col]), side="right"))[0])
        low, high = max(begin, tile * TILE), min(end, (tile + 1) * TILE)
        return self.rows_of_tile(tile, (low, high)), low

    def rows_of_tile(self, tile: int, bounds: tuple[int, ...]) -> CompressedPattern:
        """Return one tile as a pattern with a row for each pair of successive bounds, from row 1.

        bounds: ascending entry numbers; each begins a row of this pattern or the tile, but for the last.  Row 0 holds
        the entries before, and the last row those behind; a codec may restart its sums at the first of the bounds, so
        these two are not decoded correctly.  Synchronizes.
        """
        xp, first = array_module(self.device), tile * TILE
        count = min(TILE, self.nvals - first)
        start, end = (int(x) for x in to_host(self.at[tile : tile + 2]))  # synchronizes
        stream = placed(self.stream[start : end + DEFINITIONS[self.codec].padding].copy(), "device", self.device)
        offsets = [0, *(bound - first for bound in bounds), count]
        indptr = xp.asarray(np.array(offsets, index_dtype(count)))
        at = xp.asarray(np.array([0, end - start], at_dtype(0)))
        return CompressedPattern(
            len(bounds) + 1, self.ncols, count, self.codec, indptr, self.base[tile : tile + 1], at, stream
        )


def check_arrays(pattern: CompressedPattern) -> None:
    """Raise InvalidFormat unless the arrays have the types and sizes that belong to the shape; reads no element.

    The first part of `requests.storage.CheckCompressed`: kernels can check a pattern that passes without reading
    out of bounds.
    """
    if pattern.codec not in CODECS:
        raise InvalidFormat(f"codec is {pattern.codec!r}; expected one of {', '.join(CODECS)}")
    if min(pattern.nrows, pattern.ncols, pattern.nvals) < 0:
        raise InvalidFormat(
            f"shape {pattern.nrows} x {pattern.ncols} with {pattern.nvals} entries; expected none below 0"
        )
    size = int(pattern.stream.size)
    definition = DEFINITIONS[pattern.codec]
    if size < definition.padding:
        raise InvalidFormat(f"stream has {size} elements; expected at least {definition.padding} of padding")
    expected = pattern.sections(pattern.nrows, pattern.ncols, pattern.nvals, pattern.codec, size)
    for name, (count, dtype) in expected.items():
        array = getattr(pattern, name)
        if array.dtype != dtype or array.shape != (count,):
            raise InvalidFormat(
                f"{name} holds {array.dtype} of shape {array.shape}; expected {dtype} of shape ({count},)"
            )
