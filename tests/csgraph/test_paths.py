"""Shortest paths of `semiring.csgraph`: those of SciPy, and predecessors by their definition."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse import csgraph as theirs

from semiring import csgraph as ours
from semiring.bridges.csgraph.conversion import Policy
from tests.csgraph.given import DRAWN, Array, formats, given, is_tree, near, same, weights

SEARCHES = ("dijkstra", "bellman_ford", "johnson", "shortest_path", "floyd_warshall")


def readable(graph: Any) -> Any:
    """A copy in a format that SciPy makes an array of."""
    return graph.tocsr() if getattr(graph, "format", "") == "coo" else graph.copy()


def undirected(D: Array) -> Array:
    """The lesser weight of both directions, infinity where there is no edge."""
    far = np.where(D == 0, np.inf, D)
    return np.minimum(far, far.T)


@pytest.mark.parametrize("drawn", DRAWN)
@pytest.mark.parametrize("name", SEARCHES)
def test_distances_of_all_formats(name: str, drawn: Any) -> None:
    D = weights(*drawn)
    for graph in formats(D):
        for directed in (True, False):
            expected = getattr(theirs, name)(readable(graph), directed=directed)
            same(getattr(ours, name)(given(graph), directed=directed), expected)


@pytest.mark.parametrize("drawn", DRAWN)
@pytest.mark.parametrize("name", SEARCHES)
@pytest.mark.parametrize("directed", [True, False])
def test_predecessors_lead_back(name: str, drawn: Any, directed: bool) -> None:
    D = weights(*drawn)
    distance, before = near(getattr(ours, name)(given(sp.csr_array(D)), directed=directed, return_predecessors=True))
    assert before.dtype == np.int32
    np.testing.assert_array_equal(distance, getattr(theirs, name)(D.copy(), directed=directed))
    lengths = np.where(D == 0, np.inf, D) if directed else undirected(D)
    for source in range(D.shape[0]):
        is_tree(distance[source], before[source], lengths, source)


def test_weights_of_zero_and_absorbed_ones() -> None:
    rng = np.random.default_rng(7)
    n, rows, columns = 30, rng.integers(0, 30, 140), rng.integers(0, 30, 140)
    values = rng.choice([0.0, 1e-30, 1.0, 2.0], 140)
    # One entry for each position: SciPy's conversion would add repeated ones.
    _, first = np.unique(rows * n + columns, return_index=True)
    S = sp.csr_array((values[first], (rows[first], columns[first])), shape=(n, n))
    lengths = np.full((n, n), np.inf)
    lengths[rows[first], columns[first]] = values[first]
    for name in SEARCHES:
        distance, before = near(getattr(ours, name)(given(S), return_predecessors=True))
        np.testing.assert_array_equal(distance, getattr(theirs, name)(S))
        for source in range(n):
            is_tree(distance[source], before[source], lengths, source)


def test_repeated_entries_are_edges_of_the_least_weight() -> None:
    S = sp.csr_array((np.array([5.0, 2.0, 1.0]), np.array([1, 1, 2]), np.array([0, 2, 3, 3])), shape=(3, 3))
    for name in SEARCHES:
        same(getattr(ours, name)(given(S)), getattr(theirs, name)(S))


@pytest.mark.parametrize("limit", [0, 3, 8.5, np.inf])
@pytest.mark.parametrize("directed", [True, False])
def test_limits(limit: float, directed: bool) -> None:
    D = weights(30, 0.1, 8)
    S = sp.csr_array(D)
    expected = theirs.dijkstra(S, directed, limit=limit)
    same(ours.dijkstra(given(S), directed, limit=limit), expected)
    distance, before = near(ours.dijkstra(given(S), directed, limit=limit, return_predecessors=True))
    np.testing.assert_array_equal(distance, expected)
    assert (before[np.isinf(expected)] == -9999).all()
    with pytest.raises(ValueError, match="limit must be >= 0"):
        ours.dijkstra(given(S), limit=-1)


@pytest.mark.costly
@pytest.mark.parametrize("indices", [0, -1, [3], [0, 4, 4, -2], np.arange(6).reshape(2, 3), np.array([[5]])])
@pytest.mark.parametrize("name", ["dijkstra", "bellman_ford", "johnson", "shortest_path"])
def test_indices_and_their_shapes(name: str, indices: Any) -> None:
    S = sp.csr_array(weights(9, 0.3, 9))
    for more in ({}, {"unweighted": True}):
        same(getattr(ours, name)(given(S), indices=indices, **more), getattr(theirs, name)(S, indices=indices, **more))
    for wrong in (9, [-10], [0, 12]):
        with pytest.raises(ValueError, match="indices out of range"):
            getattr(ours, name)(given(S), indices=wrong)


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("limit", [np.inf, 6])
@pytest.mark.parametrize("indices", [[0], [2, 7, 7], None])
def test_the_nearest_source(directed: bool, limit: float, indices: Any) -> None:
    D = weights(30, 0.06, 10)
    S = sp.csr_array(D)
    expected = theirs.dijkstra(S, directed, indices=indices, min_only=True, limit=limit)
    same(ours.dijkstra(given(S), directed, indices=indices, min_only=True, limit=limit), expected)
    distance, before, source = near(
        ours.dijkstra(given(S), directed, indices=indices, min_only=True, limit=limit, return_predecessors=True)
    )
    np.testing.assert_array_equal(distance, expected)
    lengths = np.where(D == 0, np.inf, D) if directed else undirected(D)
    starts = range(30) if indices is None else indices
    for v in range(30):
        if not np.isfinite(expected[v]):
            assert (before[v], source[v]) == (-9999, -9999)
        elif v in starts:
            assert (before[v], source[v]) == (-9999, v)
        else:
            assert distance[before[v]] + lengths[before[v], v] == distance[v]
            assert source[v] == source[before[v]]


def acyclic(seed: int) -> Array:
    """Weights of both signs without a cycle."""
    D = np.triu(weights(25, 0.2, seed, -4, 9), 1)
    mixed = np.random.default_rng(seed).permutation(25)
    return np.ascontiguousarray(D[mixed][:, mixed])


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", ["bellman_ford", "johnson", "floyd_warshall", "shortest_path"])
def test_negative_weights(name: str, seed: int) -> None:
    D = acyclic(seed)
    expected = getattr(theirs, name)(D.copy())
    same(getattr(ours, name)(given(sp.csr_array(D))), expected)
    distance, before = near(getattr(ours, name)(given(D), return_predecessors=True))
    np.testing.assert_array_equal(distance, expected)
    for source in range(25):
        is_tree(distance[source], before[source], np.where(D == 0, np.inf, D), source)


@pytest.mark.parametrize("name", ["bellman_ford", "johnson", "floyd_warshall", "shortest_path"])
def test_negative_cycles(name: str) -> None:
    cycle = np.zeros((6, 6))
    cycle[[0, 1, 2, 3, 3], [1, 2, 0, 0, 4]] = [1, 1, -3, 2, 1]
    edge = np.zeros((4, 4))
    edge[[0, 1], [1, 2]] = [2, -1]
    for graph, directed in ((cycle, True), (edge, False)):
        for form in (graph, sp.csr_array(graph)):
            with pytest.raises(ours.NegativeCycleError):
                getattr(ours, name)(given(form), directed=directed)
    assert ours.NegativeCycleError is theirs.NegativeCycleError
    # No path from 4 and 5 leads to the cycle: an error for `johnson` alone.
    same(ours.bellman_ford(given(cycle), indices=[4, 5]), theirs.bellman_ford(cycle.copy(), indices=[4, 5]))
    with pytest.raises(ours.NegativeCycleError):
        ours.johnson(given(cycle), indices=[4, 5])
    # Steps count, not weights.
    same(ours.bellman_ford(given(cycle), unweighted=True), theirs.bellman_ford(cycle.copy(), unweighted=True))


def test_negative_weights_in_dijkstra_warn() -> None:
    D = acyclic(1)
    with pytest.warns(UserWarning, match="Graph has negative weights"):
        ours.dijkstra(given(sp.csr_array(D)), indices=0)


def test_methods_of_shortest_path() -> None:
    D = weights(20, 0.4, 12)
    S = sp.csr_array(D)
    for method in ("auto", "FW", "D", "BF", "J"):
        for unweighted in (False, True):
            expected = theirs.shortest_path(S, method, unweighted=unweighted)
            same(ours.shortest_path(given(S), method, unweighted=unweighted), expected)
    with pytest.raises(ValueError, match="Cannot specify indices"):
        ours.shortest_path(given(S), "FW", indices=[1])
    with pytest.raises(ValueError, match="unrecognized method"):
        ours.shortest_path(given(S), "A*")


def test_overwrite() -> None:
    D = weights(12, 0.4, 13)
    expected = theirs.floyd_warshall(D.copy())
    kept, lost = given(D.copy()), given(D.copy())
    ours.floyd_warshall(kept)
    np.testing.assert_array_equal(near(kept), D)
    assert ours.floyd_warshall(lost, overwrite=True) is lost
    np.testing.assert_array_equal(near(lost), expected)


def test_floyd_warshall_of_more_than_a_block() -> None:
    for n, density in ((130, 0.05), (300, 0.4)):
        D = weights(n, density, n)
        distance, before = near(ours.floyd_warshall(given(D), return_predecessors=True))
        np.testing.assert_array_equal(distance, theirs.floyd_warshall(D.copy()))
        for source in range(0, n, 37):
            is_tree(distance[source], before[source], np.where(D == 0, np.inf, D), source)


def test_k_shortest_paths() -> None:
    S = sp.csr_array(weights(12, 0.4, 14))
    same(ours.yen(given(S), 0, 5, 4), theirs.yen(S, 0, 5, 4))


@pytest.mark.parametrize("directed", [True, False])
def test_paths_are_added_up_again(directed: bool) -> None:
    D = weights(30, 0.1, 15)
    expected, before = theirs.shortest_path(D.copy(), directed=directed, return_predecessors=True)
    for graph in formats(D):
        same(ours.construct_dist_matrix(given(graph), given(before), directed), expected)
    same(
        ours.construct_dist_matrix(given(D), given(before), directed, -1.0),
        np.where(np.isinf(expected), -1.0, expected),
    )
    with pytest.raises(TypeError):
        ours.construct_dist_matrix(given(D), given(before.astype(np.int64)), directed)
    with pytest.raises(ValueError, match="same shape"):
        ours.construct_dist_matrix(given(D), given(before[:5]), directed)


@pytest.mark.parametrize(
    ("n", "density"),
    [
        (120, 0.005),
        (120, 0.2),
        pytest.param(260, 0.05, marks=pytest.mark.wide),
        pytest.param(260, 0.4, marks=pytest.mark.wide),
    ],
)
def test_what_takes_less_time(n: int, density: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Policy, "by_time", True)
    D = weights(n, density, n)
    D[0, 1] = D[0, 1] or 3.0
    for graph in (D, sp.csr_array(D), sp.csc_array(D)):
        for name in SEARCHES:
            for directed in (True, False):
                for unweighted in (True, False):
                    given_to = {"directed": directed, "unweighted": unweighted}
                    expected = getattr(theirs, name if name != "bellman_ford" else "dijkstra")(graph.copy(), **given_to)
                    same(getattr(ours, name)(given(graph), **given_to), expected)
    for name in ("shortest_path", "floyd_warshall", "dijkstra"):
        distance, before = near(getattr(ours, name)(given(D), return_predecessors=True))
        np.testing.assert_array_equal(distance, theirs.dijkstra(D))
        for source in range(0, n, 50):
            is_tree(distance[source], before[source], np.where(D == 0, np.inf, D), source)
    lost = given(D.copy())
    distance, _ = ours.floyd_warshall(lost, overwrite=True, return_predecessors=True)
    assert distance is lost or np.shares_memory(distance, lost)
    np.testing.assert_array_equal(near(lost), theirs.dijkstra(D))
