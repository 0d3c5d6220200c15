"""Threads, forks and exits change no result."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from tests.faults import concurrency

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


@pytest.mark.costly
@pytest.mark.timeout(7200)
def test_concurrent_processes(engine: str, trial_count: Callable[[int, int, int], int]) -> None:
    if engine == "reference":
        pytest.skip("it has no threads and no kernels")
    every = len(concurrency.KINDS)
    count = trial_count(2, 2 * every, 30 * every)
    tally = concurrency.trials(count, 1, engine)
    assert tally.outcomes.total() == count
    assert not tally.failed, str(tally)
