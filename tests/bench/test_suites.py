"""Each suite at a small scale through the command: rows, verification, files, pictures, and errors of bad input."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring.bridges.bench import ceilings, gap, graph500, graphalytics, machine, peers, rows, suite
from semiring.bridges.bench.measuring import Contender, Samples, compare
from semiring.bridges.bench.rows import Peer, Row
from semiring.bridges.bench.validation import WrongResult
from semiring.bridges.cli.progress import Progress
from semiring.cli import main
from semiring.exceptions import NotSupported


@pytest.fixture(autouse=True)
def _small_copies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ceilings, "_ELEMENTS", {"cpu": 1 << 12, "cuda": 1 << 12})
    monkeypatch.setattr(ceilings, "_GATHERED", {"cpu": 1 << 12, "cuda": 1 << 12})


def a_run(*, with_peers: bool = False) -> suite.Run:
    return suite.Run(suite.default_device(), Progress(False), with_peers=with_peers)


def bench(*words: str) -> None:
    assert main(["bench", *words, "--no-progress"]) == 0


def rows_of(path: Path) -> dict[str, dict[str, Any]]:
    """The rows of a file by kernel; the first line has the machine."""
    first, *others = map(json.loads, path.read_text().splitlines())
    assert {"processor", "cores", "versions", "semiring", "date"} <= first.keys()
    return {row["what"]: row for row in others}


@pytest.mark.costly
def test_graph500(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, picture = tmp_path / "found.jsonl", tmp_path / "scales.svg"
    words = ["--scales", "5-6", "--roots", "3", "--edgefactor", "8", "--output", str(path), "--plot", str(picture)]
    bench("graph500", *words)
    out = capsys.readouterr().out
    for line in (
        "SCALE:                          5",
        "SCALE:                          6",
        "NBFS:                           3",
    ):
        assert line in out
    found = rows_of(path)
    assert {f"{kernel} kron{scale}" for kernel in ("construction", "bfs", "sssp") for scale in (5, 6)} == found.keys()
    assert len(found["bfs kron6"]["samples"]) == len(set(found["bfs kron6"]["facts"]["roots"])) == 3
    assert all(edges <= 8 * 64 for edges in found["bfs kron6"]["facts"]["nedge"])
    assert found["sssp kron5"]["facts"]["share"] > 0
    assert "slope" in out
    assert path.with_suffix(".txt").read_text() == out
    assert picture.read_text().startswith("<?xml")


def test_edge_lists_have_repetitions_and_loops() -> None:
    edges = graph500.edge_list(7, 16, 1, "cpu")
    i, j = edges.ends
    assert i.size == 16 * 128
    assert (i == j).any()
    assert np.unique(i * 128 + j).size < i.size
    assert 0 <= edges.weights.min() < edges.weights.max() < 1
    roots = graph500.roots_of(edges, 64, np.random.default_rng(1))
    apart = i != j
    assert set(roots) <= set(i[apart]) | set(j[apart])
    assert len(set(roots)) == 64
    A = graph500.construct(edges).to("cpu")
    at = int(np.flatnonzero(apart)[0])
    same = ((i == i[at]) & (j == j[at])) | ((i == j[at]) & (j == i[at]))
    assert A.get(int(j[at]), int(i[at])) == edges.weights[same].min()


def test_graph500_fails_with_a_wrong_tree(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Any) -> None:
    def wrong(A: sr.Matrix, source: int) -> sr.Vector:
        return sr.Vector.from_coo([source], [source], size=A.nrows)

    monkeypatch.setattr(sr.algorithms, "bfs_parents", wrong)
    path = tmp_path / "found.txt"
    assert main(["bench", "graph500", "--scale", "5", "--roots", "2", "--output", str(path)]) == 1
    assert "an edge leaves the tree" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.costly
@pytest.mark.parametrize("kind", ["kron", "urand"])
def test_gap(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    bench("gap", "--scale", "5", "--graphs", kind, "--trials", "2", "--json")
    found = {row["kernel"]: row for row in json.loads(capsys.readouterr().out)["rows"]}
    assert found.keys() == {f"{kernel} {kind}5" for kernel in ("bfs", "sssp", "pr", "cc", "bc", "tc")}
    assert all(row["value"] > 0 and len(row["samples"]) == 2 and row["facts"]["share"] > 0 for row in found.values())


@pytest.mark.costly
def test_gap_on_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "directed.el").write_text("0 1\n1 2\n2 0\n2 2\n2 3\n0 3\n")
    (tmp_path / "weighted.wel").write_text("0 1 0.5\n1 0 0.5\n1 2 0.25\n2 1 0.25\n")
    (tmp_path / "notes.md").write_text("not a graph")
    bench("gap", "--files", str(tmp_path), "--trials", "1", "--kernels", "bfs,sssp,cc,tc,pr")
    out = capsys.readouterr().out
    assert "tc directed" in out
    assert "sssp weighted" in out
    assert "kron" not in out


def test_weights_of_files_are_symmetric() -> None:
    A = suite.with_weights(sr.random.kronecker(6, seed=1))
    assert A.isequal(A.T)
    assert 1 <= A.reduce_scalar("min").value < A.reduce_scalar("max").value <= 255


@pytest.mark.parametrize(
    ("kernel", "wrong"),
    [
        ("bfs", lambda A: sr.Vector.full(0, A.nrows)),
        pytest.param("sssp", lambda A: sr.Vector.full(1, A.nrows), marks=pytest.mark.costly),
        pytest.param("pr", lambda A: sr.Vector.full(1 / A.nrows, A.nrows), marks=pytest.mark.costly),
        ("cc", lambda A: sr.Vector.full(0, A.nrows)),
        pytest.param("bc", lambda A: sr.Vector.full(0.0, A.nrows), marks=pytest.mark.costly),
        pytest.param("tc", lambda A: 3, marks=pytest.mark.costly),
    ],
)
def test_verifiers_of_gap_reject_wrong_results(kernel: str, wrong: Any) -> None:
    made = gap._Kernels(gap.generated("kron", 5, 1), 1, a_run()).make(kernel)
    argument = made.arguments[0]
    made.contender.check(argument, made.contender.bound(argument)())
    with pytest.raises(WrongResult):
        made.contender.check(argument, wrong(gap.generated("kron", 5, 1)))


@pytest.mark.costly
def test_graphalytics_on_its_data_sets(shared_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for path in (shared_data / "graphalytics").glob("example-*"):
        shutil.copy(path, tmp_path)
    bench("graphalytics", "--files", str(tmp_path), "--runs", "1")
    out = capsys.readouterr().out
    assert all(f"{name} example-directed" in out for name in graphalytics.ALGORITHMS)
    for name in graphalytics.ALGORITHMS:  # a reference that differs in the last line
        reference = tmp_path / f"example-directed-{name.upper()}"
        right = reference.read_text()
        *lines, last = right.splitlines()
        reference.write_text("\n".join([*lines, f"{last.split()[0]} 12345"]) + "\n")
        assert main(["bench", "graphalytics", "--files", str(tmp_path), "--runs", "1"]) == 1
        reference.write_text(right)
    capsys.readouterr()


def test_references_are_those_of_scipy(shared_data: Path, tmp_path: Path) -> None:
    """Implementations in SciPy and NumPy have the published results, on directed graphs too."""
    for data in graphalytics.datasets(str(shared_data / "graphalytics")):
        for name in data.algorithms():
            graphalytics.match(name, graphalytics.computed(data, name), graphalytics._reference(data, name))


@pytest.mark.costly
def test_graphalytics_on_a_generated_graph(capsys: pytest.CaptureFixture[str]) -> None:
    bench("graphalytics", "--scale", "6", "--runs", "1")
    out = capsys.readouterr().out
    assert all(f"{name} kron6" in out for name in graphalytics.ALGORITHMS)


def test_peers_run_beside_ours(capsys: pytest.CaptureFixture[str]) -> None:
    if "python-graphblas" not in peers.missing():
        # As other tests do: a process initializes it once, and always alike.
        peers.graphblas().init("suitesparse", blocking=True)
    bench("gap", "--scale", "5", "--graphs", "kron", "--trials", "2", "--kernels", "bfs,cc", "--peers", "--json")
    found = json.loads(capsys.readouterr().out)["rows"]
    installed = set(peers.PROGRAMS) - set(peers.missing())
    assert "SciPy" in installed
    for row in found:
        assert row["peers"].keys() == installed - ({"python-graphblas"} if row["kernel"].startswith("cc") else set())


def test_missing_peers_are_named_once(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(peers, "missing", lambda: [name for name in peers.PROGRAMS if name != "SciPy"])
    bench("gap", "--scale", "4", "--trials", "1", "--kernels", "cc", "--peers")
    captured = capsys.readouterr()
    assert (
        captured.err.count("not installed, not compared: python-graphblas, igraph, NetworKit, cuGraph, NetworkX") == 1
    )
    assert "SciPy" in captured.out


def test_a_peer_with_another_result_is_not_compared() -> None:
    ours = Contender(lambda _: 5)
    others = {"right": {"tc": (lambda _: 5, float)}, "wrong": {"tc": (lambda _: 6, float)}}
    mine, found, differ = peers.beside("tc", ours, float, others, range(6), "cpu")
    assert (len(mine.wall_ms), list(found), differ) == (6, ["right"], ["wrong"])


def test_arguments_are_prepared_outside_the_timing() -> None:
    made: list[int] = []
    contender = Contender(lambda x: x, lambda argument, x: None, lambda argument: made.append(argument) or -argument)
    compare({"": contender}, [3, 4], "cpu")
    assert made == [4, 4, 3, 3, 4]


def test_ceilings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bench("ceilings", "--output", str(tmp_path))
    assert "GB/s" in capsys.readouterr().out
    device = suite.default_device()
    found = rows_of(tmp_path / f"{machine.slug(device)}-bench-ceilings.jsonl")
    assert {"copy", "random gathers", "empty call of the library"} <= found.keys()
    assert all(row["value"] > 0 for row in found.values())


def test_least_bytes() -> None:
    assert ceilings.least_bytes("bfs", 10, 0) == 160
    assert ceilings.least_bytes("sssp", 10, 100, 4, 4) == 800 + 160
    assert ceilings.least_bytes("pr", 10, 100, steps=3) == 3 * (400 + 200)
    assert ceilings.least_bytes("construction", 10, 100, 4, 4) == 800 + 50 * 12 + 80


def test_files_are_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = rows.files_of(str(tmp_path / "a.txt"), "cpu", "gap")
    row = Row("x", "ms", 1.0, samples=(1.0,))
    rows.write(files, {"date": ""}, [row], "old\n")
    before = [path.read_text() for path in files]
    with pytest.raises(UnicodeEncodeError):
        rows.write(files, {"date": "new"}, [row, row], "\udc80")
    monkeypatch.setattr(sr.algorithms, "connected_components", interrupted)
    words = ["bench", "gap", "--scale", "4", "--trials", "1", "--kernels", "cc", "--output", str(files[0])]
    assert main(words) == 130
    assert [path.read_text() for path in files] == before
    assert sorted(tmp_path.iterdir()) == sorted(files)


def interrupted(*_: Any) -> None:
    """End a call as Ctrl-C does."""
    raise KeyboardInterrupt


def test_tables_of_a_gpu_have_both_times() -> None:
    peer = Peer("other", 3.0, samples=(3.0,))  # on the first argument, of 1 ms
    row = Row("bfs kron5", "ms", 2.0, peers=(peer,), samples=(1.0, 2.0, 3.0), device_samples=(0.5, 0.75, 1.0))
    assert "other 3" in rows.as_table([row])
    assert "0.75" in rows.as_table([row])
    assert Samples((1.0,)).device_median is None
    assert rows.as_table([Row("x", "ms", 1.0, samples=(1.0,))]).splitlines()[-1].split()[-4:] == ["-"] * 4


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["graph500", "--scale", "0"], 2, "expected a scale from 1 to 30, got '0'"),
        (["graph500", "--scales", "9-8"], 2, "expected two scales, as in 10-16, got '9-8'"),
        (["graph500", "--roots", "0"], 2, "expected a number from 1, got '0'"),
        (["graph500", "--seed", "-1"], 2, "expected a number from 0, got '-1'"),
        (["graph500", "--plot", "a.pdf"], 1, "--plot a.pdf: expected one of the extensions .png .svg"),
        (["graph500", "--plot", "a.png"], 2, "pass --scales A-B too"),
        (["graph500", "--output", "a.csv"], 1, "--output a.csv: expected a folder, or one of the extensions"),
        (["gap", "--graphs", "web"], 2, "no graphs 'web'; there are kron, urand"),
        (["gap", "--kernels", "bfs,kcore"], 2, "no kernels 'kcore'; there are bfs, sssp, pr, cc, bc, tc"),
        (["gap", "--files", ".", "--scale", "5"], 2, "pass --graphs too"),
        (["gap", "--files", "empty"], 1, "--files empty: expected graphs"),
        (["gap", "--files", "absent"], 1, "absent: No such file or directory"),
        (["graphalytics", "--files", "empty"], 1, "--files empty: expected data sets of Graphalytics"),
        (["graphalytics", "--files", "empty", "--scale", "5"], 2, "pass one of them"),
        (["graphalytics", "--files", "bad"], 1, "expected graph.x.edge-file"),
        (["graph501"], 2, "did you mean graph500?"),
    ],
)
def test_bad_input(
    words: list[str], code: int, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "x.properties").write_text("graph.x.directed = true\n")
    assert main(["bench", *words]) == code
    assert message in capsys.readouterr().err


@pytest.mark.costly
def test_bad_data_sets(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "x.e").write_text("1 2\n")
    known = "graph.x.directed = false\ngraph.x.edge-file = x.e\ngraph.x.algorithms = bfs\n"
    for more, message in (
        ("", "expected bfs.source-vertex"),
        ("graph.x.bfs.source-vertex = 3\n", "the vertex 3 of bfs.source-vertex has no line"),
    ):
        (tmp_path / "x.properties").write_text(known + more)
        assert main(["bench", "graphalytics", "--files", str(tmp_path)]) == 1
        assert message in capsys.readouterr().err
    (tmp_path / "x.properties").write_text(known + "graph.x.bfs.source-vertex = 1\n")
    for text, message in (("1 0\n", "a line for each of the 2 vertices"), ("1\n2\n", "lines of a vertex and a value")):
        (tmp_path / "x-BFS").write_text(text)
        assert main(["bench", "graphalytics", "--files", str(tmp_path)]) == 1
        assert message in capsys.readouterr().err


def test_a_graph_without_edges_has_no_source() -> None:
    with pytest.raises(ValueError, match="no source"):
        gap.gap(a_run(), "empty", sr.Matrix(np.int32, 4, 4), ["bfs"])
    with pytest.raises(NotSupported):
        rows.files_of("a.json", "cpu", "gap")
