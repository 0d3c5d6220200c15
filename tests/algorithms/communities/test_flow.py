"""Markov clustering and peer pressure: dense definitions, planted clusters, and LAGraph's results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse import csgraph

import semiring as sr
from semiring import Matrix
from semiring.algorithms import markov_clustering, peer_pressure
from semiring.exceptions import ConvergenceFailure, DimensionMismatch, DomainMismatch, InvalidValue

METHODS = {"markov": markov_clustering, "peer-pressure": peer_pressure}
methods = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)


def matrix(a: Any) -> Matrix:
    return Matrix.from_dense(a, missing_value=0)


def with_loops(a: Any) -> Any:
    largest = abs(a).max(1)
    return a + np.diag(np.where(largest > 0, largest, 1) - np.diag(a))


def scaled(a: Any) -> Any:
    return a / abs(a).sum(1, keepdims=True)


def ordered(labels: Any) -> list[int]:
    """The same clusters, numbered in the order of their smallest members."""
    numbers: dict[Any, int] = {}
    return [numbers.setdefault(label, len(numbers)) for label in labels]


def markov(a: Any, expansion: int, inflation: float, prune: float) -> list[int]:
    flow = scaled(with_loops(abs(a)))
    for _ in range(100):
        raised = scaled(np.linalg.matrix_power(flow, expansion) ** inflation)
        largest = np.zeros_like(raised)
        largest[np.arange(len(a)), raised.argmax(1)] = 1
        following = scaled(np.where((raised >= prune) | (largest > 0), raised, 0))
        change = abs(following - flow).max()
        flow = following
        if change <= 1e-6:
            break
    return ordered(csgraph.connected_components(flow > 1e-6)[1])


def pressed(a: Any) -> list[int]:
    votes = scaled(with_loops(a))
    clusters = np.arange(len(a))
    for _ in range(50):
        members = sp.csr_array((np.ones(len(a)), (clusters, np.arange(len(a)))), shape=a.shape)
        following = np.where(members @ (votes != 0), np.round(members @ votes, 9), -np.inf).argmax(0)
        if (following == clusters).all():
            break
        clusters = following
    return ordered(clusters)


def drawn(n: int, density: float, seed: int, *, weighted: bool, symmetric: bool) -> Any:
    rng = np.random.default_rng(seed)
    a = (rng.random((n, n)) < density) * (rng.integers(1, 6, (n, n)) if weighted else 1.0)
    return np.triu(a, 1) + np.triu(a, 1).T if symmetric else a


@pytest.mark.parametrize(("expansion", "inflation", "prune"), [(2, 2.0, 1e-4), (3, 1.6, 0.0), (2, 3.0, 0.05)])
@pytest.mark.parametrize("weighted", [False, True])
def test_markov_clustering_is_as_its_definition(expansion: int, inflation: float, prune: float, weighted: bool) -> None:
    for seed in range(3):
        a = drawn(30, 0.08, seed, weighted=weighted, symmetric=seed > 0)
        found = markov_clustering(matrix(a), expansion=expansion, inflation=inflation, prune=prune)
        assert list(found.to_dict().values()) == markov(a, expansion, inflation, prune)


@pytest.mark.parametrize("weighted", [False, True])
def test_peer_pressure_is_as_its_definition(weighted: bool) -> None:
    for seed in range(6):
        a = drawn(30, 0.1, seed, weighted=weighted, symmetric=seed % 2 == 0)
        try:
            found = peer_pressure(matrix(a))
        except ConvergenceFailure as failure:
            found = failure.result
        assert list(found.to_dict().values()) == pressed(a)


@pytest.mark.parametrize("seed", range(4))
def test_negative_weights(seed: int) -> None:
    """Flow has the magnitude of the weight; a share of a vote is a vote against."""
    a = drawn(30, 0.12, seed, weighted=True, symmetric=seed % 2 == 0)
    a = a * np.where(np.add.outer(np.arange(30), np.arange(30)) % 3, 1, -1)
    assert markov_clustering(matrix(a)).isequal(markov_clustering(matrix(abs(a))))
    assert list(markov_clustering(matrix(a)).to_dict().values()) == markov(a, 2, 2.0, 1e-4)
    found = []
    for engine in ("cpu", "reference"):
        with sr.use(engine):
            try:
                found.append(peer_pressure(matrix(a)))
            except ConvergenceFailure as failure:
                found.append(failure.result)
    assert list(found[0].to_dict().values()) == pressed(a)
    assert found[0].to_dict() == found[1].to_dict()


def test_a_vote_against() -> None:
    """Four vertices of a clique; where the edges of the last one are negative, it is left out."""
    a = np.ones((4, 4), np.int8) - np.eye(4, dtype=np.int8)
    assert set(peer_pressure(matrix(a)).to_dict().values()) == {0}
    a[3, :3] = a[:3, 3] = -1
    for A in (matrix(a), matrix(a).dup(float)):
        assert peer_pressure(A).to_dict() == {0: 0, 1: 0, 2: 0, 3: 1}
        assert set(markov_clustering(A).to_dict().values()) == {0}


@pytest.mark.parametrize("name", ["west0067.mtx", pytest.param("bcsstk13.mtx.gz", marks=pytest.mark.wide)])
def test_graphs_of_lagraph_with_negative_weights(name: str, shared_data: Path) -> None:
    A = sr.io.read(shared_data / "lagraph" / name)
    a = A.to_numpy(0).astype(float)
    assert (a < 0).any()
    assert markov_clustering(A).isequal(markov_clustering(A.apply("abs")))
    assert list(peer_pressure(A).to_dict().values()) == pressed(a)
    if len(a) < 100:
        assert list(markov_clustering(A).to_dict().values()) == markov(a, 2, 2.0, 1e-4)


@methods
def test_planted_clusters_are_found(method: Any) -> None:
    rng = np.random.default_rng(4)
    labels = np.repeat(np.arange(6), 12)[rng.permutation(72)]
    a = np.triu((rng.random((72, 72)) < np.where(labels[:, None] == labels, 0.9, 0.004)), 1)
    A = matrix((a | a.T).astype(float))
    found = method(A)
    assert list(found.to_dict().values()) == ordered(labels)
    assert method(A.compress("packed")).isequal(found)
    assert method(A.dup("uint8")).isequal(found)


@pytest.mark.parametrize("name", ["karate.mtx", "mcl.mtx", "jagmesh7.mtx.gz", "A.mtx"])
def test_clusters_of_lagraph(name: str, shared_data: Path) -> None:
    folder = shared_data / "lagraph"
    text = (folder / f"{name.partition('.')[0]}_cluster.mtx").read_text()
    _, *lines = [line for line in text.splitlines() if not line.startswith("%")]
    expected = [int(line.split()[-1]) for line in lines]
    A = sr.io.read(folder / name).apply("one")
    assert list(peer_pressure(A).to_dict().values()) == ordered(expected)


@pytest.mark.parametrize("name", ["west0067.mtx", pytest.param("bcsstk13.mtx.gz", marks=pytest.mark.wide)])
def test_rule_of_lagraph_for_weights(name: str, shared_data: Path) -> None:
    """Its clusters of weighted matrices: votes divided by sums of integers, 52 iterations; they are not converged."""
    folder = shared_data / "lagraph"
    text = (folder / f"{name.partition('.')[0]}_cluster.mtx").read_text()
    _, *lines = [line for line in text.splitlines() if not line.startswith("%")]
    a = sr.io.read(folder / name).to_numpy(0).astype(float)
    present = (a != 0) | np.eye(len(a), dtype=bool)
    np.fill_diagonal(a, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        votes = np.where(present, a * (1 / np.trunc(a).sum(1))[:, None], 0)
        clusters = np.arange(len(a))
        for _ in range(52):
            sums, voted = np.zeros_like(a), np.zeros(a.shape, bool)
            for k, cluster in enumerate(clusters):
                sums[cluster] += votes[k]
                voted[cluster] |= present[k]
            following = np.where(voted & ~np.isnan(sums), sums, -np.inf).argmax(0)
            moved, clusters = (following != clusters).any(), following
    assert moved
    assert clusters.tolist() == [int(line.split()[-1]) for line in lines]


@methods
def test_special_graphs(method: Any) -> None:
    assert method(Matrix(float, 0, 0)).size == 0
    assert method(Matrix(float, 3, 3)).to_dict() == {0: 0, 1: 1, 2: 2}
    loops = Matrix.from_coo([0, 1, 2], [0, 1, 0], [1.0, 0.0, 0.0], shape=(3, 3))  # explicit zeros are no flow
    assert method(loops).to_dict() == {0: 0, 1: 1, 2: 2}
    assert method(Matrix.from_edgelist([(0, 1), (1, 0)])).to_dict() == {0: 0, 1: 0}


@methods
def test_bad_input(method: Any) -> None:
    A = Matrix.from_edgelist([(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3)])
    A = A.ewise_add(A.T, "any")
    with pytest.raises(DimensionMismatch):
        method(Matrix(float, 2, 3))
    with pytest.raises(InvalidValue, match="NaN"):
        method(A.apply("second", right=np.nan))
    with pytest.raises(DomainMismatch):
        method(A.dup("complex64"))
    with pytest.raises(ConvergenceFailure) as failure:
        method(A, max_iter=1)
    assert failure.value.result.size == 6
    calls: list[tuple[int, int | None]] = []
    method(A, max_iter=60, progress=lambda done, total: calls.append((done, total)))
    assert calls[0] == (1, 60)


def test_parameters_of_markov_clustering() -> None:
    A = Matrix.from_edgelist([(0, 1), (1, 0)])
    for refused in ({"expansion": 1}, {"inflation": 1.0}, {"prune": 2.0}, {"tol": -1.0}, {"max_iter": -1}):
        with pytest.raises(InvalidValue):
            markov_clustering(A, **refused)
