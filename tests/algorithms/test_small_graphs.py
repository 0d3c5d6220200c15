"""Small graphs of every kind: the algorithms equal NetworkX and SciPy, which run in the test itself.

Unlike `test_truth.py` this needs no file: directed and undirected graphs, sinks, sources, isolated rows, self-loops,
several components, weights of both signs.
"""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse import csgraph

import semiring as sr
from semiring.exceptions import ConvergenceFailure, NegativeCycle
from tests import verify

Array = np.ndarray[Any, Any]


def path(n: int) -> Array:
    """0 -> 1 -> ... -> n - 1; the last row is a sink."""
    return np.eye(n, k=1, dtype=bool)


def star(n: int) -> Array:
    """Every row points at row 0, which is a sink."""
    present = np.zeros((n, n), bool)
    present[1:, 0] = True
    return present


def drawn(n: int, density: float, seed: int) -> Array:
    """One row in four is a sink and one column in five is never reached; loops are allowed."""
    rng = np.random.default_rng(seed)
    present = rng.random((n, n)) < density
    present[rng.random(n) < 0.25] = False
    present[:, rng.random(n) < 0.2] = False
    return present


DIRECTED = {
    "one": np.zeros((1, 1), bool),
    "loop": np.ones((1, 1), bool),
    "no-arcs": np.zeros((4, 4), bool),
    "path": path(7),
    "cycle": np.roll(np.eye(6, dtype=bool), 1, axis=1),
    "star": star(9),
    "sparse": drawn(60, 0.02, 1),
    "medium": drawn(60, 0.08, 2),
    "dense": drawn(33, 0.5, 3),
}
UNDIRECTED = {name: present | present.T for name, present in DIRECTED.items()}
GRAPHS = {**DIRECTED, **{f"{name}-undirected": present for name, present in UNDIRECTED.items()}}
graphs = pytest.mark.parametrize("present", GRAPHS.values(), ids=GRAPHS)


def matrix(present: Array, weights: Array | None = None) -> Any:
    rows, cols = np.nonzero(present)
    values: Any = True if weights is None else weights[rows, cols]
    return sr.Matrix.from_coo(rows, cols, values, nrows=present.shape[0], ncols=present.shape[0])


def dense(v: Any, missing: Any) -> Array:
    """A Vector as an array, with `missing` where nothing is stored."""
    found = v.to_dense(missing)
    return np.asarray(found.get() if hasattr(found, "get") else found)


def weighted(present: Array, low: int, high: int) -> Array:
    """Whole weights from `low` to `high`, as floats."""
    return np.random.default_rng(5).integers(low, high + 1, present.shape).astype(np.float64)


@pytest.mark.costly
@graphs
@pytest.mark.parametrize("damping", [0.85, 0.0, 0.5])
def test_pagerank(present: Array, damping: float) -> None:
    """The mass of sinks is spread evenly, as NetworkX spreads it."""
    rank = dense(sr.algorithms.pagerank(matrix(present), damping, tol=1e-12, max_iter=500), np.nan)
    graph = nx.from_numpy_array(present.astype(int), create_using=nx.DiGraph)
    theirs = nx.pagerank(graph, alpha=damping, tol=1e-14, max_iter=1000)
    np.testing.assert_allclose(rank, [theirs[row] for row in range(len(theirs))], rtol=1e-8)
    assert rank.sum() == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize("name", ["path", "star", "sparse", "no-arcs"])
@pytest.mark.parametrize("iterations", [0, 1, 2, 7])
def test_pagerank_after_so_many_iterations(name: str, iterations: int) -> None:
    """With `tol` 0, exactly so many; each is the documented formula, the mass of the sinks included."""
    present = DIRECTED[name]
    n, degree = present.shape[0], present.sum(axis=1)
    expected = np.full(n, 1 / n)
    for _ in range(iterations):
        share = np.where(degree > 0, expected / np.maximum(degree, 1), 0.0)
        expected = (1 - 0.85) / n + 0.85 * (share @ present + expected[degree == 0].sum() / n)
    rank = sr.algorithms.pagerank(matrix(present), 0.85, tol=0, max_iter=iterations)
    np.testing.assert_allclose(dense(rank, np.nan), expected, rtol=1e-12)


def test_pagerank_stops_at_the_tolerance() -> None:
    """A cycle is at rest from the start; a path is not, and two iterations do not bring it there."""
    assert dense(sr.algorithms.pagerank(matrix(DIRECTED["cycle"]), max_iter=1), 0.0) == pytest.approx(1 / 6)
    with pytest.raises(ConvergenceFailure) as caught:
        sr.algorithms.pagerank(matrix(path(7)), tol=1e-9, max_iter=2)
    assert caught.value.iterations == 2
    assert caught.value.residual > 1e-9
    twice = sr.algorithms.pagerank(matrix(path(7)), tol=0, max_iter=2)
    np.testing.assert_array_equal(dense(caught.value.result, 0.0), dense(twice, 0.0))


@graphs
def test_bfs(present: Array) -> None:
    graph = sp.csr_array(present)
    A = matrix(present)
    for source in {0, present.shape[0] // 2, present.shape[0] - 1}:
        far = csgraph.shortest_path(graph, unweighted=True, indices=source)
        found = sr.algorithms.bfs_levels(A, source)
        assert found.dtype == np.int32
        levels = dense(found, -1)
        np.testing.assert_array_equal(levels, np.where(np.isinf(far), -1, far))
        parents = dense(sr.algorithms.bfs_parents(A, source), -1)
        verify.bfs_parents(graph.indptr, graph.indices, source, parents, levels)


@graphs
def test_bfs_from_several_sources(present: Array) -> None:
    """A row for each source; a source may repeat."""
    n = present.shape[0]
    sources = [n - 1, 0, n // 2, 0]
    far = csgraph.shortest_path(sp.csr_array(present), unweighted=True, indices=sources)
    found = sr.algorithms.bfs_levels(matrix(present), sources)
    assert (found.shape, found.dtype) == ((4, n), np.int32)
    np.testing.assert_array_equal(dense(found, -1), np.where(np.isinf(far), -1, far))


@graphs
def test_sssp(present: Array) -> None:
    """Zero weights included, which SciPy's sparse graphs cannot represent: Bellman-Ford on a dense array."""
    weights = weighted(present, 0, 9)
    source, n = 0, present.shape[0]
    expected = np.full(n, np.inf)
    expected[source] = 0.0
    arcs = np.where(present, weights, np.inf)
    for _ in range(n):
        expected = np.minimum(expected, (expected[:, None] + arcs).min(axis=0))
    got = dense(sr.algorithms.sssp(matrix(present, weights), source), np.inf)
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("name", ["path", "sparse", "medium", "dense"])
def test_sssp_by_scipy(name: str) -> None:
    """Positive weights; then weights of both signs on a graph without cycles, where Bellman-Ford is needed."""
    present = DIRECTED[name]
    positive = weighted(present, 1, 20)
    for source in range(0, present.shape[0], 7):
        theirs = csgraph.dijkstra(sp.csr_array(np.where(present, positive, 0.0)), indices=source)
        np.testing.assert_array_equal(dense(sr.algorithms.sssp(matrix(present, positive), source), np.inf), theirs)
    acyclic = np.triu(present, 1)
    signed = weighted(acyclic, -9, 9)
    signed[signed == 0] = 1.0
    theirs = csgraph.bellman_ford(sp.csr_array(np.where(acyclic, signed, 0.0)), indices=0)
    np.testing.assert_array_equal(dense(sr.algorithms.sssp(matrix(acyclic, signed), 0), np.inf), theirs)


@pytest.mark.parametrize(
    ("weights", "distances"),
    [("bool", "int64"), ("int8", "int64"), ("uint8", "int64"), ("float32", "float32"), ("float64", "float64")],
)
def test_distances_of_integers_are_int64(weights: str, distances: str) -> None:
    """A distance may exceed the type of the weights."""
    step = 1 if weights == "bool" else 100
    A = matrix(path(7), np.full((7, 7), step, weights))
    found = sr.algorithms.sssp(A, 0)
    assert (A.dtype, found.dtype) == (weights, distances)
    np.testing.assert_array_equal(dense(found, -1), np.arange(7) * step)


def test_sssp_finds_a_negative_cycle_only_where_the_source_reaches_it() -> None:
    present = np.zeros((6, 6), bool)
    present[[0, 1, 2, 3, 4], [1, 2, 3, 4, 3]] = True  # 0 -> 1 -> 2 -> 3 <-> 4; row 5 is isolated
    weights = np.ones((6, 6))
    weights[3, 4], weights[4, 3] = 2.0, -3.0
    with pytest.raises(NegativeCycle) as caught:
        sr.algorithms.sssp(matrix(present, weights), 0)
    assert caught.value.vertex in (3, 4)
    np.testing.assert_array_equal(dense(sr.algorithms.sssp(matrix(present, weights), 5), np.inf), [np.inf] * 5 + [0.0])
    weights[4, 3] = -2.0  # the cycle costs nothing
    expected = [0.0, 1.0, 2.0, 3.0, 5.0, np.inf]
    np.testing.assert_array_equal(dense(sr.algorithms.sssp(matrix(present, weights), 0), np.inf), expected)


@graphs
@pytest.mark.parametrize("method", ["afforest", "fastsv"])
def test_components(present: Array, method: str) -> None:
    """Weak components; each carries its smallest row."""
    graph = sp.csr_array(present)
    count, theirs = csgraph.connected_components(graph, directed=False)
    labels = dense(sr.algorithms.connected_components(matrix(present), method=method), -1)
    verify.components(graph.indptr, graph.indices, labels, count)
    smallest = [int(np.flatnonzero(theirs == component)[0]) for component in range(count)]
    np.testing.assert_array_equal(labels, np.array(smallest)[theirs])


@pytest.mark.parametrize("method", ["afforest", "fastsv"])
def test_no_row_has_no_component(method: str) -> None:
    assert sr.algorithms.connected_components(sr.Matrix(bool, 0, 0), method=method).size == 0
