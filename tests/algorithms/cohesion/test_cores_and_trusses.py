"""Cores and trusses: as NetworkX, igraph and NetworKit compute them, and by their defining property."""

from __future__ import annotations

from typing import Any

import igraph
import networkit
import networkx as nx
import numpy as np
import pytest

import semiring as sr
from semiring import Matrix
from tests.algorithms.cohesion.test_triangles import ordered, simple, skewed
from tests.algorithms.test_small_graphs import UNDIRECTED, Array, dense, matrix, weighted

GRAPHS = {
    **UNDIRECTED,
    "skewed": skewed(),
    "cliques": nx.to_numpy_array(nx.relaxed_caveman_graph(8, 7, 0.2, seed=1)) > 0,
}
graphs = pytest.mark.parametrize("present", GRAPHS.values(), ids=GRAPHS)


def pairs(A: Matrix) -> set[tuple[int, int]]:
    rows, cols, _ = A.to("cpu").to_coo()
    return set(zip(rows.tolist(), cols.tolist(), strict=True))


def both(edges: Any) -> set[tuple[int, int]]:
    return {ends for u, v in edges for ends in ((u, v), (v, u))}


@graphs
def test_core_numbers(present: Array) -> None:
    n, G = len(present), simple(present)
    core = sr.algorithms.core_numbers(matrix(present))
    assert core.dtype == np.int64
    found = dense(core, -1)
    np.testing.assert_array_equal(found, ordered(nx.core_number(G), n))
    np.testing.assert_array_equal(found, igraph.Graph(n=n, edges=list(G.edges)).coreness())
    other = networkit.nxadapter.nx2nk(G)
    np.testing.assert_array_equal(found, networkit.centrality.CoreDecomposition(other).run().scores())


@graphs
def test_k_core(present: Array) -> None:
    """The values of A stay; in the k-core all vertices have k neighbors; it is the largest such subgraph."""
    G, weights = simple(present), weighted(present, 1, 9)
    weights = np.maximum(weights, weights.T)
    A = matrix(present, weights)
    for k in (None, 0, 1, 2, 3, 7, 1000):
        B = sr.algorithms.k_core(A, k)
        assert pairs(B) == both(nx.k_core(G, k).edges)
        assert B.shape == A.shape
        assert all(value == weights[place] for place, value in B.items())


@graphs
def test_trusses(present: Array) -> None:
    G, weights = simple(present), weighted(present, 1, 9)
    weights = np.maximum(weights, weights.T)
    A = matrix(present, weights)
    T = sr.algorithms.truss_numbers(A)
    assert T.dtype == np.int64
    assert T.isequal(T.T)
    for k in (0, 2, 3, 4, 5, 6, 8, 30):
        expected = both(nx.k_truss(G, k).edges)
        B = sr.algorithms.k_truss(A, k)
        assert pairs(B) == expected
        assert pairs(T.select(">=", k)) == expected
        assert all(value == weights[place] for place, value in B.items())


@pytest.mark.parametrize("update", [0, 1, 10**9])
def test_supports_are_updated_or_computed_again(update: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever is chosen, the truss numbers are the same."""
    from semiring.algorithms.cohesion import truss

    A = matrix(GRAPHS["cliques"] | (UNDIRECTED["medium"][:56, :56]))
    expected = sr.algorithms.truss_numbers(A)
    monkeypatch.setattr(truss, "_UPDATE", update)
    assert sr.algorithms.truss_numbers(A).isequal(expected)


def test_a_level_for_each_of_many_sizes() -> None:
    """Cliques of 1 to 40 vertices."""
    sizes = range(1, 41)
    A = matrix(nx.to_numpy_array(nx.disjoint_union_all([nx.complete_graph(size) for size in sizes])) > 0)
    reports: list[tuple[int, int | None]] = []
    core = sr.algorithms.core_numbers(A, progress=lambda done, total: reports.append((done, total)))
    np.testing.assert_array_equal(dense(core, -1), np.repeat(sizes, sizes) - 1)
    assert reports == [(A.nrows, A.nrows)]
    truss = sr.algorithms.truss_numbers(A)
    of_vertices = dense(truss.reduce_rowwise("max"), 1)
    np.testing.assert_array_equal(of_vertices, np.repeat(sizes, sizes))


def test_an_exception_of_the_progress_function_ends_the_computation() -> None:
    def stop(done: int, total: int | None) -> None:
        raise KeyboardInterrupt

    A = matrix(GRAPHS["cliques"])
    for algorithm in (sr.algorithms.core_numbers, sr.algorithms.truss_numbers, sr.algorithms.square_clustering):
        with pytest.raises(KeyboardInterrupt):
            algorithm(A, progress=stop)
