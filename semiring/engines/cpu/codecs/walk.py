"""What the kernels of all codecs share: the tiles of a thread, the row of an entry, the check of a tile's columns.

A check kernel must not read out of bounds, whatever the arrays contain; offsets have been checked to rise within their
bounds before it runs.
"""

from __future__ import annotations

import numpy as np

from ....formats import TILE
from ..compile import device
from ..rows import lower_bound

# Faults that every codec can have; a codec numbers its own from OWN_FAULT on.
FAULT_COLUMN, FAULT_ANCHOR, OWN_FAULT = 1, 2, 3
FAULTS = {
    FAULT_COLUMN: "stream: entry {entry} does not ascend within its row, or is past the last of {ncols} columns",
    FAULT_ANCHOR: "base[{tile}] is not a column below {ncols}",
}


@device
def share_tiles(t, threads, first, last):
    """Return the tiles of thread t among those from `first` up to `last`."""
    return first + (last - first) * t // threads, first + (last - first) * (t + 1) // threads


@device
def row_of(indptr, p):
    """Return the row of entry p."""
    return lower_bound(indptr, 0, indptr.size - 1, p + 1) - 1


@device
def open_tile(indptr, base, k, ncols):
    """Return (the row of the first entry of tile k, the number of its entries, FAULT_ANCHOR or 0)."""
    count = min(TILE, np.int64(indptr[indptr.size - 1]) - k * TILE)
    return row_of(indptr, k * TILE), count, FAULT_ANCHOR if base[k] < 0 or base[k] >= ncols else 0


@device
def _first_wrong(indptr, row, p, count, ncols, before, columns):
    """Return the first entry of a tile that does not ascend within its row or is too large; -1 if none."""
    for s in range(count):
        while indptr[row + 1] <= p + s:
            row += 1
        lowest = -1 if indptr[row] == p + s else before
        before = columns[s]
        if before <= lowest or before >= ncols:
            return p + s
    return -1


@device
def passes(fault, k, begin, indptr, row, count, ncols, before, columns, found):
    """Return True if tile k has neither `fault` (0: none) nor a wrong column; else found = (fault, tile, entry).

    A thread decodes the tile before its first, `begin`, for its last column; the thread before it reports faults there.
    """
    entry = k * TILE
    if fault == 0 and k >= begin:
        entry = _first_wrong(indptr, row, entry, count, ncols, before, columns)
        fault = FAULT_COLUMN if entry >= 0 else 0
    if fault and k >= begin:
        found[0], found[1], found[2] = fault, k, entry
    return fault == 0
