"""Independent sets and colorings: their defining properties, and the greedy algorithms that they equal."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

import semiring as sr
from semiring.exceptions import DimensionMismatch, InvalidValue
from tests.algorithms.components.drawn import UNDIRECTED, host, matrix, undirected


def neighbors(S: Any) -> tuple[Any, Any]:
    rows, cols = S.nonzero()
    return rows[rows != cols], cols[rows != cols]


@undirected
@pytest.mark.parametrize("seed", [0, -7])
def test_maximal_independent_set(S: Any, seed: int) -> None:
    found = sr.algorithms.maximal_independent_set(matrix(S), seed=seed)
    member = np.zeros(S.shape[0], bool)
    member[list(found.to_dict())] = True
    rows, cols = neighbors(S)
    assert not (member[rows] & member[cols]).any()
    assert set(rows[member[cols]]) | set(np.flatnonzero(member)) == set(range(S.shape[0]))


def test_small_degrees_are_preferred() -> None:
    A = matrix(UNDIRECTED["star"])
    assert {sr.algorithms.maximal_independent_set(A, seed=seed).nvals for seed in range(8)} == {11}


def test_seeds_draw_different_sets() -> None:
    A = matrix(UNDIRECTED["drawn-90-3"])
    sets = {tuple(sr.algorithms.maximal_independent_set(A, seed=seed).to_dict()) for seed in range(5)}
    assert len(sets) > 1
    assert sr.algorithms.maximal_independent_set(A).isequal(sr.algorithms.maximal_independent_set(A.compress("varint")))


@undirected
def test_coloring(S: Any) -> None:
    A, n = matrix(S), S.shape[0]
    color = host(sr.algorithms.coloring(A))
    rows, cols = neighbors(S)
    assert (color[rows] != color[cols]).all()
    degree = np.diff(sp.csr_array(S).indptr)
    if n:
        assert sorted(set(color)) == list(range(color.max() + 1))
        assert color.max() <= degree.max()
    # Greedy: every smaller color is that of a neighbor of at least the same degree.
    for v in range(n):
        near = cols[rows == v]
        assert set(range(color[v])) <= set(color[near[degree[near] >= degree[v]]])
    graph = nx.from_scipy_sparse_array(S)
    graph.remove_edges_from(list(nx.selfloop_edges(graph)))
    theirs = nx.greedy_color(graph, "largest_first")
    assert len(set(color)) <= len(set(theirs.values())) + 1


def test_coloring_in_an_order() -> None:
    graph = nx.gnp_random_graph(30, 0.3, seed=4)
    A = matrix(nx.to_scipy_sparse_array(graph, weight=None))
    order = np.random.default_rng(5).permutation(30)
    color = host(sr.algorithms.coloring(A, order=sr.Vector.from_dense(order)))
    assert dict(enumerate(color.tolist())) == nx.greedy_color(graph, lambda G, colors: order.tolist())
    by_degree = host(sr.algorithms.coloring(A, order=sr.algorithms.degree_order(A)))
    assert by_degree.max() <= max(degree for _, degree in graph.degree)
    for wrong in (order[:-1], np.zeros(30, np.int64), order / 2, order + 1):
        with pytest.raises(sr.exceptions.SemiringError):
            sr.algorithms.coloring(A, order=sr.Vector.from_dense(wrong))


def test_more_colors_than_a_word_has() -> None:
    n = 150
    A = matrix(np.ones((n, n)))
    rounds: list[int] = []
    color = host(sr.algorithms.coloring(A, progress=lambda done, total: rounds.append(done)))
    assert sorted(color) == list(range(n))
    assert rounds == [64, 128, 150]


@pytest.mark.parametrize("name", ["maximal_independent_set", "coloring"])
def test_bad_input(name: str) -> None:
    call = getattr(sr.algorithms, name)
    with pytest.raises(DimensionMismatch):
        call(sr.Matrix(bool, 2, 3))
    with pytest.raises(InvalidValue, match="undirected"):
        call(sr.Matrix.from_edgelist([(0, 1)], nrows=2, ncols=2))
    with pytest.raises(InvalidValue, match="seed"):
        call(sr.Matrix(bool, 2, 2), seed=1.5)
    with pytest.raises(InvalidValue, match="progress"):
        call(sr.Matrix(bool, 2, 2), progress="yes")
