"""Passes over the entries of some rows of a pattern that need not be device-resident (``outofcore_pass.cuh``).

If kernels can address the entries, a pass is one launch.  A stream is processed in chunks, each in the way that uses
less time of the interconnect (`chunks`): marked blocks are copied while the chunk before is in use, one launch for
each chunk, or, in page-locked memory, tiles are read in place, one launch for all consecutive chunks of this kind.
"""

from __future__ import annotations

import functools
from contextlib import closing
from typing import Any

import cupy
import numpy as np

from ....dtypes import INT32, UINT8
from ....formats import TILE, AnyPattern, Array
from ....memory.locked import locked_range, seen_by_device
from .. import tuning
from ..arguments import arguments
from ..columns import column_mask, column_types
from ..kernel import Handles, Kernel, kernel
from ..launch import BLOCK, counter, grid, multiprocessors, read_back
from ..specialize import typedefs
from .chunks import BLOCK_TILES, Plan, layout, plan_in_place
from .prefetch import prefetching

__all__ = ["Passes", "entry_types", "out_of_core", "pass_kernel"]

_PASS_BLOCK = 256  # PASS_BLOCK of outofcore_pass.cuh
# Blocks a multiprocessor.  32 warps wait for a tile of 300 to 500 bytes each: more than a megabyte under way, where
# the interconnect needs 0.2.
_RESIDENT = 4
_BLOCK_WORDS = BLOCK_TILES // 32
# Words of the bitmap that a warp takes at a time, if there are enough of them for all warps.
_GRAB = 4


def out_of_core(pattern: AnyPattern) -> bool:
    """Return True if entries are read over the interconnect."""
    return pattern.placement != "device"


def entry_types(offset: np.dtype[Any], columns: str) -> str:
    """Return the part of a prologue that describes the entries of a pattern.  columns: see `column_types`."""
    return typedefs(P=offset) + columns


@functools.lru_cache(maxsize=256)
def pass_kernel(file: str, entry: str, entries: str, own: str) -> Kernel:
    """entries: `entry_types`.  own: the prologue of the file."""
    return kernel(file, entry, entries + own)


@functools.cache
def _blocks_kernel() -> Kernel:
    return kernel("convert.cuh", "count_bits_by_block", typedefs(I=INT32, V=UINT8))


class Passes:
    """The entries of one pattern, and the state for repeated passes over them.

    traffic: counts on the device the bytes of entries that kernels requested from host memory, in sectors of 32.
    copied: the bytes of entries copied so far; 0 where nothing is streamed.
    """

    def __init__(self, pattern: AnyPattern) -> None:
        self.pattern = pattern
        self.prologue = entry_types(pattern.indptr.dtype, column_types(pattern))
        self.words = max(1, -(-pattern.nvals // (32 * TILE)))  # of a bitmap of tiles
        self.traffic = cupy.zeros(1, np.uint64)
        self.copied = 0
        self._layout = layout(pattern) if pattern.placement == "host" else None
        self._address, self._call = _address(pattern.entries)
        tile = int(pattern.entries.nbytes) / max(1, -(-pattern.nvals // TILE))
        edges = 0 if pattern.at is None else tuning.READ_EDGES
        self._tile_bytes = (tile + edges) * 100 / tuning.READ_PERCENT

    def host_bytes(self) -> int:
        """Return the bytes transferred over the interconnect so far.  Synchronizes."""
        return self.copied + int(read_back(self.traffic)[0])  # synchronizes

    def plan(self, tiles: Array, marked: int | None = None) -> Plan:
        """Return the plan of a pass over the marked tiles.  Synchronizes where the entries are streamed.

        marked: the number of tiles to charge for tiles that kernels read themselves; by default all of them, or none if
            nothing is streamed.
        """
        if self._layout is None:
            return plan_in_place(-(-self.words // _BLOCK_WORDS), (marked or 0) * self._tile_bytes)
        blocks = self._layout.blocks
        counts = cupy.empty(blocks, np.uint32)
        _blocks_kernel()(grid(blocks), BLOCK, tiles, self.words, _BLOCK_WORDS, blocks, counts)
        in_blocks = read_back(counts)  # synchronizes
        each = None
        if self._address is not None:
            total = max(1, int(in_blocks.sum()))
            each = self._tile_bytes * (1.0 if marked is None else min(1.0, marked / total))
        return self._layout.plan(in_blocks, self._call, each)

    def run(self, file: str, entry: str, prologue: str, rows: Array, tiles: Array, plan: Plan, *further: Any) -> None:
        """Queue a pass over the entries of `rows` (a bitmap) in the marked tiles, as `plan` states.

        The kernel accepts ``PassArguments``, then `further`; its prologue is `self.prologue`, then `prologue`.
        """
        function = pass_kernel(file, entry, self.prologue, prologue)
        pattern = self.pattern
        mask = column_mask(pattern.ncols)
        traffic = self.traffic if out_of_core(pattern) else None
        blocks = multiprocessors() * _RESIDENT
        warps = _PASS_BLOCK // 32
        steps = list(plan.steps())
        copied = [] if self._layout is None else [[self._layout.range_of(run) for run in s[2]] for s in steps if s[2]]
        whole = [(ranges[0][0], ranges[-1][1]) for ranges in copied]
        with closing(prefetching(pattern.entries, whole, subranges=copied)) as chunks:
            for begin, end, runs in steps:
                first, last = begin * _BLOCK_WORDS, min(end * _BLOCK_WORDS, self.words)
                entries = next(chunks).origin if runs else self._address
                assert entries is not None
                work = arguments(file, "PassArguments")(
                    indptr=pattern.indptr, base=pattern.base, at=pattern.at, entries=entries, mask=mask,
                    n=pattern.nrows, nvals=pattern.nvals, rows=rows, tiles=tiles, first=first, last=last,
                    grab=max(1, min(_GRAB, (last - first) // (4 * warps * blocks))), cursor=counter(),
                    traffic=None if runs else traffic,
                )  # fmt: skip
                function(min(blocks, -(-(last - first) // warps)), _PASS_BLOCK, work, *further)
        item = int(pattern.entries.dtype.itemsize)
        self.copied += item * sum(end - begin for ranges in copied for begin, end in ranges)


def _address(array: Array) -> tuple[int | None, int]:
    """Where kernels find the elements, or None; and how many bytes are copied while a copy is started."""
    if isinstance(array, cupy.ndarray):
        return int(array.data.ptr), tuning.COPY_CALL
    if locked_range(array) is None:
        return None, tuning.STAGED_CALL
    if not array.flags.aligned:
        return None, tuning.COPY_CALL
    return int(seen_by_device(array).data.ptr), tuning.COPY_CALL


def samples() -> Handles:
    """Return the kernels of this module for representative types and operators: see `catalog`."""
    return (_blocks_kernel(),)
