"""Distances, widest paths and searches, against SciPy, igraph and NetworKit on the same graph.

    python -m benchmarks.algorithms.paths --graphs kron16 roads grid1000x1000 grid100x100x100 path1000000

``roads`` are those of New York; ``path<n>`` is a path of n vertices.  Weights are random integers from 1 to 255.
Distances are verified by their certificate (`benchmarks.checks.distances`) and compared between programs.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import semiring as sr
from benchmarks import arguments, checks, graphs
from benchmarks.harness import Contender, compare
from benchmarks.report import Peer, Report, timed

SOURCES = 4
# The sources of `bfs_levels_of_many` and of `sssp_of_many`, in one call.
MANY, FEWER = 64, 16
# The targets on an H200, in milliseconds.
BOUNDS = {
    ("sssp", "grid5000x5000"): 200.0,
    ("sssp", "grid300x300x300"): 60.0,
    ("sssp", "kron22"): 8.0,
    ("sssp", "kron24"): 35.0,
}
# igraph and NetworKit build their graphs from edge lists in Python.
LISTED_ENTRIES = 10_000_000

al = sr.algorithms


def make(name: str) -> sr.Matrix:
    """The graph of that name, with weights."""
    if name == "roads":
        A: sr.Matrix = sr.io.read(Path(sr.__file__).parent / "data" / "NY.gr.xz")
    elif name.startswith("path"):
        A = sr.random.grid2d(1, int(name.removeprefix("path")))
    else:
        A = graphs.make(name)
    indptr, indices = graphs.arrays(A)
    weights = graphs.module(A).random.default_rng(graphs.SEED).integers(1, 256, A.nvals, dtype=np.uint8)
    return sr.Matrix.from_csr(indptr, indices, weights, ncols=A.ncols)


OURS: dict[str, Callable[[sr.Matrix, int], Any]] = {
    "sssp": lambda A, s: al.sssp(A, s).wait(),
    "sssp_parents": lambda A, s: al.sssp_parents(A, s).wait(),
    "bfs_levels": lambda A, s: al.bfs_levels(A, s).wait(),
    "widest_paths": lambda A, s: al.widest_paths(A, s).wait(),
    "bfs_levels_of_many": lambda A, s: al.bfs_levels(A, several(A, s, MANY)).wait(),
    "sssp_of_many": lambda A, s: al.sssp(A, several(A, s, FEWER)).wait(),
}


def several(A: sr.Matrix, source: int, number: int) -> list[int]:
    """So many sources, of which this is the first."""
    return [source, *(s for s in graphs.sources(A, number) if s != source)][:number]


def others(A: sr.Matrix) -> dict[str, dict[str, Callable[[int], Any]]]:
    """The functions of other programs, by ours, on their own graphs."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order, dijkstra

    indptr, indices, weights = A.to_csr(index_dtype=None)
    S = csr_array((weights.astype(np.float64), indices, indptr), shape=A.shape)
    found: dict[str, dict[str, Callable[[int], Any]]] = {
        "SciPy": {
            "sssp": lambda s: dijkstra(S, indices=s),
            "sssp_parents": lambda s: dijkstra(S, indices=s, return_predecessors=True),
            "bfs_levels": lambda s: breadth_first_order(S, s, return_predecessors=False),
            "bfs_levels_of_many": lambda s: [
                breadth_first_order(S, one, return_predecessors=False) for one in several(A, s, MANY)
            ],
            "sssp_of_many": lambda s: dijkstra(S, indices=several(A, s, FEWER)),
        }
    }
    if A.nvals > LISTED_ENTRIES:
        return found
    if importlib.util.find_spec("igraph"):
        igraph: Any = importlib.import_module("igraph")
        rows, columns, _ = A.to_coo()
        g = igraph.Graph(n=A.nrows, edges=np.stack([rows, columns], 1), directed=True)
        g.es["weight"] = weights.tolist()
        found["igraph"] = {
            "sssp": lambda s: g.distances(s, weights="weight"),
            "bfs_levels": lambda s: g.distances(s),
        }
    if importlib.util.find_spec("networkit"):
        networkit: Any = importlib.import_module("networkit")
        rows, columns, _ = A.to_coo()
        edges = (weights.astype(np.float64), (rows.astype(np.uint64), columns.astype(np.uint64)))
        G = networkit.GraphFromCoo(edges, n=A.nrows, weighted=True, directed=True)
        found["NetworKit"] = {
            "sssp": lambda s: networkit.distance.Dijkstra(G, s, storePaths=False).run(),
            "bfs_levels": lambda s: networkit.distance.BFS(G, s, storePaths=False).run(),
        }
    return found


def measured(name: str, device: str, asked: list[str] | None, report: Report) -> None:
    """The rows of one graph."""
    A = make(name)
    sources = graphs.sources(A, SOURCES)
    peers = others(A) if device == "cpu" else {}
    verified = checks.distances(A)

    def same(source: int, result: Any) -> None:
        """The distances of another program, where it returns them as an array."""
        if isinstance(result, np.ndarray) and result.dtype == np.float64 and result.size == A.nrows:
            ours = al.sssp(A, source).dup(np.float64).to_dense(np.inf)
            np.testing.assert_array_equal(result, ours)

    def unchecked(source: int, result: Any) -> None:
        pass

    for what, call in OURS.items():
        if asked is not None and what not in asked:
            continue
        check = verified if what == "sssp" else unchecked
        contenders = {"ours": Contender(lambda s, call=call: call(A, s), check)}  # type: ignore[misc]
        for peer, functions in peers.items():
            if what in functions:
                contenders[peer] = Contender(functions[what], same)
        found = compare(contenders, sources, device)
        beside = tuple(Peer(p, found[p].median, samples=found[p].wall_ms) for p in found if p != "ours")
        bound = BOUNDS.get((what, name)) if device == "cuda" else None
        report.add(timed(f"{what} {name}", found["ours"], bound, peers=beside))


def main() -> int:
    """Run the measurements that the command line selects."""
    parser = arguments.parser("algorithms.paths", __doc__)
    usual = ("kron16", "roads", "grid1000x1000", "grid100x100x100", "path1000000")
    parser.add_argument("--graphs", nargs="*", default=usual, metavar="GRAPH")
    parser.add_argument("--functions", nargs="*", metavar="NAME", help="only these")
    asked = parser.parse_args()
    device = arguments.device_of(asked)
    with sr.use(device):
        report = Report("paths", device, asked.out)
        for name in asked.graphs:
            measured(name, device, asked.functions, report)
        report.close()
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
