"""Centralities: residuals of the equations, and sums that searches give."""

from __future__ import annotations

import importlib
from contextlib import suppress
from typing import Any

import numpy as np

import semiring as sr
from semiring.exceptions import ConvergenceFailure

from . import proves
from .case import Arcs, Case, close, dense, equal, full, host

al = sr.algorithms


def entering(arcs: Arcs, x: Any) -> Any:
    """y(v) = the sum of x(u) over the edges (u, v), on the device."""
    return arcs.xp.bincount(arcs.columns, weights=x[arcs.rows], minlength=arcs.n)


@proves("pagerank")
def ranks(case: Case) -> None:
    """r(v) = (1 - d) / n + d (the shares of the vertices with an edge to v + those without edges / n)."""
    if not case.n:
        return
    arcs = case.directed_arcs
    xp = arcs.xp
    rank = full(al.pagerank(case.D, tol=1e-10, max_iter=500), 0.0)
    degree = arcs.degree
    share = xp.where(degree > 0, rank / xp.maximum(degree, 1), 0.0)
    again = 0.15 / case.n + 0.85 * (entering(arcs, share) + rank[degree == 0].sum() / case.n)
    assert abs(float(rank.sum()) - 1) < 1e-9
    assert float(abs(again - rank).sum()) < 1e-9


@proves("voterank", entries=1_000_000)
def elections(case: Case) -> None:
    """The first vertices elected have the most votes, counted in units of 1 / edges; the smallest of equal ones."""
    arcs, most = case.directed_arcs, 10
    rows, columns, edges = host(arcs.rows), host(arcs.columns), int(arcs.rows.size)
    found = al.voterank(case.D, number=most).to_dict()
    ability = np.full(case.n, edges, np.int64)
    for v in sorted(found, key=found.__getitem__):
        votes = np.bincount(rows, weights=ability[columns], minlength=case.n)  # below 2^53
        votes[[u for u in found if found[u] < found[v]]] = -1
        assert int(votes.argmax()) == v
        assert votes[v] > 0
        ability[columns[rows == v]] -= case.n
        ability = np.maximum(ability, 0)
        ability[v] = 0
    if len(found) < min(most, case.n):
        votes = np.bincount(rows, weights=ability[columns], minlength=case.n)
        assert not np.delete(votes, list(found)).any()


@proves("google_matrix", entries=10_000)
def transitions(case: Case) -> None:
    """Rows sum to 1, and PageRank does not change in a step."""
    if not 0 < case.n <= 2000:
        return
    G = al.google_matrix(case.D)
    close(dense(G.reduce_rowwise("plus")), np.ones(case.n))
    rank = al.pagerank(case.D, tol=1e-12, max_iter=1000)
    close(dense(rank.vxm(G, "plus_times")), dense(rank), atol=1e-9)


@proves("google_matrix", by="NetworkX", entries=10_000)
def transitions_of_networkx(case: Case) -> None:
    """The matrix itself."""
    nx = importlib.import_module("networkx")
    if 0 < case.n <= 2000:
        close(host(al.google_matrix(case.D).to_dense(0.0)), nx.google_matrix(case.networkx_directed, weight=None))


@proves("hits", "eigenvector_centrality", "katz_centrality")
def eigenvectors(case: Case) -> None:
    """A converged vector satisfies its equation: the undirected graph, whose hubs are its authorities."""
    if not case.entries:
        return
    arcs = case.arcs
    xp = arcs.xp
    alpha = 0.5 / int(arcs.degree.max())
    katz = full(al.katz_centrality(case.A, alpha, tol=1e-14, normalized=False), 0.0)
    assert float(abs(alpha * entering(arcs, katz) + 1 - katz).sum()) < 1e-8 * case.n
    with suppress(ConvergenceFailure):  # slow where two eigenvalues are nearly equal
        x = full(al.eigenvector_centrality(case.A, tol=1e-9 / case.n), 0.0)
        y = entering(arcs, x) + x
        assert float(abs(y / xp.linalg.norm(y) - x).sum()) < 1e-7
    with suppress(ConvergenceFailure):
        hubs, authorities = al.hits(case.D, tol=1e-9)
        a = entering(case.directed_arcs, full(hubs, 0.0))
        assert float(abs(a / a.sum() - full(authorities, 0.0)).sum()) < 1e-6


@proves("betweenness_centrality")
def dependencies(case: Case) -> None:
    """From each source: vertices between it and all others sum to the distances less 1."""
    if not case.n:
        return
    levels = [dense(al.bfs_levels(case.D, source).dup(float), 0.0) for source in case.sources]
    options: dict[str, Any] = {"sources": case.sources, "normalized": False, "directed": True}
    total = sum(float(np.maximum(level - 1, 0).sum()) for level in levels)
    between = al.betweenness_centrality(case.D, **options)
    close(float(between.reduce("plus").get(0.0)), total)
    assert float(between.reduce("min").get(0.0)) >= 0


@proves("edge_betweenness_centrality", entries=20_000_000)
def dependencies_of_edges(case: Case) -> None:
    """From each source: edges on the way to all others sum to the distances."""
    if not case.n:
        return
    total = sum(dense(al.bfs_levels(case.D, source).dup(float), 0.0).sum() for source in case.sources)
    edges = al.edge_betweenness_centrality(case.D, sources=case.sources, normalized=False, directed=True)
    close(float(edges.reduce_scalar("plus").value or 0), total)


@proves("closeness_centrality", "harmonic_centrality")
def distances(case: Case) -> None:
    """Of some vertices: the sums of their levels, on the transpose."""
    if not case.n:
        return
    near, harmonic = al.closeness_centrality(case.D, case.sources), al.harmonic_centrality(case.D, case.sources)
    into = case.D.T.new()
    for source in case.sources:
        levels = dense(al.bfs_levels(into, source).dup(float), -1.0)
        levels = levels[levels > 0]
        expected = levels.size**2 / levels.sum() / (case.n - 1) if levels.size else 0.0
        close(near[source].value, expected)
        close(harmonic[source].value, (1 / levels).sum())


@proves("degrees", "degree_centrality", "in_degree_centrality", "out_degree_centrality")
def numbers_of_edges(case: Case) -> None:
    """Counts of rows and columns."""
    arcs = case.directed_arcs
    out, into = host(arcs.degree), host(arcs.xp.bincount(arcs.columns, minlength=case.n))
    ends = out + into if case.directed else out
    equal(dense(al.degrees(case.D)), out)
    equal(dense(al.degrees(case.D, "in")), into)
    equal(dense(al.degrees(case.D, "both")), ends)
    others = max(case.n - 1, 1)
    if case.n > 1:
        close(dense(al.degree_centrality(case.D)), ends / others)
        close(dense(al.in_degree_centrality(case.D)), into / others)
        close(dense(al.out_degree_centrality(case.D)), out / others)


@proves("pagerank", "eigenvector_centrality", "katz_centrality", by="NetworkX", entries=100_000)
def iterations_of_networkx(case: Case) -> None:
    """PageRank of the directed graph; of a connected undirected one the eigenvectors."""
    nx = importlib.import_module("networkx")
    if not case.entries:
        return
    ranks = nx.pagerank(case.networkx_directed, weight=None, tol=1e-15, max_iter=1000)
    close(dense(al.pagerank(case.D, tol=1e-12, max_iter=500)), list(ranks.values()), rtol=1e-6)
    weighted = nx.pagerank(case.networkx_directed, tol=1e-15, max_iter=1000)
    close(dense(al.pagerank(case.V, tol=1e-12, max_iter=500, weight=True)), list(weighted.values()), rtol=1e-6)
    alpha = 0.5 / int(case.arcs.degree.max())
    katz = nx.katz_centrality(case.networkx_directed, alpha, tol=1e-12, weight=None)
    close(dense(al.katz_centrality(case.D, alpha, tol=1e-12)), list(katz.values()), rtol=1e-6)
    if nx.is_connected(case.networkx):
        with suppress(ConvergenceFailure, nx.PowerIterationFailedConvergence):
            vector = nx.eigenvector_centrality(case.networkx, max_iter=1000, tol=1e-12)
            close(dense(al.eigenvector_centrality(case.A, max_iter=1000, tol=1e-12)), list(vector.values()), rtol=1e-5)


@proves("betweenness_centrality", "edge_betweenness_centrality", by="igraph", entries=20_000)
def dependencies_of_igraph(case: Case) -> None:
    """Every vertex and every edge, directed and not."""
    for A, g, directed in ((case.A, case.igraph, False), (case.D, case.igraph_directed, True)):
        found = dense(al.betweenness_centrality(A, normalized=False, directed=directed))
        close(found, g.betweenness(directed=directed), rtol=1e-9, atol=1e-9)
        ends = np.array(g.get_edgelist()).reshape(-1, 2)
        edges = host(al.edge_betweenness_centrality(A, normalized=False, directed=directed).to_coo()[2])
        indptr, columns, _ = (host(part) for part in A.to_csr(index_dtype=np.int64))
        rows = np.repeat(np.arange(case.n), np.diff(indptr))
        theirs = dict(zip(map(tuple, ends.tolist()), g.edge_betweenness(directed=directed), strict=True))
        pairs = zip(rows.tolist(), columns.tolist(), strict=True)
        close(edges, [theirs[u, v] if directed or u < v else theirs[v, u] for u, v in pairs], rtol=1e-9, atol=1e-9)


@proves("closeness_centrality", "harmonic_centrality", by="NetworkX", entries=6000)
def distances_of_networkx(case: Case) -> None:
    """Every vertex of the directed graph."""
    nx = importlib.import_module("networkx")
    close(dense(al.closeness_centrality(case.D)), list(nx.closeness_centrality(case.networkx_directed).values()))
    close(dense(al.harmonic_centrality(case.D)), list(nx.harmonic_centrality(case.networkx_directed).values()))


@proves("closeness_centrality", "harmonic_centrality", by="igraph", entries=100_000)
def distances_of_igraph(case: Case) -> None:
    """Every vertex of the undirected graph, without the factor for components."""
    if case.n < 2:
        return
    found = dense(al.closeness_centrality(case.A, wf_improved=False))
    close(found, np.nan_to_num(case.igraph.closeness()))
    close(dense(al.harmonic_centrality(case.A, normalized=True)), case.igraph.harmonic_centrality())


@proves("pagerank", "eigenvector_centrality", by="igraph", entries=2_000_000)
def iterations_of_igraph(case: Case) -> None:
    """PRPACK solves for PageRank without iterating; ARPACK finds the eigenvector."""
    if not case.entries:
        return
    theirs = np.array(case.igraph_directed.pagerank())
    close(dense(al.pagerank(case.D, tol=1e-12, max_iter=1000)), theirs, rtol=1e-6)
    if case.entries < 100_000 and case.igraph.is_connected():
        with suppress(ConvergenceFailure, SystemError):  # igraph warns of entries near 0, an error in tests
            found = dense(al.eigenvector_centrality(case.A, tol=1e-11, max_iter=3000))
            vector = np.array(case.igraph.eigenvector_centrality())
            close(found, vector / np.linalg.norm(vector), rtol=1e-5, atol=1e-6)


@proves("degrees", "degree_centrality", "in_degree_centrality", "out_degree_centrality", by="igraph", entries=100_000)
def degrees_of_igraph(case: Case) -> None:
    """Every vertex."""
    g = case.igraph_directed if case.directed else case.igraph
    equal(dense(al.degrees(case.D)), g.outdegree())
    equal(dense(al.degrees(case.D, "in")), g.indegree())
    equal(dense(al.degrees(case.D, "both")), g.degree())
    if case.n > 1:
        close(dense(al.degree_centrality(case.D)) * (case.n - 1), g.degree())
        close(dense(al.in_degree_centrality(case.D)) * (case.n - 1), g.indegree())
        close(dense(al.out_degree_centrality(case.D)) * (case.n - 1), g.outdegree())


@proves("hits", by="SciPy", entries=10_000)
def hubs_of_scipy(case: Case) -> None:
    """The first singular vector, where its singular value is single."""
    linalg = importlib.import_module("scipy.linalg")
    if 2 < case.n < 400 and case.entries:
        U, s, _ = linalg.svd(case.scipy_directed.toarray())
        if s[0] - s[1] > 1e-3 * s[0]:
            hub = abs(U[:, 0])
            close(dense(al.hits(case.D, tol=1e-12, max_iter=10000).hubs), hub / hub.sum(), rtol=1e-5, atol=1e-7)
