"""Passes over the entries of a matrix in tiles of entries and row ends (kernels/row_tiles.cuh)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import cupy
import numpy as np

from ...dtypes import INT64
from ...formats import CSR, AnyPattern, Array, Pattern, index_dtype
from . import tuning
from .kernel import Kernel
from .launch import BLOCK, Counter, counter, grid, read_one
from .primitives import cast_array, exclusive_scan, put, rows_kernel
from .specialize import constants

__all__ = [
    "TILE_BLOCK",
    "TILE_TEXT",
    "Passes",
    "find_tiles",
    "is_large",
    "kept_rows",
    "lookback_words",
    "row_tiles",
    "written",
]

# Threads of a block that processes a tile: TILE_THREADS of the kernels.
TILE_BLOCK = 256
TILE_TEXT = constants(TILE=tuning.TILE)
_FACT = "cuda.tiles"
# Counters that are cleared already are used for the sums of at most so many tiles.
_FEW_TILES = 62


def row_tiles(pattern: AnyPattern, tile: int = tuning.TILE) -> Array:
    """Return the number of rows that end before each tile of `tile` steps; cached with the pattern."""
    fact = f"{_FACT} {tile}"
    known: Array | None = pattern.facts.get(fact)
    if known is None:
        known = pattern.facts[fact] = find_tiles(pattern.indptr, pattern.nrows, pattern.nvals, tile)
    return known


def find_tiles(indptr: Array, nrows: int, nvals: int, tile: int = tuning.TILE) -> Array:
    """Return the number of rows that end before each tile of `tile` steps, for rows of these offsets."""
    tiles = -(-(nrows + nvals) // tile)
    made = cupy.empty(tiles + 1, np.int64)
    rows_kernel("rows_tiles", indptr.dtype, INT64)(grid(tiles + 1), BLOCK, indptr, nrows, nvals, tile, made, tiles)
    return made


def lookback_words(tiles: int) -> Counter:
    """Return the words of kernels/lookback.cuh for a launch of so many tiles; the first will be the sum over all."""
    if tiles <= _FEW_TILES:
        return counter(1 + tiles)
    words = cupy.empty(1 + tiles, np.uint64)
    words.data.memset_async(0, words.nbytes)
    return Counter(words.data)


class Passes(NamedTuple):
    """The kernels of an operation whose result has a size that is known only after it is computed.

    one: writes it in one pass.  first, second: of two passes, the first of which counts.
    """

    one: Kernel
    first: Kernel
    second: Kernel


def written(
    passes: Passes,
    launch: Callable[..., None],
    tiles: int,
    words_of_tile: int,
    bound: int,
    column: np.dtype[Any],
    value: np.dtype[Any] | None,
) -> tuple[int, Array, Array | None]:
    """Compute the entries of a result; return their number, columns and values (None for an iso-valued result).

    Memory for a small result is allocated for `bound` entries, the maximum, and one pass writes it.  A large one is
    counted first.  Synchronizes: reads the number of entries.

    words_of_tile: the 32-bit words that the first of two passes keeps of each tile.  launch:
    ``launch(kernel, marks=, words=, columns=, values=)``.
    """
    if not _needs_two(bound, column, value):
        columns, values = _allocated(bound, column, value)
        words = lookback_words(tiles)
        launch(passes.one, marks=None, words=words, columns=columns, values=values)
        total = read_one(words)  # synchronizes
        return total, _first(columns, total), None if values is None else _first(values, total)
    marks, counts = cupy.empty(tiles * words_of_tile, np.uint32), cupy.empty(tiles, np.uint64)
    launch(passes.first, marks=marks, words=counts, columns=None, values=None)
    before = exclusive_scan(counts, np.dtype(np.uint64))
    total = read_one(before[-1:])  # synchronizes
    columns, values = _allocated(total, column, value)
    launch(passes.second, marks=marks, words=before, columns=columns, values=values)
    return total, columns, values


def _needs_two(bound: int, column: np.dtype[Any], value: np.dtype[Any] | None) -> bool:
    """Return True if so many entries are too large to be allocated before they are counted."""
    return bound * (column.itemsize + (0 if value is None else value.itemsize)) > tuning.ONE_PASS_BYTES


def is_large(a: CSR) -> bool:
    """Return True if the selection of entries of a counts them before it writes any."""
    return _needs_two(a.nvals, a.indices.dtype, None if a.values is None else a.dtype)


def _allocated(count: int, column: np.dtype[Any], value: np.dtype[Any] | None) -> tuple[Array, Array | None]:
    return cupy.empty(count, column), None if value is None else cupy.empty(count, value)


def _first(array: Array, count: int) -> Array:
    """Return the first `count` elements: a view if little memory is left over, else a copy."""
    left_over = int(array.nbytes) - count * array.itemsize
    if left_over == 0:
        return array
    if left_over <= max(array.nbytes // tuning.LEFT_OVER, 512):
        return array[:count]
    made = cupy.empty(count, array.dtype)
    put(made, 0, array[:count])
    return made


def kept_rows(a: CSR, passes: Passes, pack: Callable[..., bytes], *arguments: Any, present: Array | None = None) -> CSR:
    """Return the entries of a that kernels keep (kernels/keep_rows.cuh); `a` itself if they keep all.

    pack: packs ``KeepArguments``.  arguments: of the kernels that test entries, after these.  present: a bit for each
    entry that counts as one, or None.  Synchronizes: reads their number.
    """
    first_row = row_tiles(a.pattern)
    tiles = int(first_row.size) - 1
    indptr = cupy.empty(a.nrows + 1, a.indptr.dtype)

    def launch(run: Kernel, *, marks: Any, words: Any, columns: Any, values: Any) -> None:
        packed = pack(
            nrows=a.nrows, n=a.nvals, indptr=a.indptr, indices=a.indices, values=a.values, present=present,
            first_row=first_row, tiles=tiles, marks=marks, words=words, out_indptr=indptr,
            out_indices=columns, out_values=values,
        )  # fmt: skip
        if run is passes.second:
            run(tiles, TILE_BLOCK, packed)
        else:
            run(tiles, TILE_BLOCK, packed, *arguments)

    value = None if a.values is None else a.dtype
    kept, columns, values = written(passes, launch, tiles, tuning.TILE // 32, a.nvals, a.indices.dtype, value)
    if kept == a.nvals:
        return a
    return CSR(Pattern(a.nrows, a.ncols, cast_array(indptr, index_dtype(kept)), columns), a.dtype, values, a.iso)
