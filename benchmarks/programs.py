"""Functions of the library beside those of other programs on the same graph: what the cases of algorithms share.

``roads`` are the roads of New York.  A program that is not installed, or whose graph would take minutes, is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import semiring as sr
from semiring.bridges.bench.peers import (
    NETWORKX,
    NETWORKX_ENTRIES,
    edges_of,
    igraph_graph,
    module,
    networkx_graph,
    weights_of,
)

from . import graphs
from .case import Run
from .harness import RUNS, Contender, Samples, compare

__all__ = [
    "NETWORKX", "NETWORKX_ENTRIES", "Call", "Functions", "agreeing", "edges_of", "igraph_graph", "make", "measured",
    "module", "networkx_graph", "options", "roads", "weights_of",
]  # fmt: skip

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
