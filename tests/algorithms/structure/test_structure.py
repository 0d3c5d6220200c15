"""Counts, boundaries, mixing and matrices of graphs: those of NetworkX, SciPy and igraph, and their definitions."""

from __future__ import annotations

import math
from typing import Any

import igraph
import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse import csgraph

import semiring as sr
from semiring import Matrix, Vector, algorithms
from semiring.exceptions import DimensionMismatch, DomainMismatch, GraphProperty, IndexOutOfBound, InvalidValue
from tests.algorithms.centrality.graphs import GRAPHS, by_graph, by_some, host, matrix


def loopless(graph: Any) -> Any:
    made = graph.copy()
    made.remove_edges_from(list(nx.selfloop_edges(made)))
    return made


def dense(A: Matrix) -> Any:
    full = A.dup(np.float64).to_dense(0)
    return np.asarray(full.get() if hasattr(full, "get") else full)


@by_graph
def test_counts(graph: Any) -> None:
    A, simple, n = matrix(graph), loopless(graph), len(graph)
    assert algorithms.density(A) == pytest.approx(nx.density(simple))
    assert sorted(algorithms.isolates(A).to_dict()) == sorted(nx.isolates(graph))
    loops = any(graph.has_edge(v, v) for v in graph)
    if n and not loops:  # where NetworkX counts a loop twice
        assert algorithms.is_regular(A) == nx.is_regular(graph)
    if not graph.is_directed():
        assert algorithms.s_metric(A) == pytest.approx(nx.s_metric(simple))
        return
    assert algorithms.reciprocity(A) == pytest.approx(nx.overall_reciprocity(simple))
    assert algorithms.reciprocity(A) == pytest.approx(igraph.Graph(n, list(graph.edges), directed=True).reciprocity())
    expected = {v: r for v, r in nx.reciprocity(simple, list(simple)).items() if r is not None}
    assert algorithms.vertex_reciprocity(A).to_dict() == pytest.approx(expected)
    with pytest.raises(GraphProperty, match="s_metric"):
        algorithms.s_metric(A)


@by_graph
def test_mixing(graph: Any) -> None:
    A, simple = matrix(graph), loopless(graph)
    other = igraph.Graph(len(graph), list(simple.edges), directed=graph.is_directed())
    found, expected = algorithms.degree_assortativity(A), other.assortativity_degree()
    assert math.isnan(found) if math.isnan(expected) else found == pytest.approx(expected)
    if not math.isnan(found):
        assert found == pytest.approx(nx.degree_assortativity_coefficient(simple))
    B = matrix(simple) if len(simple) else A
    means = nx.average_neighbor_degree(simple)
    assert host(algorithms.average_neighbor_degree(B)).tolist() == pytest.approx([means[v] for v in range(len(simple))])


@by_graph
def test_boundaries(graph: Any) -> None:
    A, n = matrix(graph, "weight"), len(graph)
    chosen, rest = [v for v in range(n) if v % 3 == 0], [v for v in range(n) if v % 3]
    boundary = set(nx.edge_boundary(graph, chosen))
    assert {(u, v) for u, row in algorithms.edge_boundary(A, chosen).to_dicts().items() for v in row} == boundary
    assert all(algorithms.edge_boundary(A, chosen).get(u, v) == A.get(u, v) for u, v in boundary)
    outside = nx.node_boundary(graph, chosen)
    assert algorithms.node_boundary(A, chosen).to_dict() == dict.fromkeys(sorted(outside), True)
    assert algorithms.cut_size(A, chosen) == nx.cut_size(graph, chosen, rest)
    assert algorithms.cut_size(A, chosen, weight=True) == nx.cut_size(graph, chosen, rest, weight="weight")
    assert algorithms.is_dominating_set(A, chosen) == nx.is_dominating_set(graph, chosen)
    assert algorithms.is_dominating_set(A, list(range(n)))


def test_a_set_is_a_vector_or_rows() -> None:
    A = matrix(GRAPHS["karate"])
    members = Vector.from_coo([0, 5, 9], [True, False, True], size=34)
    assert algorithms.edge_boundary(A, members).isequal(algorithms.edge_boundary(A, np.array([9, 0, 9])))
    independent = algorithms.maximal_independent_set(A)
    assert algorithms.is_dominating_set(A, independent)
    with pytest.raises(IndexOutOfBound, match="node_boundary: source 34"):
        algorithms.node_boundary(A, [34])
    with pytest.raises(InvalidValue, match="cut_size: vertices must be a Vector or a sequence"):
        algorithms.cut_size(A, 3)  # type: ignore[arg-type]
    with pytest.raises(DimensionMismatch, match="is_dominating_set: vertices has size 3"):
        algorithms.is_dominating_set(A, Vector.full(True, 3))


@by_graph
@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("use_out_degree", [False, True])
def test_laplacian(graph: Any, normalized: bool, use_out_degree: bool) -> None:
    if len(graph) == 0:
        assert algorithms.laplacian(Matrix(float, 0, 0)).matrix.shape == (0, 0)
        return
    S = nx.to_scipy_sparse_array(graph, nodelist=range(len(graph)), weight="weight", format="csr", dtype=np.float64)
    for dtype in (np.float64, np.int32, np.uint8):
        A = matrix(graph, "weight").dup(dtype=dtype)
        for symmetrized in (False, True):
            theirs, degrees = csgraph.laplacian(
                S, normed=normalized, use_out_degree=use_out_degree, symmetrized=symmetrized, return_diag=True
            )
            L = algorithms.laplacian(A, normalized=normalized, use_out_degree=use_out_degree, symmetrized=symmetrized)
            np.testing.assert_allclose(dense(L.matrix), sp.csr_array(theirs).toarray(), atol=1e-12)
            np.testing.assert_allclose(host(L.degrees), degrees)
            assert L.matrix.diag().nvals == len(graph)
            assert L.matrix.dtype == (np.float64 if normalized or dtype is np.float64 else np.int64)
    simple = loopless(graph)
    if not graph.is_directed() and normalized:
        expected = nx.normalized_laplacian_matrix(simple, nodelist=range(len(graph))).toarray()
        np.testing.assert_allclose(
            dense(algorithms.laplacian(matrix(simple, "weight"), normalized=True).matrix), expected
        )


@by_graph
def test_modularity_matrix(graph: Any) -> None:
    if not graph.number_of_edges():
        assert not dense(algorithms.modularity_matrix(matrix(graph))).any()
        return
    simple = loopless(graph)
    theirs = nx.directed_modularity_matrix if graph.is_directed() else nx.modularity_matrix
    for weight in (None, "weight"):
        A = matrix(simple, "weight")
        found = dense(algorithms.modularity_matrix(A, weight=weight is not None))
        np.testing.assert_allclose(found, theirs(simple, nodelist=range(len(graph)), weight=weight), atol=1e-12)
    doubled = dense(algorithms.modularity_matrix(A, weight=True, resolution=2.0))
    W = dense(A)
    np.testing.assert_allclose(doubled, W - 2 * np.outer(W.sum(1), W.sum(0)) / W.sum(), atol=1e-12)


@by_graph
@pytest.mark.parametrize("oriented", [False, True])
def test_incidence_matrix(graph: Any, oriented: bool) -> None:
    A, simple, n = matrix(graph, "weight"), loopless(graph), len(graph)
    made = algorithms.incidence_matrix(A, oriented=oriented)
    edges = sorted(simple.edges)
    assert list(zip(host(made.tails).tolist(), host(made.heads).tolist(), strict=True)) == edges
    if not n:
        return
    for weight in (None, "weight"):
        theirs = nx.incidence_matrix(simple, range(n), edges, oriented=oriented, weight=weight)
        found = algorithms.incidence_matrix(A, oriented=oriented, weight=weight is not None).matrix
        np.testing.assert_array_equal(dense(found), theirs.toarray())
    if oriented and not graph.is_directed():
        L = algorithms.laplacian(matrix(graph)).matrix
        assert (
            made.matrix.dup(np.int64)
            .mxm(made.matrix.T.dup(np.int64), "plus_times")
            .select("!=", 0)
            .isequal(L.select("!=", 0))
        )


@by_graph
def test_line_graph_and_complement(graph: Any) -> None:
    A, simple = matrix(graph), loopless(graph)
    line = algorithms.line_graph(A)
    ends = [tuple(edge) for edge in zip(host(line.tails).tolist(), host(line.heads).tolist(), strict=True)]
    assert ends == sorted(simple.edges)
    theirs = nx.line_graph(simple)
    edges = {(ends[e], ends[f]) for e, row in line.graph.to_dicts().items() for f in row}
    expected = {tuple(tuple(sorted(end)) if not graph.is_directed() else end for end in pair) for pair in theirs.edges}
    if not graph.is_directed():
        expected |= {(f, e) for e, f in expected}
    assert edges == expected
    other = algorithms.complement(A)
    expected = set(nx.complement(simple).edges)
    if not graph.is_directed():
        expected |= {(v, u) for u, v in expected}
    assert {(u, v) for u, row in other.to_dicts().items() for v in row} == expected


@by_some
def test_storage_kinds(graph: Any) -> None:
    A = matrix(graph, "weight")
    for made in (A.compress("packed"), A.compress("varint"), A.to(placement="host"), A.dup().convert("hypersparse")):
        for measure in (algorithms.density, algorithms.reciprocity, algorithms.degree_assortativity):
            assert measure(made) == pytest.approx(measure(A), nan_ok=True)
        assert algorithms.laplacian(made).matrix.isequal(algorithms.laplacian(A).matrix)
        assert algorithms.modularity_matrix(made).isclose(algorithms.modularity_matrix(A))
        assert algorithms.incidence_matrix(made).matrix.isequal(algorithms.incidence_matrix(A).matrix)
        assert algorithms.line_graph(made).graph.isequal(algorithms.line_graph(A).graph)
        assert algorithms.complement(made).isequal(algorithms.complement(A))
        assert algorithms.edge_boundary(made, [0, 3]).isequal(algorithms.edge_boundary(A, [0, 3]))
        assert algorithms.average_neighbor_degree(made).isclose(algorithms.average_neighbor_degree(A))


def test_bad_input_and_no_edges() -> None:
    wide, none = Matrix(float, 2, 3), Matrix(float, 3, 3)
    for name in [
        "density",
        "isolates",
        "is_regular",
        "reciprocity",
        "vertex_reciprocity",
        "degree_assortativity",
        "average_neighbor_degree",
        "s_metric",
        "laplacian",
        "modularity_matrix",
        "incidence_matrix",
        "line_graph",
        "complement",
    ]:
        with pytest.raises(DimensionMismatch, match=f"{name}: .*square"):
            getattr(algorithms, name)(wide)
    for name in ("edge_boundary", "node_boundary", "cut_size", "is_dominating_set"):
        with pytest.raises(DimensionMismatch, match=f"{name}: .*square"):
            getattr(algorithms, name)(wide, [0])
    assert math.isnan(algorithms.reciprocity(none))
    assert math.isnan(algorithms.degree_assortativity(none))
    assert algorithms.vertex_reciprocity(none).nvals == algorithms.density(none) == algorithms.s_metric(none) == 0
    assert algorithms.line_graph(none).graph.shape == (0, 0)
    assert algorithms.incidence_matrix(none).matrix.shape == (3, 0)
    A = Matrix.from_coo([0, 1], [1, 2], [1.0, -2.0], shape=(3, 3))
    assert algorithms.laplacian(A).degrees.to_numpy().tolist() == [0, 1, -2]
    with pytest.raises(InvalidValue, match="laplacian: weights must not be negative"):
        algorithms.laplacian(A, normalized=True)
    with pytest.raises(InvalidValue, match="laplacian: a weight is NaN"):
        algorithms.laplacian(A.apply("times", right=np.nan).new())
    with pytest.raises(InvalidValue, match="modularity_matrix: resolution"):
        algorithms.modularity_matrix(A, resolution=-1)
    for call in (algorithms.laplacian, lambda A: algorithms.cut_size(A, [0], weight=True)):
        with pytest.raises(DomainMismatch, match="weights are real numbers"):
            call(A.dup(complex))  # type: ignore[operator]
    assert sr.algorithms.is_regular(Matrix(bool, 0, 0))
