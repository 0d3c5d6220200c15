"""Triangles, clustering, cores and trusses, against igraph and NetworkX on the same graph, whose results must agree."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import semiring as sr

from ..case import Run
from ..harness import Contender
from ..programs import Functions, agreeing, igraph_graph, make, measured, networkx_graph, options

RUNS = 3
# The targets on an H200, in milliseconds.
BOUNDS = {"lcc kron20": 100.0}
# NetworkX takes minutes where the squares of the degrees sum to more: for triangles, and for each step of a truss and
# the squares at a vertex.
TRIANGLES, SQUARES = 100_000_000, 10_000_000

al = sr.algorithms

OPTIONS = options("kron16", "roads")
OURS: dict[str, Callable[[sr.Matrix], Any]] = {
    "triangle_count": al.triangle_count,
    "triangles": al.triangles,
    "edge_triangles": lambda A: al.edge_triangles(A).wait(),
    "clustering": al.clustering,
    "lcc": partial(al.clustering, method="graphalytics"),
    "transitivity": al.transitivity,
    "triangle_centrality": al.triangle_centrality,
    "core_numbers": al.core_numbers,
    "k_core 3": lambda A: al.k_core(A, 3),
    "k_truss 4": lambda A: al.k_truss(A, 4),
    "rich_club": al.rich_club,
    "truss_numbers": al.truss_numbers,
    "square_clustering": al.square_clustering,
}


def others(A: sr.Matrix) -> dict[str, dict[str, Callable[[], Any]]]:
    """The functions of igraph and NetworkX, by ours, on their own graphs."""
    found: dict[str, dict[str, Callable[[], Any]]] = {}
    if (g := igraph_graph(A)) is not None:
        found["igraph"] = {
            "triangle_count": lambda: len(g.list_triangles()),
            "clustering": lambda: g.transitivity_local_undirected(mode="zero"),
            "lcc": lambda: g.transitivity_local_undirected(mode="zero"),
            "transitivity": g.transitivity_undirected,
            "core_numbers": g.coreness,
        }
    nx, G = networkx_graph(A)
    if nx is not None:
        found["NetworkX"] = {
            "core_numbers": lambda: list(nx.core_number(G).values()),
            "k_core 3": lambda: nx.k_core(G, 3).number_of_edges(),
            "rich_club": lambda: list(nx.rich_club_coefficient(G, normalized=False).values()),
        }
        products = int(A.reduce_rowwise(sr.agg.count).reduce(sr.agg.sum_of_squares).get(0))
        if products <= TRIANGLES:
            found["NetworkX"]["triangles"] = lambda: list(nx.triangles(G).values())
            found["NetworkX"]["clustering"] = lambda: list(nx.clustering(G).values())
        if products <= SQUARES:
            found["NetworkX"]["k_truss 4"] = lambda: nx.k_truss(G, 4).number_of_edges()
            found["NetworkX"]["square_clustering"] = lambda: list(nx.square_clustering(G).values())
    return found


def plain(result: Any) -> Any:
    """A result as numbers: the values of a Vector, the number of edges of a Matrix."""
    if isinstance(result, sr.Matrix):
        return result.nvals // 2
    return result.to_coo(device="cpu")[1] if isinstance(result, sr.Vector) else result


def functions(A: sr.Matrix, *, alone: bool) -> Functions:
    """The functions, and those of the other programs."""
    peers = {} if alone else others(A)

    def contenders(what: str) -> dict[str, Contender]:
        same = agreeing(plain)
        theirs = {peer: same(calls[what]) for peer, calls in peers.items() if what in calls}
        return {"ours": same(lambda: OURS[what](A)), **theirs}

    return {what: contenders(what) for what in OURS}


def main(run: Run) -> None:
    """The functions on each graph."""
    for name in run.options.graphs:
        A = make(name)
        assert A.is_symmetric_structure
        measured(run, name, functions(A, alone=run.on_gpu), range(RUNS), BOUNDS)
