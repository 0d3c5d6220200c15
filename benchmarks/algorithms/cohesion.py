"""Triangles, clustering, cores and trusses, against igraph and NetworkX on the same graph.

    python -m benchmarks.algorithms.cohesion --graphs kron16 roads

``roads`` are those of New York, without directions.  Results are compared with those of the other programs, and where
there is none with each other: three times the triangles, the largest core.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import semiring as sr
from benchmarks import arguments, graphs
from benchmarks.harness import Contender, compare
from benchmarks.report import Peer, Report, timed

RUNS = 3
# The targets on an H200, in milliseconds.
BOUNDS = {("lcc", "kron20"): 100.0}
# NetworkX takes minutes on more entries, or where the squares of the degrees sum to more: for triangles, and for each
# step of a truss and the squares at a vertex.
NETWORKX_ENTRIES, TRIANGLES, SQUARES = 2_500_000, 100_000_000, 10_000_000

al = sr.algorithms


def make(name: str) -> sr.Matrix:
    """The graph of that name."""
    if name != "roads":
        return graphs.make(name)
    roads: sr.Matrix = sr.io.read(Path(sr.__file__).parent / "data" / "NY.gr.xz")
    return roads.apply("one").dup(bool)


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
    rows, columns, _ = A.select("tril", -1).to_coo()
    edges = np.stack([rows, columns], 1)
    found: dict[str, dict[str, Callable[[], Any]]] = {}
    if importlib.util.find_spec("igraph"):
        igraph: Any = importlib.import_module("igraph")
        g = igraph.Graph(n=A.nrows, edges=edges)
        found["igraph"] = {
            "triangle_count": lambda: len(g.list_triangles()),
            "clustering": lambda: g.transitivity_local_undirected(mode="zero"),
            "lcc": lambda: g.transitivity_local_undirected(mode="zero"),
            "transitivity": g.transitivity_undirected,
            "core_numbers": g.coreness,
        }
    if importlib.util.find_spec("networkx") and A.nvals <= NETWORKX_ENTRIES:
        import networkx as nx

        G = nx.Graph()
        G.add_nodes_from(range(A.nrows))
        G.add_edges_from(edges.tolist())
        found["NetworkX"] = {
            "core_numbers": lambda: list(nx.core_number(G).values()),
            "k_core 3": lambda: nx.k_core(G, 3).number_of_edges(),
            "rich_club": lambda: list(nx.rich_club_coefficient(G, normalized=False).values()),
        }
        degree = A.reduce_rowwise(sr.agg.count)
        products = int(degree.reduce(sr.agg.sum_of_squares).get(0))
        if products <= TRIANGLES:
            found["NetworkX"] |= {
                "triangles": lambda: list(nx.triangles(G).values()),
                "clustering": lambda: list(nx.clustering(G).values()),
            }
        if products <= SQUARES:
            found["NetworkX"] |= {
                "k_truss 4": lambda: nx.k_truss(G, 4).number_of_edges(),
                "square_clustering": lambda: list(nx.square_clustering(G).values()),
            }
    return found


def plain(result: Any) -> Any:
    """A result as numbers: the values of a Vector, the number of edges of a Matrix."""
    if isinstance(result, sr.Matrix):
        return result.nvals // 2
    return result.to_coo(device="cpu")[1] if isinstance(result, sr.Vector) else result


def measured(name: str, device: str, asked: list[str] | None, without: list[str], report: Report) -> None:
    """The rows of one graph."""
    A = make(name)
    assert A.is_symmetric_structure
    peers = {peer: calls for peer, calls in others(A).items() if peer not in without} if device == "cpu" else {}
    for what, call in OURS.items():
        if asked is not None and what.split()[0] not in asked:
            continue
        known: list[Any] = []

        def check(_: int, result: Any, known: list[Any] = known) -> None:
            """All programs agree."""
            known.append(plain(result))
            np.testing.assert_allclose(known[-1], known[0], rtol=1e-9)

        contenders = {"ours": Contender(lambda _, call=call: call(A), check)}  # type: ignore[misc]
        for peer, functions in peers.items():
            if what in functions:
                contenders[peer] = Contender(lambda _, other=functions[what]: other(), check)  # type: ignore[misc]
        found = compare(contenders, range(RUNS), device)
        beside = tuple(Peer(p, found[p].median, samples=found[p].wall_ms) for p in found if p != "ours")
        bound = BOUNDS.get((what, name)) if device == "cuda" else None
        report.add(timed(f"{what} {name}", found["ours"], bound, peers=beside))


def main() -> int:
    """Run the measurements that the command line selects."""
    parser = arguments.parser("algorithms.cohesion", __doc__)
    parser.add_argument("--graphs", nargs="*", default=("kron16", "roads"), metavar="GRAPH")
    parser.add_argument("--functions", nargs="*", metavar="NAME", help="only these")
    parser.add_argument("--without", nargs="*", default=[], metavar="PROGRAM", help="leave these programs out")
    asked = parser.parse_args()
    device = arguments.device_of(asked)
    with sr.use(device):
        report = Report("cohesion", device, asked.out)
        for name in asked.graphs:
            measured(name, device, asked.functions, asked.without, report)
        report.close()
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
