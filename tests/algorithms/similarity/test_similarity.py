"""Similarity by common neighbors: equal to NetworkX, igraph and the definition in plain Python."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import igraph
import networkx as nx
import numpy as np
import pytest

import semiring as sr
from semiring import Matrix, algorithms
from semiring.algorithms.similarity import neighbors
from semiring.exceptions import DimensionMismatch, DomainMismatch, InvalidValue

Found = dict[tuple[int, int], float]


def entries(A: Matrix) -> Found:
    return {(i, j): x for (i, j), x in A.items()}


@pytest.fixture(scope="module")
def drawn() -> np.ndarray[Any, Any]:
    """Undirected, with isolated vertices and no self-loops."""
    rng = np.random.default_rng(5)
    present = rng.random((40, 40)) < 0.12
    present[:, ::7] = present[::7] = False
    np.fill_diagonal(present, False)
    return present | present.T


def graph(present: np.ndarray[Any, Any]) -> nx.Graph:
    made = nx.Graph()
    made.add_nodes_from(range(len(present)))
    made.add_edges_from(zip(*map(np.ndarray.tolist, np.nonzero(present)), strict=True))
    return made


def matrix(present: np.ndarray[Any, Any]) -> Matrix:
    return Matrix.from_coo(*np.nonzero(present), True, shape=present.shape)


def pairs(n: int) -> list[tuple[int, int]]:
    return [(u, v) for u in range(n) for v in range(n) if u != v]


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (algorithms.jaccard, nx.jaccard_coefficient),
        (algorithms.adamic_adar, nx.adamic_adar_index),
        (algorithms.resource_allocation, nx.resource_allocation_index),
    ],
)
@pytest.mark.parametrize("storage", ["plain", "packed"])
def test_equal_to_networkx(
    drawn: np.ndarray[Any, Any], ours: Callable[..., Matrix], theirs: Callable[..., Any], storage: str
) -> None:
    A = matrix(drawn) if storage == "plain" else matrix(drawn).compress(storage)
    expected = {(u, v): x for u, v, x in theirs(graph(drawn), pairs(40)) if x}
    assert entries(ours(A)) == pytest.approx(expected)


def test_equal_to_igraph(drawn: np.ndarray[Any, Any]) -> None:
    G = igraph.Graph.Adjacency(drawn, mode="undirected")
    A = matrix(drawn)
    every = np.array(G.similarity_jaccard(loops=False))
    np.testing.assert_allclose(algorithms.jaccard(A).to_numpy(fill_value=0), np.where(np.eye(40), 0, every))
    weighted = np.array(G.similarity_inverse_log_weighted())
    found = algorithms.adamic_adar(A).to_numpy(fill_value=0)
    np.testing.assert_allclose(found, np.where(np.eye(40), 0, weighted), atol=1e-12)


def test_definitions_of_a_directed_graph() -> None:
    rng = np.random.default_rng(2)
    present = rng.random((25, 25)) < 0.15  # with self-loops
    N = [set(np.nonzero(row)[0].tolist()) for row in present]
    A = matrix(present)
    common = {(u, v): len(N[u] & N[v]) for u, v in pairs(25) if N[u] & N[v]}
    assert entries(algorithms.common_neighbors(A)) == common
    assert entries(algorithms.overlap(A)) == pytest.approx(
        {p: c / min(len(N[p[0]]), len(N[p[1]])) for p, c in common.items()}
    )
    cosines = {p: c / math.sqrt(len(N[p[0]]) * len(N[p[1]])) for p, c in common.items()}
    assert entries(algorithms.cosine(A)) == pytest.approx(cosines)


@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.float32, np.float64])
def test_weights(dtype: Any) -> None:
    rng = np.random.default_rng(9)
    W = (rng.integers(1, 9, (12, 12)) * (rng.random((12, 12)) < 0.4)).astype(dtype)
    A, X = Matrix.from_dense(W, missing_value=0), W.astype(float)
    both = {(u, v) for u, v in pairs(12) if ((W[u] > 0) & (W[v] > 0)).any()}
    least = {(u, v): np.minimum(X[u], X[v]).sum() for u, v in both}
    most = {(u, v): np.maximum(X[u], X[v]).sum() for u, v in both}
    assert entries(algorithms.jaccard(A, weight=True)) == pytest.approx({p: least[p] / most[p] for p in both})
    smaller = {(u, v): least[u, v] / min(X[u].sum(), X[v].sum()) for u, v in both}
    assert entries(algorithms.overlap(A, weight=True)) == pytest.approx(smaller)
    angles = {(u, v): X[u] @ X[v] / np.linalg.norm(X[u]) / np.linalg.norm(X[v]) for u, v in both}
    assert entries(algorithms.cosine(A, weight=True)) == pytest.approx(angles)


def test_given_pairs(drawn: np.ndarray[Any, Any]) -> None:
    A, every = matrix(drawn), entries(algorithms.jaccard(matrix(drawn)))
    wanted = Matrix.from_coo([0, 1, 5, 5], [5, 2, 1, 5], True, shape=A.shape)
    found = entries(algorithms.jaccard(A, wanted))
    present = A.to_dicts()
    expected = {p: every[p] for p in [(0, 5), (1, 2), (5, 1)] if p in every} | ({(5, 5): 1.0} if 5 in present else {})
    assert found == pytest.approx(expected)
    assert 5 in present


@pytest.mark.parametrize("terms", [1, 50, 1 << 26])
def test_the_best_of_each_row(drawn: np.ndarray[Any, Any], monkeypatch: pytest.MonkeyPatch, terms: int) -> None:
    monkeypatch.setattr(neighbors, "_TERMS_A_BLOCK", terms)  # blocks of one row, of some, and one block
    A = matrix(drawn)
    for function in (algorithms.common_neighbors, algorithms.jaccard, algorithms.cosine):
        assert function(A, top=3).isequal(function(A).selectk("largest", 3))
    assert algorithms.jaccard(A, top=0).nvals == 0


@pytest.mark.parametrize(
    "function", [algorithms.jaccard, algorithms.overlap, algorithms.cosine, algorithms.common_neighbors]
)
def test_bad_input(function: Callable[..., Matrix]) -> None:
    with pytest.raises(InvalidValue, match="pairs must be a Matrix"):
        function(Matrix(bool, 3, 3), [(0, 1)])
    with pytest.raises(DimensionMismatch, match="pairs has shape"):
        function(Matrix(bool, 3, 3), Matrix(bool, 2, 2))
    with pytest.raises(InvalidValue, match="top must not be negative"):
        function(Matrix(bool, 3, 3), top=-1)
    for n in (0, 3):
        assert function(Matrix(bool, n, n)).nvals == 0
        assert function(Matrix(bool, n, n), top=2).shape == (n, n)


def test_bad_weights() -> None:
    for value in (-1.0, np.nan):
        with pytest.raises(InvalidValue):
            algorithms.jaccard(Matrix.from_coo([0], [1], [value], shape=(2, 2)), weight=True)
    with pytest.raises(DomainMismatch):
        algorithms.cosine(Matrix.from_coo([0], [1], [1j], shape=(2, 2)), weight=True)


def test_degrees(drawn: np.ndarray[Any, Any]) -> None:
    A, degree = matrix(drawn), drawn.sum(1)
    found = algorithms.degree_statistics(A)
    assert (found.smallest, found.largest, found.isolated) == (degree.min(), degree.max(), (degree == 0).sum())
    assert (found.mean, found.median, found.deviation) == pytest.approx(
        (degree.mean(), np.median(degree), degree.std())
    )
    spread = np.abs(degree[:, None] - degree).sum() / (2 * 40 * degree.sum())
    assert found.gini == pytest.approx(spread)
    counts = np.bincount(degree)
    assert algorithms.degree_histogram(A).to_dict() == {d: c for d, c in enumerate(counts.tolist()) if c}
    assert [nx.degree_histogram(graph(drawn))[d] for d in range(counts.size)] == counts.tolist()


def test_degrees_of_few_edges() -> None:
    found = algorithms.degree_statistics(Matrix.from_edgelist([(0, 1), (1, 1)], nrows=4, ncols=4))
    assert (found.smallest, found.largest, found.isolated, found.median) == (0, 1, 2, 0.5)
    assert algorithms.degree_statistics(Matrix(bool, 0, 0)).mean == 0
    assert algorithms.degree_statistics(Matrix(bool, 3, 3)).gini == 0
    assert algorithms.degree_histogram(Matrix(bool, 0, 0)).size == 0
    assert algorithms.degree_histogram(Matrix(bool, 3, 3)).to_dict() == {0: 3}
    with pytest.raises(DimensionMismatch):
        algorithms.degree_histogram(Matrix(bool, 3, 4))


def test_sizes_of_the_whole(drawn: np.ndarray[Any, Any]) -> None:
    R = sr.random.rmat(8, 8, seed=1)
    assert algorithms.jaccard(R, R).nvals <= R.nvals
    assert algorithms.degree_histogram(R).reduce("plus") == R.nrows
