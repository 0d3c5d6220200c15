"""Eigenvector and Katz centrality, HITS, and PageRank with weights and seeds: those of other programs."""

from __future__ import annotations

import re
from typing import Any

import igraph
import networkx as nx
import numpy as np
import pytest

import semiring as sr
from semiring.algorithms import eigenvector_centrality, hits, katz_centrality, pagerank
from semiring.exceptions import ConvergenceFailure, DimensionMismatch, DomainMismatch, IndexOutOfBound, InvalidValue
from tests.algorithms.centrality.graphs import GRAPHS, by_graph, by_some, host, listed, matrix

by_weights = pytest.mark.parametrize("weight", [None, "weight"], ids=["ones", "weights"])
# One eigenvector has the largest eigenvalue, so all programs find the same one.
UNIQUE = ("star", "karate", "loops")
by_unique = pytest.mark.parametrize("graph", [GRAPHS[name] for name in UNIQUE], ids=UNIQUE)


@by_weights
@by_unique
def test_eigenvector(graph: Any, weight: str | None) -> None:
    A = matrix(graph, "weight")
    found = host(eigenvector_centrality(A, weight=weight is not None, tol=1e-12, max_iter=5000))
    expected = listed(nx.eigenvector_centrality(graph, weight=weight, tol=1e-12, max_iter=5000))
    np.testing.assert_allclose(found, expected, atol=1e-8)
    dense = nx.to_numpy_array(graph, weight=weight)
    values, vectors = np.linalg.eigh(dense)
    np.testing.assert_allclose(found, np.abs(vectors[:, values.argmax()]), atol=1e-6)


def test_eigenvector_of_a_directed_graph_and_without_edges() -> None:
    graph = nx.DiGraph([(0, 1), (1, 2), (2, 0), (0, 2), (2, 3), (3, 0)])
    expected = listed(nx.eigenvector_centrality_numpy(graph))
    np.testing.assert_allclose(host(eigenvector_centrality(matrix(graph), tol=1e-12)), np.abs(expected), atol=1e-8)
    np.testing.assert_allclose(host(eigenvector_centrality(sr.Matrix(bool, 4, 4))), 0.5)
    assert eigenvector_centrality(sr.Matrix(bool, 0, 0)).size == 0


@by_weights
@by_graph
def test_katz(graph: Any, weight: str | None) -> None:
    if len(graph) == 0:
        assert katz_centrality(matrix(graph)).size == 0
        return
    A, n = matrix(graph, "weight"), len(graph)
    dense = nx.to_numpy_array(graph, nodelist=range(n), weight=weight)
    alpha = 0.5 / max(1.0, np.abs(np.linalg.eigvals(dense)).max())
    beta = np.arange(n) % 3
    for normalized in (True, False):
        expected = np.linalg.solve(np.eye(n) - alpha * dense.T, np.ones(n))
        found = host(katz_centrality(A, alpha, weight=weight is not None, normalized=normalized, tol=1e-12))
        np.testing.assert_allclose(found, expected / (np.linalg.norm(expected) if normalized else 1), atol=1e-8)
    given = sr.Vector.from_dense(beta) if beta.any() else sr.Vector.from_dense(beta + 1)
    expected = np.linalg.solve(np.eye(n) - alpha * dense.T, given.to_numpy())
    found = host(katz_centrality(A, alpha, given, weight=weight is not None, normalized=False, tol=1e-12))
    np.testing.assert_allclose(found, expected, atol=1e-8)


def test_katz_of_networkx_and_igraph() -> None:
    graph = GRAPHS["karate"]
    expected = listed(nx.katz_centrality(graph, 0.05))
    np.testing.assert_allclose(host(katz_centrality(matrix(graph), 0.05)), expected, atol=1e-6)
    other = igraph.Graph(n=34, edges=list(graph.edges)).eigenvector_centrality()
    found = host(eigenvector_centrality(matrix(graph), tol=1e-12, max_iter=1000))
    np.testing.assert_allclose(found / found.max(), other, atol=1e-6)


@by_weights
@pytest.mark.parametrize("name", ["karate", "directed-drawn", "star"])
def test_hits(name: str, weight: str | None) -> None:
    graph = GRAPHS[name]
    A, dense = matrix(graph, "weight"), nx.to_numpy_array(graph, nodelist=range(len(graph)), weight=weight)
    if name == "star":  # the hub and the leaves are two singular vectors; the start mixes them
        found = hits(A, weight=weight is not None)
        np.testing.assert_allclose(
            dense.T @ dense @ host(found.authorities), host(found.authorities) * (dense[0] @ dense[0])
        )
        return
    hubs, authorities = hits(A, weight=weight is not None, tol=1e-12, max_iter=5000)
    left, values, right = np.linalg.svd(dense)
    assert values[0] > values[1] * (1 + 1e-3)
    for found, expected in ((hubs, left[:, 0]), (authorities, right[0])):
        np.testing.assert_allclose(host(found), np.abs(expected) / np.abs(expected).sum(), atol=1e-6)
    largest = hits(A, weight=weight is not None, normalized=False)
    assert host(largest.hubs).max() == host(largest.authorities).max() == 1
    if weight is None:
        expected = nx.hits(graph.__class__(graph.edges))
        np.testing.assert_allclose(host(hubs), listed(expected[0]), atol=1e-6)
        np.testing.assert_allclose(host(authorities), listed(expected[1]), atol=1e-6)


def test_hits_without_edges() -> None:
    assert hits(sr.Matrix(bool, 0, 0)).hubs.size == 0
    assert host(hits(sr.Matrix(bool, 3, 3)).authorities).tolist() == [0, 0, 0]


# -- PageRank with weights, seeds and rules for sinks ------------------------------------------------------


def chosen(n: int, rows: dict[int, float]) -> sr.Vector:
    return sr.Vector.from_coo([v % n for v in rows], list(rows.values()), size=n)


@by_weights
@by_some
def test_pagerank_of_networkx(graph: Any, weight: str | None) -> None:
    A, n = matrix(graph, "weight"), len(graph)
    seeds, sinks, start = {0: 1.0, 3: 2.0}, {1: 1.0, 2: 5.0}, {v: 1.0 + v for v in range(n)}
    for personalization in (None, seeds):
        for dangling in (None, sinks):
            for first in (None, start):
                expected = nx.pagerank(
                    graph, weight=weight, personalization=personalization, dangling=dangling, nstart=first,
                    tol=1e-15, max_iter=1000,
                )  # fmt: skip
                given = {
                    name: None if rows is None else chosen(n, rows)
                    for name, rows in (("personalization", personalization), ("dangling", dangling), ("start", first))
                }
                found = pagerank(A, tol=1e-13, max_iter=1000, weight=weight is not None, **given)
                np.testing.assert_allclose(host(found), listed(expected), atol=1e-10)


@by_weights
@by_some
def test_pagerank_of_many_seeds(graph: Any, weight: str | None) -> None:
    A, n = matrix(graph, "weight"), len(graph)
    seeds = sr.Matrix.from_coo([0, 1, 1, 2], [4, 0, 3, 2], [3, 1, 2, 0.5], shape=(3, n))
    for dangling in (None, "drop", chosen(n, {1: 1.0, 5: 3.0})):
        options = {"tol": 1e-13, "max_iter": 1000, "weight": weight is not None, "dangling": dangling}
        found = pagerank(A, personalization=seeds, **options)
        assert found.shape == (3, n)
        for row, one in enumerate((4, chosen(n, {0: 1.0, 3: 2.0}), 2)):
            expected = pagerank(A, personalization=one, **options)
            np.testing.assert_allclose(host(found[row, :].new()), host(expected), atol=1e-11)


@by_some
def test_pagerank_of_igraph(graph: Any) -> None:
    other = igraph.Graph(n=len(graph), edges=list(graph.edges), directed=graph.is_directed())
    weights = [data["weight"] for _, _, data in graph.edges(data=True)]
    A = matrix(graph, "weight")
    found = host(pagerank(A, weight=True, tol=1e-13, max_iter=1000))
    np.testing.assert_allclose(found, other.pagerank(weights=weights), atol=1e-8)


def test_uniform_teleport_by_either_path() -> None:
    for name in ("karate", "directed-tree", "no-edges"):
        A = matrix(GRAPHS[name])
        general = pagerank(A, tol=1e-13, max_iter=1000, start=sr.Vector.full(1.0, A.nrows))
        np.testing.assert_allclose(host(general), host(pagerank(A, tol=1e-13, max_iter=1000)), atol=1e-12)


def test_dropped_mass_as_in_gap() -> None:
    A = matrix(GRAPHS["directed-tree"])
    n, out = A.nrows, np.asarray(A.reduce_rowwise("count").to_numpy(fill_value=0))
    dense = nx.to_numpy_array(GRAPHS["directed-tree"], nodelist=range(n), weight=None)
    rank = np.full(n, 1 / n)
    for _ in range(200):
        rank = 0.15 / n + 0.85 * dense.T @ (rank / np.maximum(out, 1))
    found = pagerank(A, dangling="drop", tol=1e-14, max_iter=1000)
    np.testing.assert_allclose(host(found), rank, atol=1e-12)
    assert host(found).sum() < 0.99


def test_weights_of_all_types() -> None:
    graph = GRAPHS["directed-drawn"]
    A = matrix(graph, "weight")
    expected = host(pagerank(A, weight=True))
    for dtype in (np.uint8, np.int32, np.float32, np.float64):
        np.testing.assert_allclose(host(pagerank(A.dup(dtype=dtype), weight=True)), expected, rtol=1e-6)


@pytest.mark.wide
def test_float32() -> None:
    A = matrix(GRAPHS["karate"], "weight")
    for call in (eigenvector_centrality, katz_centrality, pagerank):
        options = {"alpha": 0.02} if call is katz_centrality else {}
        found = call(A, weight=True, tol=1e-4, dtype=np.float32, **options)
        assert found.dtype == np.float32
        np.testing.assert_allclose(host(found), host(call(A, weight=True, tol=1e-4, **options)), rtol=1e-3)


def test_progress_and_failure() -> None:
    A, calls = matrix(GRAPHS["karate"]), []
    eigenvector_centrality(A, progress=lambda done, total: calls.append((done, total)))
    assert calls[0] == (1, None)
    assert [done for done, _ in calls] == list(range(1, len(calls) + 1))
    for call in (
        lambda: eigenvector_centrality(A, max_iter=2),
        lambda: katz_centrality(A, 0.01, max_iter=1),
        lambda: katz_centrality(A, 5.0),
        lambda: hits(A, max_iter=2),
        lambda: pagerank(A, max_iter=2, personalization=1),
        lambda: pagerank(A, max_iter=2, personalization=sr.Matrix.from_coo([0], [1], shape=(1, 34))),
    ):
        with pytest.raises(ConvergenceFailure) as caught:
            call()
        assert caught.value.result is not None


@pytest.mark.parametrize("call", [eigenvector_centrality, katz_centrality, hits, pagerank])
def test_bad_graphs(call: Any) -> None:
    with pytest.raises(DimensionMismatch, match="square"):
        call(sr.Matrix(bool, 2, 3))
    with pytest.raises(InvalidValue, match="negative"):
        call(sr.Matrix.from_coo([0], [1], [-1.0], shape=(3, 3)), weight=True)
    with pytest.raises(InvalidValue, match="NaN"):
        call(sr.Matrix.from_coo([0], [1], [np.nan], shape=(3, 3)), weight=True)
    with pytest.raises(DomainMismatch, match="real"):
        call(sr.Matrix.from_coo([0], [1], [1j], shape=(3, 3)), weight=True)
    with pytest.raises(DomainMismatch, match="float32"):
        call(sr.Matrix(bool, 3, 3), dtype=int)
    with pytest.raises(InvalidValue, match="tol"):
        call(sr.Matrix(bool, 3, 3), tol=-1)
    with pytest.raises(InvalidValue, match="start"):
        call(sr.Matrix(bool, 3, 3), start=[1, 2, 3])
    with pytest.raises(DimensionMismatch, match="size"):
        call(sr.Matrix(bool, 3, 3), start=sr.Vector.full(1.0, 4))
    for wrong in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(InvalidValue, match="start"):
            call(sr.Matrix.from_coo([0], [1], shape=(3, 3)), start=sr.Vector.full(wrong, 3))


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"personalization": 3}, IndexOutOfBound, "source 3"),
        ({"personalization": "a"}, InvalidValue, "row"),
        ({"dangling": "keep"}, InvalidValue, "'drop'"),
        ({"personalization": sr.Matrix(float, 2, 4)}, DimensionMismatch, "shape"),
        ({"personalization": sr.Matrix(float, 2, 3)}, InvalidValue, "sum of each row"),
        ({"personalization": sr.Matrix(complex, 2, 3)}, DomainMismatch, "real"),
    ],
)
def test_bad_options_of_pagerank(options: dict[str, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=re.escape(text)):
        pagerank(sr.Matrix.from_coo([0], [1], shape=(3, 3)), **options)


def test_bad_options_of_katz() -> None:
    for wrong in ("one", True, [1.0]):
        with pytest.raises(InvalidValue, match="beta"):
            katz_centrality(sr.Matrix(bool, 3, 3), beta=wrong)
