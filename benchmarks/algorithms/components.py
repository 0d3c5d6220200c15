"""Strong components, bridges and blocks, against SciPy, igraph and NetworkX on the same graph.

    python -m benchmarks.algorithms.components --graphs rmat16 kron16 roads

``roads`` are those of New York, without directions; ``rmat16`` is directed.  All programs must agree on the numbers of
components, bridges, articulation points and blocks.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import semiring as sr
from benchmarks import arguments, graphs
from benchmarks.harness import Contender, compare
from benchmarks.report import Peer, Report, timed

RUNS = 5
# A program that takes long is called less often.
FEW_RUNS = 1
# NetworkX takes tens of seconds on more entries.
NETWORKX_ENTRIES = 2_500_000

# For each function, by program: a call, and the number that all programs must agree on.
Calls = dict[str, dict[str, tuple[Callable[[], Any], Callable[[Any], float]]]]

al = sr.algorithms


def make(name: str) -> sr.Matrix:
    """The graph of that name; ``roads`` and graphs named with a ``w`` have symmetric weights."""
    if name.startswith("rmat"):
        return sr.random.rmat(int(name.removeprefix("rmat")), 16, seed=graphs.SEED)
    roads = name == "roads"
    A: sr.Matrix = sr.io.read(Path(sr.__file__).parent / "data" / "NY.gr.xz") if roads else graphs.make(name)
    return A.ewise_add(A.T, "max").dup() if roads or name.endswith("w") else A


def edges_of(A: sr.Matrix) -> Any:
    """The edges, one row each; of a symmetric matrix each edge once."""
    rows, columns, _ = (A.select("tril", -1) if A.is_symmetric_structure else A.select("offdiag")).to_coo(device="cpu")
    return np.stack([rows, columns], 1)


def ours(A: sr.Matrix) -> Calls:
    """The functions, with no peers."""
    return {
        "strong": {"ours": (lambda: al.strongly_connected_components(A), roots)},
        "bridges": {"ours": (lambda: al.bridges(A), lambda found: found.nvals / 2)},
        "articulation points": {"ours": (lambda: al.articulation_points(A), lambda found: found.nvals)},
        "blocks": {"ours": (lambda: al.biconnected_components(A), lambda found: found.heads.nvals)},
    }


def roots(labels: sr.Vector) -> float:
    """The number of components."""
    return labels.ewise_mult(labels.apply("rowindex"), "eq").select("==", True).nvals


def count(found: Any) -> float:
    """The length of a list or an iterator."""
    return sum(1 for _ in found)


def with_peers(A: sr.Matrix) -> Calls:
    """The functions, and those of the programs that are installed."""
    calls, directed = ours(A), not A.is_symmetric_structure
    if importlib.util.find_spec("scipy"):
        from scipy.sparse import csgraph, csr_array

        indptr, indices, _ = A.to_csr(device="cpu")
        S = csr_array((np.ones(A.nvals), indices, indptr), shape=A.shape)
        calls["strong"]["SciPy"] = lambda: csgraph.connected_components(S, True, "strong"), lambda found: found[0]
    if importlib.util.find_spec("igraph"):
        igraph: Any = importlib.import_module("igraph")

        g = igraph.Graph(n=A.nrows, edges=edges_of(A), directed=directed)
        calls["strong"]["igraph"] = lambda: g.connected_components("strong"), len
        calls["bridges"]["igraph"] = g.bridges, len
        calls["articulation points"]["igraph"] = g.articulation_points, len
        calls["blocks"]["igraph"] = g.biconnected_components, len
    if importlib.util.find_spec("networkx") and A.nvals <= NETWORKX_ENTRIES:
        nx: Any = importlib.import_module("networkx")

        G = nx.DiGraph() if directed else nx.Graph()
        G.add_nodes_from(range(A.nrows))
        G.add_edges_from(edges_of(A).tolist())
        if directed:
            calls["strong"]["NetworkX"] = lambda: list(nx.strongly_connected_components(G)), count
        else:
            calls["articulation points"]["NetworkX"] = lambda: list(nx.articulation_points(G)), count
            calls["blocks"]["NetworkX"] = lambda: list(nx.biconnected_components(G)), count
    if directed:
        return {"strong": calls["strong"]}
    return {name: programs for name, programs in calls.items() if name != "strong"}


def measure(graph: str, calls: Calls, device: str, asked: list[str] | None, report: Report) -> None:
    """The rows of one graph: every program several times, except those that take long."""
    for what, programs in calls.items():
        if asked is not None and what not in asked:
            continue
        known: list[float] = []

        def agrees(number: float, known: list[float] = known) -> None:
            known.append(float(number))
            np.testing.assert_allclose(known[-1], known[0], rtol=1e-9)

        quick = {name: _contender(*pair, agrees) for name, pair in programs.items() if name != "NetworkX"}
        found = dict(compare(quick, range(RUNS), device))
        slow = {name: _contender(*pair, agrees) for name, pair in programs.items() if name == "NetworkX"}
        if slow:
            found |= compare(slow, range(FEW_RUNS), device)
        beside = tuple(Peer(p, found[p].median, samples=found[p].wall_ms) for p in found if p != "ours")
        report.add(timed(f"{what} {graph}", found["ours"], peers=beside, note=f"{known[0]:.6g} found"))


def _contender(call: Callable[[], Any], number: Callable[[Any], float], agrees: Callable[[float], None]) -> Contender:
    return Contender(lambda _: call(), lambda _, result: agrees(number(result)))


def run(name: str, about: str | None, defaults: tuple[str, ...], programs: Mapping[str, Callable[[Any], Calls]]) -> int:
    """Run the measurements that the command line selects.  programs: the calls on a device, by its name."""
    parser = arguments.parser(f"algorithms.{name}", about)
    parser.add_argument("--graphs", nargs="*", default=defaults, metavar="GRAPH")
    parser.add_argument("--functions", nargs="*", metavar="NAME", help="only these")
    parser.add_argument("--without", nargs="*", default=(), metavar="PROGRAM", help="leave these programs out")
    asked = parser.parse_args()
    device = arguments.device_of(asked)
    with sr.use(device):
        report = Report(name, device, asked.out)
        for graph in asked.graphs:
            calls = programs[device](make(graph))
            for others in calls.values():
                for program in asked.without:
                    others.pop(program, None)
            measure(graph, calls, device, asked.functions, report)
        report.close()
    return 1 if report.failed else 0


def on_gpu(A: sr.Matrix) -> Calls:
    """The functions for the kind of graph, alone."""
    calls = ours(A)
    strong = {"strong": calls.pop("strong")}
    return calls if A.is_symmetric_structure else strong


if __name__ == "__main__":
    sys.exit(run("components", __doc__, ("rmat16", "kron16", "roads"), {"cpu": with_peers, "cuda": on_gpu}))
