"""Check that compressed rows are well formed, tile by tile, without reading out of bounds for any contents.

Offsets have been checked to rise within their bounds before these kernels run.  Each thread starts one tile early, for
the column before its first; the thread before it reports a fault there.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.core import types

from ...formats import TILE
from .compile import device, kernel
from .packed import FAULT_EXCEPTIONS, FAULT_MIDDLE, FAULT_SIZE, check_packed_tile, share_tiles
from .types import overload_for
from .varint import FAULT_BASE, FAULT_NUMBERS, check_varint_tile, row_of

FAULT_COLUMN, FAULT_ANCHOR = 6, 7
FAULTS = {
    FAULT_SIZE: "stream: tile {tile} has another number of words than its header states",
    FAULT_EXCEPTIONS: "stream: tile {tile}: expected 0 in slot 0, and exceptions at ascending slots",
    FAULT_MIDDLE: "stream: tile {tile}: the column of its entry 64 differs from the sum of its gaps",
    FAULT_NUMBERS: "stream: tile {tile} has another number of whole numbers of at most 9 bytes than entries",
    FAULT_BASE: "base[{tile}] is not the column of the tile's first entry",
    FAULT_COLUMN: "stream: entry {entry} does not ascend within its row, or is past the last of {ncols} columns",
    FAULT_ANCHOR: "base[{tile}] is not a column below {ncols}",
}


@device
def _check_columns(indptr: Any, row: int, p: int, count: int, ncols: int, before: int, columns: Any) -> int:
    """Return the first entry of a tile that does not ascend within its row or is too large; -1 if none."""
    for s in range(count):
        while indptr[row + 1] <= p + s:
            row += 1
        lowest = -1 if indptr[row] == p + s else before
        before = columns[s]
        if before <= lowest or before >= ncols:
            return p + s
    return -1


def tile_fault(
    packing: Any,
    stream: Any,
    begin: Any,
    end: Any,
    base: Any,
    indptr: Any,
    row: Any,
    p: Any,
    count: Any,
    ncols: Any,
    before: Any,
    gaps: Any,
    columns: Any,
) -> Any:
    """Return the fault of the tile in elements `begin` to `end` of the stream, or 0 after decoding its columns."""
    raise NotImplementedError


@overload_for(tile_fault)
def _tile_fault(
    packing: Any,
    stream: Any,
    begin: Any,
    end: Any,
    base: Any,
    indptr: Any,
    row: Any,
    p: Any,
    count: Any,
    ncols: Any,
    before: Any,
    gaps: Any,
    columns: Any,
) -> Any:
    if isinstance(packing, types.NoneType):
        return lambda packing, stream, begin, end, base, indptr, row, p, count, ncols, before, gaps, columns: (
            check_varint_tile(stream, begin, end, base, indptr, row, p, count, ncols, before, columns)
        )
    return lambda packing, stream, begin, end, base, indptr, row, p, count, ncols, before, gaps, columns: (
        check_packed_tile(stream, begin, end, base, count, packing[0], packing[1], packing[2], gaps, columns)
    )


@kernel
def check_tiles(
    t: int,
    threads: int,
    control: Any,
    indptr: Any,
    base: Any,
    at: Any,
    stream: Any,
    packing: Any,
    ncols: int,
    found: Any,
) -> None:
    """found[t] = (fault, tile, entry) of the first fault among this thread's tiles.

    packing: None: varint; else the bits of a column, 2^bits - 1, and the words of the column of entry 64.
    """
    gaps, columns = np.empty(TILE, np.uint64), np.empty(TILE, np.int64)
    begin, end = share_tiles(t, threads, 0, base.size)
    nvals, before = np.int64(indptr[indptr.size - 1]), np.int64(-1)
    for k in range(max(begin - 1, 0), end):
        p = k * TILE
        row = row_of(indptr, p)
        count: Any = min(TILE, nvals - p)
        fault, entry = 0, p
        if base[k] < 0 or base[k] >= ncols:
            fault = FAULT_ANCHOR
        else:
            first, after = np.int64(at[k]), np.int64(at[k + 1])
            fault = tile_fault(
                packing, stream, first, after, base[k], indptr, row, p, count, ncols, before, gaps, columns
            )
        if fault == 0 and k >= begin:
            entry = _check_columns(indptr, row, p, count, ncols, before, columns)
            fault = FAULT_COLUMN if entry >= 0 else 0
        if fault:
            if k >= begin:
                found[t, 0], found[t, 1], found[t, 2] = fault, k, entry
            return
        before = columns[count - 1]
