"""Operations that move entries to the parts of other processes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...engines import registry
from ...engines.registry import across
from ...engines.spec import IsSymmetric, Transpose
from ...engines.spec_storage import Encode, Permute
from ...formats import PartPattern, structure_only
from ...formats.pattern import scalar_facts
from ...ops import structure
from ..grid import Grid
from ..parts import local, matrix
from ..routing import Triples, routed, triples


@across(Transpose)
def transpose(q: Transpose, grid: Grid) -> Any:
    """Transpose the block and send its entries; on a square grid each block goes to one process."""
    a = q.a
    if grid.shape[0] == grid.shape[1]:
        i, j = grid.place
        messages: list[Any] = [None] * grid.size
        partner = j * grid.shape[1] + i
        messages[partner] = structure.transposed(local(a))
        return matrix(grid, (a.ncols, a.nrows), grid.all.exchange(messages)[partner], iso=a.iso)
    t = triples(local(a), grid.rows(a.nrows)[0], grid.cols(a.ncols)[0])
    return routed(grid, Triples(t.cols, t.rows, t.values, t.iso), (a.ncols, a.nrows), a.dtype, iso=a.iso)


@across(IsSymmetric)
def is_symmetric(q: IsSymmetric, grid: Grid) -> bool:
    """Compare each block with that of the transpose, which is kept."""
    assert isinstance(q.pattern, PartPattern)
    turned = transpose(Transpose(structure_only(q.pattern)), grid).pattern
    q.pattern.facts["transpose"] = turned
    own, other = q.pattern.part, turned.part
    same = structure_only(own).nvals == structure_only(other).nvals and _same(
        structure_only(own), structure_only(other)
    )
    return all(grid.all.gather_all(same))


def _same(a: Any, b: Any) -> bool:
    from ...ops.equal import same

    return same(a, b, check_dtype=False)


@across(Permute)
def permute(q: Permute, grid: Grid) -> Any:
    """Send every entry to where its row and its column move."""
    a = q.a
    t = triples(local(a), grid.rows(a.nrows)[0], grid.cols(a.ncols)[0])
    place = np.empty(a.nrows, np.int64) if grid.local == "cpu" else None
    if place is None:
        import cupy

        place = cupy.empty(a.nrows, np.int64)
    place[q.rows] = np.arange(a.nrows) if grid.local == "cpu" else cupy.arange(a.nrows)
    return routed(
        grid, Triples(place[t.rows], q.cols[t.cols].astype(np.int64), t.values, t.iso), a.shape, a.dtype, iso=a.iso
    )


@across(Encode)
def encode(q: Encode, grid: Grid) -> PartPattern:
    """Encode the rows of the block."""
    pattern = q.pattern
    assert isinstance(pattern, PartPattern)
    block = grid.together(lambda: registry.run(Encode(pattern.part, q.codec), grid.engine))
    return PartPattern(grid, pattern.nrows, pattern.ncols, block, scalar_facts(pattern))
