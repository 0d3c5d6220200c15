"""Bridges, articulation points and blocks: those of NetworkX and igraph."""

from __future__ import annotations

from typing import Any

import igraph
import networkx as nx
import numpy as np
import pytest

import semiring as sr
from semiring.exceptions import DimensionMismatch, InvalidValue
from tests.algorithms.components.drawn import drawn, edges, matrix, pattern, undirected


def blocks_of(found: Any) -> dict[int, set[tuple[int, int]]]:
    groups: dict[int, set[tuple[int, int]]] = {}
    for i, row in found.edges.to_dicts().items():
        for j, number in row.items():
            groups.setdefault(number, set()).add((min(i, j), max(i, j)))
    return groups


def check(S: Any, codec: str | None = None) -> None:
    A = matrix(S) if codec is None else matrix(S).compress(codec)
    n = S.shape[0]
    graph = nx.from_scipy_sparse_array(S)
    graph.remove_edges_from(list(nx.selfloop_edges(graph)))
    simple = igraph.Graph(n=n, edges=list(graph.edges()))
    bridges = edges(sr.algorithms.bridges(A))
    assert bridges == {tuple(sorted(edge)) for edge in nx.bridges(graph)}
    assert bridges == {tuple(sorted(simple.es[e].tuple)) for e in simple.bridges()}
    cut = set(nx.articulation_points(graph))
    assert set(sr.algorithms.articulation_points(A).to_dict()) == cut == set(simple.articulation_points())
    found = sr.algorithms.biconnected_components(A)
    groups = blocks_of(found)
    assert {frozenset(group) for group in groups.values()} == {
        frozenset(tuple(sorted(edge)) for edge in block) for block in nx.biconnected_component_edges(graph)
    }
    assert found.edges.isequal(found.edges.T)
    assert found.articulation_points.to_dict() == dict.fromkeys(sorted(cut), True)
    assert set(found.heads.to_dict()) == set(groups)
    for number, group in groups.items():
        vertices = {vertex for edge in group for vertex in edge}
        assert min(vertices - {found.heads.get(number)}) == number


@undirected
def test_blocks(S: Any) -> None:
    check(S)


@pytest.mark.parametrize("codec", ["packed", "varint"])
def test_compressed(codec: str) -> None:
    S = drawn(90, 0.9, 7)
    check(pattern(S + S.T), codec)


@pytest.mark.slow
@pytest.mark.wide
@pytest.mark.parametrize("seed", range(40))
def test_drawn(seed: int) -> None:
    S = drawn(3 + 5 * seed, 0.4 + 0.05 * seed, seed)
    check(pattern(S + S.T))


def test_values_of_bridges_are_kept() -> None:
    A = sr.Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], np.array([0.0, 3.0, 2.5, 7.0]), nrows=3, ncols=3)
    assert sr.algorithms.bridges(A).isequal(A)


@pytest.mark.parametrize("name", ["bridges", "articulation_points", "biconnected_components"])
def test_bad_input(name: str) -> None:
    call = getattr(sr.algorithms, name)
    with pytest.raises(DimensionMismatch):
        call(sr.Matrix(bool, 2, 3))
    with pytest.raises(InvalidValue, match="undirected"):
        call(sr.Matrix.from_edgelist([(0, 1)], nrows=3, ncols=3))
