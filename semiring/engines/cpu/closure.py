"""The closure of a frontier: selection of one of two searches, and the calls of its kernel.

A search runs inside one kernel, level after level.  It returns to Python only to request something: helpers when a
level grows large and none is active, the rows of the transpose when a pull is cheaper for the first time, space for
the trace; and every few milliseconds, so that signal handlers run.  Its state is in one array, so that the next call
continues from there.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...formats import index_dtype, uncompressed_pattern
from ..registry import implements
from ..requests.graphs import Closure, ClosureResult, Step
from ..shared.expression_numpy import cast
from ..shared.iso_results import arrivals, cast_value
from . import closure_hubs, closure_levels, closure_order, closure_push, closure_relax, presence, types
from .closure_state import (
    CONVERGED,
    FRONTIER_EDGES,
    FRONTIER_SIZE,
    HEAD,
    MANY_ENTRIES,
    MANY_TO_SHARE,
    NEEDS_ROWS,
    NEEDS_THREADS,
    PULL_ALLOWED,
    REACHED,
    ROWS,
    STATE_SIZE,
    STATUS,
    STEPS,
    TOO_MANY,
    TRACE_FULL,
    TRACE_SIZE,
    UNORDERED,
    UNSEEN_EDGES,
)
from .convert import as_index_list
from .index_rank import is_few
from .operands import Array, kernel_array, matrix_of, rows_of
from .threads import assisted, available

_TRACE_ROWS = 1024


@implements(Closure, engine="cpu", fuses=("parents",))
def closure(q: Closure) -> ClosureResult:
    """c = x (+) x A (+) x A^2 (+) ...: by levels that push or pull, or by relaxing what changed."""
    return _Search(q).result()


@dataclass
class _Trace:
    """The steps that the kernel recorded, collected whenever its array is full."""

    array: Array
    steps: list[Step] = field(default_factory=list)

    def collect(self, state: Array) -> None:
        """Collect the recorded steps and empty the array."""
        for pull, size, edges in self.array[: state[TRACE_SIZE]].tolist():
            self.steps.append(Step("pull" if pull else "push", size, edges))
        state[TRACE_SIZE] = 0


class _Search:
    """The state of one search."""

    def __init__(self, q: Closure) -> None:
        self.q = q
        self.a = q.by_row.get()
        self.n = n = self.a.nrows
        self.z = q.semiring.z
        mult = q.semiring.mult
        frontier = as_index_list(q.frontier)
        start = kernel_array(frontier.indices)
        self.words = presence.from_indices(start, n)
        arriving = arrivals(q.semiring, frontier, self.a)
        self.iso = None if q.parents else arriving.constant
        # Whether a value depends on the row that it was reached from.
        self.own = arriving.kind == 2
        self.mult: Any = None
        self.values: Array | None = None
        self.reads = False
        if self.iso is None:
            self.mult = types.binary(mult)
            self.reads = "y" in mult.uses
            self.values = np.empty(n, self.z)
            self.ordered = self._is_ordered()
            if self.ordered:
                self.values.fill(closure_order.worst(q.semiring.add.expr.order, self.z))
            self._fill(start, frontier.values if frontier.iso is None else frontier.iso)
        # Also an array, so that one compiled kernel handles both cases.
        self.no_hubs: Array = np.empty(0, self.a.indices.dtype)
        self.hubs = self.no_hubs
        self.occupied = self.words
        self.queue = np.empty(n + 1, index_dtype(n))  # a push writes one past the last entry
        self.queue[: start.size] = start
        self.parents: Array | None = None
        if q.parents:
            self.parents = np.empty(n, self.queue.dtype)
            self.parents[start] = start
        self.state = np.zeros(STATE_SIZE, np.int64)
        indptr = self.a.indptr
        self.state[FRONTIER_SIZE] = self.state[REACHED] = start.size
        if start.size == 1:  # one source
            i = int(start[0])
            self.state[FRONTIER_EDGES] = int(indptr[i + 1]) - int(indptr[i])
        else:
            self.state[FRONTIER_EDGES] = (indptr[start + 1] - indptr[start]).sum(dtype=np.int64)
        self.state[UNSEEN_EDGES] = self.a.nvals
        self.count: int | None = None  # of entries, where the search counts them
        self.trace = _Trace(np.empty((_TRACE_ROWS if q.trace else 0, 3), np.int64))

    def _fill(self, start: Array, values: Any) -> None:
        assert self.values is not None
        self.values[start] = cast_value(values, self.z) if isinstance(values, np.generic) else cast(values, self.z)

    def result(self) -> ClosureResult:
        if self.q.final_on_arrival:
            self._levels()
        else:
            self._relaxations()
        self.trace.collect(self.state)
        store = presence.from_slots(self.n, self.z, self.words, self.values, self.iso, self.count)
        steps = int(self.state[STEPS])
        parents = None
        if self.parents is not None:
            parents = presence.from_slots(self.n, self.parents.dtype, self.words, self.parents, None, store.nvals)
        return ClosureResult(store, bool(self.state[STATUS] == CONVERGED), steps, tuple(self.trace.steps), parents)

    def _drive(self, kernel: Any, threads: int, arguments: Any) -> None:
        """Call the kernel until it is done, and provide what it requests."""
        most = available()
        while True:
            assisted(kernel, threads, *arguments(most), work=self.a.nvals + self.n)
            status = self.state[STATUS]
            if status in (CONVERGED, TOO_MANY, UNORDERED):
                return  # after PAUSED the search continues
            if status == NEEDS_ROWS:
                self._allow_pull()
            elif status == NEEDS_THREADS:
                threads = most
            elif status == TRACE_FULL:
                self.trace.collect(self.state)

    def _allow_pull(self) -> None:
        """Provide the operands of a pull: the rows of the transpose, and their hubs."""
        self.transpose = self.q.by_column.get()
        hubs = closure_hubs.hubs_of(uncompressed_pattern(self.transpose.pattern))
        # Where values of the matrix are read, the position of the entry is needed, not only its column.
        self.hubs = self.no_hubs if self.reads and self.transpose.iso is None else hubs.hubs
        self.occupied = hubs.occupied
        self.state[ROWS] = hubs.count
        self.state[PULL_ALLOWED] = 2

    def _levels(self) -> None:
        if self.q.direction != "pull" and is_few(self.a.nvals):
            self._push_levels()
        else:
            self._push_or_pull_levels()
        self.count = int(self.state[REACHED])

    def _push_levels(self) -> None:
        """Search a matrix of few entries: a pull would save less than changing the direction costs."""
        matrix = matrix_of(self.a, self.reads)
        vectors = (self.mult, self.values, self.words, self.queue, self._scratch(1))
        self._drive(
            closure_levels.pushes, 1, lambda most: (*matrix, *vectors, self.state, self.trace.array, self.q.max_steps)
        )

    def _scratch(self, threads: int) -> tuple[Array | None, ...]:
        listed = self.reads and self.a.values is not None
        return closure_push.scratch(threads, rows_of(self.a), self.own, listed)

    def _push_or_pull_levels(self) -> None:
        """Search by levels that push or pull, on one thread or several."""
        q, n = self.q, self.n
        self.transpose = self.a
        self.state[ROWS] = n
        if q.direction != "push" and n > 0:
            self.state[PULL_ALLOWED] = 1
            if q.direction == "pull" or (q.by_column.ready and closure_hubs.cached(q.by_column.get().pattern)):
                self._allow_pull()
        if q.direction == "pull":
            self.state[PULL_ALLOWED] = 3
        bits = np.zeros((2, self.words.size), np.uint32)
        buffers = np.empty((available(), closure_push.BUFFER), self.queue.dtype)
        push, scratch = matrix_of(self.a, self.reads), self._scratch(available())

        def arguments(most: int) -> tuple[Any, ...]:
            pull = (*matrix_of(self.transpose, self.reads), self.hubs, self.occupied)
            vectors = (self.values, self.words, bits, self.queue, buffers, scratch)
            limits = (most, MANY_TO_SHARE, q.max_steps)
            return (push, pull, self.mult, *vectors, self.state, self.trace.array, limits)

        threads = available() if self.a.nvals >= MANY_TO_SHARE else 1
        self._drive(closure_levels.levels, threads, arguments)

    def _is_ordered(self) -> bool:
        """Return whether to relax in the order of values: of min or max, to the end, and without a trace of steps."""
        q = self.q
        if q.final_on_arrival or q.trace or q.max_steps < self.n or self.z.kind not in "iuf":
            return False
        return bool(q.semiring.add.expr.order)

    def _relaxations(self) -> None:
        if self.iso is not None:  # all values are equal: entries can only be added, never improved
            self.state[PULL_ALLOWED] = 0
            self._levels()
            return
        if self.ordered:
            self._relax_in_order()
            if self.state[STATUS] == CONVERGED:
                return
            self.state[STEPS] = 0
        self._relax()

    def _relax_in_order(self) -> None:
        """Expand rows from the best value on, until nothing changes or a product is better than its operand."""
        n, size = self.n, int(self.state[FRONTIER_SIZE])
        links = np.full(2 * n, closure_order.ABSENT, self.queue.dtype)
        heads = np.full(closure_order.SLOTS + 1, -1, self.queue.dtype)
        occupied = np.zeros(closure_order.SLOTS // 64, np.uint64)
        closure_order.chain(self.queue[:size], links, heads)
        self.state[HEAD] = closure_order.BEYOND
        matrix = matrix_of(self.a, self.reads)
        operators = (types.monoid(self.q.semiring.add), self.mult)
        lists = (links, heads, occupied)
        vectors = (self.values, self.parents, self.words, lists, self.queue, np.zeros(2), self.state)
        self._drive(closure_order.ordered, 1, lambda most: (matrix, *operators, *vectors))

    def _relax(self) -> None:
        """Expand all rows that changed, step by step."""
        n = self.n
        spare = np.empty(n // 8 + 64, self.queue.dtype)
        changed = presence.no_bits(n)
        sums = np.zeros((available(), 2), np.int64)
        matrix = matrix_of(self.a, self.reads)
        operators = (types.monoid(self.q.semiring.add), self.mult)
        vectors = (self.values, self.parents, self.words, changed, (self.queue, spare), sums)

        def arguments(most: int) -> tuple[Any, ...]:
            limits = (most, MANY_ENTRIES, self.q.max_steps)
            return (matrix, *operators, *vectors, self.state, self.trace.array, limits)

        threads = available() if self.a.nvals >= MANY_ENTRIES else 1
        self._drive(closure_relax.relax, threads, arguments)
