"""Matrices side by side, and matrices in another shape."""

from __future__ import annotations

import functools
import struct
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

import cupy
import numpy as np

from ...dtypes import FC64, FP64, INT8, INT32, INT64, UINT8, unify
from ...formats import CSR, Array, Pattern, index_dtype
from ...memory.allocation import require
from ..registry import RESIDENT, implements
from ..requests.operations import Concat, Reshape
from ..shared.iso_results import cast_value, shared_value
from . import tuning
from .kernel import Handles, Kernel, kernel
from .launch import BLOCK, grid, one_wave
from .primitives import cast_array, cast_into, fill, filled, moved, put
from .row_tiles import TILE_BLOCK, find_tiles, row_tiles
from .specialize import constants, typedefs

# The matrices that one launch puts side by side: 1 << PART_BITS of the kernels.
_PART_BITS = 3
_PARTS = 1 << _PART_BITS
_PACK = struct.Struct(f"@{5 * _PARTS + 1}q").pack


class _Band(NamedTuple):
    """Tiles that have all their rows in common, from `row` on, and the column of each."""

    row: int
    cols: tuple[int, ...]
    tiles: tuple[CSR, ...]

    @property
    def nrows(self) -> int:
        return self.tiles[0].nrows

    @property
    def nvals(self) -> int:
        return sum(tile.nvals for tile in self.tiles)


@implements(Concat, engine="cuda")
def concat(q: Concat) -> CSR:
    """t(rows[n] + i, cols[n] + j) = tiles[n](i, j): one pass over the entries of the result; does not synchronize.

    Arrays that one tile alone determines are shared with it.  If more than 8 tiles have rows in common, each 8 are
    put side by side first.  Offsets and columns of tiles whose types differ are copied in their common type.
    """
    nvals = sum(tile.nvals for tile in q.tiles)
    iso = shared_value(q.tiles, q.dtype)
    offset, column = index_dtype(nvals), index_dtype(q.ncols)
    only = q.tiles[0] if len(q.tiles) == 1 else None
    moves = only is None or q.cols[0] != 0 or only.indices.dtype != column
    copies = iso is None and (only is None or only.dtype != q.dtype)
    width = column.itemsize * moves + q.dtype.itemsize * copies
    require("concat", "cuda", nvals * width + 2 * (q.nrows + 1) * offset.itemsize)
    indptr = cupy.empty(q.nrows + 1, offset)
    indices = cupy.empty(nvals, column) if moves else None
    values = cupy.empty(nvals, q.dtype) if copies else None
    bands = [_joined(_Band(row, *zip(*of_row, strict=True))) for row, of_row in _by_row(q)]
    ends = (*(band.row for band in bands[1:]), q.nrows + 1)
    begin = first = 0
    for band, end in zip(bands, ends, strict=True):
        # The offset behind the band too, which the search for its tiles reads.
        last, rows, n = first + band.nvals, min(end, q.nrows) + 1 - begin, band.nrows
        whole = last - first == nvals
        parts = _parts(band, None if values is None else q.dtype)
        plan = _plan(parts.offset, parts.column, offset, column, q.dtype)
        plan.offsets(grid(rows), BLOCK, parts.packed, rows, band.row - begin, n, first, _tail(indptr, begin))
        to = [array if array is None or whole else array[first:last] for array in (indices, values)]
        if len(band.tiles) == 1:
            _copy(band, plan, *to)
        elif last > first:
            offsets = _tail(indptr, band.row)
            if first:  # tiles are counted from the first entry of the band
                offsets = cupy.empty(n + 1, offset)
                plan.offsets(grid(n + 1), BLOCK, parts.packed, n + 1, 0, n, 0, offsets)
            first_row = find_tiles(offsets, n, last - first, tuning.WARP_TILE)
            tiles = int(first_row.size) - 1
            blocks = -(-32 * tiles // TILE_BLOCK)
            plan.entries(blocks, TILE_BLOCK, parts.packed, last - first, n, offsets, first_row, tiles, *to)
        begin, first = end, last
    if only is not None:
        indices = only.indices if indices is None else indices
        values = only.values if iso is None and values is None else values
    return CSR(Pattern(q.nrows, q.ncols, indptr, indices), q.dtype, values, iso)


def _tail(array: Array, first: int) -> Array:
    return array[first:] if first else array


def _by_row(q: Concat) -> Iterator[tuple[int, list[tuple[int, CSR]]]]:
    """Yield the row of each band, and the column and the tile of each of its tiles."""
    tiles = [*zip(q.rows, q.cols, q.tiles, strict=True)]
    high = [placed for placed in tiles if placed[2].nrows]  # a tile without rows belongs to no band
    for row, band in groupby(high or tiles[:1], itemgetter(0)):
        yield row, [(col, tile) for _, col, tile in band]


def _joined(band: _Band) -> _Band:
    """Return the band with at most as many tiles as one launch puts side by side."""
    while len(band.tiles) > _PARTS:
        cols, tiles = [], []
        for at in range(0, len(band.tiles), _PARTS):
            some, first = band.tiles[at : at + _PARTS], band.cols[at]
            starts = tuple(col - first for col in band.cols[at : at + _PARTS])
            dtype = functools.reduce(unify, (tile.dtype for tile in some))
            ncols = starts[-1] + some[-1].ncols
            cols.append(first)
            tiles.append(concat(Concat(band.nrows, ncols, dtype, (0,) * len(some), starts, some)))
        band = _Band(band.row, tuple(cols), tuple(tiles))
    return band


def _copy(band: _Band, plan: _Plan, indices: Array | None, values: Array | None) -> None:
    """Copy the entries of a tile that is alone in its rows; no array: they are not copied."""
    (tile,), (col,) = band.tiles, band.cols
    if indices is not None and (col or tile.indices.dtype != indices.dtype):
        plan.columns(one_wave(plan.columns, tile.nvals, 4), BLOCK, tile.nvals, tile.indices, col, indices)
    elif indices is not None:
        put(indices, 0, tile.indices)
    if values is None:
        return
    if tile.values is None:
        fill(values, cast_value(tile.iso, values.dtype))
    elif tile.dtype == values.dtype:
        put(values, 0, tile.values)
    else:
        cast_into(values, tile.values)


class _Parts(NamedTuple):
    """The struct ``PartsArgument``, and the arrays that it refers to, with their types; some are temporary."""

    packed: bytes
    offset: np.dtype[Any]
    column: np.dtype[Any]
    arrays: list[Array | None]


def _parts(band: _Band, dtype: np.dtype[Any] | None) -> _Parts:
    """Return the tiles of a band as arguments; dtype: of the values, None if they are not copied."""
    tiles = band.tiles
    offset, column = (
        np.result_type(*types) for types in zip(*((t.indptr.dtype, t.indices.dtype) for t in tiles), strict=True)
    )
    arrays: list[Array | None] = []
    words: list[int] = []
    for tile, col in zip(tiles, band.cols, strict=True):
        values, step = None, 1
        if dtype is not None and len(tiles) > 1:
            step = int(tile.values is not None)
            values = filled(1, cast_value(tile.iso, dtype)) if tile.values is None else cast_array(tile.values, dtype)
        used = cast_array(tile.indptr, offset), cast_array(tile.indices, column), values
        arrays += used
        words += [*(0 if array is None else array.data.ptr for array in used), step, col]
    words += [0] * (5 * (_PARTS - len(tiles)))
    return _Parts(_PACK(*words, len(tiles)), offset, column, arrays)


@implements(Reshape, engine="cuda", accepts=RESIDENT)
def reshape(q: Reshape) -> CSR:
    """t(p // ncols, p % ncols) = a(i, j) for p = i * a.ncols + j: two launches; the values are shared."""
    a, column = q.a, index_dtype(q.ncols)
    require("reshape", "cuda", a.nvals * column.itemsize + (q.nrows + 1) * a.indptr.itemsize)
    indptr, indices = cupy.empty(q.nrows + 1, a.indptr.dtype), cupy.empty(a.nvals, column)
    plan = _plan(a.indptr.dtype, a.indices.dtype, a.indptr.dtype, column, UINT8)
    plan.reshape_offsets(grid(q.nrows + 1), BLOCK, a.nrows, a.ncols, a.indptr, a.indices, q.nrows, q.ncols, indptr)
    if a.nvals:  # there is a column
        first_row = row_tiles(a.pattern, tuning.WARP_TILE)
        tiles = int(first_row.size) - 1
        plan.reshape_columns(
            -(-32 * tiles // TILE_BLOCK), TILE_BLOCK, a.nvals, a.nrows, a.ncols, a.indptr, a.indices,
            q.ncols, first_row, tiles, indices,
        )  # fmt: skip
    return CSR(Pattern(q.nrows, q.ncols, indptr, indices), a.dtype, a.values, a.iso)


class _Plan(NamedTuple):
    """The kernels of this module for given types."""

    offsets: Kernel
    entries: Kernel
    columns: Kernel
    reshape_offsets: Kernel
    reshape_columns: Kernel


@functools.lru_cache(maxsize=1024)
def _plan(*types: np.dtype[Any]) -> _Plan:
    """Return the kernels for the types P, I, O and J, and for values of a type."""
    text = typedefs(**dict(zip(("P", "I", "O", "J"), types[:4], strict=True)), V=moved(types[4]))
    text += constants(FORM=2, TILE=tuning.WARP_TILE, PART_BITS=_PART_BITS)
    names = ("concat_offsets", "concat_entries", "concat_columns", "reshape_offsets", "reshape_columns")
    return _Plan(*(kernel("layout.cuh", name, text) for name in names))


def samples() -> Handles:
    """Return the kernels of this module for representative types and operators: see `catalog`."""
    return (
        _plan(INT32, INT32, INT32, INT64, FP64),
        _plan(INT64, INT64, INT64, INT32, INT8),
        _plan(INT32, INT32, INT32, INT32, FC64),
    )
