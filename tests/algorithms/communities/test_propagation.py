"""Label propagation: Graphalytics' results, the definition in plain Python, and stable labels."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

import semiring as sr
from semiring import Matrix, Vector
from semiring.algorithms import label_propagation
from semiring.exceptions import ConvergenceFailure, DimensionMismatch, DomainMismatch, InvalidValue

GRAPHALYTICS = {"test-cdlp-directed": 5, "example-directed": 2, "example-undirected": 2}


@pytest.mark.parametrize("name", GRAPHALYTICS)
def test_results_of_graphalytics(name: str, shared_data: Path) -> None:
    """Labels there are identifiers of vertices, in the same order as row numbers."""
    folder = shared_data / "graphalytics"
    ids = np.array((folder / f"{name}.v").read_text().split(), int)
    edges = np.array([line.split()[:2] for line in (folder / f"{name}.e").read_text().splitlines()], int)
    properties = (folder / f"{name}.properties").read_text()
    directed = "directed = true" in properties
    steps = int(properties.split("cdlp.max-iterations = ")[1].split()[0])
    assert steps == GRAPHALYTICS[name]
    u, v = np.searchsorted(ids, edges).T
    if not directed:
        u, v = np.concatenate([u, v]), np.concatenate([v, u])
    found = cdlp(Matrix.from_coo(u, v, True, shape=(ids.size, ids.size)), steps)
    expected = dict(np.array(line.split(), int) for line in (folder / f"{name}-CDLP").read_text().splitlines())
    assert {int(ids[i]): int(ids[label]) for i, label in found.to_dict().items()} == expected


def cdlp(A: Matrix, max_iter: int, **options: Any) -> Vector:
    return label_propagation(A, method="synchronous", max_iter=max_iter, **options)


def drawn(n: int, density: float, seed: int) -> Any:
    return np.random.default_rng(seed).random((n, n)) < density


def by_definition(a: Any, steps: int) -> list[int]:
    labels = list(range(len(a)))
    for _ in range(steps):
        following = []
        for v in range(len(a)):
            votes = Counter(labels[u] for u in range(len(a)) if u != v for edge in (a[u, v], a[v, u]) if edge)
            most = max(votes.values(), default=0)
            following.append(min((label for label, many in votes.items() if many == most), default=labels[v]))
        labels = following
    return labels


@pytest.mark.parametrize("steps", [0, 1, 2, 7])
@pytest.mark.parametrize("density", [0.0, 0.04, 0.2])
@pytest.mark.parametrize("symmetric", [False, True])
def test_cdlp_is_as_its_definition(steps: int, density: float, symmetric: bool) -> None:
    """Also with self-loops, which are not counted, and vertices without edges."""
    a = drawn(40, density, 3)
    if symmetric:
        a = a | a.T
    A = Matrix.from_dense(a, missing_value=False)
    assert list(cdlp(A, steps).to_dict().values()) == by_definition(a, steps)
    assert cdlp(A.compress("varint"), steps).isequal(cdlp(A, steps))
    assert cdlp(A.apply("second", right=0.0), steps).isequal(cdlp(A, steps))  # explicit zeros are edges


def test_cdlp_of_special_graphs() -> None:
    assert cdlp(Matrix(float, 0, 0), 10).size == 0
    assert cdlp(Matrix(float, 3, 3), 10).to_dict() == {0: 0, 1: 1, 2: 2}
    calls: list[tuple[int, int | None]] = []
    star = Matrix.from_edgelist([(0, 1), (0, 2), (0, 3)])
    assert cdlp(star, 2, progress=lambda done, total: calls.append((done, total))).to_dict() == {0: 0, 1: 1, 2: 1, 3: 1}
    assert calls == [(1, 2), (2, 2)]
    with pytest.raises(DimensionMismatch):
        cdlp(Matrix(float, 2, 3), 10)
    with pytest.raises(InvalidValue):
        cdlp(star, -1)
    with pytest.raises(InvalidValue, match="has no seed, got 1"):
        cdlp(star, 2, seed=1)
    with pytest.raises(InvalidValue, match="method is one of 'asynchronous', 'synchronous', got 'both'"):
        label_propagation(star, method="both")
    path = Matrix.from_edgelist([(i, i + 1) for i in range(60)])
    assert label_propagation(path, method="synchronous").isequal(cdlp(path, 10))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_propagated_labels_are_stable(weighted: bool, seed: int) -> None:
    """No label has more weight among the neighbors of a vertex than its own."""
    rng = np.random.default_rng(seed)
    a = drawn(60, 0.08, seed) * (rng.integers(1, 9, (60, 60)) if weighted else 1)
    if seed:
        a = np.triu(a) + np.triu(a).T
    labels = label_propagation(Matrix.from_dense(a, missing_value=0), seed=seed).to_numpy()
    w = a if (a == a.T).all() else a + a.T
    w = w - np.diag(np.diag(w))
    votes = w @ np.eye(60)[labels]
    assert (votes[np.arange(60), labels] == votes.max(1)).all()


def test_propagation_finds_cliques() -> None:
    G = nx.connected_caveman_graph(6, 8)
    A = sr.io.from_networkx(G)
    labels = label_propagation(A, seed=2).to_numpy()
    assert len(set(labels)) == 6
    assert label_propagation(A, seed=2).to_dict() == dict(enumerate(labels.tolist()))


def test_bad_input_of_propagation() -> None:
    A = Matrix.from_coo([0, 1], [1, 2], [1.0, -1.0], shape=(3, 3))
    with pytest.raises(InvalidValue, match="negative"):
        label_propagation(A)
    with pytest.raises(InvalidValue, match="NaN"):
        label_propagation(A.apply("times", right=np.nan))
    with pytest.raises(DomainMismatch):
        label_propagation(A.dup("complex64"))
    B = A.apply("abs")
    with pytest.raises(ConvergenceFailure) as failure:
        label_propagation(Matrix.from_edgelist([(i, i + 1) for i in range(60)]), max_iter=1)
    assert failure.value.result.size == 61
    assert label_propagation(B, max_iter=0).to_dict() == {0: 0, 1: 1, 2: 2}
    assert label_propagation(Matrix(float, 0, 0)).size == 0
