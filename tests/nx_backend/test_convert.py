"""Graphs of NetworkX to the backend and back: nodes, attributes, order, cache."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import semiring as sr
from semiring.bridges.networkx.sorted_sets import among, distinct
from semiring.nx_backend import Graph, backend, convert_from_nx, convert_to_nx

KINDS = [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph]
LABELS: list[list[Hashable]] = [
    [0, 1, 2, 3, 4],
    ["a", "b", "c", "d", "e"],
    [(0, 1), frozenset({2}), None.__class__, 7.5, "x"],
]
LABELS += [[3, 1, 4, 15, 9], [True, 0, 2, "2", -5], [10**30, -(10**30), 0, 1, 2]]


@st.composite
def graphs(draw: st.DrawFn) -> Any:
    G = draw(st.sampled_from(KINDS))(name="drawn")
    labels = draw(st.sampled_from(LABELS))
    G.add_nodes_from(labels[: draw(st.integers(0, 5))], color="red")
    node = st.sampled_from(labels)
    values = st.sampled_from([{}, {"weight": 2}, {"weight": 0.5, "kind": "road"}, {"kind": None}])
    for u, v, data in draw(st.lists(st.tuples(node, node, values), max_size=12)):
        G.add_edge(u, v, **data)
    return G


def same(G: Any, H: Any) -> bool:
    """Whether two graphs are equal, with the order of nodes and neighbors."""
    orders = [(list(g._adj), [list(neighbors) for neighbors in g._adj.values()]) for g in (G, H)]
    return type(G) is type(H) and orders[0] == orders[1] and (G._node, G._adj, G.graph) == (H._node, H._adj, H.graph)


@given(graphs())
def test_round_trip_keeps_everything(G: Any) -> None:
    H = convert_from_nx(
        G, preserve_edge_attrs=True, preserve_node_attrs=True, preserve_graph_attrs=True, name="test", graph_name="G"
    )
    back = convert_to_nx(H)
    assert same(G, back)
    if G.is_directed():
        assert {v: set(part) for v, part in G._pred.items()} == {v: set(part) for v, part in back._pred.items()}
        assert all(back._pred[v][u] is back._adj[u][v] for u in back for v in back._adj[u])
    else:
        assert all(back._adj[v][u] is back._adj[u][v] for u in back for v in back._adj[u])
    assert (H.number_of_nodes(), H.number_of_edges()) == (G.number_of_nodes(), G.number_of_edges())
    assert H.edges() == [edge[:2] for edge in G.edges]
    assert dict(G.degree()) == H.by_node(H.degrees())


@pytest.mark.costly
@given(graphs())
def test_matrices_are_those_of_networkx(G: Any) -> None:
    H = convert_from_nx(G, edge_attrs={"weight": 1})
    n = len(G)
    expected = nx.to_numpy_array(G, weight="weight") if n else np.zeros((0, 0))
    assert np.array_equal(H.matrix("weight").to_numpy(0.0), expected)
    assert np.array_equal(H.structure.to_numpy(False), nx.to_numpy_array(G, weight=None) > 0 if n else expected > 0)
    if G.is_multigraph() and n:
        least = nx.to_numpy_array(G, weight="weight", multigraph_weight=min)
        assert np.array_equal(H.matrix("weight", "min").to_numpy(0.0), least)


@given(graphs())
def test_from_networkx_is_the_adjacency_matrix(G: Any) -> None:
    assert sr.io.from_networkx(G).shape == (len(G), len(G))
    if len(G):
        found = sr.io.from_networkx(G, weight="weight", dup_op="plus").to_numpy(0.0)
        assert np.array_equal(found, nx.to_numpy_array(G, weight="weight"))
        reverse = list(G)[::-1]
        found = sr.io.from_networkx(G, weight="weight", nodelist=reverse, dup_op="plus").to_numpy(0.0)
        assert np.array_equal(found, nx.to_numpy_array(G, weight="weight", nodelist=reverse))


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph])
def test_to_networkx_is_what_adding_edges_gives(kind: Any) -> None:
    rng = np.random.default_rng(1)
    dense = rng.integers(1, 9, (7, 7)) * (rng.random((7, 7)) < 0.5)
    structure = (dense > 0) | (dense.T > 0) if kind is nx.Graph else dense > 0
    rows, cols = np.nonzero(structure)
    values = rng.integers(1, 9, len(rows))
    A = sr.Matrix.from_coo(rows, cols, values, shape=(7, 7))
    names = list("abcdefg")
    expected = kind()
    expected.add_nodes_from(names)
    for i, j, x in zip(rows.tolist(), cols.tolist(), values.tolist(), strict=True):
        expected.add_edge(names[i], names[j], weight=x)
    assert same(sr.io.to_networkx(A, create_using=kind, nodes=names), expected)


def test_attributes_and_defaults() -> None:
    G = nx.Graph([("a", "b", {"w": 3, "text": "far"}), ("b", "c", {})])
    H = convert_from_nx(G, edge_attrs={"w": 7}, node_attrs={"color": "red"})
    assert H.matrix("w").to_dicts() == {0: {1: 3}, 1: {0: 3, 2: 7}, 2: {1: 7}}
    assert convert_to_nx(H).nodes["a"] == {"color": "red"}
    assert convert_from_nx(G, edge_attrs={"absent": 5}).matrix("absent").to_dicts()[0] == {1: 5}
    assert convert_from_nx(G, edge_attrs={"absent": 1}).matrix("absent").is_iso
    with pytest.raises(NotImplementedError, match="not real numbers"):
        convert_from_nx(G, edge_attrs={"text": 1}).matrix("text")


@pytest.mark.parametrize("value", [float("nan"), 10**25, 2**62, 1j, "1", None, [1]])
def test_values_that_no_matrix_holds_are_refused(value: Any) -> None:
    G = nx.path_graph(4)
    nx.set_edge_attributes(G, value, "weight")
    with pytest.raises(NotImplementedError):
        nx.single_source_dijkstra_path_length(G, 0, backend="semiring")


def test_other_numbers_are_taken() -> None:
    G = nx.Graph([(0, 1, {"weight": True}), (1, 2, {"weight": np.float32(0.5)}), (2, 3, {"weight": np.int8(2)})])
    found = nx.single_source_dijkstra_path_length(G, 0, backend="semiring")
    assert found == nx.single_source_dijkstra_path_length(G, 0) == {0: 0, 1: 1, 2: 1.5, 3: 3.5}


def test_the_cache_follows_the_graph() -> None:
    G = nx.path_graph(5)
    assert nx.diameter(G, backend="semiring") == 4
    kept = G.__networkx_cache__["backends"]["semiring"]
    assert nx.diameter(G, backend="semiring") == 4
    assert G.__networkx_cache__["backends"]["semiring"] is kept
    G.add_edge(4, 0)
    assert "backends" not in G.__networkx_cache__
    assert nx.diameter(G, backend="semiring") == 2
    G.remove_node(0)
    assert nx.diameter(G, backend="semiring") == 3
    nx.set_edge_attributes(G, 10, "weight")
    assert nx.dijkstra_path_length(G, 1, 4, backend="semiring") == 30
    G.add_edge(1, 2, weight=1)
    assert nx.dijkstra_path_length(G, 1, 4, backend="semiring") == 21


def test_without_a_cache_every_call_converts() -> None:
    G = nx.path_graph(5)
    with nx.config(cache_converted_graphs=False):
        assert nx.diameter(G, backend="semiring") == 4
    assert "backends" not in G.__networkx_cache__


def test_views_are_converted() -> None:
    G = nx.cycle_graph(10)
    assert nx.diameter(G.subgraph(range(5)), backend="semiring") == 4
    D = nx.DiGraph([(0, 1), (1, 2)])
    assert nx.descendants(D.reverse(copy=False), 2, backend="semiring") == {0, 1}
    assert nx.number_connected_components(nx.subgraph_view(G, filter_node=lambda v: v % 5), backend="semiring") == 2


def test_the_device_is_a_setting() -> None:
    G = nx.path_graph(3)
    with nx.config.backends.semiring(device="cpu"):
        H = backend.convert_from_nx(G)
    assert (H.device, H.structure.device) == ("cpu", "cpu")
    assert isinstance(H, Graph)


class Complement(nx.Graph):  # type: ignore[misc]
    """A graph whose neighbors are not in its dictionaries."""

    def adjacency(self) -> Any:
        return iter([])


class Named(nx.Graph):  # type: ignore[misc]
    """A graph with a method of its own."""


def test_subclasses() -> None:
    with pytest.raises(NotImplementedError, match="a graph of type Complement"):
        convert_from_nx(Complement([(0, 1)]))
    assert convert_from_nx(Named([(0, 1)])).number_of_edges() == 1


def test_other_objects_are_refused() -> None:
    with pytest.raises(NotImplementedError, match="a graph of type list"):
        convert_from_nx([(0, 1)])
    assert convert_to_nx(3) == 3


@pytest.mark.parametrize("share", [0.0, 0.3, 0.8, 1.0])
def test_equal_labels_that_are_other_objects(share: float) -> None:
    """Labels are compared as NetworkX does, not by identity."""
    rng = np.random.default_rng(2)
    names = [f"node {number}" for number in range(200)]
    G = nx.Graph()
    G.add_nodes_from(names)
    for u, v in rng.integers(0, 200, (900, 2)).tolist():
        other = "".join(list(names[v]))
        G.add_edge(names[u], other if rng.random() >= share else names[v])
    expected = nx.to_numpy_array(G, weight=None)
    assert np.array_equal(convert_from_nx(G).structure.to_numpy(False), expected > 0)


def test_sets_of_numbers() -> None:
    rng = np.random.default_rng(3)
    for values, stored in ((rng.integers(0, 9, 30), rng.integers(0, 9, 4)), (np.arange(3), np.zeros(0, int))):
        assert np.array_equal(distinct(values), np.unique(values))
        assert np.array_equal(among(values, stored), np.isin(values, stored))
        assert not distinct(stored[:0]).size
