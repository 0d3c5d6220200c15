"""Random walks and samples of neighbors: every step is an edge, and the frequencies are those of the definition."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring import Matrix, Vector, algorithms
from semiring.algorithms.similarity import walks
from semiring.exceptions import DimensionMismatch, DomainMismatch, IndexOutOfBound, InvalidValue

WALKS = [algorithms.random_walks, algorithms.node2vec_walks]


@pytest.mark.costly
@pytest.mark.parametrize("walk", WALKS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("storage", ["plain", "varint"])
def test_steps_are_edges(walk: Callable[..., Matrix], weighted: bool, storage: str) -> None:
    A = sr.random.rmat(7, 6, seed=2).apply("random", right=1).new()  # directed, with vertices without edges
    A[5, :] = Vector(A.dtype, A.ncols)
    A = A if storage == "plain" else A.compress(storage)
    starts = np.arange(A.nrows)
    W = walk(A, starts, 8, weight=weighted, seed=4)
    assert W.isequal(walk(A, starts, 8, weight=weighted, seed=4))
    assert not W.isequal(walk(A, starts, 8, weight=weighted, seed=5))
    found, edges = W.to_numpy(fill_value=-1), A.to_numpy(fill_value=0) > 0
    assert found[:, 0].tolist() == starts.tolist()
    degree = edges.sum(1)
    for t in range(8):
        u, v = found[:, t], found[:, t + 1]
        assert edges[u[v >= 0], v[v >= 0]].all()
        assert ((v < 0) == ((u < 0) | (degree[u] == 0))).all()
    assert (found[5, 1:] == -1).all()


def test_neighbors_are_drawn_alike() -> None:
    A = Matrix.from_edgelist([(0, 1), (0, 2), (0, 3), (0, 4), (0, 5)], nrows=6, ncols=6)
    drawn = algorithms.random_walks(A, np.zeros(50_000, int), 1, seed=3)[:, 1].to_numpy()
    counts = np.bincount(drawn, minlength=6)[1:]
    assert ((counts - 10_000) ** 2 / 10_000).sum() < 30  # chi-squared, 4 degrees of freedom: 30 has p = 5e-6


def test_neighbors_are_drawn_by_weight() -> None:
    weights = np.array([1, 0, 5, 2, 8], np.uint8)
    A = Matrix.from_coo([0] * 5, range(1, 6), weights, shape=(6, 6))
    drawn = algorithms.random_walks(A, np.zeros(48_000, int), 1, weight=True, seed=3)[:, 1].to_numpy()
    counts, expected = np.bincount(drawn, minlength=6)[1:], weights / 16 * 48_000
    assert counts[1] == 0
    kept = expected > 0
    assert ((counts - expected)[kept] ** 2 / expected[kept]).sum() < 28  # chi-squared, 3 degrees of freedom


@pytest.mark.parametrize("proposals", [0, walks._PATIENCE])
@pytest.mark.parametrize(("p", "q"), [(0.25, 4.0), (4.0, 0.25), (1.0, 1.0)])
def test_biases_of_node2vec(p: float, q: float, proposals: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walks, "_PATIENCE", proposals)
    #  0 - 1, 1 - 2, 1 - 3, 0 - 2: after 0, 1 a walk goes back to 0, to the neighbor 2 of 0, or away to 3
    A = Matrix.from_edgelist([(0, 1), (1, 0), (1, 2), (2, 1), (1, 3), (3, 1), (0, 2), (2, 0)], nrows=4, ncols=4)
    W = algorithms.node2vec_walks(A, np.zeros(40_000, int), 2, p=p, q=q, seed=11).to_numpy()
    after = W[W[:, 1] == 1, 2]
    share = np.array([1 / p, 1.0, 1 / q])
    expected = share / share.sum() * after.size
    counts = np.array([(after == v).sum() for v in (0, 2, 3)])
    assert ((counts - expected) ** 2 / expected).sum() < 25  # chi-squared, 2 degrees of freedom: 25 has p = 4e-6


@pytest.mark.parametrize("proposals", [0, walks._PATIENCE])
def test_weights_of_node2vec(proposals: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walks, "_PATIENCE", proposals)
    A = Matrix.from_coo([0, 1, 1, 1], [1, 0, 2, 3], [1.0, 2.0, 3.0, 0.0], shape=(4, 4))
    W = algorithms.node2vec_walks(A, np.zeros(30_000, int), 2, p=2.0, q=0.5, weight=True, seed=1).to_numpy()
    counts = np.bincount(W[:, 2], minlength=4)
    assert counts[3] == 0
    assert counts[2] / counts[0] == pytest.approx(3 * 2 / (2 * 0.5), rel=0.1)


def test_biases_that_refuse_nearly_every_proposal() -> None:
    """The only neighbor, or those away from the last vertex, however large the parameters are."""
    path = Matrix.from_edgelist([(0, 1), (1, 0), (1, 2), (2, 1)])
    assert algorithms.node2vec_walks(path, 0, 6, p=2.0**70).to_numpy().tolist() == [[0, 1, 2, 1, 0, 1, 2]]
    star = Matrix.from_edgelist([(0, 1), (1, 0), (1, 2), (1, 3), (2, 1), (3, 1)])
    W = algorithms.node2vec_walks(star, np.zeros(1000, int), 2, p=2.0**90, q=2.0**80).to_numpy()
    counts = np.bincount(W[:, 2], minlength=4)
    assert counts[0] == 0
    assert abs(counts[2] - counts[3]) < 160  # five standard deviations


def test_progress_and_single_starts() -> None:
    A = Matrix.from_edgelist([(0, 1), (1, 2), (2, 0)])
    seen: list[Any] = []
    W = algorithms.random_walks(A, 2, 3, progress=lambda done, total: seen.append((done, total)))
    assert W.to_numpy().tolist() == [[2, 0, 1, 2]]
    assert seen == [(1, 3), (2, 3), (3, 3)]
    assert algorithms.random_walks(A, Vector.from_dense([1, 1]), 0).to_numpy().tolist() == [[1], [1]]


@pytest.mark.parametrize("walk", WALKS)
def test_graphs_without_edges(walk: Callable[..., Matrix]) -> None:
    assert walk(Matrix(bool, 3, 3), [0, 2], 2).to_dicts() == {0: {0: 0}, 1: {0: 2}}
    assert walk(Matrix(bool, 0, 0), [], 2).shape == (0, 3)
    zeros = Matrix.from_coo([0], [1], [0.0], shape=(2, 2))
    assert walk(zeros, [0], 1, weight=True).nvals == 1


@pytest.mark.parametrize("walk", WALKS)
def test_bad_input(walk: Callable[..., Matrix]) -> None:
    A = Matrix.from_edgelist([(0, 1), (1, 0)])
    with pytest.raises(DimensionMismatch):
        walk(Matrix(bool, 3, 4), [0], 1)
    for starts in ([2], [-1], Vector.from_dense([0, 5])):
        with pytest.raises(IndexOutOfBound):
            walk(A, starts, 1)
    for starts in ([0.5], Vector.from_coo([0], [1], size=2), Vector.from_dense([0.0]), "01"):
        with pytest.raises(InvalidValue):
            walk(A, starts, 1)
    with pytest.raises(InvalidValue, match="length"):
        walk(A, [0], -1)
    with pytest.raises(InvalidValue, match="seed"):
        walk(A, [0], 1, seed=0.5)
    for value in (-1.0, np.nan):
        with pytest.raises(InvalidValue):
            walk(Matrix.from_coo([0], [1], [value], shape=(2, 2)), [0], 1, weight=True)
    with pytest.raises(DomainMismatch):
        walk(Matrix.from_coo([0], [1], [1j], shape=(2, 2)), [0], 1, weight=True)


@pytest.mark.parametrize("bias", [{"p": 0}, {"q": -1}, {"p": np.inf}, {"q": "1"}])
def test_bad_biases(bias: Any) -> None:
    with pytest.raises(InvalidValue, match=r"node2vec_walks: [pq] must"):
        algorithms.node2vec_walks(Matrix.from_edgelist([(0, 1)], nrows=2, ncols=2), [0], 1, **bias)


def test_samples_of_neighbors() -> None:
    A = sr.random.rmat(8, 8, seed=3)
    first, second = algorithms.sample_neighbors(A, [3, 9, 9, 200], [4, 2], seed=6)
    edges, degree = A.to_dicts(), {u: len(row) for u, row in A.to_dicts().items()}
    rows = first.to_dicts()
    assert {u: len(row) for u, row in rows.items()} == {u: min(4, degree[u]) for u in (3, 9, 200) if u in degree}
    reached = {v for row in rows.values() for v in row}
    assert {u: len(row) for u, row in second.to_dicts().items()} == {
        u: min(2, degree[u]) for u in reached if u in degree
    }
    assert all(v in edges[u] for hop in (first, second) for u, row in hop.to_dicts().items() for v in row)
    again = algorithms.sample_neighbors(A, Vector.from_coo([3, 9, 200], True, size=A.nrows), [4, 2], seed=6)
    assert again[0].isequal(first)
    assert again[1].isequal(second)


def test_samples_are_uniform() -> None:
    A = Matrix.from_coo([0] * 6, range(6), True, shape=(6, 6))
    counts = sum(
        algorithms.sample_neighbors(A, 0, [2], seed=s)[0].to_numpy(fill_value=False)[0].astype(int) for s in range(900)
    )
    assert counts.sum() == 1800
    assert ((counts - 300) ** 2 / 300).sum() < 33  # chi-squared, 5 degrees of freedom: 33 has p = 4e-6


def test_bad_samples() -> None:
    A = Matrix.from_edgelist([(0, 1), (1, 0)])
    with pytest.raises(IndexOutOfBound):
        algorithms.sample_neighbors(A, [2], [1])
    with pytest.raises(InvalidValue, match="sizes"):
        algorithms.sample_neighbors(A, [0], 3)  # type: ignore[arg-type]
    with pytest.raises(InvalidValue, match="sizes"):
        algorithms.sample_neighbors(A, [0], [-1])
    with pytest.raises(DimensionMismatch, match="size 3"):
        algorithms.sample_neighbors(A, Vector.full(True, 3), [1])
    assert algorithms.sample_neighbors(A, [], [1])[0].nvals == 0
    assert algorithms.sample_neighbors(A, 0, []) == []
