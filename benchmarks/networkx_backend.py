"""The NetworkX backend: conversions of a graph of 1 M edges, and calls with and without them, compared with NetworkX.

    python -m benchmarks.networkx_backend --device cpu
    python -m benchmarks.networkx_backend --device cpu --edges 10000       to try the program itself

Nodes are drawn uniformly and edges added in random order, so that the dictionaries of NetworkX are scattered over the
memory, which is the slowest case of a conversion.  Results are compared with those of NetworkX.  Exits with 1 if a
target is missed; the targets are for 1 M edges on two cores.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Hashable
from typing import Any

import networkx as nx
import numpy as np

import semiring as sr
from semiring.nx_backend import convert_from_nx

from . import arguments
from .report import Peer, Report, Row

REPEATS = 3
EDGES = 1_000_000
# Milliseconds of a conversion; and how many times as fast as NetworkX a call is, with the conversion and without it.
CONVERSION_MS = 1000.0
WITH_CONVERSION, CACHED = 2.0, 50.0


def drawn(edges: int, labels: Callable[[int], Hashable], kind: Any = nx.Graph) -> Any:
    """Return a graph of NetworkX with ten edges a node, in random order, and a weight for each."""
    rng = np.random.default_rng(1)
    n = max(edges // 10, 2)
    ends = np.sort(rng.integers(0, n, (edges + edges // 50, 2)), axis=1)
    pairs = np.unique(ends[ends[:, 0] != ends[:, 1]], axis=0)
    pairs = rng.permutation(pairs)[:edges]
    names = [labels(node) for node in range(n)]
    G = kind()
    G.add_nodes_from(names)
    weights = rng.random(len(pairs)).tolist()
    G.add_weighted_edges_from((names[u], names[v], w) for (u, v), w in zip(pairs.tolist(), weights, strict=True))
    return G


def samples(
    call: Callable[[], Any], before: Callable[[], Any] = lambda: None, repeats: int = REPEATS
) -> tuple[float, ...]:
    """Return the milliseconds of each call, the first one, which compiles, left out."""
    taken = []
    for _ in range(repeats + 1):
        before()
        start = time.perf_counter()
        kept = call()
        taken.append(1e3 * (time.perf_counter() - start))
        del kept  # not timed
    return tuple(taken[1:])


def conversions(report: Report, G: Any, words: str, bound: float | None) -> None:
    """Matrix from a graph and back."""
    taken = samples(lambda: sr.io.from_networkx(G, weight="weight").wait())
    report.add(Row(f"from_networkx, {words}", "ms", statistics.median(taken), bound=bound, samples=taken))
    taken = samples(lambda: convert_from_nx(G, edge_attrs={"weight": 1}).matrix("weight"))
    report.add(Row(f"convert_from_nx and matrix, {words}", "ms", statistics.median(taken), bound=bound, samples=taken))
    A, names = sr.io.from_networkx(G, weight="weight"), list(G)
    taken = samples(lambda: sr.io.to_networkx(A, create_using=type(G), nodes=names))
    report.add(Row(f"to_networkx, {words}", "ms", statistics.median(taken), bound=bound, samples=taken))


def calls(report: Report, G: Any, what: str, call: Callable[..., Any], has_bounds: bool) -> None:
    """One function of NetworkX: itself, with the conversion, and with the converted graph in the cache."""
    call(nx.path_graph(3))  # imports SciPy
    start = time.perf_counter()
    expected = call(G)
    theirs = 1e3 * (time.perf_counter() - start)
    found = call(G, backend="semiring")
    assert all(abs(found[node] - expected[node]) < 1e-6 for node in expected), what
    first = samples(lambda: call(G, backend="semiring"), G.__networkx_cache__.clear, 2)
    cached = samples(lambda: call(G, backend="semiring"), repeats=5)
    for words, taken, bound in (("with conversion", first, WITH_CONVERSION), ("cached", cached, CACHED)):
        own = statistics.median(taken)
        report.add(
            Row(
                f"{what}, {words}, times as fast", "x", theirs / own, at_most=False,
                bound=bound if has_bounds else None, peers=(Peer("NetworkX", theirs, "ms"),), note=f"{own:.4g} ms",
                samples=taken,
            )
        )  # fmt: skip


def main() -> int:
    """Measure, print and keep the rows."""
    parser = arguments.parser("networkx_backend", __doc__)
    parser.add_argument("--edges", type=int, default=EDGES)
    parser.add_argument("--text", action="store_true", help="nodes are texts")
    options = parser.parse_args()
    device = arguments.device_of(options)
    nx.config.warnings_to_ignore.add("cache")
    report = Report("networkx-text" if options.text else "networkx", device, options.out)
    with sr.use(device):
        full = options.edges == EDGES
        G = drawn(options.edges, (lambda node: f"node {node}") if options.text else int)
        words = "nodes are texts" if options.text else "nodes are 0, 1, 2, ..."
        conversions(report, G, words, CONVERSION_MS if full else None)
        calls(report, G, f"pagerank, {words}", lambda G, **how: nx.pagerank(G, weight=None, **how), full)
        if not options.text:
            calls(report, G, f"pagerank with weights, {words}", nx.pagerank, full)
    report.close()
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
