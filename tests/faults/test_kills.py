from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from semiring.io import atomic
from tests.faults import kills


def test_killed_writers_leave_the_old_or_the_new_file(trial_count: Callable[[int, int, int], int]) -> None:
    count = trial_count(4, 24, 400)
    tally = kills.trials(count, seed=1)
    assert tally.outcomes == {"ok": count}, str(tally)


def replace_child(monkeypatch: pytest.MonkeyPatch, folder: Path, body: str) -> Path:
    """Let the campaign start this program, and give it a folder to write in."""
    child = folder / "child.py"
    child.write_text(f"import os, sys, time\npath = sys.argv[1]\nprint('writing', flush=True)\n{body}")
    popen = kills.subprocess.Popen
    monkeypatch.setattr(
        kills.subprocess, "Popen", lambda command, **kw: popen([command[0], str(child), *command[3:]], **kw)
    )
    (folder / "work").mkdir()
    return folder / "work"


def test_a_writer_that_is_not_atomic_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    body = "while True:\n    with open(path, 'wb') as target:\n        target.write(b'half'); target.flush()\n"
    work = replace_child(monkeypatch, tmp_path, body)
    assert kills._trial(work, "a.srb", signal.SIGKILL, 1.0)[0] == "wrong"


@pytest.mark.parametrize(("cleans", "expected"), [(True, "ok"), (False, "wrong")])
def test_a_part_that_stays_is_caught(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cleans: bool, expected: str
) -> None:
    body = (
        "folder, name = os.path.split(path)\n"
        "open(os.path.join(folder, f'.{name}.0123456789ab.part'), 'wb').close()\n"
        "while True:\n    time.sleep(1)\n"
    )
    work = replace_child(monkeypatch, tmp_path, body)
    if not cleans:
        monkeypatch.setattr(atomic, "_remove_stale", lambda target: None)
    assert kills._trial(work, "a.srb", signal.SIGKILL, 1.0)[0] == expected
