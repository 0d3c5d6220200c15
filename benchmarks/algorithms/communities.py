"""Communities and label propagation, against igraph, NetworKit and NetworkX on the same graph.

    python -m benchmarks.algorithms.communities --graphs kron16 roads

``roads`` are those of New York with their lengths, without directions.  Every result is verified: the modularity that
is reported must be that of the labels.  Modularities are in the notes, as the methods of the programs differ.
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
from benchmarks import arguments, graphs
from benchmarks.harness import Contender, compare
from benchmarks.report import Peer, Report, timed

# The targets on an H200, in milliseconds.
BOUNDS = {("cdlp", "kron20", "cuda"): 100.0}
# Seconds or minutes on more entries.
NETWORKX_ENTRIES, IGRAPH_ENTRIES = 200_000, 40_000_000

al = sr.algorithms

OURS: dict[str, Callable[[sr.Matrix], Any]] = {
    "cdlp": lambda A: al.label_propagation(A, method="synchronous").wait(),
    "label_propagation": lambda A: al.label_propagation(A).wait(),
    "louvain": al.louvain,
    "leiden": al.leiden,
    "ensemble_clustering": al.ensemble_clustering,
}


def make(name: str) -> sr.Matrix:
    """The graph of that name, undirected and without self-loops."""
    if name == "roads":
        A = sr.io.read(Path(sr.__file__).parent / "data" / "NY.gr.xz").dup("float64")
    else:
        A = graphs.make(name)
    both: sr.Matrix = A.ewise_add(A.T, "any").select("offdiag")
    return both


def others(A: sr.Matrix) -> dict[str, dict[str, Callable[[], Any]]]:
    """The functions of other programs, by ours, on their own graphs; each returns labels or a modularity."""
    rows, columns, values = (np.asarray(part.get() if hasattr(part, "get") else part) for part in A.to_coo())
    upper = rows < columns
    edges, weights = np.stack([rows[upper], columns[upper]], 1), values[upper].astype(float)
    weighted = not A.is_iso
    found: dict[str, dict[str, Callable[[], Any]]] = {}
    if importlib.util.find_spec("igraph") and A.nvals <= IGRAPH_ENTRIES:
        igraph = importlib.import_module("igraph")
        g = igraph.Graph(n=A.nrows, edges=edges)
        listed = weights.tolist() if weighted else None
        found["igraph"] = {
            "louvain": lambda: g.community_multilevel(listed).modularity,
            "leiden": lambda: g.modularity(
                g.community_leiden("modularity", weights=listed, n_iterations=2).membership, listed
            ),
            "label_propagation": lambda: g.modularity(g.community_label_propagation(listed).membership, listed),
        }
    if importlib.util.find_spec("networkit"):
        nk = importlib.import_module("networkit")
        h = nk.Graph(A.nrows, weighted=weighted)
        h.addEdges((weights, (edges[:, 0], edges[:, 1])) if weighted else (edges[:, 0], edges[:, 1]))

        def detected(algorithm: Any) -> float:
            return float(nk.community.Modularity().getQuality(algorithm.run().getPartition(), h))

        found["NetworKit"] = {
            "louvain": lambda: detected(nk.community.PLM(h, True)),
            "leiden": lambda: detected(nk.community.ParallelLeiden(h)),
            "label_propagation": lambda: detected(nk.community.PLP(h)),
        }
    if importlib.util.find_spec("networkx") and A.nvals <= NETWORKX_ENTRIES:
        nx = importlib.import_module("networkx")
        G = nx.Graph()
        G.add_nodes_from(range(A.nrows))
        G.add_weighted_edges_from(zip(*edges.T.tolist(), weights.tolist(), strict=True))
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


def main() -> int:
    """Measure the graphs of the command line."""
    parser = arguments.parser("algorithms.communities", __doc__)
    parser.add_argument("--graphs", nargs="+", default=["kron16", "roads"], metavar="GRAPH")
    parser.add_argument("--functions", nargs="+", default=list(OURS), choices=list(OURS), metavar="FUNCTION")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--no-peers", action="store_true", help="measure this library alone")
    options = parser.parse_args()
    device = arguments.device_of(options)
    with sr.use(device):
        report = Report("communities", device, options.out)
        for name in options.graphs:
            A = make(name)
            theirs = {} if options.no_peers else others(A)
            for function in options.functions:
                measure(report, device, name, A, function, theirs, options.runs)
        report.close()
    return int(report.failed)


def measure(report: Report, device: str, name: str, A: sr.Matrix, function: str, theirs: Any, runs: int) -> None:
    """Add the row of one function on one graph."""
    reached: dict[str, float] = {}

    def checked(program: str) -> Callable[[Any, Any], None]:
        def check(_: Any, result: Any) -> None:
            reached[program] = modularity_of(A, result)

        return check

    def called(call: Callable[[], Any]) -> Callable[[Any], Any]:
        return lambda _: call()

    contenders = {"ours": Contender(lambda _: OURS[function](A), checked("ours"))}
    for program, functions in theirs.items():
        if function in functions:
            contenders[program] = Contender(called(functions[function]), checked(program))
    times = compare(contenders, range(runs), device)
    peers = tuple(Peer(program, taken.median) for program, taken in times.items() if program != "ours")
    note = "modularity " + ", ".join(f"{program} {q:.5f}" for program, q in reached.items())
    report.add(timed(f"{function}, {name}", times["ours"], BOUNDS.get((function, name, device)), note, peers=peers))


if __name__ == "__main__":
    sys.exit(main())
