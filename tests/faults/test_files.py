from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

import numpy as np
import pytest

import semiring as sr
from semiring.exceptions import InvalidFormat
from semiring.formats import CSR, HyperPattern
from tests.faults import files
from tests.faults._mutants import Original, mutant, originals
from tests.faults._reading import Wrong, read_mutant
from tests.faults._sound import check_sound


@pytest.mark.costly
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="children measure their memory as Linux reports it")
def test_damaged_files_are_read_or_refused(trial_count: Callable[[int, int, int], int]) -> None:
    count = trial_count(1000, 10_000, 100_000)
    tally = files.trials(count, seed=1)
    assert tally.outcomes.total() == count
    assert not tally.failed, str(tally)
    assert min(tally.outcomes["ok"], tally.outcomes["refused"]) > count // 20  # neither all harmless nor all rejected


def test_crashes_and_hangs_cost_one_mutant(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    child = tmp_path / "child.py"
    child.write_text(
        "import os, sys, time\n"
        "first, last = int(sys.argv[3]), int(sys.argv[4])\n"
        "print('ready', flush=True)\n"
        "for k in range(first, last):\n"
        "    if k == 3: os.abort()\n"
        "    if k == 5: time.sleep(60)\n"
        "    if k == 7: os.kill(os.getpid(), 9)\n"
        "    print(f'{k}\\tok\\t', flush=True)\n"
    )
    popen = files.subprocess.Popen
    monkeypatch.setattr(
        files.subprocess, "Popen", lambda command, **kw: popen([command[0], str(child), *command[3:]], **kw)
    )
    monkeypatch.setattr(files, "_HANGS_AFTER_S", 1.0)
    monkeypatch.setattr(files, "_STARTS_WITHIN_S", 10.0)
    tally = files.trials(8, seed=1)
    assert tally.outcomes == {"ok": 5, "died": 2, "hung": 1}
    assert [failure[:14] for failure in tally.failures] == ["died: mutant 3", "hung: mutant 5", "died: mutant 7"]


def test_a_child_that_does_not_start_is_no_mutant(monkeypatch: pytest.MonkeyPatch) -> None:
    popen = files.subprocess.Popen
    monkeypatch.setattr(
        files.subprocess, "Popen", lambda command, **kw: popen([command[0], "-c", "raise SystemExit('broken')"], **kw)
    )
    with pytest.raises(RuntimeError, match="has not started: exit code 1: broken"):
        files.trials(3, seed=1)


def test_mutants_repeat_and_differ() -> None:
    known = originals()
    assert known == [Original(again.name, again.content, again.repair) for again in originals()]
    assert len({original.name for original in known}) == len(known)
    for original in known:
        made = [mutant(original, Random(k)) for k in range(40)]
        assert made == [mutant(original, Random(k)) for k in range(40)]
        assert len({content for content in made if content != original.content}) > 20


def test_repaired_checksums_let_damage_through() -> None:
    """Otherwise no test reaches the code after the checksums."""
    for original in originals():
        if original.repair is not None:
            assert original.repair(original.content) == original.content, original.name
            damaged = (original.content[:k] + b"\x01" + original.content[k + 1 :] for k in range(len(original.content)))
            assert any(original.repair(content) != content for content in damaged), original.name


def test_an_unsound_result_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import semiring as sr

    known = {original.name: original for original in originals()}
    original = known["a.srb"]
    other = sr.random.path(3)
    monkeypatch.setattr(sr.io, "read", lambda path: other)
    with pytest.raises(Wrong):
        read_mutant(original, original.content, sr.random.path(4), tmp_path / "a.srb", Random(2))
    other.store.indices[0] = 7  # past the last column
    with pytest.raises(AssertionError):
        read_mutant(original, b"", other, tmp_path / "a.srb", Random(2))

    def crash(path: Path) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(sr.io, "read", crash)
    with pytest.raises(ZeroDivisionError):
        read_mutant(original, b"", other, tmp_path / "a.srb", Random(2))

    def refuse(path: Path) -> None:
        raise InvalidFormat

    monkeypatch.setattr(sr.io, "read", refuse)
    assert read_mutant(original, b"", other, tmp_path / "a.srb", Random(2)) == "refused"


@pytest.mark.parametrize(
    ("rows", "offsets", "message"),
    [
        ([3, 1 << 40], [0, 1, 3], None),
        ([1 << 40, 3], [0, 1, 3], "ascend"),
        ([3, 1 << 62], [0, 1, 3], "past the last"),
        ([3, 5], [0, 3, 3], "have entries"),
    ],
)
def test_lists_of_rows_are_checked(rows: list[int], offsets: list[int], message: str | None) -> None:
    columns = np.array([4, 2, 9], np.int32)
    pattern = HyperPattern(1 << 50, 10, np.array(rows, np.int64), np.array(offsets, np.int32), columns)
    A = sr.Matrix(float, 1, 1, device="cpu")
    A._become(CSR(pattern, np.dtype(np.float64), np.ones(3)))
    if message is None:
        check_sound(A)
        return
    with pytest.raises(AssertionError, match=message):
        check_sound(A)
