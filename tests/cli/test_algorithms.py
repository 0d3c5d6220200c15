"""The commands made of the functions of `semiring.algorithms`: options, results, files, standard input, ids."""

from __future__ import annotations

import inspect
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring import Matrix, Vector
from semiring.bridges.cli import algorithms, main, report
from semiring.bridges.cli.parameters import options_of
from semiring.bridges.cli.result_table import Outcome
from semiring.exceptions import SemiringError
from tests import sampling

EDGES = [(0, 1, 3), (0, 2, 1), (1, 2, 5), (1, 3, 2), (2, 3, 4), (4, 5, 1), (3, 6, 7)]


@pytest.fixture
def graph(tmp_path: Path) -> str:
    path = tmp_path / "small.mtx"
    body = "\n".join(f"{j + 1} {i + 1} {w}" for i, j, w in EDGES)
    path.write_text(f"%%MatrixMarket matrix coordinate integer symmetric\n8 8 {len(EDGES)}\n{body}\n")
    return str(path)


@pytest.fixture
def as_json(capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    def run(*words: str) -> Any:
        assert main([*words, "--json", "--no-progress"]) == 0
        return strictly(capsys.readouterr().out)

    return run


def strictly(text: str) -> Any:
    """Read JSON, which has neither NaN nor infinities: Python's reader accepts them."""

    def refuse(constant: str) -> None:
        pytest.fail(f"{constant} is not JSON: {text[:300]}")

    return json.loads(text, parse_constant=refuse)


def test_every_function_has_a_command() -> None:
    without = {"bfs_levels", "bfs_parents", "bfs_trace", "connected_components", "pagerank"}  # in modules of their own
    of_a_matrix = {
        name
        for name in sr.algorithms.__all__
        if inspect.isfunction(found := getattr(sr.algorithms, name))
        and next(iter(inspect.signature(found).parameters)) == "A"
    }
    commands = {name.replace("-", "_") for name in algorithms.functions()}
    assert commands == of_a_matrix - without
    functions = {name for name in sr.algorithms.__all__ if inspect.isfunction(getattr(sr.algorithms, name))}
    # They accept a matrix for each label of a graph, which no file holds.
    assert functions - of_a_matrix == {"context_free_path_query", "regular_path_query"}


COMMANDS = sorted(algorithms.functions())
SAMPLE = sampling.draw("commands", COMMANDS, 6)


def options_for(name: str) -> tuple[list[str], dict[str, Any]]:
    """Options of a command and arguments of its function, for all that have no default."""
    function = algorithms.functions()[name]
    words: list[str] = []
    given: dict[str, Any] = {}
    for option in algorithms.options_of(function) or []:
        if option.kind == "vertex":
            words += [option.flag, "1"]
            given[option.name] = 1
        elif (
            option.default is None
            and inspect.signature(function).parameters[option.name].default is inspect.Parameter.empty
        ):
            known: dict[str, Any] = {"int": 2, "float": 0.5, "str": "any", "vertices": [1, 3], "integers": [2, 1]}
            value = known.get(option.kind)
            if value is None:
                pytest.skip(f"{name} needs a file for {option.name}")
            words += [option.flag, ",".join(map(str, value)) if isinstance(value, list) else str(value)]
            given[option.name] = value
    return words, given


@pytest.mark.costly
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=sampling.marks(name, SAMPLE, pytest.mark.wide)) for name in COMMANDS]
)
def test_a_command_is_its_function(name: str, graph: str, capsys: pytest.CaptureFixture[str]) -> None:
    function, A = algorithms.functions()[name], sr.io.read(graph)
    words, given = options_for(name)
    expected, refusal = None, ""
    try:
        expected = Outcome(function(A, **given), function.__name__).wait()
    except SemiringError as error:
        refusal = str(error).splitlines()[0]
    if expected is None:
        assert main([name, graph, *words, "--json", "--no-progress"]) == 1
        shown = capsys.readouterr().err
        fault, _, remedy = refusal.partition(";")  # the remedy is in the words of the shell
        assert fault in shown
        assert not remedy or ";" in shown
        assert "(A" not in shown
        return
    assert main([name, graph, *words, "--json", "--no-progress"]) == 0
    found = strictly(capsys.readouterr().out)
    assert found["rows"] == 8
    report.emit(expected.facts, as_json=True)
    for fact, shown in strictly(capsys.readouterr().out).items():
        assert found[fact] == pytest.approx(shown) if isinstance(shown, float) else found[fact] == shown
    if "top" in found:
        assert len(found["top"]) == min(10, expected.table().order.size)


@pytest.mark.costly
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=sampling.marks(name, SAMPLE, pytest.mark.wide)) for name in COMMANDS]
)
@pytest.mark.parametrize("weights", [[], [np.inf, 2.0], [np.nan, 2.0]], ids=["no edges", "infinity", "NaN"])
def test_json_of_results_that_are_not_finite(
    name: str, weights: list[float], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    i, j = [0, 1, 1, 2][: 2 * len(weights)], [1, 0, 2, 1][: 2 * len(weights)]
    path = str(tmp_path / "small.srb")
    sr.io.write(path, Matrix.from_coo(i, j, np.repeat(weights, 2), shape=(4, 4)))
    if main([name, path, *options_for(name)[0], "--json", "--no-progress"]) == 0:
        strictly(capsys.readouterr().out)


def test_json_names_numbers_that_are_not_finite(as_json: Callable[..., Any], tmp_path: Path) -> None:
    path = str(tmp_path / "small.srb")
    sr.io.write(path, Matrix.from_coo([0, 1, 1], [1, 2, 3], [1.0, np.inf, 2.0], shape=(4, 4)))
    found = as_json("sssp", path, "--source", "0")
    assert {row["vertex"]: row["value"] for row in found["top"]} == {0: 0.0, 1: 1.0, 2: "Infinity", 3: 3.0}
    assert found["largest"] == "Infinity"
    sr.io.write(path, Matrix(float, 3, 3))
    assert "NaN" in as_json("reciprocity", path).values()


def test_emitted_values(capsys: pytest.CaptureFixture[str]) -> None:
    facts = {
        "numbers": [
            np.float32("inf"),
            -np.inf,
            np.float64("nan"),
            1.5,
            np.int8(3),
            np.uint64(2**63),
            True,
            np.bool_(0),
        ],
        "parts": ({"x": float("nan"), "y": None}, (1, "inf")),
        "value": 1 + 2j,
    }
    report.emit(facts, as_json=True)
    assert strictly(capsys.readouterr().out) == {
        "numbers": ["Infinity", "-Infinity", "NaN", 1.5, 3, 2**63, True, False],
        "parts": [{"x": "NaN", "y": None}, [1, "inf"]],
        "value": "(1+2j)",
    }


def test_the_table_has_the_largest_first(graph: str, as_json: Callable[..., Any]) -> None:
    found = as_json("sssp", graph, "--source", "0", "--top", "2")
    assert found["top"] == [{"vertex": 6, "value": 12}, {"vertex": 3, "value": 5}]
    assert (found["entries"], found["smallest"], found["largest"], found["distinct_values"]) == (5, 0, 12, 5)


def test_help_is_the_docstring(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reverse-cuthill-mckee", "--help"]) == 0
    assert "small bandwidth" in " ".join(capsys.readouterr().out.split())


@pytest.mark.costly
def test_ids_of_the_file(as_json: Callable[..., Any], capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "named.el"
    path.write_text("10 20\n20 30\n30 10\n50 10\n")
    found = as_json("sssp", str(path), "--relabel", "--source", "50")
    assert {row["vertex"]: row["value"] for row in found["top"]} == {50: 0, 10: 1, 20: 2, 30: 3}
    assert as_json("bfs", str(path), "--relabel", "--source", "50")["source"] == 50
    assert {row["vertex"] for row in as_json("pagerank", str(path), "--relabel")["top"]} == {10, 20, 30, 50}
    assert [row["value"] for row in as_json("degree-order", str(path), "--relabel")["top"]] == [10, 20, 30, 50]
    assert main(["sssp", str(path), "--relabel", "--source", "50", "--out", "-", "--no-progress"]) == 0
    assert capsys.readouterr().out == "10 1\n20 2\n30 3\n50 0\n"
    assert main(["sssp", str(path), "--relabel", "--source", "11", "--no-progress"]) == 1
    assert "no vertex is labeled 11" in capsys.readouterr().err


def test_names_of_the_file(as_json: Callable[..., Any], capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "named.csv"
    path.write_text('from,to,km\n"Berlin, Mitte",Potsdam,3.5\nPotsdam,Wannsee,2\n')
    found = as_json("sssp", str(path), "--relabel", "--source", "Berlin, Mitte")
    assert {row["vertex"]: row["value"] for row in found["top"]} == {"Berlin, Mitte": 0, "Potsdam": 3.5, "Wannsee": 5.5}
    assert as_json("bfs", str(path), "--relabel", "--source", "Potsdam")["source"] == "Potsdam"
    assert main(["sssp", str(path), "--relabel", "--source", "Potsdm", "--no-progress"]) == 1
    assert "did you mean 'Potsdam'" in capsys.readouterr().err


def test_relabel_needs_an_edge_list(graph: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sssp", graph, "--relabel"]) == 2
    assert "--relabel is an option of edge lists; names in .mtx files are read without it" in capsys.readouterr().err


def test_standard_input(
    graph: str, as_json: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def given(content: bytes) -> None:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))

    given(b"0 1\n1 2\n")
    assert as_json("bfs", "-", "--source", "0")["reached"] == 3
    given(Path(graph).read_bytes())
    assert as_json("sssp", "-", "--input-format", "mtx", "--source", "0")["largest"] == 12
    given(b"")
    assert main(["bfs", "-", "--input-format", "xyz"]) == 2
    assert main(["bfs", graph, "--input-format", "mtx"]) == 2
    assert "standard input: pass - as FILE" in capsys.readouterr().err


def test_lists_of_vertices(as_json: Callable[..., Any], graph: str, tmp_path: Path) -> None:
    out = tmp_path / "levels.csv"
    found = as_json("bfs", graph, "--sources", "0, 5", "--out", str(out))
    levels = sr.algorithms.bfs_levels(sr.io.read(graph), [0, 5], nearest=True).to_dict()
    assert (found["sources"], found["reached"], found["levels"]) == (2, 7, 4)
    assert {
        int(row): int(level) for row, level in map(str.split, out.read_text().replace(",", " ").splitlines())
    } == levels
    path = tmp_path / "named.csv"
    path.write_text('from,to\n"Berlin, Mitte",Potsdam\nPotsdam,Wannsee\n')
    found = as_json("bfs", str(path), "--relabel", "--sources", '"Berlin, Mitte",Wannsee', "--out", str(out))
    assert out.read_text().splitlines() == ['"Berlin, Mitte",0', "Potsdam,1", "Wannsee,0"]
    assert main(["bfs", graph, "--sources", "0,x"]) == 2
    assert main(["bfs", graph, "--sources", "0,1", "--chart"]) == 2


@pytest.mark.exhaustive
def test_several_results(as_json: Callable[..., Any], graph: str) -> None:
    found = as_json("sample-neighbors", graph, "--vertices", "0,1", "--sizes", "2,1")
    layers = sr.algorithms.sample_neighbors(sr.io.read(graph), [0, 1], [2, 1])
    assert [found[f"part_{k}_entries"] for k in (0, 1)] == [layer.nvals for layer in layers]
    assert main(["sample-neighbors", graph, "--vertices", "0", "--sizes", "2,x"]) == 2


@pytest.mark.exhaustive
def test_a_type_of_floats(as_json: Callable[..., Any], graph: str) -> None:
    exact, rounded = (as_json("katz-centrality", graph, *words) for words in ([], ["--dtype", "float32"]))
    assert exact["largest"] != rounded["largest"] == pytest.approx(exact["largest"], rel=1e-5)


@pytest.mark.exhaustive
def test_pairs_of_a_file(as_json: Callable[..., Any], graph: str, tmp_path: Path) -> None:
    (tmp_path / "pairs.el").write_text("0 3\n3 2\n")
    found = as_json("jaccard", graph, "--pairs", str(tmp_path / "pairs.el"))
    A = sr.io.read(graph)
    expected = sr.algorithms.jaccard(A, pairs=Matrix.from_coo([0, 3], [3, 2], True, shape=A.shape)).to_coo()
    assert {(row["row"], row["column"], row["value"]) for row in found["top"]} == set(zip(*expected, strict=True))
    (tmp_path / "named.el").write_text("a b\nc b\nb d\n")
    (tmp_path / "named_pairs.el").write_text("c a\n")
    found = as_json(
        "common-neighbors", str(tmp_path / "named.el"), "--relabel", "--pairs", str(tmp_path / "named_pairs.el")
    )
    assert found["top"] == [{"row": "c", "column": "a", "value": 1}]
    (tmp_path / "pairs.mtx").write_text("%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 1\n")
    assert main(["jaccard", graph, "--pairs", str(tmp_path / "pairs.mtx")]) == 1


def test_options_of_a_function() -> None:
    """Choices and help are those of the docstring; types that the placeholder shows are left out."""
    options = {option.name: option for option in options_of(sr.algorithms.sssp) or []}
    assert options["method"].choices == ("auto", "delta_stepping", "bellman_ford")
    assert options["method"].help == "See Notes; all have the same result"
    assert options["cutoff"].help == "Return distances of at most this only"
    assert (options["source"].required, options["method"].required) == (True, False)
    commands = algorithms.functions().values()
    assert all(option.help for function in commands for option in options_of(function) or [] if option.kind != "dtype")


def test_parts_of_a_result() -> None:
    v, A = Vector.from_coo([1, 2], [5, 5], size=3), Matrix.from_coo([0], [1], [2.5], nrows=2, ncols=2)
    both = Outcome((v, A, 3))
    assert both.facts["part_2"] == 3
    assert both.facts["part_0_entries"] == 2
    assert both.facts["part_1_shape"] == [2, 2]
    assert (both.table().head, both.table().rows(slice(None))) == (["position", "value"], [(1, 5), (2, 5)])
    A.row_labels, A.column_labels = sr.Labels(["ann", "bob"]), sr.Labels([7, 9])
    of_edges = Outcome(A, "complement").table()
    assert (of_edges.head, of_edges.rows(slice(None))) == (["row", "column", "value"], [("ann", 9, 2.5)])
    assert Outcome(v.reduce("plus")).facts == {"value": 10}
    assert Outcome(4).table().rows([0]) == [("value", 4)]
    assert Outcome(None).facts == {"value": None}


def test_vectors_of_files(tmp_path: Path) -> None:
    from semiring.bridges.cli.results import load_vector, save

    v, graph = Vector.from_coo([0, 3], [2, 5], size=4), Matrix(bool, 4, 4)
    for name in ("v.txt", "v.csv", "v.srb"):
        save(str(tmp_path / name), Outcome(v))
        assert load_vector(str(tmp_path / name), graph).isequal(v)
    (tmp_path / "wrong.txt").write_text("0 1 2\n")
    with pytest.raises(SemiringError, match="found 3 columns"):
        load_vector(str(tmp_path / "wrong.txt"), graph)
    with pytest.raises(SemiringError, match="expected a Vector of size 5"):
        load_vector(str(tmp_path / "v.srb"), Matrix(bool, 5, 5))


def test_a_matrix_as_text(tmp_path: Path) -> None:
    from semiring.bridges.cli.results import save

    A = Matrix.from_coo([0, 1], [1, 0], [0.5, 2.0], nrows=2, ncols=2)
    save(str(tmp_path / "A.tsv"), Outcome(A))
    assert (tmp_path / "A.tsv").read_text() == "0\t1\t0.5\n1\t0\t2.0\n"
