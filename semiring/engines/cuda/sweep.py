"""Sweeps over the entries of some rows of a pattern that need not lie in device memory (``outofcore_sweep.cuh``).

Where kernels can address the entries, a sweep is one launch; else one launch for each part of the stream in which
something is marked, copied while the part before is in use.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cupy
import numpy as np

from ...formats import AnyPattern, Array, Pattern
from ...formats.ccsr import TILE, column_bits
from .columns import column_types
from .compile import kernel
from .launch import BLOCK, counter, grid, multiprocessors, read_back
from .prefetch import elements, prefetching
from .specialise import constants, typedefs
from .windows import BLOCK_TILES, layout

__all__ = ["Marks", "Sweeper", "out_of_core"]

_SWEEP_BLOCK = 256  # as in outofcore_sweep.cuh
# Blocks a multiprocessor.  32 warps wait for a tile of 300 to 500 bytes each: more than a megabyte under way, where
# the link needs 0.2.
_RESIDENT = 4
_BLOCK_WORDS = BLOCK_TILES // 32
# Words of the bitmap that a warp takes at a time, if there are enough of them for all warps.
_GRAB = 4


def out_of_core(pattern: AnyPattern) -> bool:
    """True if reading the entries means reading through the link."""
    return pattern.placement != "device"


@dataclass(frozen=True, eq=False)
class Marks:
    """Which tiles a sweep reads: their bitmap, about how many bytes that takes, and for a stream the runs of blocks."""

    tiles: Array
    nbytes: float
    runs: list[tuple[int, int]]


class Sweeper:
    """The entries of one pattern, and what is needed to sweep over them again and again.

    traffic: counts on the device the bytes of entries that kernels asked for, in sectors of 32.
    copied: the bytes copied so far; 0 where nothing is streamed.
    """

    def __init__(self, pattern: AnyPattern) -> None:
        self.pattern = pattern
        self.prologue = typedefs(P=pattern.indptr.dtype) + column_types(pattern)
        self.words = max(1, -(-pattern.nvals // (32 * TILE)))  # of a bitmap of tiles
        self.traffic = cupy.zeros(1, np.uint64)
        self.copied = 0
        self._layout = layout(pattern) if pattern.placement == "host" else None
        self._tile_bytes = int(elements(pattern).nbytes) / max(1, -(-pattern.nvals // TILE))

    def read(self) -> int:
        """The bytes that came through the link.  Synchronises."""
        return self.copied if self._layout is not None else int(read_back(self.traffic)[0])  # synchronises

    def weigh(self, tiles: Array, marked: int) -> Marks:
        """The price of a sweep over `marked` tiles.  Synchronises where the entries are streamed."""
        if self._layout is None:
            return Marks(tiles, marked * self._tile_bytes, [])
        blocks = self._layout.blocks
        listed = cupy.empty(-(-blocks // 32), np.uint32)
        run = kernel("outofcore_blocks.cuh", "outofcore_blocks", constants(BLOCK_WORDS=_BLOCK_WORDS))
        run(grid(blocks), BLOCK, tiles, self.words, blocks, listed)
        bits = np.unpackbits(read_back(listed).view(np.uint8), bitorder="little")  # synchronises
        runs = self._layout.runs(bits[:blocks].astype(bool))
        return Marks(tiles, self._layout.bytes_of(runs), runs)

    def run(self, file: str, entry: str, prologue: str, rows: Array, marks: Marks, *arguments: Any) -> None:
        """Queue a sweep over the entries of `rows` (a bitmap) in the marked tiles.

        The kernel takes ``SWEEP_ARGUMENTS``, then `arguments`; its prologue is `self.prologue`, then `prologue`.
        """
        function = kernel(file, entry, self.prologue + prologue)
        pattern = self.pattern
        base, at = (None, None) if isinstance(pattern, Pattern) else (pattern.base, pattern.at)
        mask = np.uint64((1 << column_bits(pattern.ncols)) - 1)
        blocks = multiprocessors() * _RESIDENT
        warps = _SWEEP_BLOCK // 32

        def launch(address: int, first: int, end: int) -> None:
            grab = max(1, min(_GRAB, (end - first) // (4 * warps * blocks)))
            function(
                min(blocks, -(-(end - first) // warps)), _SWEEP_BLOCK, pattern.indptr, base, at, np.uint64(address),
                mask, pattern.nrows, pattern.nvals, rows, marks.tiles, first, end, grab, counter(), self.traffic,
                *arguments,
            )  # fmt: skip

        array = elements(pattern)
        if self._layout is None:
            launch(int(array.data.ptr), 0, self.words)
            return
        parts = prefetching(array, self._layout.ranges(marks.runs))
        for (first, end), part in zip(marks.runs, parts, strict=True):
            launch(part.whole, first * _BLOCK_WORDS, min(end * _BLOCK_WORDS, self.words))
        self.copied += self._layout.bytes_of(marks.runs)
