"""Spanning forests, independent sets, colorings, matchings and flows, against SciPy, igraph and NetworkX.

    python -m benchmarks.algorithms.sets --graphs kron16w roads

All programs must agree on the weight of the forest, the size of the bipartite matching and the value of the flow; of
independent sets, colorings and maximal matchings the defining property is verified.
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


def ours(A: sr.Matrix) -> Calls:
    """The functions, with no peers."""
    source, target = terminals(A)

    def colors(found: sr.Vector) -> float:
        clash = found.ewise_mult(A, "first").ewise_mult(found, "eq").select("offdiag").select("==", True)
        assert clash.nvals == 0
        return 0.0

    def independent(found: sr.Vector) -> float:
        assert found.ewise_mult(found.vxm(A, "any_pair"), "pair").nvals <= loops(A)
        assert (found | found.vxm(A, "any_pair")).nvals == A.nrows
        return 0.0

    def maximal(found: sr.Vector) -> float:
        free = sr.Vector.full(True, A.nrows, device=A.device).dup(mask=~found.S)
        assert free.ewise_mult(free.vxm(A, "any_pair"), "pair").nvals <= loops(A)
        return 0.0

    return {
        "spanning forest": {
            "ours": (lambda: al.minimum_spanning_forest(A), lambda found: float(found.dup(float).reduce_scalar()) / 2)
        },
        "independent set": {"ours": (lambda: al.maximal_independent_set(A), independent)},
        "coloring": {"ours": (lambda: al.coloring(A), colors)},
        "maximal matching": {"ours": (lambda: al.maximal_matching(A), maximal)},
        "heavy matching": {"ours": (lambda: al.maximal_matching(A, weight=True), maximal)},
        "bipartite matching": {"ours": (lambda: al.maximum_bipartite_matching(A), lambda found: found.nvals)},
        "flow": {"ours": (lambda: al.maximum_flow(A, source, target), lambda found: float(found.value))},
    }


def terminals(A: sr.Matrix) -> tuple[int, int]:
    """The ends of the flow: the rows of the second largest and of the largest degree."""
    _, rows = A.apply("second", right=1).reduce_rowwise("plus").sort(">")
    return int(rows[1].value), int(rows[0].value)


def loops(A: sr.Matrix) -> int:
    """The number of self-loops."""
    return A.diag().nvals


def with_peers(A: sr.Matrix) -> Calls:
    """The functions, and those of the programs that are installed."""
    calls = ours(A)
    indptr, indices, values = A.to_csr(device="cpu")
    source, target = terminals(A)
    if importlib.util.find_spec("scipy"):
        from scipy.sparse import csgraph, csr_array

        S = csr_array((values, indices, indptr), shape=A.shape)
        floats, integers = S.astype(np.float64), S.astype(np.int32)
        calls["spanning forest"]["SciPy"] = lambda: csgraph.minimum_spanning_tree(floats), lambda found: found.sum()
        calls["bipartite matching"]["SciPy"] = (
            lambda: csgraph.maximum_bipartite_matching(S, perm_type="column"),
            lambda found: (found >= 0).sum(),
        )
        calls["flow"]["SciPy"] = (
            lambda: csgraph.maximum_flow(integers, source, target),
            lambda found: float(found.flow_value),
        )
    edges = edges_of(A)
    weights = np.asarray(A.select("tril", -1).to_coo(device="cpu")[2], np.float64)
    if importlib.util.find_spec("igraph"):
        igraph: Any = importlib.import_module("igraph")

        g = igraph.Graph(n=A.nrows, edges=edges)
        calls["spanning forest"]["igraph"] = (
            lambda: g.spanning_tree(weights=weights, return_tree=False),
            lambda found: weights[found].sum(),
        )
        calls["coloring"]["igraph"] = g.vertex_coloring_greedy, lambda found: 0.0
    if importlib.util.find_spec("networkx") and A.nvals <= NETWORKX_ENTRIES:
        nx: Any = importlib.import_module("networkx")

        G = nx.Graph()
        G.add_nodes_from(range(A.nrows))
        G.add_weighted_edges_from(zip(*edges.T.tolist(), weights.tolist(), strict=True))
        calls["spanning forest"]["NetworkX"] = (
            lambda: list(nx.minimum_spanning_edges(G, data=True)),
            lambda found: sum(data["weight"] for _, _, data in found),
        )
        calls["independent set"]["NetworkX"] = lambda: nx.maximal_independent_set(G, seed=1), lambda found: 0.0
        calls["coloring"]["NetworkX"] = lambda: nx.greedy_color(G), lambda found: 0.0
        calls["maximal matching"]["NetworkX"] = lambda: nx.maximal_matching(G), lambda found: 0.0
    return calls


def on_gpu(A: sr.Matrix) -> Calls:
    """The functions alone."""
    return ours(A)


if __name__ == "__main__":
    sys.exit(run("sets", __doc__, ("kron16w", "roads"), {"cpu": with_peers, "cuda": on_gpu}))
