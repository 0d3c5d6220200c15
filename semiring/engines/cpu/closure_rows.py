"""The closure of every row of a matrix: relaxations in the order of values, a row a thread.

Each row is computed as `closure` does a vector, by the kernel of that and with the same results.  A relaxation in the
order of values has one thread, because a round has few rows on long graphs; rows of the matrix do not depend on each
other.  A row of which a product is better than its operand is computed by `closure`.

Results are written to a table of all columns.  If rows of the result have missing entries, the others are moved to the
start of their row, and in the end all together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...formats import CSR, IndexList, index_dtype, word_count
from ...formats.full import every_row_full
from ...memory.allocation import require
from ..registry import implements
from ..requests.graphs import Closure, ClosureRows, ClosureRowsResult
from ..requests.operations import Concat
from ..shared.iso_results import arrivals
from . import closure_order as order
from . import types
from .atomics import CONTROL_SIZE, bit_count, next_chunk, stopped
from .closure import closure
from .closure_many_per_source import joined, list_reached
from .closure_state import HEAD, PAUSED, STATE_SIZE, STATUS, UNORDERED
from .compile import kernel
from .convert import as_index_list
from .layout import concat
from .operands import Array, matrix_of
from .threads import run, threads_for
from .types import position, value_at

# Bytes of the table of results of one call, unless the rows of as many threads need more.
_BATCH_BYTES = 1 << 28


def _is_ordered(q: ClosureRows) -> bool:
    """Return whether rows are relaxed in the order of values: of min or max, and with values that differ."""
    by_values = bool(q.semiring.add.expr.order) and q.semiring.z.kind in "iuf"
    return by_values and arrivals(q.semiring, q.frontiers, q.by_row.get()).constant is None


@implements(ClosureRows, engine="cpu", when=_is_ordered)
def closure_rows(q: ClosureRows) -> ClosureRowsResult:
    """C(s, :) = the closure of X(s, :), of several rows at a time."""
    return _Searches(q).result()


@dataclass
class _Batch:
    """Rows of the result: the first `reached` values of each are those of `listed`, or of all columns if it is None."""

    reached: Array
    values: Array
    listed: Array | None


class _Searches:
    """What the searches of all rows share: the matrix, its operators, and the arrays of each thread."""

    def __init__(self, q: ClosureRows) -> None:
        self.q = q
        a = q.by_row.get()
        self.n, self.z = a.nrows, q.semiring.z
        n = self.n
        self.k, self.index = q.frontiers.nrows, index_dtype(n)
        self.work = n + a.nvals  # of one row
        self.threads = threads = min(self.k, threads_for(self.k * self.work))
        row_bytes = n * self.z.itemsize
        self.rows_a_batch = min(self.k, max(threads, _BATCH_BYTES // max(row_bytes, 1)))
        require("closure", "cpu", self.rows_a_batch * row_bytes + threads * 3 * n * self.index.itemsize)
        matrix = matrix_of(a, "y" in q.semiring.mult.uses)
        operators = (types.monoid(q.semiring.add), types.binary(q.semiring.mult))
        worst = self.z.type(order.worst(q.semiring.add.expr.order, self.z))
        self.read = (matrix_of(q.frontiers), matrix, *operators, worst)
        self.scratch = (
            np.empty((threads, 2 * n), self.index),
            np.empty((threads, order.SLOTS + 1), self.index),
            np.empty((threads, order.SLOTS // 64), np.uint64),
            np.empty((threads, n + 1), self.index),
            np.empty((threads, 2)),
            np.empty((threads, STATE_SIZE), np.int64),
            np.zeros((threads, CONTROL_SIZE), np.int64),
        )

    def result(self) -> ClosureRowsResult:
        """Compute all rows, batch after batch."""
        batches = []
        for first in range(0, self.k, self.rows_a_batch):
            found = self._batch(first, min(self.rows_a_batch, self.k - first))
            if isinstance(found, int):
                return ClosureRowsResult(None, found)
            batches.append(found)
        return ClosureRowsResult(self._matrix(batches))

    def _batch(self, first: int, size: int) -> _Batch | int:
        """Return rows from `first` on, or the number of one that does not converge."""
        table, seen = np.empty((size, self.n), self.z), np.empty((size, word_count(self.n)), np.uint32)
        reached = np.empty(size, np.int64)
        work = size * self.work
        run(_search, min(self.threads, size), first, *self.read, self.scratch, table, seen, reached, work=work)
        apart = np.flatnonzero(reached < 0)
        if not apart.size and bool((reached == self.n).all()):
            return _Batch(reached, table, None)
        listed = np.empty((size, self.n), self.index)
        run(_list, self.threads, table, seen, reached, listed, work=work)
        for s in apart.tolist():
            found = closure(Closure(_row(self.q.frontiers, first + s), *self._matrix_of(), False, max(self.n, 1)))
            if not found.converged:
                return int(first + s)
            entries = as_index_list(found.store)
            reached[s] = entries.nvals
            listed[s, : entries.nvals] = entries.indices
            table[s, : entries.nvals] = entries.iso if entries.values is None else entries.values
        return _Batch(reached, table, listed)

    def _matrix_of(self) -> tuple[Any, Any, Any]:
        return self.q.by_row, self.q.by_column, self.q.semiring

    def _matrix(self, batches: list[_Batch]) -> CSR:
        """Return the rows of all batches as one matrix, full if no entry is missing."""
        if all(batch.listed is None for batch in batches):
            values = [batch.values for batch in batches]
            pattern = every_row_full(self.k, self.n, "cpu")
            return CSR(pattern, self.z, (values[0] if len(values) == 1 else np.concatenate(values)).reshape(-1))
        parts = []
        for batch in batches:
            listed = batch.listed
            if listed is None:
                listed = np.broadcast_to(np.arange(self.n, dtype=self.index), batch.values.shape).copy()
            parts.append(joined(batch.values, listed, batch.reached))
        if len(parts) == 1:
            return parts[0]
        firsts = tuple(range(0, self.k, self.rows_a_batch))
        return concat(Concat(self.k, self.n, self.z, firsts, (0,) * len(parts), tuple(parts)))


def _row(x: CSR, s: int) -> IndexList:
    """Return a row of uncompressed rows as a vector."""
    first, last = x.indptr[s], x.indptr[s + 1]
    values = None if x.values is None else x.values[first:last]
    return IndexList(x.ncols, x.dtype, x.indices[first:last], values, x.iso)


@kernel
def _search(t, threads, control, first, starts, matrix, add, mult, worst, scratch, table, seen, reached):
    """Compute one row after the other until none is left; `reached`: -1 where a product is better than its operand."""
    x_indptr, x_indices, x_values = starts
    links, heads, occupied, queues, windows, states, controls = scratch
    lists, state = (links[t], heads[t], occupied[t]), states[t]
    while True:
        s = next_chunk(control)
        if s >= table.shape[0]:
            return
        values, bits = table[s], seen[s]
        values[:] = worst
        bits[:] = 0
        lists[0][:] = order.ABSENT
        lists[1][:] = -1
        lists[2][:] = 0
        begin, end = np.int64(x_indptr[first + s]), np.int64(x_indptr[first + s + 1])
        for p in range(end - 1, begin - 1, -1):  # the first one is at the head
            o = position(x_indices, p)
            values[o] = value_at(x_values, p)
            bits[o >> 5] |= np.uint32(1) << np.uint32(o & 31)
            order.insert(lists, order.BEYOND, o)
        state[:] = 0
        state[HEAD], state[STATUS] = order.BEYOND, PAUSED
        while state[STATUS] == PAUSED:
            if stopped(control):
                return
            order.ordered(0, 1, controls[t], matrix, add, mult, values, None, bits, lists, queues[t], windows[t], state)
        count = 0
        for w in range(bits.size):
            count += bit_count(bits[w])
        reached[s] = count if state[STATUS] != UNORDERED else -1


@kernel
def _list(t, threads, control, table, seen, reached, listed):
    """Move the values of each row to its start, and list their columns."""
    while True:
        s = next_chunk(control)
        if s >= reached.size:
            return
        if reached[s] >= 0:
            list_reached(seen[s], reached[s], table[s], listed[s])
