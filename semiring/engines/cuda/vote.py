"""The group with the most weight among the entries of each row: each row by the method of its length.

Rows are listed by length once for a pattern.  A group of lanes compares the entries of a short row; a warp or a block
adds up the groups of a longer one in a hash table in shared memory; several blocks share the groups of the longest.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import cupy
import numpy as np

from ...dtypes import FP32, FP64, INT8, INT32, INT64
from ...formats import Array, Full, Pattern, index_dtype, uncompressed_pattern
from ...memory.arrays import to_device, to_host
from ..registry import RESIDENT, implements
from ..spec_vote import Vote
from . import samples, tuning
from .arguments import arguments
from .kernel import Kernel, kernel
from .launch import BLOCK, counter, grid, multiprocessors, read_words
from .primitives import filled
from .specialise import constants, typedefs

_CLASSES = 8
_FACT = "cuda.vote"
# Slots of the table of a warp, and of the two tables of a block: twice the entries of the longest row.
_WARP, _SMALL, _LARGE = 2 * tuning.VOTE_WARP, 2 * tuning.VOTE_SMALL, 2 * tuning.VOTE_LARGE
_LARGE_BLOCK = 512


class _Lists(NamedTuple):
    """The rows of each class of `class_of`; firsts: the first part of each row of the last class, None without such."""

    rows: tuple[Array, ...]
    firsts: Array | None
    parts: int


class _Plan(NamedTuple):
    pack: Callable[..., bytes]
    lanes: tuple[Kernel, ...]
    warp: Kernel
    block: Kernel
    parts: Kernel
    join: Kernel
    slot_bytes: int


@implements(Vote, engine="cuda", accepts=RESIDENT)
def vote(q: Vote) -> Full:
    """t(i) = the group of the highest sum of a(i, j), less rate mass(i) total(G).

    One launch for each class of rows.  Synchronises the first time that a pattern is used.
    """
    a, dtype = q.a, q.labels.dtype
    labels = _array(q.labels)
    out = labels.copy()
    if a.nvals == 0:
        return Full(a.nrows, dtype, out)
    lists = _lists(uncompressed_pattern(a.pattern))  # synchronises the first time
    scored, count = q.mass is not None, a.values is None
    plan = _plan(a.indptr.dtype, a.indices.dtype, a.dtype, dtype, index_dtype(a.nrows), count, scored, q.keep)
    mass, totals, votes = (None if v is None else _array(v) for v in (q.mass, q.totals, q.rows))
    given = plan.pack(
        indptr=a.indptr, indices=a.indices, values=a.values, iso=a.dtype.type(0) if a.iso is None else a.iso,
        labels=labels, mass=mass, totals=totals, rate=q.rate, votes=votes, n=a.nrows, out=out,
    )  # fmt: skip
    *short, medium, small, large, longest = lists.rows
    for run, rows, lanes in zip(plan.lanes, short, (4, 8, 16, 32), strict=True):
        run(grid(rows.size * lanes), BLOCK, given, int(rows.size), rows)
    room = plan.slot_bytes
    plan.warp(grid(medium.size * 32), BLOCK, given, int(medium.size), medium, _WARP, shared=BLOCK // 32 * _WARP * room)
    most = multiprocessors() * tuning.VOTE_BLOCKS
    plan.block(min(small.size, most), BLOCK, given, int(small.size), small, _SMALL, shared=_SMALL * room)
    plan.block(min(large.size, most), _LARGE_BLOCK, given, int(large.size), large, _LARGE, shared=_LARGE * room)
    if lists.firsts is not None:
        scores, groups = cupy.empty(lists.parts, FP64), cupy.empty(lists.parts, INT64)
        sums = cupy.empty(lists.parts, np.uint32 if count else FP64)
        listed = int(longest.size), longest
        plan.parts(
            min(lists.parts, most), _LARGE_BLOCK, given, *listed, _LARGE, lists.firsts, scores, groups, sums,
            shared=_LARGE * room,
        )  # fmt: skip
        plan.join(grid(longest.size), BLOCK, given, *listed, lists.firsts, scores, groups, sums)
    return Full(a.nrows, dtype, out)


def _array(v: Full) -> Array:
    if v.values is not None:
        return v.values
    assert v.iso is not None
    return filled(v.size, v.iso)


def _lists(pattern: Pattern) -> _Lists:
    """Return the rows by length; cached with the pattern.  Synchronises the first time."""
    known = pattern.facts.get(_FACT)
    if isinstance(known, _Lists):
        return known
    n, number = pattern.nrows, index_dtype(pattern.nrows)
    text = _prologue(pattern.indptr.dtype, INT32, FP64, INT32, number, False, False, False)
    counts = counter(_CLASSES)
    kernel("vote.cuh", "vote_count", text)(grid(n), BLOCK, n, pattern.indptr, counts)
    sizes = read_words(counts.data.ptr, _CLASSES)  # synchronises
    ends = np.cumsum(sizes)
    listed = cupy.empty(int(ends[-1]), number)
    kernel("vote.cuh", "vote_list", text)(
        grid(n), BLOCK, n, pattern.indptr, to_device(ends.astype(np.uint64), "cuda"), listed
    )
    rows = tuple(listed[end - size : end] for size, end in zip(sizes, ends.tolist(), strict=True))
    firsts, parts = None, 0
    if rows[-1].size:
        longest = rows[-1]
        lengths = to_host(pattern.indptr[longest + 1] - pattern.indptr[longest])  # synchronises
        # A power of two of parts, so that all keys of one fill half of its table if they are all different.
        shares = 1 << np.ceil(np.log2(lengths / tuning.VOTE_LARGE)).astype(np.int64)
        offsets = np.concatenate([[0], np.cumsum(shares)]).astype(np.int64)
        firsts, parts = to_device(offsets, "cuda"), int(offsets[-1])
    made = _Lists(rows, firsts, parts)
    pattern.facts[_FACT] = made
    return made


@functools.lru_cache(maxsize=1024)
def _plan(
    offset: np.dtype[Any], column: np.dtype[Any], value: np.dtype[Any], label: np.dtype[Any], row: np.dtype[Any],
    count: bool, scored: bool, keep: bool,
) -> _Plan:  # fmt: skip
    text = _prologue(offset, column, value, label, row, count, scored, keep)
    pack = arguments("vote.cuh", "VoteArguments", A=value, L=label, f64=FP64)
    lanes = tuple(kernel("vote.cuh", f"vote_{lanes}", text) for lanes in (4, 8, 16, 32))
    warp, block, parts, join = (kernel("vote.cuh", f"vote_{name}", text) for name in ("warp", "block", "parts", "join"))
    return _Plan(pack, lanes, warp, block, parts, join, label.itemsize + (4 if count else 8))


def _prologue(
    offset: np.dtype[Any], column: np.dtype[Any], value: np.dtype[Any], label: np.dtype[Any], row: np.dtype[Any],
    count: bool, scored: bool, keep: bool,
) -> str:  # fmt: skip
    text = typedefs(P=offset, I=column, A=value, L=label, R=row)
    text += constants(WARP_ROW=tuning.VOTE_WARP, SMALL_ROW=tuning.VOTE_SMALL, LARGE_ROW=tuning.VOTE_LARGE)
    return text + constants(COUNT=count, SCORED=scored, KEEP=keep)


def catalogue() -> Iterator[samples.Entry]:
    """Yield (kernel file, prologue): the rows of the catalogue for the kernels of this module."""
    yield "vote.cuh", _prologue(INT32, INT32, FP64, INT32, INT32, True, False, False)
    yield "vote.cuh", _prologue(INT64, INT32, FP32, INT32, INT32, False, True, True)
    yield "vote.cuh", _prologue(INT64, INT64, INT8, INT64, INT64, False, True, False)
