"""Sets, matchings, forests and flows: their defining properties, and certificates that none is larger."""

from __future__ import annotations

import importlib

import numpy as np

import semiring as sr

from . import proves
from .case import Case, arcs_of, dense, equal, full, host, largest, smallest
from .components import count

al = sr.algorithms


@proves("maximal_independent_set")
def independent_sets(case: Case) -> None:
    """No two neighbors are members, every other vertex has a neighbor that is."""
    arcs = case.arcs
    member = full(al.maximal_independent_set(case.A, seed=2), False)
    assert not bool((member[arcs.rows] & member[arcs.columns]).any())
    covered = member.copy()
    covered[arcs.rows[member[arcs.columns]]] = True
    assert bool(covered.all())


@proves("coloring", entries=50_000_000)
def colors(case: Case) -> None:
    """No edge has ends of one color; as many colors as the largest degree and one at most."""
    arcs, color = case.arcs, full(al.coloring(case.A), -1)
    assert bool((color[arcs.rows] != color[arcs.columns]).all())
    assert largest(color) <= largest(arcs.degree)
    assert smallest(color) >= 0


@proves("maximal_matching")
def matchings(case: Case) -> None:
    """Each is the mate of its mate, along an edge; every edge has a matched end; heavy ones by duality."""
    arcs = arcs_of(case.W)
    xp = arcs.xp
    for weighted in (False, True):
        mate = full(al.maximal_matching(case.W, weight=weighted), -1)
        matched = xp.flatnonzero(mate >= 0)
        equal(mate[mate[matched]], matched)
        chosen = mate[arcs.rows] == arcs.columns
        assert int(chosen.sum()) == int(matched.size)
        assert bool(((mate[arcs.rows] >= 0) | (mate[arcs.columns] >= 0)).all())
        if weighted:  # w(u, v) <= p(u) + p(v) for the weights p of the matched edges at the ends
            price = xp.zeros(case.n, arcs.values.dtype)
            price[arcs.rows[chosen]] = arcs.values[chosen]
            assert bool((arcs.values <= price[arcs.rows] + price[arcs.columns]).all())


@proves("minimum_spanning_forest")
def forests(case: Case) -> None:
    """For every weight, the edges up to it join what those of the graph join, and are as many as a forest has."""
    for maximum in (False, True):
        F = al.minimum_spanning_forest(case.W, maximum=maximum)
        assert F.isequal(case.W.dup(mask=F.S))
        for weight in (96, 90, 60, 30, 10, 3, 1):
            bound = 98 - weight if maximum else weight
            rule = ">=" if maximum else "<="
            part = F.select(rule, bound).new()
            joined = count(al.connected_components(case.W.select(rule, bound)))
            assert count(al.connected_components(part)) == joined == case.n - part.nvals // 2


@proves("maximum_bipartite_matching")
def bipartite_matchings(case: Case) -> None:
    """König: as many rows and columns as pairs cover every edge."""
    arcs = case.directed_arcs
    xp = arcs.xp
    mate = full(al.maximum_bipartite_matching(case.D), -1)
    pairs = mate >= 0
    columns = mate[pairs]
    assert int(xp.unique(columns).size) == int(columns.size)
    assert int((mate[arcs.rows] == arcs.columns).sum()) == int(columns.size)
    back = xp.full(case.n, -1, mate.dtype)
    back[columns] = xp.flatnonzero(pairs)
    # Rows and columns that alternating paths from unmatched rows reach.
    rows_reached, columns_reached = ~pairs, xp.zeros(case.n, bool)
    while True:
        columns_reached[arcs.columns[rows_reached[arcs.rows]]] = True
        more = rows_reached.copy()
        more[back[columns_reached & (back >= 0)]] = True
        assert not bool((columns_reached & (back < 0)).any()), "a longer matching exists"
        if bool((more == rows_reached).all()):
            break
        rows_reached = more
    assert int((~rows_reached).sum()) + int(columns_reached.sum()) == int(columns.size)
    assert bool((~rows_reached[arcs.rows] | columns_reached[arcs.columns]).all())


@proves("maximum_flow", entries=3_000_000)
def flows(case: Case) -> None:
    """No edge carries more than it can, vertices pass on what enters, and a cut has the value of the flow."""
    if case.n < 2 or not case.entries:
        return
    source = case.sources[0]
    levels = dense(al.bfs_levels(case.D, source), -1)
    target = int(levels.argmax())
    if target == source:
        return
    found = al.maximum_flow(case.V, source, target)
    arcs, flow = arcs_of(case.V), arcs_of(found.flow)
    assert found.flow.ewise_mult(case.V, "le").select("==", True).nvals == found.flow.nvals
    assert smallest(flow.values, 1) > 0
    out = host(flow.xp.bincount(flow.rows, weights=flow.values, minlength=case.n))
    into = host(flow.xp.bincount(flow.columns, weights=flow.values, minlength=case.n))
    net = out - into
    assert (net[source], net[target]) == (found.value, -found.value)
    net[[source, target]] = 0
    assert not net.any()
    side = full(found.source_side, False)
    assert bool(side[source])
    assert not bool(side[target])
    leaving = side[arcs.rows] & ~side[arcs.columns]
    assert int(arcs.values[leaving].sum()) == found.value


@proves("minimum_spanning_forest", "maximum_bipartite_matching", by="SciPy")
def sets_of_scipy(case: Case) -> None:
    """Weight of the forest, size of the matching."""
    csgraph = importlib.import_module("scipy.sparse.csgraph")
    theirs = csgraph.minimum_spanning_tree(case.scipy_weighted)
    found = al.minimum_spanning_forest(case.W)
    assert found.nvals == 2 * theirs.nnz
    assert int(found.reduce_scalar("plus").get(0)) == 2 * theirs.sum()
    if case.n:
        mate = csgraph.maximum_bipartite_matching(case.scipy_directed, perm_type="column")
        assert al.maximum_bipartite_matching(case.D).nvals == (mate >= 0).sum()


@proves("maximum_flow", by="SciPy", entries=400_000)
def flows_of_scipy(case: Case) -> None:
    """The value."""
    if case.n < 2 or not case.entries:
        return
    csgraph = importlib.import_module("scipy.sparse.csgraph")
    source, target = case.sources[0], (case.sources[0] + case.n // 2) % case.n
    if source == target:
        return
    theirs = csgraph.maximum_flow(case.scipy_weighted_directed.astype(np.int32), source, target).flow_value
    assert al.maximum_flow(case.V, source, target).value == theirs


@proves("maximum_flow", "minimum_spanning_forest", by="igraph", entries=400_000)
def sets_of_igraph(case: Case) -> None:
    """The value of a flow between two other vertices; the weight of a forest."""
    if case.n < 2 or not case.entries:
        return
    source, target = case.sources[-1], (case.sources[-1] + 1) % case.n
    g = case.igraph_directed
    assert al.maximum_flow(case.V, source, target).value == g.maxflow_value(source, target, capacity="weight")
    edges = case.igraph.spanning_tree(weights="weight", return_tree=False)
    assert int(al.minimum_spanning_forest(case.W).reduce_scalar("plus").get(0)) == 2 * sum(
        case.igraph.es[edges]["weight"]
    )


@proves("maximal_independent_set", "coloring", "maximal_matching", by="NetworkX", entries=6000)
def sets_of_networkx(case: Case) -> None:
    """Its checks of a maximal set and a maximal matching; half the weight of its heaviest matching."""
    nx = importlib.import_module("networkx")
    G = case.networkx
    members = set(al.maximal_independent_set(case.A).to_dict())
    assert not G.subgraph(members).edges
    assert not case.entries or nx.is_dominating_set(G, members)
    color = al.coloring(case.A).to_dict()
    assert all(color[u] != color[v] for u, v in G.edges)
    if case.entries:
        assert max(color.values()) <= max(nx.greedy_color(G).values()) + 3
    mate = al.maximal_matching(case.W, weight=True).to_dict()
    assert nx.is_maximal_matching(G, {(u, v) for u, v in mate.items() if u < v})
    if case.entries <= 1000:
        heaviest = sum(G[u][v]["weight"] for u, v in nx.max_weight_matching(G))
        assert 2 * sum(G[u][v]["weight"] for u, v in mate.items() if u < v) >= heaviest
