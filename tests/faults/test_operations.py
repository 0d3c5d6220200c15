"""Random operations return the results of SuiteSparse; and the campaign detects differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.faults import _isolated, operations
from tests.faults._operation_cases import CASES, DRAW

pytestmark = pytest.mark.oracle
pytest.importorskip("graphblas", reason="python-graphblas is not installed")

SEED = 1


@pytest.mark.costly
@pytest.mark.timeout(900)  # with an empty cache, an exhaustive run compiles most types of most operations
def test_operations(engine: str, trial_count: Callable[[int, int, int], int]) -> None:
    tally = operations.trials(trial_count(150, 6000, 100_000), SEED, engine)
    assert not tally.failed, str(tally)
    assert tally.outcomes["ok"] > tally.outcomes["refused"]


def test_every_operation_is_in_the_first_cases() -> None:
    assert {case.operation for case in CASES[: len(DRAW)]} == set(DRAW)
    assert len(set(CASES)) == len(CASES)


def result(values: list[Any], dtype: str = "float64") -> Any:
    at = np.arange(len(values))
    return [at], np.array(values, dtype), (5,), dtype


def test_differences_are_seen() -> None:
    same = operations.difference
    assert not same(result([1.0, np.nan]), result([1.0 + 1e-14, np.nan]))
    assert "values differ, first at [1]" in same(result([1.0, 2.0]), result([1.0, 2.1]))
    assert "entries" in same(result([1.0]), result([1.0, 2.0]))
    assert "entries" in same(([np.array([3])], *result([1.0])[1:]), result([1.0]))
    assert "type" in same(result([1], "int8"), result([1], "int64"))
    assert "shape" in same((*result([1.0])[:2], (6,), "float64"), result([1.0]))


CHILD = """
import json, os, signal, sys, time
for number in range(int(sys.argv[2]), int(sys.argv[3])):
    print(number, flush=True)
    if number == 2:
        os.kill(os.getpid(), signal.SIGSEGV)
    if number == 4:
        time.sleep(600)
    print(json.dumps(["raw" if number == 5 else "ok", "five"]), flush=True)
"""


@pytest.mark.costly
def test_a_trial_that_crashes_or_hangs_costs_itself_alone(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "crashing.py").write_text(CHILD)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(_isolated, "_SLOWEST_S", 2.0)
    tally = _isolated.run_isolated("crashing", 8, SEED)
    assert tally.outcomes == {"ok": 5, "died": 1, "hung": 1, "raw": 1}
    assert tally.failed == 3
    assert any("trial 2 of seed 1, code -11" in failure for failure in tally.failures)


def test_a_child_that_fails_between_trials_is_an_error(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that fails before the first trial has tested nothing, and must not count as a campaign."""
    (tmp_path / "broken.py").write_text("raise ValueError('of no use')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(RuntimeError, match="of no use"):
        _isolated.run_isolated("broken", 8, SEED)
