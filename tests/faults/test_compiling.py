"""A kernel whose compilation was interrupted works when it is called again."""

from __future__ import annotations

import signal
from collections.abc import Callable

import pytest

from tests.faults import compiling

pytestmark = pytest.mark.skipif(signal.SIGINT not in signal.valid_signals(), reason="needs SIGINT")


@pytest.mark.timeout(7200)
def test_interrupted_compilations(engine: str, trial_count: Callable[[int, int, int], int]) -> None:
    if engine == "reference":
        pytest.skip("it compiles nothing")
    count, interrupts = trial_count(1, 4, 40), trial_count(4, compiling.PER_PROCESS, compiling.PER_PROCESS)
    tally = compiling.trials(count, 2, engine, interrupts)
    assert tally.outcomes.total() == count * interrupts
    assert not tally.failed, str(tally)
