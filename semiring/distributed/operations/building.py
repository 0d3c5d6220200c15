"""Matrices and vectors from arrays that every process has: each takes what belongs to its part."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ...engines import registry
from ...engines.requests.operations import BuildMatrix, BuildVector, ImportCSR
from ...exceptions import DuplicateIndex
from ...formats import array_module, index_dtype
from ...ops.build import from_triples
from ..grid import Grid
from ..partition import matrix, vector
from ..routing import repeated_position
from ..rules import grid_rule


@grid_rule(BuildVector)
def build_vector(q: BuildVector, grid: Grid) -> Any:
    """Build the segment from the pairs with an index in it."""
    first, last = grid.segment(q.size)
    chosen = array_module(grid.local).flatnonzero((q.indices >= first) & (q.indices < last))
    dtype = index_dtype(last - first)
    indices = (q.indices[chosen] - first).astype(dtype, copy=False)
    values = None if q.values is None else q.values[chosen]
    try:
        segment = registry.run(replace(q, size=last - first, indices=indices, values=values), grid.engine)
    except DuplicateIndex:  # with the position in the segment
        raise repeated_position(q.indices[chosen]) from None
    return vector(grid, q.size, segment, iso=_iso(q))


@grid_rule(BuildMatrix)
def build_matrix(q: BuildMatrix, grid: Grid) -> Any:
    """Build the block from the triples in it."""
    if grid.size == 1:
        return matrix(grid, (q.nrows, q.ncols), from_triples("build", q, grid.local), iso=_iso(q))
    (top, bottom), (left, right) = grid.rows(q.nrows), grid.cols(q.ncols)
    inside = (q.rows >= top) & (q.rows < bottom) & (q.cols >= left) & (q.cols < right)
    chosen = array_module(grid.local).flatnonzero(inside)
    rows, cols = q.rows[chosen], q.cols[chosen]
    part = replace(
        q,
        nrows=bottom - top,
        ncols=right - left,
        rows=(rows - top).astype(index_dtype(bottom - top), copy=False),
        cols=(cols - left).astype(index_dtype(right - left), copy=False),
        values=None if q.values is None else q.values[chosen],
    )
    try:
        block = from_triples("build", part, grid.local)
    except DuplicateIndex:  # with the position in the block
        raise repeated_position(rows, cols) from None
    return matrix(grid, (q.nrows, q.ncols), block, iso=_iso(q))


def _iso(q: BuildVector | BuildMatrix) -> Any:
    """Return the value of all entries, which are not combined with others."""
    return q.iso if q.dup is None else None


@grid_rule(ImportCSR)
def import_csr(q: ImportCSR, grid: Grid) -> Any:
    """Check the arrays as a whole, as every process has them, and cut the block out."""
    from ..scattering import block_of

    whole = registry.run(q, grid.engine)
    return matrix(grid, (q.nrows, q.ncols), block_of(whole, grid), iso=whole.iso)
