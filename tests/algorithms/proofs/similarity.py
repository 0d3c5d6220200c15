"""Similarities, walks and samples: entries of products, steps along edges, subsets of rows."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

import semiring as sr
from semiring import Matrix

from . import proves
from .case import Case, arcs_of, close, dense, equal, host

al = sr.algorithms


@proves(
    "common_neighbors", "jaccard", "overlap", "cosine", "adamic_adar", "resource_allocation", entries=50_000_000
)  # fmt: skip
def of_edges(case: Case) -> None:
    """Of the ends of edges: common neighbors are triangles; shares are symmetric and follow from them."""
    A, arcs = case.A, case.arcs
    common = al.common_neighbors(A, A)
    triangles = al.edge_triangles(A)
    assert common.isequal(triangles.select(">", 0))
    of = arcs_of(common)
    degree = arcs.degree.astype(np.float64)
    c, u, v = of.values.astype(np.float64), degree[of.rows], degree[of.columns]
    xp = of.xp
    for function, share in (
        (al.jaccard, c / (u + v - c)),
        (al.overlap, c / xp.minimum(u, v)),
        (al.cosine, c / xp.sqrt(u * v)),
    ):
        found = function(A, A)
        close(arcs_of(found).values, share)
        assert found.isclose(found.T, rel_tol=1e-12)
    for score in (al.adamic_adar, al.resource_allocation):
        found = score(A, A)
        assert found.isclose(found.T, rel_tol=1e-9)
        assert found.nvals == common.nvals


@proves(
    "common_neighbors",
    "jaccard",
    "overlap",
    "cosine",
    "adamic_adar",
    "resource_allocation",
    by="SciPy",
    entries=300_000,
)
def products_of_scipy(case: Case) -> None:
    """Every pair, of the directed graph, and the best of each row."""
    S = case.scipy_directed
    if (S.T.astype(bool).sum(axis=1).astype(float) ** 2).sum() > 3e7:
        return
    common = _offdiagonal(S @ S.T)
    degree = np.diff(S.indptr).astype(float)
    u, v, c = degree[common.row], degree[common.col], common.data
    _same(al.common_neighbors(case.D), common, c)
    _same(al.jaccard(case.D), common, c / (u + v - c))
    _same(al.overlap(case.D), common, c / np.minimum(u, v))
    _same(al.cosine(case.D), common, c / np.sqrt(u * v))
    best = al.jaccard(case.D, top=2)
    most = al.jaccard(case.D).reduce_rowwise("max")
    assert best.reduce_rowwise("max").isclose(most, rel_tol=1e-12)
    assert int(best.reduce_rowwise("count").reduce("max").get(0)) <= 2
    S, degree = case.scipy, host(case.arcs.degree).astype(float)
    with np.errstate(divide="ignore"):
        for function, weight in ((al.resource_allocation, 1 / degree), (al.adamic_adar, 1 / np.log(degree))):
            scaled = S.copy()
            scaled.data = weight[S.indices]
            expected = _offdiagonal(scaled @ S.T)
            _same(function(case.A), expected, expected.data)
    V = case.scipy_weighted_directed
    norm = np.sqrt((V.multiply(V)).sum(axis=1))
    product = _offdiagonal(V @ V.T)
    _same(al.cosine(case.V, weight=True), product, product.data / (norm[product.row] * norm[product.col]))


def _offdiagonal(S: Any) -> Any:
    product = S.tocsr()
    product.sum_duplicates()
    product = product.tocoo()
    kept = product.row != product.col
    return type(product)((product.data[kept], (product.row[kept], product.col[kept])), shape=product.shape)


def _same(found: Matrix, places: Any, values: Any) -> None:
    rows, columns, mine = (host(part) for part in found.to_coo())
    equal(rows, places.row)
    equal(columns, places.col)
    close(mine, values)


@proves("jaccard", "adamic_adar", "common_neighbors", by="igraph", entries=6000)
def pairs_of_igraph(case: Case) -> None:
    """Dense matrices of all pairs."""
    if not case.entries:
        return
    theirs = np.array(case.igraph.similarity_jaccard(loops=False))
    np.fill_diagonal(theirs, 0)
    close(host(al.jaccard(case.A).to_dense(0.0)), theirs)
    close(host(al.common_neighbors(case.A).select("offdiag").to_dense(0)), _bibcoupling(case))
    weighted = np.array(case.igraph.similarity_inverse_log_weighted())
    np.fill_diagonal(weighted, 0)
    close(host(al.adamic_adar(case.A).select("offdiag").to_dense(0.0)), weighted)


def _bibcoupling(case: Case) -> Any:
    counts = np.array(case.igraph.bibcoupling())
    np.fill_diagonal(counts, 0)
    return counts


@proves("resource_allocation", "overlap", "cosine", by="NetworkX", entries=6000)
def pairs_of_networkx(case: Case) -> None:
    """The ends of edges, by its sets of neighbors."""
    nx, G = importlib.import_module("networkx"), case.networkx
    edges = [(u, v) for u, v in G.edges]
    found = al.resource_allocation(case.A, case.A).to_dicts()
    for u, v, value in nx.resource_allocation_index(G, edges):
        close(found.get(u, {}).get(v, 0.0), value)
    over, cosine = al.overlap(case.A, case.A).to_dicts(), al.cosine(case.A, case.A).to_dicts()
    for u, v in edges:
        shared = len(set(nx.common_neighbors(G, u, v)))
        close(over.get(u, {}).get(v, 0.0), shared / min(G.degree[u], G.degree[v]))
        close(cosine.get(u, {}).get(v, 0.0), shared / (G.degree[u] * G.degree[v]) ** 0.5)


@proves("random_walks", "node2vec_walks")
def walks(case: Case) -> None:
    """Every step follows an edge; a walk ends only at a vertex without one."""
    arcs = case.directed_arcs
    keys = host(arcs.rows).astype(np.int64) * max(case.n, 1) + host(arcs.columns)
    degree = host(arcs.degree)
    starts = np.arange(0, case.n, 1 + case.n // 20_000)
    for weighted in (False, True):
        for found in (
            al.random_walks(case.V, starts, 12, weight=weighted, seed=4),
            al.node2vec_walks(case.V, starts, 12, p=0.5, q=2.0, weight=weighted, seed=4),
        ):
            walk = host(found.to_dense(-1))
            equal(walk[:, 0], starts)
            for here, there in zip(walk.T, walk.T[1:], strict=False):
                equal(there < 0, (here < 0) | (degree[here] == 0))
                going = there >= 0
                edge = here[going] * max(case.n, 1) + there[going]
                place = np.minimum(np.searchsorted(keys, edge), max(keys.size - 1, 0))
                assert (keys[place] == edge).all()


@proves("sample_neighbors")
def samples(case: Case) -> None:
    """Edges of the graph, as many of each row as asked or as there are; a hop begins where the last one ended."""
    if not case.n:
        return
    degree = host(case.directed_arcs.degree)
    frontier = np.unique(np.random.default_rng(0).integers(0, case.n, 50))
    for size, hop in zip((5, 3), al.sample_neighbors(case.V, frontier, [5, 3], seed=9), strict=True):
        assert hop.isequal(case.V.dup(mask=hop.S))
        found = dense(hop.reduce_rowwise("count"))
        expected = np.zeros(case.n, np.int64)
        expected[frontier] = np.minimum(degree[frontier], size)
        equal(found, expected)
        frontier = np.unique(host(hop.to_coo()[1]))


@proves("degree_histogram", "degree_statistics")
def distributions(case: Case) -> None:
    """Figures of the array of degrees."""
    degree = host(case.directed_arcs.degree)
    told = al.degree_statistics(case.D)
    if not case.n:
        return
    equal(dense(al.degree_histogram(case.D)), np.bincount(degree))
    assert (told.smallest, told.largest, told.median) == (degree.min(), degree.max(), np.median(degree))
    close((told.mean, told.deviation), (degree.mean(), degree.std()))
    touched = np.zeros(case.n, bool)
    touched[host(case.arcs.rows)] = True
    assert told.isolated == (~touched).sum()
    ordered = np.sort(degree).astype(float)
    total = ordered.sum()
    gini = (2 * np.arange(case.n) + 1 - case.n) @ ordered / (case.n * total) if total else 0.0
    close(told.gini, gini, rtol=1e-7)


@proves("degree_histogram", "degree_statistics", by="NetworkX", entries=40_000)
def distributions_of_networkx(case: Case) -> None:
    """The histogram of an undirected graph; isolated vertices."""
    nx = importlib.import_module("networkx")
    if case.n:
        equal(dense(al.degree_histogram(case.A)), nx.degree_histogram(case.networkx))
        assert al.degree_statistics(case.A).isolated == nx.number_of_isolates(case.networkx)
