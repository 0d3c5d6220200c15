"""Uncompressed rows in device memory from any storage kind: all rows, a range of rows, or the columns near one entry.

The layers above the engines use this where they read columns: exports, reshaping, element access, display.
"""

from __future__ import annotations

from typing import cast

import numpy as np

from ...config import engine_for
from ...formats import (
    CSR,
    Array,
    BitmapPattern,
    CompressedPattern,
    FullPattern,
    HyperPattern,
    Pattern,
    array_module,
    index_dtype,
    is_bitmap,
    structure_only,
)
from ...formats.hypersparse import with_all_rows
from ...formats.pattern import scalar_facts
from ...formats.placement import place
from ...formats.tiles import TILE, tile_count
from ...memory.allocation import require
from ...memory.arrays import to_host
from ...memory.placement import placed
from .. import registry
from ..requests.storage import Slices
from .bits import rows_of
from .slices import uncompressed

# Rows whose list is searched on the host.
_FEW = 4096


def resident(a: CSR) -> CSR:
    """Return the matrix with uncompressed rows in device memory; the matrix itself if it already has them.

    Cost O(nvals) if it is compressed or resides in host memory, O(nrows) if it is hypersparse; a bitmap matrix caches
    its rows.  Raises OutOfMemory if uncompressed rows do not fit.
    """
    if is_resident(a):
        return a
    if isinstance(a.pattern, HyperPattern):
        return place(with_all_rows(a), "device")
    if is_bitmap(a):
        return rows_of(a, engine_for(a.device))
    if a.kind.uncompressed:
        return place(a, "device")
    if a.kind.addressable:
        dtype = index_dtype(a.ncols)
        require("decompress", a.device, a.nvals * dtype.itemsize, hint="keep the matrix compressed")
        columns = resident_rows(structure_only(a.pattern), 0, a.nrows).indices
        pattern = Pattern(a.nrows, a.ncols, a.indptr, columns, scalar_facts(a.pattern))
    else:
        pattern = cast(Pattern, uncompressed(structure_only(a.pattern), engine_for(a.device), "decompress").pattern)
    values = None if a.values is None else placed(a.values, "device", a.device)
    return CSR(pattern, a.dtype, values, a.iso)


def listed_or_resident(a: CSR) -> CSR:
    """Return a hypersparse matrix in device memory as it is, any other one as `resident` does."""
    return place(a, "device") if isinstance(a.pattern, HyperPattern) else resident(a)


def is_resident(a: CSR) -> bool:
    """Return True for uncompressed rows in device memory."""
    return isinstance(a.pattern, Pattern) and a.placement == "device"


def resident_rows(a: CSR, first: int, last: int) -> CSR:
    """Return rows `first` to `last` (exclusive) as an uncompressed matrix; only these rows are decoded.

    If the matrix is uncompressed, only the offsets are copied.  Cost O(entries of the rows).  Synchronizes.
    """
    (part,) = registry.run(Slices(a, (first, last), (0,)), engine_for(a.device))
    return cast(CSR, part)


def columns_around(a: CSR, row: int, col: int) -> tuple[Array, int]:
    """Return ascending columns of `row` that include `col` if it is stored, and the entry number of the first.

    Uncompressed rows: all columns, not copied.  Full rows: the column itself.  A bitmap: the column, if its bit is set,
    and the number of its value.  Rows in tiles: one tile, found in `base`.  Others: the row is decoded.  Synchronizes.
    """
    if isinstance(a.pattern, HyperPattern):
        return _columns_of_listed(a.pattern, row)
    if isinstance(a.pattern, BitmapPattern):
        position = row * a.ncols + col
        word = int(to_host(a.pattern.words[position >> 5 : (position >> 5) + 1])[0])  # synchronizes
        present = word >> (position & 31) & 1
        return np.array([col] if present else [], dtype=index_dtype(a.ncols)), position
    begin, end = (int(p) for p in to_host(a.indptr[row : row + 2]))  # synchronizes
    if isinstance(a.pattern, Pattern):
        return a.pattern.indices[begin:end], begin
    if begin == end:
        return array_module(a.device).empty(0, index_dtype(a.ncols)), begin
    if isinstance(a.pattern, FullPattern):
        return a.pattern.columns(col, col + 1), begin + col
    if a.pattern.at is None:
        return resident_rows(structure_only(a.pattern), row, row + 1).indices, begin
    part, low = a.pattern.around(begin, end, col)
    return resident_rows(structure_only(part), 1, 2).indices, low


def entries_between(a: CSR, first: int, last: int) -> tuple[Array, Array, Array]:
    """Return rows, columns and values of the entries numbered `first` to `last` (exclusive), as arrays on the host.

    Cost O(log nrows) an entry; of compressed rows, the tiles that hold the entries are decoded, of
    bitmaps the rows.  Synchronizes.
    """
    xp, pattern = array_module(a.device), a.pattern
    offsets = pattern.offsets if isinstance(pattern, HyperPattern) else pattern.indptr
    at = xp.searchsorted(offsets, xp.arange(first, last, dtype=offsets.dtype), side="right") - 1
    rows = to_host(pattern.rows[at] if isinstance(pattern, HyperPattern) else at)  # synchronizes
    if isinstance(pattern, BitmapPattern) and first < last:
        part = resident_rows(a, int(rows[0]), int(rows[-1]) + 1)
        low = int(to_host(offsets[int(rows[0])]))
        a, pattern, first, last = part, part.pattern, first - low, last - low
    if isinstance(pattern, FullPattern):
        columns = to_host(pattern.columns(first, last))
    elif isinstance(pattern, CompressedPattern):
        columns = _decoded(pattern, to_host(at), first, last)
    else:
        columns = to_host(pattern.entries[first:last])
    values = np.full(last - first, a.iso, a.dtype) if a.values is None else to_host(a.values[first:last])
    return rows, columns, values


def _decoded(pattern: CompressedPattern, rows: Array, first: int, last: int) -> Array:
    """Return the columns of the entries from `first` to `last`, of these rows, tile by tile."""
    parts = [np.empty(0, index_dtype(pattern.ncols))]
    for tile in range(first // TILE, tile_count(last) if first < last else 0):
        low, high = max(first, tile * TILE), min(last, (tile + 1) * TILE)
        here = rows[low - first : high - first]
        starts = low + np.flatnonzero(np.diff(here)) + 1
        begin = max(int(to_host(pattern.indptr[int(here[0])])), tile * TILE)  # the sums of a codec restart here
        part = pattern.rows_of_tile(tile, (begin, *starts.tolist(), high))
        made = resident_rows(structure_only(part), 1, part.nrows - 1)
        parts.append(to_host(made.indices)[low - begin :])
    return np.concatenate(parts)


def _columns_of_listed(pattern: HyperPattern, row: int) -> tuple[Array, int]:
    """Return the columns of a row and the entry number of the first; none if the row is not listed.  Synchronizes."""
    rows, xp = pattern.rows, array_module(pattern.device)
    if rows.size <= _FEW:  # a copy takes less time than a search on a GPU
        rows, xp = to_host(rows), np
    at = int(to_host(xp.searchsorted(rows, xp.asarray([row], dtype=rows.dtype)))[0])  # synchronizes
    if at == rows.size or int(to_host(rows[at : at + 1])[0]) != row:
        return pattern.indices[:0], 0
    begin, end = (int(p) for p in to_host(pattern.offsets[at : at + 2]))
    return pattern.indices[begin:end], begin
