"""Closeness, harmonic centrality and degrees: those of NetworkX, igraph and NetworKit."""

from __future__ import annotations

import re
from typing import Any

import igraph
import networkit
import networkx as nx
import numpy as np
import pytest

import semiring as sr
from semiring.algorithms import (
    closeness_centrality,
    degree_centrality,
    degrees,
    harmonic_centrality,
    in_degree_centrality,
    out_degree_centrality,
)
from semiring.exceptions import DimensionMismatch, DomainMismatch, IndexOutOfBound, InvalidValue
from tests.algorithms.centrality.graphs import GRAPHS, by_graph, by_some, host, listed, matrix


@by_graph
def test_closeness(graph: Any) -> None:
    A = matrix(graph)
    for improved in (True, False):
        expected = listed(nx.closeness_centrality(graph, wf_improved=improved))
        np.testing.assert_allclose(host(closeness_centrality(A, wf_improved=improved)), expected)


@by_graph
def test_harmonic(graph: Any) -> None:
    A, n = matrix(graph), len(graph)
    expected = listed(nx.harmonic_centrality(graph))
    np.testing.assert_allclose(host(harmonic_centrality(A)), expected)
    np.testing.assert_allclose(host(harmonic_centrality(A, normalized=True)), expected / max(n - 1, 1))


@by_some
def test_closeness_of_others(graph: Any) -> None:
    A = matrix(graph)
    other = igraph.Graph(n=len(graph), edges=list(graph.edges), directed=graph.is_directed())
    found = np.array(other.closeness(mode="in"))
    np.testing.assert_allclose(host(closeness_centrality(A, wf_improved=False)), np.nan_to_num(found))
    np.testing.assert_allclose(host(harmonic_centrality(A, normalized=True)), other.harmonic_centrality(mode="in"))
    if not graph.is_directed():
        third = networkit.centrality.HarmonicCloseness(networkit.nxadapter.nx2nk(graph), normalized=False).run()
        np.testing.assert_allclose(host(harmonic_centrality(A)), third.scores())


def test_some_vertices_from_either_end() -> None:
    graph = GRAPHS["directed-drawn"]
    A, chosen = matrix(graph), [7, 3, 30]
    expected = listed(nx.closeness_centrality(graph))
    found = closeness_centrality(A, chosen)
    assert sorted(found.to_dict()) == sorted(chosen)
    np.testing.assert_allclose([found[v].value for v in chosen], expected[chosen])
    np.testing.assert_allclose(
        host(harmonic_centrality(A.T)), listed(nx.harmonic_centrality(graph.reverse())), err_msg="distances from v"
    )


def test_deep_graphs_are_searched_one_by_one() -> None:
    graph = nx.empty_graph(131)  # vertex 130 is isolated
    graph.add_edges_from(((v * 7) % 130, (v * 7 + 7) % 130) for v in range(129))
    A, vertices = matrix(graph), [3, 77, 130, 12]
    found, calls = closeness_centrality(A, vertices), []
    expected = nx.closeness_centrality(graph)
    np.testing.assert_allclose([found[v].value for v in vertices], [expected[v] for v in vertices])
    summed = harmonic_centrality(A, vertices, progress=lambda done, total: calls.append((done, total)))
    expected = nx.harmonic_centrality(graph, vertices)
    np.testing.assert_allclose([summed[v].value for v in vertices], [expected[v] for v in vertices])
    assert calls[-1] == (4, 4)


def test_groups_and_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setattr(sys.modules["semiring.algorithms.paths.totals"], "_SOURCES", 16)
    calls: list[tuple[int, int | None]] = []
    graph = GRAPHS["karate"]
    found = closeness_centrality(matrix(graph), progress=lambda done, total: calls.append((done, total)))
    np.testing.assert_allclose(host(found), listed(nx.closeness_centrality(graph)))
    assert calls == [(16, 34), (32, 34), (34, 34)]


@by_some
def test_other_storage_kinds(graph: Any) -> None:
    A = matrix(graph)
    for made in (A.compress("packed"), A.compress("varint"), A.to(placement="host"), A.dup().convert("hypersparse")):
        assert closeness_centrality(made).isclose(closeness_centrality(A))
        assert degrees(made, "both").isequal(degrees(A, "both"))


@by_graph
def test_degrees(graph: Any) -> None:
    A = matrix(graph, "weight")
    n = len(graph)
    wanted = {"both": graph.degree}
    if graph.is_directed():
        wanted |= {"in": graph.in_degree, "out": graph.out_degree}
        np.testing.assert_allclose(host(in_degree_centrality(A)), listed(nx.in_degree_centrality(graph)))
        np.testing.assert_allclose(host(out_degree_centrality(A)), listed(nx.out_degree_centrality(graph)))
    for direction, view in wanted.items():
        assert host(degrees(A, direction)).tolist() == [view(v) for v in range(n)]
        weighted = host(degrees(A, direction, weight=True))
        np.testing.assert_allclose(weighted, [view(v, weight="weight") for v in range(n)])
    np.testing.assert_allclose(host(degree_centrality(A)), listed(nx.degree_centrality(graph)))


def test_types_and_weights_of_degrees() -> None:
    A = sr.Matrix.from_coo([0, 0, 1], [0, 1, 1], np.array([200, 100, 255], np.uint8), shape=(2, 2))
    assert degrees(A).dtype == np.int64
    assert degrees(A, "in").to_numpy().tolist() == [1, 2]
    assert degrees(A, weight=True).to_numpy().tolist() == [300.0, 255.0]
    assert degrees(A > 1000, weight=True).to_numpy().tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: closeness_centrality(sr.Matrix(bool, 2, 3)), DimensionMismatch, "square"),
        (lambda: harmonic_centrality("graph"), InvalidValue, "expected a Matrix"),
        (lambda: closeness_centrality(sr.Matrix(bool, 3, 3), [0, 3]), IndexOutOfBound, "3"),
        (lambda: harmonic_centrality(sr.Matrix(bool, 3, 3), 1), InvalidValue, "sequence"),
        (lambda: closeness_centrality(sr.Matrix(bool, 3, 3), progress=3), InvalidValue, "progress"),
        (lambda: degrees(sr.Matrix(bool, 2, 3)), DimensionMismatch, "square"),
        (lambda: degrees(sr.Matrix(bool, 3, 3), "up"), InvalidValue, "direction"),
        (lambda: degrees(sr.Matrix(complex, 3, 3), weight=True), DomainMismatch, "real"),
        (
            lambda: degrees(sr.Matrix.from_coo([0], [1], [np.nan], shape=(3, 3)), weight=True),
            InvalidValue,
            "NaN",
        ),
        (lambda: degree_centrality(sr.Matrix(bool, 2, 3)), DimensionMismatch, "degree_centrality"),
    ],
)
def test_bad_input(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=re.escape(text)):
        call()
