"""Operations of the CPU engine beside SuiteSparse (python-graphblas), on the same arrays and threads.

The two take turns, call by call, so that other load on the
machine affects both alike; a figure is the ratio of the shortest times, and its note has the ratio of the medians.  On
a busy machine, times on all cores depend on how each library waits for a thread that does not run; the processor time
of one thread does not.  The results are complete when a call returns, stored by row, and compared with each other
before the measurement.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numba
import numpy as np

import semiring as sr

from .. import checks, graphs, machine, peers
from ..case import ONLY, Run

# At least: as fast as SuiteSparse.
TARGET = 1.0
PEER = "SuiteSparse"
_PAUSE = 0.006  # seconds


@dataclass(frozen=True)
class Operation:
    """One operation of both libraries.

    ours, theirs: a call without arguments; it returns a Matrix, a Vector or a number of its library.  renewed: what
    `ours` is called with if it caches its result with its operand: a new operand for each call, made before the timing.
    rtol: the tolerance of the comparison of values.
    """

    name: str
    ours: Callable[..., Any]
    theirs: Callable[[], Any]
    renewed: Callable[[], Any] | None = None
    rtol: float = 0.0

    def call(self) -> Callable[[], Any]:
        """A call of ours that can be timed."""
        return self.ours if self.renewed is None else partial(self.ours, self.renewed())


class Pair:
    """The same object in both libraries."""

    def __init__(self, ours: Any) -> None:
        gb = peers.graphblas()
        self.ours = ours
        if isinstance(ours, sr.Matrix):
            indptr, indices, values = ours.to_csr()
            self.theirs = gb.Matrix.from_csr(indptr, indices, values, ncols=ours.ncols)
        else:
            self.theirs = gb.Vector.from_coo(*ours.to_coo(), size=ours.size)


def products(A: sr.Matrix) -> Iterator[Operation]:
    """Products with a dense vector, and one step of a search."""
    gb = peers.graphblas()
    for dtype in (np.float32, np.float64):
        M, x = Pair(graphs.floats(A, dtype)), Pair(sr.Vector.from_dense(graphs.dense(A, dtype)))
        for ring in ("plus_times", "min_plus"):
            theirs = getattr(gb.semiring, ring)
            yield Operation(
                f"mxv {ring} {np.dtype(dtype).name}",
                lambda M=M, x=x, ring=ring: M.ours.mxv(x.ours, ring).wait(),
                lambda M=M, x=x, ring=theirs: ring(M.theirs @ x.theirs).new().wait(),  # type: ignore[misc]
                rtol=1e-4 if dtype == np.float32 else 1e-12,
            )
    S = Pair(A)
    rng = np.random.default_rng(3)
    for share in (1000, 20):
        frontier, visited = (np.unique(rng.integers(0, A.nrows, size)) for size in (A.nrows // share, A.nrows // 10))
        f = Pair(sr.Vector.from_coo(frontier, True, size=A.nrows))
        v = Pair(sr.Vector.from_coo(visited, True, size=A.nrows))
        if share < 100:  # SuiteSparse computes dot products here: some thousand times as long for the smaller frontier
            yield Operation(
                f"mxv any_pair, frontier of n/{share}, masked",
                lambda f=f, v=v: S.ours.mxv(f.ours, "any_pair", mask=~v.ours.S).wait(),
                lambda f=f, v=v: gb.semiring.any_pair(S.theirs @ f.theirs).new(mask=~v.theirs.S).wait(),  # type: ignore[misc]
            )
        yield Operation(
            f"vxm any_pair, frontier of n/{share}, masked",
            lambda f=f, v=v: f.ours.vxm(S.ours, "any_pair", mask=~v.ours.S).wait(),
            lambda f=f, v=v: gb.semiring.any_pair(f.theirs @ S.theirs).new(mask=~v.theirs.S).wait(),  # type: ignore[misc]
        )


def elementwise(A: sr.Matrix) -> Iterator[Operation]:
    """The matrix with another graph of its size, and with its own lower triangle."""
    gb = peers.graphblas()
    M = Pair(graphs.floats(A, np.float32))
    scale = A.nrows.bit_length() - 1
    others = {
        "another graph": Pair(graphs.floats(sr.random.kronecker(scale, 16, seed=graphs.SEED + 1), np.float32)),
        "its triangle": Pair(M.ours.select("tril", -1)),
    }
    for name, B in others.items():
        yield Operation(
            f"ewise_add, {name}",
            lambda B=B: M.ours.ewise_add(B.ours, "plus").wait(),
            lambda B=B: M.theirs.ewise_add(B.theirs, gb.binary.plus).new().wait(),  # type: ignore[misc]
        )
        yield Operation(
            f"ewise_mult, {name}",
            lambda B=B: M.ours.ewise_mult(B.ours, "times").wait(),
            lambda B=B: M.theirs.ewise_mult(B.theirs, gb.binary.times).new().wait(),  # type: ignore[misc]
        )


def reductions(A: sr.Matrix) -> Iterator[Operation]:
    """Sums of rows, of columns, and of all entries."""
    gb = peers.graphblas()
    M = Pair(graphs.floats(A, np.float32))
    yield Operation(
        "reduce rows",
        lambda: M.ours.reduce_rowwise("plus").wait(),
        lambda: M.theirs.reduce_rowwise(gb.monoid.plus).new().wait(),
        rtol=1e-4,
    )
    yield Operation(
        "reduce columns",
        lambda: M.ours.reduce_columnwise("plus").wait(),
        lambda: M.theirs.reduce_columnwise(gb.monoid.plus).new().wait(),
        rtol=1e-4,
    )
    yield Operation(
        "reduce rows, max",
        lambda: M.ours.reduce_rowwise("max").wait(),
        lambda: M.theirs.reduce_rowwise(gb.monoid.max).new().wait(),
    )
    yield Operation(
        "reduce scalar",
        lambda: M.ours.reduce_scalar("plus").value,
        lambda: M.theirs.reduce_scalar(gb.monoid.plus).new().value,
        rtol=1e-3,
    )


def structural(A: sr.Matrix) -> Iterator[Operation]:
    """Operations that move entries or change their values."""
    gb = peers.graphblas()
    M = Pair(graphs.floats(A, np.float32))
    yield Operation(
        "select tril",
        lambda: M.ours.select("tril", -1).wait(),
        lambda: M.theirs.select("tril", -1).new().wait(),
    )
    yield Operation(
        "select value > 1",
        lambda: M.ours.select("valuegt", 1.0).wait(),
        lambda: M.theirs.select(">", np.float32(1)).new().wait(),
    )
    yield Operation(
        "transpose",
        lambda other: other.transpose().wait(),
        lambda: M.theirs.T.new().wait(),
        renewed=lambda: sr.Matrix.from_csr(*M.ours.to_csr(index_dtype=None), ncols=A.ncols, copy=False),
    )
    yield Operation(
        "apply ainv",
        lambda: M.ours.apply("ainv").wait(),
        lambda: M.theirs.apply(gb.unary.ainv).new().wait(),
    )
    yield Operation(
        "apply sqrt",
        lambda: M.ours.apply("sqrt").wait(),
        lambda: M.theirs.apply(gb.unary.sqrt).new().wait(),
        rtol=1e-6,
    )
    yield Operation(
        "apply times 3",
        lambda: M.ours.apply("times", right=np.float32(3)).wait(),
        lambda: M.theirs.apply(gb.binary.times, right=np.float32(3)).new().wait(),
    )
    half = np.sort(np.random.default_rng(5).permutation(A.nrows)[: A.nrows // 2])
    for name, rows, cols in (
        ("the first half of the rows", slice(0, A.nrows // 2), slice(None)),
        ("every second row", slice(0, A.nrows, 2), slice(None)),
        ("half of the rows, random", half, slice(None)),
        ("half of the rows and columns, random", half, half),
    ):
        yield Operation(
            f"extract {name}",
            lambda rows=rows, cols=cols: M.ours.extract(rows, cols).wait(),
            lambda rows=rows, cols=cols: M.theirs[rows, cols].new().wait(),  # type: ignore[misc]
        )


def equal(operation: Operation) -> None:
    """Raise AssertionError unless both libraries compute the same entries."""
    ours, theirs = operation.call()(), operation.theirs()
    if not isinstance(ours, (sr.Matrix, sr.Vector)):
        checks.close(np.asarray([ours]), np.asarray([theirs]), operation.rtol)
        return
    for mine, other in zip(_entries(ours), _entries(theirs), strict=True):
        np.testing.assert_allclose(mine, other, rtol=operation.rtol, err_msg=operation.name)


def _entries(made: Any) -> tuple[Any, ...]:
    arrays: tuple[Any, ...] = made.to_csr() if made.ndim == 2 else made.to_coo()
    return arrays


def measure(operation: Operation, runs: int, clock: Callable[[], float]) -> tuple[list[float], list[float]]:
    """The times of both, in milliseconds; each begins every second turn.

    A timed call follows an untimed one, and that follows a pause: OpenMP's threads spin for milliseconds after a
    parallel region, on the cores of the next call, before they sleep.
    """
    times: tuple[list[float], list[float]] = ([], [])
    for run in range(runs):
        for side in (0, 1) if run % 2 else (1, 0):
            time.sleep(_PAUSE)
            for timed in (False, True):
                call = operation.theirs if side else operation.call()
                start = clock()
                result = call()
                taken = 1e3 * (clock() - start)
                del result
                if timed:
                    times[side].append(taken)
    return times


def add(run: Run, name: str, clock: Callable[[], float], operation: Operation) -> None:
    """Verify, measure and report one operation."""
    equal(operation)
    ours, theirs = measure(operation, run.options.runs, clock)
    least, median = min(theirs) / min(ours), statistics.median(theirs) / statistics.median(ours)
    note = (
        f"ours {min(ours):.4g} ms (median {statistics.median(ours):.4g}), "
        f"{PEER} {min(theirs):.4g} ms (median {statistics.median(theirs):.4g}), by medians {median:.2f} x"
    )
    facts = {"theirs_ms": theirs}
    what = f"{name} {operation.name}"
    run.add(what, "x faster", least, TARGET, at_most=False, note=note, samples=tuple(ours), facts=facts)


DEVICE = "cpu"
ROWS = (products, elementwise, reductions, structural)
OPTIONS = {
    "graphs": (("kron16", "kron17", "kron18"), "whose operations are measured"),
    "one_core": (False, "processor time of one thread"),
    "runs": (25, "of each operation"),
    "only": ONLY,
}


def main(run: Run) -> None:
    """The operations that are selected on each graph."""
    one_core = run.options.one_core
    threads = 1 if one_core else machine.facts("cpu")["cores"]
    peers.graphblas().ss.config["nthreads"] = numba.config.NUMBA_NUM_THREADS = threads  # type: ignore[attr-defined]
    clock = time.process_time if one_core else time.perf_counter
    run.result = "operations-one-core" if one_core else "operations"
    for name in run.options.graphs:
        A = graphs.make(name)
        for group in run.chosen(ROWS):
            for operation in group(A):
                if run.selects(operation.name):
                    add(run, name, clock, operation)
