"""Clustering: directed and undirected, weighted or not, as NetworkX, igraph and LDBC Graphalytics define it."""

from __future__ import annotations

import igraph
import networkx as nx
import numpy as np
import pytest

import semiring as sr
from semiring.exceptions import DomainMismatch, InvalidValue
from tests.algorithms.cohesion.test_triangles import ordered, simple, skewed
from tests.algorithms.test_small_graphs import DIRECTED, GRAPHS, UNDIRECTED, Array, dense, drawn, matrix, weighted

ALL = {**GRAPHS, "skewed": skewed(), "skewed-directed": skewed() & drawn(150, 0.8, 6)}
graphs = pytest.mark.parametrize("present", ALL.values(), ids=ALL)


def digraph(present: Array, weights: Array | None = None) -> nx.DiGraph:
    kept = present & ~np.eye(len(present), dtype=bool)
    G = nx.DiGraph()
    G.add_nodes_from(range(len(present)))
    G.add_weighted_edges_from(
        (u, v, 1 if weights is None else weights[u, v]) for u, v in zip(*np.nonzero(kept), strict=True)
    )
    return G


@graphs
def test_clustering(present: Array) -> None:
    """The formula of directed graphs is that of undirected ones where every edge has both directions."""
    n, found = len(present), dense(sr.algorithms.clustering(matrix(present)), np.nan)
    np.testing.assert_allclose(found, ordered(nx.clustering(digraph(present)), n), rtol=1e-13, atol=1e-15)
    if (present == present.T).all():
        G = simple(present)
        np.testing.assert_allclose(found, ordered(nx.clustering(G), n), rtol=1e-13)
        theirs = igraph.Graph(n=n, edges=list(G.edges)).transitivity_local_undirected(mode="zero")
        np.testing.assert_allclose(found, theirs, rtol=1e-13)


@graphs
@pytest.mark.parametrize("dtype", ["float64", "float32", "uint8"])
def test_weighted_clustering(present: Array, dtype: str) -> None:
    weights = weighted(present, 0, 9)
    weights[3 % len(present)] = 0
    if (present == present.T).all():
        weights = np.maximum(weights, weights.T)
    n, A = len(present), matrix(present, weights.astype(dtype))
    kept = present & ~np.eye(n, dtype=bool)
    if not (weights * kept).any():  # NetworkX divides by 0
        expected = [0.0] * n
    else:
        expected = ordered(nx.clustering(digraph(present, weights), weight="weight"), n)
    found = sr.algorithms.clustering(A, weight=True)
    np.testing.assert_allclose(dense(found, np.nan), expected, rtol=1e-9, atol=1e-12)
    mean = sr.algorithms.average_clustering(A, weight=True)
    assert mean == pytest.approx(np.mean(expected), rel=1e-9, abs=1e-12)


@graphs
def test_lcc(present: Array) -> None:
    """The arcs between the neighbors, which arcs of either direction join, over their ordered pairs."""
    expected = []
    kept = present & ~np.eye(len(present), dtype=bool)
    for v in range(len(present)):
        near = np.flatnonzero(kept[v] | kept[:, v])
        pairs = near.size * (near.size - 1)
        expected.append(kept[np.ix_(near, near)].sum() / pairs if pairs else 0.0)
    found = dense(sr.algorithms.clustering(matrix(present), method="graphalytics"), np.nan)
    np.testing.assert_allclose(found, expected, rtol=1e-13)


def test_average_clustering() -> None:
    present = UNDIRECTED["medium"]
    G, A = simple(present), matrix(present)
    for count_zeros in (True, False):
        theirs = nx.average_clustering(G, count_zeros=count_zeros)
        assert sr.algorithms.average_clustering(A, count_zeros=count_zeros) == pytest.approx(theirs, rel=1e-13)
    alone = matrix(DIRECTED["no-arcs"])
    assert sr.algorithms.average_clustering(alone) == 0.0
    assert sr.algorithms.average_clustering(alone, count_zeros=False) == 0.0


def test_weights_out_of_range() -> None:
    present = UNDIRECTED["cycle"]
    for value, message in ((-1.0, "must not be negative"), (np.nan, "NaN")):
        with pytest.raises(InvalidValue, match=f"clustering: .*{message}"):
            sr.algorithms.clustering(matrix(present, np.full(present.shape, value)), weight=True)
    with pytest.raises(DomainMismatch, match="clustering: weights are real"):
        sr.algorithms.clustering(matrix(present, np.full(present.shape, 1j)), weight=True)
    unread = sr.algorithms.clustering(matrix(present, np.full(present.shape, np.nan)))
    assert unread.reduce("plus").get(0) == 0
