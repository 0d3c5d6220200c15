"""The boolean closure of many sources at once: the levels of a group of sources run on the device."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import cupy
import numpy as np
from cupy.cuda import get_current_stream

from ...dtypes import INT32, INT64
from ...formats import CSR, Array, Pattern, index_dtype, word_count
from ...memory.allocation import allocating, free_memory, require
from ...memory.transfer import uploaded
from ..recording import note
from ..registry import ADDRESSABLE, implements
from ..requests.graphs import ClosureMany, ClosureManyResult, counts_matrix, group_bounds
from . import compile_samples
from .closure_many_plans import FIRST_PLANES, STATE_BYTES, ManyMatrix, group_words, many_matrix, words_of_sources
from .columns import transposed_codec
from .kernel import Handles, Kernel, kernel
from .launch import BLOCK, grid, read_back, read_words, scratch
from .primitives import exclusive_scan
from .specialize import constants, typedefs

_DIRECTIONS = {"auto": 0, "push": 1, "pull": 2}
_FILE, _ORDER = "closure_many_levels.cuh", "closure_many_order.cuh"
# Words of a part of a row in the kernels.
_PART = 4
# CHUNK, PLANES and WRITE_BLOCK of the kernels.
_CHUNK, _PLANES, _WRITE_BLOCK = 512, 4, 256
# Counts of so many levels are kept on the device: a longer search returns to the host in between.
_COUNTED = 512
_ALWAYS = 2**62
# Planes that are added when the levels of a group need more bits.
_MORE_PLANES = 2
# Bytes of the kernel's state: where the arrivals at its barrier are, and the number of all entries.
_BARRIER, _TOTAL = 8 * 6, 8 * 7


@implements(ClosureMany, engine="cuda", accepts=ADDRESSABLE)
def closure_many(q: ClosureMany) -> ClosureManyResult:
    """S, S A, S A^2, ...: one launch for up to 1,024 sources; the device chooses push or pull for each level.

    Memory beyond the matrix and the result: for each row and source of a group three bits, and with levels four or more
    bit planes; groups that are complete keep one bit and their planes until the number of all entries is known.  For
    each row also six indices and three bits.  Where the largest group does not fit, groups are smaller.
    Synchronizes once a group, and again after 16, 64, 256, ... levels; where levels are counted, twice for each 512;
    the first time that a matrix is used, also for its longest row.
    Raises NotSupported for more rows and entries than one word counts (`packing`).
    """
    a, direction = q.by_row.get(), q.direction
    may_pull = direction == "pull" or (direction == "auto" and q.by_column.ready)
    matrix = many_matrix(a, q.by_column.get() if may_pull else None)
    k, planes = int(q.sources.size), FIRST_PLANES if q.levels else 0
    words = group_words(k, matrix, planes, free_memory("cuda"))
    if words == 1:  # wider groups fit
        require("closure_many", "cuda", matrix.group_bytes(words, planes))
    search = _Search(q, matrix, words)
    groups = [search.group(first, last) for first, last in group_bounds(k, 32 * words)]
    steps = max(group.steps for group in groups)
    note(steps=steps, groups=len(groups), words=words)
    del search
    counts = counts_matrix([group.counts for group in groups], "cuda")[0] if q.counts else None
    return ClosureManyResult(_levels_matrix(q, groups) if q.levels else None, counts, steps)


class _Group(NamedTuple):
    """A group of sources that is complete.

    words: of a row.  order: the source of each bit of a row, if it is not its number.  visited: the bits of the rows
    reached.  planes: bit b of their levels.  offsets: for each source and chunk of rows the number of entries before
    it, and the number of all.  counts: levels by sources, if they are requested.
    """

    sources: int
    words: int
    order: Array | None
    visited: Array
    planes: Sequence[Array]
    offsets: Array | None
    nvals: int
    counts: np.ndarray[Any, Any]
    steps: int


class _Search:
    """The memory that the groups use one after the other, and the calls of the kernel."""

    def __init__(self, q: ClosureMany, matrix: ManyMatrix, words: int) -> None:
        self.q, self.matrix, self.n = q, matrix, matrix.a.nrows
        n = self.n
        self.sources = uploaded(q.sources)
        self.bits, self.present = cupy.empty(2 * n * words, np.uint32), cupy.empty(2 * word_count(n), np.uint32)
        self.open = None if matrix.nonempty is None else cupy.empty(word_count(n), np.uint32)
        place, column = 2 * n * matrix.a.pattern.indptr.dtype.itemsize, 2 * n * index_dtype(n).itemsize
        self.state = cupy.cuda.alloc(STATE_BYTES)
        self.held, self.lists = scratch(column, place, place, 8 * matrix.segments)
        self.counts = cupy.empty(_COUNTED * 32 * words, np.uint64) if q.counts else None

    def group(self, first: int, last: int) -> _Group:
        """Return what the sources [first, last) reach.  Synchronizes."""
        q, n, stream = self.q, self.n, get_current_stream()
        words = words_of_sources(last - first)
        visited = cupy.zeros(n * words, np.uint32)
        planes = [cupy.empty(n * words, np.uint32) for _ in range(FIRST_PLANES if q.levels else 0)]
        order = self._order(first, last) if words > _PART else None
        self.bits.data.memset_async(0, 8 * n * words, stream)
        self.present.data.memset_async(0, self.present.nbytes, stream)
        self.state.memset_async(0, STATE_BYTES, stream)
        if self.open is not None:
            assert self.matrix.nonempty is not None
            self.open.data.copy_from_device_async(self.matrix.nonempty.data, self.open.nbytes, stream)
        counts, offsets, level = [np.zeros((0, last - first), np.int64)], None, 0
        while True:
            counted = max(level - 1, 0)  # the first level that this launch counts
            limit = min((1 << len(planes)) - 1 if q.levels else _ALWAYS, counted + _COUNTED if q.counts else _ALWAYS)
            self._launch(first, last, order, words, visited, planes, counted, limit)
            if q.levels:
                offsets = self._offsets(visited, words, last - first, order)
            tail, level, *_, nvals = read_words(self.state.ptr, _TOTAL // 8 + 1)  # synchronizes
            if self.counts is not None:
                rows = read_back(self.counts[: (level - 1 - counted) * 32 * words]).reshape(-1, 32 * words)
                counts.append(rows[:, : last - first].astype(np.int64))
            if tail >> self.matrix.shift == 0:
                break
            if q.levels and level >> len(planes):
                planes += [cupy.zeros(n * words, np.uint32) for _ in range(_MORE_PLANES)]
        steps = level - 1
        planes = planes[: (steps - 1).bit_length()]
        return _Group(last - first, words, order, visited, planes, offsets, nvals, np.concatenate(counts), steps)

    def _order(self, first: int, last: int) -> Array:
        """Return the sources [first, last) as numbers of the group, in the order of their bits."""
        a, count = self.matrix.a, last - first
        keys, order = cupy.empty((2, count), np.int64)
        indptr, indices = a.pattern.indptr, self.matrix.indices[0]
        find_keys, sort = _order_kernels(indptr.dtype, self.matrix.columns)
        find_keys(grid(32 * count), BLOCK, indptr, indices, self.sources[first:], count, keys)
        sort(grid(32 * count), BLOCK, keys, count, order)
        return order

    def _launch(
        self,
        first: int,
        last: int,
        order: Array | None,
        words: int,
        visited: Array,
        planes: Sequence[Array],
        counted: int,
        limit: int,
    ) -> None:
        """Queue the levels up to `limit`."""
        q, matrix, stream = self.q, self.matrix, get_current_stream()
        if self.counts is not None:
            self.counts.data.memset_async(0, self.counts.nbytes, stream)
        (self.state + _BARRIER).memset_async(0, 8, stream)
        row, start, before, segments = self.lists
        plane0, plane1, plane2, plane3 = _four(planes)
        further = np.array([plane.data.ptr for plane in planes[_PLANES:]], np.uint64)
        more = uploaded(further) if further.size else None
        plan = matrix.plan(words, q.levels, q.counts)
        plan.launch(plan.pack(
            indptr=matrix.a.pattern.indptr, indices=matrix.indices[0],
            t_indptr=None if matrix.t is None else matrix.t.pattern.indptr, t_indices=matrix.indices[1],
            sources=self.sources[first:last], order=order, source_count=last - first, bits=self.bits, visited=visited,
            plane0=plane0, plane1=plane1, plane2=plane2, plane3=plane3, planes=more, plane_count=len(planes),
            present=self.present, open=self.open,
            row=row, start=start, before=before, segments=segments, segment_slots=matrix.segments,
            counts=self.counts, counted=counted, state=self.state.ptr, last_level=limit, n=self.n,
            nvals=matrix.a.nvals, shift=matrix.shift, skewed=matrix.skewed, direction=_DIRECTIONS[q.direction],
        ))  # fmt: skip

    def _offsets(self, visited: Array, words: int, sources: int, order: Array | None) -> Array:
        """Return the offsets of a group; the number of all entries is copied to the state."""
        chunks = -(-self.n // _CHUNK)
        counts = cupy.empty(sources * chunks, np.uint32)
        count, _, _ = _entry_kernels(index_dtype(self.n), self.q.dtype, INT64, words)
        count(grid(32 * chunks * _parts(words)), BLOCK, visited, self.n, sources, order, counts)
        offsets = exclusive_scan(counts, INT64)
        (self.state + _TOTAL).copy_from_device_async(offsets[-1:].data, 8)
        return offsets


def _parts(words: int) -> int:
    """Return the number of parts, up to four words each, of a row of so many words."""
    return -(-words // 4)


def _four(planes: Sequence[Array]) -> list[Array | None]:
    """Return the first four planes, None for those that do not exist."""
    return [*planes[:_PLANES], None, None, None, None][:_PLANES]


@functools.cache
def _order_kernels(offset: np.dtype[Any], columns: str) -> tuple[Kernel, Kernel]:
    prologue = typedefs(P=offset) + columns
    return kernel(_ORDER, "many_keys", prologue), kernel(_ORDER, "many_order", prologue)


@functools.cache
def _entry_kernels(
    column: np.dtype[Any], level: np.dtype[Any], offset: np.dtype[Any], words: int
) -> tuple[Kernel, Kernel, Kernel]:
    prologue = typedefs(J=column, L=level, P=offset) + constants(WORDS=words)
    count, write, offsets = (kernel(_FILE, name, prologue) for name in ("many_count", "many_write", "many_offsets"))
    return count, write, offsets


def _levels_matrix(q: ClosureMany, groups: list[_Group]) -> CSR:
    """Return the levels of all groups as one matrix."""
    n, k = q.by_row.get().nrows, int(q.sources.size)
    nvals = sum(group.nvals for group in groups)
    column, offset = index_dtype(n), index_dtype(nvals)
    with allocating("closure_many", "cuda", needed=lambda: nvals * (column.itemsize + q.dtype.itemsize)):
        indices, values = cupy.empty(nvals, column), cupy.empty(nvals, q.dtype)
        indptr = cupy.empty(k + 1, offset)
    first = base = 0
    for group in groups:
        _, write, offsets = _entry_kernels(column, q.dtype, offset, group.words)
        blocks = grid(-(-n // _CHUNK) * _parts(group.words), 1)
        for shift in range(0, max(len(group.planes), 1), _PLANES):
            planes = group.planes[shift : shift + _PLANES]
            write(
                blocks, _WRITE_BLOCK, group.visited, *_four(planes), len(planes), shift, n, group.sources,
                group.order, group.offsets, base, indices, values,
            )  # fmt: skip
        offsets(grid(group.sources + 1), BLOCK, group.offsets, n, group.sources, base, indptr[first:])
        first, base = first + group.sources, base + group.nvals
    return CSR(Pattern(k, n, indptr, indices), q.dtype, values)


def samples() -> Iterator[Handles]:
    """Yield the kernels of this module for representative types and operators: see `catalog`."""
    for number, words in enumerate((1, 2, 4, 8, 16, 32)):
        column, level = ((INT32, INT64), (INT64, INT32))[number % 2]
        columns = compile_samples.ALL_COLUMNS[number % len(compile_samples.ALL_COLUMNS)]
        yield _order_kernels(column, columns + transposed_codec("uncompressed"))
        yield _entry_kernels(column, level, column, words)
