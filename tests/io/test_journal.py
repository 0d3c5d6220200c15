"""Journals: what was acknowledged is there after any end of the program, and nothing else."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring import Matrix
from semiring.exceptions import IndexOutOfBound, InvalidFormat, InvalidType, InvalidValue
from semiring.io import Journal, journal
from tests.compare import device_for

pytestmark = pytest.mark.one_process("a journal is of one process")
ROOT = Path(__file__).resolve().parents[2]
ROAD = np.dtype({"names": ["length", "lanes"], "formats": ["f8", "i4"]})


def entries(A: Matrix) -> dict[int, dict[int, Any]]:
    return A.to_dicts()


def filled(folder: Path, engine: str) -> list[dict[int, dict[int, Any]]]:
    """Make a journal of several batches; return the matrix before the first one and after each."""
    with Journal(folder, Matrix.from_edgelist([(0, 1, 2.0), (1, 2, 3.0)], nrows=4, ncols=4)) as J:
        states = [entries(J.matrix)]
        changes: tuple[Callable[[], Any], ...] = (
            lambda: J.insert([(0, 1, 5.0), (2, 0, 1.5)], dup_op="plus"),
            lambda: J.delete([(1, 2), (3, 3)]),
            lambda: J.insert({"from": [3, 3], "to": [0, 1]}, 7.0, symmetric=True),
            lambda: J.insert([(0, 1, 1.0)]),
            lambda: J.insert(Matrix.from_coo([3], [3], [9.0], shape=(4, 4))),
            lambda: J.insert({"from": [], "to": [], "x": []}),
        )
        for change in changes:
            change()
            states.append(entries(J.matrix))
    return states


def test_batches_are_replayed(tmp_path: Path, engine: str) -> None:
    states = filled(tmp_path / "j", engine)
    with Journal(tmp_path / "j") as J:
        assert (entries(J.matrix), J.batches) == (states[-1], 6)
        assert J.matrix.device == device_for(engine)
        J.compact()
        assert (J.batches, J.nbytes, entries(J.matrix)) == (0, 0, states[-1])
        J.delete([(0, 1)])
    assert sorted(path.name for path in (tmp_path / "j").iterdir()) == ["1.log", "1.srb", "journal.json", "lock"]
    with Journal(tmp_path / "j", sync=False) as J:
        assert J.batches == 1
        assert 1 not in entries(J.matrix).get(0, {})


def test_a_log_that_is_cut_off_anywhere_has_the_batches_before(tmp_path: Path, engine: str) -> None:
    """At every byte, and with any byte of the last record changed."""
    states = filled(tmp_path / "j", engine)
    log = tmp_path / "j" / "0.log"
    whole = log.read_bytes()
    ends = [0, *(end for _, _, end in journal._records(log))]
    assert len(ends) == len(states)
    for size in range(len(whole) + 1):
        log.write_bytes(whole[:size])
        complete = sum(end <= size for end in ends) - 1
        assert [end for _, _, end in journal._records(log)] == ends[1 : complete + 1]
        if size % 97 == 0 or size in ends:
            with Journal(tmp_path / "j") as J:
                assert (J.batches, entries(J.matrix)) == (complete, states[complete])
            assert log.stat().st_size == ends[complete]
    for at in range(ends[-2], len(whole)):
        log.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        assert [end for _, _, end in journal._records(log)] == ends[1:-1]


def test_a_record_that_is_damaged_before_the_end_is_an_error(tmp_path: Path, engine: str) -> None:
    """At every byte; nothing is written."""
    filled(tmp_path / "j", engine)
    log = tmp_path / "j" / "0.log"
    whole = log.read_bytes()
    ends = [end for _, _, end in journal._records(log)]
    for at in range(ends[1]):
        damaged = whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1 :]
        log.write_bytes(damaged)
        with pytest.raises(InvalidFormat, match="is damaged, and a whole one follows it"):
            list(journal._records(log))
    with pytest.raises(InvalidFormat):
        Journal(tmp_path / "j")
    assert log.read_bytes() == damaged


@pytest.mark.parametrize("labels", [["ann", "bob"], [7, 1 << 60], [("a", 1), "b"]])
def test_labels_that_are_added(labels: list[Any], tmp_path: Path, engine: str) -> None:
    more = {"ann": "eve", 7: 5, ("a", 1): ("c", 2)}[labels[0]]
    A = Matrix.from_edgelist([(*labels, 2)], relabel=sr.Labels(labels))
    with Journal(tmp_path / "j", A) as J:
        J.upsert([(more, labels[0], 3)])
        J.insert([(labels[0], more, 4)])
    with Journal(tmp_path / "j") as J:
        B = J.matrix
    assert list(B.labels or ()) == [*labels, more]
    assert entries(B) == {0: {1: 2, 2: 4}, 2: {0: 3}}


def test_labels_of_two_sets(tmp_path: Path, engine: str) -> None:
    with Journal(tmp_path / "j", Matrix.from_edgelist([("ann", "tea", 2)], bipartite=True)) as J:
        J.upsert([("ann", "rice", 1), ("bob", "tea", 3)])
    with Journal(tmp_path / "j") as J:
        B = J.matrix
    assert (list(B.row_labels or ()), list(B.column_labels or ())) == (["ann", "bob"], ["tea", "rice"])
    assert B["bob", "tea"].value == 3


def test_records_and_compressed_rows(tmp_path: Path, engine: str) -> None:
    A = Matrix.from_coo([0], [1], np.array([(2.0, 1)], ROAD), shape=(3, 3))
    with Journal(tmp_path / "records", A) as J:
        J.insert({"from": [1], "to": [2]}, np.array([(5.0, 2)], ROAD))
    with Journal(tmp_path / "records") as J:
        assert J.matrix[1, 2].value == (5.0, 2)
    with Journal(tmp_path / "packed", Matrix.from_edgelist([(0, 1), (1, 2)]).compress("packed")) as J:
        J.insert([(2, 0)])
    with Journal(tmp_path / "packed") as J:
        assert (J.matrix.codec, J.matrix.nvals) == ("packed", 3)


def test_the_matrix_is_a_snapshot(tmp_path: Path, engine: str) -> None:
    with Journal(tmp_path / "j", Matrix(float, 3, 3)) as J:
        A = J.matrix
        A[0, 0] = 1.0
        J.insert([(1, 1, 2.0)])
        assert (entries(A), entries(J.matrix)) == ({0: {0: 1.0}}, {1: {1: 2.0}})


def test_errors_change_nothing(tmp_path: Path, engine: str) -> None:
    with pytest.raises(FileNotFoundError):
        Journal(tmp_path / "j")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "7.srb").write_bytes(b"")
    with pytest.raises(InvalidValue, match=r"has other files, such as 7\.srb"):
        Journal(tmp_path / "other", Matrix(float, 3, 3))
    with Journal(tmp_path / "j", Matrix(float, 3, 3)) as J:
        J.insert([(0, 1, 2.0)])
        before = (tmp_path / "j" / "0.log").read_bytes()
        with pytest.raises(InvalidValue, match="open elsewhere"):
            Journal(tmp_path / "j")
        with pytest.raises(InvalidType, match="name of an operator"):
            J.insert([(0, 1, 2.0)], dup_op=sr.binary.plus)
        with pytest.raises(IndexOutOfBound):
            J.insert([(0, 3, 2.0)])
        assert (tmp_path / "j" / "0.log").read_bytes() == before
    with pytest.raises(InvalidValue, match="closed"):
        J.insert([(0, 1, 2.0)])
    with pytest.raises(InvalidValue, match="a journal already"):
        Journal(tmp_path / "j", Matrix(float, 3, 3))


def test_a_record_that_cannot_be_written_is_taken_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str
) -> None:
    with Journal(tmp_path / "j", Matrix(float, 3, 3)) as J:
        J.insert([(0, 1, 2.0)])
        with monkeypatch.context() as broken:
            broken.setattr(os, "fsync", _full)
            with pytest.raises(OSError, match="full"):
                J.insert([(0, 2, 2.0)])
        J.insert([(1, 2, 3.0)])
        assert entries(J.matrix) == {0: {1: 2.0}, 1: {2: 3.0}}
    with Journal(tmp_path / "j") as J:
        assert (entries(J.matrix), J.batches) == ({0: {1: 2.0}, 1: {2: 3.0}}, 2)


def test_a_compaction_that_is_interrupted_after_the_exchange_is_complete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str
) -> None:
    """Its files are the current ones then, and are not removed."""
    states, calls = filled(tmp_path / "j", engine), iter((None, KeyboardInterrupt()))

    def interrupted(_: Path) -> None:
        if (error := next(calls)) is not None:
            raise error

    with Journal(tmp_path / "j") as J:
        with monkeypatch.context() as broken:
            broken.setattr(journal, "_sync_folder", interrupted)
            with pytest.raises(KeyboardInterrupt):
                J.compact()
        assert (J.batches, entries(J.matrix)) == (0, states[-1])
        J.delete([(0, 1)])
    with Journal(tmp_path / "j") as J:
        assert J.batches == 1
        assert sorted(path.name for path in (tmp_path / "j").iterdir()) == ["1.log", "1.srb", "journal.json", "lock"]


def _full(_: int) -> None:
    raise OSError(28, "the disk is full")


@pytest.mark.parametrize("step", ["write_srb", "_sync_folder", "atomic_writer"])
def test_a_compaction_that_fails_leaves_the_old_files(
    step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str
) -> None:
    states = filled(tmp_path / "j", engine)
    with Journal(tmp_path / "j") as J:
        with monkeypatch.context() as broken:
            broken.setattr(journal, step, lambda *_: _full(0))
            with pytest.raises(OSError, match="full"):
                J.compact()
        J.delete([(0, 1)])
        assert sorted(path.name for path in (tmp_path / "j").iterdir()) == ["0.log", "0.srb", "journal.json", "lock"]
    with Journal(tmp_path / "j") as J:
        assert J.batches == len(states)


CHILD = """
import itertools, sys
from semiring import Matrix
from semiring.io import Journal
with Journal(sys.argv[1]) as J:
    print("ready", flush=True)
    for k in itertools.count(J.batches + int(sys.argv[2])):
        J.insert([(k % 50, k // 50 % 50, k)])
        print(k, flush=True)
        if k % 7 == 6:
            J.compact()
"""


def test_a_killed_process_loses_nothing_that_was_acknowledged(
    tmp_path: Path, trial_count: Callable[[int, int, int], int], engine: str
) -> None:
    """Entry k is inserted as number k: what is there is 0 to some k, and k is not before the last that was printed."""
    if engine != "cpu":
        pytest.skip("the files are of the host")
    random, count = Random(1), 0
    Journal(tmp_path / "j", Matrix(int, 50, 50)).close()
    for _ in range(trial_count(2, 12, 200)):
        child = subprocess.Popen(
            [sys.executable, "-c", CHILD, str(tmp_path / "j"), str(count)],
            stdout=subprocess.PIPE, cwd=ROOT, env=os.environ, text=True,
        )  # fmt: skip
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        first = child.stdout.readline()
        time.sleep(random.random() * 0.3)
        child.send_signal(signal.SIGKILL)
        printed = (first + child.communicate()[0]).split("\n")[:-1]
        with Journal(tmp_path / "j") as J:
            found = sorted(J.matrix.to_coo()[2].tolist())
            # What the child numbers from: the entries before the log.
            count = len(found) - J.batches
        assert found == list(range(len(found)))
        assert len(found) > int(printed[-1])
        if len(found) > 2000:
            break
