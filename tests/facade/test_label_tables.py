"""Two sets of vertices, attributes of vertices, several weights of an edge, and errors that name edges."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring import Labels, Matrix
from semiring.exceptions import DimensionMismatch, DuplicateIndex, InvalidType, InvalidValue

BASKET = [("eve", "tea", 2), ("ann", "rice", 5), ("ann", "tea", 1), ("bob", "milk", 4)]
PEOPLE = {"id": ["eve", "ann", "bob"], "age": [25, 31, 44], "city": ["Oslo", None, "Rome"], "km": [1.5, None, 2.5]}


def frames() -> list[Any]:
    made: list[Any] = [PEOPLE]
    for library, make in (("pandas", "DataFrame"), ("polars", "DataFrame"), ("pyarrow", "table")):
        try:
            made.append(getattr(__import__(library), make)(PEOPLE))
        except ImportError:
            continue
    return made


# -- two sets --------------------------------------------------------------------------------------------------


def test_sources_and_targets_are_numbered_apart() -> None:
    A = Matrix.from_edgelist(BASKET, bipartite=True)
    assert (list(A.row_labels), list(A.column_labels)) == (["ann", "bob", "eve"], ["milk", "rice", "tea"])
    assert A.to_dicts() == {0: {1: 5, 2: 1}, 1: {0: 4}, 2: {2: 2}}
    assert A.labels is None
    assert A["eve", "tea"].value == 2
    same = Matrix.from_edgelist(BASKET, relabel=(True, True))
    assert same.isequal(A)
    numbers = Matrix.from_edgelist([(10**9, 5), (7, 5)], bipartite=True)
    assert (numbers.shape, list(numbers.row_labels), list(numbers.column_labels)) == ((2, 1), [7, 10**9], [5])
    shared = Matrix.from_edgelist([("a", "b"), ("b", "a")], bipartite=True)
    assert (shared.to_dicts(), list(shared.labels)) == ({0: {1: True}, 1: {0: True}}, ["a", "b"])


def test_two_numberings_are_used() -> None:
    users, items = Labels(["eve", "zoe", "ann", "bob"]), Labels(["tea", "rice", "milk", "salt"])
    A = Matrix.from_edgelist(BASKET, relabel=(users, items))
    assert (A.row_labels, A.column_labels) == (users, items)
    assert A.to_dicts() == {0: {0: 2}, 2: {0: 1, 1: 5}, 3: {2: 4}}
    half = Matrix.from_edgelist([("eve", 3), ("ann", 0)], relabel=(users, False))
    assert (half.shape, half.row_labels, half.column_labels) == ((4, 4), users, None)
    assert Matrix.from_edgelist([("eve", 3)], relabel=(users, False), ncols=9).shape == (4, 9)
    with pytest.raises(InvalidValue, match="no vertex is labeled 'zoe'"):
        Matrix.from_edgelist([("eve", "zoe")], relabel=(users, items))


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"relabel": Labels(["a"]), "bipartite": True}, "relabel=\\(Labels, Labels\\)"),
        ({"bipartite": True, "symmetric": True}, "symmetric=True needs one set"),
        ({"relabel": (True, "yes")}, "relabel= is .* got str"),
        ({"relabel": (True, True, True)}, "relabel= is .* got tuple"),
        ({"bipartite": True, "ncols": 5}, "3 labels give the shape; leave out ncols=, got 5"),
    ],
)
def test_other_choices_of_numberings_raise(options: dict[str, Any], text: str) -> None:
    with pytest.raises(InvalidValue, match=text):
        Matrix.from_edgelist(BASKET, **options)


@pytest.mark.parametrize("to", ["to_pandas", "to_polars", "to_arrow"])
def test_frames_of_two_sets_are_read_back(to: str) -> None:
    pytest.importorskip({"to_pandas": "pandas", "to_polars": "polars", "to_arrow": "pyarrow"}[to])
    A = Matrix.from_edgelist(BASKET, bipartite=True)
    back = Matrix.from_edgelist(getattr(A, to)(), bipartite=True)
    assert back.isequal(A, check_dtype=True)
    assert (back.row_labels, back.column_labels) == (A.row_labels, A.column_labels)


def test_parquet_of_two_sets_and_of_records_is_read_back(tmp_path: Path) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    A = Matrix.from_edgelist(BASKET, bipartite=True)
    sr.io.write(tmp_path / "a.parquet", A)
    back = sr.io.read(tmp_path / "a.parquet", bipartite=True)
    assert back.isequal(A)
    assert (back.row_labels, back.column_labels) == (A.row_labels, A.column_labels)
    columns = {"source": [0, 1], "target": [1, 0], "km": [1.5, 2.5], "h": [3, 4]}
    pq.write_table(pytest.importorskip("pyarrow").table(columns), tmp_path / "b.parquet")
    records = sr.io.read(tmp_path / "b.parquet", source="source", target="target", weight=["km", "h"])
    assert records.to_dicts() == {0: {1: (1.5, 3)}, 1: {0: (2.5, 4)}}


# -- several weights -------------------------------------------------------------------------------------------

ROADS = {"a": ["x", "y"], "b": ["y", "z"], "km": [1.5, 2.0], "lanes": [3, 4], "toll": [True, False]}


def test_several_weights_are_records(engine: str) -> None:
    if engine == "cuda":
        pytest.skip("records on a GPU have at most 16 bytes")
    A = Matrix.from_edgelist(ROADS, source="a", target="b", weight=["km", "lanes", "toll"], relabel=True)
    assert A.to_dicts() == {0: {1: (1.5, 3, True)}, 1: {2: (2.0, 4, False)}}
    assert [A.dtype[name] for name in A.dtype.names] == [np.float64, np.int64, np.bool_]
    pytest.importorskip("pandas")
    frame = A.to_pandas()
    assert list(frame.columns) == ["source", "target", "km", "lanes", "toll"]
    back = Matrix.from_edgelist(
        frame, source="source", target="target", weight=["km", "lanes", "toll"], relabel=A.labels
    )
    assert back.isequal(A, check_dtype=True)
    array = Matrix.from_edgelist(np.array([[0, 1, 5, 6], [1, 0, 7, 8]]), source=0, target=1, weight=[2, 3])
    assert array.to_dicts() == {0: {1: (5, 6)}, 1: {0: (7, 8)}}
    for weight, text in (
        ([], "names no column"),
        (["km", "km"], "different columns"),
        (["km", "no"], "'no' is no column"),
        (["km", "a"], "different columns"),
    ):
        with pytest.raises(InvalidValue, match=text):
            Matrix.from_edgelist(ROADS, source="a", target="b", weight=weight, relabel=True)


def test_attributes_of_nodes_and_edges_pass_through_networkx() -> None:
    nx = pytest.importorskip("networkx")
    G = nx.DiGraph()
    G.add_node("zoe", age=7, at=(1, 2))
    G.add_edge("ann", "bob", km=1.5, lanes=2)
    G.add_edge("bob", "cy", km=2.5, lanes=3)
    G.nodes["ann"].update(age=31, job="pilot")
    A = sr.io.from_networkx(G, ["km", "lanes"], node_attributes=True)
    assert A.labels.attributes["age"].tolist() == [7, 31, None, None]
    assert A.to_dicts() == {1: {2: (1.5, 2)}, 2: {3: (2.5, 3)}}
    for graph in (nx.DiGraph, nx.MultiDiGraph):
        H = sr.io.to_networkx(A, create_using=graph)
        assert dict(H.nodes(data=True)) == dict(G.nodes(data=True))
        assert list(H.edges(data=True)) == list(G.edges(data=True))
    assert nx.utils.graphs_equal(sr.io.to_networkx(A), G)
    some = sr.io.from_networkx(G, nodelist=["bob", "ann"], node_attributes=["job"])
    assert {name: list(column) for name, column in some.labels.attributes.items()} == {"job": [None, "pilot"]}
    assert not sr.io.from_networkx(G).labels.attributes
    with pytest.raises(InvalidValue, match="no node has the attribute 'jobs'"):
        sr.io.from_networkx(G, node_attributes=["jobs"])
    for weight, dtype in (([], None), (["km"], float)):
        with pytest.raises(InvalidValue, match="a list of weights"):
            sr.io.from_networkx(G, weight, dtype=dtype)


def test_attributes_pass_through_igraph() -> None:
    igraph = pytest.importorskip("igraph")
    G = igraph.Graph([(0, 1), (1, 2)], directed=True)
    G.vs["name"], G.vs["age"] = ["ann", "bob", "cy"], [31, None, 5]
    G.es["km"], G.es["lanes"] = [1.5, 2.5], [2, 3]
    A = sr.io.from_igraph(G, ["km", "lanes"], vertex_attributes=True)
    assert A.to_dicts() == {0: {1: (1.5, 2)}, 1: {2: (2.5, 3)}}
    H = sr.io.to_igraph(A)
    assert (H.vs["name"], H.vs["age"], H.es["km"], H.es["lanes"]) == (G.vs["name"], G.vs["age"], G.es["km"], [2, 3])
    del G.vs["name"]
    B = sr.io.from_igraph(G, vertex_attributes=["age"])
    assert (list(B.labels), B.labels.attributes["age"].tolist()) == ([0, 1, 2], [31, None, 5])
    for options in ({"vertex_attributes": ["ages"]}, {"weight": []}, {"weight": ["km", "no"]}):
        with pytest.raises(InvalidValue, match=r"^from_igraph: "):
            sr.io.from_igraph(G, **options)


# -- attributes of vertices ------------------------------------------------------------------------------------


@pytest.mark.parametrize("at", range(len(frames())))
def test_a_frame_of_vertices_is_labels_with_attributes(at: int) -> None:
    labels = Labels.from_frame(frames()[at], key="id")
    assert labels == Labels(PEOPLE["id"])
    age, city, km = (labels.attributes[name] for name in ("age", "city", "km"))
    assert (age.dtype, age.tolist(), city.tolist(), km.dtype) == (np.int64, [25, 31, 44], ["Oslo", None, "Rome"], float)
    assert np.array_equal(km, [1.5, np.nan, 2.5], equal_nan=True)
    with pytest.raises(ValueError, match="read-only"):
        age[0] = 1
    with pytest.raises(TypeError):
        labels.attributes["age"] = age  # type: ignore[index]
    A = Matrix.from_edgelist([("ann", "bob")], relabel=labels)
    assert A.shape == (3, 3)
    assert sr.algorithms.pagerank(A).labels.attributes["age"] is age
    assert A[["bob", "eve"], ["bob", "eve"]].labels.attributes["city"].tolist() == ["Rome", "Oslo"]
    assert A.permute([2, 0, 1]).labels.attributes["age"].tolist() == [44, 25, 31]
    assert sr.algorithms.ego_graph(A, "ann")[1].labels.attributes["age"].tolist() == [31, 44]
    kept = pickle.loads(pickle.dumps(A)).labels.attributes
    assert {name: kept[name].tolist() for name in ("age", "city")} == {"age": age.tolist(), "city": city.tolist()}
    assert not kept["age"].flags.writeable


@pytest.mark.parametrize("to", ["to_pandas", "to_polars", "to_arrow"])
def test_labels_and_attributes_are_a_frame(to: str) -> None:
    pytest.importorskip({"to_pandas": "pandas", "to_polars": "polars", "to_arrow": "pyarrow"}[to])
    labels = Labels.from_frame(PEOPLE)
    back = Labels.from_frame(getattr(labels, to)("id"), "id")
    assert back == labels
    assert {name: repr(column.tolist()) for name, column in back.attributes.items()} == {
        name: repr(column.tolist()) for name, column in labels.attributes.items()
    }
    assert Labels.from_frame(getattr(Labels([5, 3]), to)()) == Labels([5, 3])
    with pytest.raises(InvalidValue, match="'age' is an attribute"):
        getattr(labels, to)("age")


def test_attributes_are_no_part_of_a_numbering() -> None:
    one, other = Labels(["a", "b"], {"x": [1, 2]}), Labels(["a", "b"], {"x": [3, 4]})
    assert one == other == Labels(["a", "b"])
    A, B = Matrix.from_edgelist([("a", "b")], relabel=one), Matrix.from_edgelist([("b", "a")], relabel=other)
    assert (A | B).labels is one
    wrong: list[tuple[Any, type[Exception]]] = [
        ([1, 2], InvalidType),
        ({"x": [1]}, DimensionMismatch),
        ({"x": np.zeros((2, 2))}, DimensionMismatch),
    ]
    for table, error in wrong:
        with pytest.raises(error, match=r"^Labels: "):
            Labels(["a", "b"], table)
    with pytest.raises(InvalidValue, match="'key' is no column; the columns are 'id'"):
        Labels.from_frame({"id": ["a"]}, "key")


# -- errors ------------------------------------------------------------------------------------------------------


def test_an_edge_that_is_given_twice_is_named(tmp_path: Path) -> None:
    twice = [("ann", "bob", 1), ("bob", "ann", 2), ("ann", "bob", 3)]
    for options in ({"relabel": True}, {"bipartite": True}):
        with pytest.raises(DuplicateIndex, match=r"^from_edgelist: the edge \('ann', 'bob'\) is given more than once"):
            Matrix.from_edgelist(twice, **options)  # type: ignore[arg-type]
    with pytest.raises(DuplicateIndex, match=r"entry \(0, 1\) is given") as caught:
        Matrix.from_edgelist([(0, 1, 5), (0, 1, 6)])
    assert caught.value.place == (0, 1)
    path = tmp_path / "edges.csv"
    path.write_text("".join(f"{u},{v},{w}\n" for u, v, w in twice))
    with pytest.raises(DuplicateIndex, match=r"edges.csv:3: .* a second one at \('ann', 'bob'\) \(first in line 1\)"):
        sr.io.read(path, relabel=True)
    nx = pytest.importorskip("networkx")
    G = nx.MultiDiGraph([("ann", "bob", {"w": 1}), ("ann", "bob", {"w": 2})])
    with pytest.raises(DuplicateIndex, match=r"the edge \('ann', 'bob'\) is given more than once"):
        sr.io.from_networkx(G, "w")
