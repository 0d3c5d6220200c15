"""How a pass reads the tiles of a stream: every marked block once, each chunk in the cheaper way."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("cupy")

from semiring.engines.cuda.outofcore.chunks import Layout, plan_in_place

ITEM = 4


def some_layout(sizes: list[int], chunk_bytes: int) -> Layout:
    edges = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    return Layout(edges, ITEM, edges[:-1] * ITEM // chunk_bytes)


@given(
    blocks=st.lists(st.tuples(st.integers(1, 50), st.integers(0, 9)), max_size=60),
    chunk_bytes=st.integers(40, 900),
    call=st.sampled_from((0, 30, 500)),
    tile_bytes=st.sampled_from((None, 0.5, 10.0, 40.0, 1e6)),
)
def test_every_marked_block_is_read_once(
    blocks: list[tuple[int, int]], chunk_bytes: int, call: int, tile_bytes: float | None
) -> None:
    layout = some_layout([size for size, _ in blocks], chunk_bytes)
    marked = np.array([tiles for _, tiles in blocks], np.uint32)
    plan = layout.plan(marked, call, tile_bytes)
    reached = np.zeros(layout.blocks, int)
    behind, cost = 0, 0.0
    for first, end, runs in plan.steps():
        assert behind <= first < end
        behind = end
        at = np.flatnonzero(marked[first:end]) + first
        assert {first, end - 1} <= set(at.tolist())
        if not runs:
            assert tile_bytes is not None
            reached[at] += 1
            cost += float(marked[at].sum()) * tile_bytes
            continue
        assert np.unique(layout.chunk[first:end]).size == 1
        for low, high in runs:
            reached[low:high] += 1
            begin, past = layout.range_of((low, high))
            cost += ITEM * (past - begin) + call
        if tile_bytes is not None:
            assert sum(ITEM * int(np.subtract(*layout.range_of(run)[::-1])) + call for run in runs) <= (
                float(marked[at].sum()) * tile_bytes
            )
    assert (reached[marked > 0] == 1).all()
    assert reached.max(initial=0) <= 1
    assert plan.nbytes == pytest.approx(cost)


def test_gaps_as_short_as_starting_a_copy_are_copied_too() -> None:
    layout = some_layout([10] * 8, 1 << 20)
    marked = np.array([1, 0, 1, 0, 0, 1, 0, 0], np.uint32)
    for call, runs in ((0, [(0, 1), (2, 3), (5, 6)]), (40, [(0, 3), (5, 6)]), (80, [(0, 6)])):
        plan = layout.plan(marked, call, None)
        assert [run for *_, some in plan.steps() for run in some] == runs


def test_a_pass_in_place_is_one_step() -> None:
    assert list(plan_in_place(7, 1.0).steps()) == [(0, 7, [])]
