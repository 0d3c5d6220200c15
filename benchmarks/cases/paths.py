"""Distances, widest paths and searches, against SciPy, igraph and NetworKit on the same graph.

``path<n>`` is a path of n vertices.  Weights are random integers from 1 to 255.  Distances are verified by their
certificate (`benchmarks.checks.distances`) and compared between programs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import semiring as sr

from .. import checks, graphs
from ..case import Run
from ..harness import Contender, unchecked
from ..programs import Call, measured, module, options, roads

SOURCES = 4
# The sources of `bfs_levels_of_many` and of `sssp_of_many`, in one call.
MANY, FEWER = 64, 16
# The targets on an H200, in milliseconds.
BOUNDS = {"sssp grid5000x5000": 200.0, "sssp grid300x300x300": 60.0, "sssp kron22": 8.0, "sssp kron24": 35.0}
# igraph and NetworKit build their graphs from edge lists in Python.
LISTED_ENTRIES = 10_000_000

al = sr.algorithms

OPTIONS = options("kron16", "roads", "grid1000x1000", "grid100x100x100", "path1000000")
OURS: dict[str, Callable[[sr.Matrix, int], Any]] = {
    "sssp": lambda A, s: al.sssp(A, s).wait(),
    "sssp_parents": lambda A, s: al.sssp_parents(A, s).wait(),
    "bfs_levels": lambda A, s: al.bfs_levels(A, s).wait(),
    "widest_paths": lambda A, s: al.widest_paths(A, s).wait(),
    "bfs_levels_of_many": lambda A, s: al.bfs_levels(A, several(A, s, MANY)).wait(),
    "sssp_of_many": lambda A, s: al.sssp(A, several(A, s, FEWER)).wait(),
}


def make(name: str) -> sr.Matrix:
    """The graph of that name, with weights."""
    if name.startswith("path"):
        A = sr.random.grid2d(1, int(name.removeprefix("path")))
    else:
        A = roads() if name == "roads" else graphs.make(name)
    indptr, indices = graphs.arrays(A)
    weights = graphs.module(A).random.default_rng(graphs.SEED).integers(1, 256, A.nvals, dtype=np.uint8)
    return sr.Matrix.from_csr(indptr, indices, weights, ncols=A.ncols)


def several(A: sr.Matrix, source: int, number: int) -> list[int]:
    """So many sources, of which this is the first."""
    return [source, *(s for s in graphs.sources(A, number) if s != source)][:number]


def others(A: sr.Matrix) -> dict[str, dict[str, Call]]:
    """The functions of other programs, by ours, on their own graphs."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order, dijkstra

    indptr, indices, weights = A.to_csr(index_dtype=None)
    S = csr_array((weights.astype(np.float64), indices, indptr), shape=A.shape)
    found: dict[str, dict[str, Call]] = {
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
    rows, columns, _ = A.to_coo()
    if (igraph := module("igraph")) is not None:
        g = igraph.Graph(n=A.nrows, edges=np.stack([rows, columns], 1), directed=True)
        g.es["weight"] = weights.tolist()
        found["igraph"] = {
            "sssp": lambda s: g.distances(s, weights="weight"),
            "bfs_levels": lambda s: g.distances(s),
        }
    if (nk := module("networkit")) is not None:
        edges = (weights.astype(np.float64), (rows.astype(np.uint64), columns.astype(np.uint64)))
        G = nk.GraphFromCoo(edges, n=A.nrows, weighted=True, directed=True)
        found["NetworKit"] = {
            "sssp": lambda s: nk.distance.Dijkstra(G, s, storePaths=False).run(),
            "bfs_levels": lambda s: nk.distance.BFS(G, s, storePaths=False).run(),
        }
    return found


def main(run: Run) -> None:
    """The functions on each graph."""
    for name in run.options.graphs:
        A = make(name)
        peers = {} if run.on_gpu else others(A)

        def same(source: int, result: Any, A: sr.Matrix = A) -> None:
            """The distances of another program, where it returns them as an array."""
            if isinstance(result, np.ndarray) and result.dtype == np.float64 and result.size == A.nrows:
                np.testing.assert_array_equal(result, al.sssp(A, source).dup(np.float64).to_dense(np.inf))

        verified = checks.distances(A)
        functions = {}
        for what, call in OURS.items():
            ours = Contender(lambda s, call=call, A=A: call(A, s), verified if what == "sssp" else unchecked)  # type: ignore[misc]
            theirs = {peer: Contender(calls[what], same) for peer, calls in peers.items() if what in calls}
            functions[what] = {"ours": ours, **theirs}
        measured(run, name, functions, graphs.sources(A, SOURCES), BOUNDS)
