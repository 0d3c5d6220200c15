"""Which parts of a stream are copied for a sweep: runs of blocks in which something is wanted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cupy
import numpy as np

from ...formats import AnyPattern, Pattern
from ...formats.ccsr import TILE
from . import tuning
from .launch import read_back
from .prefetch import elements

__all__ = ["BLOCK_TILES", "Layout", "layout"]

# Tiles of a block: 16 words of a bitmap of tiles, and 256 KB of plain columns.
BLOCK_TILES = 512
_FACT = "cuda.windows"


@dataclass(frozen=True, eq=False)
class Layout:
    """The blocks of a stream: the element at which each begins, and where the last one ends.

    item: the bytes of an element.
    """

    edges: np.ndarray[Any, Any]
    item: int

    @property
    def blocks(self) -> int:
        """The number of blocks."""
        return int(self.edges.size) - 1

    def runs(self, wanted: np.ndarray[Any, Any]) -> list[tuple[int, int]]:
        """Wanted blocks (a boolean each) in runs [first, end), ascending.

        A gap is copied too where another part would take longer, and what is longer than a window is cut.
        """
        at = np.flatnonzero(wanted)
        if at.size == 0:
            return []
        window = self.edges[at] * self.item // tuning.WINDOW_BYTES
        cut = np.flatnonzero((np.diff(at) > tuning.GAP_BLOCKS + 1) | (np.diff(window) != 0))
        first, last = at[np.concatenate(([0], cut + 1))], at[np.concatenate((cut, [-1]))]
        return list(zip(first.tolist(), (last + 1).tolist(), strict=True))

    def ranges(self, runs: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """The elements of each run."""
        return [(int(self.edges[first]), int(self.edges[end])) for first, end in runs]

    def bytes_of(self, runs: list[tuple[int, int]]) -> int:
        """What is copied for the runs."""
        return self.item * sum(end - begin for begin, end in self.ranges(runs))


def layout(pattern: AnyPattern) -> Layout:
    """The blocks of a pattern's stream.  Synchronises the first time that a compressed pattern is asked."""
    known = pattern.facts.get(_FACT)
    item = int(elements(pattern).dtype.itemsize)
    if isinstance(known, Layout) and known.item == item:
        return known
    blocks = -(-pattern.nvals // (TILE * BLOCK_TILES))
    edges = np.arange(blocks + 1, dtype=np.int64) * BLOCK_TILES
    if isinstance(pattern, Pattern):
        edges = np.minimum(edges * TILE, pattern.nvals)
    else:
        edges[-1] = pattern.ntiles
        edges = read_back(pattern.at[cupy.asarray(edges)]).astype(np.int64)  # synchronises
    made = Layout(edges, item)
    pattern.facts[_FACT] = made
    return made
