"""Matrices side by side and in another shape: only the rows that have entries take part."""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate

from ...formats import CSR, Array, HyperPattern, array_module, index_dtype
from ...formats.hypersparse import empty_matrix, settled
from .. import registry
from ..registry import hypersparse_rule
from ..requests.operations import Concat, Reshape
from .elementwise import note
from .lists import INT64, distinct, laid_out, restored, row_numbers, rows_of


@hypersparse_rule(Concat)
def concat(q: Concat, engine: str) -> CSR:
    """t(rows[n] + i, cols[n] + j) = tiles[n](i, j): the tiles of each band are laid out on the union of their rows."""
    listed = [rows_of(tile) for tile in q.tiles]
    note(*listed)
    bands: dict[int, Array] = {}
    for row in dict.fromkeys(q.rows):
        lists = [each.rows for at, each in zip(q.rows, listed, strict=True) if at == row]
        bands[row] = lists[0] if len(lists) == 1 else distinct(*lists)
    starts = dict(zip(bands, accumulate((int(rows.size) for rows in bands.values()), initial=0), strict=False))
    tiles = (laid_out(each.matrix, each.rows, bands[row]) for row, each in zip(q.rows, listed, strict=True))
    rows = array_module(q.tiles[0].device).concatenate([rows.astype(INT64) + row for row, rows in bands.items()])
    request = replace(q, nrows=int(rows.size), rows=tuple(starts[row] for row in q.rows), tiles=tuple(tiles))
    return restored(registry.run(request, engine), (q.nrows, q.ncols), rows)


@hypersparse_rule(Reshape)
def reshape(q: Reshape, engine: str) -> CSR:
    """t(p // ncols, p % ncols) = a(i, j) for p = i * a.ncols + j: positions ascend, so rows are runs of entries."""
    listed = rows_of(q.a)
    note(listed)
    a = listed.matrix
    if a.nvals == 0:
        return empty_matrix(q.nrows, q.ncols, a.dtype, a.device)
    xp = array_module(a.device)
    position = row_numbers(listed.rows, a.indptr, a.nvals) * a.ncols + a.indices
    rows = position // q.ncols
    columns = (position - rows * q.ncols).astype(index_dtype(q.ncols))
    starts = xp.flatnonzero(xp.concatenate([xp.ones(1, bool), rows[1:] != rows[:-1]]))  # synchronizes
    offsets = xp.concatenate([starts, xp.full(1, a.nvals, starts.dtype)]).astype(index_dtype(a.nvals))
    pattern = HyperPattern(q.nrows, q.ncols, rows[starts].astype(index_dtype(q.nrows)), offsets, columns)
    return settled(CSR(pattern, a.dtype, a.values, a.iso))
