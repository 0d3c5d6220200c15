"""Where a matrix is cut into slices: at multiples of 32 rows, so that the presence words of results join end to end.

A slice holds at most so many entries and rows together as `most` allows; 32 rows that hold more are a slice of their
own, however long one of them is.  The cuts are found once for a pattern and kept with it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...config import config
from ...formats import AnyPattern, array_module, index_dtype
from ...memory.arrays import to_host

# Rows in one word of presence bits.
WORD = 32
# Entries and rows of a slice.  Large enough that starting kernels and copies costs nothing beside them.
SLICE = 1 << 26
# The share of a limited GPU memory that one slice may take, columns and values: two are there at a time, and
# beside them what is made of them.
_SHARE = 16


class Cuts(NamedTuple):
    """Slice s holds the rows from ``rows[s]`` to ``rows[s + 1]``, and the entries from ``entries[s]`` likewise."""

    rows: tuple[int, ...]
    entries: tuple[int, ...]

    def held(self) -> list[int]:
        """The number of entries of each slice."""
        return [end - begin for begin, end in zip(self.entries, self.entries[1:], strict=False)]

    def filled(self) -> list[int]:
        """The slices that have entries."""
        return [s for s, count in enumerate(self.held()) if count]


def most(pattern: AnyPattern) -> int:
    """The entries and rows that a slice of this pattern may hold."""
    budget = config.device_memory
    if budget is None or pattern.device == "cpu":
        return SLICE
    widest = index_dtype(pattern.ncols).itemsize + 8  # a column and the largest value
    return max(WORD, min(SLICE, budget // _SHARE // widest))


def cuts(pattern: AnyPattern) -> Cuts:
    """The slices of a pattern.  Cost O(nrows / 32) once; then it synchronises, to read some numbers a slice."""
    limit = most(pattern)
    known: dict[int, Cuts] = pattern.facts.setdefault("slices", {})
    if limit not in known:
        known[limit] = _find(pattern, limit)
    return known[limit]


def row_bounds(*patterns: AnyPattern) -> tuple[int, ...]:
    """Rows at which patterns of one height are cut alike, so that no slice is too large in any of them."""
    return tuple(sorted({row for pattern in patterns for row in cuts(pattern).rows}))


def entries_at(pattern: AnyPattern, rows: tuple[int, ...]) -> Cuts:
    """The entries that begin at the given rows.  Synchronises."""
    xp = array_module(pattern.device)
    at = pattern.indptr[xp.asarray(np.array(rows, np.int64))]
    return Cuts(rows, tuple(to_host(at).tolist()))  # synchronises


def _find(pattern: AnyPattern, limit: int) -> Cuts:
    """Join neighbours among the candidates while they stay within the limit."""
    begin = before = (0, 0)
    chosen = [begin]
    for row, entry in [*_candidates(pattern, limit), (pattern.nrows, pattern.nvals)]:
        if row + entry - sum(begin) > limit and before != begin:
            chosen.append(before)
            begin = before
        before = row, entry
    chosen.append(before)
    rows, entries = zip(*chosen, strict=True)
    return Cuts(rows, entries)


def _candidates(pattern: AnyPattern, limit: int) -> list[tuple[int, int]]:
    """(row, entry) on both sides of the 32 rows that hold every (limit / 2)-th of all rows and entries.

    So between two candidates lies either half a slice at most, or 32 rows that cannot be cut.  Synchronises.
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
    pairs = to_host(xp.stack([rows, pattern.indptr[rows].astype(np.int64)], axis=1))  # synchronises
    return sorted({(int(row), int(entry)) for row, entry in pairs if 0 < row < pattern.nrows})
