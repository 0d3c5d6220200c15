"""Functions of the library beside those of other programs on the same graph: what the cases of algorithms share.

``roads`` are the roads of New York.  A program that is not installed, or whose graph would take minutes, is left out.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import semiring as sr

from . import graphs
from .case import Run
from .harness import RUNS, Contender, Samples, compare

# NetworkX takes tens of seconds on more entries, and is called once.
NETWORKX, NETWORKX_ENTRIES = "NetworkX", 2_500_000

Call = Callable[[Any], Any]
# By function and by program, ours first.
Functions = Mapping[str, Mapping[str, Contender]]


def options(*names: str) -> dict[str, Any]:
    """The options of a case of algorithms; names: the graphs that are measured by default."""
    return {
        "graphs": (names, "that are measured"),
        "functions": ((), "only these"),
        "without": ((), "programs to leave out; all: measure this library alone"),
    }


def roads() -> sr.Matrix:
    """The roads of New York with their lengths, in one direction each way."""
    found: sr.Matrix = sr.io.read(Path(sr.__file__).parent / "data" / "NY.gr.xz")
    return found


def make(name: str) -> sr.Matrix:
    """The graph of that name without weights: of `graphs`, ``roads``, or ``rmat<scale>``, which is directed."""
    if name.startswith("rmat"):
        return sr.random.rmat(int(name.removeprefix("rmat")), 16, seed=graphs.SEED)
    return roads().apply("one").dup(bool) if name == "roads" else graphs.make(name)


def edges_of(A: sr.Matrix) -> Any:
    """The edges, one row each; of a symmetric matrix each edge once."""
    rows, columns, _ = (A.select("tril", -1) if A.is_symmetric_structure else A.select("offdiag")).to_coo(device="cpu")
    return np.stack([rows, columns], 1)


def weights_of(A: sr.Matrix) -> Any:
    """The weights of `edges_of` a symmetric matrix, as float64."""
    return np.asarray(A.select("tril", -1).to_coo(device="cpu")[2], np.float64)


def module(name: str) -> Any:
    """An optional module; None if it is not installed."""
    return importlib.import_module(name) if importlib.util.find_spec(name) else None


def igraph_graph(A: sr.Matrix, *, directed: bool = False, most: float = float("inf")) -> Any:
    """The graph in igraph, without weights; None if igraph is not installed or A has more entries than `most`."""
    igraph = module("igraph") if A.nvals <= most else None
    return igraph and igraph.Graph(n=A.nrows, edges=edges_of(A), directed=directed)


def networkx_graph(
    A: sr.Matrix, weights: Any = None, *, directed: bool = False, most: float = NETWORKX_ENTRIES
) -> tuple[Any, Any]:
    """The module and the graph of NetworkX; None and None if A has more entries than `most`."""
    nx = module("networkx") if A.nvals <= most else None
    if nx is None:
        return None, None
    G = nx.DiGraph() if directed else nx.Graph()
    G.add_nodes_from(range(A.nrows))
    edges = edges_of(A)
    if weights is None:
        G.add_edges_from(edges.tolist())
    else:
        G.add_weighted_edges_from(zip(*edges.T.tolist(), weights.tolist(), strict=True))
    return nx, G


def agreeing(number: Callable[[Any], Any] = lambda found: found, known: list[Any] | None = None) -> Callable[..., Any]:
    """Return what makes contenders whose results must agree: numbers, or arrays of them, to nine digits.

    It is called with a call without arguments and, where another program returns its result in another way, with the
    function that makes the number of it.  known: gets the numbers.
    """
    seen: list[Any] = [] if known is None else known

    def contender(call: Callable[[], Any], number: Callable[[Any], Any] = number) -> Contender:
        def check(_: Any, result: Any) -> None:
            seen.append(number(result))
            np.testing.assert_allclose(seen[-1], seen[0], rtol=1e-9)

        return Contender(lambda _: call(), check)

    return contender


def measured(
    run: Run,
    name: str,
    functions: Functions,
    arguments: Sequence[Any] = range(RUNS),
    bounds: Mapping[str, float] | None = None,
    note: Callable[[str], str] = lambda what: "",
) -> None:
    """Report a row for each function on the graph of that name; bounds: in ms on an H200, by ``<function> <graph>``."""
    left_out = run.options.without
    for what, programs in functions.items():
        if run.options.functions and not {what, what.split()[0]} & set(run.options.functions):
            continue
        kept = {program: one for program, one in programs.items() if program not in left_out}
        if "all" in left_out:
            kept = dict([next(iter(programs.items()))])
        slow = {program: kept.pop(program) for program in list(kept) if program == NETWORKX}
        found: dict[str, Samples] = compare(kept, arguments, run.device)
        if slow:
            found |= compare(slow, arguments[:1], run.device)
        bound = (bounds or {}).get(f"{what} {name}") if run.on_gpu else None
        run.timed(f"{what} {name}", found, bound, note(what))
