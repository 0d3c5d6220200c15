"""Every function of the NetworkX backend and of NetworkX by size: the table of automatic dispatch.

Each function is called as the tests call it, on graphs of 30 to 10,000 nodes whose conversion is in the
cache and nothing else, as far as that takes seconds.  Where several families of graphs, or several values of the
parameters, have one row in the table, it contains the case that is worst for the backend.
"""

from __future__ import annotations

import gc
import json
import signal
import time
import warnings
from collections.abc import Callable, Iterator
from functools import cache, partial
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
from networkx.utils.backends import _registered_algorithms

from semiring.bridges.networkx import automatic
from semiring.bridges.networkx.registry import FUNCTIONS

from .. import machine
from ..case import Run
from ..report import Peer

# The calls of the tests, which are not checked for types.
_TESTS: Any = import_module("tests.nx_backend.test_results")
calls, weighted = _TESTS.calls, _TESTS.weighted

TABLE = Path(automatic.__file__).with_name("measured.csv")
# Nodes, and the seconds of a call of NetworkX after which no larger size is measured: the next would take minutes.
SIZES = {30: 0.02, 100: 0.02, 400: 0.05, 1_000: 0.1, 10_000: 0.0}
# Seconds: of a call of the backend after which no larger size is measured, and of the longest call.
LONGEST, LIMIT = 0.2, 60.0
HEAD = """\
# Written by python -m benchmarks networkx-costs.  For each function with its narrowing parameters, at each size: nodes
# and edges, milliseconds of NetworkX, milliseconds of the backend.
"""


def acyclic(n: int) -> Any:
    G = nx.fast_gnp_random_graph(n, 8 / n, seed=3, directed=True)
    return nx.DiGraph((u, v) for u, v in G.edges if u < v)


FAMILIES: dict[str, Callable[[int], Any]] = {
    "small world": lambda n: nx.connected_watts_strogatz_graph(n, 8, 0.5, seed=1),
    "grid": lambda n: nx.convert_node_labels_to_integers(nx.grid_2d_graph(n // 10, 10)),
    "directed": lambda n: nx.compose(
        nx.fast_gnp_random_graph(n, 8 / n, seed=1, directed=True), nx.cycle_graph(n, nx.DiGraph)
    ),
    "acyclic": acyclic,
    "bipartite": lambda n: nx.bipartite.gnmk_random_graph(n // 2, n - n // 2, 4 * n, seed=1),
    "tree": lambda n: nx.random_labeled_tree(n, seed=1),
    "arborescence": lambda n: nx.bfs_tree(nx.random_labeled_tree(n, seed=1), 0),
}
#: Families of which one is measured only where the others raise.
OTHERS = ("acyclic", "bipartite", "tree", "arborescence")


@cache
def graph(family: str, n: int) -> Any:
    """Return a graph with weights and with attributes of nodes."""
    G = weighted(FAMILIES[family](n), 1)
    for number, (_, data) in enumerate(G.nodes(data=True)):
        data.update(size=number % 4 - 1.5, color=("red", "green")[number % 3 > 1])
    return G


def arguments_of(name: str, family: str, n: int) -> list[dict[str, Any]]:
    """Return the calls that the tests make; one side of a bipartite graph is half of its nodes."""
    found = list(calls(name, graph(family, n)))
    if "seed" in signature(FUNCTIONS[name]).parameters:  # a decorator outside of the dispatch makes generators of seeds
        is_numpy = _registered_algorithms[name].orig_func.__module__.startswith("networkx.linalg")
        generator = np.random.RandomState(1) if is_numpy else nx.utils.create_py_random_state(1)
        found = [{**given, "seed": generator} for given in found]
    if family == "bipartite":
        nine, half = [f"n{i}" for i in range(9)], [f"n{i}" for i in range(n // 2)]
        found = [{key: half if value == nine else value for key, value in given.items()} for given in found]
    return found


def stop(*_: Any) -> None:
    """Interrupt a call that takes too long."""
    raise TimeoutError


def forget(graphs: tuple[Any, ...]) -> None:
    """Drop what the backend keeps of earlier calls on these graphs, except their conversion: matrices and results."""
    for G in graphs:
        for converted in G.__networkx_cache__.get("backends", {}).get("semiring", {}).values():
            getattr(converted, "_matrices", {}).clear()


def seconds(call: Callable[[], Any], graphs: tuple[Any, ...]) -> float:
    """Return the least processor time of a few calls, results that are computed lazily included.

    Other work on the machine does not count then.  The times of threads are added up: those of the backend are at most
    what they are here.
    """
    taken: list[float] = []
    while len(taken) < 3 or (sum(taken) < 0.02 and len(taken) < 20):
        forget(graphs)
        signal.setitimer(signal.ITIMER_REAL, LIMIT)
        start = time.process_time()
        result = call()
        if isinstance(result, Iterator):
            result = list(result)
        taken.append(time.process_time() - start)
        signal.setitimer(signal.ITIMER_REAL, 0)
        del result
        if taken[-1] > 0.2:
            break
    return min(taken)


def points(name: str, family: str, number: int) -> Iterator[tuple[float, float, float]]:
    """Yield (nodes and edges, milliseconds of NetworkX, of the backend) of a call at each size."""
    dispatched = _registered_algorithms[name]
    for n in SIZES:
        try:
            G, given = graph(family, n), arguments_of(name, family, n)[number]
            graphs = (G, G) if list(dispatched.graphs)[1:2] == ["H"] else (G,)
            own = partial(dispatched, *graphs, backend="semiring", **given)
            own()  # compiles
            own_s, their_s = seconds(own, graphs), seconds(partial(dispatched.orig_func, *graphs, **given), graphs)
        except Exception:  # this family or these arguments are not for this function
            signal.setitimer(signal.ITIMER_REAL, 0)
            return
        size = len(G) + G.number_of_edges()
        yield float(size), 1e3 * their_s, 1e3 * own_s
        if their_s > SIZES[n] or own_s > LONGEST:
            return


def measure(run: Run, name: str) -> None:
    """Add a row for each call and family."""
    measured = False
    for family in FAMILIES:
        if measured and family in OTHERS:
            return
        rows: set[str] = set()
        for number, given in enumerate(arguments_of(name, family, min(SIZES))):
            row = automatic.row_of(name, (graph(family, min(SIZES)),), given)
            if row in rows:
                continue
            found = list(points(name, family, number))
            if len(found) < 2:
                continue
            measured = True
            rows.add(row)
            size, theirs, own = found[-1]
            peers, note = (Peer("NetworkX", theirs, "ms"),), f"{own:.4g} ms for {size:.0f} nodes and edges"
            facts = {"row": row, "points": found}
            run.add(f"{row}, {family}", "x", theirs / own, at_most=False, peers=peers, note=note, facts=facts)


def write_table(results: Path) -> None:
    """Write the rows of a result file in which the backend is faster somewhere, the worst case of each."""
    worst: dict[str, Any] = {}
    for line in results.read_text(encoding="utf-8").splitlines()[1:]:
        measured = json.loads(line)
        row = measured["facts"]["row"]
        if row not in worst or measured["value"] < worst[row]["value"]:
            worst[row] = measured
    lines = [HEAD]
    for row, measured in sorted(worst.items()):
        if measured["value"] >= automatic.MARGIN:
            figures = (f"{x:.4g}" for point in measured["facts"]["points"] for x in point)
            lines.append(f"{row},{','.join(figures)}\n")
    TABLE.write_text("".join(lines), encoding="utf-8")


OPTIONS = {
    "functions": ((), "by default all: an hour"),
    "table": (False, "write measured.csv of the bridge from the results"),
}


def main(run: Run) -> int:
    """Measure the functions, or write the table of the results; there are no targets."""
    if run.options.table:
        write_table(run.options.out / f"{machine.slug(run.device)}-networkx-costs.jsonl")
        return 0
    nx.config.warnings_to_ignore.add("cache")
    warnings.simplefilter("ignore")  # of NetworkX, on future changes
    signal.signal(signal.SIGALRM, stop)
    for family in FAMILIES:
        for n in SIZES:
            graph(family, n)
    gc.freeze()  # a collection would visit all these graphs, at times that depend on the function before
    for name in run.options.functions or sorted(FUNCTIONS):
        measure(run, name)
        gc.collect()
    return 0
