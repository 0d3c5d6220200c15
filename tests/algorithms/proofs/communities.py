"""Communities: the quality that is returned is that of the labels, and the labels are what the method promises."""

from __future__ import annotations

import importlib
from contextlib import suppress
from typing import Any

import numpy as np

import semiring as sr
from semiring import Matrix, Vector
from semiring.exceptions import ConvergenceFailure

from . import proves
from .case import Arcs, Case, arcs_of, close, dense, equal, full, host
from .components import filled

al = sr.algorithms


def quality(arcs: Arcs, label: Any, weights: Any) -> float:
    """The modularity of labels of an undirected graph."""
    xp = arcs.xp
    if arcs.n == 0 or not int(arcs.columns.size):
        return float("nan")
    total, mass = float(weights.sum()), xp.bincount(arcs.rows, weights=weights, minlength=arcs.n)
    inside = float(weights[label[arcs.rows] == label[arcs.columns]].sum())
    return inside / total - float(((xp.bincount(label, weights=mass) / total) ** 2).sum())


@proves("louvain", "leiden", "modularity", "partition_quality", "coarsen")
def partitions(case: Case) -> None:
    """The modularity is recomputed; the communities of Leiden are connected; groups keep the weight of the edges."""
    if not case.entries:
        return
    arcs = arcs_of(case.W)
    weights = arcs.values.astype(np.float64)
    alone = quality(arcs, arcs.xp.arange(case.n), weights)
    for function in (al.louvain, al.leiden):
        found = function(case.W, seed=3)
        label = full(found.labels, -1)
        expected = quality(arcs, label, weights)
        close(found.modularity, expected, rtol=1e-7, atol=1e-9)
        close(al.modularity(case.W, found.labels), expected, rtol=1e-9, atol=1e-11)
        assert expected >= alone
        if function is al.leiden:
            first = full(_smallest(found.labels), -1)
            assert filled(case.A, first)
        same = label[arcs.rows] == label[arcs.columns]
        told = al.partition_quality(case.W, found.labels)
        assert (told.intra_edges, told.inter_edges) == (int(same.sum()) // 2, int((~same).sum()) // 2)
        assert told.groups == int(arcs.xp.unique(label).size)
        close(told.coverage, told.intra_edges / (case.entries // 2))
        groups = al.coarsen(case.W, found.labels)
        assert int(groups.reduce_scalar("plus").value) == int(arcs.values.sum())
        assert int(groups.diag().reduce("plus").get(0)) == int(arcs.values[same].sum())


@proves("ensemble_clustering", entries=100_000)
def ensembles(case: Case) -> None:
    """The modularity is that of the graph itself, recomputed; every vertex has a label."""
    if not case.entries:
        return
    arcs = arcs_of(case.W)
    found = al.ensemble_clustering(case.W, partitions=4, seed=3)
    label = full(found.labels, -1)
    assert int(label.min()) >= 0
    assert int(label.max()) < case.n
    close(found.modularity, quality(arcs, label, arcs.values.astype(np.float64)), rtol=1e-7, atol=1e-9)


def _smallest(labels: Vector) -> Vector:
    """Each label replaced by the smallest vertex that has it."""
    number = labels.apply("rowindex").new()
    return number.reduce_by(labels, "min", size=labels.size)[labels].new()


@proves("label_propagation")
def stable_labels(case: Case) -> None:
    """No label has more votes among the neighbors of a vertex than its own."""
    with suppress(ConvergenceFailure):
        label = full(al.label_propagation(case.A, seed=5), -1)
        arcs = case.arcs
        xp = arcs.xp
        keys, votes = xp.unique(arcs.rows.astype(np.int64) * case.n + label[arcs.columns], return_counts=True)
        most = xp.zeros(case.n, np.int64)
        xp.maximum.at(most, keys // max(case.n, 1), votes)
        own = xp.zeros(case.n, np.int64)
        mine = keys % max(case.n, 1) == label[keys // max(case.n, 1)]
        own[(keys // max(case.n, 1))[mine]] = votes[mine]
        equal(own, most)


@proves("label_propagation")
def votes(case: Case) -> None:
    """One iteration more: the most frequent label of the neighbors in both directions, of several the smallest."""
    before, after = (
        dense(al.label_propagation(case.D, method="synchronous", max_iter=iterations)).astype(np.int64)
        for iterations in (3, 4)
    )
    arcs = case.directed_arcs
    rows, columns = host(arcs.rows).astype(np.int64), host(arcs.columns).astype(np.int64)
    if case.directed:
        rows, columns = np.concatenate([rows, columns]), np.concatenate([columns, rows])
    keys, counts = np.unique(rows * max(case.n, 1) + before[columns], return_counts=True)
    voter, label = np.divmod(keys, max(case.n, 1))
    order = np.lexsort((label, -counts, voter))
    first = np.unique(voter[order], return_index=True)[1]
    expected = before.copy()
    expected[voter[order][first]] = label[order][first]
    equal(after, expected)


@proves("induced_subgraph", "ego_graph")
def subgraphs(case: Case) -> None:
    """SciPy-like slices of arrays."""
    if not case.n:
        return
    chosen = np.random.default_rng(2).permutation(case.n)[: min(case.n, 1000)]
    place = np.full(case.n, -1)
    place[chosen] = np.arange(chosen.size)
    arcs = arcs_of(case.V)
    rows, columns, values = place[host(arcs.rows)], place[host(arcs.columns)], host(arcs.values)
    kept = (rows >= 0) & (columns >= 0)
    found = al.induced_subgraph(case.V, chosen)
    assert found.isequal(Matrix.from_coo(rows[kept], columns[kept], values[kept], nrows=chosen.size, ncols=chosen.size))
    source = case.sources[0]
    distance, ego = al.ego_graph(case.V, source, 1)
    near = host(al.bfs_levels(case.D, source, max_depth=1).to_coo()[0])
    equal(host(distance.to_coo()[0]), near)
    assert ego.isequal(al.induced_subgraph(case.V, near))


@proves("markov_clustering", "peer_pressure", entries=300_000)
def clusters(case: Case) -> None:
    """Labels in the order of their smallest vertices, of which no two components share one."""
    component = dense(al.connected_components(case.A))
    for function in (al.markov_clustering, al.peer_pressure):
        with suppress(ConvergenceFailure):
            label = dense(function(case.A))
            numbers, first = np.unique(label, return_index=True)
            equal(numbers, np.arange(numbers.size))
            assert (np.diff(first) > 0).all()
            equal(component[first[label]], component)


@proves("modularity", "partition_quality", "louvain", "leiden", by="NetworkX", entries=40_000)
def qualities_of_networkx(case: Case) -> None:
    """Modularity, directed and not, with weights; coverage; a quality that is about as good."""
    nx = importlib.import_module("networkx")
    if not case.entries:
        return
    found = al.louvain(case.W)
    groups = _groups(dense(found.labels))
    close(found.modularity, nx.community.modularity(case.networkx, groups), rtol=1e-9, atol=1e-11)
    close(
        al.modularity(case.V, found.labels, directed=True, resolution=0.7),
        nx.community.modularity(case.networkx_directed, groups, resolution=0.7), rtol=1e-9, atol=1e-11,
    )  # fmt: skip
    told = al.partition_quality(case.W, found.labels)
    coverage, performance = nx.community.partition_quality(case.networkx, groups)
    close((told.coverage, told.performance), (coverage, performance))
    theirs = nx.community.modularity(case.networkx, nx.community.louvain_communities(case.networkx, seed=1))
    assert max(found.modularity, al.leiden(case.W).modularity) >= theirs - 0.03


def _groups(labels: Any) -> list[set[int]]:
    order = np.argsort(labels, kind="stable")
    return [set(part.tolist()) for part in np.split(order, np.flatnonzero(np.diff(labels[order])) + 1)]


@proves("modularity", "induced_subgraph", "ego_graph", "coarsen", by="igraph", entries=1_000_000)
def qualities_of_igraph(case: Case) -> None:
    """Modularity of the components of a few labels; subgraphs; contracted vertices."""
    if not case.entries:
        return
    labels = np.arange(case.n) % 7
    weights = case.igraph.es["weight"]
    close(
        al.modularity(case.W, Vector.from_dense(labels)),
        case.igraph.modularity(labels.tolist(), weights=weights),
        atol=1e-11,
    )
    chosen = list(range(0, case.n, 3))
    assert al.induced_subgraph(case.A, chosen).nvals == 2 * case.igraph.induced_subgraph(chosen).ecount()
    near = sorted(case.igraph.neighborhood(case.sources[0], order=2))
    distance, ego = al.ego_graph(case.A, case.sources[0], 2)
    equal(host(distance.to_coo()[0]), near)
    assert ego.nvals == 2 * case.igraph.induced_subgraph(near).ecount()
    g = case.igraph.copy()
    g.contract_vertices(labels.tolist())
    groups = al.coarsen(case.W, Vector.from_dense(labels))
    assert groups.select("offdiag").reduce_scalar("plus").get(0) == 2 * sum(
        e["weight"] for e in g.es if e.source != e.target
    )


@proves("louvain", "leiden", by="igraph", entries=1_000_000)
def communities_of_igraph(case: Case) -> None:
    """A modularity that is about as good as that of its methods."""
    if not case.entries:
        return
    weights = case.igraph.es["weight"]
    theirs = case.igraph.community_multilevel(weights=weights).modularity
    assert al.louvain(case.W).modularity >= theirs - 0.03
    assert al.leiden(case.W).modularity >= theirs - 0.02
