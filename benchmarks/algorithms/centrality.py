"""Centralities against igraph, NetworKit and NetworkX on the same graph; betweenness for each source.

    python -m benchmarks.algorithms.centrality --graphs kron16 roads
    python -m benchmarks.algorithms.centrality --device cuda --graphs kron20 kron22 --functions betweenness

``roads`` are those of New York, without directions.  Each function of a peer runs once on the same sources as ours, and
its result is compared with ours.  cuGraph's times are recorded ones.
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
from benchmarks.harness import measure
from benchmarks.report import Peer, Report, timed

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


def make(name: str) -> sr.Matrix:
    """The graph of that name."""
    if name != "roads":
        return graphs.make(name)
    roads: sr.Matrix = sr.io.read(Path(sr.__file__).parent / "data" / "NY.gr.xz").apply("one").dup(bool)
    return roads


def weighted(name: str, A: sr.Matrix) -> sr.Matrix:
    """The same graph with the lengths of roads, or with weights from 1 to 255."""
    if name == "roads":
        lengths: sr.Matrix = sr.io.read(Path(sr.__file__).parent / "data" / "NY.gr.xz").dup(np.int64)
        return lengths
    weight = sr.indexunary.register_anonymous("1 + (7919 * min(i, j) + 104729 * max(i, j)) % 255", "weight")
    return A.apply(weight).dup(np.int64)


def ours(A: sr.Matrix, W: sr.Matrix, device: str) -> dict[str, tuple[Callable[[list[int]], Any], int]]:
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


def others(A: sr.Matrix, W: sr.Matrix) -> dict[str, dict[str, tuple[Callable[[list[int]], Any], int]]]:
    """The functions of other programs by ours, as `ours`, on their own graphs; results are arrays by vertex."""
    rows, columns, _ = A.select("tril", -1).to_coo()
    edges = np.stack([rows, columns], 1)
    found: dict[str, dict[str, tuple[Callable[[list[int]], Any], int]]] = {}
    if importlib.util.find_spec("igraph"):
        igraph = importlib.import_module("igraph")

        g = igraph.Graph(n=A.nrows, edges=edges)
        lengths = W.select("tril", -1).to_coo()[2].tolist()
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
    if importlib.util.find_spec("networkit"):
        nk = importlib.import_module("networkit")

        nk.setNumberOfThreads(2)
        h = nk.GraphFromCoo((np.ones(len(edges)), (rows, columns)), n=A.nrows, directed=False)
        found["NetworKit"] = {
            "pagerank": (lambda _: nk.centrality.PageRank(h, tol=1e-10).run().scores(), 0),
            "katz_centrality": (lambda _: nk.centrality.KatzCentrality(h, 1e-5).run().scores(), 0),
            "eigenvector_centrality": (lambda _: nk.centrality.EigenvectorCentrality(h).run().scores(), 0),
        }
    if importlib.util.find_spec("networkx"):
        import networkx as nx

        G = nx.Graph()
        G.add_nodes_from(range(A.nrows))
        G.add_edges_from(edges.tolist())
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


def same(what: str, A: sr.Matrix, call: Any, theirs: Any, sources: list[int]) -> None:
    """AssertionError if a peer has other values of betweenness or closeness for the same sources."""
    values = np.array(list(theirs.values()) if isinstance(theirs, dict) else theirs, np.float64)
    if what in ("betweenness", "weighted betweenness"):
        np.testing.assert_allclose(call(sources).to_numpy(), values, rtol=1e-6, atol=1e-6 * values.max())
    elif what == "closeness":
        mine = call(sources).to_dict()
        np.testing.assert_allclose([mine[s] for s in sources], np.nan_to_num(values), rtol=1e-9)


def _run(call: Callable[[list[int]], Any], sources: list[int], _: int) -> Any:
    made = call(sources)
    return made.wait() if hasattr(made, "wait") else made


def _keep(call: Callable[[list[int]], Any], sources: list[int], last: list[Any], _: int) -> None:
    last[:] = [call(sources)]


def _unchecked(_: int, result: Any) -> None:
    """Accept a result, which `same` compares with another one."""


def measured(name: str, device: str, asked: list[str] | None, report: Report) -> None:
    """The rows of one graph."""
    A = make(name)
    assert A.is_symmetric_structure
    drawn = graphs.sources(A, 1024)
    drawn = list(dict.fromkeys(drawn))  # distinct
    W = weighted(name, A)
    peers = others(A, W) if device == "cpu" else {}
    for what, (call, many) in ours(A, W, device).items():
        if asked is not None and what not in asked and what.split()[0] not in asked:
            continue
        if name == "roads" and what in ("eigenvector_centrality", "hits"):
            continue  # the second eigenvalue is so near that iterations do not end
        chosen, label = drawn[:many], f"{what} {name}"

        samples = measure(partial(_run, call, chosen), _unchecked, range(RUNS), device).divided(max(many, 1))
        beside = []
        for peer, functions in peers.items():
            if what not in functions:
                continue
            theirs, few = functions[what]
            part = drawn[:few]
            last: list[Any] = []
            taken = measure(partial(_keep, theirs, part, last), _unchecked, [0], device)
            same(what, A, call, last[-1], part)
            taken = taken.divided(max(few, 1))
            beside.append(Peer(peer, taken.median, samples=taken.wall_ms))
        if device == "cuda" and label in RECORDED:
            beside.append(Peer("cuGraph", RECORDED[label], recorded=True))
        bound = BOUNDS.get(label) if device == "cuda" else None
        note = f"a source, of {many}" if many else "all vertices"
        report.add(timed(label, samples, bound, note=note, peers=tuple(beside)))


def main() -> int:
    """Run the measurements that the command line selects."""
    parser = arguments.parser("algorithms.centrality", __doc__)
    parser.add_argument("--graphs", nargs="*", default=("kron16", "roads"), metavar="GRAPH")
    parser.add_argument("--functions", nargs="*", metavar="NAME", help="only these")
    asked = parser.parse_args()
    device = arguments.device_of(asked)
    with sr.use(device):
        report = Report("centrality", device, asked.out)
        for name in asked.graphs:
            measured(name, device, asked.functions, report)
        report.close()
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
