"""Spanning forests, independent sets, colorings, matchings and flows, against SciPy, igraph and NetworkX.

All programs must agree on the weight of the forest, the size of the bipartite matching and the value of the flow; of
independent sets, colorings and maximal matchings the defining property is verified.
"""

from __future__ import annotations

import numpy as np

import semiring as sr

from .. import graphs
from ..case import Run
from ..harness import Contender
from ..programs import Functions, agreeing, igraph_graph, measured, networkx_graph, options, roads, weights_of

al = sr.algorithms

OPTIONS = options("kron16w", "roads")


def make(name: str) -> sr.Matrix:
    """The graph of that name with symmetric weights."""
    A = roads() if name == "roads" else graphs.make(name)
    return A.ewise_add(A.T, "max").dup()


def terminals(A: sr.Matrix) -> tuple[int, int]:
    """The ends of the flow: the rows of the second largest and of the largest degree."""
    _, rows = A.apply("second", right=1).reduce_rowwise("plus").sort(">")
    return int(rows[1].value), int(rows[0].value)


def functions(A: sr.Matrix, *, alone: bool) -> Functions:
    """The functions, and those of the programs that are installed."""
    source, target = terminals(A)
    loops = A.diag().nvals

    def colors(_: int, found: sr.Vector) -> None:
        clash = found.ewise_mult(A, "first").ewise_mult(found, "eq").select("offdiag").select("==", True)
        assert clash.nvals == 0

    def independent(_: int, found: sr.Vector) -> None:
        assert found.ewise_mult(found.vxm(A, "any_pair"), "pair").nvals <= loops
        assert (found | found.vxm(A, "any_pair")).nvals == A.nrows

    def maximal(_: int, found: sr.Vector) -> None:
        free = sr.Vector.full(True, A.nrows, device=A.device).dup(mask=~found.S)
        assert free.ewise_mult(free.vxm(A, "any_pair"), "pair").nvals <= loops

    forest, matching, flow = (agreeing() for _ in range(3))
    found = {
        "spanning forest": {
            "ours": forest(lambda: al.minimum_spanning_forest(A), lambda F: float(F.dup(float).reduce_scalar()) / 2)
        },
        "independent set": {"ours": Contender(lambda _: al.maximal_independent_set(A), independent)},
        "coloring": {"ours": Contender(lambda _: al.coloring(A), colors)},
        "maximal matching": {"ours": Contender(lambda _: al.maximal_matching(A), maximal)},
        "heavy matching": {"ours": Contender(lambda _: al.maximal_matching(A, weight=True), maximal)},
        "bipartite matching": {"ours": matching(lambda: al.maximum_bipartite_matching(A), lambda M: M.nvals)},
        "flow": {"ours": flow(lambda: al.maximum_flow(A, source, target), lambda f: float(f.value))},
    }
    if alone:
        return found
    from scipy.sparse import csgraph, csr_array

    indptr, indices, values = A.to_csr(device="cpu")
    S = csr_array((values, indices, indptr), shape=A.shape)
    floats, integers = S.astype(np.float64), S.astype(np.int32)
    found["spanning forest"]["SciPy"] = forest(lambda: csgraph.minimum_spanning_tree(floats), lambda T: T.sum())
    found["bipartite matching"]["SciPy"] = matching(
        lambda: csgraph.maximum_bipartite_matching(S, perm_type="column"), lambda M: (M >= 0).sum()
    )
    found["flow"]["SciPy"] = flow(lambda: csgraph.maximum_flow(integers, source, target), lambda f: float(f.flow_value))
    weights = weights_of(A)
    if (g := igraph_graph(A)) is not None:
        found["spanning forest"]["igraph"] = forest(
            lambda: g.spanning_tree(weights=weights, return_tree=False), lambda T: weights[T].sum()
        )
        found["coloring"]["igraph"] = Contender(lambda _: g.vertex_coloring_greedy())
    nx, G = networkx_graph(A, weights)
    if nx is not None:
        found["spanning forest"]["NetworkX"] = forest(
            lambda: list(nx.minimum_spanning_edges(G, data=True)), lambda T: sum(data["weight"] for _, _, data in T)
        )
        found["independent set"]["NetworkX"] = Contender(lambda _: nx.maximal_independent_set(G, seed=1))
        found["coloring"]["NetworkX"] = Contender(lambda _: nx.greedy_color(G))
        found["maximal matching"]["NetworkX"] = Contender(lambda _: nx.maximal_matching(G))
    return found


def main(run: Run) -> None:
    """The functions on each graph."""
    for name in run.options.graphs:
        measured(run, name, functions(make(name), alone=run.on_gpu))
