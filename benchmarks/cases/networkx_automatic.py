"""Thirty functions under NetworkX automatic dispatch, against NetworkX alone, by size of the graph.

Graphs have four edges a node.  "first" is one call on a graph without a conversion, in a process that has loaded the
backend and not used it, whatever the call compiles; "cached" the least of calls that the backend has computed before,
on a graph that it has converted.  A ratio is the time with ``backend_priority=["semiring"]`` over that of NetworkX.
Exits with 1 if it exceeds 1.2 for a cached call of at least .1 ms in NetworkX, or a first one of at least 10 ms; what
is added to shorter calls is a row of its own, and so is what NetworkX adds with a backend that decides nothing.
"""

from __future__ import annotations

import gc
import multiprocessing
import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import networkx as nx
from networkx.utils import backends

import semiring as sr

from ..case import Run
from ..report import Peer

SIZES = (10, 100, 1_000, 10_000)
BOUND = 1.2
# The milliseconds in NetworkX from which a ratio counts; to shorter calls the dispatch adds a constant.
SHORTEST_MS = {"first": 10.0, "cached": 0.1}
# The seconds of one measurement, of calls after the first.
BUDGET = 0.3

FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "pagerank": nx.pagerank,
    "shortest_path_length of a pair": lambda G: nx.shortest_path_length(G, 0, len(G) // 2),
    "shortest_path of a pair": lambda G: nx.shortest_path(G, 0, len(G) // 2),
    "has_path": lambda G: nx.has_path(G, 0, len(G) // 2),
    "dijkstra_path of a pair": lambda G: nx.dijkstra_path(G, 0, len(G) // 2),
    "single_source_shortest_path_length": lambda G: nx.single_source_shortest_path_length(G, 0),
    "single_source_dijkstra_path_length": lambda G: nx.single_source_dijkstra_path_length(G, 0),
    "bfs_edges": lambda G: list(nx.bfs_edges(G, 0)),
    "connected_components": lambda G: list(nx.connected_components(G)),
    "is_connected": nx.is_connected,
    "triangles": nx.triangles,
    "triangles of a node": lambda G: nx.triangles(G, 0),
    "clustering": nx.clustering,
    "clustering of a node": lambda G: nx.clustering(G, 0),
    "transitivity": nx.transitivity,
    "core_number": nx.core_number,
    "degree_centrality": nx.degree_centrality,
    "closeness_centrality of a node": lambda G: nx.closeness_centrality(G, 0),
    "betweenness_centrality of 8 sources": lambda G: nx.betweenness_centrality(G, k=8, seed=1),
    "eccentricity of a node": lambda G: nx.eccentricity(G, 0),
    "louvain_communities": lambda G: nx.community.louvain_communities(G, seed=1),
    "minimum_spanning_tree": nx.minimum_spanning_tree,
    "ego_graph": lambda G: nx.ego_graph(G, 0),
    "descendants": lambda G: nx.descendants(G, 0),
    "greedy_color": nx.greedy_color,
    "jaccard_coefficient of a pair": lambda G: list(nx.jaccard_coefficient(G, [(0, 1)])),
    "diameter of a view": lambda G: nx.diameter(G.subgraph(list(G)[:300])),
}
#: Functions whose whole-graph costs are quadratic are left out of the largest size.
STEEP: dict[str, Callable[[Any], Any]] = {
    "closeness_centrality": nx.closeness_centrality,
    "diameter": nx.diameter,
    "all_pairs_shortest_path_length": lambda G: sum(len(found) for _, found in nx.all_pairs_shortest_path_length(G)),
}


def drawn(n: int) -> Any:
    """Return a connected graph with four edges a node, and weights."""
    G = nx.connected_watts_strogatz_graph(n, min(8, n - 2), 0.3, seed=1)
    for number, (*_, data) in enumerate(G.edges(data=True)):
        data["weight"] = 1.0 + number % 97
    return G


class Nothing:
    """A backend that leaves every call to NetworkX: what a call takes longer then is NetworkX's own dispatch."""

    def __getattr__(self, name: str) -> None:
        setattr(self, name, None)  # NetworkX calls `can_run` of a function that the backend has

    @staticmethod
    def can_run(name: str, args: Any, kwargs: Any) -> bool:
        """Return True at once."""
        return True

    @staticmethod
    def should_run(name: str, args: Any, kwargs: Any) -> bool:
        """Return False at once."""
        return False


def milliseconds(call: Callable[[], Any]) -> float:
    """Return the time of a call."""
    start = time.perf_counter()
    call()
    return 1e3 * (time.perf_counter() - start)


def send_first(function: Callable[[Any], Any], n: int, send: Any) -> None:
    """In a new process: send the milliseconds of NetworkX, and of the first automatic call."""
    sr.config.quiet = True
    function(drawn(10))  # imports SciPy
    graphs = [drawn(n) for _ in range(4)]
    gc.freeze()  # a collection visits all of them, and takes longer than many a call
    theirs = statistics.median(milliseconds(partial(function, G)) for G in graphs[:3])
    with nx.config(backend_priority=["semiring"]):
        send.send((theirs, milliseconds(partial(function, graphs[3]))))


def first(function: Callable[[Any], Any], n: int) -> tuple[float, float, float | None]:
    """Return the milliseconds of NetworkX, and of the first automatic call of a process; this one has made none yet."""
    context = multiprocessing.get_context("fork")
    receive, send = context.Pipe(duplex=False)
    process = context.Process(target=send_first, args=(function, n, send))
    process.start()
    theirs, own = receive.recv()
    process.join()
    return theirs, own, None


def cached(function: Callable[[Any], Any], n: int) -> tuple[float, float, float | None]:
    """Return the milliseconds of NetworkX, of an automatic call on a converted graph, and with an empty backend."""
    G = drawn(n)
    nx.pagerank(G, backend="semiring")
    with nx.config(backend_priority=["semiring"]), nx.config.backends.semiring(minimum_size=0):
        function(G)  # loads the kernels
    gc.freeze()
    semiring = backends._load_backend("semiring")
    kinds = {"NetworkX": semiring, "automatic": semiring, "empty": Nothing()}
    samples: dict[str, list[float]] = {kind: [] for kind in kinds}
    end = time.perf_counter() + BUDGET
    while len(samples["empty"]) < 4 or time.perf_counter() < end:  # in turns, as caches of the processor differ
        for kind, backend in kinds.items():
            backends._loaded_backends["semiring"] = backend
            with nx.config(backend_priority=[] if kind == "NetworkX" else ["semiring"]):
                samples[kind].append(milliseconds(partial(function, G)))
    backends._loaded_backends["semiring"] = semiring
    return min(samples["NetworkX"]), min(samples["automatic"]), min(samples["empty"])


OPTIONS = {"sizes": (SIZES, "nodes"), "functions": ((*FUNCTIONS, *STEEP), "of NetworkX")}


def main(run: Run) -> None:
    """First and cached calls of each function at each size, and their extremes."""
    nx.config.warnings_to_ignore.add("cache")
    calls = [(name, n) for name in run.options.functions for n in run.options.sizes if n <= 1_000 or name not in STEEP]
    functions = FUNCTIONS | STEEP
    with nx.config(backend_priority=["semiring"]):
        nx.is_isolate(drawn(10), 0)  # loads the backend
    kinds: dict[str, Callable[[Callable[[Any], Any], int], tuple[float, float, float | None]]]
    kinds = {"first": first, "cached": cached}
    for kind, measure in kinds.items():  # the processes of first calls are forked from one without kernels
        ratios, added, dispatch = [], [], []
        for name, n in calls:
            theirs, own, empty = measure(functions[name], n)
            counts = theirs >= SHORTEST_MS[kind]
            peer = Peer("NetworkX", theirs, "ms")
            what, bound = f"{name}, {n} nodes, {kind}", BOUND if counts else None
            run.add(what, "x", own / theirs, bound, peers=(peer,), note=f"{own:.4g} ms")
            if counts:
                ratios.append(own / theirs)
            else:
                added.append(own - theirs)
                dispatch += [] if empty is None else [empty - theirs]
        for label, of in (("greatest", max), ("median", statistics.median), ("least", min)) if ratios else ():
            run.add(f"{label} ratio, {kind}", "x", of(ratios))
        if dispatch:
            run.add(f"of it NetworkX's dispatch, {kind}", "us", 1e3 * statistics.median(dispatch))
        if added:
            run.add(f"added to a shorter call, {kind}", "us", 1e3 * statistics.median(added))
            run.add(f"most added to a shorter call, {kind}", "us", 1e3 * max(added))
