"""Interrupted processes return correct results afterwards, and none dies or hangs."""

from __future__ import annotations

import signal
from collections.abc import Callable

import pytest

from tests.faults import interrupts

pytestmark = pytest.mark.skipif(signal.SIGINT not in signal.valid_signals(), reason="needs SIGINT")
# The part of every run: one operation for each way in which threads cooperate.
_FEW = ("apply vector", "ewise_add vectors", "select", "reduce", "pagerank", "update", "bfs_levels", "transpose")


@pytest.mark.timeout(7200)
def test_interrupted_operations(engine: str, trial_count: Callable[[int, int, int], int]) -> None:
    if engine == "reference":
        pytest.skip("it has no threads and no kernels")
    count = trial_count(0, 4, 100)
    tally = interrupts.trials(count or 1, 1, engine, () if count else _FEW)
    assert tally.outcomes.total() == (count or 1) * interrupts.PER_PROCESS
    assert not tally.failed, str(tally)
