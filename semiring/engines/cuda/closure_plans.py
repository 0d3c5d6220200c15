"""Call plans of closures: the kernels and the packed arguments that all searches of one matrix share."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Iterator
from itertools import cycle, product
from typing import Any, NamedTuple

import cupy
import numpy as np
from cupy.cuda import runtime

from ...dtypes import FP32, INT32, INT64
from ...formats import CODECS, CSR, AnyPattern, Array, index_dtype, word_count
from ...operators.types import TypedMonoid, TypedSemiring
from ...strategies import STRATEGIES
from . import compile_samples, tuning
from .algebra import native_atomic, ring_facts
from .arguments import arguments
from .columns import codec_types, column_argument, side_by_side, transposed_codec, types_of_both
from .degrees import degrees
from .hubs import hubs
from .kernel import Handles, Kernel, kernel
from .launch import multiprocessors
from .mxv_kernels import count_bits_kernel
from .packing import packing
from .specialize import constants, semiring, typedefs

__all__ = ["INSTEAD", "STATE_BYTES", "LevelPlan", "RelaxPlan", "block_sizes", "level_plan", "order_of", "relax_plan"]

# The state of both kernels precedes the bitmaps; a multiple of 256, so that these are aligned.
STATE_BYTES = 256
INSTEAD = "with .to(placement='host') the search goes slice by slice"
_ALIGNED = 256
_HALF = constants(CLUSTER_BLOCK=tuning.CLUSTER_BLOCK // 2)
# Pushes with a queue of edges.
_WITH_QUEUE = ("two_phase", "contract_expand", "hybrid")
# Plans of one matrix; a program uses few semirings with it.
_PLANS = 64


@functools.cache
def _cluster_blocks(device: int) -> int:
    """Return the blocks of the single-cluster kernel (``grid.cuh``): one block if the device has no clusters."""
    return 8 if int(cupy.cuda.Device(device).compute_capability) >= 90 else 1


class _Pair:
    """The two kernels of a closure: single-cluster, then full-grid."""

    def __init__(self, cluster: Kernel, whole: Kernel) -> None:
        self.kernels = cluster, whole
        self._block = tuning.CLUSTER_BLOCK // 2 if _HALF in cluster.prologue else tuning.CLUSTER_BLOCK
        # For each device: blocks of the cluster, and of a cooperative grid whose blocks are all resident.
        self._blocks: dict[int, tuple[int, int]] = {}

    def launch(self, first: tuple[Any, ...], second: tuple[Any, ...] | None) -> None:
        """Queue both kernels; None: the single-cluster kernel alone."""
        cluster, whole = self.kernels
        device = runtime.getDevice()
        blocks = self._blocks.get(device)
        if blocks is None:
            resident = multiprocessors() * whole.resident_blocks(tuning.GRID_BLOCK)
            blocks = self._blocks[device] = _cluster_blocks(device), resident
        cluster(blocks[0], self._block, *first)
        if second is not None:
            whole(blocks[1], tuning.GRID_BLOCK, *second, cooperative=True)


class LevelPlan(NamedTuple):
    """The call plan of `closure_level` for a matrix, a semiring and a type of sources.

    pack, pack_source: of ``SearchArguments`` and ``SourceArguments``.  matrix: the packed ``MatrixArguments``.
    held: arrays at addresses in `matrix`.  single: no frontier has more edges than the single-cluster kernel processes.
    words: of one bitmap.  values_at, result_bytes: of the memory of the result: the state, the bitmaps, the values.
    clear_bytes: how much of it must be 0.  place_bytes, row_bytes, scratch_bytes: of the memory of the lists.
    queue_at: where the lists have the three arrays of the queue of edges; none without one.
    """

    pair: _Pair
    pack: Callable[..., bytes]
    pack_source: Callable[..., bytes]
    matrix: bytes
    held: tuple[Any, ...]
    single: bool
    reads_t_values: bool
    shift: int
    words: int
    clear_bytes: int
    values_at: int
    result_bytes: int
    place_bytes: int
    row_bytes: int
    scratch_bytes: int
    queue_at: tuple[int, ...]


class RelaxPlan(NamedTuple):
    """The call plan of `closure_relax`: its kernels, and the packer of ``RelaxArguments``."""

    pair: _Pair
    pack: Callable[..., bytes]
    enter: Kernel
    tally: Kernel


class _Structure(NamedTuple):
    """Data that searches derive from the patterns of a matrix and its transpose alone; cached with the matrix.

    transpose: the pattern of the transpose, None for pushes only; weak, because either may refer to the other.
    columns, blocks: parts of the prologue.  segments: slots for segments of long rows.  plans: see `level_plan`.
    """

    transpose: weakref.ref[Any] | None
    shift: int
    columns: str
    blocks: str
    skewed: bool
    segments: int
    plans: dict[tuple[Any, ...], LevelPlan]


def _structure(a: CSR, t: CSR | None) -> _Structure:
    """Return the structure, cached.  Synchronizes the first time that a pattern is searched, for its longest row."""
    transpose = None if t is None else t.pattern
    known: _Structure | None = a.pattern.facts.get("cuda.search")
    if known is not None and (None if known.transpose is None else known.transpose()) is transpose:
        return known
    shift = packing("closure", a.nrows, a.nvals, INSTEAD)
    columns = types_of_both(*side_by_side(a.pattern, a.pattern if transpose is None else transpose))
    skewed = degrees(a.pattern).longest > tuning.SKEWED_ROW
    reference = None if transpose is None else weakref.ref(transpose)
    segments = 0 if t is None else min(t.nvals // tuning.PROBES, t.nrows // 4, tuning.SEGMENTS) + 1
    made = _Structure(reference, shift, columns, block_sizes(a.pattern), skewed, segments, {})
    a.pattern.facts["cuda.search"] = made
    return made


def level_plan(
    ring: TypedSemiring, a: CSR, t: CSR | None, entered: np.dtype[Any], kind: int, strategy: str
) -> LevelPlan:
    """Return the call plan, cached with the matrix.

    t: the transpose, None for pushes only.  entered: the type of the sources' values.  kind: `Arrivals.kind`.
    strategy: a name in `semiring.strategies`.
    Raises NotSupported for more rows and entries than one word counts.
    """
    structure = _structure(a, t)
    values = t is not None and kind == 2 and t.values is not None and ring_facts(ring).y
    key = ring, a.dtype, entered, kind, values, strategy
    found = structure.plans.get(key)
    if found is None:
        if len(structure.plans) >= _PLANS:
            structure.plans.clear()
        # Only for compressed rows: decoding a row costs far more than testing two hubs; a probe of an uncompressed row
        # costs little more than that of a hub, and hubs occupy 8 bytes a row.  Where the value of an entry is needed,
        # the entry itself must be found.
        wanted = t is not None and not values and t.pattern.codec is not None
        top = hubs(t.pattern, build=True) if t is not None and wanted else None
        found = _make(structure, ring, a, t, entered, kind, values, top, strategy)
        if top is not None or not wanted:  # hubs that do not fit now may fit the next time
            structure.plans[key] = found
    return found


def _make(
    structure: _Structure,
    ring: TypedSemiring,
    a: CSR,
    t: CSR | None,
    entered: np.dtype[Any],
    kind: int,
    values: bool,
    top: Array | None,
    strategy: str,
) -> LevelPlan:
    n, words, offset, column = a.nrows, word_count(a.nrows), a.pattern.indptr.dtype, index_dtype(a.nrows)
    here, there = side_by_side(a.pattern, a.pattern if t is None else t.pattern)
    nonempty = None if t is None else degrees(t.pattern)
    indices = column_argument(here), column_argument(there)
    matrix = arguments("closure_level.cuh", "MatrixArguments")(
        indptr=a.pattern.indptr, indices=indices[0], t_indptr=None if t is None else t.pattern.indptr,
        t_indices=indices[1], hubs=top, nonempty=None if nonempty is None else nonempty.words,
        nonempty_count=0 if nonempty is None else nonempty.nonempty, segment_slots=structure.segments, n=n,
        nvals=a.nvals, shift=structure.shift, skewed=structure.skewed,
    )  # fmt: skip
    clear = STATE_BYTES + 4 * words
    values_at = _aligned(STATE_BYTES + (2 if top is None else 3) * 4 * words)
    place, row = _aligned(n * offset.itemsize), _aligned(n * column.itemsize) if kind == 2 else 0
    types = ring, offset, a.dtype, entered, structure.columns, structure.blocks
    pair, pack = _level_kernels(*types, kind, t is not None, top is not None, strategy)
    lists = _aligned(2 * place + row + 8 * structure.segments)
    queue = (column, column, offset)[: 3 if kind == 2 else 1] if STRATEGIES[strategy].push in _WITH_QUEUE else ()
    sizes = [_aligned(a.nvals * dtype.itemsize) for dtype in queue]
    return LevelPlan(
        pair, pack, arguments("closure_level.cuh", "SourceArguments", U=entered), matrix, (*indices, top, nonempty),
        strategy == "auto" and a.nvals <= tuning.CLUSTER_EDGES, values, structure.shift, words, clear, values_at,
        values_at + (n * ring.z.itemsize if kind else 0), place, row, lists + sum(sizes),
        tuple(lists + sum(sizes[:number]) for number in range(len(sizes))),
    )  # fmt: skip


def _aligned(nbytes: int) -> int:
    return -(-nbytes // _ALIGNED) * _ALIGNED


@functools.cache
def _phases(name: str) -> str:
    """Return the constants of a strategy."""
    given = STRATEGIES[name]
    lists = bool(tuning.PULL_LISTS if given.lists is None else given.lists)
    rule = constants(ALPHA=given.alpha, BETA=given.beta, SHARE=given.share)
    # The names of pushes are those of an enumeration in push_strategies.cuh.
    return constants(LISTS=lists, CLUSTERED=name == "auto") + rule + f"#define PUSH {given.push.upper()}\n"


@functools.lru_cache(maxsize=1024)
def _level_kernels(
    ring: TypedSemiring,
    offset: np.dtype[Any],
    element: np.dtype[Any],
    entered: np.dtype[Any],
    columns: str,
    blocks: str,
    values: int,
    may_pull: bool,
    has_hubs: bool,
    strategy: str,
) -> tuple[_Pair, Callable[..., bytes]]:
    """Return the kernels, and the packer of their ``SearchArguments``."""
    prologue = (
        semiring(ring)
        + typedefs(P=offset, A=element, U=entered, Z=ring.z)
        + columns
        + constants(VALUES=values, MAY_PULL=may_pull, HUBS=has_hubs)
        + constants(**tuning.cost_constants(tuning.DEVICE._replace(edge=tuning.LEVEL_EDGE_COST)))
        + constants(PROBES=tuning.PROBES, GRID_RESIDENT=tuning.GRID_RESIDENT, EAGER_EDGES=tuning.EAGER_EDGES)
        + constants(PULL_ROWS=tuning.PULL_ROWS)
        + _phases(strategy)
        + blocks
    )
    file = "closure_level.cuh"
    pair = _Pair(kernel(file, "closure_cluster", prologue), kernel(file, "closure_grid", prologue))
    return pair, arguments(file, "SearchArguments", A=element)


@functools.lru_cache(maxsize=1024)
def relax_plan(
    ring: TypedSemiring,
    offset: np.dtype[Any],
    element: np.dtype[Any],
    entered: np.dtype[Any],
    columns: str,
    blocks: str,
) -> RelaxPlan:
    """Return the plan of `closure_relax`.  entered: see `level_plan`.  columns, blocks: parts of the prologue."""
    prologue = (
        semiring(ring)
        + typedefs(P=offset, A=element, U=entered, Z=ring.z)
        + columns
        + blocks
        + constants(ORDER=order_of(ring.add), NATIVE=native_atomic(ring.add.op))
        + constants(ORDER_FEW=tuning.ORDER_FEW, EAGER_EDGES=tuning.EAGER_EDGES)
    )
    file = "closure_relax.cuh"
    pair = _Pair(kernel(file, "relax_cluster", prologue), kernel(file, "relax_grid", prologue))
    pack = arguments(file, "RelaxArguments", A=element, Z=ring.z)
    # A handle of its own: each keeps the kinds of its first arguments, and a search passes addresses for arrays.
    count = count_bits_kernel()
    tally = Kernel(count.file, count.entry, count.prologue)
    return RelaxPlan(pair, pack, kernel(file, "relax_enter", prologue), tally)


def order_of(add: TypedMonoid) -> int:
    """Return 1 if the monoid keeps the least value, -1 if the greatest, 0 for any other."""
    return -add.expr.order if add.dtype.kind in "iuf" else 0


def block_sizes(pattern: AnyPattern) -> str:
    """Return the constants of both kernels; with 64-bit indices or decoding, half as many threads fit shared memory."""
    wide = pattern.indptr.dtype.itemsize + index_dtype(pattern.ncols).itemsize > 8
    return _block_text(wide or pattern.codec is not None)


@functools.cache
def _block_text(half: bool) -> str:
    return (_HALF if half else constants(CLUSTER_BLOCK=tuning.CLUSTER_BLOCK)) + constants(
        GRID_BLOCK=tuning.GRID_BLOCK, CLUSTER_EDGES=tuning.CLUSTER_EDGES
    )


def samples() -> Iterator[Handles]:
    """Yield the kernels of this module for representative types and operators: see `catalog`."""
    strategies = cycle(STRATEGIES)
    for (index, wide), (number, ring) in product(((INT32, 0), (INT64, 1)), enumerate(compile_samples.SEMIRINGS)):
        kind = (number + wide + 1) % 3
        compressed = compile_samples.COMPRESSED[(number + wide + 1) % len(compile_samples.COMPRESSED)]
        for columns, transposed, half in (
            (codec_types("uncompressed", index), "uncompressed", bool(wide)),
            (compressed, (*CODECS, "uncompressed")[number % (len(CODECS) + 1)], True),
        ):
            types, blocks = (index, FP32, INT32), _block_text(half)
            both = columns + transposed_codec(transposed)
            strategy = next(strategies)
            yield _level_kernels(ring, *types, both, blocks, kind, kind != 1, number % 2 == 0, strategy)[0].kernels
            if not ring.add.is_any:
                plan = relax_plan(ring, *types, columns, blocks)
                yield plan, plan.pair.kernels
