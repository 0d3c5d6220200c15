"""Repartition of slices of rows at the boundaries of tiles of compressed rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..formats import TILE, Array, Pattern, array_module, index_dtype
from ..memory.arrays import to_device, to_host


class Tiles(NamedTuple):
    """Whole tiles as an uncompressed pattern in device memory; `before` as in `spec_storage.Encode`."""

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
