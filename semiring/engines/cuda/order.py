"""Entries of each row in the order of their values: sorted rows, and the first entries in that order.

Rows are sorted by the method of their length: by a warp, by a block, by a large block in shared memory, or all together
as keys with the number of the row in the upper bits.
"""

from __future__ import annotations

import functools
from itertools import accumulate
from typing import Any, NamedTuple

import cupy
import numpy as np

from ...dtypes import BOOL, FP32, FP64, INT8, INT32, INT64, UINT32, UINT64
from ...formats import CSR, Array, Pattern, word_count
from ...memory.allocation import require
from ..registry import RESIDENT, implements
from ..requests.operations import SelectK, SortedRows, SortRows
from . import tuning
from .extract import copied_rows
from .kernel import Handles, Kernel, kernel
from .launch import BLOCK, counter, grid, multiprocessors, one_wave, read_one, read_words
from .primitives import compact_csr, exclusive_scan, moved, width
from .radix import sort_keys
from .row_tiles import lookback_words
from .specialize import constants, typedefs

# The longest row that a warp sorts in registers, and the items of a thread: SORT_WARP and EACH of the kernels.
_WARP, _EACH = 256, 8
# Rows of a thread that scans the lengths of rows: OFFSETS_EACH of the kernels.
_OFFSETS_EACH = 8


@implements(SortRows, engine="cuda", accepts=RESIDENT)
def sort_rows(q: SortRows) -> SortedRows:
    """The entries of each row in the order of their values, from column 0.  Synchronizes."""
    a = q.a
    require("sort", "cuda", a.nvals * (a.indices.itemsize + 8 + a.dtype.itemsize + a.indptr.itemsize))
    plan = _plan(a.indptr.dtype, a.indices.dtype, a.dtype, q.descending, False)
    order = None if a.values is None else _order(a, plan, 0)  # synchronizes
    columns, places = cupy.empty(a.nvals, a.indices.dtype), cupy.empty(a.nvals, np.int64)
    values = None if a.values is None else cupy.empty(a.nvals, a.dtype)
    operand = a.nvals, a.nrows, a.indptr, a.indices, a.values
    # Small ranges: neighboring warps gather from the same rows.
    plan.sorted(grid(a.nvals, per_thread=4), BLOCK, *operand, order, columns, values, places)
    pattern = Pattern(a.nrows, a.ncols, a.indptr, columns)
    return SortedRows(CSR(pattern, a.dtype, values, a.iso), CSR(pattern, np.dtype(np.int64), places))


@implements(SelectK, engine="cuda", accepts=RESIDENT)
def select_k(q: SelectK) -> CSR:
    """Up to k entries of each row.  Synchronizes."""
    a = q.a
    if a.nvals == 0:
        return a
    if q.how in ("first", "last") or (q.how != "random" and a.values is None):
        return _ends(a, min(q.k, a.ncols), last=q.how == "last")  # synchronizes
    plan = _plan(a.indptr.dtype, a.indices.dtype, a.dtype, q.how == "largest", q.how == "random")
    marks = cupy.empty(word_count(a.nvals), np.uint32)
    marks.data.memset_async(0, marks.nbytes)
    order = _order(a, plan, q.seed)  # synchronizes
    plan.mark(one_wave(plan.mark, a.nvals, 4), BLOCK, a.nvals, a.nrows, a.indptr, order, min(q.k, a.ncols), marks)
    return compact_csr(a, marks)  # synchronizes


def _ends(a: CSR, k: int, *, last: bool) -> CSR:
    """Return the first, or the last, k entries of each row: only these are read.  Synchronizes."""
    plan = _plan(a.indptr.dtype, a.indices.dtype, a.dtype, False, False)
    offsets = cupy.empty(a.nrows + 1, a.indptr.dtype)
    starts = cupy.empty(a.nrows, a.indptr.dtype) if last else None
    blocks = -(-a.nrows // (_OFFSETS_EACH * BLOCK))
    words = lookback_words(blocks)
    plan.offsets(blocks, BLOCK, a.nrows, a.indptr, k, words, offsets, starts)
    kept = read_one(words)  # synchronizes
    return copied_rows(a, INT32, (None, 0, 1), a.nrows, a.indptr if starts is None else starts, offsets, kept)


class _Plan(NamedTuple):
    """The kernels for keys of one type, and the longest row of a block."""

    key: np.dtype[Any]
    big: int
    bins: Kernel
    warps: Kernel
    blocks: Kernel
    lengths: Kernel
    keys: Kernel
    write: Kernel
    sorted: Kernel
    mark: Kernel
    offsets: Kernel

    def shared(self, capacity: int) -> int:
        """Bytes of shared memory for `capacity` items: a key and a place of 16 bits for each, one in 33 unused."""
        return (capacity + capacity // 32) * (self.key.itemsize + 2)


def _order(a: CSR, plan: _Plan, seed: int) -> Array:
    """Return the numbers of the entries, row by row in ascending order of their keys.  Synchronizes."""
    number = a.indptr.dtype
    order = cupy.empty(a.nvals, number)
    operand = a.indptr, a.indices, a.values, np.uint64(seed)
    plan.warps(grid(32 * a.nrows), BLOCK, a.nrows, *operand, order)
    longest = [_WARP << b for b in range((plan.big // _WARP).bit_length())]  # of the rows that precede each list
    rooms = [a.nvals // (length + 1) for length in longest]
    if rooms[0] == 0:
        return order
    starts = [0, *accumulate(rooms)]
    lists, counts = cupy.empty(starts[-1], number), counter(len(rooms))
    plan.bins(grid(a.nrows), BLOCK, a.nvals, a.nrows, a.indptr, counts, lists)
    *short, long = read_words(counts.data.ptr, len(rooms))  # synchronizes
    for count, length, start in zip(short, longest, starts, strict=False):
        blocks = min(count, multiprocessors() * tuning.SORT_BLOCKS)
        rows = lists[start : start + count]
        plan.blocks(blocks, 2 * length // _EACH, count, rows, *operand, order, shared=plan.shared(2 * length))
    if long:
        _order_long(plan, lists[starts[-2] : starts[-2] + long], operand, order)  # synchronizes
    return order


def _order_long(plan: _Plan, rows: Array, operand: tuple[Any, ...], order: Array) -> None:
    """Write the order of the listed rows by one sort of all their keys.  Synchronizes."""
    count, indptr = int(rows.size), operand[0]
    lengths = cupy.empty(count, np.int64)
    plan.lengths(grid(count), BLOCK, count, rows, indptr, lengths)
    offsets = exclusive_scan(lengths, INT64)
    n = read_one(offsets[-1:])  # synchronizes
    wide, bits = plan.key.itemsize == 8, width(count)
    payload = np.dtype(np.uint64) if wide else moved(order.dtype)
    require("sort", "cuda", n * (40 if wide else 16 + 2 * payload.itemsize))
    keys, listed = cupy.empty(n, np.uint64), cupy.empty(n, payload)
    plan.keys(grid(n, per_thread=4), BLOCK, n, count, offsets, rows, *operand, np.int32(bits), keys, listed)
    _, found = sort_keys(keys, listed, 64 if wide else 32 + bits)
    if wide:  # stable: the values of each row stay in their order
        assert found is not None
        of_row = (found & np.uint64((1 << bits) - 1)).astype(np.uint32)
        _, found = sort_keys(of_row, found, bits)
    plan.write(grid(n, per_thread=4), BLOCK, n, count, offsets, rows, indptr, np.int32(bits), found, order)


@functools.lru_cache(maxsize=1024)
def _plan(offset: np.dtype[Any], column: np.dtype[Any], value: np.dtype[Any], descending: bool, random: bool) -> _Plan:
    value = UINT32 if random else value
    key = UINT64 if value.itemsize == 8 else UINT32
    text = typedefs(P=offset, I=column, A=value, KEY=key)
    text += constants(FORM=2, RANDOM=random, DESCENDING=descending, SORT_BIG=tuning.SORT_BIG)
    names = (
        "bins", "warps", "blocks", "long_lengths", "long_keys", "long_write", "sorted", "mark", "offsets"
    )  # fmt: skip
    return _Plan(key, tuning.SORT_BIG, *(kernel("order.cuh", f"order_{name}", text) for name in names))


def samples() -> Handles:
    """Return the kernels of this module for representative types and operators: see `catalog`."""
    return (
        _plan(INT32, INT32, FP32, False, False), _plan(INT64, INT64, FP64, True, False),
        _plan(INT32, INT32, INT8, True, False), _plan(INT32, INT32, BOOL, False, False),
        _plan(INT32, INT32, INT64, False, True),
    )  # fmt: skip
