"""Union-find: every process hooks by its block in a forest of all rows, then the processes join their forests.

A process starts with the hooks of its segment of the forest, so that nothing is gathered.  It sends the parents that
it has changed, and hooks by those that arrive; after ceil(log2 p) rounds every process has the hooks of all.  The roots
are the smallest rows of their trees, whatever the order of the hooks, so the result does not depend on the number of
processes.  Memory O(n) on each.

    bytes of a process = ceil(log2 p) n b, less where few rows are hooked (`_changes`)

Source of the rounds: Hensgen, Finkel, Manber, "Two Algorithms for Barrier Synchronization", International Journal of
Parallel Programming 17(1), 1988 (dissemination); hooks arrive more than once, which changes nothing.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from ...engines import registry
from ...engines.requests.graphs import Link
from ...engines.requests.operations import ScalarResult
from ...engines.rows.link_sample import LinkAll, LinkSample, LinkSampleResult, MostFrequent
from ...formats import (
    AnyPattern,
    Array,
    CompressedPattern,
    Full,
    IndexList,
    Pattern,
    array_module,
    dense_values,
    index_dtype,
    structure_only,
)
from ...formats.hypersparse import with_all_rows
from ...memory.arrays import to_host
from ...ops.convert import index_list
from ..grid import Grid
from ..part_stores import PartPattern
from ..partition import embed, local, slice_vector, vector
from ..rules import grid_rule
from ..scattering import allgather_store
from ..vector_messages import Sent, decoded, encoded

# Labels of each process among which the most frequent one is found, and rows by which a share of rows is estimated.
_DRAWN = 1024
# The shares of hooked rows up to which they are listed, and above which all parents are sent: within a host, where a
# list takes more time than the bytes that it saves; and between hosts.
_LISTED, _LISTED_BETWEEN_HOSTS = 1 / 8, 3 / 4


@grid_rule(Link)
def link(q: Link, grid: Grid) -> Any:
    """Hook by the entries of the block, and join the forests.

    Positions in a row are those in the rows of a block, so each block has its own first neighbors.
    """
    block = _block(q.pattern, grid)
    if q.skip is None:
        own = registry.run(Link(_started(q.forest, grid), block, q.first, q.last, None), grid.engine)
        return _segment(_joined(own, None, grid), grid)
    before = _whole(q.forest, grid)  # rows are skipped by their roots in it
    own = registry.run(Link(before, block, q.first, q.last, q.skip), grid.engine)
    return _segment(_joined(own, before, grid), grid)


@grid_rule(LinkSample)
def link_sample(q: LinkSample, grid: Grid) -> LinkSampleResult:
    """Hook every row to its first neighbors in each block."""
    return LinkSampleResult(link(Link(q.forest, q.pattern, 0, q.count, None), grid), q.count)


@grid_rule(LinkAll)
def link_all(q: LinkAll, grid: Grid) -> Any:
    """Hook by a sample of the block and then by the rest; join the forests once.

    Each process skips the rows of the tree that is most frequent among its own rows.  Where all these trees are one in
    the joined forest, both ends of an entry whose rows were skipped are in it.  Otherwise the processes whose tree is
    another one visit the rows that they have skipped, and all exchange the hooks of this second pass.
    """
    n, block = q.pattern.nrows, _block(q.pattern, grid)
    sample = registry.run(LinkSample(_started(q.forest, grid), block, q.count), grid.engine)
    skip = _frequent(sample.store, grid.rows(n), grid) if q.skips and block.nvals else None
    own = registry.run(Link(sample.store, block, sample.visited, None, skip), grid.engine)
    if grid.size == 1:
        return _segment(own, grid)
    labels = set() if skip is None else {_number(skip)}  # synchronizes
    forest = _joined(own, None, grid, labels)
    roots = (
        to_host(dense_values(forest)[array_module(grid.local).asarray(sorted(labels), np.int64)])
        if labels
        else np.zeros(0)
    )
    found, counts = np.unique(roots, return_counts=True)
    if found.size > 1:
        giant = int(found[counts.argmax()])
        forest = _joined(registry.run(Link(forest, block, sample.visited, None, giant), grid.engine), forest, grid)
    return _segment(forest, grid)


@grid_rule(MostFrequent)
def most_frequent(q: MostFrequent, grid: Grid) -> ScalarResult:
    """Return the most frequent of some labels of every process; of several the smallest."""
    if grid.size == 1:
        return cast(ScalarResult, registry.run(MostFrequent(local(q.forest)), grid.engine))
    labels = dense_values(local(q.forest))
    step = max(1, labels.size // _DRAWN)
    drawn = np.concatenate(grid.comm.allgather(to_host(labels[::step])))
    if not drawn.size:
        return None
    values, counts = np.unique(drawn, return_counts=True)
    return cast(np.generic, values[counts.argmax()])


# -- operands of a process ---------------------------------------------------------------------------------


def _block(pattern: AnyPattern, grid: Grid) -> AnyPattern:
    """Return the structure of the block as rows of the whole matrix, the others empty; kept with the block.

    Where it has all columns, as on grids of one column, only row offsets are made, and the entries may be compressed or
    outside the memory of the device; else the columns are copied.
    """
    assert isinstance(pattern, PartPattern)
    part, n = pattern.part, pattern.nrows
    if grid.size == 1:
        return part
    known = pattern.facts.get("linked")
    if known is None:
        first, last = grid.rows(n)
        if not isinstance(part, (Pattern, CompressedPattern)) or part.ncols < n:
            known = with_all_rows(embed(structure_only(part), (n, n), first, grid.cols(n)[0])).pattern
        else:
            offsets = array_module(grid.local).empty(n + 1, part.indptr.dtype)
            offsets[:first], offsets[first : last + 1], offsets[last + 1 :] = 0, part.indptr, part.nvals
            arrays = {name: getattr(part, name) for name in part.ARRAYS} | {"indptr": offsets}
            known = part.of_arrays(n, n, part.nvals, part.codec, arrays, {}, part.placement)
        pattern.facts["linked"] = known
    return cast(AnyPattern, known)


def _started(forest: Any, grid: Grid) -> Full:
    """Return the forest of all rows with the parents of this process's segment; other rows are roots."""
    segment = local(forest)
    if grid.size == 1:
        return cast(Full, segment)
    parents = array_module(grid.local).arange(forest.size, dtype=forest.dtype)
    first, last = grid.segment(forest.size)
    parents[first:last] = dense_values(segment)
    return Full(forest.size, forest.dtype, parents)


def _whole(forest: Any, grid: Grid) -> Full:
    return cast(Full, local(forest) if grid.size == 1 else allgather_store(forest))


def _segment(forest: Full, grid: Grid) -> Any:
    return vector(grid, forest.size, slice_vector(forest, *grid.segment(forest.size), grid.engine))


def _frequent(forest: Full, rows: tuple[int, int], grid: Grid) -> ScalarResult:
    """Return the most frequent label of some rows."""
    labels = Full(rows[1] - rows[0], forest.dtype, dense_values(forest)[slice(*rows)])
    return cast(ScalarResult, registry.run(MostFrequent(labels), grid.engine))


def _number(label: ScalarResult) -> int:
    """Return a label on the host.  Synchronizes if it is on the device."""
    return int(cast(Any, label() if callable(label) else label))


# -- joining forests ---------------------------------------------------------------------------------------


def _joined(forest: Full, before: Full | None, grid: Grid, labels: set[int] | None = None) -> Full:
    """Return the forest with the hooks of all processes, the same on each.  Collective.

    before: the forest, the same on every process, of which all forests are made; None: every row its own root.
    labels: numbers of each process, which are added to those of the others.
    """
    labels, distance = set() if labels is None else labels, 1
    while distance < grid.size:
        message = _changes(forest, before, grid), *sorted(labels)
        source = (grid.rank - distance) % grid.size
        sent, *others = grid.comm.exchange({(grid.rank + distance) % grid.size: message}, (source,))[source]
        labels.update(others)
        if sent is not None:
            forest = _hooked(forest, before, sent, grid)
        distance *= 2
    return forest


def _changes(forest: Full, before: Full | None, grid: Grid) -> Sent | None:
    """Return the parents that differ from those before as they are sent; if they are many, all parents.

    Their share is estimated, because a list costs several passes over all rows.  Synchronizes.
    """
    xp, n, parents = array_module(grid.local), forest.size, dense_values(forest)
    step = max(1, n // _DRAWN)
    drawn = xp.arange(0, n, step, dtype=forest.dtype) if before is None else dense_values(before)[::step]
    changed = int((parents[::step] != drawn).sum())  # synchronizes
    if changed > (_LISTED_BETWEEN_HOSTS if grid.comm.between_hosts else _LISTED) * drawn.size:
        return encoded(forest, grid.comm)
    old = xp.arange(n, dtype=forest.dtype) if before is None else dense_values(before)
    rows = xp.flatnonzero(parents != old)
    return encoded(IndexList(n, forest.dtype, rows.astype(index_dtype(n), copy=False), parents[rows]), grid.comm)


def _hooked(forest: Full, before: Full | None, sent: Sent, grid: Grid) -> Full:
    """Return the forest after hooking every row to the parent that has arrived for it."""
    xp, n = array_module(grid.local), forest.size
    arrived = decoded(sent, n, forest.dtype, grid.local)
    parents: Array
    if isinstance(arrived, Full):
        parents = dense_values(arrived)
    else:
        listed = index_list(arrived)
        parents = xp.arange(n, dtype=forest.dtype) if before is None else dense_values(before).copy()
        parents[listed.indices] = dense_values(listed)
    one_each = Pattern(n, n, xp.arange(n + 1, dtype=index_dtype(n)), parents)
    return cast(Full, registry.run(Link(forest, one_each, 0, 1, None), grid.engine))
