"""The targets of docs/performance.md beside their peers: searches, components, mxv, memory, first calls.

The targets apply at scale 22 on a GPU and 18 on a CPU; at other scales they are left out.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

import semiring as sr
from examples.bfs_six_lines import bfs_levels as six_lines
from tests import verify

from .. import checks, cold, graphs, peers
from ..case import Run
from ..harness import RUNS, SOURCES, Contender, Samples, compare, measure, peak_bytes
from ..report import Peer, timed

SCALE = {"cuda": 22, "cpu": 18}
# Contenders of the search.
OURS, SIX_LINES = "bfs_levels", "six lines"
SCIPY, SCIPY_BOOL = "SciPy breadth_first_order", "on boolean data"
GRAPHBLAS = "the six lines in python-graphblas"


class Bench:
    """The graph, the sources and the report of one run, and data that several rows share."""

    def __init__(self, run: Run) -> None:
        self.run, self.device = run, run.device
        self.has_targets = run.options.scale == SCALE[run.device]
        self.name = f"kron{run.options.scale}"
        self.A = graphs.make(self.name)
        self.sources = graphs.sources(self.A, run.options.sources)

    def add(self, what: str, value: float | Samples | None, unit: str, bound: float | None = None, **more: Any) -> None:
        """Report a figure; the target applies only at its scale."""
        target = bound if self.has_targets else None
        if isinstance(value, Samples):
            self.run.report.add(timed(what, value, target, **more))
        else:
            self.run.add(what, unit, value, target, **more)

    def recorded(self, algorithm: str, graph: str) -> tuple[Peer, ...]:
        """Recorded figures of peers that cannot be called here."""
        known = peers.RECORDED.get((algorithm, graph), ()) if self.device == "cuda" else ()
        return tuple(Peer(name, value, recorded=True) for name, value in known)

    @cached_property
    def searches(self) -> dict[str, Samples]:
        """`bfs_levels`, the six-line search of the examples, and the peers, from every source."""
        A, levels = self.A, checks.levels(self.A)
        contenders = {
            OURS: Contender(lambda s: sr.algorithms.bfs_levels(A, s), levels),
            SIX_LINES: Contender(lambda s: six_lines(A, s), levels),
        }
        if self.device == "cpu":
            order = checks.order(A)
            contenders[SCIPY] = Contender(peers.scipy_search(A, np.float64), order)
            contenders[SCIPY_BOOL] = Contender(peers.scipy_search(A, np.bool_), order)
            if peers.graphblas_available():
                contenders[GRAPHBLAS] = Contender(peers.graphblas_search(A), levels)
        return compare(contenders, self.sources, self.device)

    @property
    def search(self) -> Samples:
        """`bfs_levels` from every source."""
        return self.searches[OURS]

    @cached_property
    def reached_entries(self) -> float:
        """Stored entries of the component that a typical source reaches: the count behind TEPS."""
        indptr, _ = graphs.arrays(self.A)
        levels = sr.algorithms.bfs_levels(self.A, self.sources[0]).to_dense(verify.UNREACHED)
        return float((indptr[1:] - indptr[:-1])[levels >= 0].sum())

    def teps(self, samples: Samples) -> str:
        """Traversed entries a second at the median time."""
        return f"{self.reached_entries / samples.median / 1e6:.4g} GTEPS (directed)"


def search(b: Bench) -> None:
    beside = b.recorded("bfs_levels", b.name)
    b.add(
        f"bfs_levels {b.name}", b.search, "ms", 1.2 if b.device == "cuda" else None, peers=beside, note=b.teps(b.search)
    )


def search_against_peers(b: Bench) -> None:
    if b.device == "cuda":
        return  # those that search on a GPU cannot be called from here
    _times_faster(b, (SCIPY, SCIPY_BOOL), 5)
    _times_faster(b, (GRAPHBLAS,), 10)


def _times_faster(b: Bench, names: tuple[str, ...], bound: float) -> None:
    """How many times longer the first of the peers takes."""
    what = f"bfs_levels against {names[0]}, {b.name}"
    if names[0] not in b.searches:
        b.add(what, None, "x faster", note="not installed")
        return
    theirs = b.searches[names[0]]
    beside = tuple(Peer(name, b.searches[name].median, samples=b.searches[name].wall_ms) for name in names)
    note = f"ours {b.search}; theirs {theirs}"
    b.add(what, theirs.median / b.search.median, "x faster", bound, at_most=False, peers=beside, note=note)


def six_line_search(b: Bench) -> None:
    own = b.searches[SIX_LINES]
    beside = (Peer("bfs_levels", b.search.median, samples=b.search.wall_ms),)
    what, ratio = f"six-line BFS against bfs_levels, {b.name}", own.median / b.search.median
    bound = 4 if b.device == "cuda" else None
    b.add(what, ratio, "x slower", bound, peers=beside, note=f"six lines {own}", samples=own.wall_ms)


def components(b: Bench) -> None:
    name = "connected_components"
    check = checks.components(b.A)
    samples = measure(lambda _: sr.algorithms.connected_components(b.A), check, range(SOURCES), b.device)
    b.add(f"{name} {b.name}", samples, "ms", 1.5 if b.device == "cuda" else None, peers=b.recorded(name, b.name))


def product_on_gpu(b: Bench) -> None:
    A, x = graphs.floats(b.A, np.float32), graphs.dense(b.A, np.float32)
    check, check_array = checks.product(A, x, 1e-4)
    v = sr.Vector.from_dense(x)
    contenders = {
        "ours": Contender(lambda _: A.mxv(v, "plus_times").wait(), check),
        "cuSPARSE": Contender(peers.cusparse_product(A, x), check_array),
    }
    found = compare(contenders, range(SOURCES), b.device)
    ours, theirs = found["ours"], found["cuSPARSE"]
    beside = (Peer("cuSPARSE", theirs.median, samples=theirs.wall_ms), *b.recorded("mxv plus_times float32", b.name))
    note = _bandwidth(A.nvals * 8 + A.nrows * 12, ours)
    b.add(f"mxv plus_times float32 {b.name}", ours, "ms", 1.1, peers=beside, note=note)


def product_on_cpu(b: Bench) -> None:
    A, x = graphs.floats(b.A, np.float64), graphs.dense(b.A, np.float64)
    check, check_array = checks.product(A, x, 1e-11)
    v, matrix = sr.Vector.from_dense(x), checks.double_precision(A)
    contenders = {
        "ours": Contender(lambda _: A.mxv(v, "plus_times").wait(), check),
        "SciPy": Contender(lambda _: matrix @ x, check_array),
    }
    if peers.graphblas_available():
        contenders["python-graphblas"] = Contender(
            peers.graphblas_product(A, x), lambda _, w: check_array(_, w.to_dense(0))
        )
    found = compare(contenders, range(SOURCES), b.device)
    ours = found.pop("ours")
    beside = tuple(Peer(name, samples.median, samples=samples.wall_ms) for name, samples in found.items())
    note = _bandwidth(A.nvals * 12 + A.nrows * 20, ours)
    bound = round(found["SciPy"].median, 4)
    b.add(f"mxv plus_times float64 {b.name}", ours, "ms", bound, peers=beside, note=note)


def _bandwidth(moved_bytes: int, samples: Samples) -> str:
    return f"{moved_bytes / samples.median / 1e6:.4g} GB/s"


def memory(b: Bench) -> None:
    """The first search on a matrix, which computes and keeps its facts, and a later one."""
    source = b.sources[0]
    sr.algorithms.bfs_levels(b.A, source).wait()  # excludes compilation
    fresh = graphs.make(b.name)
    first = peak_bytes(lambda: sr.algorithms.bfs_levels(fresh, source).wait(), b.device)
    later = peak_bytes(lambda: sr.algorithms.bfs_levels(fresh, source).wait(), b.device)
    note = f"a later search {later / fresh.nrows:.4g}; both hold the result"
    what = f"peak memory of bfs_levels beyond the matrix, {b.name}"
    b.add(what, first / fresh.nrows, "bytes a vertex", 16, note=note)


def first_calls(b: Bench) -> None:
    limits = {"cuda": (5.0, 1.5), "cpu": (20.0, 1.0)}[b.device]
    found = cold.first_calls(b.A, b.sources[0], b.device, RUNS)
    for (what, runs), bound in zip(found.items(), limits, strict=True):
        seconds = tuple(run.seconds for run in runs)
        typical = sorted(runs, key=lambda run: run.seconds)[len(runs) // 2]
        note = f"min {min(seconds):.3g}, max {max(seconds):.3g} of {len(runs)}; {typical}"
        b.add(f"{what}, {b.name}", typical.seconds, "s", bound, note=note, samples=seconds)


def product(b: Bench) -> None:
    (product_on_gpu if b.device == "cuda" else product_on_cpu)(b)


ROWS = (search, search_against_peers, components, product, six_line_search, memory, first_calls)
OPTIONS = {"scale": (SCALE, "of the Kronecker graph"), "sources": (SOURCES, "of searches")}


def main(run: Run) -> None:
    """The rows that are selected."""
    run.rows(ROWS, Bench(run))
