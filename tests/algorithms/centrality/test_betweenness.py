"""Betweenness of vertices and edges: that of NetworkX, igraph and NetworKit, in both layouts, batches and samples."""

from __future__ import annotations

import inspect
import itertools
import re
import sys
from typing import Any

import igraph
import networkit
import networkx as nx
import numpy as np
import pytest

import semiring as sr
from semiring.algorithms import betweenness_centrality, edge_betweenness_centrality
from semiring.algorithms.centrality import brandes
from semiring.algorithms.centrality.betweenness import _chosen
from semiring.exceptions import (
    DimensionMismatch,
    DomainMismatch,
    IndexOutOfBound,
    InvalidValue,
    NotSupported,
    OutOfMemory,
)
from tests.algorithms.centrality.graphs import GRAPHS, by_graph, by_some, host, listed, matrix


@pytest.fixture(params=["sparse", "dense", "mixed", "late"])
def layout(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run a test with sparse levels, dense levels, and both in turn, one by one or several of a kind."""
    decided: dict[float, bool] = {}

    def many(self: brandes.Graph, work: float, k: int) -> bool:
        if request.param == "late":
            return decided.setdefault(work, len(decided) % 6 >= 3)
        return request.param == "dense" or (request.param == "mixed" and int(work) % 2 == 0)

    monkeypatch.setattr(brandes.Graph, "many", many)
    return str(request.param)


@by_graph
def test_vertices(graph: Any, layout: str) -> None:
    A, directed = matrix(graph), graph.is_directed()
    for normalized, endpoints in itertools.product((True, False), repeat=2):
        found = betweenness_centrality(A, normalized=normalized, endpoints=endpoints, directed=directed)
        expected = listed(nx.betweenness_centrality(graph, normalized=normalized, endpoints=endpoints))
        np.testing.assert_allclose(host(found), expected, atol=1e-12)


@by_graph
def test_edges(graph: Any, layout: str) -> None:
    A, directed = matrix(graph), graph.is_directed()
    for normalized in (True, False):
        found = edge_betweenness_centrality(A, normalized=normalized, directed=directed)
        assert found.nvals == A.nvals
        for (u, v), expected in nx.edge_betweenness_centrality(graph, normalized=normalized).items():
            assert found.get(u, v) == pytest.approx(expected)
            assert directed or found.get(v, u) == pytest.approx(expected)


@by_some
def test_igraph_and_networkit(graph: Any) -> None:
    A = matrix(graph)
    other = igraph.Graph(n=len(graph), edges=list(graph.edges), directed=graph.is_directed())
    np.testing.assert_allclose(host(betweenness_centrality(A, normalized=False)), other.betweenness(), atol=1e-9)
    found = edge_betweenness_centrality(A, normalized=False)
    np.testing.assert_allclose([found.get(u, v) for u, v in graph.edges], other.edge_betweenness(), atol=1e-9)
    third = networkit.centrality.Betweenness(networkit.nxadapter.nx2nk(graph), normalized=True).run()
    np.testing.assert_allclose(host(betweenness_centrality(A)), third.scores(), atol=1e-12)


def test_both_kinds_of_products() -> None:
    # Levels of few and of many edges, so that the wide layout multiplies sparse and dense operands.
    graph = nx.barabasi_albert_graph(300, 8, seed=5)
    found = betweenness_centrality(matrix(graph), samples=40, seed=3, batch=40, normalized=False)
    chosen = [v for v in range(300) if v in _drawn(300, 40, 3)]
    expected = nx.betweenness_centrality_subset(graph, chosen, list(graph))
    scale = np.array([299 / (39 if v in chosen else 40) for v in range(300)])
    np.testing.assert_allclose(host(found), listed(expected) * scale)


def _drawn(n: int, k: int, seed: int) -> list[int]:
    """The sources of a sample."""
    return _chosen("betweenness_centrality", sr.Matrix(bool, n, n), k, None, seed)


@by_some
def test_sources(graph: Any, layout: str) -> None:
    A, sources = matrix(graph), [4, 0, 5]
    expected = listed(nx.betweenness_centrality_subset(graph, sources, list(graph)))
    np.testing.assert_allclose(host(betweenness_centrality(A, sources=sources, normalized=False)), expected, atol=1e-12)
    np.testing.assert_allclose(
        host(betweenness_centrality(A, sources=np.array(sources), normalized=False)), expected, atol=1e-12
    )
    edges = edge_betweenness_centrality(A, sources=sources, normalized=False)
    for (u, v), value in nx.edge_betweenness_centrality_subset(graph, sources, list(graph)).items():
        assert edges.get(u, v) == pytest.approx(value)


@by_some
@pytest.mark.parametrize(("normalized", "endpoints"), list(itertools.product((True, False), repeat=2)))
def test_a_sample_is_scaled_as_by_networkx(
    graph: Any, normalized: bool, endpoints: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    A, n = matrix(graph), len(graph)
    sampled = _drawn(n, 6, 5)
    assert len(set(sampled)) == 6
    found = betweenness_centrality(A, samples=6, seed=5, normalized=normalized, endpoints=endpoints)

    class Drawn:
        def sample(self, population: list[int], k: int) -> list[int]:
            return sampled

    unseeded = inspect.unwrap(nx.betweenness_centrality.orig_func)  # the decorator accepts seeds alone
    expected = unseeded(graph, k=6, normalized=normalized, endpoints=endpoints, seed=Drawn())
    np.testing.assert_allclose(host(found), listed(expected), atol=1e-12)


def test_a_sample_depends_on_its_seed_and_is_the_same_on_each_call() -> None:
    A = matrix(GRAPHS["karate"])
    assert _drawn(34, 5, 1) == _drawn(34, 5, 1) != _drawn(34, 5, 2)
    assert betweenness_centrality(A, samples=5, seed=1).isequal(betweenness_centrality(A, samples=5, seed=1))
    assert betweenness_centrality(A, samples=34).isclose(betweenness_centrality(A), abs_tol=1e-12)


def test_batches_and_progress(layout: str) -> None:
    A, calls = matrix(GRAPHS["karate"]), []
    whole = betweenness_centrality(A)
    parts = betweenness_centrality(A, batch=15, progress=lambda done, total: calls.append((done, total)))
    np.testing.assert_allclose(host(parts), host(whole), atol=1e-12)
    assert calls == [(15, 34), (30, 34), (34, 34)]
    assert edge_betweenness_centrality(A, batch=15).isclose(edge_betweenness_centrality(A), abs_tol=1e-12)

    def stop(done: int, total: int | None) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        betweenness_centrality(A, batch=15, progress=stop)


def test_a_batch_that_does_not_fit_is_halved(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes, limit = [], 10

    def small(graph: Any, sources: list[int]) -> Any:
        sizes.append(len(sources))
        if len(sources) > limit:
            raise OutOfMemory("betweenness_centrality: full")
        return brandes.forward(graph, sources)

    monkeypatch.setattr(sys.modules["semiring.algorithms.centrality.betweenness"], "forward", small)
    A = matrix(GRAPHS["karate"])
    np.testing.assert_allclose(host(betweenness_centrality(A)), listed(nx.betweenness_centrality(GRAPHS["karate"])))
    assert sizes == [34, 17, 8, 8, 8, 8, 2]
    limit = 0
    with pytest.raises(OutOfMemory):
        betweenness_centrality(A)


@by_some
def test_compressed_and_pinned(graph: Any, layout: str) -> None:
    A = matrix(graph)
    expected, edges = betweenness_centrality(A), edge_betweenness_centrality(A)
    for made in (A.compress("packed"), A.compress("varint"), A.to(placement="host"), A.dup().convert("hypersparse")):
        assert betweenness_centrality(made).isclose(expected, abs_tol=1e-12)
        assert edge_betweenness_centrality(made).isclose(edges, abs_tol=1e-12)


@pytest.mark.wide
def test_float32() -> None:
    A = matrix(GRAPHS["karate"])
    found = betweenness_centrality(A, dtype="float32")
    assert found.dtype == np.float64
    np.testing.assert_allclose(host(found), host(betweenness_centrality(A)), rtol=1e-5, atol=1e-6)


def test_values_are_not_read() -> None:
    A = matrix(GRAPHS["drawn"])
    B = A.apply("second", right=0.0)
    assert betweenness_centrality(B).isequal(betweenness_centrality(A))


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: betweenness_centrality(sr.Matrix(bool, 2, 3)), DimensionMismatch, "square"),
        (lambda: betweenness_centrality([[0, 1]]), InvalidValue, "expected a Matrix"),
        (lambda: betweenness_centrality(sr.Matrix(bool, 3, 3), sources=[3]), IndexOutOfBound, "source 3"),
        (lambda: betweenness_centrality(sr.Matrix(bool, 3, 3), sources=[1, 1]), InvalidValue, "distinct"),
        (lambda: betweenness_centrality(sr.Matrix(bool, 3, 3), sources=1), InvalidValue, "sequence"),
        (lambda: betweenness_centrality(sr.Matrix(bool, 3, 3), sources=[1], samples=1), InvalidValue, "exclude"),
        (lambda: betweenness_centrality(sr.Matrix(bool, 3, 3), samples=4), InvalidValue, "samples must be from 1"),
        (lambda: betweenness_centrality(sr.Matrix(bool, 3, 3), samples=0), InvalidValue, "samples must be from 1"),
        (lambda: betweenness_centrality(sr.Matrix(bool, 3, 3), batch=0), InvalidValue, "batch"),
        (lambda: betweenness_centrality(sr.Matrix(bool, 3, 3), dtype=int), DomainMismatch, "float32"),
        (lambda: edge_betweenness_centrality(sr.Matrix(bool, 2, 3)), DimensionMismatch, "square"),
        (lambda: edge_betweenness_centrality(sr.Matrix(bool, 3, 3), progress=1), InvalidValue, "progress"),
    ],
)
def test_bad_input(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=re.escape(text)):
        call()


@pytest.mark.wide
def test_more_paths_than_the_type_holds() -> None:
    # A chain of diamonds doubles the number of shortest paths at each one: 2^130 is more than float32 holds.
    rows = [(3 * d + a, 3 * d + b) for d in range(130) for a, b in ((0, 1), (0, 2), (1, 3), (2, 3))]
    A = sr.Matrix.from_edgelist(rows)
    with pytest.raises(NotSupported, match="float64"):
        betweenness_centrality(A, sources=[0], dtype=np.float32)
    assert betweenness_centrality(A, sources=[0], normalized=False)[3].value == pytest.approx(A.nrows - 4)
