"""Communities and label propagation, against igraph, NetworKit and NetworkX on the same graph.

``roads`` have their lengths.  Every result is verified: the modularity that is reported must be that of the labels.
Modularities are in the notes, as the methods of the programs differ.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import semiring as sr

from .. import graphs
from ..case import Run
from ..harness import Contender
from ..programs import edges_of, igraph_graph, measured, module, networkx_graph, options, roads, weights_of

# The targets on an H200, in milliseconds.
BOUNDS = {"cdlp kron20": 100.0}
# Seconds or minutes on more entries.
NETWORKX_ENTRIES, IGRAPH_ENTRIES = 200_000, 40_000_000
RUNS = 3

al = sr.algorithms

OPTIONS = options("kron16", "roads")
OURS: dict[str, Callable[[sr.Matrix], Any]] = {
    "cdlp": lambda A: al.label_propagation(A, method="synchronous").wait(),
    "label_propagation": lambda A: al.label_propagation(A).wait(),
    "louvain": al.louvain,
    "leiden": al.leiden,
    "ensemble_clustering": al.ensemble_clustering,
}


def make(name: str) -> sr.Matrix:
    """The graph of that name, undirected and without self-loops."""
    A = roads().dup("float64") if name == "roads" else graphs.make(name)
    both: sr.Matrix = A.ewise_add(A.T, "any").select("offdiag")
    return both


def others(A: sr.Matrix) -> dict[str, dict[str, Callable[[], Any]]]:
    """The functions of other programs, by ours, on their own graphs; each returns labels or a modularity."""
    weights, weighted = weights_of(A), not A.is_iso
    found: dict[str, dict[str, Callable[[], Any]]] = {}
    if (g := igraph_graph(A, most=IGRAPH_ENTRIES)) is not None:
        listed = weights.tolist() if weighted else None
        found["igraph"] = {
            "louvain": lambda: g.community_multilevel(listed).modularity,
            "leiden": lambda: g.modularity(
                g.community_leiden("modularity", weights=listed, n_iterations=2).membership, listed
            ),
            "label_propagation": lambda: g.modularity(g.community_label_propagation(listed).membership, listed),
        }
    if (nk := module("networkit")) is not None:
        edges = edges_of(A)
        h = nk.Graph(A.nrows, weighted=weighted)
        h.addEdges((weights, (edges[:, 0], edges[:, 1])) if weighted else (edges[:, 0], edges[:, 1]))

        def detected(algorithm: Any) -> float:
            return float(nk.community.Modularity().getQuality(algorithm.run().getPartition(), h))

        found["NetworKit"] = {
            "louvain": lambda: detected(nk.community.PLM(h, True)),
            "leiden": lambda: detected(nk.community.ParallelLeiden(h)),
            "label_propagation": lambda: detected(nk.community.PLP(h)),
        }
    nx, G = networkx_graph(A, weights, most=NETWORKX_ENTRIES)
    if nx is not None:
        found["NetworkX"] = {
            "louvain": lambda: nx.community.modularity(G, nx.community.louvain_communities(G, seed=1)),
        }
    return found


def modularity_of(A: sr.Matrix, result: Any) -> float:
    """The modularity of a result, which must be what it reports."""
    if isinstance(result, float):
        return result
    labels = result.labels if isinstance(result, al.Communities) else result
    found = al.modularity(A, labels)
    assert labels is result or abs(found - result.modularity) < 1e-6, (found, result.modularity)
    return found


def main(run: Run) -> None:
    """The functions on each graph."""
    for name in run.options.graphs:
        A = make(name)
        peers = {} if "all" in run.options.without else others(A)
        reached: dict[tuple[str, str], float] = {}

        def contender(program: str, what: str, call: Callable[[], Any]) -> Contender:
            def check(_: Any, result: Any) -> None:
                reached[what, program] = modularity_of(A, result)  # noqa: B023

            return Contender(lambda _: call(), check)

        functions = {}
        for what, ours in OURS.items():
            programs = {"ours": contender("ours", what, partial(ours, A))}
            programs |= {peer: contender(peer, what, calls[what]) for peer, calls in peers.items() if what in calls}
            functions[what] = programs

        def note(what: str) -> str:
            found = {program: q for (of, program), q in reached.items() if of == what}  # noqa: B023
            return "modularity " + ", ".join(f"{program} {q:.5f}" for program, q in found.items())

        measured(run, name, functions, range(RUNS), BOUNDS, note)
