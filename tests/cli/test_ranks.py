"""Commands as several processes: `semiring launch`, and `--ranks` of the commands of algorithms."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import pytest

import semiring as sr
from semiring import distributed
from semiring.bridges.cli import graphs, main, ranks
from semiring.bridges.cli.progress import Progress
from semiring.bridges.cli.result_table import Outcome
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


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ([], "graph.srb"),
        (["--trust"], "graph.srb"),
        ([], "graph.parts"),
        (["--symmetric"], "graph.srb"),
        (["--symmetric", "--nrows", "70"], "graph.el"),
        (["--relabel"], "graph.el"),
        (["--merge-op", "plus"], "graph.mtx"),
    ],
)
def test_each_process_reads_its_part(
    words: list[str], name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    A = sr.random.rmat(6, seed=3, weights="uniform")
    path = str(tmp_path / name)
    if name.endswith(".parts"):
        distributed.run(3, lambda grid: sr.io.write(path, distributed.scatter(A, grid)), device="cpu")
        whole = A
    else:
        sr.io.write(path, A, **({"weights": False} if name.endswith(".el") else {}))
        whole = graphs.load_graph(arguments(path, words), Progress(False))

    def program(grid: distributed.Grid) -> tuple[sr.Matrix, str]:
        monkeypatch.setattr(ranks, "_grid", grid)
        found = graphs.load_graph(arguments(path, words), Progress(False))
        return distributed.gather(found), found.device

    read = sr.io.read

    def read_in_parts(path: str, *, device: str, **options: Any) -> Any:
        return read(path, device=device, **options)

    monkeypatch.setattr(sr.io, "read", read_in_parts)  # a call without the device of a grid raises TypeError
    monkeypatch.setattr(sr.io, "open", None)
    for found, device in distributed.run(2, program, device="cpu"):
        assert device == "2x1 cpu"
        assert found.isequal(whole.to("cpu"), check_dtype=True)
        assert (found.labels is None) == ("--relabel" not in words)


def test_names_of_a_divided_graph(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, pairs = str(tmp_path / "graph.csv"), str(tmp_path / "pairs.csv")
    Path(path).write_text("ann,bob\nbob,cy\ncy,ann\ndan,ann\n")
    Path(pairs).write_text("source,target\ndan,cy\nann,bob\n")
    args = arguments(path, ["--relabel"])

    def program(grid: distributed.Grid) -> tuple[object, ...]:
        monkeypatch.setattr(ranks, "_grid", grid)
        A = graphs.load_graph(args, Progress(False))
        found = Outcome(sr.algorithms.bfs_parents(A, graphs.row_of(A, "dan")), "bfs_parents", A.row_labels)
        wanted = distributed.gather(graphs.load_pairs(args, pairs, A))
        return found.table().rows(slice(None)), graphs.row_of(A, "max-degree"), wanted.to_dicts()

    for table, most, wanted in distributed.run(2, program, device="cpu"):
        assert table == [("ann", "dan"), ("bob", "ann"), ("cy", "bob"), ("dan", "dan")]
        assert most == 0
        assert wanted == {3: {2: True}, 0: {1: True}}


def arguments(path: str, words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    graphs.add_graph(parser)
    return parser.parse_args([path, *words])


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


@pytest.mark.exhaustive
def test_what_one_process_finds_in_its_share_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "graph.el"
    path.write_text("0 1\n" * 4000 + "1 x\n", encoding="ascii")
    ran = command("components", str(path), "--dup-op", "any", "--ranks", "2", "--no-progress")
    assert ran.returncode == 1
    (error,) = [line for line in ran.stderr.splitlines() if line.startswith("semiring: ")]
    assert "graph.el:4001: " in error
    assert error.endswith("(rank 1 of 2)")
    assert "Traceback" not in ran.stderr


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
