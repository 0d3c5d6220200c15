"""Passes over the entries of a matrix in tiles of entries and row ends (kernels/row_tiles.cuh)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import cupy
import numpy as np

from ...dtypes import INT32, INT64
from ...formats import CSR, AnyPattern, Array, Pattern, index_dtype
from . import samples, tuning
from .kernel import Kernel, kernel
from .launch import BLOCK, counter, grid, read_one, read_words
from .primitives import cast_array, put
from .specialise import constants, typedefs

__all__ = ["TILE_BLOCK", "TILE_TEXT", "Room", "find_tiles", "kept_rows", "row_tiles", "summed_in_one_pass"]

# Threads of a block that processes a tile: TILE_THREADS of the kernels.
TILE_BLOCK = 256
TILE_TEXT = constants(TILE=tuning.TILE)
_FACT = "cuda.tiles"
# Counters that are cleared already are used for the sums of at most so many tiles.
_FEW_TILES = 62


def row_tiles(pattern: AnyPattern) -> Array:
    """Return the number of rows that end before each tile; cached with the pattern."""
    known: Array | None = pattern.facts.get(_FACT)
    if known is None:
        known = pattern.facts[_FACT] = find_tiles(pattern.indptr, pattern.nrows, pattern.nvals)
    return known


def find_tiles(indptr: Array, nrows: int, nvals: int) -> Array:
    """Return the number of rows that end before each tile, for rows of these offsets."""
    tiles = -(-(nrows + nvals) // tuning.TILE)
    made = cupy.empty(tiles + 1, np.int64)
    run = kernel("row_tiles_find.cuh", "row_tiles_find", TILE_TEXT + typedefs(P=indptr.dtype))
    run(grid(tiles + 1), BLOCK, indptr, nrows, nvals, made, tiles)
    return made


class Room:
    """Memory for the entries of a result whose number is known only after it is computed.

    columns, values: arrays of `capacity` elements; no values for an iso-valued result.
    """

    __slots__ = ("capacity", "columns", "values")

    def __init__(self, capacity: int, column: np.dtype[Any], value: np.dtype[Any] | None) -> None:
        self.capacity = capacity
        self.columns = cupy.empty(capacity, column)
        self.values = None if value is None else cupy.empty(capacity, value)

    def entries(self, count: int) -> tuple[Array, Array | None]:
        """Return the first `count` columns and values: views if little memory is left over, else copies."""
        return _first(self.columns, count), None if self.values is None else _first(self.values, count)


def _first(array: Array, count: int) -> Array:
    left_over = int(array.nbytes) - count * array.itemsize
    if left_over == 0:
        return array
    if left_over <= max(array.nbytes // tuning.LEFT_OVER, 512):
        return array[:count]
    made = cupy.empty(count, array.dtype)
    put(made, 0, array[:count])
    return made


def summed_in_one_pass(
    tiles: int,
    bound: int,
    column: np.dtype[Any],
    value: np.dtype[Any] | None,
    run: Callable[..., None],
    *,
    certain: bool = False,
) -> tuple[Room, int]:
    """Run a kernel that counts and writes the entries of a result in one pass; return them and their number.

    bound: the maximum number of entries; certain: whether about as many are expected.  The memory of a large result is
    allocated for an estimate, from a sample of its tiles; if it is too small, the pass runs again.  Synchronises.

    run: ``run(blocks, stride=, words=, capacity=, columns=, values=)``; with a stride, only every so many tiles are
    processed and their entries counted in ``words[0]``.
    """
    capacity = bound
    entry = column.itemsize + (0 if value is None else value.itemsize)
    if not certain and bound * entry > tuning.SAMPLED_BYTES:
        stride = max(tiles // tuning.SAMPLED_TILES, 1) | 1
        blocks = -(-tiles // stride)
        words = counter()
        run(blocks, stride=stride, words=words, capacity=0, columns=None, values=None)
        found = read_one(words)  # synchronises
        capacity = min(bound, found * tiles // blocks + bound // tuning.SAMPLE_MARGIN)
    while True:
        room = Room(capacity, column, value)
        if tiles <= _FEW_TILES:
            words = counter(1 + tiles)
        else:
            words = cupy.empty(1 + tiles, np.uint64)
            words.data.memset_async(0, words.nbytes)
        run(tiles, stride=0, words=words, capacity=capacity, columns=room.columns, values=room.values)
        total = read_words(words.data.ptr, 1)[0]  # synchronises
        if total <= capacity:
            return room, total
        capacity = total


def kept_rows(a: CSR, run: Kernel, pack: Callable[..., bytes], *arguments: Any, present: Array | None = None) -> CSR:
    """Return the entries of a that a kernel keeps (kernels/keep_rows.cuh); `a` itself if it keeps all.

    pack: packs ``KeepArguments``.  arguments: of the kernel, after these.  present: a bit for each entry that counts as
    one, or None.  Synchronises: reads their number.
    """
    first_row = row_tiles(a.pattern)
    tiles = int(first_row.size) - 1
    indptr = cupy.empty(a.nrows + 1, a.indptr.dtype)

    def launch(blocks: int, *, stride: int, words: Any, capacity: int, columns: Any, values: Any) -> None:
        packed = pack(
            nrows=a.nrows, n=a.nvals, indptr=a.indptr, indices=a.indices, values=a.values, present=present,
            first_row=first_row, tiles=tiles, stride=stride, words=words, capacity=capacity, out_indptr=indptr,
            out_indices=columns, out_values=values,
        )  # fmt: skip
        run(blocks, TILE_BLOCK, packed, *arguments)

    value = None if a.values is None else a.dtype
    room, kept = summed_in_one_pass(tiles, a.nvals, a.indices.dtype, value, launch)
    if kept == a.nvals:
        return a
    columns, values = room.entries(kept)
    return CSR(Pattern(a.nrows, a.ncols, cast_array(indptr, index_dtype(kept)), columns), a.dtype, values, a.iso)


def catalogue() -> Iterator[samples.Entry]:
    """Yield (kernel file, prologue): the rows of the catalogue for the kernels of this module."""
    for offset in (INT32, INT64):
        yield "row_tiles_find.cuh", TILE_TEXT + typedefs(P=offset)
