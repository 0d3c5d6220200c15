"""Graphlet degrees: over all sets of up to four vertices, as igraph counts motifs, and as the other counts here."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import pytest

import semiring as sr
from semiring import Matrix
from semiring.algorithms import graphlet_degrees
from semiring.algorithms.cohesion import graphlets, squares
from tests.algorithms.cohesion.test_triangles import skewed
from tests.algorithms.test_small_graphs import UNDIRECTED, Array, matrix

# The edges of each graphlet, and the orbit of each of its vertices.
GRAPHLETS = {
    "edge": ([(0, 1)], (0, 0)),
    "path of two edges": ([(0, 1), (1, 2)], (1, 2, 1)),
    "triangle": ([(0, 1), (1, 2), (2, 0)], (3, 3, 3)),
    "path of three edges": ([(0, 1), (1, 2), (2, 3)], (4, 5, 5, 4)),
    "star": ([(0, 1), (0, 2), (0, 3)], (7, 6, 6, 6)),
    "square": ([(0, 1), (1, 2), (2, 3), (3, 0)], (8, 8, 8, 8)),
    "tail": ([(0, 1), (1, 2), (1, 3), (2, 3)], (9, 11, 10, 10)),
    "diamond": ([(0, 1), (0, 2), (0, 3), (1, 2), (1, 3)], (13, 13, 12, 12)),
    "clique": (list(combinations(range(4), 2)), (14,) * 4),
}
# How often each orbit occurs in its graphlet.
TIMES = [2, 2, 1, 3, 2, 2, 3, 1, 4, 1, 2, 1, 2, 2, 4]


def enumerated(present: Array, *, induced: bool) -> Array:
    """By definition: every way to lay a graphlet on a set of vertices, each set of edges once."""
    n = len(present)
    found = np.zeros((n, graphlets.ORBITS), np.int64)
    for size in (2, 3, 4):
        shapes = [shape for shape in GRAPHLETS.values() if len(shape[1]) == size]
        for chosen in combinations(range(n), size):
            there = {frozenset(pair) for pair in combinations(chosen, 2) if present[pair]}
            seen = set()
            for edges, orbits in shapes:
                for order in permutations(chosen):
                    laid = frozenset(frozenset((order[u], order[v])) for u, v in edges)
                    if laid in seen or not (laid == there if induced else laid <= there):
                        continue
                    seen.add(laid)
                    found[list(order), list(orbits)] += 1
    return found


def dense(A: Matrix, **options: bool) -> Array:
    F = graphlet_degrees(A, **options)
    assert F.shape == (A.nrows, graphlets.ORBITS)
    assert F.nvals == A.nrows * graphlets.ORBITS
    assert F.dtype.name == "int64"
    return np.asarray(F.to("cpu").to_dense())


@pytest.mark.costly
@pytest.mark.parametrize("induced", [True, False])
@pytest.mark.parametrize("name", [name for name, present in UNDIRECTED.items() if len(present) <= 30])
def test_all_sets_of_vertices(name: str, induced: bool) -> None:
    present = UNDIRECTED[name][:14, :14]
    np.testing.assert_array_equal(dense(matrix(present), induced=induced), enumerated(present, induced=induced))


@pytest.mark.parametrize("seed", range(3))
def test_dense_graphs(seed: int) -> None:
    above = np.triu(np.random.default_rng(seed).random((11, 11)) < 0.4 + 0.2 * seed, 1)
    for induced in (True, False):
        found = dense(matrix(above | above.T), induced=induced)
        np.testing.assert_array_equal(found, enumerated(above | above.T, induced=induced))


def test_motifs_of_igraph_and_other_counts() -> None:
    igraph = pytest.importorskip("igraph")
    present = skewed(60)
    A, alone = matrix(present), present & ~np.eye(60, dtype=bool)
    found = dense(A)
    sums = found.sum(axis=0) // TIMES
    assert (sums * TIMES == found.sum(axis=0)).all()
    G = igraph.Graph(60, [(int(u), int(v)) for u, v in np.argwhere(np.triu(alone))])
    of_three, of_four = G.motifs_randesu(3), G.motifs_randesu(4)
    shapes = [[edges, len(orbits), sums[orbits[0]]] for edges, orbits in GRAPHLETS.values()]
    for edges, size, count in shapes[1:]:
        counts = of_three if size == 3 else of_four
        assert counts[igraph.Graph(size, edges).isoclass()] == count
    np.testing.assert_array_equal(found[:, 3], sr.algorithms.triangles(A).to("cpu").to_dense(0))
    np.testing.assert_array_equal(found[:, 0], alone.sum(axis=1))


def test_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of few products: the same result, and a report after each part."""
    A = matrix(skewed(70, 2))
    whole, reports = graphlet_degrees(A), []
    monkeypatch.setattr(squares, "_PRODUCTS", 100)
    monkeypatch.setattr(graphlets, "_GATHERED", 20)
    assert graphlet_degrees(A, progress=lambda done, total: reports.append((done, total))).isequal(whole)
    assert len(reports) > 10
    assert reports[-1] == (70, 70)


def test_graphs_without_edges() -> None:
    assert graphlet_degrees(Matrix(bool, 0, 0)).shape == (0, graphlets.ORBITS)
    assert not dense(Matrix(float, 3, 3)).any()
    assert dense(Matrix.from_edgelist([(0, 0)])).sum() == 0
