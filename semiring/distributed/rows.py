"""Whole rows: each process gets those of its segment, for operations that read a row from its first to its last entry.

The rows of a block are the segments of the processes beside it, so the rows of a segment are exchanged within a row of
the grid: O(nvals / rows of the grid) entries in all, and nothing where the grid has one column.
"""

from __future__ import annotations

from ..engines.requests.operands import Index
from ..formats import CSR
from ..ops.extract import extract_matrix
from ..ops.layout import concat
from .grid import Grid
from .matrix_messages import exchanged_blocks
from .partition import embed, local, matrix
from .replication import replica, replicated

__all__ = ["blocks_of_rows", "global_rows", "has_whole_rows", "whole_rows"]


def whole_rows(grid: Grid, a: CSR) -> CSR:
    """Return the rows of the segment of this process, with all columns; kept with the matrix.  Collective.

    Where all entries have one value, they are kept with the pattern.  Those of a replica are there already.  All
    processes keep them, or none, so that their next calls match.
    """
    if grid.shape[1] == 1:
        return local(a)
    if a.iso is None:
        known: CSR | None = a.cache.get("rows")
        if known is None:
            known = a.cache["rows"] = grid.run_then_barrier(lambda: _exchanged(grid, a))
        return known
    pattern = a.pattern.facts.get("rows")
    if pattern is None:
        pattern = a.pattern.facts["rows"] = grid.run_then_barrier(lambda: _exchanged(grid, a)).pattern
    return CSR(pattern, a.dtype, None, a.iso)


def has_whole_rows(grid: Grid, a: CSR) -> bool:
    """Return whether `whole_rows` sends nothing."""
    kept = a.cache if a.iso is None else a.pattern.facts
    return grid.shape[1] == 1 or "rows" in kept or replicated(grid, a, values=True)


def _exchanged(grid: Grid, a: CSR) -> CSR:
    """Exchange the rows of a block within a row of the grid, or take them from a replica."""
    if replicated(grid, a, values=True):
        whole, (first, last) = replica(grid, a, values=True), grid.segment(a.nrows)
        return extract_matrix(whole, Index(a.nrows, last - first, first), Index(a.ncols, a.ncols)).into()
    block = local(a)
    top = grid.rows(a.nrows)[0]
    first = grid.coords[0] * grid.shape[1]
    blocks, shapes = list[CSR](), list[tuple[int, int]]()
    mine = grid.segment(a.nrows)
    for k in range(grid.shape[1]):
        left, right = grid.cols(a.ncols, k)
        shapes.append((mine[1] - mine[0], right - left))
        begin, end = grid.segment(a.nrows, first + k)
        rows = Index(block.nrows, end - begin, begin - top)
        blocks.append(extract_matrix(block, rows, Index(block.ncols, block.ncols)).into())
    found = exchanged_blocks(blocks, shapes, a.dtype, grid.row_comm, grid)
    made: CSR = concat([found]).into()
    return made


def global_rows(grid: Grid, a: CSR) -> CSR:
    """Return the rows of the segment of this process at their positions in the whole matrix, with no other entries."""
    return embed(whole_rows(grid, a), a.shape, grid.segment(a.nrows)[0], 0)


def blocks_of_rows(grid: Grid, rows: CSR, shape: tuple[int, int], *, keeps: CSR | None = None) -> CSR:
    """Return the matrix of which each process has the rows of its segment: the inverse of `whole_rows`.  Collective.

    keeps: as in `parts.matrix`.
    """
    if grid.shape[1] == 1:
        return matrix(grid, shape, rows, keeps=keeps)
    blocks, shapes = list[CSR](), list[tuple[int, int]]()
    first, mine = grid.coords[0] * grid.shape[1], grid.cols(shape[1])
    for k in range(grid.shape[1]):
        begin, end = grid.segment(shape[0], first + k)
        shapes.append((end - begin, mine[1] - mine[0]))
        left, right = grid.cols(shape[1], k)
        cols = Index(shape[1], right - left, left)
        blocks.append(extract_matrix(rows, Index(rows.nrows, rows.nrows), cols).into())
    found = exchanged_blocks(blocks, shapes, rows.dtype, grid.row_comm, grid)
    return matrix(grid, shape, concat([[part] for part in found]).into())
