"""The group with the most weight among the entries of each row: each row by the method of its length.

Rows are listed by length once for a pattern.  A group of lanes compares the entries of a short row; a warp or a block
adds up the groups of a longer one in a hash table in shared memory; several blocks each add up a tile of the longest,
and combine the sums in a table in global memory.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import cupy
import numpy as np

from ...dtypes import FP32, FP64, INT8, INT32, INT64
from ...formats import CSR, Array, Full, Pattern, index_dtype, uncompressed_pattern
from ...memory.arrays import copied, to_device, to_host
from ..registry import RESIDENT, implements
from ..requests.graphs import Vote
from . import tuning
from .arguments import arguments
from .kernel import Handles, Kernel, kernel
from .launch import BLOCK, counter, grid, multiprocessors, read_words
from .primitives import filled
from .specialize import constants, typedefs

_CLASSES = 8
_FACT = "cuda.vote"
# Slots of the table of a warp, and of the two tables of a block: twice the entries of the longest row.
_WARP, _SMALL, _LARGE = 2 * tuning.VOTE_WARP, 2 * tuning.VOTE_SMALL, 2 * tuning.VOTE_LARGE
_LARGE_BLOCK = 512


class LongRows(NamedTuple):
    """Rows of the last class of `class_of` that are processed at once, and the first tile of each, and their number."""

    rows: Array
    firsts: Array
    tiles: int


class Lists(NamedTuple):
    """The rows of each class of `class_of`; `batches` of the last."""

    rows: tuple[Array, ...]
    batches: tuple[LongRows, ...]


class _Plan(NamedTuple):
    pack: Callable[..., bytes]
    lanes: tuple[Kernel, ...]
    warp: Kernel
    block: Kernel
    clear: Kernel
    tiles: Kernel
    slices: Kernel
    join: Kernel
    key: np.dtype[Any]
    total: np.dtype[Any]


@implements(Vote, engine="cuda", accepts=RESIDENT)
def vote(q: Vote) -> Full:
    """t(i) = the group of the highest sum of a(i, j), less rate mass(i) total(G).

    One launch for each class of rows.  Synchronizes the first time that a pattern is used.
    """
    labels = full_array(q.labels)
    out = copied(labels)
    mass, totals, votes = (None if v is None else full_array(v) for v in (q.mass, q.totals, q.rows))
    launcher(q.a, labels, out, votes, mass, totals, q.rate, q.keep)()
    return Full(q.a.nrows, q.labels.dtype, out)


def launcher(
    a: CSR, labels: Array, out: Array, votes: Array | None, mass: Array | None, totals: Array | None, rate: float,
    keep: bool,
) -> Callable[[], None]:  # fmt: skip
    """Return a function that votes, on the arrays as they are then: `out` gets the groups of rows that move.

    Synchronizes the first time that a pattern is used.
    """
    if a.nvals == 0:
        return _nothing
    lists = rows_by_length(uncompressed_pattern(a.pattern))  # synchronizes the first time
    scored, count = mass is not None, a.values is None
    plan = _plan(a.indptr.dtype, a.indices.dtype, a.dtype, labels.dtype, index_dtype(a.nrows), count, scored, keep)
    given = plan.pack(
        indptr=a.indptr, indices=a.indices, values=a.values, iso=a.dtype.type(0) if a.iso is None else a.iso,
        labels=labels, mass=mass, totals=totals, rate=rate, votes=votes, n=a.nrows, out=out,
    )  # fmt: skip
    return functools.partial(_launch, plan, lists, given)


def _nothing() -> None:
    pass


def _launch(plan: _Plan, lists: Lists, given: bytes) -> None:
    *short, medium, small, large, _ = lists.rows
    for run, rows, lanes in zip(plan.lanes, short, (4, 8, 16, 32), strict=True):
        run(grid(rows.size * lanes), BLOCK, given, int(rows.size), rows)
    room = plan.key.itemsize + plan.total.itemsize
    plan.warp(grid(medium.size * 32), BLOCK, given, int(medium.size), medium, _WARP, shared=BLOCK // 32 * _WARP * room)
    most = multiprocessors() * tuning.VOTE_BLOCKS
    plan.block(min(small.size, most), BLOCK, given, int(small.size), small, _SMALL, shared=_SMALL * room)
    plan.block(min(large.size, most), _LARGE_BLOCK, given, int(large.size), large, _LARGE, shared=_LARGE * room)
    if not lists.batches:
        return
    tiles = max(batch.tiles for batch in lists.batches)
    keys, sums = cupy.empty(tiles * _LARGE, plan.key), cupy.empty(tiles * _LARGE, plan.total)
    scores, groups, own_sums = cupy.empty(tiles, FP64), cupy.empty(tiles, INT64), cupy.empty(tiles, plan.total)
    for batch in lists.batches:
        count, rows, firsts = int(batch.rows.size), batch.rows, batch.firsts
        blocks = min(batch.tiles, most)
        plan.clear(blocks, _LARGE_BLOCK, given, count, rows, firsts, keys, sums)
        plan.tiles(blocks, _LARGE_BLOCK, given, count, rows, _LARGE, firsts, keys, sums, shared=_LARGE * room)
        plan.slices(blocks, _LARGE_BLOCK, given, count, rows, firsts, keys, sums, scores, groups, own_sums)
        plan.join(grid(count), BLOCK, given, count, rows, firsts, scores, groups, own_sums)


def full_array(v: Full) -> Array:
    """Return the values of a full vector."""
    if v.values is not None:
        return v.values
    assert v.iso is not None
    return filled(v.size, v.iso)


def rows_by_length(pattern: Pattern) -> Lists:
    """Return the rows by length; cached with the pattern.  Synchronizes the first time."""
    known = pattern.facts.get(_FACT)
    if isinstance(known, Lists):
        return known
    n, number = pattern.nrows, index_dtype(pattern.nrows)
    count, write = _list_kernels(pattern.indptr.dtype, number)
    counts = counter(_CLASSES)
    count(grid(n), BLOCK, n, pattern.indptr, counts)
    sizes = read_words(counts.data.ptr, _CLASSES)  # synchronizes
    ends = np.cumsum(sizes)
    listed = cupy.empty(int(ends[-1]), number)
    write(grid(n), BLOCK, n, pattern.indptr, to_device(ends.astype(np.uint64), "cuda"), listed)
    rows = tuple(listed[end - size : end] for size, end in zip(sizes, ends.tolist(), strict=True))
    made = Lists(rows, tuple(_batches(pattern, rows[-1])))
    pattern.facts[_FACT] = made
    return made


@functools.cache
def _list_kernels(offset: np.dtype[Any], row: np.dtype[Any]) -> tuple[Kernel, Kernel]:
    """Return the kernels that count and list rows by length, which read no values and labels."""
    text = _prologue(offset, INT32, FP64, INT32, row, False, False, False)
    return kernel("vote.cuh", "vote_count", text), kernel("vote.cuh", "vote_list", text)


def _batches(pattern: Pattern, longest: Array) -> Iterator[LongRows]:
    """Yield the longest rows in batches of up to `VOTE_TILES` tiles, or of one row.  Synchronizes."""
    if longest.size == 0:
        return
    lengths = to_host(pattern.indptr[longest + 1] - pattern.indptr[longest])  # synchronizes
    ends = np.cumsum(-(-lengths.astype(np.int64) // tuning.VOTE_LARGE))
    firsts = np.concatenate([[0], ends]).astype(np.int64)
    on_device, begin = to_device(firsts, "cuda"), 0
    while begin < lengths.size:
        end = max(begin + 1, int(np.searchsorted(ends, firsts[begin] + tuning.VOTE_TILES, "right")))
        yield LongRows(longest[begin:end], on_device[begin : end + 1], int(firsts[end] - firsts[begin]))
        begin = end


@functools.lru_cache(maxsize=1024)
def _plan(
    offset: np.dtype[Any], column: np.dtype[Any], value: np.dtype[Any], label: np.dtype[Any], row: np.dtype[Any],
    count: bool, scored: bool, keep: bool,
) -> _Plan:  # fmt: skip
    text = _prologue(offset, column, value, label, row, count, scored, keep)
    pack = arguments("vote.cuh", "VoteArguments", A=value, L=label, f64=FP64)
    lanes = tuple(kernel("vote.cuh", f"vote_{lanes}", text) for lanes in (4, 8, 16, 32))
    names = ("warp", "block", "clear", "tiles", "slices", "join")
    warp, block, clear, tiles, slices, join = (kernel("vote.cuh", f"vote_{name}", text) for name in names)
    key, total = np.dtype(f"u{label.itemsize}"), np.dtype(np.uint32) if count else FP64
    return _Plan(pack, lanes, warp, block, clear, tiles, slices, join, key, total)


def _prologue(
    offset: np.dtype[Any], column: np.dtype[Any], value: np.dtype[Any], label: np.dtype[Any], row: np.dtype[Any],
    count: bool, scored: bool, keep: bool,
) -> str:  # fmt: skip
    text = typedefs(P=offset, I=column, A=value, L=label, R=row)
    text += constants(WARP_ROW=tuning.VOTE_WARP, SMALL_ROW=tuning.VOTE_SMALL, LARGE_ROW=tuning.VOTE_LARGE)
    return text + constants(COUNT=count, SCORED=scored, KEEP=keep)


def samples() -> Handles:
    """Return the kernels of this module for representative types and operators: see `catalog`."""
    return (
        _plan(INT32, INT32, FP64, INT32, INT32, True, False, False),
        _plan(INT64, INT32, FP32, INT32, INT32, False, True, True),
        _plan(INT64, INT64, INT8, INT64, INT64, False, True, False),
        _list_kernels(INT64, INT32),
    )
