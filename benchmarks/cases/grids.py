"""Programs on a grid of processes beside the same on one: semiring launch -n 2 -m benchmarks grids.

Each row is one program on one Kronecker graph of edge factor 16, which the processes generate together.  While process
0 runs the program alone, the others wait.  A time is that from a barrier to the end of the last process.  The result
of every run on the grid is verified by its properties, with products on the grid, and equals that of one process where
the program runs there too.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

import semiring as sr
from semiring import Matrix, Vector, distributed

from ..case import Run
from ..graphs import SEED
from ..harness import Samples

ITERATIONS = 20
SOURCES = 64
DAMPING = 0.85


@dataclass(frozen=True)
class Program:
    """A program, the scale of its graph, and how a result is verified.

    at_least: how many times as fast two processes are to be as one.  run: called with the graph and sources, a hub
    first.  valid: called with these and the result, all on the grid; raises AssertionError unless it has its
    properties.  parts: iterations or sources, of which a figure is one.
    """

    scale: int
    at_least: float
    run: Callable[[Matrix, list[int]], Any]
    valid: Callable[[Matrix, list[int], Any], None]
    parts: int = 1


def valid_levels(A: Matrix, source: int, levels: Vector) -> None:
    """No neighbor of a reached row is unreached or two levels nearer, and one is exactly a level nearer."""
    assert levels[source].value == 0
    low = A.mxv(levels, "min_second").new()
    assert low.nvals == levels.nvals - (low.get(source) is None), "an entry joins a reached row and another"
    nearer = levels.ewise_mult(low, "minus").new()
    assert nearer.reduce("max").value == 1, "a row has no nearer neighbor, or one that is too near"
    assert nearer.select("!=", 1).new().nvals <= 1, "a row other than the source has no nearer neighbor"


def valid_labels(A: Matrix, labels: Vector) -> None:
    """Labels are equal along every entry, and each label names a row that has it."""
    for semiring in ("min_second", "max_second"):
        beside = A.mxv(labels, semiring).new()
        assert beside.ewise_mult(labels, "!=").new().reduce("lor").value in (False, None)
    assert bool(labels[labels.to_dense()].new().isequal(labels))


def valid_ranks(A: Matrix, ranks: Vector) -> None:
    """The ranks add up to one, and another iteration changes them by no more than the damping allows."""
    degrees = A.reduce_rowwise("count").new()
    shares = ranks.ewise_mult(degrees, "truediv").new()
    lost = 1.0 - ranks.ewise_mult(degrees, "first").new().reduce("plus").value
    through = shares.vxm(A, "plus_first").new()
    base = Vector.full((1 - DAMPING + DAMPING * lost) / A.nrows, A.nrows, device=A.device)
    again = base.ewise_add(through.apply("times", right=DAMPING).new(), "plus").new()
    change = again.ewise_add(ranks, "minus").new().apply("abs").new().reduce("plus").value
    assert change <= 2 * DAMPING**ITERATIONS, f"another iteration changes the ranks by {change:.3g}"
    assert abs(ranks.reduce("plus").value - 1) < 1e-4


def valid_dependencies(A: Matrix, sources: list[int], found: Vector) -> None:
    """The dependencies of a source, half in each direction, add up to its distances, each less one."""
    levels = sr.algorithms.bfs_levels(A, sources)
    inner = levels.apply("minus", right=1).new().select(">", 0).new().reduce_scalar("plus").value
    assert np.isclose(2 * found.reduce("plus").value, inner, rtol=1e-6)


def valid_square(A: Matrix, product: Matrix) -> None:
    """Row sums are those of two products with vectors."""
    twice = A.mxv(A.reduce_rowwise("count").new(), "plus_second").new()
    assert bool(product.reduce_rowwise("plus").new().isequal(twice))


def valid_counts(A: Matrix, counts: Vector) -> None:
    """Each triangle counts at three rows, and none where a row has fewer than two neighbors."""
    assert counts.reduce("plus").value % 3 == 0
    pairs = A.reduce_rowwise("count").new().apply(lambda degree: degree * (degree - 1) // 2).new()
    assert not counts.ewise_mult(pairs, ">").new().reduce("lor").value


def _first_rows(A: Matrix, sources: list[int], levels: Matrix) -> None:
    for row in range(4):
        valid_levels(A, sources[row], levels[row, :].new())


PROGRAMS: Mapping[str, Program] = {
    "pagerank": Program(
        26,
        1.7,
        lambda A, _: sr.algorithms.pagerank(A, DAMPING, 0, ITERATIONS, dtype=np.float32),
        lambda A, _, found: valid_ranks(A, found),
        ITERATIONS,
    ),
    "bfs_levels": Program(
        26,
        1.0,
        lambda A, sources: sr.algorithms.bfs_levels(A, sources[0]),
        lambda A, sources, found: valid_levels(A, sources[0], found),
    ),
    "connected_components": Program(
        26, 1.2, lambda A, _: sr.algorithms.connected_components(A), lambda A, _, found: valid_labels(A, found)
    ),
    "triangles": Program(24, 1.6, lambda A, _: sr.algorithms.triangles(A), lambda A, _, found: valid_counts(A, found)),
    "mxm": Program(16, 1.6, lambda A, _: A.mxm(A, "plus_pair").new(), lambda A, _, found: valid_square(A, found)),
    f"bfs_levels of {SOURCES} sources": Program(
        22, 1.9, lambda A, sources: sr.algorithms.bfs_levels(A, sources), _first_rows, SOURCES
    ),
    "betweenness": Program(
        22,
        1.9,
        lambda A, sources: sr.algorithms.betweenness_centrality(A, sources=sources, normalized=False),
        valid_dependencies,
        SOURCES,
    ),
}


class Clock:
    """Times calls in which all processes of a grid take part, or process 0 alone."""

    def __init__(self, grid: distributed.Grid) -> None:
        self.grid = grid
        self._synchronize: Callable[[], Any] = lambda: None
        if grid.local == "cuda":
            import cupy

            self._synchronize = cupy.cuda.runtime.deviceSynchronize

    def time(self, call: Callable[[], Any], runs: int, check: Callable[[Any], None], *, takes_part: bool) -> Samples:
        """Return the times of `runs` calls, in milliseconds, after one that is not timed."""
        taken: list[float] = []
        for number in range(runs + 1):
            result = None
            self.grid.comm.barrier()
            start = time.perf_counter()
            if takes_part:
                result = call()
                self._synchronize()
            self.grid.comm.barrier()
            spent = 1e3 * (time.perf_counter() - start)
            check(result)
            if number:
                taken.append(max(self.grid.comm.allgather(spent)))
        return Samples(tuple(taken))


def same(found: Any, alone: Any) -> bool:
    """Whether a result of the grid, on every process, is that of one process: exactly, but for floats."""
    if found.dtype.name.startswith("float"):
        return bool(found.isclose(alone, rel_tol=1e-4))
    return bool(found.isequal(alone))


def measured(program: Program, scale: int, grid: distributed.Grid, runs: int, *, both: bool) -> tuple[Samples, ...]:
    """Return the times on the grid and, with `both`, of process 0 alone; AssertionError if a result is wrong."""
    A = sr.random.kronecker(scale, 16, device=grid.device, seed=SEED)
    degrees = A.reduce_rowwise("count").new().to("cpu").to_dense(0)
    hub = int(degrees.argmax())
    others = np.setdiff1d(np.flatnonzero(degrees), [hub])
    sources = [hub, *map(int, np.random.default_rng(SEED).choice(others, SOURCES - 1, replace=False))]
    clock, expected = Clock(grid), None
    times: list[Samples] = []
    if both:
        whole = A.to(grid.local)
        kept: list[Any] = []

        def keep(result: Any) -> None:
            kept[:] = [result]

        times.append(clock.time(lambda: program.run(whole, sources), runs, keep, takes_part=grid.rank == 0))
        expected = kept[0]
        del whole

    def check(result: Any) -> None:
        program.valid(A, sources, result)
        found = result.to(grid.local) if both else None
        wrong = expected is not None and not same(found, expected)
        assert not any(grid.comm.allgather(wrong)), "the result on the grid is not that of one process"

    on_grid = clock.time(lambda: program.run(A, sources), runs, check, takes_part=True)
    return on_grid.divided(program.parts), *(alone.divided(program.parts) for alone in times)


def grid_of(device: str, transport: str | None, shape: tuple[int, int] | None) -> distributed.Grid:
    """Return a grid of all processes that MPI started, whose arrays on GPUs go by a transport."""
    from semiring.distributed.mpi import world
    from semiring.distributed.nccl import NcclCommunicator
    from semiring.distributed.peer import PeerCommunicator

    if device != "cuda" or transport is None:
        return distributed.Grid(shape=shape, device=device)
    if transport == "mpi":
        return distributed.Grid(world(), shape=shape, device=device)
    made = PeerCommunicator(world()) if transport == "peer" else NcclCommunicator(world())
    return distributed.Grid(made, shape=shape, device=device)


OPTIONS = {
    "programs": (tuple(PROGRAMS), "those that are measured", tuple(PROGRAMS)),
    "scale": (0, "of every graph; 0: that of the program"),
    "runs": (5, "of each program"),
    "shape": ("", "rows and columns of the grid, as 2x1; by default nearly square"),
    "grid_only": (False, "a graph that one process cannot hold"),
    "transport": (None, "of arrays on GPUs; by default that of the grid", ("peer", "nccl", "mpi")),
}


def main(run: Run) -> int:
    """Measure the programs; process 0 reports them."""
    options = run.options
    rows, _, cols = options.shape.partition("x")
    grid = grid_of(run.device, options.transport, (int(rows), int(cols)) if cols else None)
    run.result = f"grids-{grid.size}"
    for name in options.programs:
        program = PROGRAMS[name]
        scale = options.scale or program.scale
        before = grid.traffic.bytes
        on_grid, *alone = measured(program, scale, grid, options.runs, both=not options.grid_only)
        if grid.rank == 0:
            each = f", one of {program.parts}" if program.parts > 1 else ""
            by = f", {options.transport}" if options.transport else ""
            what = f"{name}, kron{scale}{each}, on {grid.device}{by}"
            sent = f"process 0 sent {(grid.traffic.bytes - before) / 2**20:.4g} MiB in all runs and checks"
            run.timed(what, dict(zip(("grid", "one process"), (on_grid, *alone), strict=False)), note=sent)
            if alone and grid.size == 2:
                ratio = alone[0].median / on_grid.median
                run.add(f"{name}, times as fast as one process", "x", ratio, program.at_least, at_most=False)
    return int(grid.rank == 0 and run.report.failed)
