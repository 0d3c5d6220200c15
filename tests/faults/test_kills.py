from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.faults import kills


def test_killed_writers_leave_the_old_or_the_new_file(trial_count: Callable[[int, int, int], int]) -> None:
    count = trial_count(4, 24, 400)
    tally = kills.trials(count, seed=1)
    assert tally.outcomes == {"ok": count}, str(tally)


@pytest.mark.exhaustive
def test_a_writer_that_is_not_atomic_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The campaign sees a part: a writer that truncates the target first is found out soon."""
    child = tmp_path / "child.py"
    child.write_text(
        "import sys, time\n"
        "print('writing', flush=True)\n"
        "while True:\n"
        "    with open(sys.argv[1], 'wb') as target:\n"
        "        target.write(b'half'); target.flush(); time.sleep(0.01)\n"
    )
    popen = kills.subprocess.Popen
    monkeypatch.setattr(
        kills.subprocess, "Popen", lambda command, **kw: popen([command[0], str(child), *command[3:]], **kw)
    )
    (tmp_path / "work").mkdir()
    assert kills._trial(tmp_path / "work", "a.srb", signal.SIGKILL, 0.1)[0] == "wrong"
