from __future__ import annotations

import json
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring import Matrix
from semiring.exceptions import DuplicateIndex, IgnoredColumns, InvalidFormat, InvalidValue, LostWeights
from semiring.io.adjacency_lists import parse_graph_txt, parse_metis
from semiring.io.dimacs import parse_dimacs
from semiring.io.edge_lists import edges_to_matrix, labels_of, parse_edgelist
from semiring.io.files import extension, read_bytes
from semiring.io.gap import parse_sg
from semiring.io.graphalytics import load_graphalytics
from semiring.io.jlg import parse_jlg
from semiring.io.matrix_market import parse_matrix_market
from semiring.io.triples import Triples
from tests.io.arrays import DATA, entries, needs_data, simple_facts, text

TRUTH: dict[str, Any] = json.loads((DATA / "truth.json").read_text()) if DATA.is_dir() else {}
# Formats without a reader here; complex values; a graph derived from another file.
UNREAD = (".tntp", ".dat", ".graphml", "complex.mtx", "DERIVED")


def parse(name: str, facts: dict[str, Any]) -> Triples:
    path = DATA / name
    kind = extension(path)[0]
    if name.startswith("graphalytics") or kind == ".e":
        return load_graphalytics(path if kind == ".e" else Path(f"{path}.e"), directed=facts["directed"])[0]
    content = read_bytes(path)
    parsers = {
        ".mtx": parse_matrix_market,
        ".gr": parse_dimacs,
        ".graph": parse_metis,
        ".graph-txt": parse_graph_txt,
        ".jlg": parse_jlg,
    }
    if kind in parsers:
        return parsers[kind](content, name)
    base = facts["id_base"]
    return parse_edgelist(content, name, relabel=base is None, base=base or 0, directed=facts["directed"])[0]


@pytest.mark.costly
@needs_data
@pytest.mark.parametrize("name", [name for name in TRUTH if not any(word in name for word in UNREAD)])
def test_real_graphs_have_their_known_facts(name: str) -> None:
    facts = TRUTH[name]
    triples = parse(name, facts)
    found = simple_facts(triples)
    assert found == {key: facts[key] for key in found}
    loops = facts["self_loops"]
    count = len(triples.rows)
    assert facts["entries_in_file"] in (count, (count + loops) // 2)


def edges(content: str | bytes, **options: Any) -> list[tuple[int, int, Any]]:
    return entries(parse_edgelist(text(content), "f", **options)[0])


@pytest.mark.parametrize("separator", [" ", "\t", ",", ", ", "  \t"])
@pytest.mark.parametrize("end", ["\n", "\r\n", ""])
def test_separators_and_line_ends(separator: str, end: str) -> None:
    assert edges(f"# c\n0{separator}1{end or chr(10)}2{separator}0{end}") == [(0, 1, True), (2, 0, True)]


def test_weights_are_integers_where_all_are() -> None:
    assert parse_edgelist(text("0 1 2\n1 0 3\n"))[0].values.dtype == "int64"
    assert parse_edgelist(text("0 1 2\n1 0 3.5\n"))[0].values.dtype == "float64"
    assert parse_edgelist(text("0 1 2\n"), dtype="int8")[0].values.dtype == "int8"
    assert edges("0 1 2\n", weights=False) == [(0, 1, True)]
    assert edges("0 1 2 77\n", weights=False) == [(0, 1, True)]


def test_shapes() -> None:
    assert parse_edgelist(text("0 4\n"))[0].nrows == 5
    wide = parse_edgelist(text("0 4\n"), nrows=2, ncols=9)[0]
    assert (wide.nrows, wide.ncols) == (2, 9)
    assert parse_edgelist(text(""))[0].nrows == 0
    assert parse_edgelist(text("# nothing\n"), nrows=3)[0].ncols == 3
    assert edges("1 2\n", base=1) == [(0, 1, True)]


def test_undirected_edges_go_both_ways_and_loops_once() -> None:
    assert edges("0 1 5\n1 1 6\n", directed=False) == [(0, 1, 5), (1, 0, 5), (1, 1, 6)]
    with pytest.raises(InvalidValue, match="square"):
        edges("0 1\n", directed=False, nrows=2, ncols=3)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("src,dst\n0,1\n", [(0, 1, True)]),
        ("# c\nFromNodeId\tToNodeId\n0\t1\n", [(0, 1, True)]),
        ("a b w\n0 1 5\n", [(0, 1, 5)]),
        ("source,target\n", []),
    ],
)
def test_a_line_of_column_names_is_skipped(content: str, expected: list[Any]) -> None:
    assert edges(content) == expected


@pytest.mark.parametrize(
    ("content", "names", "expected"),
    [
        ("bob ann\nann cy\n", ["ann", "bob", "cy"], [(0, 2, True), (1, 0, True)]),
        ("src,dst\nbob,ann\n", ["ann", "bob"], [(1, 0, True)]),
        ("# c\n\nbob, ann ,2\r\nann,bob,3\r\n", ["ann", "bob"], [(0, 1, 3), (1, 0, 2)]),
        ('"b, c"\t"a ""x"""\t0.5\n', ['a "x"', "b, c"], [(1, 0, 0.5)]),
        ("1 2\n2 x\n", ["1", "2", "x"], [(0, 1, True), (1, 2, True)]),
        ("é ß\n", ["ß", "é"], [(1, 0, True)]),
        ("a b 1\nb a 2.5\n", ["a", "b"], [(0, 1, 1.0), (1, 0, 2.5)]),
    ],
)
def test_ids_may_be_text(content: str, names: list[str], expected: list[Any]) -> None:
    triples, ids = parse_edgelist(text(content), "f", relabel=True)
    assert ids is not None
    assert ids.tolist() == names
    assert entries(triples) == expected


def test_columns_after_the_weight_of_named_edges_are_reported() -> None:
    with pytest.warns(IgnoredColumns, match="f:1: columns after the weight are ignored, 1 a line"):
        parse_edgelist(text("a,b,1,x\n"), "f", relabel=True)


def test_relabeling_keeps_the_order_of_ids() -> None:
    triples, ids = parse_edgelist(text("900 -5\n7 900\n"), relabel=True)
    assert ids is not None
    assert ids.tolist() == [-5, 7, 900]
    assert entries(triples) == [(1, 2, True), (2, 0, True)]


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ("0\n", {}, "f:1: expected two ids"),
        ("0 1\n\n2\n", {}, "f:3: expected 2 columns .*found 1"),
        ("0 1\n2 x\n", {}, "f:2: expected an integer as target, found 'x'"),
        ("source,target\n0,x\n", {}, "f:2: expected an integer as target, found 'x'; relabel=True"),
        ("a b\n", {}, "f:1: expected an integer as source, found 'a'; relabel=True numbers ids that are text"),
        ("a,b\n", {"relabel": True, "weights": True}, "f:1: expected source, target and weight"),
        ("a\tb\n\nc\n", {"relabel": True}, r"f:3: expected 2 columns \(source, target\), found 1"),
        ("a,b\nc,\n", {"relabel": True}, "f:2: expected 2 columns .*, found an empty field as target"),
        ("a,b,w\n", {"relabel": True}, "f:1: expected a number as weight, found 'w'; header=True reads this line as"),
        ("a,b,1\n# c\nb,c,heavy\n", {"relabel": True}, "f:3: expected a number as weight, found 'heavy'"),
        ('a,b\n"b,c\n', {"relabel": True}, "f:2: expected a quote that ends the column, found the end of the file"),
        (b"a b\nb \xff\n", {"relabel": True}, "f:2: expected ids in UTF-8, found the byte 0xff"),
        ("0 1\n1 -1\n", {}, "f:2: expected target from 0"),
        ("0 1\n1 99999999999999999999\n", {}, "f:2: expected target from 0"),
        ("0 1\n1 2\n", {"nrows": 2}, "f:2: expected target from 0 to 1, found '2'"),
        ("0 1\n", {"base": 1}, "f:1: expected source from 1"),
        ("0 1\n", {"weights": True}, "f:1: expected source, target and weight"),
        ("0 1 2\n1 2 heavy\n", {}, "f:2: expected a number as weight, found 'heavy'"),
        ("0 1 2\n1 2 300\n", {"dtype": "int8"}, "f:2: expected a weight of type int8, found 300"),
        ("0 1 2\n1 2 nan\n", {"dtype": "int8"}, "f:2: expected a weight of type int8, found nan"),
        ("a\n0 1\n1 b\n", {"skip_lines": 1}, "f:3: expected an integer as target, found 'b'"),
        (b"\x1f\x8b\x00\x00", {}, "f:1: expected"),
    ],
)
def test_malformed_edge_lists_are_refused_with_their_line(content: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidFormat, match=message):
        edges(content, **options)


def test_graphalytics_vertices_without_edges_count(tmp_path: Path) -> None:
    (tmp_path / "g.v").write_text("10 a\n30 b\n20 c\n")
    (tmp_path / "g.e").write_text("30 10 0.5\n")
    triples, ids = load_graphalytics(tmp_path / "g.e")
    assert ids.tolist() == [10, 20, 30]
    assert entries(triples) == [(2, 0, 0.5)]
    (tmp_path / "g.e").write_text("30 10 0.5\n10 40 1\n")
    with pytest.raises(InvalidFormat, match=r"g\.e:2: expected an id that the vertex file lists, found 40"):
        load_graphalytics(tmp_path / "g.e")


@pytest.mark.parametrize(
    ("parser", "content", "message"),
    [
        (parse_dimacs, "c x\n", "f:1: expected 'p sp"),
        (parse_dimacs, "p max 3 1\na 1 2 3\n", "f:1: expected 'p sp"),
        (parse_dimacs, "c x\np sp 3 1\ne 1 2 3\n", "f:3: expected 'a' first, found 'e'"),
        (parse_dimacs, "p sp 3 2\na 1 2 3\n", "f:3: expected 2 entries, found the end of the file after 1"),
        (parse_dimacs, "p sp 3 1\na 1 4 3\n", "f:2: expected target from 1 to 3, found '4'"),
        (parse_dimacs, "p tw 3 1\n1 2\n2 3\n", "f:3: expected the end of the file after 1 entries"),
        (parse_metis, "", "f:1: expected 'n m"),
        (parse_metis, "2 1 7\n2\n1\n", "f:1: expected 'n m"),
        (parse_metis, "2 1\n2\n", "f:3: expected 2 entries"),
        (parse_metis, "2 1\n2\n3\n", "f:3: expected neighbors from 1 to 2, found 3"),
        (parse_metis, "2 5\n2\n1\n", "f:1: expected 10 neighbors in total"),
        (parse_metis, "2 1 1\n2 5\n1\n", "f:3: expected pairs of neighbor and weight, found 1 numbers"),
        (parse_metis, "2 1 10 2\n1 1 2\n1\n", "f:3: expected 2 vertex numbers and then neighbors"),
        (parse_metis, "2 1\n2\n-1\n", "f:3: expected integers from 0"),
        (parse_graph_txt, "x\n", "f:1: expected the number of nodes"),
        (parse_graph_txt, "2\n1\n2\n", "f:3: expected successors from 0 to 1, found 2"),
        (parse_jlg, "3,1\n", "f:1: expected vertices,edges"),
        (parse_jlg, "3,1,u,x\n1,4\n", "f:2: expected target from 1 to 3"),
    ],
)
def test_malformed_graph_files_are_refused_with_their_line(parser: Any, content: str, message: str) -> None:
    with pytest.raises(InvalidFormat, match=message):
        parser(text(content), "f")


def serialized(directed: int, offsets: list[int], arcs: list[int]) -> bytes:
    n, m = len(offsets) - 1, offsets[-1]
    one_way = np.array(offsets, "<i8").tobytes() + np.array(arcs, "<i4").tobytes()
    return bytes([directed]) + np.array([m, n], "<i8").tobytes() + one_way * (1 + directed)


def test_gap_graphs() -> None:
    assert entries(parse_sg(text(serialized(0, [0, 1, 2], [1, 0])))) == [(0, 1, True), (1, 0, True)]
    weighted = parse_sg(text(serialized(1, [0, 1, 1], [1, 42])), weights=True)
    assert weighted.values.dtype == "int32"
    assert entries(weighted) == [(0, 1, 42)]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\x01", "byte 1: expected 17 bytes"),
        (serialized(0, [0, 1, 2], [1, 0])[:-1], "byte 48: expected 49 bytes"),
        (serialized(0, [0, 3, 2], [1, 0]), "byte 33: expected offsets that rise from 0 to 2, found 2"),
        (serialized(0, [0, 1, 2], [1, 9]), "byte 45: expected a node from 0 to 1, found 9"),
        (b"\x07" + serialized(0, [0, 1, 2], [1, 0])[1:], "byte 0: expected a flag 0 or 1"),
    ],
)
def test_malformed_gap_graphs_are_refused_with_their_byte(content: bytes, message: str) -> None:
    with pytest.raises(InvalidFormat, match=message):
        parse_sg(text(content), "f")


@pytest.mark.parametrize("kind", [".csv", ".tsv", ".txt", ".edgelist", ".wel", ".el"])
def test_two_sets_are_numbered_apart_in_every_text_format(kind: str, tmp_path: Path) -> None:
    basket = [("ann", 7, 2), ("bob", 5, 1), ("ann", 5, 5)]
    right = Matrix.from_edgelist(basket, bipartite=True)
    path = tmp_path / f"basket{kind}"
    sr.io.write(path, right, **({"weights": False} if kind == ".el" else {}))
    found = sr.io.read(path, bipartite=True)
    assert found.isequal(
        right if kind != ".el" else Matrix.from_edgelist([edge[:2] for edge in basket], bipartite=True)
    )
    assert (found.row_labels, found.column_labels) == (right.row_labels, right.column_labels)
    with pytest.raises(InvalidValue, match="symmetric=True needs one set of vertices"):
        sr.io.read(path, bipartite=True, symmetric=True)
    with pytest.raises(InvalidValue, match=r"expected True or False for text, got .*; two sets are bipartite=True"):
        sr.io.read(path, relabel=(True, True))


def test_each_of_two_sets_has_a_type_of_its_own() -> None:
    def sides(content: str, **options: Any) -> list[list[Any]]:
        triples, ids = parse_edgelist(text(content), "f", bipartite=True, **options)
        assert isinstance(ids, tuple)
        assert (triples.nrows, triples.ncols) == (len(ids[0]), len(ids[1]))
        return [side.tolist() for side in ids]

    assert sides("7 5\n3 5\n") == [[3, 7], [5]]
    assert sides("b 5\n30 7\n") == [["30", "b"], [5, 7]]
    assert sides(f"x {2**64}\ny 7\n") == [["x", "y"], [7, 2**64]]
    assert sides('9,"5"\n10,7\n', kind=".csv") == [[9, 10], ["5", "7"]]
    assert sides("") == [[], []]
    with pytest.raises(DuplicateIndex, match="a second one at \\('b', 5\\)"):
        edges_to_matrix(with_labels(*parse_edgelist(text("b 5 1\nb 5 2\n"), "f", bipartite=True)), None)


def with_labels(triples: Triples, ids: Any) -> Triples:
    return replace(triples, labels=labels_of(ids))


@pytest.mark.parametrize("values", [[2, 1], [1.0, np.nan], [True, False], 5])
def test_weights_that_a_file_does_not_hold_are_a_warning(values: Any, tmp_path: Path) -> None:
    A = Matrix.from_coo([0, 1], [1, 2], values, shape=(3, 3))
    with pytest.warns(LostWeights, match=r"\.el files hold no weights; a \.wel file does") as caught:
        sr.io.write(tmp_path / "a.el.gz", A)
    assert len(caught) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sr.io.write(tmp_path / "a.el", A, weights=False)
        for ones in (True, 1, [1.0, 1.0]):
            sr.io.write(tmp_path / "b.el", Matrix.from_coo([0, 1], [1, 2], ones, shape=(3, 3)))
    assert sr.io.read(tmp_path / "a.el").isequal(sr.io.read(tmp_path / "b.el"))
