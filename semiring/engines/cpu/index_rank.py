"""Ranks of indices in a set of positions: by arithmetic, by a table over all positions, or by binary search.

A table needs memory and time proportional to the dimension.  In a dimension that is far larger than the number of
entries (a nearly empty matrix of 2**40 columns), a binary search for each entry replaces it, so that the cost depends
on the entries only.
"""

from __future__ import annotations

import numpy as np

from ...formats import index_dtype
from ..requests.operands import Index
from .compile import kernel
from .operands import Array, kernel_array
from .threads import parts_for, run

# A dimension is wide if it has more than WIDE_SHARE positions for each visited entry, and more than WIDE_FLOOR, below
# which both methods need microseconds.  Measured on a 2-core x86 server: sorting the entries of B is faster than the
# accumulators of mxm from 8 to 16 columns an entry on (10^4 to 10^6 entries); below 32 the dense ones are used, which
# are faster on all usual graphs.
WIDE_SHARE = 32
WIDE_FLOOR = 1 << 16
# An entry of a table is this much cheaper than one of an accumulator (measured as above: searching is faster than a
# table from about 150 columns an entry on).
_TABLE_SHARE = 4
# The number of offsets that are written in the time of one slice assignment (measured: a microsecond, and 2 ns an
# offset by np.repeat).
_RUN = 512

# Up to this many entries NumPy needs at most some tens of microseconds more than a kernel, whose compilation at the
# first call would take a fifth of a second or more.  Kernels have a form for so few that is called once, on one thread.
FEW_ENTRIES = 1 << 10


def is_few(entries: int) -> bool:
    """Return whether the number of calls, and not of entries, determines the time."""
    return entries <= FEW_ENTRIES


def is_wide(size: int, entries: int) -> bool:
    """Return whether work proportional to the positions costs more than sorting the entries."""
    return size > WIDE_FLOOR and size > WIDE_SHARE * entries


def ranks(index: Index, indices: Array) -> Array:
    """Return for each of `indices` its rank p in the set, where index[p] equals it, or -1 if it is not in the set.

    An index array must ascend strictly.  Cost O(indices), times the logarithm of the set or plus the dimension for an
    array.
    """
    dtype = index_dtype(index.count)
    if index.array is None and index.step == 1:
        rank = indices - indices.dtype.type(index.start)  # between -dimension and dimension: no overflow
        rank[rank.view(f"u{rank.itemsize}") >= index.count] = -1
        return np.asarray(rank, dtype)
    if index.array is None:
        step = index.step if index.count > 1 else 1
        offset = indices.astype(np.int64) - index.start
        rank, rest = (offset * step, 0) if abs(step) == 1 else np.divmod(offset, step)
        inside = (rank >= 0) & (rank < index.count) & (rest == 0)
        return np.where(inside, rank, -1).astype(dtype, copy=False)
    selected = np.asarray(index.array)
    if selected.size == 0:
        return np.full(indices.size, -1, dtype)
    if is_wide(index.size // _TABLE_SHARE, indices.size + selected.size):
        slot = np.searchsorted(selected, indices)
        slot[slot == selected.size] = 0
        return np.where(selected[slot] == indices, slot, -1).astype(dtype, copy=False)
    table = np.full(index.size, -1, dtype)
    table[selected] = np.arange(selected.size, dtype=dtype)
    if is_few(indices.size):
        return np.asarray(table[indices])
    found = np.empty(indices.size, dtype)
    run(_gather, parts_for(indices.size), table, kernel_array(indices), found)
    return found


@kernel
def _gather(t, threads, control, table, indices, found):
    for p in range(t * found.size // threads, (t + 1) * found.size // threads):
        found[np.uintp(p)] = table[np.uintp(indices[np.uintp(p)])]


def contains(index: Index, indices: Array) -> Array:
    """Return for each of `indices` whether it is in the set; an index array may be unsorted, with duplicates."""
    if index.is_all:
        return np.ones(indices.size, np.bool_)
    if index.array is None:
        return ranks(index, indices) >= 0
    selected = np.asarray(index.array)
    if is_wide(index.size // _TABLE_SHARE, indices.size + selected.size):
        distinct = np.unique(selected)
        return ranks(Index(index.size, distinct.size, array=distinct), indices) >= 0
    flags = np.zeros(index.size, np.bool_)
    flags[selected] = True
    return np.asarray(flags[indices])


def spread_offsets(rows: Array, offsets: Array, nrows: int) -> Array:
    """Return the offsets of `nrows` rows of which only `rows`, ascending, are non-empty; `offsets` are those of `rows`.

    One pass over all rows, which the format requires.
    """
    if rows.size * _RUN < nrows:  # one slice for each run; pages of zero offsets are never touched
        made = np.zeros(nrows + 1, offsets.dtype)
        ends = [*rows.tolist(), nrows]
        for k, offset in enumerate(offsets[1:].tolist()):
            made[ends[k] + 1 : ends[k + 1] + 1] = offset
        return made
    gaps = np.diff(rows.astype(np.int64), prepend=-1, append=nrows)
    return np.repeat(offsets, np.asarray(gaps, np.int64))


def ranked(indices: Array) -> tuple[Array, Array]:
    """Return (distinct, rank): the distinct `indices`, ascending, and the rank of each.  Cost O(n log n)."""
    distinct, rank = np.unique(indices, return_inverse=True)
    return distinct, rank.astype(index_dtype(distinct.size), copy=False)
