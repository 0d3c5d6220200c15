"""The boolean closure of many sources: together, in a row of bits for each vertex, or one by one.

Together a row that is in the frontiers of many sources is visited once, but the visit takes as long as those of
`SHARING` searches, which read less and pull by hubs.  On long graphs (roads, grids) few frontiers meet.  How many
share a row follows from the levels of two searches.

Method: Then, Kaufmann, Chirigati, Hoang-Vu, Pham, Kemper, Neumann, Vo, "The More the Merrier: Efficient Multi-Source
Graph Traversal" (PVLDB 8(4), 2014).  A level is a pull, in which each row that a source may still reach unites the bits
of its neighbors, or a push of the rows in the frontier.  The numbers of levels are stored as bit planes; entries of
the result are computed from them at the end, when their number is known.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...formats import CSR, Pattern, index_dtype, word_count
from ...memory.allocation import require
from ..registry import implements
from ..requests.graphs import ClosureMany, ClosureManyResult, counts_matrix, group_bounds
from ..shared.direction import Work, prefers_pull
from . import closure_many_levels as levels
from .closure_many_per_source import Searches, fits, in_turn
from .closure_push import BUFFER
from .operands import Array, kernel_array, rows_of
from .threads import available, run, threads_for
from .tuning import COSTS, SHARING, SOURCES

_WORD_BITS = 64
# Up to so many sources are searched apart without a sample.
_FEW = 24
# The searches of a sample, at most a twelfth of all.
_SAMPLE = 2


@implements(ClosureMany, engine="cpu")
def closure_many(q: ClosureMany) -> ClosureManyResult:
    """S, S A, S A^2, ...: together or one by one; this needs memory for the levels of all vertices and sources."""
    found = in_turn(q) if q.sources.size < available() else None
    if found is not None:
        return found
    if fits(q):
        searches = Searches(q)
        if not _shares(q, searches):
            return searches.result()
    return together(q)


def together(q: ClosureMany) -> ClosureManyResult:
    """Advance the frontiers of up to 512 sources in one pass over the matrix.

    Memory beyond the matrix and the result, a row and a source: three bits, and with levels one for each bit of a level
    number; the groups of 512 sources that are complete keep all but two of them until the end.
    """
    search = _Search(q)
    groups = [search.group(q.sources[first:last]) for first, last in group_bounds(q.sources.size, SOURCES)]
    counts, steps = None, max(group.steps for group in groups)
    if q.counts:
        counts, _ = counts_matrix([group.counts for group in groups], "cpu")
    return ClosureManyResult(_levels_matrix(q, groups) if q.levels else None, counts, steps)


def _shares(q: ClosureMany, searches: Searches) -> bool:
    """Return whether so many sources share a row of a frontier, on average, that they should be searched together.

    A source whose frontier has f of n rows has each of them with probability f / n, where sources are anywhere.
    """
    indptr = q.by_row.get().indptr
    active = q.sources[indptr[q.sources + 1] > indptr[q.sources]]
    if active.size <= _FEW:
        return False
    rows = searches.sample(active[:: active.size // _SAMPLE][:_SAMPLE])
    k = min(active.size, SOURCES)
    union = searches.n * -np.expm1(k * np.log1p(-np.minimum(rows / searches.n, 1 - 1e-9)))
    return bool(k * rows.sum() >= SHARING * union.sum())


@dataclass
class _Group:
    """A completed group: its number of sources and of words a row, the bits of the rows reached, and their levels.

    planes: bit b of the level of each of them.  counts: levels by sources, of no level if counts are not requested.
    """

    sources: int
    words: int
    seen: Array
    planes: list[Array]
    counts: Array
    steps: int


class _Search:
    """What the groups of one search share."""

    def __init__(self, q: ClosureMany) -> None:
        self.q = q
        a = q.by_row.get()
        self.n, self.nvals = a.nrows, a.nvals
        self.indptr, self.indices = rows_of(a)
        n = self.n
        widest = -(-min(q.sources.size, SOURCES) // _WORD_BITS)
        require("closure_many", "cpu", n * widest * 8 * (3 + 3 * q.levels) + 2 * n * self.indices.itemsize)
        self.may_pull = q.direction == "pull" or (q.direction == "auto" and q.by_column.ready)
        self.t_indptr, self.t_indices = rows_of(q.by_column.get()) if self.may_pull else (self.indptr, self.indices)
        self.lists = np.empty((2, n), index_dtype(n))
        self.marks = np.zeros(word_count(n), np.uint32)
        self.buffers = np.empty((available(), BUFFER), self.lists.dtype)

    def group(self, sources: Array) -> _Group:
        """Return the rows that these sources reach."""
        return _Frontiers(self, sources).run()


class _Frontiers:
    """The frontiers of one group: `near`, which is advanced, and `far`, the next one.

    seen: the bits of the rows reached so far.  listed: how many rows of `lists[0]` are those of `near`; -1: `near` was
    pulled, and is not listed.  open_edges: entries of the rows, of the transpose, that not all sources have reached.
    alive: the sources with a row in `near`.
    """

    def __init__(self, search: _Search, sources: Array) -> None:
        self.search, self.k = search, sources.size
        self.words = words = -(-self.k // _WORD_BITS)
        n = search.n
        self.near, self.far, self.seen = (np.zeros(n * words, np.uint64) for _ in range(3))
        self.planes: Array = np.zeros((0, n * words), np.uint64)
        self.full = np.zeros(words, np.uint64)
        bits = np.arange(self.k)
        masks = np.uint64(1) << (bits % _WORD_BITS).astype(np.uint64)
        np.bitwise_or.at(self.full, bits // _WORD_BITS, masks)
        np.bitwise_or.at(self.far, sources * words + bits // _WORD_BITS, masks)
        first = np.unique(sources)
        search.lists[1, : first.size] = first
        self.rows, self.edges = 0, 0
        self.listed = 0
        self.found = first.size
        self.open_edges = search.nvals
        self.alive = self.full.copy()
        self.counts: list[Array] = []
        self.level = 0

    def run(self) -> _Group:
        """Advance until no source reaches a new row."""
        indptr = self.search.indptr
        first = self.search.lists[1, : self.found]
        self._enter_listed(self.found, int((indptr[first + 1] - indptr[first]).sum(dtype=np.int64)))
        while self.rows:
            self.level += 1
            if self.search.q.levels and self.level >> len(self.planes):
                self.planes = np.concatenate([self.planes, np.zeros((1, self.seen.size), np.uint64)])
            if self._pulls():
                self._pull()
            else:
                self._push()
        counts = np.array(self.counts[: self.level], np.int64).reshape(-1, self.k)
        return _Group(self.k, self.words, self.seen, list(self.planes), counts, self.level)

    def _pulls(self) -> bool:
        q, search = self.search.q, self.search
        if q.direction != "auto" or not search.may_pull:
            return q.direction == "pull"
        work = Work(search.nvals, search.n, self.open_edges, False, 0, search.n)
        return prefers_pull(COSTS, work, self.rows, self.edges)

    def _tallies(self, threads: int) -> tuple[Array, Array, Array]:
        """Return the zero counters of a pass for each thread: rows, edges, closed edges; alive; rows by source."""
        counted = self.words * _WORD_BITS if self.search.q.counts else 0
        sums = np.zeros((threads, 8), np.int64)  # a cache line each
        return sums, np.zeros((threads, self.words), np.uint64), np.zeros((threads, counted), np.int64)

    def _bits(self) -> tuple[Any, ...]:
        """Return what a pass enters bits in, as one argument of a kernel."""
        return self.words, self.full, self.far, self.seen, self.planes, self.level

    def _add(self, tallies: tuple[Array, Array, Array]) -> None:
        sums, alive, counted = tallies
        total = sums.sum(axis=0)
        self.rows, self.edges = int(total[0]), int(total[1])
        self.open_edges -= int(total[2])
        self.alive = np.bitwise_or.reduce(alive, axis=0)
        if self.search.q.counts:
            self.counts.append(counted.sum(axis=0)[: self.k])
        self.near, self.far = self.far, self.near

    def _pull(self) -> None:
        s = self.search
        work = (self.open_edges + s.n) * self.words
        threads = threads_for(work)
        tallies = self._tallies(threads)
        bits = (self.alive, self.near, self._bits(), tallies)
        run(levels.pull, threads, s.indptr, (s.t_indptr, s.t_indices), *bits, work=work)
        self._add(tallies)
        self.listed = -1

    def _push(self) -> None:
        s = self.search
        if self.listed < 0:
            self.far[:] = 0
            count = np.zeros(1, np.int64)
            run(levels.list_rows, threads_for(s.n), self.words, self.near, s.lists[0], s.buffers, count, work=s.n)
            self.listed = int(count[0])
        threads = threads_for(self.edges * self.words)
        tail = np.zeros(16, np.int64)
        bits = (self.words, self.near, self.far, self.seen)
        lists = (s.lists[0], self.listed, s.lists[1], s.buffers, s.marks, tail)
        run(levels.push, threads, s.indptr, s.indices, *bits, *lists, work=self.edges * self.words)
        self._enter_listed(int(tail[0]), int(tail[8]))

    def _enter_listed(self, found: int, edges: int) -> None:
        """Enter the bits of the rows in ``lists[1]``, which have this many edges, and clear `near`."""
        s = self.search
        work = (found + self.listed) * self.words
        threads = threads_for(work)
        tallies = self._tallies(threads)
        lists = (s.lists[0], self.listed, s.lists[1], found, s.marks)
        run(levels.enter_listed, threads, s.t_indptr, self.near, self._bits(), *lists, tallies, work=work)
        tallies[0][0, :2] = found, edges
        self._add(tallies)
        s.lists = s.lists[::-1]
        self.listed = found


def _levels_matrix(q: ClosureMany, groups: list[_Group]) -> CSR:
    """Return the levels of all groups as one matrix."""
    n, k = q.by_row.get().nrows, q.sources.size
    chunks = -(-n // levels.CHUNK)
    offsets = np.zeros((k, chunks), np.int64)
    first = 0
    for group in groups:
        work = n * group.words
        counted = (group.words, group.sources, group.seen, offsets[first : first + group.sources])
        run(levels.count_rows, threads_for(work), *counted, work=work)
        first += group.sources
    ends = np.cumsum(offsets.reshape(-1)).reshape(k, chunks)
    nvals = int(ends[-1, -1])
    offsets = ends - offsets
    column = index_dtype(n)
    require("closure_many", "cpu", nvals * (column.itemsize + q.dtype.itemsize))
    indices, values = np.empty(nvals, column), np.empty(nvals, q.dtype)
    first = 0
    for group in groups:
        planes = np.stack(group.planes) if group.planes else np.zeros((0, group.seen.size), np.uint64)
        places = kernel_array(offsets[first : first + group.sources])
        written = (group.words, group.sources, group.seen, planes, places, indices, values)
        run(levels.write_rows, threads_for(nvals), *written, work=nvals)
        first += group.sources
    indptr = np.concatenate([offsets[:, 0], [nvals]]).astype(index_dtype(nvals))
    return CSR(Pattern(k, n, indptr, indices), q.dtype, values)
