"""Triangles of graphs, vertices and edges: by hand, over all triples of vertices, and as NetworkX and igraph count."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import igraph
import networkx as nx
import numpy as np
import pytest

import semiring as sr
from semiring import Matrix
from tests.algorithms.test_small_graphs import UNDIRECTED, Array, dense, matrix

graphs = pytest.mark.parametrize("present", UNDIRECTED.values(), ids=UNDIRECTED)


def skewed(n: int = 150, seed: int = 4) -> Array:
    """Few vertices with most edges, so that the vertices are reordered by degree; some isolated, one with a loop."""
    present = nx.to_numpy_array(nx.barabasi_albert_graph(n, 2, seed=seed)) > 0
    present[0, :] = present[:, 0] = np.arange(n) % 3 > 0
    present[7, :] = present[:, 7] = False
    present[9, 9] = True
    return present


def simple(present: Array) -> nx.Graph:
    """The graph without self-loops, as NetworkX has it."""
    return nx.from_numpy_array(present & ~np.eye(len(present), dtype=bool))


def ordered(found: dict[int, Any], n: int) -> list[Any]:
    return [found[v] for v in range(n)]


def test_by_hand() -> None:
    """A tetrahedron 0 1 2 3, a tail 3 4, a loop at 4, and 5 alone."""
    edges = [*combinations(range(4), 2), (3, 4)]
    A = Matrix.from_edgelist([*edges, *(edge[::-1] for edge in edges), (4, 4)], nrows=6, ncols=6)
    assert sr.algorithms.triangle_count(A) == 4
    assert sr.algorithms.triangles(A).to_dict() == {0: 3, 1: 3, 2: 3, 3: 3, 4: 0, 5: 0}
    support = sr.algorithms.edge_triangles(A)
    assert support.to_dicts()[3] == {0: 2, 1: 2, 2: 2, 4: 0}
    assert support.isequal(support.T)
    assert sr.algorithms.generalized_degree(A).to_dicts() == {
        **{v: {2: 3} for v in range(3)},
        3: {0: 1, 2: 3},
        4: {0: 1},
    }
    assert sr.algorithms.transitivity(A) == 3 * 4 / (3 * 3 + 6)


@graphs
def test_all_triples(present: Array) -> None:
    n, A = len(present), matrix(present)
    closed = [t for t in combinations(range(n), 3) if all(present[edge] for edge in combinations(t, 2))]
    of_vertex = [sum(v in t for t in closed) for v in range(n)]
    assert sr.algorithms.triangle_count(A) == len(closed)
    found = sr.algorithms.triangles(A)
    assert found.dtype == np.int64
    np.testing.assert_array_equal(dense(found, -1), of_vertex)
    edges = {(u, v) for u, v in zip(*np.nonzero(present), strict=True) if u != v}
    expected = {(int(u), int(v)): sum(u in t and v in t for t in closed) for u, v in edges}
    support = sr.algorithms.edge_triangles(A)
    assert {(u, v): count for (u, v), count in support.items()} == expected


@pytest.mark.parametrize(
    "present", [skewed(), UNDIRECTED["medium"], UNDIRECTED["dense"]], ids=["skewed", "medium", "dense"]
)
def test_as_networkx_and_igraph(present: Array) -> None:
    n, A, G = len(present), matrix(present), simple(present)
    other = igraph.Graph(n=n, edges=list(G.edges))
    triangles = dense(sr.algorithms.triangles(A), -1)
    np.testing.assert_array_equal(triangles, ordered(nx.triangles(G), n))
    assert sr.algorithms.triangle_count(A) == len(other.list_triangles()) == triangles.sum() // 3
    assert sr.algorithms.transitivity(A) == pytest.approx(other.transitivity_undirected(), rel=1e-14)
    expected = {v: dict(counts) for v, counts in nx.generalized_degree(G).items() if counts}
    assert sr.algorithms.generalized_degree(A).to_dicts() == expected
    theirs = nx.rich_club_coefficient(G, normalized=False)
    assert sr.algorithms.rich_club(A).to_dict() == pytest.approx(theirs, rel=1e-14)


@graphs
def test_triangle_centrality(present: Array) -> None:
    """Burkhardt's definition: a third of the triangles of v and of the neighbors in its triangles, all of others'."""
    n, G = len(present), simple(present)
    t = nx.triangles(G)
    total = sum(t.values()) // 3
    expected = []
    for v in range(n):
        core = {u for u in G[v] if set(G[u]) & set(G[v])}
        expected.append((sum(t[u] for u in core | {v}) / 3 + sum(t[u] for u in set(G[v]) - core)) / max(total, 1))
    found = sr.algorithms.triangle_centrality(matrix(present))
    np.testing.assert_allclose(dense(found, np.nan), expected, rtol=1e-14, atol=1e-15)


def test_square_clustering_by_definition() -> None:
    """Over all pairs of neighbors: the squares there are, and those that the degrees would allow."""
    for present in (skewed(60, 1), *UNDIRECTED.values()):
        n, G = len(present), simple(present)
        expected = []
        for v in range(n):
            exist = possible = 0
            for u, w in combinations(G[v], 2):
                squares = len((set(G[u]) & set(G[w])) - {v})
                known = squares + 1 + (w in G[u])
                exist += squares
                possible += squares + (len(G[u]) - known) + (len(G[w]) - known)
            expected.append(exist / possible if possible else 0.0)
        found = dense(sr.algorithms.square_clustering(matrix(present)), np.nan)
        np.testing.assert_allclose(found, expected, rtol=1e-13)
        np.testing.assert_allclose(found, ordered(nx.square_clustering(G), n), rtol=1e-13)


def test_square_clustering_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of few products, and rows that have more: the same result, and a report after each part."""
    from semiring.algorithms.cohesion import squares as module

    A = matrix(skewed(70, 2))
    whole, reports = sr.algorithms.square_clustering(A), []
    monkeypatch.setattr(module, "_PRODUCTS", 100)
    assert sr.algorithms.square_clustering(A, progress=lambda done, total: reports.append((done, total))).isequal(whole)
    assert len(reports) > 10
    assert reports[-1] == (70, 70)
    assert reports == sorted(reports)
