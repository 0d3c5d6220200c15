"""The plan of a pass over marked tiles: runs of blocks to copy, and chunks whose tiles kernels read in place.

A stream is partitioned by address into chunks.  Of a chunk that is copied, only blocks with marked tiles are copied; if
few tiles are marked, and kernels can read host memory, reading only these uses less time of the interconnect.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import cupy
import numpy as np

from ....formats import TILE, AnyPattern
from ....formats.tiles import tile_count
from .. import tuning
from ..launch import read_back

__all__ = ["BLOCK_TILES", "Layout", "Plan", "layout", "plan_in_place"]

Numbers = np.ndarray[Any, Any]

# Tiles of a block: 32 words of a bitmap of tiles, and 512 KB of uncompressed columns.
BLOCK_TILES = 1024
_FACT = "cuda.chunks"


@dataclass(frozen=True, eq=False)
class Plan:
    """The plan of a pass, chunk by chunk.

    first, last: run i that could be copied is of the blocks first[i] to last[i], exclusive.
    group: the first run of each chunk, and after the last chunk the number of runs.
    in_place: for each chunk, whether kernels read it where it is stored.
    nbytes: the interconnect time of the whole pass, as the bytes that a copy transfers in that time.
    """

    first: Numbers
    last: Numbers
    group: Numbers
    in_place: Numbers
    nbytes: float

    def steps(self) -> Iterator[tuple[int, int, list[tuple[int, int]]]]:
        """(first block, end, runs of blocks to copy) in ascending order; no runs: read in place.

        A step is one chunk to copy, or all consecutive chunks to read in place.
        """
        starts = ~self.in_place
        starts[1:] |= ~self.in_place[:-1]
        starts[:1] = True
        for begin, end in pairwise([*np.flatnonzero(starts).tolist(), self.in_place.size]):
            low, high = int(self.group[begin]), int(self.group[end])
            runs: list[tuple[int, int]] = []
            if not self.in_place[begin]:
                runs = list(zip(self.first[low:high].tolist(), self.last[low:high].tolist(), strict=True))
            yield int(self.first[low]), int(self.last[high - 1]), runs


def plan_in_place(blocks: int, nbytes: float) -> Plan:
    """Return the plan of a pass whose tiles kernels read where they are stored, in one launch."""
    return Plan(np.array([0]), np.array([blocks]), np.array([0, 1]), np.array([True]), nbytes)


@dataclass(frozen=True, eq=False)
class Layout:
    """The blocks of a stream.

    edges: the element at which each begins, and where the last one ends.  item: the bytes of an element.
    chunk: the chunk in which each begins.
    """

    edges: Numbers
    item: int
    chunk: Numbers

    @property
    def blocks(self) -> int:
        """The number of blocks."""
        return int(self.edges.size) - 1

    def plan(self, marked: Numbers, call: int, tile_bytes: float | None) -> Plan:
        """Return the plan of least cost for a pass; it has no steps if no tile is marked.

        marked: the number of marked tiles of each block.  call: the bytes copied while a copy is started.
        tile_bytes: the cost of a tile read in place, as bytes copied in that time; None if kernels cannot read it.
        """
        at = np.flatnonzero(marked)
        if at.size == 0:
            return Plan(at, at, at, np.zeros(0, bool), 0.0)
        chunk, begin, end = self.chunk[at], self.edges[at], self.edges[at + 1]
        # A gap is also copied if starting another copy would take longer.
        far = (begin[1:] - end[:-1]) * self.item > call
        heads = np.concatenate(([0], np.flatnonzero(far | (np.diff(chunk) != 0)) + 1))
        tails = np.append(heads[1:], at.size) - 1
        group = np.concatenate(([0], np.flatnonzero(np.diff(chunk[heads])) + 1))
        copied = np.add.reduceat((end[tails] - begin[heads]) * self.item + call, group)
        if tile_bytes is None:
            in_place, cost = np.zeros(group.size, bool), copied
        else:
            read = np.add.reduceat(marked[at], heads[group]) * tile_bytes
            in_place, cost = read < copied, np.minimum(read, copied)
        group = np.append(group, heads.size)
        return Plan(at[heads], at[tails] + 1, group, in_place, float(cost.sum()))

    def range_of(self, run: tuple[int, int]) -> tuple[int, int]:
        """The elements of a run of blocks."""
        return int(self.edges[run[0]]), int(self.edges[run[1]])


def layout(pattern: AnyPattern) -> Layout:
    """The blocks of a pattern's stream.  Synchronizes the first time for each compressed pattern."""
    known = pattern.facts.get(_FACT)
    if isinstance(known, Layout):
        return known
    item = int(pattern.entries.dtype.itemsize)
    blocks = -(-pattern.nvals // (TILE * BLOCK_TILES))
    edges = np.arange(blocks + 1, dtype=np.int64) * BLOCK_TILES
    if pattern.at is None:
        edges = np.minimum(edges * TILE, pattern.nvals)
    else:
        edges[-1] = tile_count(pattern.nvals)
        edges = read_back(pattern.at[cupy.asarray(edges)]).astype(np.int64)  # synchronizes
    made = Layout(edges, item, edges[:-1] * item // tuning.CHUNK_BYTES)
    pattern.facts[_FACT] = made
    return made
