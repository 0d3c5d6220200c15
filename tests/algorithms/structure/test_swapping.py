"""Swapped edges: the properties that define the result."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest

from semiring import Matrix
from semiring.algorithms import degrees, swap_edges, triangle_count
from semiring.exceptions import DimensionMismatch, InvalidValue
from tests.algorithms.centrality.graphs import GRAPHS, by_graph, host, matrix


@by_graph
def test_every_vertex_keeps_its_degree(graph: Any) -> None:
    A = matrix(graph).select("offdiag").new()
    calls: list[tuple[int, int | None]] = []
    made = swap_edges(matrix(graph), 6, seed=3, progress=lambda *step: calls.append(step))
    assert made.dtype == bool
    assert made.nvals == A.nvals
    assert made.diag().nvals == 0
    for direction in ("out", "in"):
        assert host(degrees(made, direction)).tolist() == host(degrees(A, direction)).tolist()
    assert made.is_symmetric_structure == A.is_symmetric_structure or A.nvals < 8
    if A.nvals >= 4:
        assert calls == [(step, 6) for step in range(1, 7)]


@pytest.mark.parametrize("directed", [False, True])
def test_little_of_the_structure_is_left(directed: bool) -> None:
    graph = nx.connected_watts_strogatz_graph(200, 8, 0.0, seed=1)  # a ring of many triangles
    A = matrix(graph)
    A = A.select("triu").new() if directed else A
    made = swap_edges(A, seed=5)
    assert made.ewise_mult(A, "pair").nvals < 0.15 * A.nvals
    if not directed:
        assert triangle_count(made) < 0.2 * triangle_count(A)
        shuffled = nx.double_edge_swap(graph.copy(), nswap=3000, max_tries=100000, seed=1)
        assert abs(triangle_count(made) - sum(nx.triangles(shuffled).values()) / 3) < 60


def test_seeds_rounds_and_storage_kinds() -> None:
    A = matrix(GRAPHS["karate"])
    assert swap_edges(A, seed=1).isequal(swap_edges(A, seed=1))
    assert not swap_edges(A, seed=1).isequal(swap_edges(A, seed=2))
    assert swap_edges(A, 0).isequal(A.apply("one").dup(bool))
    for made in (A.compress("packed"), A.compress("varint"), A.to(placement="host"), A.dup().convert("hypersparse")):
        assert swap_edges(made, 3, seed=1).isequal(swap_edges(A, 3, seed=1))


def test_bad_input_and_few_edges() -> None:
    with pytest.raises(DimensionMismatch, match="swap_edges"):
        swap_edges(Matrix(bool, 2, 3))
    with pytest.raises(InvalidValue, match="swap_edges: rounds must not be negative"):
        swap_edges(Matrix(bool, 3, 3), -1)
    with pytest.raises(InvalidValue, match="swap_edges: seed"):
        swap_edges(Matrix(bool, 3, 3), seed=0.5)  # type: ignore[arg-type]
    for n in (0, 3):
        assert swap_edges(Matrix(float, n, n)).shape == (n, n)
    complete = Matrix.from_dense(np.ones((5, 5), bool)).select("offdiag").new()
    assert swap_edges(complete).isequal(complete)  # no pair has a place to go
