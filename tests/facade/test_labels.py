"""`semiring.Labels`: names of vertices map to rows and back, and travel with results."""

from __future__ import annotations

import pickle
import uuid
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import semiring as sr
from semiring import Labels, Matrix, Vector
from semiring.algorithms import Route
from semiring.exceptions import DimensionMismatch, IndexOutOfBound, InvalidType, InvalidValue
from tests.facade.test_edge_tables import TABLES

NAMES = [("eve", "ann", 1.5), ("ann", "bob", 2.5), ("bob", "eve", 3.5)]
NAMED = {"from": ["eve", "ann", "bob"], "to": ["ann", "bob", "eve"], "km": [1.5, 2.5, 3.5]}


def graph() -> Matrix:
    return Matrix.from_edgelist(NAMES, relabel=True)


@pytest.mark.parametrize(
    "values",
    [
        ["ann", "bob", "eve"],
        [5, -3, 10**12],
        np.array([3, 1, 2], np.uint8),
        [2**63, 2**64 - 1],
        [uuid.UUID(int=7), uuid.UUID(int=1)],
        [("a", 1), ("a", 2)],
        [b"x", b"y"],
        [0.5, 2.0],
        [],
    ],
)
def test_labels_map_both_ways(values: Any) -> None:
    labels = Labels(values)
    listed = list(values)
    assert list(labels) == listed
    assert len(labels) == len(listed)
    assert [labels.row(label) for label in listed] == list(range(len(listed)))
    assert labels.rows(listed).tolist() == list(range(len(listed)))
    assert [labels[k] for k in range(len(listed))] == listed
    assert all(label in labels for label in listed)
    assert "nobody" not in labels
    assert pickle.loads(pickle.dumps(labels)) == labels == Labels(values)


@given(st.lists(st.integers(-(2**62), 2**62), unique=True, max_size=40), st.integers(-(2**62), 2**62))
def test_integer_labels_are_found_at_any_distance(values: list[int], other: int) -> None:
    labels = Labels(np.array(values, np.int64))
    assert labels.rows(values).tolist() == list(range(len(values)))
    assert (other in labels) == (other in values)


@given(st.lists(st.tuples(st.text(max_size=3), st.text(max_size=3)), min_size=1, max_size=30))
def test_numbering_is_ascending_and_complete(edges: list[tuple[str, str]]) -> None:
    labels, rows, columns = Labels.number([a for a, _ in edges], [b for _, b in edges])
    assert list(labels) == sorted({end for edge in edges for end in edge})
    assert [(labels[i], labels[j]) for i, j in zip(rows, columns, strict=True)] == edges


@pytest.mark.parametrize("kind", [kind for kind in TABLES if kind != "structured array"])
def test_text_in_a_table_is_numbered(kind: str) -> None:
    A = Matrix.from_edgelist(TABLES[kind](NAMED), relabel=True)
    assert A.labels == Labels(["ann", "bob", "eve"])
    assert A.to_dicts() == {0: {1: 2.5}, 1: {2: 3.5}, 2: {0: 1.5}}


@pytest.mark.parametrize("kind", TABLES)
def test_sparse_integers_in_a_table_are_numbered(kind: str) -> None:
    A = Matrix.from_edgelist(TABLES[kind]({"a": [10**9, 5, 5], "b": [5, 7, 10**9]}), relabel=True)
    assert A.labels is not None
    assert list(A.labels) == [5, 7, 10**9]
    assert A.to_dicts() == {0: {1: True, 2: True}, 2: {0: True}}


def test_categories_of_pandas_and_polars_are_text() -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    expected = Matrix.from_edgelist(NAMED, relabel=True)
    frame = pandas.DataFrame(NAMED)
    for name in ("from", "to"):
        frame[name] = frame[name].astype("category")
    for table in (frame, polars.DataFrame(NAMED).with_columns(polars.col("from", "to").cast(polars.Categorical))):
        A = Matrix.from_edgelist(table, relabel=True)
        assert A.isequal(expected)
        assert A.labels == expected.labels


def test_a_second_list_of_edges_uses_the_numbering_of_the_first() -> None:
    A = graph()
    B = Matrix.from_edgelist([("bob", "ann")], relabel=A.labels)
    assert B.shape == A.shape
    assert B.to_dicts() == {1: {0: True}}
    assert B.labels is A.labels
    with pytest.raises(InvalidValue, match="no vertex is labeled 'zoe'"):
        Matrix.from_edgelist([("bob", "zoe")], relabel=A.labels)


def test_edges_in_both_directions() -> None:
    A = Matrix.from_edgelist([(0, 1, 5), (2, 2, 6)], symmetric=True)
    assert A.to_dicts() == {0: {1: 5}, 1: {0: 5}, 2: {2: 6}}
    assert Matrix.from_edgelist([(0, 1), (1, 0), (0, 1)], symmetric=True).to_dicts() == {0: {1: True}, 1: {0: True}}
    assert Matrix.from_edgelist([(0, 1, 5)], weights=False).to_dicts() == {0: {1: True}}
    with pytest.raises(InvalidValue, match="no third part"):
        Matrix.from_edgelist([(0, 1)], weights=True)
    with pytest.raises(DimensionMismatch, match="square"):
        Matrix.from_edgelist([(0, 1)], symmetric=True, nrows=2, ncols=3)


KEEPS: dict[str, Callable[[Matrix], Any]] = {
    "product": lambda A: A @ A,
    "transpose": lambda A: A.T,
    "transposed copy": lambda A: A.transpose(),
    "union": lambda A: A | A.T,
    "intersection": lambda A: A & A,
    "sum": lambda A: A + 1,
    "comparison": lambda A: A > 1,
    "apply": lambda A: A.apply("ainv"),
    "select": lambda A: A.select("tril"),
    "masked": lambda A: A.select(A.S),
    "copy": lambda A: A.dup(float),
    "emptied copy": lambda A: A.dup(clear=True),
    "compressed": lambda A: A.compress(),
    "decompressed": lambda A: A.compress().decompress(),
    "sum of rows": lambda A: A.reduce_rowwise("plus"),
    "sum of columns": lambda A: A.reduce_columnwise("plus"),
    "pull": lambda A: A.mxv(Vector.full(1.0, 3)),
    "push": lambda A: Vector.full(1.0, 3).vxm(A),
    "searched": lambda A: sr.algorithms.bfs_levels(A, 0),
    "pairs": lambda A: sr.algorithms.all_pairs(A),
    "tuple": lambda A: sr.algorithms.shortest_path_tree(A, 0).parent,
    "dataclass": lambda A: sr.algorithms.maximum_flow(A, 0, 1).flow,
    "pickled": lambda A: pickle.loads(pickle.dumps(A)),
    "pickled vector": lambda A: pickle.loads(pickle.dumps(A.reduce_rowwise("plus"))),
}


@pytest.mark.parametrize(
    "operation",
    [pytest.param(name, marks=[pytest.mark.costly] if name == "dataclass" else []) for name in KEEPS],
)
def test_labels_travel_with_results(operation: str) -> None:
    A = graph()
    assert KEEPS[operation](A).labels == A.labels


DROPS: dict[str, Callable[[Matrix], Any]] = {
    "repeated": lambda A: A[[2, 1, 2], :],
    "sorted": lambda A: A.reduce_rowwise("plus").sort()[0],
    "order": lambda A: sr.algorithms.bfs_order(A),
    "several sources": lambda A: sr.algorithms.bfs_levels(A, [2, 1, 0]),
    "other labels": lambda A: A | Matrix.from_edgelist([("x", "y"), ("y", "z")], relabel=True),
    "rectangular": lambda A: A @ Matrix.from_coo([0], [1], [1.0], shape=(3, 2)),
}


@pytest.mark.parametrize("operation", DROPS)
def test_a_result_of_other_rows_has_no_labels(operation: str) -> None:
    assert DROPS[operation](graph()).labels is None


def test_labels_fit_their_object() -> None:
    v, A = Vector.from_dense([1, 2]), Matrix(int, 2, 3)
    v.labels = Labels(["a", "b"])
    v.resize(3)
    assert v.labels is None
    with pytest.raises(DimensionMismatch, match="2 labels for 3 vertices"):
        v.labels = Labels(["a", "b"])
    with pytest.raises(DimensionMismatch, match="row_labels and"):
        A.labels = Labels(["a", "b"])
    with pytest.raises(InvalidType, match="Labels"):
        v.labels = ["a", "b", "c"]  # type: ignore[assignment]


PERMUTED = ["eve", "bob", "ann"]
# What the labels of rows, columns and values are, where they are not those of the whole graph (ann, bob, eve).
PARTS: dict[str, tuple[Callable[[Matrix], Any], tuple[list[str] | None, ...]]] = {
    "part": (lambda A: A[[2, 1, 0], [2, 0]].dup(), (PERMUTED, ["eve", "ann"], None)),
    "slice": (lambda A: A[1:, ::-1], (["bob", "eve"], PERMUTED, None)),
    "named part": (lambda A: A[["eve", "ann"], :], (["eve", "ann"], ["ann", "bob", "eve"], None)),
    "method": (lambda A: A.extract([2], [0, 1]), (["eve"], ["ann", "bob"], None)),
    "repeated": (lambda A: A[[2, 1, 2], [1]], (None, ["bob"], None)),
    "permuted": (lambda A: A.permute([2, 1, 0]), (PERMUTED, PERMUTED, None)),
    "row": (lambda A: A["eve", [2, 0]], (["eve", "ann"], None)),
    "column": (lambda A: A[:2, "ann"], (["ann", "bob"], None)),
    "part of a vector": (lambda A: A.reduce_rowwise()[["bob"]], (["bob"], None)),
    "several sources": (lambda A: sr.algorithms.sssp(A, ["eve", "ann"]), (["eve", "ann"], ["ann", "bob", "eve"], None)),
    "subgraph": (lambda A: sr.algorithms.induced_subgraph(A, ["eve", "bob"]), (["eve", "bob"], ["eve", "bob"], None)),
    "neighborhood": (lambda A: sr.algorithms.ego_graph(A, "eve", 1)[1], (["ann", "eve"], ["ann", "eve"], None)),
    "parents": (lambda A: sr.algorithms.bfs_parents(A, "eve"), (["ann", "bob", "eve"],) * 2),
    "order": (lambda A: sr.algorithms.bfs_order(A, "eve"), (None, ["ann", "bob", "eve"])),
    "largest": (lambda A: A.maxloc()[1], (["ann", "bob", "eve"],) * 2),
    "position": (lambda A: A.reduce_rowwise("argmax"), (["ann", "bob", "eve"],) * 2),
    "typed position": (lambda A: A.reduce_rowwise(sr.agg.argmin["float64"]), (["ann", "bob", "eve"],) * 2),
    "position in a column": (
        lambda A: A[:2, :].reduce_columnwise("first_index"),
        (["ann", "bob", "eve"], ["ann", "bob"]),
    ),
    "number of entries": (lambda A: A.reduce_rowwise("count"), (["ann", "bob", "eve"], None)),
    "of columns": (lambda A: A[:2, :].maxloc("columnwise")[1], (["ann", "bob", "eve"], ["ann", "bob"])),
    "sorted": (lambda A: A.sort()[1], (["ann", "bob", "eve"], None, ["ann", "bob", "eve"])),
    "product": (lambda A: A[:2, :] @ A[:, 1:], (["ann", "bob"], ["bob", "eve"], None)),
    "transposed product": (lambda A: A[:2, :].T @ A[:2, 1:], (["ann", "bob", "eve"], ["bob", "eve"], None)),
    "other inner labels": (lambda A: A[:2, [0, 1]] @ A[1:, :], (None, None, None)),
    "sum of rows": (lambda A: A[:2, :].reduce_rowwise(), (["ann", "bob"], None)),
    "scaled columns": (lambda A: A[:2, :] * A.reduce_columnwise(), (["ann", "bob"], ["ann", "bob", "eve"], None)),
    "outer": (lambda A: A[0, :2].outer(A[0]), (["ann", "bob"], ["ann", "bob", "eve"], None)),
    "largest entries": (lambda A: A[:2, :].selectk("largest", 1), (["ann", "bob"], ["ann", "bob", "eve"], None)),
    "diagonal": (lambda A: A.reduce_rowwise().diag(), (["ann", "bob", "eve"], ["ann", "bob", "eve"], None)),
    "by component": (
        lambda A: A.reduce_rowwise().reduce_by(sr.algorithms.connected_components(A)),
        (["ann", "bob", "eve"], None),
    ),
    "pickled": (lambda A: pickle.loads(pickle.dumps(A[:2, :])), (["ann", "bob"], ["ann", "bob", "eve"], None)),
}


@pytest.mark.parametrize("operation", PARTS)
def test_each_axis_has_the_labels_of_its_vertices(operation: str) -> None:
    make, expected = PARTS[operation]
    made = make(graph())
    axes = (made.row_labels, made.column_labels) if made.ndim == 2 else (made.labels,)
    assert tuple(None if part is None else list(part) for part in (*axes, made.value_labels)) == expected


def test_names_are_indices() -> None:
    A = graph()
    assert A["eve", "ann"].value == A.get("eve", "ann") == 1.5
    assert ("eve", "ann") in A
    assert ("ann", "eve") not in A
    assert A[:, ["bob"]].to_dicts() == {0: {0: 2.5}}
    A["ann", "eve"] = 7
    A[["bob"], ["ann", "eve"]] << 8
    del A["ann", "bob"]
    assert A.to_dicts() == {0: {2: 7.0}, 1: {0: 8.0, 2: 8.0}, 2: {0: 1.5}}
    v = A.reduce_rowwise()
    v["bob"] = 1
    del v["eve"]
    assert (v.to_dict(), v["ann"].value, v.get("eve"), "eve" in v) == ({0: 7.0, 1: 1.0}, 7.0, None, False)
    assert v[np.array(["bob", "ann"], object)].to_dict() == {0: 1.0, 1: 7.0}
    for wrong in ("zoe", ["ann", "zoe"]):
        with pytest.raises(InvalidValue, match="no vertex is labeled 'zoe'"):
            A[wrong]
    with pytest.raises(InvalidType, match="for names set"):
        Matrix(int, 2, 2)["ann"]
    A.column_labels = None
    with pytest.raises(InvalidValue, match="columns: 'ann' is a name, and these have no labels"):
        A["eve", "ann"]
    for key in (slice("ann", "eve"), slice(1.5, 2), slice(0, 2, 0)):
        for part in (A, A.reduce_rowwise("plus")):
            with pytest.raises(InvalidType, match="a slice has integers, and a step that is not 0"):
                part[key]  # type: ignore[index,unused-ignore]


def test_labels_that_are_no_text_are_indices_unless_they_are_integers() -> None:
    ids = [uuid.UUID(int=number) for number in (3, 1)]
    v = Vector.from_dense([5, 6])
    v.labels = Labels(ids)
    assert v[ids[1]].value == 6
    assert v[ids[::-1]].to_dict() == {0: 6, 1: 5}
    v.labels = Labels([1, 0])
    assert v[1].value == 6


def test_an_integer_that_is_a_label_is_out_of_bounds_with_a_hint() -> None:
    A = Matrix.from_edgelist([(70, 80)], relabel=True)
    v = A.reduce_rowwise()
    wrong: list[Callable[[], Any]] = [
        lambda: A[80, 0],
        lambda: A[0, np.int64(80)],
        lambda: A.get(80, 0),
        lambda: (0, 80) in A,
        lambda: v[80],
        lambda: 80 in v,
    ]
    for call in wrong:
        with pytest.raises(IndexOutOfBound, match=r"with size 2; 80 is a label, of the position labels\.row\(80\)$"):
            call()
    with pytest.raises(IndexOutOfBound, match=r"size 2$"):
        v[81]


def test_rows_and_columns_have_labels_of_their_own() -> None:
    A = Matrix.from_coo([0, 1], [2, 0], [5, 6], shape=(2, 3))
    A.row_labels, A.column_labels = Labels(["ann", "bob"]), Labels(["tea", "milk", "rice"])
    assert A.labels is None
    assert A["bob", "tea"].value == 6
    assert (A @ A.T).labels == A.row_labels
    assert (A.T @ A).labels == A.column_labels
    assert A.to_pandas().values.tolist() == [["ann", "rice", 5], ["bob", "tea", 6]]
    with pytest.raises(DimensionMismatch, match="column_labels: 2 labels for 3"):
        A.column_labels = Labels(["a", "b"])
    with pytest.raises(InvalidType, match="row_labels: expected"):
        A.row_labels = ["a", "b"]
    A.resize(2, 4)
    assert (list(A.row_labels), A.column_labels) == (["ann", "bob"], None)


def test_previews_show_names() -> None:
    A = graph()
    assert str(A).splitlines()[1:] == [
        "     ann  bob  eve",
        "ann    .  2.5    .",
        "bob    .    .  3.5",
        "eve  1.5    .    .",
    ]
    assert str(sr.algorithms.bfs_parents(A, "eve")).splitlines()[1:] == ["  ann  bob  eve", "  eve  ann  eve"]
    assert "<th>ann</th>" in A._repr_html_()
    ring = Matrix.from_edgelist([(f"v{i:02}", f"v{(i + 1) % 20:02}") for i in range(20)], relabel=True)
    assert str(ring).splitlines()[1:3] == ["  i    j  value", "v00  v01      T"]
    odd = Vector.from_dense([1, 2])
    odd.labels = Labels(["two\nlines", "x" * 100])
    assert str(odd).splitlines()[1].split() == [repr("two\nlines"), "x" * 23 + "…"]


def test_previews_of_any_text() -> None:
    """Columns of wide and combining letters are aligned; markup and marks of direction are no more than text."""
    names = ["<script>alert(1)</script>", "日本語", "e\u0301", "a\u202eb", "عربي", "日" * 30]
    v = Vector.from_dense(np.arange(len(names)))
    v.labels = Labels(names)
    head, values = str(v).splitlines()[1:]
    assert head.split("  ")[1:] == [
        "<script>alert(1)</scrip…",
        "日本語",
        "e\u0301",
        repr("a\u202eb"),
        "عربي",
        f"{'日' * 11}…",
    ]
    starts = [values.index(str(k)) for k in range(len(names))]
    ends = [2 + 24, 2 + 24 + 2 + 6]
    assert [starts[0] + 1, starts[1] + 1] == ends
    assert starts[2] + 1 == ends[1] + 2 + 1
    html = v._repr_html_()
    assert "<script" not in html
    assert "&lt;script&gt;" in html
    assert "\u202e" not in html


def test_a_position_that_is_a_scalar_is_named_by_the_labels() -> None:
    v = graph().reduce_rowwise()
    assert v.labels is not None
    assert v.labels[v.reduce("argmax").value] == "bob"


def test_algorithms_accept_names() -> None:
    A = graph()
    assert sr.algorithms.sssp(A, "eve").to_dict() == {0: 1.5, 1: 4.0, 2: 0.0}
    assert sr.algorithms.shortest_path(A, "eve", target="bob", weight=True) == Route(4.0, ["eve", "ann", "bob"])
    assert sr.algorithms.bfs_levels(A.T, source="eve").to_dict() == {0: 2, 1: 1, 2: 0}
    for name in ("anne", ["ann", "anne"]):
        with pytest.raises(InvalidValue, match="sssp: source: no vertex is labeled 'anne'; did you mean"):
            sr.algorithms.sssp(A, name)
    with pytest.raises((InvalidType, InvalidValue), match="sssp: "):
        sr.algorithms.sssp(A.dup().unlabeled(), "eve")


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: Labels(["a", "b", "a"]), "'a' twice"),
        (lambda: Labels([1, 2, 1]), "1 twice"),
        (lambda: Labels(["a", None]), r"labels\[1\] is missing"),
        (lambda: Labels([1.0, float("nan")]), r"labels\[1\] is missing"),
        (lambda: Labels.number([1.5]), "is 1.5, which is no label"),
        (lambda: Labels([[1], [2]]), "hashable"),
        (lambda: Labels(np.zeros((2, 2), int)), "one-dimensional"),
        (lambda: Matrix.from_edgelist([("a", 1)], relabel=True), "of one type, got int and str"),
        (lambda: Matrix.from_edgelist({"a": ["x", None], "b": ["y", "z"]}, relabel=True), "missing"),
        (lambda: Matrix.from_edgelist([(1, 2)], relabel="yes"), "relabel="),
        (lambda: Matrix.from_edgelist([("a", "b")], relabel=True, nrows=5), "give the shape"),
        (lambda: Matrix.from_edgelist([("a", "b")]), "relabel=True"),
        (lambda: Labels(["ann"]).row("anne"), "did you mean 'ann'"),
        (lambda: Labels([1, 2]).row("1"), "there is 1, of type int"),
        (lambda: Labels(["1"]).row(1), "there is '1', of type str"),
        (lambda: Labels(["a"]).rows(["a", "b"]), "'b'"),
    ],
)
def test_what_is_no_label_raises(make: Callable[[], Any], text: str) -> None:
    with pytest.raises(InvalidValue, match=text):
        make()


@pytest.mark.parametrize("kind", ["pandas", "polars", "Arrow"])
def test_missing_labels_of_a_frame_raise(kind: str) -> None:
    table = TABLES[kind]({"a": ["x", None, "z"], "b": ["y", "y", "y"]})
    with pytest.raises(InvalidValue, match="column 'a' lacks 1 values"):
        Matrix.from_edgelist(table, relabel=True)


def test_rows_are_checked_and_results_are_read_by_label() -> None:
    labels = Labels(["ann", "bob", "eve"])
    with pytest.raises(IndexOutOfBound):
        labels[3]
    with pytest.raises(IndexOutOfBound):
        labels[[0, 7]]
    assert labels[np.array([2, 0])].tolist() == ["eve", "ann"]
    with pytest.raises(DimensionMismatch):
        labels.to_dict(Vector(int, 2))
    with pytest.raises(InvalidType):
        labels.to_dict(Matrix(int, 3, 3))  # type: ignore[arg-type]


# -- frames --------------------------------------------------------------------------------------------------


def needed(to: str) -> None:
    """Skip the test without the library to whose frames a method converts."""
    pytest.importorskip({"to_pandas": "pandas", "to_polars": "polars", "to_arrow": "pyarrow"}[to])


@pytest.mark.parametrize("to", ["to_pandas", "to_polars", "to_arrow"])
@pytest.mark.parametrize("edges", [NAMES, [(0, 2, 1), (1, 0, 2), (2, 2, 3)], [(7, 9), (9, 10**10)]])
def test_frames_round_trip(to: str, edges: list[Any]) -> None:
    needed(to)
    relabel = edges[0][0] != 0
    A = Matrix.from_edgelist(edges, relabel=relabel)
    back = Matrix.from_edgelist(getattr(A, to)(), relabel=relabel)
    assert back.isequal(A, check_dtype=True)
    assert back.labels == A.labels


EDGES = st.one_of(
    st.dictionaries(st.tuples(vertex, vertex), st.floats(width=32) | st.integers(-9, 9), min_size=1, max_size=20)
    for vertex in (st.integers(-(2**62), 2**62), st.text(max_size=4))
)


@pytest.mark.parametrize("to", ["to_pandas", "to_polars", "to_arrow"])
@given(edges=EDGES)
def test_any_graph_is_read_back_from_a_frame(to: str, edges: dict[tuple[Any, Any], float]) -> None:
    needed(to)
    A = Matrix.from_edgelist([(i, j, float(x)) for (i, j), x in edges.items()], relabel=True)
    back = Matrix.from_edgelist(getattr(A, to)(), relabel=True)
    assert back.labels == A.labels
    for found, expected in zip(back.to_coo(), A.to_coo(), strict=True):
        assert np.array_equal(found, expected, equal_nan=True)


def test_a_vector_is_a_frame_of_labels_and_values() -> None:
    pytest.importorskip("pandas")
    A = graph()
    frame = A.reduce_rowwise("plus").to_pandas()
    assert frame.to_dict("list") == {"label": ["ann", "bob", "eve"], "value": [2.5, 3.5, 1.5]}
    records = Vector.from_coo([1], np.array([(1, 2.5)], np.dtype([("n", "i4"), ("x", "f8")], align=True)), size=3)
    assert records.to_pandas().to_dict("list") == {"index": [1], "n": [1], "x": [2.5]}
