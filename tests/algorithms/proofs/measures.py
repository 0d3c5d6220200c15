"""Measures and matrices of a whole graph: their definitions on SciPy's arrays, and the same functions of NetworkX."""

from __future__ import annotations

import importlib
import math

import numpy as np

import semiring as sr

from . import proves
from .case import Case, close, dense, equal, host

al = sr.algorithms


@proves(
    "density", "reciprocity", "vertex_reciprocity", "isolates", "is_regular", "node_boundary", "edge_boundary",
    "cut_size", "is_dominating_set", "average_neighbor_degree", "degree_assortativity", "s_metric", "laplacian",
    "incidence_matrix", by="SciPy",
)  # fmt: skip
def measures(case: Case) -> None:
    """Counts of arrays."""
    n, S = case.n, case.scipy_directed
    if n < 2:
        return
    rows, columns = S.nonzero()
    out, into = np.diff(S.indptr).astype(float), np.bincount(columns, minlength=n).astype(float)
    both = S.multiply(S.T.tocsr()).tocsr()
    two_way = np.diff(both.indptr)
    close(al.density(case.D), S.nnz / (n * (n - 1)))
    if S.nnz:
        close(al.reciprocity(case.D), both.nnz / S.nnz)
        ends = out + into
        close(
            dense(al.vertex_reciprocity(case.D), np.nan),
            np.divide(2 * two_way, ends, np.full(n, np.nan), where=ends > 0),
        )
        degree = out if not case.directed else None
        x, y = (out[rows], into[columns]) if degree is None else (degree[rows], degree[columns])
        if x.std() > 0 and y.std() > 0:
            close(al.degree_assortativity(case.D), np.corrcoef(x, y)[0, 1], rtol=1e-7)
    equal(host(al.isolates(case.D).to_coo()[0]), np.flatnonzero((out + into) == 0))
    assert al.is_regular(case.D) == (len(set(out)) == 1 and len(set(into)) == 1)
    total = S @ out
    close(dense(al.average_neighbor_degree(case.D)), np.divide(total, out, np.zeros(n), where=out > 0))
    members = np.zeros(n, bool)
    members[::3] = True
    chosen = np.flatnonzero(members)
    crossing = members[rows] & ~members[columns]
    equal(host(al.node_boundary(case.D, chosen).to_coo()[0]), np.unique(columns[crossing]))
    assert al.edge_boundary(case.D, chosen).nvals == crossing.sum()
    back = (~members[rows] & members[columns]).sum() if case.directed else 0
    close(al.cut_size(case.D, chosen), crossing.sum() + back)
    assert al.is_dominating_set(case.D, chosen) == (members | np.isin(np.arange(n), columns[members[rows]])).all()
    degree = host(case.arcs.degree).astype(float)
    close(al.s_metric(case.A), (degree[host(case.arcs.rows)] * degree[host(case.arcs.columns)]).sum() / 2)
    L = case.scipy_weighted
    laplacian = al.laplacian(case.W).matrix
    close(dense(laplacian.diag().dup(float)), L.sum(axis=1))
    assert laplacian.select("offdiag").apply("ainv").isequal(case.W)
    incidence = al.incidence_matrix(case.D, oriented=True).matrix.dup(np.int64)
    if incidence.nvals:
        gram = incidence.mxm(incidence.T, "plus_times").new()
        equal(dense(gram.diag()), degree if not case.directed else out + into)


@proves("complement", "modularity_matrix", "line_graph", by="SciPy", entries=20_000)
def matrices(case: Case) -> None:
    """Dense arrays."""
    n, S = case.n, case.scipy_directed.toarray()
    if n < 2 or n > 3000 or not case.entries:
        return
    equal(host(al.complement(case.D).to_dense(False)), (S == 0) & ~np.eye(n, dtype=bool))
    m = S.sum()
    close(host(al.modularity_matrix(case.D).to_dense(0.0)), S - np.outer(S.sum(axis=1), S.sum(axis=0)) / m, atol=1e-9)
    degree, joined = host(case.arcs.degree).astype(np.int64), al.line_graph(case.D).graph
    if case.directed:
        assert joined.nvals == int((S.sum(axis=0) * S.sum(axis=1)).sum())
    else:
        assert joined.nvals == int((degree * (degree - 1)).sum())


@proves(
    "average_shortest_path_length", "global_efficiency", "wiener_index", "local_efficiency", "k_shortest_paths",
    by="NetworkX", entries=3000,
)  # fmt: skip
def averages_of_networkx(case: Case) -> None:
    """Means of the distances of all pairs; the first paths of its enumeration."""
    nx, G, D = importlib.import_module("networkx"), case.networkx, case.networkx_directed
    if case.n < 2:
        return
    close(al.global_efficiency(case.A), nx.global_efficiency(G))
    close(dense(al.local_efficiency(case.A)).mean(), nx.local_efficiency(G))
    if nx.is_connected(G):
        close(al.average_shortest_path_length(case.A), nx.average_shortest_path_length(G))
        close(al.average_shortest_path_length(case.W, weight=True), nx.average_shortest_path_length(G, weight="weight"))
        close(al.wiener_index(case.A), nx.wiener_index(G))
    else:
        assert math.isinf(al.wiener_index(case.A))
    source = case.sources[0]
    reached = al.descendants(case.D, source).to_dict()
    if reached:
        target = max(reached)
        found = al.k_shortest_paths(case.V, source, target, 4)
        paths = nx.shortest_simple_paths(D, source, target, weight="weight")
        lengths = [nx.path_weight(D, path, "weight") for path, _ in zip(paths, range(4), strict=False)]
        close([route.length for route in found], lengths)
        assert all(nx.path_weight(D, route.vertices, "weight") == route.length for route in found)


@proves("average_shortest_path_length", "global_efficiency", "wiener_index", by="SciPy", entries=10_000)
def averages_of_scipy(case: Case) -> None:
    """Sums of the matrix of all distances, with weights."""
    csgraph = importlib.import_module("scipy.sparse.csgraph")
    if not 1 < case.n <= 3000:
        return
    distance = csgraph.shortest_path(case.scipy_weighted_directed)
    apart, total = ~np.eye(case.n, dtype=bool), case.n * (case.n - 1)
    close(al.global_efficiency(case.V, weight=True), (1 / distance[apart]).sum() / total)
    if np.isfinite(distance).all():
        close(al.average_shortest_path_length(case.V, weight=True), distance.sum() / total)
        close(al.wiener_index(case.V, weight=True), distance.sum() / (1 if case.directed else 2))


@proves("local_efficiency", "k_shortest_paths", by="igraph", entries=6000)
def paths_of_igraph(case: Case) -> None:
    """Efficiencies of every neighborhood; the lengths of several paths."""
    if not case.entries:
        return
    close(dense(al.local_efficiency(case.A)), np.nan_to_num(_induced_efficiency(case)))
    source, g = case.sources[0], case.igraph_directed
    reached = al.descendants(case.D, source).to_dict()
    if reached:
        target = min(reached)
        theirs = g.get_k_shortest_paths(source, target, k=3, weights="weight", output="epath")
        found = al.k_shortest_paths(case.V, source, target, 3)
        close([route.length for route in found], [sum(g.es[path]["weight"]) for path in theirs])


def _induced_efficiency(case: Case) -> list[float]:
    """The mean of 1 / distance in the subgraph of the neighbors of each vertex."""
    found = []
    for neighbors in map(sorted, case.igraph.get_adjlist()):
        if len(neighbors) < 2:
            found.append(0.0)
            continue
        distance = np.array(case.igraph.induced_subgraph(neighbors).distances())
        found.append(float((1 / distance[~np.eye(len(neighbors), dtype=bool)]).mean()))
    return found


@proves("lowest_common_ancestor", "lowest_common_ancestors", by="SciPy", entries=10_000)
def ancestors_of_scipy(case: Case) -> None:
    """Rows of the transitive closure of the edges to larger numbers."""
    csgraph, sp = importlib.import_module("scipy.sparse.csgraph"), importlib.import_module("scipy.sparse")
    if not 1 < case.n <= 2000:
        return
    reaches = np.isfinite(csgraph.shortest_path(sp.csr_array(sp.triu(case.scipy, 1)), unweighted=True))
    acyclic = case.A.select("triu", 1).new()
    for u, v in ((case.n - 2, case.n - 1), (case.n // 2, case.n - 1)):
        common = np.flatnonzero(reaches[:, u] & reaches[:, v])
        lowest = common[reaches[np.ix_(common, common)].sum(axis=1) == 1]
        equal(host(al.lowest_common_ancestors(acyclic, u, v).to_coo()[0]), lowest)


@proves("lowest_common_ancestor", "lowest_common_ancestors", by="NetworkX", entries=3000)
def ancestors_of_networkx(case: Case) -> None:
    """The edges to larger numbers have no cycle: common ancestors that no other one descends from."""
    nx, sp = importlib.import_module("networkx"), importlib.import_module("scipy.sparse")
    G = nx.from_scipy_sparse_array(sp.triu(case.scipy, 1), create_using=nx.DiGraph)
    acyclic = case.A.select("triu", 1).new()
    for u, v in [(0, case.n - 1), (case.n // 2, case.n - 1), (case.n // 3, case.n // 2)] if case.n else ():
        common = (nx.ancestors(G, u) | {u}) & (nx.ancestors(G, v) | {v})
        lowest = sorted(w for w in common if not any(x in common for x in nx.descendants(G, w)))
        assert sorted(al.lowest_common_ancestors(acyclic, u, v).to_dict()) == lowest
        assert al.lowest_common_ancestor(acyclic, u, v) == (lowest[0] if lowest else None)


@proves(
    "density", "reciprocity", "is_regular", "node_boundary", "edge_boundary", "cut_size", "is_dominating_set",
    "average_neighbor_degree", "degree_assortativity", "s_metric", "laplacian", "incidence_matrix", "complement",
    "modularity_matrix", "line_graph", "isolates", "vertex_reciprocity", by="NetworkX", entries=3000,
)  # fmt: skip
def measures_of_networkx(case: Case) -> None:
    """Its functions of the same names."""
    nx, G, D = importlib.import_module("networkx"), case.networkx, case.networkx_directed
    if case.n < 2 or not case.entries:
        return
    close(al.density(case.D), nx.density(D))
    close(al.reciprocity(case.D), nx.overall_reciprocity(D))
    found, theirs = al.vertex_reciprocity(case.D).to_dict(), nx.reciprocity(D, [v for v in D if D.degree(v)])
    close([found[v] for v in theirs], list(theirs.values()))
    assert al.is_regular(case.A) == nx.is_regular(G)
    chosen = list(range(0, case.n, 2))
    assert set(al.node_boundary(case.D, chosen).to_dict()) == nx.node_boundary(D, chosen)
    assert al.edge_boundary(case.D, chosen).nvals == len(list(nx.edge_boundary(D, chosen)))
    close(al.cut_size(case.W, chosen, weight=True), nx.cut_size(G, chosen, weight="weight"))
    assert al.is_dominating_set(case.A, chosen) == nx.is_dominating_set(G, chosen)
    close(dense(al.average_neighbor_degree(case.A)), list(nx.average_neighbor_degree(G).values()))
    close(al.s_metric(case.A), nx.s_metric(G))
    assert set(al.isolates(case.A).to_dict()) == set(nx.isolates(G))
    close(host(al.laplacian(case.W).matrix.dup(float).to_dense(0.0)), nx.laplacian_matrix(G).toarray())
    close(host(al.modularity_matrix(case.A).to_dense(0.0)), nx.modularity_matrix(G, weight=None), atol=1e-9)
    assert al.complement(case.A).nvals == 2 * nx.complement(G).number_of_edges()
    assert al.incidence_matrix(case.A).matrix.shape == (case.n, G.number_of_edges())
    assert al.line_graph(case.A).graph.nvals == 2 * nx.line_graph(G).number_of_edges()
    with np.errstate(invalid="ignore"):
        theirs = nx.degree_pearson_correlation_coefficient(G) if len(set(dict(G.degree).values())) > 1 else math.nan
    if not math.isnan(theirs):
        close(al.degree_assortativity(case.A), theirs, rtol=1e-6)
