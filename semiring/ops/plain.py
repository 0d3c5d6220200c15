"""Plain rows from any form and place: the whole matrix, some rows, or the one entry that is asked for.

For what reads columns outside the engines: exports, comparison, element access, display.
"""

from __future__ import annotations

from typing import cast

import numpy as np

from ..config import engine_for
from ..engines import registry
from ..engines.memory import require
from ..engines.sliced.pieces import whole
from ..engines.spec_forms import Slices
from ..formats import CSR, TILE, Array, CompressedPattern, Pattern, array_module, index_dtype, structure_only
from ..formats.arrays import to_host
from ..formats.ccsr import PADDING, at_dtype
from ..formats.pattern import plain_facts
from ..formats.placement import place, placed


def plain(a: CSR) -> CSR:
    """The matrix as plain rows in the memory of its device; itself if it is that.

    Cost O(nvals) where it is compressed or lies elsewhere; OutOfMemory where the plain form does not fit.
    """
    if lies_plain(a):
        return a
    if a.kind.uncompressed:
        return place(a, "device")
    if a.kind.addressable:
        dtype = index_dtype(a.ncols)
        require("decompress", a.device, a.nvals * dtype.itemsize, hint="keep the matrix compressed")
        columns = plain_rows(structure_only(a.pattern), 0, a.nrows).indices
        pattern = Pattern(a.nrows, a.ncols, a.indptr, columns, plain_facts(a.pattern))
    else:
        pattern = cast(Pattern, whole(structure_only(a.pattern), engine_for(a.device), "decompress").pattern)
    values = None if a.values is None else placed(a.values, "device", a.device)
    return CSR(pattern, a.dtype, values, a.iso)


def lies_plain(a: CSR) -> bool:
    """True for plain rows in the memory of the device."""
    return isinstance(a.pattern, Pattern) and a.placement == "device"


def plain_rows(a: CSR, first: int, last: int) -> CSR:
    """The rows from `first` up to `last` as a plain matrix of their own; only they are decoded.

    Of a plain matrix that is no copy, but of its offsets.  Cost O(their entries).  Synchronises.
    """
    (part,) = registry.run(Slices(a, (first, last), (0,)), engine_for(a.device))
    return cast(CSR, part)


def columns_around(a: CSR, row: int, col: int) -> tuple[Array, int]:
    """Columns of `row`, ascending, among which is `col` if it is stored, and the number of the first one's entry.

    Of plain rows all of them, as they lie; of compressed rows those of one tile, which `base` tells.  Synchronises.
    """
    begin, end = (int(p) for p in to_host(a.indptr[row : row + 2]))  # synchronises
    if isinstance(a.pattern, Pattern):
        return a.pattern.indices[begin:end], begin
    if begin == end:
        return array_module(a.device).empty(0, index_dtype(a.ncols)), begin
    # Tiles that begin within the row: the wanted entry is in the last whose first column is not too large.
    within = a.pattern.base[begin // TILE + 1 : -(-end // TILE)]
    xp = array_module(a.device)
    tile = begin // TILE + int(to_host(xp.searchsorted(within, xp.asarray([col]), side="right"))[0])
    low, high = max(begin, tile * TILE), min(end, (tile + 1) * TILE)
    window = _tile(a.pattern, tile, low, high)
    matrix = structure_only(window)
    return plain_rows(matrix, 1, 2).indices, low


def _tile(pattern: CompressedPattern, tile: int, low: int, high: int) -> CompressedPattern:
    """One tile as a pattern of three rows: what lies before entry `low`, from there up to `high`, and the rest.

    The sums of varint begin anew at `low`, which is the first entry of the tile or of a row: only row 1 is of use.
    """
    xp = array_module(pattern.device)
    first = tile * TILE
    count = min(TILE, pattern.nvals - first)
    start, end = (int(x) for x in to_host(pattern.at[tile : tile + 2]))  # synchronises
    stream = placed(pattern.stream[start : end + PADDING[pattern.codec]].copy(), "device", pattern.device)
    indptr = xp.asarray(np.array([0, low - first, high - first, count], index_dtype(count)))
    at = xp.asarray(np.array([0, end - start], at_dtype(0)))
    return CompressedPattern(3, pattern.ncols, count, pattern.codec, indptr, pattern.base[tile : tile + 1], at, stream)
