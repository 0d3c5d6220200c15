"""Breadth-first search by each strategy of the papers (`config.strategy`), beside the library's own.

All search the same graphs from the same sources, and every result is verified.  A row is the median of the calls;
beside it are the times of the library's own strategy in the same run.
"""

from __future__ import annotations

import semiring as sr
from semiring.strategies import STRATEGIES

from .. import checks, graphs
from ..case import ONLY, Run
from ..harness import Contender, compare

DEVICE = "cuda"
OPTIONS = {
    "graphs": (
        ("kron20", "kron22", "kron24", "uniform2000000x32", "grid5000x5000", "grid300x300x300", "star100000"),
        "that are searched",
    ),
    "sources": (8, "of each graph"),
    "only": ONLY,
}


def main(run: Run) -> None:
    """Milliseconds by graph and strategy, with millions of traversed edges a second in the facts."""
    for name in run.options.graphs:
        A = graphs.make(name)
        sources, verified = graphs.sources(A, run.options.sources), checks.levels(A)

        def search(strategy: str, source: int, A: sr.Matrix = A) -> sr.Vector:
            with sr.config.set(strategy=strategy):
                return sr.algorithms.bfs_levels(A, source)

        def contender(strategy: str, verified: checks.Check = verified) -> Contender:
            return Contender(lambda source: search(strategy, source), verified)

        for strategy in STRATEGIES:
            what = f"{strategy} {name}"
            if not run.selects(what):
                continue
            beside = {} if strategy == "auto" else {"auto": contender("auto")}
            found = compare({"ours": contender(strategy), **beside}, sources, run.device)
            run.timed(what, found, facts={"strategy": strategy, "graph": name, "nvals": A.nvals})
