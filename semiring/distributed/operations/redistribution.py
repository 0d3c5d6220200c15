"""Operations that move entries to the parts of other processes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...engines import registry
from ...engines.requests.operations import IsSymmetric, Transpose
from ...engines.requests.storage import Encode, Permute
from ...formats import CSR, array_module, structure_only
from ...formats.pattern import scalar_facts
from ...ops import structure
from ...ops.equal import same
from ..grid import Grid
from ..matrix_messages import exchanged_blocks
from ..part_stores import PartPattern
from ..partition import local, matrix
from ..replication import replica, replicated
from ..routing import entries, routed
from ..rules import grid_rule


@grid_rule(Transpose)
def transpose(q: Transpose, grid: Grid) -> Any:
    """Transpose the block and send its entries; on a square grid each block goes to one process."""
    a = q.a
    if grid.shape[0] == grid.shape[1]:
        i, j = grid.coords
        blocks: list[CSR | None] = [None] * grid.size
        partner = j * grid.shape[1] + i
        blocks[partner] = structure.transposed(local(a))
        (top, bottom), (left, right) = grid.rows(a.ncols), grid.cols(a.nrows)
        sources = [] if partner == grid.rank else [partner]
        shapes = [(bottom - top, right - left)] * grid.size
        found = exchanged_blocks(blocks, shapes, a.dtype, grid.comm, grid, sources)
        return matrix(grid, (a.ncols, a.nrows), found[partner], iso=a.iso)
    return routed(grid, entries(grid, a, lambda rows, cols: (cols, rows)), (a.ncols, a.nrows), a.dtype, iso=a.iso)


@grid_rule(IsSymmetric)
def is_symmetric(q: IsSymmetric, grid: Grid) -> bool:
    """Compare each block with that of the transpose, which is kept; or a replica with its own."""
    assert isinstance(q.pattern, PartPattern)
    a = structure_only(q.pattern)
    if grid.size > 1 and replicated(grid, a, values=False):
        return structure.is_symmetric(replica(grid, a, values=False).pattern)
    turned = transpose(Transpose(a), grid).pattern
    own, other = structure_only(q.pattern.part), structure_only(turned.part)
    symmetric = grid.all_reduce_and(same(own, other, check_dtype=False))
    q.pattern.facts["transpose"] = turned  # after the last collective: on all processes, or on none
    return symmetric


@grid_rule(Permute)
def permute(q: Permute, grid: Grid) -> Any:
    """Send every entry to where its row and its column move."""
    a = q.a
    if grid.size == 1:
        return matrix(grid, a.shape, registry.run(Permute(local(a), q.rows, q.cols), grid.engine), iso=a.iso)
    xp = array_module(grid.local)
    place = xp.empty(a.nrows, np.int64)
    place[q.rows] = xp.arange(a.nrows)
    moved = entries(grid, a, lambda rows, cols: (place[rows], q.cols[cols].astype(np.int64)))
    return routed(grid, moved, a.shape, a.dtype, iso=a.iso)


@grid_rule(Encode)
def encode(q: Encode, grid: Grid) -> PartPattern:
    """Encode the rows of the block."""
    pattern = q.pattern
    assert isinstance(pattern, PartPattern)
    block = grid.run_then_barrier(lambda: registry.run(Encode(pattern.part, q.codec), grid.engine))
    return PartPattern(grid, pattern.nrows, pattern.ncols, block, scalar_facts(pattern))
