"""Slices of rows as uncompressed, device-resident matrices, from every storage kind.

Device-resident data is not copied.  Pinned data is copied: the copy engine uses more of the interconnect's bandwidth
than kernels that read it, especially kernels that decode, and the next slice is copied while the current one is in use.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import cupy
import numpy as np

from ....formats import CSR, TILE, AnyPattern, Array, Pattern, index_dtype
from ...registry import EVERY_KIND, implements
from ...requests.storage import Slices
from ..arrays import rebased, take
from ..decode import decode_range
from ..launch import read_back
from .prefetch import prefetching

# A slice remains valid until the slice after the next is requested: the current one and the one before.
_HELD = 2


@implements(Slices, engine="cuda", accepts=EVERY_KIND)
def slices(q: Slices) -> Iterator[CSR]:
    """The rows of each requested slice: views, or copied and decoded while the slice before is in use.

    Synchronizes at the first slice: the offsets at the bounds are read back.  Device memory beside the matrix: two
    slices if it is compressed, three if it is copied, and two of the compressed stream if that is copied.
    """
    a, pattern = q.a, q.a.pattern
    rows = [(q.bounds[s], q.bounds[s + 1]) for s in q.wanted]
    ranges = _pairs(pattern.indptr, [row for pair in rows for row in pair])
    columns = _columns(pattern, ranges)
    values: Iterator[Array | None]
    if a.values is None:
        values = (None for _ in ranges)
    else:
        values = (chunk.array for chunk in prefetching(a.values, ranges, held=_HELD))
    for (first, last), (begin, end), indices, x in zip(rows, ranges, columns, values, strict=True):
        offsets = rebased(pattern.indptr[first : last + 1], begin, index_dtype(end - begin))
        yield CSR(Pattern(last - first, a.ncols, offsets, indices), a.dtype, x, a.iso)


def _columns(pattern: AnyPattern, ranges: Sequence[tuple[int, int]]) -> Iterator[Array]:
    """The columns of each range of entries, as arrays in device memory."""
    if pattern.codec is None:
        yield from (chunk.array for chunk in prefetching(pattern.entries, ranges, held=_HELD))
        return
    most = max((end - begin for begin, end in ranges), default=0)
    buffers = [cupy.empty(most + 4, index_dtype(pattern.ncols)) for _ in range(min(_HELD, len(ranges)))]
    streams = _streams(pattern, ranges)
    for k, (stream, (begin, end)) in enumerate(zip(streams, ranges, strict=True)):
        # Laid out modulo 16 bytes as the entries are numbered, so that the decoder stores 16 bytes at a time.
        shift = begin % 4
        out = buffers[k % len(buffers)][shift : shift + end - begin]
        decode_range(pattern, begin, end, out, *stream)
        yield out


def _streams(pattern: AnyPattern, ranges: Sequence[tuple[int, int]]) -> Iterator[tuple[Any, ...]]:
    """For each range of entries, a chunk of the stream that holds it and its position; () for the whole stream."""
    if pattern.placement == "device":
        yield from (() for _ in ranges)
        return
    tiles = [tile for begin, end in ranges for tile in (begin // TILE, -(-end // TILE))]
    for chunk in prefetching(pattern.entries, _pairs(pattern.at, tiles)):
        yield chunk.held, chunk.position


def _pairs(offsets: Array, at: list[int]) -> list[tuple[int, int]]:
    """The offsets at the given positions, two by two.  Synchronizes."""
    if not at:
        return []
    found = read_back(take(offsets, cupy.asarray(np.array(at, np.int64)))).tolist()  # synchronizes
    return list(zip(found[::2], found[1::2], strict=True))
