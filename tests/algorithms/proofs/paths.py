"""Searches and shortest paths: no edge improves a distance, and each has an edge that gives it."""

from __future__ import annotations

import importlib
from itertools import pairwise

import numpy as np

import semiring as sr
from tests import verify

from . import proves
from .case import Case, arcs_of, close, dense, equal, full, host, smallest

al = sr.algorithms


@proves("bfs_levels", "bfs_parents", "bfs_trace", "descendants", "has_path")
def searches(case: Case) -> None:
    """Levels and parents from several sources; what is reached; the fronts of a trace; the nearest source."""
    arcs, depths = case.directed_arcs, []
    for source in case.sources:
        levels = full(al.bfs_levels(case.D, source), -1)
        verify.bfs_levels(arcs.indptr, arcs.columns, source, levels)
        verify.bfs_parents(arcs.indptr, arcs.columns, source, full(al.bfs_parents(case.D, source), -1), levels)
        trace = al.bfs_trace(case.D, source)
        equal(full(trace.levels, -1), levels)
        assert [step.frontier for step in trace.steps] == host(arcs.xp.bincount(levels[levels >= 0])).tolist()
        reached = host(levels >= 0)
        others = np.flatnonzero(reached)
        equal(host(al.descendants(case.D, source).to_coo()[0]), others[others != source])
        assert al.has_path(case.D, source, case.n - 1) == reached[-1]
        depths.append(np.where(reached, host(levels).astype(float), np.inf))
    if depths:
        least = np.min(depths, axis=0)
        equal(dense(al.bfs_levels(case.D, case.sources, nearest=True).dup(float), np.inf), least)
        equal(dense(al.bfs_levels(case.D, case.sources).dup(float), np.inf), depths)


@proves("sssp", "sssp_parents", "shortest_path_tree")
def distances(case: Case) -> None:
    """With weights: no edge improves a distance, every distance has an edge that gives it, along a tree."""
    arcs = arcs_of(case.V)
    xp = arcs.xp
    for source in case.sources:
        found = al.shortest_path_tree(case.V, source)
        distance = full(found.distance, -1)
        equal(full(al.sssp(case.V, source), -1), distance)
        near, far, reached = distance[arcs.rows], distance[arcs.columns], distance >= 0
        assert int(distance[source]) == 0
        assert not bool(((near >= 0) & ((far < 0) | (near + arcs.values < far))).any())
        parent = full(found.parent, -1)
        equal(parent >= 0, reached)
        tree = (parent[arcs.columns] == arcs.rows) & (near + arcs.values == far)
        led = xp.zeros(case.n, bool)
        led[arcs.columns[tree]] = True
        led[source] = True
        equal(led, reached)  # weights are positive: such parents lead to the source


@proves("widest_paths", "most_reliable_paths")
def widths(case: Case) -> None:
    """At every threshold that is tried, the vertices of at least that width are a component of the wide edges."""
    if not case.n:
        return
    source = case.sources[0]
    width = full(al.widest_paths(case.W, source), 0)
    for threshold in (1, 20, 50, 90, 97):
        label = full(al.connected_components(case.W.select(">=", threshold)), -1)
        equal(width >= threshold, label == label[source])
    # Probabilities that are all equal: the most reliable path has the fewest edges.
    levels = dense(al.bfs_levels(case.D, source).dup(float), np.inf)
    reliability = al.most_reliable_paths(case.D.apply("second", right=0.75), source)
    close(dense(reliability, 0.0), 0.75**levels, atol=0)


@proves("topological_order", "topological_generations", "longest_paths", "is_dag")
def orders_without_cycles(case: Case) -> None:
    """The edges to larger numbers have no cycle: each leads to a later generation, and to one that follows directly."""
    acyclic, weighted = case.A.select("triu", 1).new(), case.W.select("triu", 1).new()
    arcs = arcs_of(weighted)
    xp = arcs.xp
    assert al.is_dag(acyclic)
    assert al.is_dag(case.A) == (case.entries == 0)
    for found, step in ((al.topological_generations(acyclic), 1), (al.longest_paths(weighted), arcs.values)):
        length = full(found, -1)
        assert smallest(length) >= 0
        offered = length[arcs.rows] + step
        assert bool((offered <= length[arcs.columns]).all())
        led = length == 0
        led[arcs.columns[offered == length[arcs.columns]]] = True
        assert bool(led.all())
    order = full(al.topological_order(acyclic), -1)
    place = xp.full(case.n, -1)
    place[order] = xp.arange(case.n)
    assert smallest(place) >= 0
    assert bool((place[arcs.rows] < place[arcs.columns]).all())


@proves("shortest_path", "ancestors")
def routes(case: Case) -> None:
    """A path of edges whose weights sum to the distance; the ancestors are the descendants of the transpose."""
    for source in case.sources:
        distance = al.sssp(case.V, source).to_dict()
        target = max(distance, key=lambda v: (distance[v], v))
        route = al.shortest_path(case.V, source, target, weight=True)
        assert route is not None
        path = route.vertices
        assert (path[0], path[-1]) == (source, target)
        steps = list(pairwise(path))[:100]
        assert sum(case.V[u, v].value for u, v in steps) == distance[path[len(steps)]]
        assert al.ancestors(case.D.T, source).isequal(al.descendants(case.D, source))


@proves("diameter", "radius", entries=5_000_000)
def extents(case: Case) -> None:
    """Between the bounds that the levels from some vertices imply."""
    diameter, radius = al.diameter(case.A), al.radius(case.A)
    for source in case.sources:
        levels = dense(al.bfs_levels(case.A, source), -1)
        assert levels.max() <= diameter
        if (levels >= 0).all():
            assert radius <= levels.max()
            assert diameter <= 2 * radius


@proves("eccentricity", entries=400_000)
def eccentricities(case: Case) -> None:
    """Those of some vertices are their levels, which bound all others; the extremes are diameter and radius."""
    eccentricity = dense(al.eccentricity(case.A))
    for source in case.sources:
        levels = dense(al.bfs_levels(case.A, source), -1)
        depth, reached = int(levels.max()), levels >= 0
        assert eccentricity[source] == depth
        assert (eccentricity[reached] >= np.maximum(levels, depth - levels)[reached]).all()
        assert (eccentricity[reached] <= levels[reached] + depth).all()
    if case.n:
        assert (eccentricity.max(), eccentricity.min()) == (al.diameter(case.A), al.radius(case.A))


@proves("transitive_closure", "all_pairs", "number_of_walks", entries=6000)
def pairs(case: Case) -> None:
    """Rows are searches; walks are powers, modulo 2^64."""
    found, closed = al.all_pairs(case.V), al.transitive_closure(case.D, reflexive=True)
    for source in case.sources:
        assert found[source, :].new().isequal(al.sssp(case.V, source))
        assert closed[source, :].new().nvals == al.descendants(case.D, source).nvals + 1
    S = case.scipy_directed.astype(np.int64)
    walks, power = al.number_of_walks(case.D, 3), (S @ S @ S).tocsr()
    power.sum_duplicates()
    assert walks.nvals == power.nnz
    assert int(walks.reduce_scalar("plus").value or 0) == power.sum()


@proves("sssp", "bfs_levels", by="SciPy", entries=2_000_000)
def distances_of_scipy(case: Case) -> None:
    """Dijkstra's algorithm and a search."""
    csgraph = importlib.import_module("scipy.sparse.csgraph")
    for source in case.sources[:2]:
        close(
            dense(al.sssp(case.V, source).dup(float), np.inf),
            csgraph.dijkstra(case.scipy_weighted_directed, indices=source),
        )
        order = csgraph.breadth_first_order(case.scipy_directed, source, return_predecessors=False)
        assert np.flatnonzero(dense(al.bfs_levels(case.D, source), -1) >= 0).tolist() == sorted(order.tolist())


@proves("all_pairs", "transitive_closure", by="SciPy", entries=6000)
def pairs_of_scipy(case: Case) -> None:
    """Every distance."""
    csgraph = importlib.import_module("scipy.sparse.csgraph")
    expected = csgraph.shortest_path(case.scipy_weighted_directed)
    equal(host(al.all_pairs(case.V).dup(float).to_dense(np.inf)), expected)
    equal(host(al.transitive_closure(case.D, reflexive=True).to_dense(False)), np.isfinite(expected))


@proves("sssp", "bfs_levels", "descendants", "ancestors", by="igraph", entries=1_000_000)
def distances_of_igraph(case: Case) -> None:
    """Distances with and without weights; vertices reached in both directions."""
    for source in case.sources[:2]:
        g = case.igraph_directed
        close(dense(al.sssp(case.V, source).dup(float), np.inf), g.distances(source, weights="weight")[0])
        close(dense(al.bfs_levels(case.D, source).dup(float), np.inf), g.distances(source)[0])
        for function, mode in ((al.descendants, "out"), (al.ancestors, "in")):
            assert {source, *function(case.D, source).to_dict()} == set(g.subcomponent(source, mode))


@proves("eccentricity", "diameter", "radius", by="igraph", entries=100_000)
def extents_of_igraph(case: Case) -> None:
    """Eccentricities of every vertex."""
    theirs = np.array(case.igraph.eccentricity())
    equal(dense(al.eccentricity(case.A)), theirs)
    assert (al.diameter(case.A), al.radius(case.A)) == (theirs.max(initial=0), theirs.min() if case.n else 0)


@proves("widest_paths", by="SciPy", entries=1_000_000)
def widths_of_scipy(case: Case) -> None:
    """The least weight on the way in a maximum spanning tree."""
    if not case.n:
        return
    csgraph, S = importlib.import_module("scipy.sparse.csgraph"), case.scipy_weighted.copy()
    S.data = 1000.0 - S.data
    tree = csgraph.minimum_spanning_tree(S)
    source = case.sources[0]
    order, before = csgraph.breadth_first_order(tree, source, directed=False)
    tree = (tree + tree.T).tocoo()
    weight = dict(
        zip(zip(tree.row.tolist(), tree.col.tolist(), strict=True), (1000.0 - tree.data).tolist(), strict=True)
    )
    width = np.zeros(case.n)
    width[source] = np.inf
    for v in order[1:].tolist():
        width[v] = min(width[before[v]], weight[int(before[v]), v])
    found = dense(al.widest_paths(case.W, source).dup(float))
    found[source] = np.inf
    equal(found, width)


@proves("topological_generations", "longest_paths", "topological_order", "is_dag", by="NetworkX", entries=100_000)
def orders_of_networkx(case: Case) -> None:
    """Generations, and the longest path of all."""
    nx, sp = importlib.import_module("networkx"), importlib.import_module("scipy.sparse")
    G = nx.from_scipy_sparse_array(sp.triu(case.scipy_weighted, 1), create_using=nx.DiGraph)
    generation = dense(al.topological_generations(case.A.select("triu", 1)))
    for number, members in enumerate(nx.topological_generations(G)):
        assert (generation[list(members)] == number).all()
    longest = dense(al.longest_paths(case.W.select("triu", 1)))
    assert longest.max(initial=0) == (nx.dag_longest_path_length(G) if case.n else 0)


@proves("shortest_path", "has_path", "number_of_walks", "most_reliable_paths", by="NetworkX", entries=3000)
def routes_of_networkx(case: Case) -> None:
    """The lengths of paths; numbers of walks; products as sums of logarithms."""
    nx, G = importlib.import_module("networkx"), case.networkx_directed
    shares = case.V.apply("truediv", right=98.0).new()
    for source in case.sources:
        lengths = nx.single_source_dijkstra_path_length(G, source)
        for target in range(0, case.n, 1 + case.n // 10):
            path = al.shortest_path(case.V, source, target, weight=True)
            assert al.has_path(case.D, source, target) == nx.has_path(G, source, target) == (path is not None)
            if path is not None:
                assert nx.path_weight(G, path.vertices, "weight") == path.length == lengths[target]
        costs = nx.single_source_dijkstra_path_length(
            G, source, weight=lambda u, v, data: -np.log(data["weight"] / 98.0)
        )
        found = al.most_reliable_paths(shares, source).to_dict()
        assert found.keys() == costs.keys()
        close([found[v] for v in costs], np.exp(-np.array(list(costs.values()))), rtol=1e-9)
    if case.n <= 300:
        for u, row in nx.number_of_walks(G, 4).items() if case.n else ():
            mine = al.number_of_walks(case.D, 4)[u, :].to_dict() if u in case.sources else None
            assert mine is None or mine == {v: count for v, count in row.items() if count}
