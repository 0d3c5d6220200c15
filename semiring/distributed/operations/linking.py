"""Union-find: every process hooks by its block in a forest of the block's rows and columns, then labels are joined.

The label of a vertex in a process is the smallest vertex of its tree there.  A process sends its labels to the holders
of the vertices: those of its most frequent tree as positions alone, none of a vertex that is alone in its tree.  The
holder keeps one label of each vertex, and a pair of labels where two meet; most are one pair, of two frequent trees.
The pairs of all processes are edges between labels, whose trees give the labels of the result: the smallest vertex of a
component, whatever the number of processes, because that is its own label in each process.

Few pairs are gathered by every process.  Of more, the larger label of a pair hooks to the smallest one that it meets,
at its holder, and the pairs of the new roots that differ remain, round by round, until they are few.

    memory of a process = O(n / rows of the grid + n / columns of the grid) labels

Sources: of the hooks Sutton, Ben-Nun, Barak, IPDPS 2018 (`ops.link`); of the rounds Shiloach, Vishkin, "An O(log n)
Parallel Connectivity Algorithm", Journal of Algorithms 3, 1982.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from ...dtypes import BOOL
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
from ...operators import monoid as monoids
from ...ops.convert import index_list
from ..grid import Grid
from ..part_stores import PartPattern
from ..partition import allgather_segments, col_segments, embed, local, readers, row_segments, vector
from ..rules import grid_rule
from ..vector_messages import decoded, encoded
from .indexing import asked, delivered

# Labels of each process among which the most frequent one is found.
_DRAWN = 1024
# Pairs that every process gathers, or as many as a segment has vertices.
_GATHERED = 1 << 14


@grid_rule(Link)
def link(q: Link, grid: Grid) -> Any:
    """Hook by the entries of the block, and join the labels.

    Positions in a row are those in the rows of a block, so each block has its own first neighbors.
    """
    at = _Vertices(grid, q.pattern.nrows)
    if grid.size == 1:
        own = registry.run(Link(local(q.forest), _block(q.pattern, at), q.first, q.last, q.skip), grid.engine)
        return vector(grid, at.n, own)
    start, before, skip = _started(q.forest, q.skipped(), at)
    own = registry.run(Link(start, _block(q.pattern, at), q.first, q.last, skip), grid.engine)
    return _joined(own, before, None, at)[0]


@grid_rule(LinkSample)
def link_sample(q: LinkSample, grid: Grid) -> LinkSampleResult:
    """Hook every row to its first neighbors in each block."""
    return LinkSampleResult(link(Link(q.forest, q.pattern, 0, q.count, None), grid), q.count)


@grid_rule(LinkAll)
def link_all(q: LinkAll, grid: Grid) -> Any:
    """Hook by a sample of the block and then by the rest; join the labels once.

    Each process skips the rows of the tree that is most frequent among its own rows.  Where all these trees are one in
    the result, both ends of an entry whose rows were skipped are in it.  Otherwise the processes whose tree is another
    one visit all rows, and the labels are joined again.
    """
    at = _Vertices(grid, q.pattern.nrows)
    block = _block(q.pattern, at)
    own, before, _ = (local(q.forest), None, None) if grid.size == 1 else _started(q.forest, None, at)
    sample = registry.run(LinkSample(own, block, q.count), grid.engine)
    own, visited = sample.store, sample.visited
    del sample  # a forest of the vertices of the block
    skip = _frequent(own, at) if q.skips and block.nvals else None
    own = registry.run(Link(own, block, visited, None, skip), grid.engine)
    if grid.size == 1:
        return vector(grid, at.n, own)
    labels, giant = _joined(own, before, skip, at)
    if q.skips:
        found, counts = np.unique(grid.comm.allgather_array(np.array([giant])), return_counts=True)
        common = found[np.where(found < 0, 0, counts).argmax()]
        if (found >= 0).sum() > 1:
            if giant not in (-1, common):
                own = registry.run(Link(own, block, visited, None, None), grid.engine)
            labels, _ = _joined(own, before, None, at)
    return labels


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


class _Vertices:
    """The vertices of a block, its rows and its columns, numbered from 0 in their order.  size: how many there are."""

    def __init__(self, grid: Grid, n: int) -> None:
        self.grid, self.n = grid, n
        self.dtype, self.xp = index_dtype(n), array_module(grid.local)
        self.rows, self.cols = grid.rows(n), grid.cols(n)
        first, second = sorted((self.rows, self.cols))
        # The last + 1 vertex of those that are numbered from `_first` on, and what the others are shifted by.
        self._first, self._end = first[0], max(first[1], second[1]) if second[0] <= first[1] else first[1]
        self._gap = max(second[0] - first[1], 0)
        self.size = max(first[1], second[1]) - self._first - self._gap

    def numbers(self, first: int, last: int) -> slice:
        """Return the numbers of consecutive vertices of the block."""
        begin = first - self._first - (self._gap if first >= self._end else 0)
        return slice(begin, begin + last - first) if first < last else slice(0, 0)

    def has(self, vertex: int) -> bool:
        """Return whether a vertex is one of the block."""
        return any(first <= vertex < last for first, last in (self.rows, self.cols))

    def vertices(self, numbers: Array) -> Array:
        """Return the vertices of some numbers."""
        found = numbers.astype(self.dtype)
        found += self.dtype.type(self._first)
        if self._gap:
            found[found >= self._end] += self.dtype.type(self._gap)
        return found


def _block(pattern: AnyPattern, at: _Vertices) -> AnyPattern:
    """Return the structure of the block between its vertices; kept with the block.

    Where the columns have their own numbers, as on grids of one column, only row offsets are made, and the entries may
    be compressed or outside the memory of the device; else the columns are copied.
    """
    assert isinstance(pattern, PartPattern)
    part, size = pattern.part, at.size
    if at.grid.size == 1:
        return part
    known = pattern.facts.get("linked")
    if known is None:
        rows, cols = at.numbers(*at.rows), at.numbers(*at.cols)
        if not isinstance(part, (Pattern, CompressedPattern)) or part.ncols < size:
            known = with_all_rows(embed(structure_only(part), (size, size), rows.start, cols.start)).pattern
        else:
            offsets = at.xp.empty(size + 1, part.indptr.dtype)
            offsets[: rows.start], offsets[rows.start : rows.stop + 1] = 0, part.indptr
            offsets[rows.stop + 1 :] = part.nvals
            arrays = {name: getattr(part, name) for name in part.ARRAYS} | {"indptr": offsets}
            known = part.of_arrays(size, size, part.nvals, part.codec, arrays, {}, part.placement)
        pattern.facts["linked"] = known
    return cast(AnyPattern, known)


def _started(forest: Any, skip: int | None, at: _Vertices) -> tuple[Full, Array | None, int | None]:
    """Return the forest of the vertices of the block in which those of one label are a tree.  Collective.

    Also the labels of the segment, None if each vertex is its own; and the number of the root of `skip`, None if no
    vertex has that label.
    """
    grid, xp, size = at.grid, at.xp, at.size
    dtype, (first, last), labels = index_dtype(size), grid.segment(at.n), dense_values(local(forest))
    alone = grid.all_reduce_and(bool((labels == xp.arange(first, last, dtype=at.dtype)).all()))
    if alone:
        root = None if skip is None or not at.has(skip) else at.numbers(skip, skip + 1).start
        return Full(size, dtype, xp.arange(size, dtype=dtype)), None, root
    every = xp.empty(size, at.dtype)
    for segments, held in ((row_segments, at.rows), (col_segments, at.cols)):
        every[at.numbers(*held)] = dense_values(cast(Full, allgather_segments(grid, forest, segments)))
    _, firsts, inverse = xp.unique(every, return_index=True, return_inverse=True)
    roots = firsts.astype(dtype)[inverse]
    skipped = [] if skip is None else to_host(roots[every == skip][:1]).tolist()
    return Full(size, dtype, roots), labels, skipped[0] if skipped else None


def _frequent(forest: Full, at: _Vertices) -> int | None:
    """Return the most frequent label of the rows of the block.  Synchronizes."""
    rows = at.numbers(*at.rows)
    labels = Full(rows.stop - rows.start, forest.dtype, dense_values(forest)[rows])
    label: Any = registry.run(MostFrequent(labels), at.grid.engine)
    label = label() if callable(label) else label
    return None if label is None else int(label)


# -- joining labels ----------------------------------------------------------------------------------------


def _joined(forest: Full, before: Array | None, skip: int | None, at: _Vertices) -> tuple[Any, int]:
    """Return the labels that follow from the forests of all processes, and that of a tree of this one.  Collective.

    before: labels of the segment that hold too.  skip: a vertex of the tree, by its number; -1 is the label of none.
    """
    grid, xp = at.grid, at.xp
    roots = dense_values(forest)
    tree = skip if skip is not None else _frequent(forest, at)
    frequent = -1 if tree is None else int(at.vertices(roots[tree : tree + 1])[0])
    hooked = roots != xp.arange(at.size, dtype=roots.dtype)
    used = xp.zeros(at.size, np.bool_)
    used[roots[hooked]] = True
    labels, messages = at.vertices(roots), dict[int, Any]()
    for rank in sorted({*row_segments(grid), *col_segments(grid)} - {grid.rank}):
        part = at.numbers(*grid.segment(at.n, rank))
        messages[rank] = _sent(labels[part], hooked[part], used[part], frequent, grid)
    own, segment = at.numbers(*grid.segment(at.n)), _Segment(at, frequent)
    segment.labels[:], segment.used[:] = labels[own], used[own]
    if before is not None:
        # A label of `before` is used where its own vertex is held.
        segment.used |= before == segment.vertices
        differs = xp.flatnonzero(before != segment.vertices)
        segment.meet(differs, before[differs])
    sources = {*readers(grid, row_segments), *readers(grid, col_segments)} - {grid.rank}
    for _, message in sorted(grid.comm.exchange(messages, sources).items()):
        segment.add(message)
    wanted = xp.append(segment.labels, xp.asarray([frequent], dtype=at.dtype))
    found = _resolved(segment.pairs(), wanted, at)
    return vector(grid, at.n, Full(int(found.size) - 1, at.dtype, found[:-1])), int(
        found[-1]
    ) if skip is not None else -1


def _sent(labels: Array, hooked: Array, used: Array, frequent: int, grid: Grid) -> tuple[Any, ...] | None:
    """Return labels of a segment as they are sent; None if there are none.

    A label that many have, the positions of those, other labels, and the vertices that are labels.
    """
    size, xp = int(labels.size), array_module(grid.local)
    members = hooked & (labels == frequent)

    def at(which: Array, values: Array | None) -> Any:
        positions = xp.flatnonzero(which).astype(index_dtype(size), copy=False)
        if values is None:
            return encoded(IndexList(size, BOOL, positions, None, np.bool_(True)), grid.comm)
        return encoded(IndexList(size, values.dtype, positions, values[positions]), grid.comm)

    sent = at(members, None), at(hooked & ~members, labels), at(used, None)
    return None if sent == (None, None, None) else (frequent, *sent)


class _Segment:
    """The label of each vertex of a segment, which vertices are labels, and pairs of labels of one vertex."""

    def __init__(self, at: _Vertices, frequent: int) -> None:
        first, last = at.grid.segment(at.n)
        self._at, self._first, self._frequent = at, first, frequent
        self.vertices = at.xp.arange(first, last, dtype=at.dtype)
        self.labels, self.used = self.vertices.copy(), at.xp.zeros(last - first, np.bool_)
        self._pairs: list[tuple[Array, Array]] = []

    def meet(self, positions: Array, labels: Array) -> None:
        """Add labels of some vertices."""
        xp, current = self._at.xp, self.labels[positions]
        alone = current == self.vertices[positions]
        self.labels[positions[alone]] = labels[alone]
        apart = ~alone & (current != labels)
        # Most are one pair, of two frequent labels.
        frequent = apart & (current == self._frequent)
        if frequent.any():
            others = labels[frequent]
            few = xp.unique(others) if (others != others[0]).any() else others[:1]
            self._pairs.append((xp.full_like(few, self._frequent), few))
        apart &= ~frequent
        self._pairs.append((current[apart], labels[apart]))

    def add(self, message: tuple[Any, ...]) -> None:
        """Add the labels that a process has sent."""
        frequent, *sent = message
        size, at = int(self.labels.size), self._at
        members, others, roots = (
            index_list(decoded(each, size, dtype, at.grid.local))
            for each, dtype in zip(sent, (BOOL, at.dtype, BOOL), strict=True)
        )
        self.used[roots.indices] = True
        self.meet(members.indices, at.xp.full(members.nvals, frequent, at.dtype))
        self.meet(others.indices, dense_values(others))

    def pairs(self) -> tuple[Array, Array]:
        """Return distinct pairs."""
        apart = self.used & (self.labels != self.vertices)
        return _distinct([*self._pairs, (self.vertices[apart], self.labels[apart])], self._at)


def _distinct(pairs: list[tuple[Array, Array]], at: _Vertices) -> tuple[Array, Array]:
    """Return the pairs of different labels, the smaller one second, in the order of the first ones."""
    xp = at.xp
    one, other = (xp.concatenate([pair[k] for pair in pairs]) for k in (0, 1))
    apart = one != other
    high, low = xp.maximum(one, other)[apart], xp.minimum(one, other)[apart]
    order = xp.lexsort(xp.stack([low, high]))
    high, low = high[order], low[order]
    new = xp.ones(high.size, np.bool_)
    new[1:] = (high[1:] != high[:-1]) | (low[1:] != low[:-1])
    return high[new], low[new]


def _resolved(pairs: tuple[Array, Array], wanted: Array, at: _Vertices) -> Array:
    """Return the smallest labels that the pairs of all processes join to some labels.  Collective."""
    grid, xp = at.grid, at.xp
    first, last = grid.segment(at.n)
    parent: Array | None = None

    def parents(labels: Array) -> Array:
        """Return the parents of labels, from their holders.  Collective."""
        known, inverse = xp.unique(labels, return_inverse=True)
        places, values = asked(grid, vector(grid, at.n, Full(last - first, at.dtype, parent)), known)
        found = xp.empty_like(known)
        found[places] = values
        return found[inverse]

    while (count := grid.all_reduce_sum(int(pairs[0].size))) > max(_GATHERED, at.n // grid.size):
        if parent is None:
            parent = xp.arange(first, last, dtype=at.dtype)
        lowest = index_list(delivered(grid, pairs[0].astype(np.int64), pairs[1], at.n, monoids.min[at.dtype].op))
        parent[lowest.indices] = dense_values(lowest)
        hooked = xp.flatnonzero(parent != xp.arange(first, last, dtype=at.dtype))
        moved = 1
        while moved:  # every label to its root
            above = parents(parent[hooked])
            moved = grid.all_reduce_sum(int((above != parent[hooked]).sum()))
            parent[hooked] = above
        pairs = _distinct([(parents(pairs[0]), parents(pairs[1]))], at)
    if parent is not None:
        wanted = parents(wanted)
    if not count:
        return wanted
    every = grid.comm.allgather(pairs)
    high, low = _distinct([(one, other) for one, other in every], at)
    known = xp.unique(xp.concatenate([high, low]))
    rows, cols = (xp.searchsorted(known, each) for each in (high, low))
    size = int(known.size)
    offsets = xp.searchsorted(rows, xp.arange(size + 1)).astype(index_dtype(int(high.size)), copy=False)
    between = Pattern(size, size, offsets, cols.astype(index_dtype(size), copy=False))
    numbers = Full(size, index_dtype(size), xp.arange(size, dtype=index_dtype(size)))
    roots = known[dense_values(registry.run(Link(numbers, between, 0, None, None), grid.engine))]
    place = xp.minimum(xp.searchsorted(known, wanted), size - 1)
    return xp.where(known[place] == wanted, roots[place], wanted)
