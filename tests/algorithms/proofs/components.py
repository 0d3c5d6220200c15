"""Components: classes that searches fill, joined without a cycle; edges whose removal separates."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

import semiring as sr
from semiring import Matrix
from semiring.exceptions import GraphProperty
from tests import verify

from . import proves
from .case import Case, arcs_of, dense, equal, full, host

al = sr.algorithms


@proves("connected_components", "is_connected")
def weak(case: Case) -> None:
    """No edge joins two labels, and a search from every label fills its component."""
    arcs = case.arcs
    for method in ("afforest", "fastsv"):
        label = full(al.connected_components(case.D, method=method), -1)
        verify.components(arcs.indptr, arcs.columns, label)
        assert filled(case.A, label)
        assert bool((label <= arcs.xp.arange(case.n)).all())
        assert al.is_connected(case.D) == (int((label != 0).sum()) == 0 and case.n > 0)


def filled(A: Matrix, label: Any) -> bool:
    """Whether a search from the vertex that names each label reaches all vertices with it, by edges within."""
    arcs = arcs_of(A)
    within = A.dup(mask=_marked(A, label[arcs.rows] == label[arcs.columns]).V)
    roots = host(arcs.xp.flatnonzero(label == arcs.xp.arange(A.nrows)))
    return A.nrows == 0 or al.bfs_levels(within, roots, nearest=True).nvals == A.nrows


def _marked(A: Matrix, values: Any) -> Matrix:
    """The structure of A with one boolean for each entry."""
    arcs = arcs_of(A)
    return Matrix.from_csr(arcs.indptr, arcs.columns, values, ncols=A.ncols)


@proves("strongly_connected_components", "condensation", "is_dag")
def strong(case: Case) -> None:
    """A search from every label fills its class along the edges and against them; the condensation has no cycle."""
    found = al.strongly_connected_components(case.D)
    label = full(found, -1)
    assert filled(case.D, label)
    assert not case.directed or filled(case.D.T.new(), label)
    whole = al.condensation(case.D, found)
    assert al.is_dag(whole.graph)
    number, arcs = full(whole.component, -1), case.directed_arcs
    equal(full(whole.representative, -1)[number], label)
    apart = number[arcs.rows] != number[arcs.columns]
    keys = arcs.xp.unique(number[arcs.rows][apart] * whole.graph.nrows + number[arcs.columns][apart])
    assert whole.graph.nvals == int(keys.size)


@proves("bridges", "biconnected_components", "articulation_points", entries=20_000_000)
def separations(case: Case) -> None:
    """Without its bridges a graph has as many components more; blocks and the points where they meet form a forest."""
    before = count(al.connected_components(case.A))
    found = al.bridges(case.A)
    rest = case.A.dup(mask=~found.S)
    assert count(al.connected_components(rest)) == before + found.nvals // 2
    assert al.bridges(rest).nvals == 0
    blocks, points = al.biconnected_components(case.A), al.articulation_points(case.A)
    assert points.isequal(blocks.articulation_points)
    assert blocks.edges.nvals == case.entries
    assert blocks.edges.isequal(blocks.edges.T)
    # A block and a vertex of it are an edge of the block-cut forest.  It has no cycle, and joins what A joins.
    arcs = arcs_of(blocks.edges)
    xp = arcs.xp
    pairs = xp.unique(arcs.values.astype(np.int64) * max(case.n, 1) + arcs.rows)
    number, vertex = pairs // max(case.n, 1), pairs % max(case.n, 1)
    names = xp.unique(number)
    assert int(names.size) == blocks.heads.nvals
    in_blocks = xp.bincount(vertex, minlength=case.n)
    equal(full(points, False), in_blocks > 1)
    assert int(pairs.size) == case.n + int(names.size) - before  # a forest: vertices and blocks less components
    single = xp.bincount(arcs.values, minlength=case.n)[arcs.values] == 2
    assert found.isequal(case.A.dup(mask=_marked(case.A, single).V))


def count(labels: sr.Vector) -> int:
    """The number of components."""
    return int(labels.ewise_mult(labels.apply("rowindex"), "eq").select("==", True).nvals)


@proves("is_bipartite", "two_coloring")
def sides(case: Case) -> None:
    """No edge joins two vertices of one side; or the levels of a search show a cycle of odd length."""
    arcs = case.arcs
    if al.is_bipartite(case.A):
        side = full(al.two_coloring(case.A), -1)
        assert bool((side[arcs.rows] != side[arcs.columns]).all())
        assert set(host(arcs.xp.unique(side)).tolist()) <= {0, 1}
        return
    try:
        al.two_coloring(case.A)
    except GraphProperty:
        roots = host(arcs.xp.unique(full(al.connected_components(case.A), -1)))
        level = full(al.bfs_levels(case.A, roots, nearest=True), -1)
        assert bool((level[arcs.rows] == level[arcs.columns]).any())
        return
    raise AssertionError("no error for a cycle of odd length")


@proves("connected_components", "strongly_connected_components", "is_connected", "condensation", by="SciPy")
def components_of_scipy(case: Case) -> None:
    """The same partitions."""
    csgraph = importlib.import_module("scipy.sparse.csgraph")
    for kind, found in (
        ("weak", al.connected_components(case.D)),
        ("strong", al.strongly_connected_components(case.D)),
    ):
        number, theirs = csgraph.connected_components(case.scipy_directed, connection=kind)
        first = np.full(number, case.n)
        np.minimum.at(first, theirs, np.arange(case.n))
        equal(dense(found), first[theirs])
    assert al.condensation(case.D).graph.nrows == number


@proves(
    "bridges", "articulation_points", "biconnected_components", "is_bipartite", "two_coloring", "is_dag",
    by="igraph", entries=8_000_000,
)  # fmt: skip
def separations_of_igraph(case: Case) -> None:
    """The same bridges, points and sizes of blocks."""
    g = case.igraph
    ends = np.array(g.get_edgelist()).reshape(-1, 2)[g.bridges()]
    rows, columns = (host(part) for part in al.bridges(case.A).select("triu", 1).to_coo()[:2])
    keys = np.sort(ends, axis=1) @ np.array([case.n, 1]) if len(ends) else np.zeros(0)
    equal(np.sort(keys), rows.astype(np.int64) * case.n + columns)
    blocks, points = g.biconnected_components(return_articulation_points=True)
    equal(host(al.articulation_points(case.A).to_coo()[0]), sorted(points))
    found = al.biconnected_components(case.A)
    numbers, sizes = np.unique(host(found.edges.to_coo()[2]), return_counts=True)
    assert numbers.size == len(blocks)
    theirs = [len(g.es.select(_within=block)) for block in blocks] if case.entries < 20_000 else None
    assert theirs is None or sorted(sizes // 2) == sorted(theirs)
    assert al.is_bipartite(case.A) == g.is_bipartite()
    if al.is_bipartite(case.A):
        equal(dense(al.two_coloring(case.A)), _smallest_first(dense(al.two_coloring(case.A)), case))
    assert al.is_dag(case.D) == (case.igraph_directed.is_dag() if case.directed else case.entries == 0)


def _smallest_first(side: Any, case: Case) -> Any:
    """The sides with 0 for the smallest vertex of each component."""
    return side ^ side[dense(al.connected_components(case.A))]
