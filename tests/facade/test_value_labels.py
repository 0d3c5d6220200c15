"""Values of edges that are names: codes with `value_labels`, from and to frames, NetworkX and igraph."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest

import semiring as sr
from semiring import Labels, Matrix
from semiring.exceptions import DuplicateIndex, InvalidType, InvalidValue

WAYS = {"from": ["ann", "bob", "ann"], "to": ["bob", "eve", "eve"], "kind": ["road", "rail", "road"]}
NAMED = {("ann", "bob"): "road", ("bob", "eve"): "rail", ("ann", "eve"): "road"}


def named(A: Matrix) -> dict[Any, Any]:
    """The entries by names."""
    rows, columns, values = A.to_coo(device="cpu")
    assert A.labels is not None
    assert A.value_labels is not None
    names = (A.labels[rows], A.labels[columns], A.value_labels[values])
    return {(u, v): x for u, v, x in zip(*names, strict=True)}


@pytest.mark.parametrize("library", ["dict", "pandas", "categories", "polars", "pyarrow", "list", "array", "values"])
def test_names_of_edges_come_from_every_source_and_return(library: str) -> None:
    edges: Any = WAYS
    values = None
    if library == "categories":
        edges = pytest.importorskip("pandas").DataFrame(WAYS).astype({"kind": "category"})
    elif library in ("pandas", "polars"):
        edges = pytest.importorskip(library).DataFrame(WAYS)
    elif library == "pyarrow":
        edges = pytest.importorskip(library).table(WAYS)
    elif library == "list":
        edges = list(zip(*WAYS.values(), strict=True))
    elif library == "array":
        edges = np.array(list(zip(*WAYS.values(), strict=True)), object)
    elif library == "values":
        edges, values = list(NAMED), WAYS["kind"]
    A = Matrix.from_edgelist(edges, values, relabel=True, value_labels=True)
    assert named(A) == NAMED
    assert A.dtype == np.int64
    assert list(A.value_labels or ()) == ["rail", "road"]
    for export in ("pandas", "polars", "arrow"):
        try:
            table = getattr(A, f"to_{export}")()
        except sr.exceptions.NotSupported:
            continue
        assert list(table["weight"].to_pylist() if export == "arrow" else table["weight"]) == ["road", "road", "rail"]
    again = Matrix.from_edgelist(edges, values, relabel=True, value_labels=Labels(["air", "road", "rail"]))
    assert named(again) == NAMED
    assert again["bob", "eve"].value == 2


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph])
def test_names_of_edges_pass_through_networkx(kind: Any) -> None:
    G = kind()
    G.add_edges_from((u, v, {"kind": x}) for (u, v), x in NAMED.items())
    A = sr.io.from_networkx(G, "kind", value_labels=True)
    found = named(A)
    assert {edge: found[edge] for edge in NAMED} == NAMED
    H = sr.io.to_networkx(A, "kind", create_using=kind)
    assert nx.utils.graphs_equal(G, H)
    multi = sr.io.to_networkx(A, "kind", create_using=nx.MultiDiGraph)
    assert {(u, v): x for u, v, x in multi.edges(data="kind")} == found
    part = sr.io.from_networkx(G, "kind", ["eve", "bob"], value_labels=True)
    assert named(part)["bob", "eve"] == "rail"
    assert sr.io.from_networkx(kind([(0, 1)]), None, value_labels=False).value_labels is None
    same = sr.io.from_networkx(kind([(0, 1, {"kind": "road"})]), "kind", value_labels=True)  # one value for all
    assert next(iter(sr.io.to_networkx(same, "kind").edges(data="kind"))) == (0, 1, "road")


def test_names_of_edges_pass_through_igraph() -> None:
    igraph = pytest.importorskip("igraph")
    G = igraph.Graph.TupleList([(u, v, x) for (u, v), x in NAMED.items()], edge_attrs=["kind"], directed=True)
    A = sr.io.from_igraph(G, "kind", value_labels=True)
    assert named(A) == NAMED
    H = sr.io.to_igraph(A, "kind")
    assert {(H.vs[e.source]["name"], H.vs[e.target]["name"]): e["kind"] for e in H.es} == NAMED


def test_names_of_edges_that_repeat_are_chosen() -> None:
    twice = [(0, 1, "road"), (0, 1, "rail")]
    for dup_op, right in (("first", "road"), ("last", "rail"), ("min", "rail"), (sr.binary.max, "road")):
        A = Matrix.from_edgelist(twice, value_labels=True, dup_op=dup_op)
        assert A.value_labels is not None
        assert A.value_labels[A[0, 1].value] == right
    with pytest.raises(DuplicateIndex):
        Matrix.from_edgelist(twice, value_labels=True)
    with pytest.raises(InvalidValue, match="dup_op= of names is one of any, first, last, max, min, got 'plus'"):
        Matrix.from_edgelist(twice, value_labels=True, dup_op="plus")
    parallel = nx.MultiDiGraph([(0, 1, {"kind": "road"}), (0, 1, {"kind": "rail"})])
    with pytest.raises(InvalidValue, match="dup_op= of names is one of"):
        sr.io.from_networkx(parallel, "kind", value_labels=True, dup_op="plus")


def test_names_where_none_fit_are_refused() -> None:
    edges = Matrix.from_edgelist
    with pytest.raises(InvalidValue, match=r"must hold numbers, .*or number its values by value_labels=True"):
        edges(WAYS, relabel=True)
    with pytest.raises(InvalidValue, match="records hold numbers; value_labels= is for one column of names"):
        edges(WAYS, source="from", target="to", weight=["kind"], relabel=True, value_labels=True)
    with pytest.raises(InvalidValue, match="value_labels= numbers values, and the edges hold none"):
        edges([(0, 1)], value_labels=True)
    with pytest.raises(InvalidValue, match=r"weight\[1\] is missing"):
        edges([(0, 1, "road"), (1, 2, None)], value_labels=True)
    with pytest.raises(InvalidValue, match="value_labels= numbers names, and has no dtype"):
        edges([(0, 1, "road")], dtype=int, value_labels=True)
    with pytest.raises(InvalidType, match=r"value_labels= is True, False or semiring.Labels, got str"):
        edges([(0, 1, "road")], value_labels="kind")  # type: ignore[arg-type]
    G = nx.Graph([(0, 1, {"kind": "road"}), (1, 2)])
    for weight, text in (("kind", "expected a name for each edge, and one lacks it"), (None, "got weight=None")):
        with pytest.raises(InvalidValue, match=text):
            sr.io.from_networkx(G, weight, value_labels=True)
    with pytest.raises(InvalidValue, match=r"expected a number for each edge, .*value_labels=True numbers names"):
        sr.io.from_networkx(G, "kind")
