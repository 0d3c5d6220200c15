"""Vertices with names: every command prints names for vertices, in tables, facts and files, and nowhere else.

The graphs exist twice: with the names v0, v1, ... of `--relabel`, and with numbers.  The rule of the test is its own:
all positions are vertices and no values are, apart from the lists below.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring import Labels, Matrix, Vector
from semiring.bridges.cli import algorithms, main
from semiring.bridges.cli.graphs import row_of
from semiring.bridges.cli.parameters import options_of
from semiring.bridges.cli.result_table import Outcome
from semiring.bridges.cli.results import load_vector, save
from semiring.exceptions import InvalidFormat, InvalidValue
from tests import sampling

UNDIRECTED = [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (3, 4), (5, 6)]
ACYCLIC = [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4), (2, 5), (5, 6)]
BIPARTITE = [(0, 4), (0, 5), (1, 4), (2, 5), (2, 6), (3, 6)]

POSITIONS = {  # the columns of these commands that count something else than vertices
    "bfs-order": ["position"],
    "coarsen": ["row", "column"],
    "condensation": ["row", "column"],
    "degree-histogram": ["position"],
    "degree-order": ["position"],
    "generalized-degree": ["column"],
    "graphlet-degrees": ["column"],
    "incidence-matrix": ["column"],
    "line-graph": ["row", "column"],
    "locality-order": ["position"],
    "node2vec-walks": ["row", "column"],
    "random-walks": ["row", "column"],
    "reverse-cuthill-mckee": ["position"],
    "rich-club": ["position"],
    "sample-neighbors": ["part"],
    "topological-order": ["position"],
}
VERTICES = {  # the commands whose values are vertices
    *("bfs-order", "degree-order", "locality-order", "reverse-cuthill-mckee", "topological-order"),
    *("random-walks", "node2vec-walks", "label-propagation", "strongly-connected-components"),
    *("maximal-matching", "maximum-bipartite-matching", "lowest-common-ancestor"),
}
# Without names, the vertices of this result are numbered in the order of `--vertices`.
RENUMBERED = {"induced-subgraph": [3, 1]}
NUMBERS = ("length", "part")
WORDS = {"int": "2", "float": "0.5", "str": "any", "integers": "2,1"}

COMMANDS = sorted({*algorithms.functions(), "pagerank"})
SAMPLE = sampling.draw("names of commands", COMMANDS, 6)


@pytest.fixture
def graphs(tmp_path: Path) -> list[list[list[str]]]:
    """Return the words that name each graph: without names, and with them."""
    made = []
    for at, (edges, options) in enumerate(((UNDIRECTED, ["--symmetric"]), (ACYCLIC, []), (BIPARTITE, ["--symmetric"]))):
        numbers, names = tmp_path / f"{at}.wel", tmp_path / f"{at}.csv"
        numbers.write_text("".join(f"{i} {j} 1\n" for i, j in edges))
        names.write_text("".join(f"v{i},v{j},1\n" for i, j in edges))
        made.append([[str(numbers), *options], [str(names), "--relabel", *options]])
    return made


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., str | None]:
    def called(*words: str) -> str | None:
        code = main([*words, "--no-progress"])
        printed = capsys.readouterr().out
        return printed if code == 0 else None

    return called


def options(command: str, named: bool, tmp_path: Path) -> list[str]:
    function = sr.algorithms.pagerank if command == "pagerank" else algorithms.functions()[command]
    words = ["--top", "100"]
    ends = iter((3, 4))
    v = "v" if named else ""
    for option in options_of(function) or []:
        if option.kind == "vertex":
            words += [option.flag, f"{v}{next(ends)}"]
        elif option.kind == "vector" and option.required:
            file = tmp_path / f"{option.name}{named}.txt"
            file.write_text("".join(f"{v}{k} {v}{k - k % 2}\n" for k in range(7)))
            words += [option.flag, str(file)]
        elif option.required:
            words += [option.flag, WORDS.get(option.kind, f"{v}3,{v}1")]
    return words


@pytest.mark.costly
@pytest.mark.parametrize(
    "command", [pytest.param(name, marks=sampling.marks(name, SAMPLE, pytest.mark.wide)) for name in COMMANDS]
)
def test_names_are_printed_for_vertices_and_nowhere_else(
    command: str, graphs: list[list[list[str]]], run: Callable[..., str | None], tmp_path: Path
) -> None:
    for plain, named in graphs:
        of_numbers = run(command, *plain, *options(command, False, tmp_path), "--json")
        of_names = run(command, *named, *options(command, True, tmp_path), "--json")
        assert (of_numbers is None) == (of_names is None)
        if of_numbers is None or of_names is None:
            continue
        expected, found = json.loads(of_numbers), json.loads(of_names)
        for facts in (expected, found):
            del facts["ms"], facts["file"]
        expected["top"] = [named_row(command, row) for row in expected.get("top", [])]
        ends = {"source", "target", "u", "v"} | ({"value"} if command in VERTICES else set())
        expected |= {end: name(expected[end]) for end in ends & set(expected)}
        assert found | {"top": found.get("top", [])} == expected
        lines, text = (run(command, *words, *options(command, words is named, tmp_path), "--out", "-")
                       for words in (plain, named))  # fmt: skip
        if expected["top"]:
            assert lines is not None
            assert text is not None
            assert sorted(text.split("\n")) == sorted(named_line(command, list(expected["top"][0]), lines.split("\n")))
        return
    pytest.fail(f"{command} refuses every graph")


def name(vertex: int | None) -> str | None:
    assert vertex is None or isinstance(vertex, int)
    return None if vertex is None else f"v{vertex}"


def is_vertex(command: str, column: str) -> bool:
    if column in ("value", "rank"):
        return command in VERTICES
    return column not in (*NUMBERS, *POSITIONS.get(command, []))


def named_row(command: str, row: dict[str, Any]) -> dict[str, Any]:
    assert ("position" in row) == ("position" in POSITIONS.get(command, []))
    named = dict(row)
    for column, value in row.items():
        if isinstance(value, list):
            named[column] = [name(vertex) for vertex in value]
        elif is_vertex(command, column):
            named[column] = name(RENUMBERED.get(command, range(7))[value])
    return named


def named_line(command: str, head: list[str], lines: list[str]) -> list[str]:
    if head[-1] == "vertices":  # the rest of the line
        head = head[:-1] + ["vertices"] * 7
    return [
        " ".join(
            f"{name(RENUMBERED.get(command, range(7))[int(word)])}" if is_vertex(command, column) else word
            for column, word in zip(head, line.split(), strict=False)
        )
        for line in lines
    ]


def test_the_lists_are_of_commands() -> None:
    assert (POSITIONS.keys() | VERTICES) <= set(COMMANDS)


CITIES = ["Berlin, Mitte", "Zürich", "a b", "# c", " lead", "02134", "2134", "nan", 'x"y', "plain", ""]


@pytest.mark.parametrize("ending", ["csv", "tsv"])
def test_files_of_names_are_read_back(ending: str, tmp_path: Path) -> None:
    A, path = Matrix(bool, len(CITIES), len(CITIES)), str(tmp_path / f"v.{ending}")
    A.labels = Labels(CITIES)
    v = Vector.from_coo(range(len(CITIES)), np.arange(len(CITIES)) / 2, size=A.nrows)
    v.labels = A.labels
    save(path, Outcome(v))
    assert load_vector(path, A).isequal(v)
    parents = Vector.from_coo(range(len(CITIES)), np.arange(len(CITIES))[::-1].copy(), size=A.nrows)
    parents.labels = parents.value_labels = A.labels
    save(path, Outcome(parents, "bfs_parents"))
    assert load_vector(path, A).isequal(parents)
    Path(path).write_text("nowhere\t1\n" if ending == "tsv" else "nowhere,1\n")
    with pytest.raises(InvalidFormat, match="no vertex is labeled 'nowhere'"):
        load_vector(path, A)


@pytest.mark.parametrize("name", [name for name in CITIES if name not in ("Zürich", "plain")])
def test_names_that_need_quotes(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    v = Vector.from_coo([0, 1], [1, 2], size=2)
    v.labels = Labels([name, "Zürich"])
    with pytest.raises(InvalidValue, match=r"needs quotes.*write a .csv or a .tsv"):
        save(str(tmp_path / "v.txt"), Outcome(v))
    assert not (tmp_path / "v.txt").exists()
    save("-", Outcome(v))
    assert list(csv.reader(capsys.readouterr().out.splitlines(), delimiter=" ")) == [[name, "1"], ["Zürich", "2"]]


def test_a_name_that_looks_like_a_number() -> None:
    A = Matrix.from_coo([0, 0, 1], [1, 2, 2], True, shape=(3, 3))
    A.labels = Labels(["02134", "2134", "max-degree"])
    assert [row_of(A, word) for word in ("02134", "2134", "max-degree")] == [0, 1, 2]
    A.labels = Labels([5, 7, -2])
    assert [row_of(A, word) for word in ("7", "-2", "max-degree")] == [1, 2, 0]
    with pytest.raises(InvalidValue, match="no vertex is labeled 0"):
        row_of(A, "0")
    assert row_of(A.unlabeled(), "2") == 2


@pytest.mark.parametrize("command", ["sssp", "bfs", pytest.param("descendants", marks=pytest.mark.costly)])
def test_the_chosen_source_is_printed(
    command: str, graphs: list[list[list[str]]], run: Callable[..., str | None]
) -> None:
    plain, named = graphs[1]
    assert json.loads(run(command, *plain, "--json") or "")["source"] == 0
    assert json.loads(run(command, *named, "--json") or "")["source"] == "v0"
    assert "source" in (text := run(command, *named) or "")
    assert "v0" in text.split()


def test_a_vertex_has_no_separators_of_thousands(run: Callable[..., str | None], tmp_path: Path) -> None:
    (tmp_path / "a.el").write_text("1000017 5\n")
    for command in ("bfs", "sssp"):
        assert "1000017" in (run(command, str(tmp_path / "a.el"), "--relabel") or "").split()


def test_files_of_the_commands_of_their_own(graphs: list[list[list[str]]], run: Callable[..., str | None]) -> None:
    (_, undirected), (_, acyclic), _ = graphs
    assert run("bfs", *acyclic, "--source", "v2", "--out", "-") == "v2 0\nv3 1\nv4 2\nv5 1\nv6 2\n"
    parents = "v2 v2\nv3 v2\nv4 v3\nv5 v2\nv6 v5\n"
    assert run("bfs", *acyclic, "--source", "v2", "--parents", "--out", "-") == parents
    components = run("components", *undirected, "--out", "-")
    assert components == "".join(f"v{row} v{row // 5 * 5}\n" for row in range(7))


@pytest.mark.costly
def test_paths(graphs: list[list[list[str]]], run: Callable[..., str | None], tmp_path: Path) -> None:
    (_, named), ends = graphs[0], ["--source", "v0", "--target", "v4"]
    found = json.loads(run("k-shortest-paths", *named, *ends, "--k", "9", "--json") or "")
    assert found["paths"] == len(found["top"]) == 4
    assert [path["length"] for path in found["top"]] == [3, 3, 4, 4]
    assert found["top"][0] in ({"length": 3, "vertices": ["v0", v, "v3", "v4"]} for v in ("v1", "v2"))
    out = tmp_path / "paths.csv"
    assert run("k-shortest-paths", *named, *ends, "--k", "9", "--out", str(out)) is not None
    assert {line.count(",") for line in out.read_text().splitlines()} == {4, 5}
    assert all(line.startswith(("3,v0,", "4,v0,")) for line in out.read_text().splitlines())
    assert run("shortest-path", *named, *ends, "--out", "-") in ("v0 v1 v3 v4\n", "v0 v2 v3 v4\n")
    table = run("shortest-path", *named, *ends) or ""
    assert table.splitlines()[-1].strip() in ("v0 v1 v3 v4", "v0 v2 v3 v4")
    for command in ("shortest-path", "k-shortest-paths"):
        nowhere = [command, *named, "--source", "v0", "--target", "v5", *(["--k", "2"] if command[0] == "k" else [])]
        found = json.loads(run(*nowhere, "--json") or "")
        assert (found["paths"], found["top"]) == (0, [])
        assert run(*nowhere, "--out", "-") == ""
        assert run(*nowhere, "--out", str(tmp_path / "paths.srb")) is None


def test_numbers_by_name(graphs: list[list[list[str]]], run: Callable[..., str | None], tmp_path: Path) -> None:
    words = ["lowest-common-ancestor", *graphs[1][1], "--u", "v6", "--v"]
    assert json.loads(run(*words, "v4", "--json") or "")["value"] == "v2"
    assert run(*words, "v4", "--out", "-") == "value v2\n"
    _, named = graphs[0]
    found = json.loads(run("lowest-common-ancestor", *graphs[1][1], "--u", "v6", "--v", "v6", "--json") or "")
    assert found["value"] == "v6"
    assert run("density", *named, "--out", str(tmp_path / "x.srb")) is None


def test_no_value_is_printed(run: Callable[..., str | None], tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("source,target\na,b\nc,d\n")
    words = ["lowest-common-ancestor", str(tmp_path / "a.csv"), "--relabel", "--u", "a", "--v", "c"]
    assert (run(*words) or "").split()[-2:] == ["value", "none"]
    assert json.loads(run(*words, "--json") or "")["value"] is None


@pytest.mark.costly
def test_rows_and_columns_with_names_of_their_own(
    run: Callable[..., str | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    A = Matrix.from_coo([0, 1], [2, 0], [5, 6], shape=(2, 3))
    A.row_labels, A.column_labels = Labels(["ann", "bob"]), Labels(["tea", "milk", "rice"])
    monkeypatch.setattr(sr.io, "read", lambda *_, **__: A)
    found = json.loads(run("maximum-bipartite-matching", "users.srb", "--json") or "")
    assert found["top"] == [{"vertex": "ann", "value": "rice"}, {"vertex": "bob", "value": "tea"}]
    assert run("maximum-bipartite-matching", "users.srb", "--out", "-") == "ann rice\nbob tea\n"


def test_names_that_a_file_has_itself(run: Callable[..., str | None], tmp_path: Path) -> None:
    (tmp_path / "a.gml").write_text(
        'graph [ directed 1 node [ id 7 label "ann" ] node [ id 9 label "bob" ] edge [ source 7 target 9 ] ]'
    )
    found = json.loads(run("sssp", str(tmp_path / "a.gml"), "--source", "ann", "--json") or "")
    assert found["top"] == [{"vertex": "bob", "value": 1}, {"vertex": "ann", "value": 0}]


def test_an_order_of_names(graphs: list[list[list[str]]], run: Callable[..., str | None], tmp_path: Path) -> None:
    """The values of `--order` are vertices, of integer names too; those of `--labels` may be names."""
    (tmp_path / "a.el").write_text("10 20\n20 30\n")
    (tmp_path / "order.csv").write_text("10,30\n20,20\n30,10\n")
    words = [str(tmp_path / "a.el"), "--relabel", "--symmetric", "--order", str(tmp_path / "order.csv")]
    found = json.loads(run("coloring", *words, "--json") or "")
    assert {row["vertex"]: row["value"] for row in found["top"]} == {10: 0, 20: 1, 30: 0}
    plain, named = graphs[0]
    written = str(tmp_path / "components.csv")
    assert run("components", *named, "--out", written) is not None
    expected = sr.io.read(plain[0])
    expected = expected.ewise_add(expected.T.new(), "any").new()
    quality = sr.algorithms.modularity(expected, sr.algorithms.connected_components(expected))
    found = json.loads(run("modularity", *named, "--labels", written, "--json") or "")
    assert found["value"] == pytest.approx(quality)
