"""Bytes, messages and collectives that programs send on grids of processes, counted beside formulas.

Each row is one program on one grid: collectives, messages and bytes that a rank sent in a second run, on average, and
at most; bytes in the first run, with what is kept afterwards, such as transposes and replicas; and the bytes of the
formula, where one depends on the grid and the graph alone.  Nothing is timed: ranks are threads in turns.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import semiring as sr
from semiring import Matrix, Vector, distributed

from ..case import Run
from ..machine import describe

# Of searches: a row with entries in all Kronecker graphs of this seed.
SOURCE = 5
SOURCES = list(range(64))


@dataclass(frozen=True)
class Program:
    """A program and the bytes that a rank sends in it, of p ranks on an r x c grid, for n rows and m entries."""

    run: Callable[[Matrix], Any]
    formula: Callable[[int, int, int, int], float] | None = None


def iteration(A: Matrix) -> Vector:
    """One product of a full vector of float64, as in PageRank."""
    return Vector.from_dense(np.arange(A.nrows) + 0.5).to(A.device).vxm(A, "plus_first").new()


def parents(A: Matrix) -> Vector:
    """The rows from which a search arrives, by a masked product for each level."""
    reached = Vector.from_coo([SOURCE], [SOURCE], size=A.nrows, device=A.device)
    frontier = reached.dup()
    while frontier.nvals:
        frontier(~reached.S, replace=True) << frontier.vxm(A, "any_secondi")
        reached(frontier.S) << frontier
    return reached


def weighted(A: Matrix) -> Matrix:
    """The weights 1 to 17, by the row."""
    return A.apply("rowindex").new().apply("mod", right=17).new().apply("plus", right=1).new().dup(dtype=np.float64)


def vector_bytes(r: int, c: int, n: int, itemsize: int) -> float:
    """The segments of a row of the grid, and of a column: every rank sends one to each of c - 1 and r - 1 others."""
    return (r + c - 2) * n / (r * c) * itemsize


PROGRAMS: dict[str, Program] = {
    "product, full vector": Program(iteration, lambda r, c, n, m: vector_bytes(r, c, n, 8)),
    "mxm, plus_pair, masked": Program(
        lambda A: A.mxm(A, "plus_pair").new(mask=A.S), lambda r, c, n, m: (r + c - 2) * (2 * m + 2 * n) / (r * c)
    ),
    "BFS, levels": Program(lambda A: sr.algorithms.bfs_levels(A, SOURCE)),
    "BFS, parents": Program(lambda A: sr.algorithms.bfs_parents(A, SOURCE)),
    "parents, masked products": Program(parents),
    "shortest paths": Program(lambda A: sr.algorithms.sssp(weighted(A), SOURCE)),
    "PageRank": Program(sr.algorithms.pagerank),
    "components": Program(sr.algorithms.connected_components, lambda r, c, n, m: (r * c - 1).bit_length() * 4 * n),
    "BFS, 64 sources": Program(lambda A: sr.algorithms.bfs_levels(A, SOURCES)),
    "triangles": Program(sr.algorithms.triangles),
    "betweenness, 64 sources": Program(lambda A: sr.algorithms.betweenness_centrality(A, sources=SOURCES)),
}


def measured(program: Program, A: Matrix, shape: tuple[int, int]) -> tuple[float, int, float, int, float]:
    """Return collectives, messages (most), bytes (mean and most) of a rank, and its bytes in the first run (mean)."""

    def run(grid: distributed.Grid) -> tuple[int, int, int, int]:
        B, sent = A.to(grid.device), grid.traffic
        start = sent.bytes
        program.run(B)  # what is derived once and kept
        before = sent.collectives, sent.messages, sent.bytes
        program.run(B)
        counts = sent.collectives - before[0], sent.messages - before[1], sent.bytes - before[2]
        return *counts, before[2] - start

    found = np.array(distributed.run(shape[0] * shape[1], run, shape=shape, device="cpu"))
    mean, most = found.mean(axis=0), found.max(axis=0)
    return float(mean[0]), int(most[1]), float(mean[2]), int(most[2]), float(mean[3])


def shape_of(text: str) -> tuple[int, int]:
    """The rows and columns of ``3x2``."""
    rows, cols = map(int, text.split("x"))
    return rows, cols


def grids(count: int) -> list[tuple[int, int]]:
    """The grid of rows alone, and the most square one."""
    side = int(count**0.5)
    square = next((count // c, c) for c in range(side, 0, -1) if count % c == 0)
    return [(count, 1)] if square == (count, 1) else [(count, 1), square]


DEVICE = "cpu"
OPTIONS = {
    "scale": (12, "of the Kronecker graph"),
    "ranks": ((1, 2, 4, 9, 16), "processes: grids of rows alone, and the most square ones"),
    "grids": ((), "these instead, as 2x1 3x2"),
    "programs": (tuple(PROGRAMS), "those that are counted", tuple(PROGRAMS)),
}


def main(run: Run) -> int:
    """Print the table."""
    A = sr.random.kronecker(run.options.scale, 16, seed=1)
    print(describe("cpu"))
    print(f"Kronecker graph of scale {run.options.scale}: {A.nrows} rows, {A.nvals} entries; what a rank sends")
    heads = (
        ("grid", 7),
        ("collectives", 13),
        ("messages", 10),
        ("bytes, mean", 13),
        ("most", 10),
        ("first run", 12),
        ("formula", 10),
    )
    print(f"{'program':26}" + "".join(f"{head:>{width}}" for head, width in heads))
    shapes = [shape_of(text) for text in run.options.grids]
    for name in run.options.programs:
        program = PROGRAMS[name]
        for shape in shapes or [shape for count in run.options.ranks for shape in grids(count)]:
            calls, messages, mean, most, first = measured(program, A, shape)
            expected = f"{program.formula(*shape, A.nrows, A.nvals):.0f}" if program.formula else "-"
            grid = "x".join(map(str, shape))
            print(
                f"{name:26}{grid:>7}{calls:13.0f}{messages:10}{mean:13.0f}{most:10}{first:12.0f}{expected:>10}",
                flush=True,
            )
    return 0
