"""Rows that come in slices, cut again where tiles of compressed rows end."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..formats import TILE, Array, Pattern, array_module, index_dtype
from ..memory.arrays import to_device, to_host


class Tiles(NamedTuple):
    """Whole tiles as a plain pattern in device memory; `before` as in `spec_forms.Encode`."""

    pattern: Pattern
    before: int


class TileCutter:
    """Takes slices of rows, one after another, and gives the same entries in whole tiles.

    Less than a tile is kept until the next slice comes; no array of a slice is.  A row that is cut begins the next
    tiles, and goes on there from `before`.
    """

    def __init__(self, ncols: int, device: str) -> None:
        self.ncols, self.device = ncols, device
        xp = array_module(device)
        # Offsets of the rows that are kept, from 0 to the number of entries kept; their columns.
        self._indptr, self._indices = xp.zeros(1, np.int64), xp.zeros(0, index_dtype(ncols))
        self._before = -1

    def feed(self, indptr: Array, indices: Array) -> Tiles | None:
        """The tiles that these rows complete, or None.  Offsets begin at 0.  Synchronises."""
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
            # The row that holds the first entry to be kept; whether it begins there.
            row = int(to_host(xp.searchsorted(indptr, xp.asarray([whole]), side="right"))[0]) - 1
            start, last = (int(to_host(x)[0]) for x in (indptr[row : row + 1], indices[whole - 1 : whole]))
            made = self._tiles(xp.minimum(indptr[: row + 2], whole), indices[:whole], before)
            self._before = last if start < whole else -1
            ends = self._ends(indptr, total)
            self._keep(xp.maximum(indptr[row : ends + 1] - whole, 0), indices[whole:].copy())
        return made

    def rest(self) -> Tiles | None:
        """The last tile, which is not full, or None."""
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
        """The first offset that is `total`: the empty rows after it do not matter."""
        xp: Any = array_module(self.device)
        return int(to_host(xp.searchsorted(indptr, xp.asarray([total])))[0])  # synchronises
