"""Strong components and condensations: those of SciPy and NetworkX, in every storage kind."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse import csgraph

import semiring as sr
from semiring.exceptions import DimensionMismatch, InvalidValue
from tests.algorithms.components.drawn import DIRECTED, directed, drawn, edges, host, matrix, smallest_members
from tests.algorithms.test_truth import FILES, TRUTH, graph

CODECS = [None, "packed", "varint"]


def expected(S: Any) -> Any:
    if S.shape[0] == 0:
        return np.zeros(0, int)
    count, labels = csgraph.connected_components(S, directed=True, connection="strong")
    return smallest_members(labels, count)


@directed
def test_labels(S: Any) -> None:
    labels = host(sr.algorithms.strongly_connected_components(matrix(S)))
    np.testing.assert_array_equal(labels, expected(S))
    found = {frozenset(np.flatnonzero(labels == label).tolist()) for label in labels}
    graph = nx.from_scipy_sparse_array(S, create_using=nx.DiGraph)
    assert found == {frozenset(part) for part in nx.strongly_connected_components(graph)}


@pytest.mark.parametrize("codec", CODECS)
def test_long_chains_of_components(codec: str | None) -> None:
    """A path of 2-cycles, and its reverse: no vertex is trimmed, and rounds of coloring are few."""
    n = 400
    pairs = sp.block_diag([sp.coo_array([[0, 1], [1, 0]])] * (n // 2)) + sp.eye_array(n, k=2)
    A = matrix(pairs)
    rounds: list[int] = []
    for B in (A, A.T.new()):
        B = B if codec is None else B.compress(codec)
        labels = sr.algorithms.strongly_connected_components(B, progress=lambda done, total: rounds.append(done))
        np.testing.assert_array_equal(host(labels), np.arange(n) // 2 * 2)
    assert max(rounds) < 60


@pytest.mark.parametrize("name", FILES)
def test_real_graphs(shared_data: Any, name: str) -> None:
    g = graph(name, shared_data)
    A = sr.Matrix.from_csr(g.indptr, g.indices, True, ncols=g.n)
    labels = host(sr.algorithms.strongly_connected_components(A))
    np.testing.assert_array_equal(labels, expected(g.scipy()))
    facts = TRUTH[name]
    if "scc" in facts:
        sizes = np.bincount(labels, minlength=1)
        assert (np.count_nonzero(sizes), sizes.max()) == (facts["scc"], facts["scc_largest"])


@directed
def test_condensation(S: Any) -> None:
    found = sr.algorithms.condensation(matrix(S, None))
    graph = nx.from_scipy_sparse_array(S, create_using=nx.DiGraph)
    parts = list(nx.strongly_connected_components(graph))
    theirs = nx.condensation(graph, parts) if parts else nx.DiGraph()
    number = {min(parts[c]): c for c in range(len(parts))}
    order = [number[v] for v in host(found.representative).tolist()]
    assert host(found.representative).tolist() == sorted(number)
    assert [set(np.flatnonzero(host(found.component) == k).tolist()) for k in range(len(parts))] == [
        parts[c] for c in order
    ]
    listed = found.graph.to_dicts()
    assert {(order[a], order[b]) for a, row in listed.items() for b in row} == set(theirs.edges())


def test_quotient_of_another_partition() -> None:
    A = matrix(DIRECTED["path"])
    labels = sr.Vector.from_dense(np.arange(40) // 20 * 20)
    found = sr.algorithms.condensation(A, labels)
    assert found.graph.to_dicts() == {0: {1: True}}
    assert edges(found.graph) == {(0, 1)}


def test_bad_input() -> None:
    A = matrix(drawn(10, 1, 1))
    with pytest.raises(DimensionMismatch):
        sr.algorithms.strongly_connected_components(sr.Matrix(bool, 2, 3))
    with pytest.raises(InvalidValue, match="progress"):
        sr.algorithms.strongly_connected_components(A, progress=3)
    with pytest.raises(DimensionMismatch):
        sr.algorithms.condensation(A, sr.Vector.full(0, 9))
    with pytest.raises(InvalidValue, match="full"):
        sr.algorithms.condensation(A, sr.Vector(int, 10))
    with pytest.raises(InvalidValue, match="label every label"):
        sr.algorithms.condensation(A, sr.Vector.from_dense(np.roll(np.arange(10), 1)))


def test_an_exception_of_progress_ends_the_computation() -> None:
    def stop(done: int, total: int | None) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        sr.algorithms.strongly_connected_components(matrix(drawn(90, 3, 90)), progress=stop)
