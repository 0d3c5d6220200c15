"""Infinite weights in all functions of paths, centrality and spanning forests that read weights: one rule.

An edge of weight inf is an edge, longer than every path of finite weights; distances over it are inf.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import networkx as nx
import numpy as np
import pytest

import semiring as sr
from semiring import Matrix
from semiring import algorithms as alg
from semiring.exceptions import GraphProperty

INF = math.inf
# Acyclic, with at most one path of infinite length for each pair, so that NetworkX counts them too.
ACYCLIC = [(0, 1, 1.0), (1, 2, INF), (2, 3, 2.0), (3, 4, INF), (0, 5, 4.0), (1, 5, 2.0), (6, 2, INF)]
# Two parts of finite weights, which infinite edges join.
JOINED = [(0, 1, 1.0), (1, 2, 2.0), (0, 2, 2.5), (3, 4, 1.0), (4, 5, 3.0), (2, 3, INF), (1, 4, INF), (5, 6, INF)]


def directed() -> nx.DiGraph:
    graph = nx.DiGraph()
    graph.add_nodes_from(range(7))
    graph.add_weighted_edges_from(ACYCLIC)
    return graph


def undirected() -> nx.Graph:
    graph = nx.Graph()
    graph.add_nodes_from(range(7))
    graph.add_weighted_edges_from(JOINED)
    return graph


def matrix(graph: Any, *, infinity: float = INF) -> Matrix:
    tails, heads, weights = map(list, zip(*graph.edges(data="weight"), strict=True))
    weights = [infinity if w == INF else w for w in weights]
    A = Matrix.from_coo(tails, heads, weights, np.float64, shape=(len(graph), len(graph)))
    return A if graph.is_directed() else A.ewise_add(A.T, "any").new()


by_graph = pytest.mark.parametrize("graph", [directed(), undirected()], ids=["acyclic", "joined"])


@by_graph
def test_distances(graph: Any) -> None:
    """Those of NetworkX, which lists what is reached over infinite edges, too."""
    A = matrix(graph)
    expected = {u: dict(row) for u, row in nx.all_pairs_dijkstra_path_length(graph)}
    assert alg.all_pairs(A).to_dicts() == expected
    assert alg.all_pairs(A, method="products").to_dicts() == expected
    for source in graph:
        for method in ("auto", "bellman_ford", "delta_stepping"):
            assert alg.sssp(A, source, method=method).to_dict() == expected[source]
        distance, parent = alg.shortest_path_tree(A, source)
        assert distance.to_dict() == expected[source]
        assert parent.to_dict().keys() == expected[source].keys()
        for target in graph:
            path = alg.shortest_path(A, source, target, weight=True)
            assert (path is None) == (target not in expected[source])
            if path is not None:
                assert (path.vertices[0], path.vertices[-1]) == (source, target)
                assert nx.path_weight(graph, path.vertices, "weight") == path.length == expected[source][target]
    assert alg.sssp(A, 0, cutoff=100).to_dict() == {v: d for v, d in expected[0].items() if d <= 100}


@by_graph
def test_k_shortest_paths(graph: Any) -> None:
    A = matrix(graph)
    for source, target in ((0, 4), (0, 5), (6, 5)):
        simple = [tuple(p) for p in nx.all_simple_paths(graph, source, target)]
        found = alg.k_shortest_paths(A, source, target, 1000)
        assert sorted(tuple(route.vertices) for route in found) == sorted(simple)
        assert [route.length for route in found] == sorted(nx.path_weight(graph, p, "weight") for p in simple)


@by_graph
def test_means_of_distances(graph: Any) -> None:
    """1 / inf = 0, and a sum with an infinite distance is infinite."""
    A, n = matrix(graph), len(graph)
    for function, options, other in (
        (alg.closeness_centrality, {}, nx.closeness_centrality(graph, distance="weight")),
        (
            alg.closeness_centrality,
            {"wf_improved": False},
            nx.closeness_centrality(graph, distance="weight", wf_improved=False),
        ),
        (alg.harmonic_centrality, {}, nx.harmonic_centrality(graph, distance="weight")),
    ):
        found = function(A, weight=True, **options).to_dict()
        assert found == pytest.approx(other)
    inverses = [1 / d for _, row in nx.all_pairs_dijkstra_path_length(graph) for d in row.values() if d]
    assert alg.global_efficiency(A, weight=True) == pytest.approx(sum(inverses) / (n * (n - 1)))
    assert alg.wiener_index(A, weight=True) == nx.wiener_index(graph, weight="weight") == INF
    if graph.is_directed():
        with pytest.raises(GraphProperty, match="does not reach"):
            alg.average_shortest_path_length(A, weight=True)
    else:
        assert alg.average_shortest_path_length(A, weight=True) == INF
        assert nx.average_shortest_path_length(graph, weight="weight") == INF


@by_graph
def test_betweenness(graph: Any) -> None:
    """The result for a weight above the sum of the others; on acyclic graphs that of NetworkX for infinite ones.

    On others NetworkX counts every edge between vertices of infinite distance as one of a shortest path, in both
    directions.
    """
    A, large = matrix(graph), graph.copy()
    for _, _, data in large.edges(data=True):
        data["weight"] = min(data["weight"], 1000.0)
    compared = [large, graph] if graph.is_directed() else [large]
    for options in ({}, {"normalized": False}, {"endpoints": True}):
        found = alg.betweenness_centrality(A, weight=True, **options).to_dict()
        for other in compared:
            assert found == pytest.approx(nx.betweenness_centrality(other, weight="weight", **options))
    found = alg.edge_betweenness_centrality(A, weight=True)
    for other in compared:
        expected = nx.edge_betweenness_centrality(other, weight="weight")
        assert {(u, v): found[u, v].value for u, v in expected} == pytest.approx(expected)


def test_betweenness_of_infinite_weights_alone() -> None:
    """They count as equal weights, also in float32; beside large weights, whose sums with others are rounded, too."""
    A = matrix(undirected()).apply("one").new()
    expected = alg.betweenness_centrality(A, weight=True)
    for dtype in (np.float64, np.float32):
        assert alg.betweenness_centrality(A.apply("times", right=INF).dup(dtype), weight=True).isclose(expected)
    path = Matrix.from_coo([0, 1, 2], [1, 2, 3], np.array([1e308, INF, 1e308]), shape=(4, 4))
    assert alg.betweenness_centrality(path, weight=True, normalized=False).to_dict() == {
        0: 0.0,
        1: 2.0,
        2: 2.0,
        3: 0.0,
    }


def test_betweenness_compares_infinite_lengths() -> None:
    """Fewer infinite edges are shorter, then the least sum of the others; of equal ones each has its share."""
    edges = [(0, 1, INF), (1, 4, 5.0), (0, 2, INF), (2, 4, 4.0), (0, 3, INF), (3, 4, 4.0), (0, 5, INF), (5, 4, INF)]
    tails, heads, weights = map(list, zip(*edges, strict=True))
    A = Matrix.from_coo(tails, heads, weights, shape=(6, 6))
    found = alg.betweenness_centrality(A, weight=True, normalized=False)
    assert found.to_dict() == {0: 0.0, 1: 0.0, 2: 0.5, 3: 0.5, 4: 0.0, 5: 0.0}


@pytest.mark.parametrize("maximum", [False, True])
@pytest.mark.parametrize("method", ["kruskal", "boruvka"])
def test_spanning_forest(method: str, maximum: bool) -> None:
    graph = undirected()
    other = (nx.maximum_spanning_tree if maximum else nx.minimum_spanning_tree)(graph)
    found = alg.minimum_spanning_forest(matrix(graph), maximum=maximum, method=method).select("triu")
    assert found.nvals == other.number_of_edges() == 6
    assert sorted(found.to_coo()[2].tolist()) == sorted(w for *_, w in other.edges(data="weight"))


def test_widest_and_longest_paths() -> None:
    """Infinite capacities limit nothing; an infinite weight makes every path over it infinitely long."""
    A, graph = matrix(directed()), directed()
    for source in graph:
        expected = {source: INF}
        for target in set(graph) - {source}:
            widths = [
                min(graph.edges[edge]["weight"] for edge in itertools.pairwise(path))
                for path in nx.all_simple_paths(graph, source, target)
            ]
            expected.update({target: max(widths)} if widths else {})
        assert alg.widest_paths(A, source).to_dict() == expected
    assert alg.longest_paths(A).to_dict() == {0: 0.0, 1: 1.0, 2: INF, 3: INF, 4: INF, 5: 4.0, 6: 0.0}


def test_sums_that_overflow_are_infinite_distances() -> None:
    """The vertex is reached; means are those of the exact distances."""
    A = Matrix.from_coo([0, 1], [1, 2], [1.5e308, 1.5e308], shape=(3, 3))
    assert alg.sssp(A, 0).to_dict() == {0: 0.0, 1: 1.5e308, 2: INF}
    assert alg.closeness_centrality(A, weight=True, wf_improved=False)[2].value == pytest.approx(2 / 3 * 2 / 3 * 1e-308)
    with sr.use("reference"):
        both = A.ewise_add(A.T, "any")
        assert alg.average_shortest_path_length(both.apply("times", right=0.7).new(), weight=True) == pytest.approx(
            1.4e308
        )
