"""Small real graphs of the repository (tests/data): every algorithm equals NetworkX, SciPy or published results."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse import csgraph

import semiring as sr
from semiring import algorithms
from tests import verify

Array = np.ndarray[Any, Any]
DATA = Path(__file__).resolve().parent.parent / "data"
THEIRS = {
    "karate.wel": nx.karate_club_graph,
    "miserables.wel": nx.les_miserables_graph,
    "women.el": nx.davis_southern_women_graph,
}
by_name = pytest.mark.parametrize("name", THEIRS)
by_method = pytest.mark.parametrize("method", ["afforest", "fastsv"])


def undirected(name: str) -> Any:
    """The graph of a file with a line for each undirected edge, as SciPy's adjacency matrix; weights 1 if none."""
    table = np.loadtxt(DATA / name, dtype=np.int64)
    rows, cols, weights = table[:, 0], table[:, 1], table[:, 2] if table.shape[1] == 3 else np.ones(len(table))
    n = int(table[:, :2].max()) + 1
    half = sp.coo_array((weights.astype(np.float64), (rows, cols)), shape=(n, n))
    return sp.csr_array(half + half.T)


def published(name: str) -> tuple[Array, Array]:
    """(ids, values) of a published result; infinity where a vertex is not reached."""
    ids, values = np.loadtxt(DATA / name, dtype=object, converters=str).T
    found = values.astype(np.float64)
    found[found >= 2.0**63 - 1] = np.inf
    return ids.astype(np.int64), found


def directed(name: str, ids: Array) -> Any:
    """The graph of a file with a line for each arc, its vertices numbered by their positions in `ids`, ascending."""
    table = np.loadtxt(DATA / name)
    rows, cols = np.searchsorted(ids, table[:, 0].astype(np.int64)), np.searchsorted(ids, table[:, 1].astype(np.int64))
    weights = table[:, 2] if table.shape[1] == 3 else np.ones(len(table))
    return sp.csr_array((weights, (rows, cols)), shape=(ids.size, ids.size))


def matrix(graph: Any) -> sr.Matrix:
    return sr.Matrix.from_csr(graph.indptr, graph.indices, graph.data, ncols=graph.shape[1])


def array(v: Any, missing: Any = None) -> Array:
    found = v.to_dense(missing)
    return np.asarray(found.get() if hasattr(found, "get") else found)


def bandwidth(graph: Any) -> int:
    rows, cols = graph.nonzero()
    return int(np.abs(rows - cols).max())


def test_every_algorithm_has_tests() -> None:
    text = "".join(path.read_text() for path in Path(__file__).parent.rglob("test_*.py"))
    functions = [name for name in algorithms.__all__ if inspect.isfunction(getattr(algorithms, name))]
    assert [name for name in functions if name not in text] == []


@by_name
def test_files_are_the_graphs_of_networkx(name: str) -> None:
    theirs = nx.to_scipy_sparse_array(THEIRS[name](), format="csr", dtype=np.float64)
    assert (undirected(name) != theirs).nnz == 0


def test_known_facts() -> None:
    """Numbers of vertices and edges from the publications, and the members with the most friends."""
    sizes = {name: (undirected(name).shape[0], undirected(name).nnz // 2) for name in THEIRS}
    assert sizes == {"karate.wel": (34, 78), "miserables.wel": (77, 254), "women.el": (32, 89)}
    club = matrix(undirected("karate.wel"))
    degree = array(club.apply("one").reduce_rowwise())
    assert [int(v) for v in algorithms.degree_order(club).to_numpy()[:2]] == [33, 0]
    assert (degree[33], degree[0]) == (17, 16)


@by_name
def test_searches(name: str) -> None:
    graph = undirected(name)
    A, n = matrix(graph), graph.shape[0]
    sources = [0, n // 2, n - 1]
    expected = csgraph.shortest_path(graph, unweighted=True, indices=sources)
    together = array(algorithms.bfs_levels(A, sources))
    np.testing.assert_array_equal(together, expected)
    for source, levels in zip(sources, expected.astype(np.int64), strict=True):
        np.testing.assert_array_equal(array(algorithms.bfs_levels(A, source)), levels)
        parents = array(algorithms.bfs_parents(A, source))
        verify.bfs_parents(graph.indptr, graph.indices, source, parents, levels)
        trace = algorithms.bfs_trace(A, source)
        np.testing.assert_array_equal(array(trace.levels), levels)
        assert [step.frontier for step in trace.steps] == np.bincount(levels).tolist()
        edges = np.bincount(levels, np.diff(graph.indptr)).tolist()
        assert [step.edges for step in trace.steps] == edges


@by_name
def test_distances(name: str) -> None:
    graph = undirected(name)
    A = matrix(graph)
    for source in (0, graph.shape[0] - 1):
        np.testing.assert_array_equal(array(algorithms.sssp(A, source)), csgraph.dijkstra(graph, indices=source))


@by_name
def test_ranks(name: str) -> None:
    """PageRank reads no weights, so NetworkX reads none either."""
    theirs = nx.pagerank(THEIRS[name](), weight=None, tol=1e-14, max_iter=1000)
    rank = array(algorithms.pagerank(matrix(undirected(name)), tol=1e-12, max_iter=500))
    np.testing.assert_allclose(rank, list(theirs.values()), rtol=1e-8)


@by_method
@pytest.mark.parametrize("least", [1, 3, 5, 9, 40])
def test_components(method: str, least: int) -> None:
    """Characters who are joined by relations of at least so many chapters: from one component to 77."""
    graph = undirected("miserables.wel")
    graph.data[graph.data < least] = 0
    graph.eliminate_zeros()
    count, theirs = csgraph.connected_components(graph, directed=False)
    labels = array(algorithms.connected_components(matrix(graph), method=method))
    verify.components(graph.indptr, graph.indices, labels, count)
    assert count == {1: 1, 40: 77}.get(least, count)
    smallest = [int(np.flatnonzero(theirs == component)[0]) for component in range(count)]
    np.testing.assert_array_equal(labels, np.array(smallest)[theirs])


@by_name
def test_orders(name: str) -> None:
    """The documented property of each order, on the graph with its vertices numbered at random."""
    mixed = np.random.default_rng(3).permutation(undirected(name).shape[0])
    graph = undirected(name)[mixed][:, mixed].tocsr()
    graph.sort_indices()
    A, degree = matrix(graph), np.diff(graph.indptr)
    found = {order: array(getattr(algorithms, order)(A)) for order in
             ("degree_order", "bfs_order", "reverse_cuthill_mckee", "locality_order")}  # fmt: skip
    for p in found.values():
        np.testing.assert_array_equal(np.sort(p), np.arange(degree.size))
    np.testing.assert_array_equal(found["degree_order"], np.argsort(-degree, kind="stable"))
    start = found["bfs_order"][0]
    levels = csgraph.shortest_path(graph, unweighted=True, indices=start)[found["bfs_order"]]
    assert (np.diff(levels) >= 0).all()
    theirs = csgraph.reverse_cuthill_mckee(sp.csr_matrix(graph), symmetric_mode=True)
    ours = found["reverse_cuthill_mckee"]
    assert bandwidth(graph[ours][:, ours]) <= 1.2 * bandwidth(graph[theirs][:, theirs])


def test_published_search_and_distances() -> None:
    """LDBC Graphalytics: from vertex 1, along directed edges."""
    ids, levels = published("ldbc-BFS")
    A = matrix(directed("ldbc.e", ids))
    source = int(np.searchsorted(ids, 1))
    np.testing.assert_array_equal(array(algorithms.bfs_levels(A, source).apply("identity[float64]"), np.inf), levels)
    ids, distances = published("ldbc-SSSP")
    np.testing.assert_allclose(array(algorithms.sssp(A, source), np.inf), distances, rtol=1e-9)


@pytest.mark.costly
@pytest.mark.parametrize(("name", "iterations"), [("ldbc", 2), ("ldbc-ranked", 14)])
def test_published_ranks(name: str, iterations: int) -> None:
    """LDBC Graphalytics: after so many iterations."""
    ids, ranks = published(f"{name}-PR")
    A = matrix(directed(f"{name}.e", ids))
    found = algorithms.pagerank(A, 0.85, tol=0, max_iter=iterations)
    np.testing.assert_allclose(array(found), ranks, rtol=1e-4)
