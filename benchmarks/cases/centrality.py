"""Centralities against igraph, NetworKit and NetworkX on the same graph; betweenness for each source.

Each function of a peer runs once on the same sources as ours, and its result is compared with ours.  cuGraph's times
are recorded ones.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import semiring as sr

from .. import graphs
from ..case import Run
from ..harness import measure, unchecked
from ..programs import Call, edges_of, igraph_graph, make, module, networkx_graph, options, roads, weights_of

RUNS = 3
# Sources of a batch of ours, and of a peer, which searches one after the other.
SOURCES = {"cpu": 64, "cuda": 128}
WEIGHTED_SOURCES = 16
PEER_SOURCES = 8
NETWORKX_SOURCES = 1
# The targets on an H200 in milliseconds: for a source of betweenness, and for all vertices of kron16.
BOUNDS = {
    "betweenness kron20": 4.0,
    "betweenness kron22": 16.0,
    "betweenness kron24": 50.0,
    "closeness kron16": 20_000.0,
}
# cuGraph, milliseconds a source on an H200.
RECORDED = {"betweenness kron20": 8.3, "betweenness kron22": 32.5, "betweenness kron24": 101.0}

al = sr.algorithms

OPTIONS = options("kron16", "roads")


def weighted(name: str, A: sr.Matrix) -> sr.Matrix:
    """The same graph with the lengths of roads, or with weights from 1 to 255."""
    if name == "roads":
        return roads().dup(np.int64)
    weight = sr.indexunary.register_anonymous("1 + (7919 * min(i, j) + 104729 * max(i, j)) % 255", "weight")
    return A.apply(weight).dup(np.int64)


def ours(A: sr.Matrix, W: sr.Matrix, device: str) -> dict[str, tuple[Call, int]]:
    """Our calls for a list of sources, and how many sources a call has; 0: the call has none."""
    many = SOURCES[device]
    everyone = device == "cuda" and A.nrows <= 2**16
    return {
        "betweenness": (lambda s: al.betweenness_centrality(A, sources=s, normalized=False), many),
        "edge_betweenness": (lambda s: al.edge_betweenness_centrality(A, sources=s, normalized=False), many),
        "weighted betweenness": (
            lambda s: al.betweenness_centrality(W, sources=s, weight=True, normalized=False),
            WEIGHTED_SOURCES,
        ),
        "weighted edge_betweenness": (
            lambda s: al.edge_betweenness_centrality(W, sources=s, weight=True, normalized=False),
            many,
        ),
        "closeness": (
            (lambda _: al.closeness_centrality(A), 0)
            if everyone
            else (lambda s: al.closeness_centrality(A, s, wf_improved=False), 64)
        ),
        "pagerank": (lambda _: al.pagerank(A, tol=1e-10), 0),
        "pagerank of 64 seeds": (
            lambda s: al.pagerank(A, personalization=sr.Matrix.from_coo(np.arange(64), s, shape=(64, A.nrows))),
            64,
        ),
        "eigenvector_centrality": (lambda _: al.eigenvector_centrality(A, tol=1e-9, max_iter=1000), 0),
        "katz_centrality": (lambda _: al.katz_centrality(A, 1e-5), 0),
        "hits": (lambda _: al.hits(A, tol=1e-6, max_iter=1000), 0),
        "degree_centrality": (lambda _: al.degree_centrality(A), 0),
    }


def others(A: sr.Matrix, W: sr.Matrix) -> dict[str, dict[str, tuple[Call, int]]]:
    """The functions of other programs by ours, as `ours`, on their own graphs; results are arrays by vertex."""
    found: dict[str, dict[str, tuple[Call, int]]] = {}
    if (g := igraph_graph(A)) is not None:
        lengths = weights_of(W).tolist()
        found["igraph"] = {
            "betweenness": (lambda s: g.betweenness(sources=s), PEER_SOURCES),
            "edge_betweenness": (lambda s: g.edge_betweenness(sources=s), PEER_SOURCES),
            "weighted betweenness": (lambda s: g.betweenness(sources=s, weights=lengths), PEER_SOURCES),
            "weighted edge_betweenness": (lambda s: g.edge_betweenness(sources=s, weights=lengths), PEER_SOURCES),
            "closeness": (lambda s: g.closeness(s), PEER_SOURCES),
            "pagerank": (lambda _: g.pagerank(), 0),
            "eigenvector_centrality": (lambda _: g.eigenvector_centrality(scale=False), 0),
            "degree_centrality": (lambda _: np.array(g.degree()) / (A.nrows - 1), 0),
        }
    if (nk := module("networkit")) is not None:
        nk.setNumberOfThreads(2)
        edges = edges_of(A)
        h = nk.GraphFromCoo((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), n=A.nrows, directed=False)
        found["NetworKit"] = {
            "pagerank": (lambda _: nk.centrality.PageRank(h, tol=1e-10).run().scores(), 0),
            "katz_centrality": (lambda _: nk.centrality.KatzCentrality(h, 1e-5).run().scores(), 0),
            "eigenvector_centrality": (lambda _: nk.centrality.EigenvectorCentrality(h).run().scores(), 0),
        }
    nx, G = networkx_graph(A)
    if nx is not None:
        found["NetworkX"] = {
            "betweenness": (lambda s: nx.betweenness_centrality_subset(G, s, list(G)), NETWORKX_SOURCES),
            "closeness": (
                lambda s: [nx.closeness_centrality(G, u, wf_improved=False) for u in s],
                NETWORKX_SOURCES,
            ),
            "pagerank": (lambda _: nx.pagerank(G), 0),
            "degree_centrality": (lambda _: nx.degree_centrality(G), 0),
        }
    return found


def _compared(what: str, call: Call, sources: list[int], _: int, theirs: Any) -> None:
    """AssertionError if a peer has other values of betweenness or closeness for the same sources."""
    values = np.array(list(theirs.values()) if isinstance(theirs, dict) else theirs, np.float64)
    if what in ("betweenness", "weighted betweenness"):
        np.testing.assert_allclose(call(sources).to_numpy(), values, rtol=1e-6, atol=1e-6 * values.max())
    elif what == "closeness":
        mine = call(sources).to_dict()
        np.testing.assert_allclose([mine[s] for s in sources], np.nan_to_num(values), rtol=1e-9)


def _run(call: Call, sources: list[int], _: int) -> Any:
    made = call(sources)
    return made.wait() if hasattr(made, "wait") else made


def main(run: Run) -> None:
    """The functions on each graph."""
    for name in run.options.graphs:
        A = make(name)
        assert A.is_symmetric_structure
        drawn = list(dict.fromkeys(graphs.sources(A, 1024)))  # distinct
        W = weighted(name, A)
        peers = {} if run.on_gpu or "all" in run.options.without else others(A, W)
        for what, (call, many) in ours(A, W, run.device).items():
            if run.options.functions and not {what, what.split()[0]} & set(run.options.functions):
                continue
            if name == "roads" and what in ("eigenvector_centrality", "hits"):
                continue  # the second eigenvalue is so near that iterations do not end
            label, mine = f"{what} {name}", partial(_run, call, drawn[:many])
            found = {"ours": measure(mine, unchecked, range(RUNS), run.device).divided(max(many, 1))}
            for peer, calls in peers.items():
                if what in calls and peer not in run.options.without:
                    theirs, few = calls[what]
                    compared = partial(_compared, what, call, drawn[:few])
                    once = measure(partial(_run, theirs, drawn[:few]), compared, [0], run.device)
                    found[peer] = once.divided(max(few, 1))
            recorded = [("cuGraph", RECORDED[label])] if run.on_gpu and label in RECORDED else []
            note = f"a source, of {many}" if many else "all vertices"
            run.timed(label, found, BOUNDS.get(label) if run.on_gpu else None, note, recorded)
