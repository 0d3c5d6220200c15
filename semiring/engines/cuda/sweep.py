"""Passes over the entries of some rows of a pattern that need not be device-resident (``outofcore_sweep.cuh``).

If kernels can address the entries, a pass is one launch.  A stream is processed in chunks, each in the way that uses
less time of the interconnect (`windows`): marked blocks are copied while the chunk before is in use, one launch for
each chunk, or, in page-locked memory, tiles are read in place, one launch for all consecutive chunks of this kind.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from typing import Any

import cupy
import numpy as np

from ...formats import AnyPattern, Array, Pattern
from ...formats.ccsr import TILE
from ...memory.locked import locked_range, seen_by_device
from . import tuning
from .arguments import arguments
from .columns import column_mask, column_types
from .kernel import kernel
from .launch import BLOCK, counter, grid, multiprocessors, read_back
from .prefetch import elements, prefetching
from .specialise import constants, typedefs
from .windows import BLOCK_TILES, Plan, layout

__all__ = ["Marks", "Sweeper", "out_of_core"]

_SWEEP_BLOCK = 256  # as in outofcore_sweep.cuh
# Blocks a multiprocessor.  32 warps wait for a tile of 300 to 500 bytes each: more than a megabyte under way, where
# the interconnect needs 0.2.
_RESIDENT = 4
_BLOCK_WORDS = BLOCK_TILES // 32
# Words of the bitmap that a warp takes at a time, if there are enough of them for all warps.
_GRAB = 4


def out_of_core(pattern: AnyPattern) -> bool:
    """Return True if entries are read over the interconnect."""
    return pattern.placement != "device"


@dataclass(frozen=True, eq=False)
class Marks:
    """The tiles that a pass reads: their bitmap, the estimated cost in bytes, and for a stream the plan of the pass."""

    tiles: Array
    nbytes: float
    plan: Plan | None


class Sweeper:
    """The entries of one pattern, and the state for repeated passes over them.

    traffic: counts on the device the bytes of entries that kernels requested from host memory, in sectors of 32.
    copied: the bytes of entries copied so far; 0 where nothing is streamed.
    """

    def __init__(self, pattern: AnyPattern) -> None:
        self.pattern = pattern
        self.prologue = typedefs(P=pattern.indptr.dtype) + column_types(pattern)
        self.words = max(1, -(-pattern.nvals // (32 * TILE)))  # of a bitmap of tiles
        self.traffic = cupy.zeros(1, np.uint64)
        self.copied = 0
        self._layout = layout(pattern) if pattern.placement == "host" else None
        self._address, self._call = _address(elements(pattern))
        tile = int(elements(pattern).nbytes) / max(1, -(-pattern.nvals // TILE))
        edges = 0 if isinstance(pattern, Pattern) else tuning.READ_EDGES
        self._tile_bytes = (tile + edges) * 100 / tuning.READ_PERCENT

    def read(self) -> int:
        """Return the bytes transferred over the interconnect.  Synchronises."""
        return self.copied + int(read_back(self.traffic)[0])  # synchronises

    def weigh(self, tiles: Array, marked: int | None = None) -> Marks:
        """Return the cost of a pass over the marked tiles.  Synchronises where the entries are streamed.

        marked: the number of tiles to charge for tiles that kernels read themselves; by default all of them, or none if
            nothing is streamed.
        """
        if self._layout is None:
            return Marks(tiles, (0 if marked is None else marked) * self._tile_bytes, None)
        blocks = self._layout.blocks
        listed = cupy.empty(blocks, np.uint32)
        count = kernel("outofcore_blocks.cuh", "outofcore_blocks", constants(BLOCK_WORDS=_BLOCK_WORDS))
        count(grid(blocks), BLOCK, tiles, self.words, blocks, listed)
        wanted = read_back(listed)  # synchronises
        each = None
        if self._address is not None:
            all_of_them = max(1, int(wanted.sum()))
            each = self._tile_bytes * (1.0 if marked is None else min(1.0, marked / all_of_them))
        plan = self._layout.plan(wanted, self._call, each)
        return Marks(tiles, 0.0 if plan is None else plan.nbytes, plan)

    def run(self, file: str, entry: str, prologue: str, rows: Array, marks: Marks, *further: Any) -> None:
        """Queue a pass over the entries of `rows` (a bitmap) in the marked tiles.

        The kernel accepts ``SweepArguments``, then `further`; its prologue is `self.prologue`, then `prologue`.
        """
        function = kernel(file, entry, self.prologue + prologue)
        pattern = self.pattern
        base, at = (None, None) if isinstance(pattern, Pattern) else (pattern.base, pattern.at)
        mask = column_mask(pattern.ncols)
        blocks = multiprocessors() * _RESIDENT
        warps = _SWEEP_BLOCK // 32

        def launch(address: int, first: int, end: int, traffic: Array | None) -> None:
            grab = max(1, min(_GRAB, (end - first) // (4 * warps * blocks)))
            work = arguments(file, "SweepArguments")(
                indptr=pattern.indptr, base=base, at=at, entries=address, mask=mask, n=pattern.nrows,
                nvals=pattern.nvals, rows=rows, tiles=marks.tiles, first=first, last=end, grab=grab, cursor=counter(),
                traffic=traffic,
            )  # fmt: skip
            function(min(blocks, -(-(end - first) // warps)), _SWEEP_BLOCK, work, *further)

        if self._layout is None:
            assert self._address is not None
            launch(self._address, 0, self.words, self.traffic if out_of_core(pattern) else None)
            return
        steps = [] if marks.plan is None else list(marks.plan.steps())
        pieces = [[self._layout.range_of(run) for run in runs] for _, _, runs in steps if runs]
        whole = [(runs[0][0], runs[-1][1]) for runs in pieces]
        with closing(prefetching(elements(pattern), whole, pieces=pieces)) as parts:
            for first, end, runs in steps:
                words = first * _BLOCK_WORDS, min(end * _BLOCK_WORDS, self.words)
                if runs:
                    launch(next(parts).whole, *words, None)
                else:
                    assert self._address is not None
                    launch(self._address, *words, self.traffic)
        self.copied += self._layout.item * sum(end - begin for runs in pieces for begin, end in runs)


def _address(array: Array) -> tuple[int | None, int]:
    """Where kernels find the elements, or None; and how many bytes are copied while a copy is started."""
    if isinstance(array, cupy.ndarray):
        return int(array.data.ptr), tuning.COPY_CALL
    if locked_range(array) is None:
        return None, tuning.STAGED_CALL
    if not array.flags.aligned:
        return None, tuning.COPY_CALL
    return int(seen_by_device(array).data.ptr), tuning.COPY_CALL
