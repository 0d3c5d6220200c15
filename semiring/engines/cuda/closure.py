"""The closure  c = x (+) x A (+) x A^2 (+) ... = x A*:  the loop over frontiers runs on the device."""

from __future__ import annotations

import cupy
import numpy as np
from cupy.cuda import get_current_stream

from ...formats import Array, IndexList, VectorStore, index_dtype, word_count
from ...formats.vectors import empty_vector
from ...strategies import STRATEGIES
from ..recording import note
from ..registry import ADDRESSABLE, implements, run
from ..requests.graphs import Closure, ClosureResult, Step
from ..requests.operations import Convert
from ..shared.iso_results import arrivals
from . import tuning
from .algebra import start_value
from .arguments import pack_source, source_argument
from .closure_plans import INSTEAD, STATE_BYTES, block_sizes, level_plan, order_of, relax_plan
from .columns import column_argument, column_types
from .degrees import degrees
from .launch import bitmap, grid, read_back, read_words, scratch, values_of
from .packing import packing
from .primitives import filled

_DIRECTIONS = {"auto": 0, "push": 1, "pull": 2}
_ALWAYS = 2**62
# Where the state of ``closure_relax.cuh`` has the number of entries, in bytes.
_REACHED = 8 * 4


def _frontier(q: Closure) -> IndexList:
    if isinstance(q.frontier, IndexList):
        return q.frontier
    listed = run(Convert(q.frontier, "index"), "cuda")  # synchronizes where the frontier is a bitmap
    assert isinstance(listed, IndexList)
    return listed


def _trace(q: Closure, rows: int) -> tuple[Array | None, int]:
    kept = min(q.max_steps, rows + 1, tuning.TRACED_STEPS) if q.trace else 0
    return (cupy.empty((kept, 3), np.int64), kept) if kept else (None, 0)


def _steps(trace: Array | None, steps: int) -> tuple[Step, ...]:
    if trace is None:
        return ()
    kept = read_back(trace[:steps]) if steps else ()  # synchronizes: only if a trace was requested
    return tuple(Step("pull" if pulled else "push", int(rows), int(edges)) for pulled, rows, edges in kept)


def _empty(q: Closure, n: int) -> ClosureResult:
    return ClosureResult(empty_vector(n, q.semiring.z, "cuda"), True, 0)


@implements(Closure, engine="cuda", when=lambda q: q.final_on_arrival, accepts=ADDRESSABLE, priority=1)
def closure_level(q: Closure) -> ClosureResult:
    """Level by level in at most two launches; the device chooses push or pull for each level.

    Memory beyond the matrix and the result: two offsets a row and two bitmaps (8.25 bytes a row with 32-bit
    indices), a column a row where values depend on rows, and for pulls up to 2 bytes a row, 8 MB at most; with
    compressed rows another bitmap, and two columns a row, which are cached.  Strategies with a queue of edges: a column
    an entry, and where values depend on rows another one and an offset.
    Synchronizes once, at the end, for the number of entries, the steps and the convergence; and the first time that a
    matrix is used, for cached facts: the longest row, and with compressed rows their hubs.
    Raises NotSupported for more rows and entries than one word counts (`packing`); `closure_outofcore` accepts such
    matrices, but reads no values of entries.
    """
    a, z, strategy = q.by_row.get(), q.semiring.z, STRATEGIES[q.strategy]
    direction = q.direction if strategy.pulls or q.direction == "pull" else "push"
    n = a.nrows
    may_pull = direction == "pull" or (direction == "auto" and q.by_column.ready)
    t = q.by_column.get() if may_pull else None
    f = _frontier(q)
    if f.nvals == 0:
        return _empty(q, n)
    kind, _, constant = arrivals(q.semiring, f, a)
    plan = level_plan(q.semiring, a, t, f.dtype, kind, q.strategy)
    memory, lists = cupy.cuda.alloc(plan.result_bytes), cupy.cuda.alloc(plan.scratch_bytes)
    memory.memset_async(0, plan.clear_bytes, get_current_stream())
    trace, traced = _trace(q, n) if q.trace else (None, 0)
    a_values, a_iso = values_of(a)
    state, start, place = memory.ptr, lists.ptr, plan.place_bytes
    row = start + 2 * place
    queue = [*(start + at for at in plan.queue_at), None, None, None]
    search = plan.pack(
        a_values=a_values, a_iso=a_iso, t_values=None if t is None or not plan.reads_t_values else t.values,
        visited=state + STATE_BYTES, row=row if plan.row_bytes else None, start=start, before=start + place,
        values=state + plan.values_at, segments=row + plan.row_bytes, state=state, trace=trace, trace_rows=traced,
        queue_column=queue[0], queue_row=queue[1], queue_entry=queue[2],
        max_steps=min(q.max_steps, _ALWAYS), direction=_DIRECTIONS[direction],
    )  # fmt: skip
    source = pack_source(plan.pack_source, f)
    alone = plan.single and direction != "pull"  # the cluster then continues to the end
    plan.pair.launch((source, plan.matrix, search), None if alone else (plan.matrix, search))

    values = constant if constant is not None else cupy.ndarray(n, z, memory + plan.values_at)
    shift = plan.shift
    head, tail, steps, parity = read_words(state, 4)  # synchronizes
    reached = tail >> shift
    words = cupy.ndarray(plan.words, np.uint32, memory + (STATE_BYTES + 4 * parity * plan.words))
    note(steps=steps, reached=reached, edges=tail & ((1 << shift) - 1))
    store = bitmap(n, z, words, values, reached)
    return ClosureResult(store, head >> shift == reached, steps, _steps(trace, min(steps, traced)))


@implements(
    Closure,
    engine="cuda",
    when=lambda q: start_value(q.semiring.add) is not None and q.semiring.z.itemsize <= 8,
    accepts=ADDRESSABLE,
)
def closure_relax(q: Closure) -> ClosureResult:
    """Label-correcting in three launches: changed entries relax their neighbors until nothing changes.

    The monoid must be idempotent (min, max, or, and), its values of at most 8 bytes, which one atomic changes.  Of min
    and max near rows are expanded first (``closure_relax.cuh``), except to record a trace or to stop early.  Memory
    beyond the matrix and the result: four columns and four offsets a row, and three bitmaps.  Synchronizes once, at the
    end.
    Raises NotSupported for more rows and entries than one word counts (`packing`).
    """
    a = q.by_row.get()
    n, z = a.nrows, q.semiring.z
    shift = packing("closure", n, a.nvals, INSTEAD)
    f = _frontier(q)
    if f.nvals == 0:
        return _empty(q, n)
    start = start_value(q.semiring.add)
    assert start is not None
    words, offset = word_count(n), a.pattern.indptr.dtype
    order = order_of(q.semiring.add)
    nbytes = STATE_BYTES + 4 * (4 if order else 3) * words
    memory = cupy.cuda.alloc(nbytes)
    memory.memset_async(0, nbytes, get_current_stream())
    state, present = memory.ptr, cupy.ndarray(words, np.uint32, memory + STATE_BYTES)
    listed, reached = state + STATE_BYTES + 4 * words, state + _REACHED
    values = filled(n, start)
    lists = 2 * n * index_dtype(n).itemsize
    _held, (row, place, pile) = scratch(lists, 4 * n * offset.itemsize, lists if order else 0)
    trace, traced = _trace(q, tuning.TRACED_STEPS)
    a_values, a_iso = values_of(a)
    plan = relax_plan(q.semiring, offset, a.dtype, f.dtype, column_types(a.pattern), block_sizes(a.pattern))
    relaxation = plan.pack(
        indptr=a.pattern.indptr, indices=column_argument(a.pattern), a_values=a_values, a_iso=a_iso, present=present,
        listed=listed, piled=listed + 8 * words, pile=pile, row=row, start=place,
        before=place + 2 * n * offset.itemsize, values=values, absent=start,
        share=min(1.0, tuning.ORDER_SHARE * n / max(a.nvals, 1)), state=state, trace=trace, trace_rows=traced, n=n,
        max_steps=min(q.max_steps, _ALWAYS), shift=shift, skewed=degrees(a.pattern).longest > tuning.SKEWED_ROW,
        ordered=bool(order) and not q.trace and q.max_steps >= n,
    )  # fmt: skip
    entered = source_argument("closure_relax.cuh", f)
    plan.enter(grid(f.nvals, tuning.GRID_BLOCK), tuning.GRID_BLOCK, entered, relaxation)
    # No frontier has more edges than the matrix: the cluster continues to the end, or both kernels are needed.
    plan.pair.launch((relaxation,), None if a.nvals <= tuning.CLUSTER_EDGES else (relaxation,))
    plan.tally(grid(words), 256, present, words, reached)
    waiting, total, steps, _, count = read_words(state, 5)  # synchronizes
    note(steps=steps, reached=count, edges=total)
    store: VectorStore = bitmap(n, z, present, values, count)
    return ClosureResult(store, waiting >> shift == 0, steps, _steps(trace, min(steps, traced)))
