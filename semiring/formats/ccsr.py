"""Compressed sparse rows: the columns as gaps, in one stream that is divided into tiles of 128 entries.

The numbering of entries is that of CSR: row i holds the entries from ``indptr[i]`` to ``indptr[i + 1]``, and values
are stored uncompressed in that order.  So a division of work by entries (merge paths, edge-balanced pushes) is the
same for compressed and uncompressed rows.  Tile t holds the entries 128 t to 128 t + 127, of any number of rows: a
row of 200 million entries is a million tiles, which any number of warps decode independently.
Beside the stream, each tile has two elements:

    base[t]   the column of its first entry (the *anchor*: nothing before the tile is needed to decode it)
    at[t]     where its part of the stream begins, in elements; ``at[ntiles]`` is where the last part ends

Two codecs fill the stream.

``varint``: LEB128, 7 bits a byte, least significant first, the top bit set on all bytes but the last of a number.
The first entry of each row is its column, every other entry its gap, ``column - column before``.  The bytes are
exactly those of the papers.  `at` is where the number of the tile's first entry begins.  (The decoder of a tile
skips that number and uses ``base[t]``.)  Prefix sums restart at each row, so a decoder needs `indptr`.  Encoders
write the shortest encoding; a number has at most 9 bytes, as columns are below 2^63.  16 bytes of 0 follow the last
part, so that whole words can be loaded from the first byte of any number.

``packed``: for each tile one bit width, made for a warp.  All arithmetic is modulo 2^b, where b is the number of bits
of ``ncols - 1`` (at least 1).  The gap of entry s of the tile (s = 1 .. count - 1) is ``column[s] - column[s - 1]``
modulo 2^b, whether or not both are in one row: so a tile is decoded without the row offsets; gap 0 is 0.  The low w
bits of a gap are in slot s; a gap of more bits is an *exception*.  The words (32 bits, little-endian) of a tile:

    word 0       w + 64 x + 16384 h: width w (6 bits), number of exceptions x (0 to 127, in 8 bits), width h of
                 their high parts (6 bits); the 12 bits above are 0
    then         the column of entry 64 (only if count > 64): one word, or two (low first) where b > 31
    then         for each of the ceil(count / 32) chunks of 32 slots: w words; slot i of the chunk in bits i w to
                 i w + w - 1, counted from the lowest bit of the first of them; slots past the count are 0
    then         the slots of the exceptions within the tile, ascending, one byte each, the first in the lowest byte,
                 padded to a word with 0
    then         their high parts, gap >> w, h bits each, contiguous from the lowest bit up, padded to a word with 0

h is the bit length of the largest high part (0 if x = 0), so w + h <= b.  w is the width that makes the tile
smallest, the least of several: so all engines write the same words.  4 words of 0 follow the last part, so that 8
bytes can be loaded from the first byte of any slot.

The columns of entries 0 and 64 are stored, and the gap of entry 64 yields the column of entry 63: so the chunks 0, 1
and 2 are decoded with one prefix sum of 32 gaps each, and chunk 3 with the sums of chunks 2 and 3.  (``base[t + 1]``
does not yield the column of entry 127: the gap between tiles is not stored.)  A thread that needs one entry adds at
most 63 gaps, and at most 32 outside chunk 3.

A compressed pattern is *well formed* (`engines.spec_storage.CheckCompressed`) if

- the arrays have the dtypes and sizes stated below; `indptr` rises from 0 to nvals;
- `at` rises from 0, ``at[ntiles]`` plus the padding is the size of the stream, and each tile uses exactly the
  elements between ``at[t]`` and ``at[t + 1]``;
- the columns of each row ascend strictly and are below ncols;
- varint: no number has more than 9 bytes, and the number of a tile's first entry agrees with ``base[t]``;
- packed: w + h <= b, the bits of slot 0 are 0, the slots of exceptions ascend from at least 1 and are below the
  count, and the column of entry 64 equals the sum of the gaps before it.

Bits that no entry needs (padding, the rest of a word, numbers longer than the shortest encoding) may have any value.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any, Literal

import numpy as np

from ..exceptions import InvalidFormat
from ..memory.arrays import Array, device_of, index_dtype, to_device
from ..memory.placement import Placement
from .kinds import StorageKind, storage_kind
from .pattern import scalar_facts
from .records import derived, record

Codec = Literal["varint", "packed"]
CODECS: tuple[Codec, ...] = ("varint", "packed")
TILE = 128
# Elements of 0 after the last part of the stream, and the type of an element.
PADDING: dict[Codec, int] = {"varint": 16, "packed": 4}
ELEMENT: dict[Codec, np.dtype[Any]] = {"varint": np.dtype(np.uint8), "packed": np.dtype(np.uint32)}


def tile_count(nvals: int) -> int:
    """Return the number of tiles of `nvals` entries."""
    return -(-nvals // TILE)


def column_bits(ncols: int) -> int:
    """Return b, the number of bits of a column, at least 1."""
    return max(1, (ncols - 1).bit_length())


def at_dtype(elements: int) -> np.dtype[Any]:
    """Return the dtype of `at` for a stream of so many elements, padding included: uint32 below 2^32, else int64."""
    return np.dtype(np.uint32) if elements < 1 << 32 else np.dtype(np.int64)


def compressed_nbytes(nrows: int, ncols: int, nvals: int, codec: Codec, used: int) -> int:
    """Return the bytes of all arrays of a compressed pattern whose tiles have `used` elements (``at[ntiles]``)."""
    size, ntiles = used + PADDING[codec], tile_count(nvals)
    offsets, bases = index_dtype(nvals).itemsize, index_dtype(ncols).itemsize
    parts = at_dtype(size).itemsize
    return (nrows + 1) * offsets + ntiles * bases + (ntiles + 1) * parts + size * ELEMENT[codec].itemsize


@record
class CompressedPattern:
    """The structure of a matrix as compressed rows (see the module for the layout).

    nrows, ncols, nvals: shape and number of entries.
    codec: ``"varint"`` or ``"packed"``.
    indptr: ``nrows + 1`` offsets of entries; `index_dtype(nvals)`.
    base: the column of each tile's first entry; `index_dtype(ncols)`.
    at: where each tile begins in the stream, and where the last ends (``ntiles + 1``); uint32 where the stream has
        fewer than 2^32 elements, padding included, else int64 (`at_dtype`).
    stream: uint8 (varint) or uint32 (packed), `PADDING` elements longer than ``at[-1]``; stored according to
        `placement`.  indptr, base and at are always in the device's memory.
    facts: as in `Pattern`.
    """

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

    format: Literal["ccsr"] = field(default="ccsr", init=False, repr=False)

    @property
    def ntiles(self) -> int:
        """The number of tiles."""
        return tile_count(self.nvals)

    @derived
    def kind(self) -> StorageKind:
        """Format, codec and placement."""
        return storage_kind("ccsr", self.codec, self.placement)

    @derived
    def device(self) -> str:
        """The device that computes with it: ``"cpu"`` or ``"cuda"``."""
        return device_of(self.indptr)

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays, in any memory."""
        return int(self.indptr.nbytes + self.base.nbytes + self.at.nbytes + self.stream.nbytes)

    def to(self, device: str) -> CompressedPattern:
        """Return the same pattern in the memory of another device; facts that hold no arrays are copied."""
        if device == self.device and self.placement == "device":
            return self
        indptr, base = to_device(self.indptr, device), to_device(self.base, device)
        at, stream = to_device(self.at, device), to_device(self.stream, device)
        shape = self.nrows, self.ncols, self.nvals
        return CompressedPattern(*shape, self.codec, indptr, base, at, stream, scalar_facts(self))


def check_arrays(pattern: CompressedPattern) -> None:
    """Raise InvalidFormat unless the arrays have the types and sizes that belong to the shape; reads no element.

    The first part of `engines.spec_storage.CheckCompressed`: kernels can check a pattern that passes without reading
    out of bounds.
    """
    if pattern.codec not in CODECS:
        raise InvalidFormat(f"codec is {pattern.codec!r}; expected one of {', '.join(CODECS)}")
    if min(pattern.nrows, pattern.ncols, pattern.nvals) < 0:
        raise InvalidFormat(
            f"shape {pattern.nrows} x {pattern.ncols} with {pattern.nvals} entries; expected none below 0"
        )
    size = int(pattern.stream.size)
    if size < PADDING[pattern.codec]:
        raise InvalidFormat(f"stream has {size} elements; expected at least {PADDING[pattern.codec]} of padding")
    expected = {
        "indptr": (index_dtype(pattern.nvals), pattern.nrows + 1),
        "base": (index_dtype(pattern.ncols), pattern.ntiles),
        "at": (at_dtype(size), pattern.ntiles + 1),
        "stream": (ELEMENT[pattern.codec], size),
    }
    for name, (dtype, count) in expected.items():
        array = getattr(pattern, name)
        if array.dtype != dtype or array.shape != (count,):
            raise InvalidFormat(
                f"{name} holds {array.dtype} of shape {array.shape}; expected {dtype} of shape ({count},)"
            )
