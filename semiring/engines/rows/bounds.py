"""The bounds of the slices of a matrix: multiples of 32 rows, so that the presence words of results are concatenated.

A slice holds at most `most` entries and rows together; 32 rows that hold more are one slice of any size.  The bounds
are computed once for a pattern and cached with it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...config import config
from ...formats import AnyPattern, array_module, index_dtype
from ...memory.arrays import to_host

# Rows in one word of presence bits.
WORD = 32
# Entries and rows of a slice.  Large enough that the cost of launching kernels and copies is negligible.
SLICE = 1 << 26
# The share of a limited GPU memory for one slice, columns and values: two slices are resident at a time, and their
# results.
_SHARE = 16


class SliceBounds(NamedTuple):
    """Slice s holds the rows from ``rows[s]`` to ``rows[s + 1]``, and the entries from ``entries[s]`` likewise."""

    rows: tuple[int, ...]
    entries: tuple[int, ...]

    def held(self) -> list[int]:
        """Return the number of entries of each slice."""
        return [end - begin for begin, end in zip(self.entries, self.entries[1:], strict=False)]

    def filled(self) -> list[int]:
        """Return the slices that have entries."""
        return [s for s, count in enumerate(self.held()) if count]


def most(pattern: AnyPattern) -> int:
    """Return the largest number of entries and rows of a slice of this pattern."""
    budget = config.device_memory
    if budget is None or pattern.device == "cpu":
        return SLICE
    widest = index_dtype(pattern.ncols).itemsize + 8  # a column and the largest value
    return max(WORD, min(SLICE, budget // _SHARE // widest))


def slice_bounds(pattern: AnyPattern) -> SliceBounds:
    """Return the slices of a pattern.  Cost O(nrows / 32) once, when it also synchronizes to read a few numbers."""
    limit = most(pattern)
    cached: dict[int, SliceBounds] = pattern.facts.setdefault("slices", {})
    if limit not in cached:
        cached[limit] = _find(pattern, limit)
    return cached[limit]


def common_bounds(*patterns: AnyPattern) -> tuple[int, ...]:
    """Return common slice bounds of patterns of one height, so that no slice is too large in any of them."""
    return tuple(sorted({row for pattern in patterns for row in slice_bounds(pattern).rows}))


def entries_at(pattern: AnyPattern, rows: tuple[int, ...]) -> SliceBounds:
    """Return the bounds of slices that begin at `rows`.  Synchronizes."""
    xp = array_module(pattern.device)
    at = xp.take(pattern.indptr, xp.asarray(np.array(rows, np.int64)))
    return SliceBounds(rows, tuple(to_host(at).tolist()))  # synchronizes


def _find(pattern: AnyPattern, limit: int) -> SliceBounds:
    """Merge neighboring possible bounds while the slice stays within the limit."""
    begin = before = (0, 0)
    chosen = [begin]
    for row, entry in [*_possible_bounds(pattern, limit), (pattern.nrows, pattern.nvals)]:
        if row + entry - sum(begin) > limit and before != begin:
            chosen.append(before)
            begin = before
        before = row, entry
    chosen.append(before)
    rows, entries = zip(*chosen, strict=True)
    return SliceBounds(rows, entries)


def _possible_bounds(pattern: AnyPattern, limit: int) -> list[tuple[int, int]]:
    """Return (row, entry) on both sides of the 32 rows that hold every (limit / 2)-th of all rows and entries.

    So between two possible bounds there is at most half a slice, or 32 rows that cannot be divided.  Synchronizes.
    """
    xp = array_module(pattern.device)
    total = pattern.nvals + pattern.nrows
    if total <= limit:
        return []
    step = max(limit // 2, 1)
    groups = pattern.indptr[::WORD].astype(np.int64)
    groups += xp.arange(0, WORD * groups.size, WORD, dtype=np.int64)
    found = xp.searchsorted(groups, xp.arange(step, total, step, dtype=np.int64), side="right") - 1
    rows: Any = xp.minimum(xp.concatenate([found, found + 1]) * WORD, pattern.nrows)
    pairs = to_host(xp.stack([rows, pattern.indptr[rows].astype(np.int64)], axis=1))  # synchronizes
    return sorted({(int(row), int(entry)) for row, entry in pairs if 0 < row < pattern.nrows})
