"""Similarities, walks and samples, against igraph, NetworKit and NetworkX on the same graph.

``edges``: of the ends of every edge; ``best``: the ten most similar vertices of each.  All programs must agree on the
sum of the similarities of the ends of edges.  Of walks, which are random, all have the same number of steps.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import semiring as sr

from ..case import Run
from ..harness import Contender
from ..programs import (
    NETWORKX_ENTRIES,
    Functions,
    agreeing,
    edges_of,
    igraph_graph,
    make,
    measured,
    module,
    networkx_graph,
    options,
)

al = sr.algorithms
LENGTH, BEST = 10, 10
SEEDS, SIZES = 1024, (15, 10)

OPTIONS = options("kron12", "roads")


def functions(A: sr.Matrix, *, alone: bool) -> Functions:
    """The functions, and those of the programs that are installed."""
    starts = np.asarray(A.reduce_rowwise("count").to("cpu").to_coo()[0])  # those that have a neighbor
    some = np.random.default_rng(1).permutation(starts)[:SEEDS]

    def sum_of_edges(found: sr.Matrix) -> float:
        return float(found.select("offdiag").reduce_scalar("plus").get(0.0)) / 2

    def sampled(_: int, found: list[sr.Matrix]) -> None:
        assert [int(hop.reduce_rowwise("count").reduce("max")) <= size for hop, size in zip(found, SIZES, strict=True)]

    def within(_: int, found: sr.Matrix) -> None:
        assert float(found.reduce_scalar("max").get(0.0)) <= 1 + 1e-12
        assert int(found.reduce_rowwise("count").reduce("max").get(0)) <= BEST

    jaccard, adamic, walks, degrees = (agreeing() for _ in range(4))
    found = {
        "jaccard edges": {"ours": jaccard(lambda: al.jaccard(A, A), sum_of_edges)},
        "adamic-adar edges": {"ours": adamic(lambda: al.adamic_adar(A, A), sum_of_edges)},
        "cosine edges": {"ours": Contender(lambda _: al.cosine(A, A))},
        "jaccard best": {"ours": Contender(lambda _: al.jaccard(A, top=BEST), within)},
        "overlap best": {"ours": Contender(lambda _: al.overlap(A, top=BEST), within)},
        "walks": {"ours": walks(lambda: al.random_walks(A, starts, LENGTH), lambda W: W.nvals)},
        "node2vec walks": {"ours": Contender(lambda _: al.node2vec_walks(A, starts, LENGTH, p=0.5, q=2.0))},
        "sample": {"ours": Contender(lambda _: al.sample_neighbors(A, some, SIZES), sampled)},
        "degrees": {"ours": degrees(lambda: al.degree_statistics(A), lambda of: of.largest)},
    }
    if alone:
        if A.nvals > NETWORKX_ENTRIES:  # the products of all pairs are large
            del found["jaccard best"], found["overlap best"]
        return found
    edges = edges_of(A)
    pairs, listed = edges.tolist(), np.unique(edges).tolist()
    if (g := igraph_graph(A)) is not None:
        found["jaccard edges"]["igraph"] = jaccard(lambda: g.similarity_jaccard(pairs=pairs, loops=False), sum)
        found["walks"]["igraph"] = walks(
            lambda: [g.random_walk(start, LENGTH) for start in listed], lambda W: sum(map(len, W))
        )
        found["degrees"]["igraph"] = degrees(lambda: g.degree(), max)

    def total(found: Any) -> float:
        return float(sum(score for *_, score in found))

    if (nk := module("networkit")) is not None:
        n = nk.Graph(A.nrows)
        n.addEdges((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), checkMultiEdge=False)
        index = nk.linkprediction
        found["jaccard edges"]["NetworKit"] = jaccard(lambda: index.JaccardIndex(n).runOn(pairs), total)
        found["adamic-adar edges"]["NetworKit"] = adamic(lambda: index.AdamicAdarIndex(n).runOn(pairs), total)
    nx, G = networkx_graph(A)
    if nx is not None:
        found["jaccard edges"]["NetworkX"] = jaccard(lambda: list(nx.jaccard_coefficient(G, pairs)), total)
        found["adamic-adar edges"]["NetworkX"] = adamic(lambda: list(nx.adamic_adar_index(G, pairs)), total)
    return found


def main(run: Run) -> None:
    """The functions on each graph."""
    for name in run.options.graphs:
        measured(run, name, functions(make(name).apply("one").dup(bool), alone=run.on_gpu))
