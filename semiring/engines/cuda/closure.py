"""The closure  c = x (+) x A (+) x A^2 (+) ...  in one go: the loop over frontiers runs on the device."""

from __future__ import annotations

import functools
from typing import Any

import cupy
import numpy as np

from ...formats import CSR, AnyPattern, Array, IndexList, VectorStore, index_dtype, word_count
from ...formats.vectors import empty_vector
from ..recording import note
from ..registry import ADDRESSABLE, implements, run
from ..spec import Closure, ClosureAnswer, Convert, Step
from . import tuning
from .algebra import arrivals, start_value
from .arguments import arguments, source_argument
from .columns import column_argument, column_types, side_by_side, types_of_both
from .degrees import degrees
from .hubs import hubs
from .kernel import Kernel, kernel
from .launch import bitmap, grid, multiprocessors, read_back, values_of
from .packing import packing
from .specialise import constants, semiring, typedefs

_STATE_WORDS = 64  # 32-bit words in front of the bitmaps: room for the state of both kernels, and alignment
_DIRECTIONS = {"auto": 0, "push": 1, "pull": 2}
_ALWAYS = 2**62
_SLICES = "with .to(placement='host') the search goes slice by slice"


@functools.cache
def _cluster_blocks(device: int) -> int:
    """Blocks of the narrow kernel: a cluster (``grid.cuh``), or one block where the device has no clusters."""
    return 8 if int(cupy.cuda.Device(device).compute_capability) >= 90 else 1


@functools.lru_cache(maxsize=1024)
def _resident(wide: Kernel, device: int) -> int:
    """Blocks of a cooperative grid that fills the device."""
    return multiprocessors() * wide.resident_blocks(tuning.WIDE_BLOCK)


def _launch(file: str, names: tuple[str, str], prologue: str, narrow: tuple[Any, ...], wide: tuple[Any, ...]) -> None:
    """The cluster, then the whole grid behind it."""
    device = cupy.cuda.runtime.getDevice()
    first, second = kernel(file, names[0], prologue), kernel(file, names[1], prologue)
    first(_cluster_blocks(device), _narrow_block(prologue), *narrow)
    second(_resident(second, device), tuning.WIDE_BLOCK, *wide, cooperative=True)


def _narrow_block(prologue: str) -> int:
    return tuning.NARROW_BLOCK // 2 if _HALF in prologue else tuning.NARROW_BLOCK


def _blocks(pattern: AnyPattern) -> str:
    """The constants of both kernels; wide indices and decoded columns leave shared memory for half as many threads."""
    wide = pattern.indptr.dtype.itemsize + index_dtype(pattern.ncols).itemsize > 8
    return (_HALF if wide or pattern.format == "ccsr" else constants(NARROW_BLOCK=tuning.NARROW_BLOCK)) + constants(
        WIDE_BLOCK=tuning.WIDE_BLOCK, NARROW_EDGES=tuning.NARROW_EDGES
    )


_HALF = constants(NARROW_BLOCK=tuning.NARROW_BLOCK // 2)


def _frontier(q: Closure) -> IndexList:
    listed = run(Convert(q.frontier, "index"), "cuda")  # synchronises where the frontier is a bitmap
    assert isinstance(listed, IndexList)
    return listed


def _workspace(words: int, clear: int) -> tuple[Array, Array]:
    """The state and `words` words behind it, of which the first `clear` are 0."""
    memory = cupy.empty(_STATE_WORDS + words, np.uint32)
    memory.data.memset_async(0, 4 * (_STATE_WORDS + clear), cupy.cuda.get_current_stream())
    return memory[:_STATE_WORDS].view(np.int64), memory[_STATE_WORDS:]


def _trace(q: Closure, rows: int) -> tuple[Array | None, int]:
    kept = min(q.max_steps, rows + 1, tuning.TRACED_STEPS) if q.trace else 0
    return (cupy.empty((kept, 3), np.int64), kept) if kept else (None, 0)


def _steps(trace: Array | None, steps: int) -> tuple[Step, ...]:
    if trace is None:
        return ()
    kept = read_back(trace[:steps]) if steps else ()  # synchronises: only where a trace was asked for
    return tuple(Step("pull" if pulled else "push", int(rows), int(edges)) for pulled, rows, edges in kept)


def _empty(q: Closure, n: int) -> ClosureAnswer:
    return ClosureAnswer(empty_vector(n, q.semiring.z, "cuda"), True, 0)


def _hubs(t: CSR) -> Array | None:
    """The hubs of the rows that a pull looks through: to decode a row costs far more than to test two.

    Plain rows do without: a probe of theirs costs little more than one of a hub, and hubs are kept, 8 bytes a row.
    Rows out of core do not come here (`outofcore_closure`).
    """
    return hubs(t.pattern, build=True) if t.format == "ccsr" else None


def _piece_room(t: CSR) -> int:
    """Places for pieces of long rows, for every level anew; what finds no place is gone through where it is found."""
    return min(t.nvals // tuning.PROBES, t.nrows // 4, tuning.PIECES) + 1


@implements(Closure, engine="cuda", when=lambda q: q.final_on_arrival, accepts=ADDRESSABLE, priority=1)
def closure_level(q: Closure) -> ClosureAnswer:
    """Level by level in two launches: push and pull in turns, chosen on the device.

    Memory beyond the matrix and the result: two offsets a row and two bitmaps (8.25 bytes a row with 32-bit
    indices), a column a row where values depend on rows, and for pulls up to 2 bytes a row, 8 MB at most; with
    compressed rows another bitmap, and two columns a row, which are kept.
    Synchronises once, at the end, for the number of entries, the steps and the convergence; and the first time that a
    matrix is used, for facts that are kept: the longest row, and with compressed rows their hubs.
    Raises NotSupported for more rows and entries than one word counts (`packing`); `closure_outofcore` takes such
    matrices, but reads no values of entries.
    """
    a = q.by_row.get()
    n, mult, z = a.nrows, q.semiring.mult, q.semiring.z
    shift = packing("closure", n, a.nvals, _SLICES)
    f = _frontier(q)
    if f.nvals == 0:
        return _empty(q, n)
    may_pull = q.direction == "pull" or (q.direction == "auto" and q.by_column.ready)
    t = q.by_column.get() if may_pull else None
    here, there = side_by_side(a.pattern, a.pattern if t is None else t.pattern)
    rows = degrees(a.pattern)
    found = rows if t is None or t.pattern is a.pattern else degrees(t.pattern)

    arriving = arrivals(q.semiring, f, a)
    kind, constant = arriving.kind, arriving.constant
    values = None if constant is not None else cupy.empty(n, z)

    queue = cupy.empty(n, index_dtype(n)) if kind == 2 else None
    place = cupy.empty(2 * n, a.indptr.dtype)
    trace, traced = _trace(q, n)
    a_values, a_iso = values_of(a)
    indices = column_argument(here)
    pulled: dict[str, Any] = {
        "t_indptr": None, "t_indices": indices, "t_values": None, "hubs": None, "candidates": None, "candidate_count": 0
    }  # fmt: skip
    found_hubs = None
    if t is not None:
        t_values = t.values if kind == 2 and "y" in mult.uses else None
        if t_values is None:  # else the entry itself must be found, for its value
            found_hubs = _hubs(t)
        pulled = {
            "t_indptr": t.indptr, "t_indices": column_argument(there), "t_values": t_values, "hubs": found_hubs,
            "candidates": found.words, "candidate_count": found.nonempty,
        }  # fmt: skip
    words = word_count(n)
    state, visited = _workspace((2 if found_hubs is None else 3) * words, words)
    pieces = None if t is None else cupy.empty(_piece_room(t), np.uint64)
    prologue = (
        semiring(q.semiring)
        + typedefs(P=a.indptr.dtype, A=a.dtype, U=f.dtype, Z=z)
        + types_of_both(here, there)
        + constants(VALUES=kind, MAY_PULL=t is not None, HUBS=found_hubs is not None)
        + constants(PUSH_COST=tuning.PUSH_COST, SWEEP_ROWS=tuning.SWEEP_ROWS)
        + constants(PROBES=tuning.PROBES, EAGER_EDGES=tuning.EAGER_EDGES, WIDE_RESIDENT=tuning.WIDE_RESIDENT)
        + _blocks(a.pattern)
    )
    search = arguments("closure_level.cuh", "SearchArguments", A=a.dtype)(
        indptr=a.indptr, indices=indices, a_values=a_values, a_iso=a_iso, **pulled, visited=visited, queue=queue,
        start=place, before=place[n:], values=values, pieces=pieces, piece_room=0 if pieces is None else pieces.size,
        state=state, trace=trace, trace_rows=traced, n=n, nvals=a.nvals, max_steps=min(q.max_steps, _ALWAYS),
        shift=shift, direction=_DIRECTIONS[q.direction], skewed=rows.longest > tuning.SKEWED_ROW,
    )  # fmt: skip
    entered = source_argument("closure_level.cuh", f)
    _launch("closure_level.cuh", ("closure_narrow", "closure_wide"), prologue, (entered, search), (search,))

    head, tail, steps, parity = (int(x) for x in read_back(state[:4]).view(np.uint64))  # synchronises
    store: VectorStore = bitmap(
        n, z, visited[parity * words : (parity + 1) * words], values if constant is None else constant, tail >> shift
    )
    note(steps=steps, reached=tail >> shift, edges=tail & ((1 << shift) - 1))
    return ClosureAnswer(store, head >> shift == tail >> shift, steps, _steps(trace, min(steps, traced)))


@implements(
    Closure,
    engine="cuda",
    when=lambda q: start_value(q.semiring.add) is not None,
    accepts=ADDRESSABLE,
)
def closure_relax(q: Closure) -> ClosureAnswer:
    """Label-correcting in three launches: what changed offers its products until nothing changes.

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
    words = word_count(n)
    state, bits = _workspace(3 * words, 3 * words)
    values = cupy.full(n, start, z)
    row, place = cupy.empty(2 * n, index_dtype(n)), cupy.empty(4 * n, a.indptr.dtype)
    trace, traced = _trace(q, tuning.TRACED_STEPS)
    a_values, a_iso = values_of(a)
    prologue = (
        semiring(q.semiring)
        + typedefs(P=a.indptr.dtype, A=a.dtype, U=f.dtype, Z=z)
        + column_types(a.pattern)
        + _blocks(a.pattern)
    )
    relaxation = arguments("closure_relax.cuh", "RelaxArguments", A=a.dtype, Z=z)(
        indptr=a.indptr, indices=column_argument(a.pattern), a_values=a_values, a_iso=a_iso, present=bits[:words],
        listed=bits[words:], row=row, start=place, before=place[2 * n :], values=values, nothing=start, state=state,
        trace=trace, trace_rows=traced, n=n, max_steps=min(q.max_steps, _ALWAYS), shift=shift,
        skewed=degrees(a.pattern).longest > tuning.SKEWED_ROW,
    )  # fmt: skip
    kernel("closure_relax.cuh", "relax_enter", prologue)(
        grid(f.nvals, tuning.WIDE_BLOCK), tuning.WIDE_BLOCK, source_argument("closure_relax.cuh", f), relaxation
    )
    _launch("closure_relax.cuh", ("relax_narrow", "relax_wide"), prologue, (relaxation,), (relaxation,))

    kernel("closure_relax.cuh", "relax_count", prologue)(grid(words), 256, bits, words, state)
    waiting, total, steps, _, count = (int(x) for x in read_back(state[:5]).view(np.uint64))  # synchronises
    note(steps=steps, reached=count, edges=total)
    store: VectorStore = bitmap(n, z, bits[:words], values, count)
    return ClosureAnswer(store, waiting >> shift == 0, steps, _steps(trace, min(steps, traced)))
