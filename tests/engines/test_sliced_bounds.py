"""The bounds of slices: every row is in one slice, within the limit; bounds are cached with the matrix."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from semiring.config import config
from semiring.engines.rows.bounds import SLICE, WORD, common_bounds, most, slice_bounds
from semiring.formats import Pattern, index_dtype
from semiring.memory.arrays import to_host
from tests.compare import device_for
from tests.storage_kinds import small_slices


def rows_of(lengths: list[int]) -> Pattern:
    """Rows of the given lengths."""
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    columns = np.concatenate([np.arange(length) for length in lengths] or [np.arange(0)])
    widest = max(lengths, default=0) + 1
    return Pattern(len(lengths), widest, offsets.astype(np.int32), columns.astype(index_dtype(widest)))


@given(
    lengths=st.lists(st.sampled_from((0, 0, 1, 2, 5, 40, 300)), max_size=200), limit=st.sampled_from((1, 7, 64, 500))
)
@example(lengths=[1] * 96, limit=128)
@example(lengths=[1] * 1000, limit=200)
def test_cuts(engine: str, lengths: list[int], limit: int) -> None:
    """Slices cover all rows; each is small enough, or has 32 rows, which are not divided.

    A slice ends where the next 32 rows, or the next half of a slice, would make it too large.
    """
    pattern = rows_of(lengths).to(device_for(engine))
    with small_slices(limit):
        rows, entries = slice_bounds(pattern)
        assert common_bounds(pattern) == tuple(sorted(set(rows)))
    indptr = to_host(pattern.indptr)
    assert (rows[0], rows[-1]) == (0, pattern.nrows)
    assert list(entries) == [indptr[row] for row in rows]
    assert all(row % WORD == 0 for row in rows[:-1])
    sizes = indptr + np.arange(pattern.nrows + 1)  # of the entries and rows before a row
    for first, last in pairwise(rows):
        size = int(sizes[last] - sizes[first])
        assert size <= limit or last - first <= WORD
        assert first < last or pattern.nrows == 0
        if last < pattern.nrows:
            following = int(sizes[min(last + WORD, pattern.nrows)] - sizes[last])
            assert size + max(limit // 2, following) > limit


def test_cuts_are_found_once_for_each_limit(engine: str) -> None:
    pattern = rows_of([3] * 100).to(device_for(engine))
    with small_slices(40):
        assert slice_bounds(pattern) is slice_bounds(pattern)
        few = slice_bounds(pattern)
    assert len(few.rows) == 5
    assert slice_bounds(pattern).rows == (0, 100)


def test_two_slices_take_an_eighth_of_a_limited_memory() -> None:
    """Columns of 4 bytes and values of 8; without a limit, and in the memory of the CPU, a slice has the usual size."""
    budget = 1 << 30
    for device, limit, expected in (("cuda", budget, budget // 8 // 2 // 12), ("cuda", None, SLICE), ("cpu", 1, SLICE)):
        pattern: Any = SimpleNamespace(device=device, ncols=100)
        with config.set(device_memory=limit):
            assert most(pattern) == expected
