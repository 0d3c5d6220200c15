"""Means of distances, efficiencies and common ancestors: those of NetworkX, igraph and SciPy, and their definitions."""

from __future__ import annotations

import itertools
import math
import sys
from typing import Any

import igraph
import networkx as nx
import numpy as np
import pytest
from scipy.sparse.csgraph import dijkstra

import semiring as sr
from semiring import Matrix, algorithms
from semiring.exceptions import DimensionMismatch, DomainMismatch, GraphProperty, IndexOutOfBound, InvalidValue
from tests.algorithms.centrality.graphs import GRAPHS, by_graph, by_some, host, matrix


def distances(graph: Any, *, weighted: bool) -> Any:
    """The distances of all pairs by SciPy, infinite without a path."""
    if len(graph) == 0:
        return np.zeros((0, 0))
    S = nx.to_scipy_sparse_array(graph, weight="weight" if weighted else None, format="csr")
    return dijkstra(S, unweighted=not weighted)


@by_graph
@pytest.mark.parametrize("weighted", [False, True])
def test_sums_of_distances(graph: Any, weighted: bool) -> None:
    A, n = matrix(graph, "weight"), len(graph)
    D = distances(graph, weighted=weighted)
    off = D[~np.eye(n, dtype=bool)]
    total = off.sum() / (1 if graph.is_directed() and n > 1 else 2)
    assert algorithms.wiener_index(A, weight=weighted) == pytest.approx(total)
    assert algorithms.global_efficiency(A, weight=weighted) == pytest.approx(np.mean(1 / off) if n > 1 else 0.0)
    if np.isfinite(off).all():
        found = algorithms.average_shortest_path_length(A, weight=weighted)
        assert found == pytest.approx(off.mean() if n > 1 else 0.0)
    else:
        with pytest.raises(GraphProperty, match="does not reach"):
            algorithms.average_shortest_path_length(A, weight=weighted)


def test_networkx_and_igraph_name_the_same() -> None:
    graph = GRAPHS["karate"]
    A = matrix(graph, "weight")
    other = igraph.Graph(n=34, edges=list(graph.edges))
    for weight in (None, "weight"):
        weighted = weight is not None
        mean = nx.average_shortest_path_length(graph, weight=weight)
        assert algorithms.average_shortest_path_length(A, weight=weighted) == pytest.approx(mean)
        assert algorithms.wiener_index(A, weight=weighted) == pytest.approx(nx.wiener_index(graph, weight=weight))
    assert algorithms.average_shortest_path_length(A) == pytest.approx(other.average_path_length())
    assert algorithms.global_efficiency(A) == pytest.approx(nx.global_efficiency(graph))


@by_graph
def test_local_efficiency(graph: Any) -> None:
    if graph.is_directed():
        with pytest.raises(GraphProperty, match="local_efficiency"):
            algorithms.local_efficiency(matrix(graph))
        return
    simple = nx.Graph(graph)
    simple.remove_edges_from(nx.selfloop_edges(simple))
    expected = [nx.global_efficiency(simple.subgraph(simple[v])) for v in range(len(graph))]
    found = host(algorithms.local_efficiency(matrix(graph)))
    np.testing.assert_allclose(found, expected, atol=1e-12)
    if len(graph):
        assert found.mean() == pytest.approx(nx.local_efficiency(simple))


def test_groups_of_neighborhoods_and_storage_kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    A, calls = matrix(GRAPHS["karate"]), []
    whole = algorithms.local_efficiency(A)
    module = sys.modules["semiring.algorithms.paths.averages"]
    monkeypatch.setattr(module, "_PAIRS", dict.fromkeys(("cpu", "cuda"), 20))
    parts = algorithms.local_efficiency(A, progress=lambda done, total: calls.append((done, total)))
    assert parts.isclose(whole, abs_tol=1e-12)
    assert len(calls) > 5
    assert calls[-1] == (156, 156)
    for made in (A.compress("packed"), A.compress("varint"), A.to(placement="host"), A.dup().convert("hypersparse")):
        assert algorithms.local_efficiency(made).isclose(whole, abs_tol=1e-12)
        assert algorithms.global_efficiency(made) == pytest.approx(algorithms.global_efficiency(A))


@by_some
def test_weighted_closeness(graph: Any) -> None:
    A = matrix(graph, "weight")
    close, harmonic = algorithms.closeness_centrality(A, weight=True), algorithms.harmonic_centrality(A, weight=True)
    np.testing.assert_allclose(host(close), list(nx.closeness_centrality(graph, distance="weight").values()))
    np.testing.assert_allclose(host(harmonic), list(nx.harmonic_centrality(graph, distance="weight").values()))
    other = igraph.Graph(n=len(graph), edges=list(graph.edges), directed=graph.is_directed())
    weights = [data["weight"] for _, _, data in graph.edges(data=True)]
    theirs = np.array(other.closeness(mode="in", weights=weights))
    np.testing.assert_allclose(
        host(algorithms.closeness_centrality(A, weight=True, wf_improved=False)), np.nan_to_num(theirs), atol=1e-12
    )


def test_weights_are_checked() -> None:
    A = Matrix.from_coo([0, 1], [1, 2], [1.0, -2.0], shape=(3, 3))
    for call in (
        algorithms.closeness_centrality,
        algorithms.harmonic_centrality,
        algorithms.global_efficiency,
        algorithms.average_shortest_path_length,
        algorithms.wiener_index,
    ):
        name = call.__name__
        with pytest.raises(InvalidValue, match=f"{name}: weights must not be negative, got -2"):
            call(A, weight=True)
        with pytest.raises(InvalidValue, match=f"{name}: a weight is NaN"):
            call(A.apply("times", right=np.nan).new(), weight=True)
        with pytest.raises(DomainMismatch, match=name):
            call(A.dup(complex), weight=True)
        with pytest.raises(DimensionMismatch, match=name):
            call(Matrix(float, 2, 3))
        with pytest.raises(InvalidValue, match=f"{name}: progress"):
            call(A, progress=3)
    none = Matrix(float, 3, 3)
    assert algorithms.global_efficiency(none) == 0
    assert algorithms.wiener_index(none) == math.inf
    assert algorithms.harmonic_centrality(A.apply("times", right=0.0).new(), weight=True).to_dict() == {
        0: 0,
        1: 0,
        2: 0,
    }


@pytest.mark.costly
@pytest.mark.parametrize("seed", range(4))
def test_lowest_common_ancestors(seed: int) -> None:
    drawn = nx.gnp_random_graph(16, 0.15, seed=seed, directed=True)
    graph = nx.DiGraph([(u, v) for u, v in drawn.edges if u < v])
    graph.add_nodes_from(range(16))
    A = sr.io.from_networkx(graph, nodelist=range(16), weight=None)
    above = {v: nx.ancestors(graph, v) | {v} for v in graph}
    for u, v in itertools.combinations_with_replacement(range(0, 16, 3), 2):
        common = above[u] & above[v]
        lowest = {w for w in common if not any(x != w and w in above[x] for x in common)}
        assert set(algorithms.lowest_common_ancestors(A, u, v).to_dict()) == lowest
        assert algorithms.lowest_common_ancestor(A, u, v) == min(lowest, default=None)
        assert (nx.lowest_common_ancestor(graph, u, v) in lowest) or not lowest


def test_common_ancestors_need_an_acyclic_graph() -> None:
    A = Matrix.from_edgelist([(0, 1), (1, 0), (1, 2)])
    for call in (algorithms.lowest_common_ancestor, algorithms.lowest_common_ancestors):
        with pytest.raises(GraphProperty, match=f"{call.__name__}: the graph has a cycle"):
            call(A, 0, 2)
        with pytest.raises(IndexOutOfBound, match=call.__name__):
            call(A, 0, 3)
        with pytest.raises(DimensionMismatch, match=call.__name__):
            call(Matrix(bool, 2, 3), 0, 1)
    tree = Matrix.from_edgelist([(0, 1), (0, 2), (1, 3)])
    for made in (tree.compress("packed"), tree.compress("varint"), tree.to(placement="host")):
        assert algorithms.lowest_common_ancestor(made, 2, 3) == 0
