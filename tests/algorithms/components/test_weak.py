"""Weak components that grow, connectedness, and two-colorings."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
from scipy.sparse import csgraph

import semiring as sr
from semiring.exceptions import DimensionMismatch, GraphProperty, IndexOutOfBound, InvalidValue
from tests.algorithms.components.drawn import UNDIRECTED, directed, drawn, host, matrix, smallest_members, undirected


@pytest.mark.parametrize("method", ["afforest", "fastsv"])
@pytest.mark.parametrize("seed", range(3))
def test_added_edges(method: str, seed: int) -> None:
    """The components of a sum of graphs, one after the other."""
    parts = [drawn(70, 0.4, 10 * seed + k) for k in range(4)]
    labels, total = None, None
    for S in parts:
        total = S if total is None else total + S
        labels = sr.algorithms.connected_components(matrix(S), method=method, start=labels)
        np.testing.assert_array_equal(host(labels), smallest_members(*csgraph.connected_components(total, False)[::-1]))


def test_start_of_one_value() -> None:
    added = sr.Matrix.from_edgelist([(1, 3)], nrows=4, ncols=4)
    assert sr.algorithms.connected_components(added, start=sr.Vector.full(0, 4)).to_dict() == dict.fromkeys(range(4), 0)


def test_start_is_unchanged_and_cast() -> None:
    start = sr.Vector.from_dense(np.array([0, 0, 2, 3]))
    added = sr.Matrix.from_edgelist([(1, 3)], nrows=4, ncols=4)
    assert sr.algorithms.connected_components(added, start=start).to_dict() == {0: 0, 1: 0, 2: 2, 3: 0}
    assert start.to_dict() == {0: 0, 1: 0, 2: 2, 3: 3}


@pytest.mark.parametrize(
    ("labels", "error"),
    [
        ([0, 1, 2], DimensionMismatch),
        ([0, 1, 2, 4], IndexOutOfBound),
        ([0, 1, 2, -1], IndexOutOfBound),
        ([0, 0, 1, 3], InvalidValue),
        ([1, 1, 2, 3], InvalidValue),
        ([0.0, 1.0, 2.0, 3.0], InvalidValue),
    ],
)
def test_bad_start(labels: list[int], error: type[Exception]) -> None:
    with pytest.raises(error):
        sr.algorithms.connected_components(sr.Matrix(bool, 4, 4), start=sr.Vector.from_dense(labels))


@directed
def test_connected(S: Any) -> None:
    graph = nx.from_scipy_sparse_array(S, create_using=nx.DiGraph)
    assert sr.algorithms.is_connected(matrix(S)) == (S.shape[0] > 0 and nx.is_weakly_connected(graph))


@undirected
def test_two_coloring(S: Any) -> None:
    A, bipartite = matrix(S), nx.is_bipartite(nx.from_scipy_sparse_array(S))
    assert sr.algorithms.is_bipartite(A) == bipartite
    if not bipartite:
        with pytest.raises(GraphProperty, match="odd length"):
            sr.algorithms.two_coloring(A)
        return
    color = host(sr.algorithms.two_coloring(A))
    rows, cols = S.nonzero()
    assert color.dtype == np.int8
    assert set(color.tolist()) <= {0, 1}
    assert (color[rows] != color[cols]).all()


def test_undirected_is_required() -> None:
    with pytest.raises(InvalidValue, match="undirected"):
        sr.algorithms.is_bipartite(sr.Matrix.from_edgelist([(0, 1)], nrows=2, ncols=2))
    assert "star" in UNDIRECTED
