"""Each command on a small graph: its output and its files agree with the library."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring.bridges.cli import kernels, main
from semiring.engines import registry
from semiring.worker_thread import processors

Run = Callable[..., Any]

#   0 - 1 - 3      5 - 6      7
#   |       |
#   2 ------+- 4
EDGES = [(0, 1), (0, 2), (1, 3), (2, 3), (2, 4), (5, 6)]


@pytest.fixture
def graph(tmp_path: Path) -> str:
    path = tmp_path / "small.mtx"
    body = "\n".join(f"{j + 1} {i + 1}" for i, j in EDGES)
    path.write_text(f"%%MatrixMarket matrix coordinate pattern symmetric\n8 8 {len(EDGES)}\n{body}\n")
    return str(path)


@pytest.fixture
def json_output(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command that succeeds; return what it printed as JSON."""

    def run(*words: str) -> Any:
        assert main([*words, "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    return run


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command that succeeds; return what it printed."""

    def run(*words: str) -> str:
        assert main(list(words)) == 0
        return capsys.readouterr().out

    return run


def test_bfs(graph: str, json_output: Run) -> None:
    found = json_output("bfs", graph, "--source", "0")
    assert (found["reached"], found["levels"], found["rows"]) == (5, 3, 8)
    assert found["vertices"] == [1, 2, 2]
    assert found["edges"] == [2, 5, 3]
    assert found["entries_traversed"] == 10
    assert len(found["directions"]) == 3


def test_bfs_starts_at_the_most_entries(graph: str, json_output: Run) -> None:
    assert json_output("bfs", graph)["source"] == 2


@pytest.mark.parametrize(("ending", "separator"), [("txt", " "), ("tsv", "\t"), ("csv", ",")])
def test_bfs_writes_levels(graph: str, printed: Run, tmp_path: Path, ending: str, separator: str) -> None:
    out = tmp_path / f"levels.{ending}"
    printed("bfs", graph, "--source", "0", "--out", str(out))
    lines = [line.split(separator) for line in out.read_text().splitlines()]
    assert lines == [["0", "0"], ["1", "1"], ["2", "1"], ["3", "2"], ["4", "2"]]


def test_bfs_writes_parents_to_standard_output(graph: str, printed: Run) -> None:
    lines = printed("bfs", graph, "--source", "4", "--parents", "--out", "-").splitlines()
    parents = dict(tuple(map(int, line.split())) for line in lines)
    assert parents[4] == 4
    assert parents[2] == 4
    assert parents[0] == parents[3] == 2
    assert parents[1] in (0, 3)
    assert len(parents) == 5


def test_bfs_writes_a_vector(graph: str, printed: Run, tmp_path: Path) -> None:
    out = str(tmp_path / "levels.srb")
    printed("bfs", graph, "--source", "0", "--out", out)
    assert sr.io.read(out).to_dict() == {0: 0, 1: 1, 2: 1, 3: 2, 4: 2}


def test_bfs_prints_and_draws(graph: str, printed: Run, tmp_path: Path) -> None:
    picture = tmp_path / "plot.png"
    text = printed("bfs", graph, "--source", "0", "--chart", "--plot", str(picture))
    assert "reached" in text
    assert "vertex frontier" in text
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("method", ["afforest", "fastsv"])
def test_components(graph: str, json_output: Run, method: str) -> None:
    found = json_output("components", graph, "--method", method)
    assert (found["components"], found["largest"], found["isolated"]) == (3, [5, 2, 1], 1)


def test_components_writes_labels(graph: str, printed: Run) -> None:
    lines = printed("components", graph, "--out", "-").splitlines()
    assert [int(line.split()[1]) for line in lines] == [0, 0, 0, 0, 0, 5, 5, 7]


def test_pagerank(graph: str, json_output: Run) -> None:
    top = json_output("pagerank", graph, "--top", "3")["top"]
    rank = sr.algorithms.pagerank(sr.io.read(graph)).to_numpy()
    assert [entry["vertex"] for entry in top] == np.lexsort((np.arange(8), -rank))[:3].tolist()
    assert top[0]["rank"] == pytest.approx(rank.max())


@pytest.mark.exhaustive
def test_pagerank_has_the_parameters_of_the_function(graph: str, json_output: Run, tmp_path: Path) -> None:
    A, out = sr.io.read(graph), str(tmp_path / "rank.srb")
    towards = sr.Vector.from_coo([1, 3], [1, 2], size=8)
    (tmp_path / "towards.txt").write_text("1 1\n3 2\n")
    vector = ["--personalization", str(tmp_path / "towards.txt")]
    for words, given in (
        (["--personalization", "2"], {"personalization": 2}),
        ([*vector, "--damping", "0.5"], {"personalization": towards, "damping": 0.5}),
        (["--dangling", "drop", "--weight"], {"dangling": "drop", "weight": True}),
        (["--dtype", "float32"], {"dtype": "float32"}),
    ):  # fmt: skip
        json_output("pagerank", graph, *words, "--out", out)
        assert sr.io.read(out).isclose(sr.algorithms.pagerank(A, **given), rel_tol=1e-12)


def test_pagerank_prints_a_table(graph: str, printed: Run) -> None:
    assert "vertex" in printed("pagerank", graph)


def test_info_of_a_file(graph: str, json_output: Run) -> None:
    facts = json_output("info", graph)
    assert facts["shape"] == [8, 8]
    assert facts["entries"] == 2 * len(EDGES)
    assert facts["symmetric"] is True
    assert facts["diagonal_entries"] == 0
    assert (facts["row_entries_min"], facts["row_entries_max"], facts["empty_rows"]) == (0, 3, 1)


def test_info_of_a_matrix_without_rows(json_output: Run, tmp_path: Path) -> None:
    path = str(tmp_path / "empty.srb")
    sr.io.write(path, sr.Matrix(bool, 0, 0))
    assert json_output("info", path)["entries"] == 0


def test_info_of_a_vector(json_output: Run, tmp_path: Path) -> None:
    path = str(tmp_path / "v.srb")
    sr.io.write(path, sr.Vector.from_coo([1, 3], [2.0, 4.0], size=5))
    facts = json_output("info", path)
    assert (facts["kind"], facts["shape"], facts["entries"]) == ("Vector", [5], 2)


def test_info_of_the_installation(printed: Run, json_output: Run) -> None:
    assert sr.__version__ in printed("info")
    assert json_output("info")["libraries"]["numpy"] == np.__version__


@pytest.mark.parametrize("engine", ["reference", "cpu"])
def test_the_printed_table_is_the_registry(engine: str) -> None:
    registry.load(engine)
    by_operation = sorted(registry.rows(engine), key=lambda row: (row.operation, -row.priority, row.function.__name__))
    read = sorted(kernels.rows(engine), key=lambda row: (row.operation, -row.priority, row.name))
    assert [(row.operation, row.name, row.fuses, row.about) for row in read] == [
        (row.operation, row.function.__name__, tuple(sorted(row.fuses)), row.about) for row in by_operation
    ]
    assert [bool(row.when) for row in read] == [row.when is not None for row in by_operation]


def test_conditions_are_shown_as_in_the_source() -> None:
    rows = [row for row in kernels.rows("cuda") if row.operation == "closure"]
    assert [row.name for row in rows] == ["closure_outofcore", "closure_level", "closure_relax"]
    assert rows[1].when == "q.final_on_arrival"
    assert rows[1].accepts == "ccsr csr in device pinned"
    assert all("lambda" not in row.when for row in rows)


def test_info_ops_lists_every_engine(json_output: Run, printed: Run) -> None:
    facts = json_output("info", "ops")
    engines = {row["engine"] for row in facts["operations"]}
    assert engines == {"reference", "cpu", "cuda", "any"}
    assert {"reference", "cpu"}.isdisjoint(facts["not_available"])
    named = {row["operation"] for row in facts["operations"] if row["engine"] == "reference"}
    assert {"mxv", "closure", "link", "write_vector"} <= named
    assert all(row["about"] for row in facts["operations"])
    shared = {(row["operation"], row["accepts"]) for row in facts["operations"] if row["engine"] == "any"}
    assert {("mxm", "ccsr csr in device pinned host"), ("mxm", "hypersparse in device pinned host")} <= shared
    assert "closure" in printed("info", "ops")


@pytest.mark.parametrize("ending", [".mtx", ".mtx.gz", ".npz", ".srb"])
def test_convert_keeps_the_matrix(graph: str, json_output: Run, tmp_path: Path, ending: str) -> None:
    there, back = str(tmp_path / f"there{ending}"), str(tmp_path / "back.mtx")
    assert json_output("convert", graph, there)["entries"] == 2 * len(EDGES)
    json_output("convert", there, back)
    assert sr.io.read(back).isequal(sr.io.read(graph))


@pytest.mark.parametrize("ending", [".wel", ".tsv.gz", ".gr", ".parquet"])
def test_convert_to_lists_of_edges(json_output: Run, tmp_path: Path, ending: str) -> None:
    if ending == ".parquet":
        pytest.importorskip("pyarrow")
    given, there = str(tmp_path / "given.wel"), str(tmp_path / f"there{ending}")
    Path(given).write_text("0 1 7\n2 0 5\n1 2 3\n")
    written = json_output("convert", given, there)
    assert (written["bytes_from"], written["bytes_to"]) == (os.path.getsize(given), os.path.getsize(there))
    assert sr.io.read(there).isequal(sr.io.read(given))


@pytest.mark.parametrize("kind", ["txt", "mtx", "srb"])
def test_standard_output_is_read_as_standard_input(
    kind: str, graph: str, json_output: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    piped, back = io.BytesIO(), str(tmp_path / "back.mtx")
    with monkeypatch.context() as patch:
        patch.setattr("sys.stdout", io.TextIOWrapper(piped))
        assert main(["convert", graph, "-", "--output-format", kind, "--no-progress"]) == 0
        sys.stdout.flush()
        content = piped.getvalue()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
    found = json_output("convert", "-", back, "--input-format", kind)
    assert found["bytes_from"] == len(content)
    assert sr.io.read(back).to_dicts() == sr.io.read(graph).to_dicts()


def test_a_graph_is_generated_to_standard_output(printed: Run, capsys: pytest.CaptureFixture[str]) -> None:
    assert printed("generate", "path", "3", "-") == "0 1\n1 0\n1 2\n2 1\n"
    assert main(["generate", "path", "3", "x.srb", "--output-format", "mtx"]) == 2
    assert main(["generate", "path", "3", "-", "--output-format", "sg"]) == 1
    assert "-: expected one of the extensions" in capsys.readouterr().err


def test_columns_of_a_table_are_chosen(json_output: Run, printed: Run, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("km;who;with\n1,5;ann;bob\n2;bob;eve\n4;bob;eve\n")
    columns = ("--relabel", "--source-column", "who", "--target-column", "2")
    words = ("convert", str(tmp_path / "a.csv"), "-", *columns)
    assert printed(*words, "--weight-column", "km", "--dup-op", "mean") == "ann bob 1.5\nbob eve 3.0\n"
    assert (
        printed(*words, "--weight-column", "0", "--dup-op", "last", "--header", "--sep", ";")
        == "ann bob 1.5\nbob eve 4.0\n"
    )
    (tmp_path / "b.tsv").write_text("!c\nu\tv\nann\tbob\n")
    words = ("info", str(tmp_path / "b.tsv"), "--relabel", "--comment", "!", "--sep", r"\t")
    assert json_output(*words, "--no-header")["entries"] == 2
    assert json_output(*words, "--header")["entries"] == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("info", "a.csv", "--source-column", "x", "--target-column", "1"), "--source-column x is not in the file"),
        (("info", "a.csv", "--no-header", "--source-column", "x", "--target-column", "1"), "has no names of columns"),
        (("info", "a.csv", "--source-column", "0"), "--target-column is missing"),
        (("info", "a.csv", "--sep", ",,"), "--sep: expected one character"),
        (("info", "a.mtx", "--sep", ","), "--sep is not an option of .mtx files"),
        (("info", "a.mtx", "--weight-column", "1"), "--weight-column is not an option of .mtx files"),
    ],
)
def test_wrong_columns_are_named_as_options(
    words: tuple[str, ...], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text("from,to\n0,1\n")
    assert main(list(words)) in (1, 2)
    assert message in capsys.readouterr().err


def test_convert_reads_with_the_given_options(json_output: Run, tmp_path: Path) -> None:
    listed = tmp_path / "edges.csv"
    listed.write_text("from,to,weight\n1,2,5\n1,2,3\n2,3,4\n")
    out = str(tmp_path / "edges.srb")
    json_output("convert", str(listed), out, "--base", "1", "--skip-lines", "1", "--dup-op", "min", "--symmetric")
    assert sr.io.read(out).to_dicts() == {0: {1: 3}, 1: {0: 3, 2: 4}, 2: {1: 4}}


@pytest.mark.parametrize(
    ("words", "rows", "entries"),
    [
        (["grid2d", "3", "4"], 12, 34),
        (["grid3d", "2", "2", "2"], 8, 24),
        (["path", "5"], 5, 8),
        (["star", "6"], 7, 12),
    ],
)
def test_generate_shapes(json_output: Run, tmp_path: Path, words: list[str], rows: int, entries: int) -> None:
    out = str(tmp_path / "made.srb")
    made = json_output("generate", *words, out)
    assert (made["shape"], made["entries"]) == ([rows, rows], entries)
    assert sr.io.read(out).nvals == entries


@pytest.mark.parametrize("words", [["rmat", "6"], ["kronecker", "6"], ["uniform", "50"]])
def test_generate_uses_the_seed(json_output: Run, tmp_path: Path, words: list[str]) -> None:
    first, same, other = (str(tmp_path / f"{name}.srb") for name in ("first", "same", "other"))
    for out, seed in ((first, "1"), (same, "1"), (other, "2")):
        json_output("generate", *words, out, "--seed", seed, "--edge-factor", "4")
    assert sr.io.read(first).isequal(sr.io.read(same))
    assert not sr.io.read(first).isequal(sr.io.read(other))
    assert sr.io.read(first).isequal(getattr(sr.random, words[0])(int(words[1]), 4, seed=1))


def test_generate_accepts_the_options_of_a_kind(json_output: Run, tmp_path: Path) -> None:
    out = str(tmp_path / "made.srb")
    json_output("generate", "rmat", "5", out, "--symmetric", "--no-loops", "--weights", "uniform")
    made = sr.io.read(out)
    assert made.dtype == np.int32
    assert made.is_symmetric_structure
    assert made.diag().nvals == 0


@pytest.mark.parametrize("codec", ["varint", "packed"])
def test_convert_compresses(graph: str, json_output: Run, tmp_path: Path, codec: str) -> None:
    there, back = str(tmp_path / "there.srb"), str(tmp_path / "back.mtx")
    made = json_output("convert", graph, there, "--compress", codec)
    assert made["codec"] == codec
    facts = json_output("info", there, "--placement", "pinned")
    assert (facts["format"], facts["codec"], facts["placement"]) == ("ccsr", codec, "pinned")
    assert facts["bits_an_entry"] == pytest.approx(8 * sr.io.read(there).nbytes / (2 * len(EDGES)))
    assert (facts["symmetric"], facts["row_entries_max"]) == (True, 3)
    json_output("convert", there, back)
    assert sr.io.read(back).isequal(sr.io.read(graph))


def test_info_distinguishes_uncompressed_and_compressed_files(graph: str, json_output: Run, printed: Run) -> None:
    facts = json_output("info", graph)
    assert (facts["format"], facts["codec"], facts["placement"]) == ("csr", None, "device")
    assert "bits an entry" in printed("info", graph)


@pytest.mark.parametrize(
    "form",
    [
        ["--compress", "packed", "--placement", "pinned"],
        ["--placement", "host"],
        ["--compress", "varint", "--placement", "auto", "--device-memory", "5.8GB"],
    ],
)
@pytest.mark.parametrize("trust", [True, False])
def test_commands_on_every_storage_kind(
    graph: str, json_output: Run, tmp_path: Path, form: list[str], trust: bool
) -> None:
    if trust:
        sr.io.write(tmp_path / "a.srb", sr.io.read(graph))
        graph, form = str(tmp_path / "a.srb"), [*form, "--trust"]
    found = json_output("bfs", graph, "--source", "0", *form)
    assert (found["reached"], found["vertices"], found["edges"]) == (5, [1, 2, 2], [2, 5, 3])
    assert json_output("components", graph, *form)["largest"] == [5, 2, 1]
    rank = sr.algorithms.pagerank(sr.io.read(graph)).to_numpy()
    assert json_output("pagerank", graph, *form)["top"][0]["rank"] == pytest.approx(rank.max())
    assert sr.config.device_memory is None


@pytest.mark.parametrize("trust", [True, False])
def test_device_memory_applies_while_a_command_runs(
    graph: str, json_output: Run, tmp_path: Path, trust: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int | None] = []
    for name in ("open", "read"):
        given = getattr(sr.io, name)
        monkeypatch.setattr(
            sr.io, name, lambda *a, given=given, **k: seen.append(sr.config.device_memory) or given(*a, **k)
        )
    sr.io.write(tmp_path / "a.srb", sr.io.read(graph))
    seen.clear()
    json_output("components", str(tmp_path / "a.srb"), "--device-memory", "5.8 GB", *(["--trust"] if trust else []))
    assert seen
    assert set(seen) == {5_800_000_000}
    assert sr.config.device_memory is None


def test_symmetric_is_applied_before_compression(json_output: Run, tmp_path: Path) -> None:
    listed, out = tmp_path / "edges.el", str(tmp_path / "edges.srb")
    listed.write_text("0 1\n1 2\n")
    assert json_output("convert", str(listed), out, "--symmetric", "--compress", "packed")["codec"] == "packed"
    assert sr.io.read(out).nvals == 4


@pytest.mark.costly
def test_warm(json_output: Run, printed: Run, tmp_path: Path) -> None:
    with sr.config.set(cache_dir=tmp_path):
        found = json_output("warm", "degree_order", "--device", "cpu", "--no-progress")
        assert (found["device"], list(found["algorithms"])) == ("cpu", ["degree_order"])
        # One for four recorded kernels.
        assert found["processes"] == min(-(-found["kernels_compiled"] // 4), len(processors()), 16)
        assert found["kernels_compiled"] == found["algorithms"]["degree_order"] > 0
        assert "kernels compiled  0\n" in printed("warm", "degree_order", "--device", "cpu", "--no-progress")


def test_cache(json_output: Run, printed: Run, tmp_path: Path) -> None:
    (tmp_path / "cuda").mkdir()
    (tmp_path / "cuda" / f"{'0a' * 32}.bin").write_bytes(b"0123")
    with sr.config.set(cache_dir=tmp_path):
        facts = {
            "kernel_cache": str(tmp_path),
            "removed": False,
            "kernels": 1,
            "files": 1,
            "bytes": 4,
            "kernels_in_packs": 0,
        }
        assert json_output("cache") == facts
        shown = json_output("info")
        assert (shown["kernel_cache_kernels"], shown["kernel_cache_files"], shown["kernel_cache_bytes"]) == (1, 1, 4)
        assert shown["quiet"] is False
        assert "removed           yes" in printed("cache", "--clear")
        assert json_output("cache")["files"] == 0
