"""Ranks of indices in a set of positions: by arithmetic, by a table over all positions, or by binary search.

A table takes memory and time in the size of the dimension.  In a dimension that is far larger than the number of
entries (a nearly empty matrix of 2**40 columns), a binary search for each entry takes its place, so that the cost goes
with the entries alone.
"""

from __future__ import annotations

import numpy as np

from ...formats import index_dtype
from ..operands import Index
from .operands import Array

# A dimension is wide if it has more than so many positions for each entry that is visited, and more than a floor below
# which either way takes microseconds.  Measured on a 2-core x86 server: sorting the entries of B takes less time than
# the accumulators of mxm do from 8 to 16 columns an entry on (10^4 to 10^6 entries); below 32 the dense ones are kept,
# which are faster on all usual graphs.
WIDE_SHARE = 32
WIDE_FLOOR = 1 << 16
# Setting and reading one entry of a table costs so much less than an accumulator does (measured likewise: searching
# takes less time than a table from about 150 columns an entry on).
_TABLE_SHARE = 4
# Offsets of so many rows are written in the time that a slice takes to be assigned (measured: a microsecond, and 2 ns
# an offset by np.repeat).
_RUN = 512

# Up to so many entries NumPy takes at most some tens of microseconds more than a kernel, which the first call would
# have to compile for a fifth of a second and more.
FEW_ENTRIES = 1 << 10


def is_few(entries: int) -> bool:
    """True if so few entries are not worth a kernel where NumPy computes the same."""
    return entries <= FEW_ENTRIES


def is_wide(size: int, entries: int) -> bool:
    """True if work in the number of positions costs more than sorting the entries."""
    return size > WIDE_FLOOR and size > WIDE_SHARE * entries


def ranks(index: Index, indices: Array) -> Array:
    """For each of `indices` its rank p in the set (index[p] is it), or -1 where the set lacks it.

    An index array must ascend strictly.  Cost O(indices), times the logarithm of the set or plus the dimension for an
    array.
    """
    dtype = index_dtype(index.count)
    if index.array is None and index.step == 1:
        rank = indices - indices.dtype.type(index.start)  # between minus the dimension and it: no overflow
        rank[rank.view(f"u{rank.itemsize}") >= index.count] = -1
        return np.asarray(rank, dtype)
    if index.array is None:
        step = index.step if index.count > 1 else 1
        offset = indices.astype(np.int64) - index.start
        rank, rest = (offset * step, 0) if abs(step) == 1 else np.divmod(offset, step)
        inside = (rank >= 0) & (rank < index.count) & (rest == 0)
        return np.where(inside, rank, -1).astype(dtype, copy=False)
    wanted = np.asarray(index.array)
    if wanted.size == 0:
        return np.full(indices.size, -1, dtype)
    if is_wide(index.size // _TABLE_SHARE, indices.size + wanted.size):
        place = np.searchsorted(wanted, indices)
        place[place == wanted.size] = 0
        return np.where(wanted[place] == indices, place, -1).astype(dtype, copy=False)
    table = np.full(index.size, -1, dtype)
    table[wanted] = np.arange(wanted.size, dtype=dtype)
    return np.asarray(table[indices])


def contains(index: Index, indices: Array) -> Array:
    """For each of `indices` whether the set has it; an index array may be in any order, with repeats."""
    if index.is_all:
        return np.ones(indices.size, np.bool_)
    if index.array is None:
        return ranks(index, indices) >= 0
    wanted = np.asarray(index.array)
    if is_wide(index.size // _TABLE_SHARE, indices.size + wanted.size):
        distinct = np.unique(wanted)
        return ranks(Index(index.size, distinct.size, array=distinct), indices) >= 0
    flags = np.zeros(index.size, np.bool_)
    flags[wanted] = True
    return np.asarray(flags[indices])


def spread_offsets(rows: Array, offsets: Array, nrows: int) -> Array:
    """The row offsets of `nrows` rows of which only `rows`, ascending, have entries; `offsets` are those of these rows.

    One pass over the rows, which is what the format costs.
    """
    if rows.size * _RUN < nrows:  # run after run; offsets of 0 are pages that are never touched
        made = np.zeros(nrows + 1, offsets.dtype)
        ends = [*rows.tolist(), nrows]
        for k, offset in enumerate(offsets[1:].tolist()):
            made[ends[k] + 1 : ends[k + 1] + 1] = offset
        return made
    gaps = np.diff(rows.astype(np.int64), prepend=-1, append=nrows)
    return np.repeat(offsets, np.asarray(gaps, np.int64))


def ranked(indices: Array) -> tuple[Array, Array]:
    """(distinct, rank): the distinct numbers among `indices`, ascending, and the rank of each.  Cost O(n log n)."""
    distinct, rank = np.unique(indices, return_inverse=True)
    return distinct, rank.astype(index_dtype(distinct.size), copy=False)
