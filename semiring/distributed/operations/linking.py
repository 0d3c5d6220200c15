"""Union-find: every process hooks by its block in a copy of the forest, then all exchange what they hooked.

The roots of the forest are the smallest rows of their trees, whatever the order of the hooks, so the result does not
depend on the number of processes.  Memory O(n) on each, and O(n) is sent where every tree changes.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from ...engines import registry
from ...engines.registry import across
from ...engines.sampling import LinkSample, LinkSampleResult, MostFrequent, link_first
from ...engines.spec import BuildMatrix, Link, ScalarResult
from ...formats import AnyPattern, Full, PartPattern, array_module, dense_values, index_dtype, structure_only
from ...memory.arrays import to_host
from ...ops.build import from_triples
from ...ops.cast import typed_second
from ..grid import Grid
from ..parts import local, placed, section, vector
from ..scattering import gathered

# Labels of each process among which the most frequent one is found.
_DRAWN = 1024


@across(Link)
def link(q: Link, grid: Grid) -> Any:
    """Hook by the entries of the block; then by the trees that any process has changed.

    Positions in a row are those in the rows of a block, so each block has its own first neighbours.
    """
    size = q.forest.size
    before: Full = gathered(q.forest)
    after = registry.run(Link(before, _whole(q.pattern, grid), q.first, q.last, q.skipped()), grid.engine)
    xp = array_module(grid.local)
    hooked = xp.flatnonzero(after.values != before.values)
    found = grid.all.gather_all((hooked, after.values[hooked]))
    rows, roots = (xp.concatenate([part[k] for part in found]) for k in (0, 1))
    dtype = index_dtype(size)
    spec = BuildMatrix(
        size,
        size,
        np.dtype(np.bool_),
        rows.astype(dtype, copy=False),
        roots.astype(dtype, copy=False),
        None,
        np.bool_(True),
        typed_second(np.dtype(np.bool_)),
    )
    joined = from_triples("link", spec, grid.local)
    forest = registry.run(Link(before, joined.pattern, 0, None, None), grid.engine)
    return vector(grid, size, section(forest, *grid.piece(size), grid.engine))


def _whole(pattern: AnyPattern, grid: Grid) -> AnyPattern:
    """Return the structure of the block with the positions of the whole matrix, kept with the block."""
    assert isinstance(pattern, PartPattern)
    known = pattern.facts.get("placed")
    if known is None:
        at = grid.rows(pattern.nrows)[0], grid.cols(pattern.ncols)[0]
        known = placed(structure_only(pattern.part), (pattern.nrows, pattern.ncols), *at).pattern
        pattern.facts["placed"] = known
    return cast(AnyPattern, known)


@across(LinkSample)
def link_sample(q: LinkSample, grid: Grid) -> LinkSampleResult:
    """Hook every row to its first neighbours in each block."""
    return link_first(q, grid.device)


@across(MostFrequent)
def most_frequent(q: MostFrequent, grid: Grid) -> ScalarResult:
    """Return the most frequent of some labels of every process; of several the smallest."""
    labels = dense_values(local(q.forest))
    step = max(1, labels.size // _DRAWN)
    drawn = np.concatenate(grid.all.gather_all(to_host(labels[::step])))
    if not drawn.size:
        return None
    values, counts = np.unique(drawn, return_counts=True)
    return cast(np.generic, values[counts.argmax()])
