"""Triangles and trusses, written with the public API: real graphs have the counts that others have published.

Triangles by two methods, of each vertex, and by another order; the k-truss is the largest subgraph whose edges are in
k - 2 triangles or more, so edges of less support are deleted until none is left.
"""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import numpy as np
import pytest

import semiring as sr
from tests import sampling
from tests.algorithms.test_truth import TRUTH, graph, matrix

FOLDERS = ("lagraph/", "graphchallenge/", "cugraph/", "networkit/")
NAMES = [name for name, fact in TRUTH.items() if name.startswith(FOLDERS) and "triangles" in fact]
SAMPLE = sampling.draw("triangles", [name for name in NAMES if TRUTH[name]["simple_arcs"] < 2000], 3)
by_name = pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=sampling.marks(name, SAMPLE, pytest.mark.wide)) for name in NAMES]
    or [pytest.param("none", marks=pytest.mark.skip(reason="no shared graphs"))],
)


def undirected(name: str, folder: Path, engine: str) -> sr.Matrix:
    """The graph of a file without directions, loops and weights."""
    g = graph(name, folder).symmetric()
    if engine == "reference" and g.n > 500:
        pytest.skip("the reference engine takes minutes")
    return matrix(g)


def truss(A: sr.Matrix, k: int) -> sr.Matrix:
    """The supports of the edges of the k-truss of A."""
    while True:
        C = A.mxm(A.T, "plus_pair", mask=A.S).select(">=", k - 2)
        if C.nvals == A.nvals:
            return C
        A = C


@by_name
def test_triangles_are_those_that_are_known(name: str, shared_data: Path, engine: str) -> None:
    A, expected = undirected(name, shared_data, engine), TRUTH[name]["triangles"]
    L, U = A.select("tril", -1), A.select("triu", 1)
    for method in ("auto", "dot", "rows"):
        for product in (
            L.mxm(L.T, "plus_pair", mask=L.S, method=method),
            U.mxm(L, "plus_pair", mask=U.S, method=method),
        ):
            assert (product.reduce_scalar("plus").value or 0) == expected
    of_vertices = A.mxm(A.T, "plus_pair", mask=A.S).reduce_rowwise("plus")
    assert (of_vertices.reduce("plus").value or 0) == 2 * 3 * expected
    stored = A.mxm(A.T, "plus_pair", mask=A.S).wait().reduce_rowwise("plus")
    assert of_vertices.isequal(stored)


@by_name
def test_trusses_are_those_of_networkx(name: str, shared_data: Path, engine: str) -> None:
    A = undirected(name, shared_data, engine)
    if A.nvals > 50_000:
        pytest.skip("NetworkX takes minutes")
    indptr, indices, _ = (np.asarray(part) for part in A.to("cpu").to_csr())
    G = nx.Graph(zip(np.repeat(np.arange(A.nrows), np.diff(indptr)).tolist(), indices.tolist(), strict=True))
    for k in (3, 4, 6):
        rows, cols, _ = (np.asarray(part).tolist() for part in truss(A, k).to("cpu").to_coo())
        expected = {(u, v) for edge in nx.k_truss(G, k).edges for u, v in (edge, edge[::-1])}
        assert set(zip(rows, cols, strict=True)) == expected


def test_the_trusses_of_the_graph_challenge(shared_data: Path) -> None:
    """Its files hold incidences, a pair of numbers in each line; in the example, only vertex 5 is in no triangle."""
    folder = shared_data / "graphchallenge"
    for name, edge, vertex in (("ktruss_example.tsv", 0, 1), ("A_inc.tsv", 1, 0)):
        table = np.loadtxt(folder / name, dtype=np.int64)
        pairs = [tuple(table[table[:, edge] == number, vertex].tolist()) for number in np.unique(table[:, edge])]
        rows, cols = zip(*(ends for u, v in pairs for ends in ((u, v), (v, u))), strict=True)
        A = sr.Matrix.from_coo(list(rows), list(cols), True, shape=(6, 6))
        rows, cols, _ = (part.tolist() for part in truss(A, 3).to("cpu").to_coo())
        found = {frozenset(pair) for pair in zip(rows, cols, strict=True)}
        assert found == {frozenset(pair) for pair in nx.k_truss(nx.Graph(pairs), 3).edges}
        if edge == 0:
            assert {frozenset(pair) for pair in pairs} - found == {frozenset({2, 5})}
