"""The triad census and the Fiedler vector: those of NetworkX, igraph and SciPy, and their definitions."""

from __future__ import annotations

from typing import Any

import igraph
import networkx as nx
import numpy as np
import pytest

import semiring as sr
from semiring import Matrix
from semiring.algorithms import fiedler_vector, laplacian, triad_census
from semiring.exceptions import ConvergenceFailure, DimensionMismatch, GraphProperty, InvalidValue
from tests.algorithms.centrality.graphs import GRAPHS, by_graph, host, matrix

# The order in which igraph returns the classes.
IGRAPH = (
    "003 012 102 021D 021U 021C 111D 111U 030T 030C 201 120D 120U 120C 210 300".split()  # noqa: SIM905 - a table
)


@by_graph
def test_triads(graph: Any) -> None:
    found = triad_census(matrix(graph))
    directed = nx.DiGraph(graph)
    directed.remove_edges_from(list(nx.selfloop_edges(directed)))
    assert found == nx.triadic_census(directed)
    assert list(found) == IGRAPH
    n = len(graph)
    assert sum(found.values()) == n * (n - 1) * (n - 2) // 6


@pytest.mark.parametrize("seed", range(4))
def test_triads_of_all_kinds(seed: int) -> None:
    graph = nx.gnp_random_graph(25, 0.15 + 0.2 * seed, seed=seed, directed=True)
    A = matrix(graph)
    found = triad_census(A)
    assert found == nx.triadic_census(graph)
    census = igraph.Graph(25, list(graph.edges), directed=True).triad_census()
    assert [found[name] for name in IGRAPH] == list(census)
    if seed == 2:
        assert all(count > 0 for name, count in found.items() if name != "003")
        for made in (A.compress("packed"), A.compress("varint"), A.to(placement="host")):
            assert triad_census(made) == found


UNDIRECTED = ["pair", "path", "star", "karate"]


@pytest.mark.parametrize("name", UNDIRECTED)
@pytest.mark.parametrize("weighted", [False, True])
def test_fiedler(name: str, weighted: bool) -> None:
    graph = GRAPHS[name]
    A = matrix(graph, "weight")
    weight = "weight" if weighted else None
    values, vectors = np.linalg.eigh(
        nx.laplacian_matrix(graph, range(len(graph)), weight=weight).toarray().astype(float)
    )
    found = fiedler_vector(A, weight=weighted)
    x = host(found.vector)
    assert found.value == pytest.approx(values[1], rel=1e-6)
    assert found.value == pytest.approx(nx.algebraic_connectivity(graph, weight=weight, seed=1), rel=1e-5)
    assert np.linalg.norm(x) == pytest.approx(1)
    assert abs(x.sum()) < 1e-9
    L = laplacian((A if weighted else A.apply("one")).dup(dtype=np.float64)).matrix.to("cpu").to_dense(0)
    assert np.linalg.norm(L @ x - found.value * x) < 1e-7 * np.diag(L).max()
    if len(values) == 2 or values[2] - values[1] > 1e-6:
        assert abs(x @ vectors[:, 1]) == pytest.approx(1, abs=1e-5)


def test_two_parts_and_storage_kinds() -> None:
    graph = nx.barbell_graph(8, 2)
    A = matrix(graph)
    calls: list[tuple[int, int | None]] = []
    x = host(fiedler_vector(A, progress=lambda done, total: calls.append((done, total))).vector)
    assert set(np.flatnonzero(x > 0)) in ({*range(9)}, {*range(9, 18)})
    assert calls[0] == (1, None)
    for made in (A.compress("packed"), A.compress("varint"), A.to(placement="host")):
        assert np.abs(np.abs(host(fiedler_vector(made).vector)) - np.abs(x)).max() < 1e-6


def test_bad_input() -> None:
    path = Matrix.from_edgelist([(0, 1), (1, 2)])
    with pytest.raises(GraphProperty, match="fiedler_vector: the graph must be undirected"):
        fiedler_vector(path)
    with pytest.raises(GraphProperty, match="fiedler_vector: the graph is not connected"):
        fiedler_vector((path | path.T).resize(5, 5) or Matrix(bool, 3, 3))
    with pytest.raises(InvalidValue, match="two vertices or more"):
        fiedler_vector(Matrix(bool, 1, 1))
    with pytest.raises(InvalidValue, match="weights must be positive"):
        fiedler_vector((path | path.T).apply("times", right=-1).new(), weight=True)
    with pytest.raises(ConvergenceFailure, match="fiedler_vector: a residual") as caught:
        fiedler_vector(matrix(GRAPHS["karate"]), max_iter=1)
    assert caught.value.iterations == 1
    assert caught.value.result.vector.size == 34
    for call in (fiedler_vector, triad_census):
        with pytest.raises(DimensionMismatch, match=call.__name__):
            call(Matrix(bool, 2, 3))  # type: ignore[operator]
    assert sum(triad_census(Matrix(bool, 0, 0)).values()) == 0
    assert sr.algorithms.triad_census(Matrix(bool, 4, 4))["003"] == 4
