"""Whole rows: each process gets those of its piece, for operations that read a row from its first to its last entry.

The rows of a block are the pieces of the processes beside it, so the rows of a piece are exchanged within a row of the
grid: O(nvals / rows of the grid) entries in all, and nothing where the grid has one column.
"""

from __future__ import annotations

from typing import Any

from ..engines.operands import Index
from ..formats import CSR
from ..ops.extract import extract_matrix
from ..ops.layout import concat
from .grid import Grid
from .parts import local, matrix, placed

__all__ = ["blocks_of_rows", "global_rows", "whole_rows"]


def whole_rows(grid: Grid, a: CSR) -> CSR:
    """Return the rows of the piece of this process, with all columns; kept with the matrix.  Collective."""
    block = local(a)
    if grid.shape[1] == 1:
        return block
    known = a.cache.get("rows")
    if known is None:
        top = grid.rows(a.nrows)[0]
        first = grid.place[0] * grid.shape[1]
        messages: list[Any] = []
        for k in range(grid.shape[1]):
            begin, end = grid.piece(a.nrows, first + k)
            rows = Index(block.nrows, end - begin, begin - top)
            messages.append(extract_matrix(block, rows, Index(block.ncols, block.ncols)).into())
        known = a.cache["rows"] = concat([grid.beside.exchange(messages)]).into()
    return known


def global_rows(grid: Grid, a: CSR) -> CSR:
    """Return the rows of the piece of this process at their positions in the whole matrix, with no other entries."""
    return placed(whole_rows(grid, a), a.shape, grid.piece(a.nrows)[0], 0)


def blocks_of_rows(grid: Grid, rows: CSR, shape: tuple[int, int], *, keeps: CSR | None = None) -> CSR:
    """Return the matrix of which each process has the rows of its piece: the inverse of `whole_rows`.  Collective.

    keeps: as in `parts.matrix`.
    """
    if grid.shape[1] == 1:
        return matrix(grid, shape, rows, keeps=keeps)
    messages: list[Any] = []
    for k in range(grid.shape[1]):
        left, right = grid.cols(shape[1], k)
        cols = Index(shape[1], right - left, left)
        messages.append(extract_matrix(rows, Index(rows.nrows, rows.nrows), cols).into())
    return matrix(grid, shape, concat([[part] for part in grid.beside.exchange(messages)]).into())
