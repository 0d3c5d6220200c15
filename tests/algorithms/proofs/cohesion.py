"""Triangles, clustering, cores and trusses: identities between counts, and the definitions of the subgraphs."""

from __future__ import annotations

import importlib

import numpy as np

import semiring as sr

from . import proves
from .case import Case, arcs_of, close, dense, equal, full, host, largest, smallest

al = sr.algorithms


@proves("triangle_count", "triangles", "edge_triangles", "transitivity", "clustering", "average_clustering")
def triangles(case: Case) -> None:
    """A triangle has three vertices and six directed edges; shares are between 0 and 1."""
    arcs = case.arcs
    xp = arcs.xp
    count, at = al.triangle_count(case.A), full(al.triangles(case.A), -1)
    assert int(at.sum()) == 3 * count
    of_edges = al.edge_triangles(case.A)
    assert int(of_edges.reduce_scalar("plus").value or 0) == 6 * count
    equal(full(of_edges.reduce_rowwise("plus"), 0), 2 * at)
    pairs = arcs.degree.astype(np.int64) * (arcs.degree.astype(np.int64) - 1) // 2
    share = xp.where(pairs > 0, at / xp.maximum(pairs, 1), 0.0)
    found = full(al.clustering(case.A), -1.0)
    close(found, share)
    assert 0 <= smallest(found) <= largest(found) <= 1
    close(full(al.clustering(case.A, method="graphalytics"), -1.0), share)
    close(al.average_clustering(case.A), float(share.mean()) if case.n else 0.0)
    wedges = int(pairs.sum())
    close(al.transitivity(case.A), 3 * count / wedges if wedges else 0.0)


@proves("triangle_centrality", "generalized_degree", entries=5_000_000)
def around_triangles(case: Case) -> None:
    """The triangles around each vertex as a share of all; numbers of edges sum to degrees."""
    arcs, count, at = case.arcs, al.triangle_count(case.A), full(al.triangles(case.A), -1)
    xp = arcs.xp
    centrality = full(al.triangle_centrality(case.A), -1.0)
    assert 0 <= smallest(centrality) <= largest(centrality) <= 1 + 1e-12
    joined = arcs_of(al.edge_triangles(case.A).select(">", 0).new())
    around = 3 * xp.bincount(arcs.columns, weights=at[arcs.rows], minlength=case.n) + at
    around = around - 2 * xp.bincount(joined.columns, weights=at[joined.rows], minlength=case.n)
    close(centrality, around / (3 * count) if count else 0.0 * around)
    equal(full(al.generalized_degree(case.A).reduce_rowwise("plus"), 0), arcs.degree)


@proves("core_numbers", "k_core")
def cores(case: Case) -> None:
    """Every vertex of core k has k neighbors of core k or more, and no set of vertices has more."""
    core = full(al.core_numbers(case.A), -1)
    arcs = case.arcs
    xp = arcs.xp
    inside = xp.bincount(arcs.rows[core[arcs.columns] >= core[arcs.rows]], minlength=case.n)
    assert bool((inside >= core).all())
    most = largest(core)
    for k in sorted({most, most - 1, most // 2, 2, 1} - {0, -1}):
        # Vertices of at most k neighbors are removed from those of core k or more: none of core k may remain.
        left = core >= k
        rows, columns = arcs.rows, arcs.columns
        while True:
            kept = left[rows] & left[columns]
            rows, columns = rows[kept], columns[kept]
            removed = left & (xp.bincount(rows, minlength=case.n) <= k)
            if not bool(removed.any()):
                break
            left &= ~removed
        assert not bool((left & (core == k)).any()), k
        found = al.k_core(case.A, k)
        expected = (core[arcs.rows] >= k) & (core[arcs.columns] >= k)
        assert found.nvals == int(expected.sum())


@proves("k_truss", entries=20_000_000)
def trusses(case: Case) -> None:
    """Every edge of a truss is in k - 2 triangles of it."""
    for k in (3, 4, 8):
        support = al.edge_triangles(al.k_truss(case.A, k))
        assert support.nvals == 0 or int(support.reduce_scalar("min").value) >= k - 2


@proves("truss_numbers", entries=2_000_000)
def truss_levels(case: Case) -> None:
    """The edges of a number or more are the truss, and those of the number are not in the next one."""
    numbers = al.truss_numbers(case.A)
    most = int(numbers.reduce_scalar("max").value or 2)
    for k in sorted({3, 4, most, most + 1}):
        rest = case.A.dup(mask=numbers.select(">=", k).S)
        assert al.k_truss(case.A, k).isequal(rest)
        # Remove what the next truss cannot hold, until nothing changes: nothing of this number may remain.
        while True:
            enough = rest.dup(mask=al.edge_triangles(rest).select(">=", k - 1).S)
            if enough.nvals == rest.nvals:
                break
            rest = enough
        assert rest.ewise_mult(numbers.select("==", k), "pair").nvals == 0


@proves("rich_club", "square_clustering", entries=500_000)
def densities(case: Case) -> None:
    """Edges among the vertices of more than k neighbors; squares from the dense product."""
    degree = host(case.arcs.degree)
    rows, columns = host(case.arcs.rows), host(case.arcs.columns)
    low = np.minimum(degree[rows], degree[columns])
    found = al.rich_club(case.A).to_dict()
    for k in sorted({0, 1, largest(degree) - 1, int(degree.mean() if case.n else 0)}):
        members = int((degree > k).sum())
        assert (k in found) == (members > 1 and k >= 0)
        if k in found:
            close(found[k], (low > k).sum() / (members * (members - 1)))
    if case.n <= 2000:
        S = case.scipy.toarray()
        common = S @ S
        np.fill_diagonal(common, 0)
        squares = (common * (common - 1) / 2).sum(axis=1)
        triangles = (common * S).sum(axis=1) / 2
        possible = (degree - 1) * (S @ degree - degree) - 2 * triangles - squares
        expected = np.divide(squares, possible, out=np.zeros(case.n), where=possible > 0)
        close(dense(al.square_clustering(case.A)), np.where(squares > 0, expected, 0.0))


@proves("graphlet_degrees", entries=500_000)
def graphlets(case: Case) -> None:
    """Every set of two or three neighbors is in one star, and a graphlet has each of its places as often as it has."""
    F = np.asarray(al.graphlet_degrees(case.A).to("cpu").to_dense())
    d = host(case.arcs.degree).astype(np.int64)
    equal(F[:, 0], d)
    equal(F[:, 2] + F[:, 3], d * (d - 1) // 2)
    equal(F[:, [7, 11, 13, 14]].sum(axis=1), d * (d - 1) * (d - 2) // 6)
    equal(F[:, 3], dense(al.triangles(case.A)))
    sums = F.sum(axis=0)
    of_paths, of_stars, of_tails, of_diamonds = sums[[1, 2]], sums[[6, 7]], sums[[9, 10, 11]], sums[[12, 13]]
    assert of_paths[0] == 2 * of_paths[1]
    assert sums[4] == sums[5]
    assert of_stars[0] == 3 * of_stars[1]
    assert 2 * of_tails[0] == of_tails[1] == 2 * of_tails[2]
    assert of_diamonds[0] == of_diamonds[1]
    assert sums[8] % 4 == sums[14] % 4 == sums[3] % 3 == 0
    assert F.min(initial=0) >= 0


@proves("graphlet_degrees", by="igraph", entries=3000)
def motifs_of_igraph(case: Case) -> None:
    """The number of every connected graphlet of three and four vertices."""
    igraph = importlib.import_module("igraph")
    sums = np.asarray(al.graphlet_degrees(case.A).to("cpu").to_dense()).sum(axis=0)
    of_size = {size: case.igraph.motifs_randesu(size) for size in (3, 4)} if case.n > 3 else {}
    for edges, orbit, times in (
        ([(0, 1), (1, 2)], 2, 1), ([(0, 1), (1, 2), (2, 0)], 3, 3), ([(0, 1), (1, 2), (2, 3)], 4, 2),
        ([(0, 1), (0, 2), (0, 3)], 7, 1), ([(0, 1), (1, 2), (2, 3), (3, 0)], 8, 4),
        ([(0, 1), (1, 2), (1, 3), (2, 3)], 9, 1), ([(0, 1), (0, 2), (0, 3), (1, 2), (1, 3)], 12, 2),
        ([(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)], 14, 4),
    ):  # fmt: skip
        size = 1 + max(max(edge) for edge in edges)
        if of_size:
            assert of_size[size][igraph.Graph(size, edges).isoclass()] * times == sums[orbit]


@proves(
    "triangles", "triangle_count", "clustering", "transitivity", "average_clustering", "generalized_degree",
    "core_numbers", by="NetworkX", entries=40_000,
)  # fmt: skip
def counts_of_networkx(case: Case) -> None:
    """Every vertex; clustering of directed graphs and of weights too."""
    nx = importlib.import_module("networkx")
    G, D = case.networkx, case.networkx_directed
    theirs = nx.triangles(G)
    equal(dense(al.triangles(case.A)), list(theirs.values()))
    assert al.triangle_count(case.A) == sum(theirs.values()) // 3
    if not case.n:
        return
    close(dense(al.clustering(case.D)), list(nx.clustering(D if case.directed else G).values()))
    close(dense(al.clustering(case.W, weight=True)), list(nx.clustering(G, weight="weight").values()))
    if case.directed:
        close(dense(al.clustering(case.V, weight=True)), list(nx.clustering(D, weight="weight").values()))
    close(al.average_clustering(case.A), nx.average_clustering(G))
    close(al.transitivity(case.A), nx.transitivity(G))
    equal(dense(al.core_numbers(case.A)), list(nx.core_number(G).values()))
    degrees = al.generalized_degree(case.A).to_dicts()
    assert degrees == {v: dict(found) for v, found in nx.generalized_degree(G).items() if found}


@proves("square_clustering", "rich_club", "truss_numbers", "k_truss", "k_core", by="NetworkX", entries=6000)
def subgraphs_of_networkx(case: Case) -> None:
    """Every square; the edges of cores and trusses; the rich club."""
    nx = importlib.import_module("networkx")
    if not case.entries:
        return
    G = case.networkx
    close(dense(al.square_clustering(case.A)), list(nx.square_clustering(G).values()))
    theirs = nx.rich_club_coefficient(G, normalized=False)
    found = al.rich_club(case.A).to_dict()
    close([found[k] for k in theirs if k in found], [value for k, value in theirs.items() if k in found])
    numbers = al.truss_numbers(case.A).to_dicts()
    for k in range(2, 8):
        edges = {frozenset(edge) for edge in nx.k_truss(G, k).edges}
        assert {frozenset((u, v)) for u, row in numbers.items() for v, number in row.items() if number >= k} == edges
        assert {frozenset(pair) for pair in _pairs(al.k_truss(case.A, k))} == edges
        assert {frozenset(pair) for pair in _pairs(al.k_core(case.A, k))} == {
            frozenset(e) for e in nx.k_core(G, k).edges
        }


def _pairs(A: sr.Matrix) -> list[tuple[int, int]]:
    rows, columns, _ = (host(part).tolist() for part in A.to_coo())
    return list(zip(rows, columns, strict=True))


@proves(
    "triangles",
    "triangle_count",
    "transitivity",
    "core_numbers",
    "clustering",
    "average_clustering",
    by="igraph",
    entries=8_000_000,
)
def counts_of_igraph(case: Case) -> None:
    """Triangles through cliques of three, cores by removal."""
    g = case.igraph
    equal(dense(al.core_numbers(case.A)), g.coreness())
    if case.entries > 3_000_000:
        return
    share = np.array(g.transitivity_local_undirected(mode="zero"))
    close(dense(al.clustering(case.A)), share)
    close(al.average_clustering(case.A), share.mean() if case.n else 0.0)
    close(al.transitivity(case.A), np.nan_to_num(g.transitivity_undirected()))
    pairs = host(case.arcs.degree).astype(float)
    pairs *= (pairs - 1) / 2
    close(dense(al.triangles(case.A)), share * pairs, rtol=1e-9, atol=1e-6)


@proves("clustering", "edge_triangles", by="NetworKit", entries=3_000_000)
def counts_of_networkit(case: Case) -> None:
    """The triangles of every edge; coefficients of vertices with two neighbors or more."""
    networkit = importlib.import_module("networkit")
    if not case.entries:
        return
    g = case.networkit
    g.indexEdges()
    scores = networkit.sparsification.TriangleEdgeScore(g)
    scores.run()
    theirs = scores.scores()
    found = al.edge_triangles(case.A).to_dicts() if case.entries < 100_000 else {}
    for u, v in list(g.iterEdges()) if found else ():
        assert found.get(u, {}).get(v, 0) == theirs[g.edgeId(u, v)]
    assert int(al.edge_triangles(case.A).reduce_scalar("plus").value or 0) == 2 * sum(theirs)
    local = networkit.centrality.LocalClusteringCoefficient(g)
    local.run()
    degree = host(case.arcs.degree)
    close(
        dense(al.clustering(case.A, method="graphalytics")),
        np.where(degree > 1, np.nan_to_num(np.array(local.scores())), 0.0),
    )
