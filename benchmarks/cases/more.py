"""Searches, components, distances, PageRank, mxv and triangles by graph; the goals of later work are printed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import semiring as sr

from .. import checks, graphs, peers
from ..case import Run
from ..harness import RUNS, SOURCES, Samples, measure
from . import paths

GRAPHS = {
    "cuda": ("kron20", "kron22", "kron24", "uniform2000000x32", "grid5000x5000"),
    "cpu": ("kron16", "kron18", "uniform100000x32", "grid500x500"),
}
ITERATIONS = 20
# Untimed products, after which a GPU reads ranked columns where they pay (docs/decisions/0028-ranked-columns.md).
RANKED = 6
# Goals and aims in milliseconds on an H200.
GOALS: dict[tuple[str, str], tuple[float, float]] = {
    ("bfs_levels", "kron20"): (0.12, 0.05),
    ("bfs_levels", "kron22"): (0.25, 0.10),
    ("bfs_levels", "kron24"): (0.8, 0.25),
    ("bfs_levels", "uniform2000000x32"): (0.35, 0.20),
    ("bfs_levels", "grid5000x5000"): (30, 12),
    ("bfs_parents", "kron20"): (0.14, 0.06),
    ("bfs_parents", "kron22"): (0.30, 0.13),
    ("bfs_parents", "kron24"): (1.0, 0.35),
    ("bfs_parents", "uniform2000000x32"): (0.4, 0.25),
    ("bfs_parents", "grid5000x5000"): (32, 13),
    ("connected_components", "kron20"): (0.2, 0.06),
    ("connected_components", "kron22"): (0.4, 0.12),
    ("connected_components", "kron24"): (1.2, 0.35),
    ("connected_components", "uniform2000000x32"): (0.3, 0.12),
    ("connected_components", "grid5000x5000"): (0.6, 0.3),
    ("sssp", "kron20"): (2, 0.7),
    ("sssp", "kron22"): (5, 2),
    ("sssp", "kron24"): (20, 8),
    ("sssp", "uniform2000000x32"): (5, 2),
    ("sssp", "grid5000x5000"): (80, 40),
    ("pagerank iteration", "kron20"): (0.25, 0.12),
    ("pagerank iteration", "kron22"): (0.8, 0.45),
    ("pagerank iteration", "kron24"): (3.0, 1.8),
    ("pagerank iteration", "uniform2000000x32"): (0.8, 0.5),
    ("pagerank iteration", "grid5000x5000"): (0.35, 0.25),
    ("triangle_count", "kron20"): (8, 1),
    ("triangle_count", "kron22"): (45, 6),
    ("triangle_count", "kron24"): (300, 40),
    ("triangle_count", "uniform2000000x32"): (4, 1),
    ("triangle_count", "grid5000x5000"): (2, 0.5),
}


def _levels(A: sr.Matrix, name: str, sources: list[int]) -> Samples:
    return measure(lambda s: sr.algorithms.bfs_levels(A, s), checks.levels(A), sources, A.device)


def _parents(A: sr.Matrix, name: str, sources: list[int]) -> Samples:
    return measure(lambda s: sr.algorithms.bfs_parents(A, s), checks.parents(A), sources, A.device)


def _components(A: sr.Matrix, name: str, sources: list[int]) -> Samples:
    return measure(lambda _: sr.algorithms.connected_components(A), checks.components(A), sources, A.device)


def _distances(A: sr.Matrix, name: str, sources: list[int]) -> Samples:
    """Weights from 1 to 255: of the generator where it has weights, else integers."""
    weighted = graphs.make(name + "w") if name.startswith(("kron", "uniform")) else paths.make(name)
    return measure(lambda s: sr.algorithms.sssp(weighted, s), checks.distances(weighted), sources, A.device)


def _ranks(A: sr.Matrix, name: str, sources: list[int]) -> Samples:
    check = checks.ranks(A, ITERATIONS, 0.85, 1e-3)

    def call(_: int) -> sr.Vector:
        return sr.algorithms.pagerank(A, 0.85, 0, ITERATIONS, dtype=np.float32).wait()

    samples = measure(call, check, range(RUNS), A.device)
    return samples.divided(ITERATIONS)


def _product(A: sr.Matrix, name: str, sources: list[int]) -> Samples:
    values, x = graphs.floats(A, np.float32), graphs.dense(A, np.float32)
    check, _ = checks.product(values, x, 1e-4)
    v = sr.Vector.from_dense(x)
    for _ in range(RANKED):
        values.mxv(v, "plus_times").wait()
    return measure(lambda _: values.mxv(v, "plus_times").wait(), check, sources, A.device)


def _triangles(A: sr.Matrix, name: str, sources: list[int]) -> Samples:
    expected = int(sr.algorithms.triangles(A).reduce("plus").get(0)) // 3

    def check(_: int, found: int) -> None:
        assert found == expected, f"{found} triangles; those of the vertices sum to three times {expected}"

    return measure(lambda _: sr.algorithms.triangle_count(A), check, range(RUNS), A.device)


ALGORITHMS: dict[str, Callable[[sr.Matrix, str, list[int]], Samples]] = {
    "bfs_levels": _levels,
    "bfs_parents": _parents,
    "connected_components": _components,
    "sssp": _distances,
    "pagerank iteration": _ranks,
    "mxv plus_times float32": _product,
    "triangle_count": _triangles,
}


OPTIONS = {"graphs": (GRAPHS, "that are measured"), "sources": (SOURCES, "of searches")}


def main(run: Run) -> None:
    """Every algorithm on every graph."""
    for name in run.options.graphs:
        A = graphs.make(name)
        sources = graphs.sources(A, run.options.sources)
        for algorithm, call in ALGORITHMS.items():
            known = peers.RECORDED.get((algorithm, name), ()) if run.on_gpu else ()
            goal = GOALS.get((algorithm, name)) if run.on_gpu else None
            note = "" if goal is None else "goal {} ms, aim {} ms".format(*goal)
            run.timed(f"{algorithm} {name}", call(A, name, sources), note=note, recorded=known)
