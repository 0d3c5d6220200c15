"""Commands as several processes: `semiring launch`, and `--ranks` of the commands of algorithms."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import semiring as sr
from semiring.cli import main
from tests.distributed.launches import command

pytest.importorskip("mpi4py")


@pytest.fixture
def graph(tmp_path: Path) -> str:
    path = str(tmp_path / "graph.srb")
    A = sr.random.rmat(6, seed=2)
    sr.io.write(path, A.ewise_add(A.T.new(), "any").new())
    return path


def test_a_search_by_two_processes(graph: str, tmp_path: Path) -> None:
    out = tmp_path / "levels.tsv"
    ran = command("bfs", graph, "--ranks", "2", "--source", "1", "--json", "--no-progress", "--out", str(out))
    assert (ran.returncode, ran.stderr) == (0, "")
    facts = json.loads(ran.stdout)  # one object: one process prints
    levels = sr.algorithms.bfs_levels(sr.io.read(graph), 1).to_dict()
    assert facts["reached"] == len(levels)
    assert facts["engine"].endswith("in each of 2 processes")
    lines = [line.split("\t") for line in out.read_text().splitlines()]
    assert {int(row): int(level) for row, level in lines} == levels


ALONE = ("ms", "engine", "first_call_ms", "mteps", "directions")


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "words",
    [["components"], ["pagerank"], ["triangle-count"], ["sssp", "--source", "1"], ["bfs", "--source", "max-degree"]],
)
def test_results_are_those_of_one_process(words: list[str], graph: str, capsys: pytest.CaptureFixture[str]) -> None:
    ran = command(words[0], graph, *words[1:], "--json", "--no-progress", "--ranks", "3")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert main([words[0], graph, *words[1:], "--json"]) == 0
    several, one = json.loads(ran.stdout), json.loads(capsys.readouterr().out)
    for facts in (several, one):
        for name in ALONE:
            facts.pop(name, None)
    if words == ["pagerank"]:
        several, one = ({each["vertex"]: each["rank"] for each in facts["top"]} for facts in (several, one))
        assert several == pytest.approx(one)
    else:
        assert several == one


@pytest.mark.exhaustive
def test_an_error_of_all_is_one_line(tmp_path: Path, graph: str) -> None:
    ran = command("bfs", graph, "--ranks", "2", "--source", "99999")
    assert ran.returncode == 1
    errors = [line for line in ran.stderr.splitlines() if line.startswith("semiring: ")]
    assert errors[0].startswith("semiring: error: ")
    assert "99999" in errors[0]
    assert "Traceback" not in ran.stderr
    assert ran.stdout == ""


@pytest.mark.parametrize(
    ("words", "code", "error"),
    [
        (["launch", "-n", "2"], 2, "expected a program"),
        (["launch", "-n", "2", "-m"], 2, "expected a program"),
        (["launch", "-n", "2", "nowhere.py"], 2, "nowhere.py: no such file"),
        (["launch", "-n", "0", __file__], 1, "must be positive, got 0"),
        (["bfs", "-", "--ranks", "2"], 2, "one standard input"),
        (["components", "a.srb", "--ranks", "0"], 1, "must be positive, got 0"),
        (
            ["components", "a.srb", "--ranks", "2", "--compress", "packed"],
            2,
            "--compress is not available with --ranks",
        ),
    ],
)
def test_errors_before_any_process_starts(
    words: list[str], code: int, error: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == code
    caught = capsys.readouterr()
    assert caught.out == ""
    assert error in caught.err
    assert caught.err.count("\n") == 1
