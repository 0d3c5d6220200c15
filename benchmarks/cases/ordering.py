"""Orders of vertices by format and algorithm: bits an entry, and milliseconds.

On Friendster an order by degree helped uncompressed rows and hurt compressed ones (the project's second paper,
section 5).  This repeats the study with every order of `semiring.algorithms.ordering`, on graphs whose numbers were
first randomized by a permutation, so that it measures the order that is found, not that of the file.  The order
``given`` is included for comparison.  Every result is verified before its time is reported.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import semiring as sr
from semiring.algorithms import ordering

from .. import checks, graphs
from ..case import Run
from ..forms import FORMS, encoded
from ..harness import RUNS, measure

GRAPHS = {"cuda": ("kron22", "grid5000x5000", "cnr-2000"), "cpu": ("kron16", "grid300x300", "cnr-2000")}
ORDERS = {
    "degree": ordering.degree_order,
    "bfs": ordering.bfs_order,
    "rcm": ordering.reverse_cuthill_mckee,
    "locality": ordering.locality_order,
}
SOURCES = 8


def load(name: str, data: Path) -> sr.Matrix | None:
    """A graph by name, with edges in both directions; None for a missing file."""
    if not name.startswith("cnr"):
        return graphs.make(name)
    path = data / "law" / f"{name}-llp.graph-txt.gz"
    if not path.is_file():
        return None
    crawl: sr.Matrix = sr.io.read(path)
    return crawl.ewise_add(crawl.T, "any").wait()


def orders(A: sr.Matrix, seed: int) -> Iterator[tuple[str, sr.Matrix, float]]:
    """(name, the reordered matrix, milliseconds to find the order and to apply it)."""
    yield "given", A, 0.0
    mixed = A.permute(np.random.default_rng(seed).permutation(A.nrows)).wait()
    yield "random", mixed, 0.0
    for name, find in ORDERS.items():
        find(mixed)  # excludes compilation
        start = time.perf_counter()
        made = mixed.permute(find(mixed)).wait()
        yield name, made, 1e3 * (time.perf_counter() - start)


def study(run: Run, name: str, A: sr.Matrix, count: int) -> None:
    """All orders of one graph, in all formats, under both algorithms."""
    for order, plain, found_ms in orders(A, graphs.SEED):
        sources = graphs.sources(plain, count)
        levels, components = checks.levels(plain), checks.components(plain)
        for form in FORMS:
            B = encoded(plain, form)
            what = f"{name} {order} {form}"
            bits = 8 * B.store.pattern.nbytes / max(B.nvals, 1)
            note = f"order and permute {found_ms:.4g} ms" if found_ms else ""
            run.add(f"{what} size", "bits an entry", bits, note=note)
            searched = measure(lambda s, B=B: sr.algorithms.bfs_levels(B, s), levels, sources, B.device)  # type: ignore[misc]
            joined = measure(lambda _, B=B: sr.algorithms.connected_components(B), components, range(RUNS), B.device)  # type: ignore[misc]
            for algorithm, samples in (("bfs_levels", searched), ("connected_components", joined)):
                run.timed(f"{what} {algorithm}", samples)


OPTIONS = {
    "graphs": (GRAPHS, "also cnr-2000, from the folder"),
    "sources": (SOURCES, "of searches"),
    "data": ("../shared/data", "the folder of real graphs"),
}


def main(run: Run) -> None:
    """All orders of each graph."""
    for name in run.options.graphs:
        A = load(name, Path(run.options.data))
        if A is None:
            print(f"{name} is not in {run.options.data}: left out", flush=True)
        else:
            study(run, name, A, run.options.sources)
