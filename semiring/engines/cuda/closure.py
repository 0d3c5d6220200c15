"""The closure  c = x (+) x A (+) x A^2 (+) ... = x A*:  the loop over frontiers runs on the device."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

import cupy
import numpy as np
from cupy.cuda import get_current_stream, runtime

from ...formats import CSR, AnyPattern, Array, IndexList, VectorStore, index_dtype, word_count
from ...formats.vectors import empty_vector
from ...operators.types import TypedSemiring
from ..recording import note
from ..registry import ADDRESSABLE, implements, run
from ..spec import Closure, ClosureAnswer, Convert, Step
from . import tuning
from .algebra import arrivals, ring_facts, start_value
from .arguments import arguments, source_argument
from .columns import column_argument, column_types, side_by_side, types_of_both
from .degrees import degrees
from .hubs import hubs
from .kernel import Kernel, kernel
from .launch import bitmap, grid, multiprocessors, read_back, read_words, scratch, values_of
from .packing import packing
from .primitives import filled
from .specialise import constants, semiring, typedefs

_STATE_WORDS = 64  # 32-bit words before the bitmaps: the state of both kernels, and alignment
_DIRECTIONS = {"auto": 0, "push": 1, "pull": 2}
_ALWAYS = 2**62
_SLICES = "with .to(placement='host') the search goes slice by slice"


@functools.cache
def _cluster_blocks(device: int) -> int:
    """Return the blocks of the single-cluster kernel (``grid.cuh``): one block if the device has no clusters."""
    return 8 if int(cupy.cuda.Device(device).compute_capability) >= 90 else 1


class _Pair:
    """The two kernels of a closure: single-cluster, then full-grid."""

    def __init__(self, file: str, names: tuple[str, str], prologue: str) -> None:
        self._first, self._second = (kernel(file, name, prologue) for name in names)
        self._block = tuning.NARROW_BLOCK // 2 if _HALF in prologue else tuning.NARROW_BLOCK
        # For each device: blocks of the cluster, and of a cooperative grid whose blocks are all resident.
        self._blocks: dict[int, tuple[int, int]] = {}

    def launch(self, first: tuple[Any, ...], second: tuple[Any, ...]) -> None:
        """Queue both kernels."""
        device = runtime.getDevice()
        blocks = self._blocks.get(device)
        if blocks is None:
            resident = multiprocessors() * self._second.resident_blocks(tuning.WIDE_BLOCK)
            blocks = self._blocks[device] = _cluster_blocks(device), resident
        self._first(blocks[0], self._block, *first)
        self._second(blocks[1], tuning.WIDE_BLOCK, *second, cooperative=True)


class _Plan(NamedTuple):
    """The call plan of a closure: its kernels, and the packer of their arguments."""

    pair: _Pair
    pack: Callable[..., bytes]
    enter: Kernel | None = None
    tally: Kernel | None = None


@functools.lru_cache(maxsize=1024)
def _level_plan(
    ring: TypedSemiring,
    offset: np.dtype[Any],
    element: np.dtype[Any],
    entered: np.dtype[Any],
    columns: str,
    blocks: str,
    values: int,
    may_pull: bool,
    has_hubs: bool,
) -> _Plan:
    """Return the plan of `closure_level`.

    entered: the type of the sources' values.  columns, blocks: parts of the prologue.  values: `Arrivals.kind`.
    """
    prologue = (
        semiring(ring)
        + typedefs(P=offset, A=element, U=entered, Z=ring.z)
        + columns
        + constants(VALUES=values, MAY_PULL=may_pull, HUBS=has_hubs)
        + constants(PUSH_COST=tuning.PUSH_COST, SWEEP_ROWS=tuning.SWEEP_ROWS)
        + constants(PROBES=tuning.PROBES, EAGER_EDGES=tuning.EAGER_EDGES, WIDE_RESIDENT=tuning.WIDE_RESIDENT)
        + blocks
    )
    file = "closure_level.cuh"
    pair = _Pair(file, ("closure_narrow", "closure_wide"), prologue)
    return _Plan(pair, arguments(file, "SearchArguments", A=element))


@functools.lru_cache(maxsize=1024)
def _relax_plan(
    ring: TypedSemiring,
    offset: np.dtype[Any],
    element: np.dtype[Any],
    entered: np.dtype[Any],
    columns: str,
    blocks: str,
) -> _Plan:
    """Return the plan of `closure_relax`; parameters as in `_level_plan`."""
    prologue = semiring(ring) + typedefs(P=offset, A=element, U=entered, Z=ring.z) + columns + blocks
    file = "closure_relax.cuh"
    pair = _Pair(file, ("relax_narrow", "relax_wide"), prologue)
    enter, count = (kernel(file, name, prologue) for name in ("relax_enter", "relax_count"))
    return _Plan(pair, arguments(file, "RelaxArguments", A=element, Z=ring.z), enter, count)


def _blocks(pattern: AnyPattern) -> str:
    """Return the constants of both kernels; with 64-bit indices or decoding, half as many threads fit shared memory."""
    wide = pattern.indptr.dtype.itemsize + index_dtype(pattern.ncols).itemsize > 8
    return _block_text(wide or pattern.format == "ccsr")


@functools.cache
def _block_text(half: bool) -> str:
    return (_HALF if half else constants(NARROW_BLOCK=tuning.NARROW_BLOCK)) + constants(
        WIDE_BLOCK=tuning.WIDE_BLOCK, NARROW_EDGES=tuning.NARROW_EDGES
    )


_HALF = constants(NARROW_BLOCK=tuning.NARROW_BLOCK // 2)


def _frontier(q: Closure) -> IndexList:
    if isinstance(q.frontier, IndexList):
        return q.frontier
    listed = run(Convert(q.frontier, "index"), "cuda")  # synchronises where the frontier is a bitmap
    assert isinstance(listed, IndexList)
    return listed


def _workspace(words: int, clear: int) -> Any:
    """Allocate the state and `words` words after it; the state and the first `clear` words are set to 0."""
    memory = cupy.cuda.alloc(4 * (_STATE_WORDS + words))
    memory.memset_async(0, 4 * (_STATE_WORDS + clear), get_current_stream())
    return memory


def _words(memory: Any, first: int, count: int) -> Array:
    """Return `count` words of a workspace as an array."""
    return cupy.ndarray(count, np.uint32, memory + 4 * (_STATE_WORDS + first))


def _trace(q: Closure, rows: int) -> tuple[Array | None, int]:
    kept = min(q.max_steps, rows + 1, tuning.TRACED_STEPS) if q.trace else 0
    return (cupy.empty((kept, 3), np.int64), kept) if kept else (None, 0)


def _steps(trace: Array | None, steps: int) -> tuple[Step, ...]:
    if trace is None:
        return ()
    kept = read_back(trace[:steps]) if steps else ()  # synchronises: only if a trace was requested
    return tuple(Step("pull" if pulled else "push", int(rows), int(edges)) for pulled, rows, edges in kept)


def _empty(q: Closure, n: int) -> ClosureAnswer:
    return ClosureAnswer(empty_vector(n, q.semiring.z, "cuda"), True, 0)


def _hubs(t: CSR) -> Array | None:
    """Return the hubs of the rows that a pull probes: decoding a row costs far more than testing two hubs.

    None for uncompressed rows: a probe of a row costs little more than one of a hub, and hubs occupy 8 bytes a row.
    Out-of-core rows are not passed to this function (`outofcore_closure`).
    """
    return hubs(t.pattern, build=True) if t.format == "ccsr" else None


def _piece_room(t: CSR) -> int:
    """Return the number of slots for segments of long rows at each level; others are processed where found."""
    return min(t.nvals // tuning.PROBES, t.nrows // 4, tuning.PIECES) + 1


class _Structure(NamedTuple):
    """Data that a search derives from the patterns of a matrix and its transpose alone; cached with the matrix.

    transpose: the pattern of the transpose, None for pushes only; weak, because either may refer to the other.
    columns, blocks: parts of the prologue.  nonempty, nonempty_count: the rows that a pull examines.
    pieces: slots for segments of long rows.
    """

    transpose: weakref.ref[Any] | None
    shift: int
    columns: str
    blocks: str
    skewed: bool
    nonempty: Array | None
    nonempty_count: int
    pieces: int


def _structure(a: CSR, t: CSR | None) -> _Structure:
    """Return the structure, cached.  Synchronises the first time that a pattern is searched, for its longest row."""
    transpose = None if t is None else t.pattern
    known: _Structure | None = a.pattern.facts.get("cuda.search")
    if known is not None and (None if known.transpose is None else known.transpose()) is transpose:
        return known
    shift = packing("closure", a.nrows, a.nvals, _SLICES)
    here, there = side_by_side(a.pattern, a.pattern if transpose is None else transpose)
    nonempty, count, room = None, 0, 0
    if t is not None:
        found = degrees(t.pattern)
        nonempty, count, room = found.words, found.nonempty, _piece_room(t)
    skewed = degrees(a.pattern).longest > tuning.SKEWED_ROW
    columns, blocks = types_of_both(here, there), _blocks(a.pattern)
    reference = None if transpose is None else weakref.ref(transpose)
    made = _Structure(reference, shift, columns, blocks, skewed, nonempty, count, room)
    a.pattern.facts["cuda.search"] = made
    return made


@implements(Closure, engine="cuda", when=lambda q: q.final_on_arrival, accepts=ADDRESSABLE, priority=1)
def closure_level(q: Closure) -> ClosureAnswer:
    """Level by level in two launches; the device chooses push or pull for each level.

    Memory beyond the matrix and the result: two offsets a row and two bitmaps (8.25 bytes a row with 32-bit
    indices), a column a row where values depend on rows, and for pulls up to 2 bytes a row, 8 MB at most; with
    compressed rows another bitmap, and two columns a row, which are cached.
    Synchronises once, at the end, for the number of entries, the steps and the convergence; and the first time that a
    matrix is used, for cached facts: the longest row, and with compressed rows their hubs.
    Raises NotSupported for more rows and entries than one word counts (`packing`); `closure_outofcore` accepts such
    matrices, but reads no values of entries.
    """
    a = q.by_row.get()
    n, z = a.nrows, q.semiring.z
    may_pull = q.direction == "pull" or (q.direction == "auto" and q.by_column.ready)
    t = q.by_column.get() if may_pull else None
    structure = _structure(a, t)
    f = _frontier(q)
    if f.nvals == 0:
        return _empty(q, n)
    kind, _, constant = arrivals(q.semiring, f, a)
    values = None if constant is not None else cupy.empty(n, z)
    trace, traced = _trace(q, n)
    a_values, a_iso = values_of(a)
    here, there = side_by_side(a.pattern, a.pattern if t is None else t.pattern)
    indices = t_indices = column_argument(here)
    t_indptr = t_values = found_hubs = None
    if t is not None:
        t_values = t.values if kind == 2 and ring_facts(q.semiring).y else None
        if t_values is None:  # otherwise the entry itself must be found, because its value is needed
            found_hubs = _hubs(t)
        t_indptr, t_indices = t.pattern.indptr, column_argument(there)
    words, offset, shift, room = word_count(n), a.pattern.indptr.dtype, structure.shift, structure.pieces
    workspace = _workspace((2 if found_hubs is None else 3) * words, words)
    state = workspace.ptr
    queue_bytes = n * index_dtype(n).itemsize if kind == 2 else 0
    _held, (queue, place, pieces) = scratch(queue_bytes, 2 * n * offset.itemsize, 8 * room)
    plan = _level_plan(
        q.semiring, offset, a.dtype, f.dtype, structure.columns, structure.blocks, kind, t is not None,
        found_hubs is not None,
    )  # fmt: skip
    search = plan.pack(
        indptr=a.pattern.indptr, indices=indices, a_values=a_values, a_iso=a_iso, t_indptr=t_indptr,
        t_indices=t_indices, t_values=t_values, hubs=found_hubs, candidates=structure.nonempty,
        candidate_count=structure.nonempty_count, visited=state + 4 * _STATE_WORDS,
        queue=queue if queue_bytes else None,
        start=place, before=place + n * offset.itemsize, values=values, pieces=pieces if room else None,
        piece_room=room, state=state, trace=trace, trace_rows=traced, n=n, nvals=a.nvals,
        max_steps=min(q.max_steps, _ALWAYS), shift=shift, direction=_DIRECTIONS[q.direction],
        skewed=structure.skewed,
    )  # fmt: skip
    plan.pair.launch((source_argument("closure_level.cuh", f), search), (search,))

    head, tail, steps, parity = read_words(state, 4)  # synchronises
    visited = _words(workspace, parity * words, words)
    store: VectorStore = bitmap(n, z, visited, values if constant is None else constant, tail >> shift)
    note(steps=steps, reached=tail >> shift, edges=tail & ((1 << shift) - 1))
    return ClosureAnswer(store, head >> shift == tail >> shift, steps, _steps(trace, min(steps, traced)))


@implements(
    Closure,
    engine="cuda",
    when=lambda q: start_value(q.semiring.add) is not None,
    accepts=ADDRESSABLE,
)
def closure_relax(q: Closure) -> ClosureAnswer:
    """Label-correcting in three launches: changed entries relax their neighbours until nothing changes.

    The monoid must be idempotent (min, max, or, and).  Memory beyond the matrix and the result: two columns and four
    offsets a row, and two bitmaps.  Synchronises once, at the end.
    Raises NotSupported for more rows and entries than one word counts (`packing`).
    """
    a = q.by_row.get()
    n, z = a.nrows, q.semiring.z
    shift = packing("closure", n, a.nvals, _SLICES)
    f = _frontier(q)
    if f.nvals == 0:
        return _empty(q, n)
    start = start_value(q.semiring.add)
    assert start is not None
    words, offset = word_count(n), a.pattern.indptr.dtype
    workspace = _workspace(3 * words, 3 * words)
    state, present = workspace.ptr, _words(workspace, 0, words)
    listed = state + 4 * (_STATE_WORDS + words)
    values = filled(n, start)
    _held, (row, place) = scratch(2 * n * index_dtype(n).itemsize, 4 * n * offset.itemsize)
    trace, traced = _trace(q, tuning.TRACED_STEPS)
    a_values, a_iso = values_of(a)
    plan = _relax_plan(q.semiring, offset, a.dtype, f.dtype, column_types(a.pattern), _blocks(a.pattern))
    assert plan.enter is not None
    assert plan.tally is not None
    relaxation = plan.pack(
        indptr=a.pattern.indptr, indices=column_argument(a.pattern), a_values=a_values, a_iso=a_iso, present=present,
        listed=listed, row=row, start=place, before=place + 2 * n * offset.itemsize, values=values, nothing=start,
        state=state, trace=trace, trace_rows=traced, n=n, max_steps=min(q.max_steps, _ALWAYS), shift=shift,
        skewed=degrees(a.pattern).longest > tuning.SKEWED_ROW,
    )  # fmt: skip
    entered = source_argument("closure_relax.cuh", f)
    plan.enter(grid(f.nvals, tuning.WIDE_BLOCK), tuning.WIDE_BLOCK, entered, relaxation)
    plan.pair.launch((relaxation,), (relaxation,))
    plan.tally(grid(words), 256, present, words, state)
    waiting, total, steps, _, count = read_words(state, 5)  # synchronises
    note(steps=steps, reached=count, edges=total)
    store: VectorStore = bitmap(n, z, present, values, count)
    return ClosureAnswer(store, waiting >> shift == 0, steps, _steps(trace, min(steps, traced)))
