"""Betweenness over weighted paths: that of NetworkX and igraph, for vertices and edges, in batches and samples."""

from __future__ import annotations

import itertools
import re
from typing import Any

import igraph
import networkx as nx
import numpy as np
import pytest

import semiring as sr
from semiring.algorithms import betweenness_centrality, edge_betweenness_centrality
from semiring.exceptions import DomainMismatch, InvalidValue, NotSupported
from tests.algorithms.centrality.graphs import by_graph, by_some, host, listed, matrix


@by_graph
def test_vertices(graph: Any) -> None:
    A, directed = matrix(graph, "weight"), graph.is_directed()
    for normalized, endpoints in itertools.product((True, False), repeat=2):
        found = betweenness_centrality(A, weight=True, normalized=normalized, endpoints=endpoints, directed=directed)
        expected = nx.betweenness_centrality(graph, weight="weight", normalized=normalized, endpoints=endpoints)
        np.testing.assert_allclose(host(found), listed(expected), atol=1e-12)


@by_graph
def test_edges(graph: Any) -> None:
    A, directed = matrix(graph, "weight"), graph.is_directed()
    for normalized in (True, False):
        found = edge_betweenness_centrality(A, weight=True, normalized=normalized, directed=directed)
        assert found.nvals == A.nvals
        theirs = nx.edge_betweenness_centrality(graph, normalized=normalized, weight="weight")
        for (u, v), expected in theirs.items():
            assert found.get(u, v) == pytest.approx(expected)
            assert directed or found.get(v, u) == pytest.approx(expected)


@by_some
def test_igraph(graph: Any) -> None:
    A = matrix(graph, "weight")
    other = igraph.Graph(n=len(graph), edges=list(graph.edges), directed=graph.is_directed())
    lengths = [data["weight"] for _, _, data in graph.edges(data=True)]
    found = betweenness_centrality(A, weight=True, normalized=False)
    np.testing.assert_allclose(host(found), other.betweenness(weights=lengths), atol=1e-9)
    edges = edge_betweenness_centrality(A, weight=True, normalized=False)
    theirs = other.edge_betweenness(weights=lengths)
    np.testing.assert_allclose([edges.get(u, v) for u, v in graph.edges], theirs, atol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_paths_of_many_numbers_of_edges(seed: int) -> None:
    """Where a heavy edge is as long as many light ones, edges of T lead over several levels."""
    rng = np.random.default_rng(seed)
    pairs = {(u, u + step): step for u in range(60) for step in rng.choice([1, 2, 3, 5, 9], 3, replace=False).tolist()}
    graph = nx.DiGraph()
    graph.add_weighted_edges_from((u, v, w) for (u, v), w in pairs.items())
    graph.add_nodes_from(range(69))
    for dtype in (np.int32, np.float64):
        A = sr.io.from_networkx(graph, nodelist=range(69), weight="weight").dup(dtype=dtype)
        found = betweenness_centrality(A, weight=True, batch=7)
        expected = listed(nx.betweenness_centrality(graph, weight="weight"))
        np.testing.assert_allclose(host(found), expected, atol=1e-12)
        edges = edge_betweenness_centrality(A, weight=True, batch=30)
        for (u, v), value in nx.edge_betweenness_centrality(graph, weight="weight").items():
            assert edges.get(u, v) == pytest.approx(value)


@by_some
def test_weights_of_one_are_no_weights(graph: Any) -> None:
    A = matrix(graph)
    chosen = {"sources": [4, 0, 5], "normalized": False}
    assert betweenness_centrality(A, weight=True, **chosen).isclose(betweenness_centrality(A, **chosen), abs_tol=1e-12)
    assert edge_betweenness_centrality(A, weight=True, **chosen).isclose(
        edge_betweenness_centrality(A, **chosen), abs_tol=1e-12
    )
    sample = {"samples": 6, "seed": 5, "endpoints": True}
    assert betweenness_centrality(A, weight=True, **sample).isclose(betweenness_centrality(A, **sample), abs_tol=1e-12)


@by_some
def test_storage_kinds_and_types(graph: Any) -> None:
    A = matrix(graph, "weight")
    expected, edges = betweenness_centrality(A, weight=True), edge_betweenness_centrality(A, weight=True)
    for made in (
        A.compress("packed"),
        A.compress("varint"),
        A.to(placement="host"),
        A.dup().convert("hypersparse"),
        A.dup(dtype=np.uint8),
        A.dup(dtype=np.float32),
    ):
        assert betweenness_centrality(made, weight=True).isclose(expected, abs_tol=1e-12)
        assert edge_betweenness_centrality(made, weight=True).isclose(edges, abs_tol=1e-12)


def test_which_graphs_are_directed() -> None:
    A = sr.Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], [1, 1, 2, 2], shape=(3, 3))
    B = sr.Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], [1, 1, 2, 3], shape=(3, 3))
    assert betweenness_centrality(A, weight=True, normalized=False)[1].value == 1
    assert betweenness_centrality(B, weight=True, normalized=False)[1].value == 2
    assert betweenness_centrality(B, normalized=False)[1].value == 1


@pytest.mark.parametrize(
    ("values", "error", "text"),
    [
        ([1.0, 0.0], InvalidValue, "betweenness_centrality: weights must be positive, got 0"),
        ([1.0, -2.0], InvalidValue, "betweenness_centrality: weights must be positive, got -2"),
        ([1.0, np.nan], InvalidValue, "betweenness_centrality: a weight is NaN"),
        ([1.0, 1j], DomainMismatch, "betweenness_centrality: weights are real numbers"),
    ],
)
def test_bad_weights(values: Any, error: type[Exception], text: str) -> None:
    A = sr.Matrix.from_coo([0, 1], [1, 2], np.array(values), shape=(3, 3))
    for call in (betweenness_centrality, edge_betweenness_centrality):
        with pytest.raises(error, match=re.escape(text)):
            call(A, weight=True)  # type: ignore[operator]


def test_infinite_and_tiny_weights() -> None:
    inf = np.inf
    A = sr.Matrix.from_coo([0, 1, 1, 2], [1, 2, 3, 3], [1.0, 2.0, inf, 2.0], shape=(4, 4))
    graph = nx.DiGraph()
    graph.add_weighted_edges_from([(0, 1, 1.0), (1, 2, 2.0), (2, 3, 2.0)])
    np.testing.assert_allclose(
        host(betweenness_centrality(A, weight=True)), listed(nx.betweenness_centrality(graph, weight="weight"))
    )
    tiny = sr.Matrix.from_coo([0, 1, 2], [1, 2, 1], [1e20, 1e-20, 1e-20], shape=(3, 3))
    with pytest.raises(NotSupported, match="betweenness_centrality: some weights are so small"):
        betweenness_centrality(tiny, weight=True)
