"""Compressed sparse rows: the columns as gaps, in one stream that is divided into tiles of 128 entries.

The numbering of entries is that of CSR: row i holds the entries from ``indptr[i]`` to ``indptr[i + 1]``, and values
are stored uncompressed in that order.  So a division of work by entries (merge paths, edge-balanced pushes) is the
same for compressed and uncompressed rows.  Tile t holds the entries 128 t to 128 t + 127, of any number of rows: a
row of 200 million entries is a million tiles, which any number of warps decode independently.
Beside the stream, each tile has two elements:

    base[t]   the column of its first entry (the *anchor*: nothing before the tile is needed to decode it)
    at[t]     where its part of the stream begins, in elements; ``at[ntiles]`` is where the last part ends

A codec fills the stream: `formats.codecs` has a module for each, which states the layout of a tile.

A compressed pattern is *well formed* (`engines.spec_storage.CheckCompressed`) if

- the arrays have the dtypes and sizes stated below; `indptr` rises from 0 to nvals;
- `at` rises from 0, ``at[ntiles]`` plus the padding is the size of the stream, and each tile uses exactly the
  elements between ``at[t]`` and ``at[t + 1]``;
- the columns of each row ascend strictly and are below ncols;
- each tile satisfies the conditions that the module of its codec states.

Bits that no entry needs (padding, the rest of a word, numbers longer than the shortest encoding) may have any value.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any, Literal

import numpy as np

from ..exceptions import InvalidFormat
from ..memory.arrays import Array, device_of, index_dtype, to_device
from ..memory.placement import Placement
from .codecs import CODECS, DEFINITIONS, Codec
from .kinds import StorageKind, storage_kind
from .pattern import scalar_facts
from .records import derived, record
from .tiles import tile_count


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
class CompressedPattern:
    """The structure of a matrix as compressed rows (see the module for the layout).

    nrows, ncols, nvals: shape and number of entries.
    codec: the name of the codec.
    indptr: ``nrows + 1`` offsets of entries; `index_dtype(nvals)`.
    base: the column of each tile's first entry; `index_dtype(ncols)`.
    at: where each tile begins in the stream, and where the last ends (``ntiles + 1``); uint32 where the stream has
        fewer than 2^32 elements, padding included, else int64 (`at_dtype`).
    stream: elements of the codec's type, longer than ``at[-1]`` by the padding of the codec; stored according to
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
    definition = DEFINITIONS[pattern.codec]
    if size < definition.padding:
        raise InvalidFormat(f"stream has {size} elements; expected at least {definition.padding} of padding")
    expected = {
        "indptr": (index_dtype(pattern.nvals), pattern.nrows + 1),
        "base": (index_dtype(pattern.ncols), pattern.ntiles),
        "at": (at_dtype(size), pattern.ntiles + 1),
        "stream": (definition.element, size),
    }
    for name, (dtype, count) in expected.items():
        array = getattr(pattern, name)
        if array.dtype != dtype or array.shape != (count,):
            raise InvalidFormat(
                f"{name} holds {array.dtype} of shape {array.shape}; expected {dtype} of shape ({count},)"
            )
