"""Compressed sparse rows: the columns as gaps, in one stream that is cut into tiles of 128 entries.

The entries keep their numbers: entry p of the matrix is entry p here, row i holds the entries from ``indptr[i]`` to
``indptr[i + 1]``, and values lie in a plain array in that order.  So all that divides work by entries (merge paths,
edge-balanced pushes) is the same for plain and for compressed rows.  Tile t holds the entries 128 t to 128 t + 127, of
however many rows: a row of 200 million entries is a million tiles, which any number of warps decode independently.
For each tile there stand, apart from the stream:

    base[t]   the column of its first entry (the *anchor*: nothing before the tile is needed to decode it)
    at[t]     where its part of the stream begins; ``at[ntiles]`` is where the stream ends

Two codecs fill the stream.

``varint``: LEB128, 7 bits a byte, least significant first, the top bit set on all bytes but the last of a number.
The first entry of each row is its column, every other entry its gap, ``column - column before``.  The bytes are exactly
those of the papers.  `at` counts bytes and is where the number of the tile's first entry begins.  (Whoever decodes a tile
passes over that number and takes ``base[t]``.)  Sums start anew with each row, so a decoder needs `indptr`.
16 bytes of 0 follow the stream, so that whole words can be loaded anywhere in it.

``packed``: for each tile one bit width, made for a warp.  All arithmetic is modulo 2^b, where b is the number of bits of
``ncols - 1`` (at least 1).  The gap of entry s of the tile (s = 1 .. count - 1) is ``column[s] - column[s - 1]``
modulo 2^b, whether or not both are in one row: so a tile is decoded without knowing where rows begin; gap 0 is 0.  A gap
has its low w bits in place s; what does not fit is an *exception*.  The words (32 bits, little-endian) of a tile:

    word 0       w + 64 x + 16384 h: width w (0 to 63), number of exceptions x (0 to 127), width h of their high parts
    then         the column of entry 64 (only if count > 64): one word, or two (low first) where ncols > 2^31
    then         for each of the ceil(count / 32) chunks of 32 places: w words; place i of the chunk in bits i w to i w + w - 1
    then         the places of the exceptions within the tile, ascending, one byte each, filled up to a word with 0
    then         their high parts, gap >> w, h bits each, one after the other, filled up to a word with 0

h is the bit length of the largest high part (0 if x = 0).  w is the one that makes the tile smallest, the least of
several: so all engines write the same words.  4 words of 0 follow the stream.

With a column known at entries 0, 64 and (from the next tile's base) 128, any 32-entry chunk has a known column at one of its
ends: a warp decodes it with one prefix sum, and a thread that wants one entry adds at most 32 gaps.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from .arrays import Array, device_of, to_device
from .pattern import Placement, plain_facts

Codec = Literal["varint", "packed"]
CODECS: tuple[Codec, ...] = ("varint", "packed")
TILE = 128
# Elements of 0 behind the stream.
PADDING = {"varint": 16, "packed": 4}


def tile_count(nvals: int) -> int:
    """The number of tiles of `nvals` entries."""
    return -(-nvals // TILE)


def column_bits(ncols: int) -> int:
    """b: the number of bits of a column, at least 1."""
    return max(1, (ncols - 1).bit_length())


@dataclass(frozen=True, eq=False)
class CompressedPattern:
    """The structure of a matrix as compressed rows (see the module for the layout).

    nrows, ncols, nvals: shape and number of entries.
    codec: ``"varint"`` or ``"packed"``.
    indptr: ``nrows + 1`` offsets of entries; `index_dtype(nvals)`.
    base: the column of each tile's first entry; `index_dtype(ncols)`.
    at: where each tile begins in the stream, and where the last ends (``ntiles + 1``); uint32 where the stream has
        fewer than 2^32 elements, else int64.
    stream: uint8 (varint) or uint32 (packed), `PADDING` elements longer than ``at[-1]``; where `placement` says.
        indptr, base and at always lie in the device's memory.
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

    @property
    def device(self) -> str:
        """The device that computes with it: ``"cpu"`` or ``"cuda"``."""
        return device_of(self.indptr)

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays, wherever they lie."""
        return int(self.indptr.nbytes + self.base.nbytes + self.at.nbytes + self.stream.nbytes)

    def to(self, device: str) -> CompressedPattern:
        """The same pattern in the memory of another device; facts that hold no arrays travel along."""
        if device == self.device and self.placement == "device":
            return self
        arrays = (to_device(array, device) for array in (self.indptr, self.base, self.at, self.stream))
        return CompressedPattern(self.nrows, self.ncols, self.nvals, self.codec, *arrays, plain_facts(self))
