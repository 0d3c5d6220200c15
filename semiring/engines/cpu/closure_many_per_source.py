"""The closure of many sources, each searched by itself: a source a thread, by the kernel of single searches.

A search writes its levels to a row of a table of all vertices.  Its entries are then moved to the start of the row, and
in the end all rows together; where sources reach all vertices, nothing moves.
"""

from __future__ import annotations

import numpy as np

from ...exceptions import OutOfMemory
from ...formats import CSR, Pattern, index_dtype, uncompressed_pattern, word_count
from ...formats.vectors import SingleEntry
from ...memory.allocation import require
from ...operators import lookup_semiring
from ..requests.graphs import Closure, ClosureMany, ClosureManyResult
from ..requests.operands import Rows
from . import closure_hubs, closure_push, types
from .atomics import CONTROL_SIZE, next_chunk, stopped, trailing_zeros
from .closure import closure
from .closure_levels import levels
from .closure_state import (
    FRONTIER_EDGES,
    FRONTIER_SIZE,
    MANY_TO_SHARE,
    PAUSED,
    PULL_ALLOWED,
    REACHED,
    ROWS,
    STATE_SIZE,
    STATUS,
    STEPS,
    UNSEEN_EDGES,
)
from .compile import device, kernel
from .convert import as_index_list
from .operands import Array, rows_of
from .threads import available, run, threads_for
from .types import position

# The table of searches that only count has so many levels, or a row for each thread.
_BATCH = 1 << 22
_INT64 = np.dtype(np.int64)
_NO_TRACE = np.empty((0, 3), np.int64)


class Searches:
    """Searches from the sources of a request, and what they share."""

    def __init__(self, q: ClosureMany) -> None:
        self.q = q
        a = q.by_row.get()
        self.n, self.nvals = n, nvals = a.nrows, a.nvals
        self.threads = threads = min(available(), q.sources.size)
        indptr, indices = rows_of(a)
        transpose = indptr, indices, np.empty(0, indices.dtype), np.empty(0, np.uint32)  # no hubs
        count, allowed = n, 0
        if q.direction == "pull" or (q.direction == "auto" and q.by_column.ready):
            pattern = uncompressed_pattern(q.by_column.get().pattern)
            hubs = closure_hubs.hubs_of(pattern)
            transpose = *rows_of(q.by_column.get()), hubs.hubs, hubs.occupied
            count, allowed = hubs.count, 3 if q.direction == "pull" else 2
        mult = types.binary(lookup_semiring("min_plus").typed(q.dtype, q.dtype).mult)
        weight = q.dtype.type(1)
        self.rows = (indptr, indices, weight), (transpose[0], transpose[1], weight, *transpose[2:]), mult
        columns, _, _ = closure_push.scratch(threads, (indptr, indices), False, False)
        assert columns is not None
        words, index = word_count(n), index_dtype(n)
        self.start = np.zeros(STATE_SIZE, np.int64)
        self.start[[FRONTIER_SIZE, REACHED, UNSEEN_EDGES]] = 1, 1, nvals
        self.start[[ROWS, PULL_ALLOWED, STATUS]] = count, allowed, PAUSED
        self.scratch = (
            np.empty((threads, STATE_SIZE), np.int64),
            np.zeros((threads, CONTROL_SIZE), np.int64),
            np.empty((threads, words), np.uint32),
            np.empty((threads, 2, words), np.uint32),
            np.empty((threads, n + 1), index),
            np.empty((threads, 1, closure_push.BUFFER), index),
            columns[:, None, :],
        )

    def run(self, sources: Array, table: Array, listed: Array) -> tuple[Array, Array]:
        """Return the numbers of vertices that these sources reach, and of their levels.

        table: a row of n levels for each source, of which those of reached vertices are set, at its start.  listed:
        rows for the vertices, or of length 0.
        """
        reached, depth = np.empty((2, sources.size), np.int64)
        threads, work = min(self.threads, sources.size), sources.size * (self.n + self.nvals)
        found = (table, listed, reached, depth)
        run(_search, threads, sources, *self.rows, self.start, self.scratch, _NO_TRACE, *found, work=work)
        return reached, depth

    def sample(self, sources: Array) -> Array:
        """Return the mean number of vertices that these sources reach, by level."""
        table = np.empty((sources.size, self.n), self.q.dtype)
        reached, depth = self.run(sources, table, table[:, :0])
        return np.bincount(_columns(depth), _counted(table, reached, depth)) / sources.size

    def result(self) -> ClosureManyResult:
        """Search from all sources of the request."""
        q, n, k = self.q, self.n, self.q.sources.size
        batch = _batch(q)
        table = np.empty((batch, n), q.dtype)
        listed = np.empty((batch, n if q.levels else 0), index_dtype(n))
        found = []
        for first in range(0, k, batch):
            reached, depth = self.run(q.sources[first : first + batch], table, listed)
            found.append((depth, _counted(table, reached, depth) if q.counts else reached[:0]))
        depth, counted = (np.concatenate(part) for part in zip(*found, strict=True))
        return ClosureManyResult(
            joined(table, listed, reached) if q.levels else None,
            _counts_matrix(depth, counted) if q.counts else None,
            int(depth.max()),
        )


def in_turn(q: ClosureMany) -> ClosureManyResult | None:
    """Search from one source after the other, on all threads; None if levels are too small for that."""
    dtype, a = q.dtype, q.by_row.get()

    def steps(rows: CSR) -> CSR:
        return CSR(rows.pattern, dtype, None, dtype.type(1))

    by_column = Rows(steps(q.by_column.get()) if q.by_column.ready else None, lambda: steps(q.by_column.get()))
    semiring = lookup_semiring("min_plus").typed(dtype, dtype)
    rows, depth = [], np.empty(q.sources.size, np.int64)
    for s, source in enumerate(q.sources.tolist()):
        start = SingleEntry(a.nrows, dtype, source, dtype.type(0), a.device)
        found = closure(Closure(start, Rows(steps(a)), by_column, semiring, True, a.nrows, q.direction))
        if depth.size > 1 and a.nvals < MANY_TO_SHARE * found.steps:
            return None
        rows.append(as_index_list(found.store))
        depth[s] = found.steps
    values = [np.full(row.nvals, row.iso) if row.values is None else row.values for row in rows]
    made, counts = None, None
    if q.levels:
        indices = np.concatenate([row.indices for row in rows])
        pattern = Pattern(depth.size, a.nrows, _offsets(np.array([row.nvals for row in rows])), indices)
        made = CSR(pattern, dtype, np.concatenate(values))
    if q.counts:
        counts = _counts_matrix(depth, np.concatenate([np.bincount(row) for row in values]))
    return ClosureManyResult(made, counts, int(depth.max()))


def fits(q: ClosureMany) -> bool:
    """Return whether the table of all levels, and the arrays of each thread, fit in memory."""
    n = q.by_row.get().nrows
    row = q.dtype.itemsize + (index_dtype(n).itemsize if q.levels else 0)
    try:
        require("closure_many", "cpu", n * (_batch(q) * row + available() * (1 + index_dtype(n).itemsize)))
    except OutOfMemory:
        return False
    return True


def _batch(q: ClosureMany) -> int:
    """Return the number of sources that are searched in one call: all, if their levels are requested."""
    k = q.sources.size
    return k if q.levels else min(k, max(_BATCH // q.by_row.get().nrows, available()))


def _counted(table: Array, reached: Array, depth: Array) -> Array:
    """Return the numbers of vertices in the levels of each source, one source after the other."""
    ends = np.cumsum(depth)
    counts = np.zeros(int(ends[-1]), np.int64)
    visits = int(reached.sum())
    run(_count, threads_for(visits), table, reached, ends - depth, counts, work=visits)
    return counts


def _columns(depth: Array) -> Array:
    """Return 0, ..., depth[s] - 1 for one source s after the other."""
    ends = np.cumsum(depth)
    return np.asarray(np.arange(ends[-1]) - np.repeat(ends - depth, depth))


def _offsets(lengths: Array) -> Array:
    """Return the offsets of rows of these lengths."""
    ends = np.cumsum(lengths)
    return np.concatenate([[0], ends]).astype(index_dtype(int(ends[-1])))


def _counts_matrix(depth: Array, counts: Array) -> CSR:
    """Return counts as a matrix: row s has the first depth[s] columns."""
    steps = int(depth.max())
    return CSR(Pattern(depth.size, steps, _offsets(depth), _columns(depth).astype(index_dtype(steps))), _INT64, counts)


def joined(table: Array, listed: Array, reached: Array) -> CSR:
    """Return the entries at the starts of the rows of a table as a matrix, in its memory: it is no longer used.

    listed: their columns.  reached: their number in each row.
    """
    k, n = table.shape
    indptr = _offsets(reached)
    nvals = int(indptr[-1])
    if nvals < k * n:
        run(_join, 1, indptr, table.reshape(-1), listed.reshape(-1), work=nvals)
    for array in (table, listed):
        array.resize(nvals, refcheck=False)  # returns the memory behind the entries
    return CSR(Pattern(k, n, indptr, listed), table.dtype, table)


@kernel
def _search(t, threads, control, sources, push, pull, mult, start, scratch, trace, table, listed, reached, depth):
    """Search from one source after the other until none is left."""
    states, controls, bits_seen, bits, queues, buffers, columns = scratch
    state, seen, queue, blocks = states[t], bits_seen[t], queues[t], (columns[t], None, None)
    indptr = push[0]
    n = indptr.size - 1
    while True:
        s = next_chunk(control)
        if s >= sources.size:
            return
        source, values = sources[s], table[s]
        seen[:] = 0
        seen[source >> 5] = np.uint32(1) << np.uint32(source & 31)
        queue[0] = source
        values[source] = 0
        state[:] = start
        state[FRONTIER_EDGES] = np.int64(indptr[source + 1]) - np.int64(indptr[source])
        while state[STATUS] == PAUSED:
            vectors = (values, seen, bits[t], queue, buffers[t], blocks, state, trace)
            levels(0, 1, controls[t], push, pull, mult, *vectors, (1, n, n))
            if stopped(control):
                return
        reached[s], depth[s] = state[REACHED], state[STEPS]
        list_reached(seen, reached[s], values, listed[s])


@device
def list_reached(seen, count, values, listed):
    """Move the values of the reached vertices to the start, and list these."""
    listing = listed.size > 0
    if count == values.size:
        for o in range(listed.size):
            listed[o] = o
        return
    p = 0
    for w in range(seen.size):
        word = seen[w]
        while word:
            o = (np.int64(w) << 5) + trailing_zeros(word)
            word &= word - np.uint32(1)
            values[np.uintp(p)] = values[np.uintp(o)]
            if listing:
                listed[np.uintp(p)] = o
            p += 1


@kernel
def _count(t, threads, control, table, reached, starts, counts):
    """Count the levels of the sources, which each has a part of `counts`."""
    while True:
        s = next_chunk(control)
        if s >= reached.size:
            return
        values = table[s]
        for p in range(reached[s]):
            counts[np.uintp(starts[s] + position(values, p))] += 1


@kernel
def _join(t, threads, control, indptr, values, listed):
    """Move the rows of a table, whose entries are at their starts, together."""
    n = values.size // (indptr.size - 1)
    for s in range(indptr.size - 1):
        if stopped(control):
            return
        begin, end = np.int64(indptr[s]), np.int64(indptr[s + 1])
        first = s * n - begin
        for p in range(begin, end):
            values[np.uintp(p)] = values[np.uintp(first + p)]
            listed[np.uintp(p)] = listed[np.uintp(first + p)]
