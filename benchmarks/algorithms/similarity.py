"""Similarities, walks and samples, against igraph, NetworKit and NetworkX on the same graph.

    python -m benchmarks.algorithms.similarity --graphs kron12 roads

``edges``: of the ends of every edge; ``best``: the ten most similar vertices of each.  All programs must agree on the
sum of the similarities of the ends of edges.  Of walks, which are random, all have the same number of steps.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from typing import Any

import numpy as np

import semiring as sr
from benchmarks.algorithms.components import NETWORKX_ENTRIES, Calls, edges_of, run

al = sr.algorithms
LENGTH = 10
BEST = 10
SEEDS, SIZES = 1024, (15, 10)


def ours(A: sr.Matrix) -> Calls:
    """The functions, with no peers."""
    A = A.apply("one").dup(bool)
    degree = A.reduce_rowwise("count")
    starts = np.asarray(degree.to("cpu").to_coo()[0])  # those that have a neighbor
    some = np.random.default_rng(1).permutation(starts)[:SEEDS]

    def sum_of_edges(found: sr.Matrix) -> float:
        return float(found.select("offdiag").reduce_scalar("plus").get(0.0)) / 2

    def sampled(found: list[sr.Matrix]) -> float:
        assert [int(hop.reduce_rowwise("count").reduce("max")) <= size for hop, size in zip(found, SIZES, strict=True)]
        return 0.0

    def within(found: sr.Matrix) -> float:
        assert float(found.reduce_scalar("max").get(0.0)) <= 1 + 1e-12
        assert int(found.reduce_rowwise("count").reduce("max").get(0)) <= BEST
        return 0.0

    return {
        "jaccard edges": {"ours": (lambda: al.jaccard(A, A), sum_of_edges)},
        "adamic-adar edges": {"ours": (lambda: al.adamic_adar(A, A), sum_of_edges)},
        "cosine edges": {"ours": (lambda: al.cosine(A, A), sum_of_edges)},
        "jaccard best": {"ours": (lambda: al.jaccard(A, top=BEST), within)},
        "overlap best": {"ours": (lambda: al.overlap(A, top=BEST), within)},
        "walks": {"ours": (lambda: al.random_walks(A, starts, LENGTH), lambda found: found.nvals)},
        "node2vec walks": {
            "ours": (lambda: al.node2vec_walks(A, starts, LENGTH, p=0.5, q=2.0), lambda found: found.nvals)
        },
        "sample": {"ours": (lambda: al.sample_neighbors(A, some, SIZES), sampled)},
        "degrees": {"ours": (lambda: al.degree_statistics(A), lambda found: found.largest)},
    }


def with_peers(A: sr.Matrix) -> Calls:
    """The functions, and those of the programs that are installed."""
    calls = ours(A)
    edges = edges_of(A)
    pairs = edges.tolist()
    starts = np.unique(edges).tolist()
    if importlib.util.find_spec("igraph"):
        igraph: Any = importlib.import_module("igraph")

        g = igraph.Graph(n=A.nrows, edges=edges)
        calls["jaccard edges"]["igraph"] = lambda: g.similarity_jaccard(pairs=pairs, loops=False), sum
        calls["walks"]["igraph"] = (
            lambda: [g.random_walk(start, LENGTH) for start in starts],
            lambda found: sum(map(len, found)),
        )
        calls["degrees"]["igraph"] = lambda: g.degree(), max
    if importlib.util.find_spec("networkit"):
        networkit: Any = importlib.import_module("networkit")

        n = networkit.Graph(A.nrows)
        n.addEdges((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), checkMultiEdge=False)

        def scores(index: Any) -> Any:
            return lambda: index(n).runOn(pairs)

        def total(found: Any) -> float:
            return float(sum(score for _, score in found))

        calls["jaccard edges"]["NetworKit"] = scores(networkit.linkprediction.JaccardIndex), total
        calls["adamic-adar edges"]["NetworKit"] = scores(networkit.linkprediction.AdamicAdarIndex), total
    if importlib.util.find_spec("networkx") and A.nvals <= NETWORKX_ENTRIES:
        nx: Any = importlib.import_module("networkx")

        G = nx.Graph()
        G.add_nodes_from(range(A.nrows))
        G.add_edges_from(pairs)

        def last(found: list[tuple[int, int, float]]) -> float:
            return sum(value for _, _, value in found)

        calls["jaccard edges"]["NetworkX"] = lambda: list(nx.jaccard_coefficient(G, pairs)), last
        calls["adamic-adar edges"]["NetworkX"] = lambda: list(nx.adamic_adar_index(G, pairs)), last
    return calls


def on_gpu(A: sr.Matrix) -> Calls:
    """The functions alone; the best of every pair only of graphs whose products are small."""
    calls: dict[str, Any] = ours(A)
    if A.nvals > NETWORKX_ENTRIES:
        del calls["jaccard best"], calls["overlap best"]
    return calls


if __name__ == "__main__":
    sys.exit(run("similarity", __doc__, ("kron12", "roads"), {"cpu": with_peers, "cuda": on_gpu}))
