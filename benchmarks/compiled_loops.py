"""Programs of `tests/loops/programs.py`, compiled by `sr.compile`, beside the same step by step and the library's own.

    python -m benchmarks.compiled_loops                 the CPU engine, all programs
    python -m benchmarks.compiled_loops --only path     those whose names contain the word

A figure is the time of the compiled program over that of the function of the library, on the same graph in the same
run, in turns; the target is that of user programs on two cores.  Results are compared before they are timed.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

import semiring as sr
from semiring import Matrix
from tests.loops import programs

from . import arguments, graphs, machine
from .report import Peer, Report, Row

ROADS = machine.ROOT / "semiring" / "data" / "NY.gr.xz"
_TURNS, _TARGET = 7, 1.5
_LONG_S = 1.0


def cases() -> Iterator[tuple[str, Callable[..., Any], Matrix, tuple[Any, ...], Callable[[], Any] | None]]:
    """Name, program, graph, further arguments, and the call of the library for the same purpose."""
    at = np.arange(999_999)
    path = Matrix.from_coo(np.r_[at, at + 1], np.r_[at + 1, at], True, nrows=1_000_000, ncols=1_000_000)
    roads = sr.io.read(ROADS).apply("one").dup(bool)
    searched = {
        "kron12": sr.random.kronecker(12, 16, seed=graphs.SEED),
        "kron16": sr.random.kronecker(16, 16, seed=graphs.SEED),
        "roads of New York": roads, "path of 10^6": path,
    }  # fmt: skip
    for name, A in searched.items():
        s = int(A.reduce_rowwise(sr.agg.count).to_coo()[0][0])
        yield f"bfs_levels, {name}", programs.bfs_levels, A, (s,), partial(sr.algorithms.bfs_levels, A, s)
    A = searched["kron12"]
    W = A.apply("rowindex").ewise_mult(A.apply("colindex"), "plus").apply("band", right=15).dup(float)
    W << W + 1.0
    s = int(A.reduce_rowwise(sr.agg.count).to_coo()[0][0])
    F = A.dup(float)
    yield "bfs_parents, kron12", programs.bfs_parents, A, (s,), partial(sr.algorithms.bfs_parents, A, s)
    yield "rank_steps, kron12", programs.rank_steps, F, (), lambda: _ranks(F)
    yield "components, kron12", programs.components, A, (), partial(sr.algorithms.connected_components, A)
    yield "bellman_ford, kron12", programs.bellman_ford, W, (s,), partial(sr.algorithms.sssp, W, s)
    yield (
        "independent_set, kron12",
        programs.independent_set,
        A,
        (1,),
        partial(sr.algorithms.maximal_independent_set, A, seed=1),
    )
    yield "core_numbers, kron12", programs.core_numbers, A, (), partial(sr.algorithms.core_numbers, A)


def _ranks(A: Matrix) -> Any:
    try:
        return sr.algorithms.pagerank(A, max_iter=20, tol=1e-30)
    except sr.exceptions.ConvergenceFailure as error:
        return error.result


def _samples(call: Callable[[], Any], turns: int) -> list[float]:
    made = []
    for _ in range(turns):
        begin = time.perf_counter()
        call()
        made.append((time.perf_counter() - begin) * 1e3)
        if made[-1] > _LONG_S * 1e3:
            break
    return made


def main() -> int:
    """Measure as the command line selects."""
    parser = arguments.parser("compiled_loops", __doc__)
    parser.add_argument("--only", default="", help="a word of the names")
    options = parser.parse_args()
    report = Report("compiled-loops", "cpu", options.out)
    with sr.use("cpu"):
        for name, function, A, rest, library in cases():
            if options.only not in name:
                continue
            compiled = sr.compile(strict=True)(function)
            begin = time.perf_counter()
            found = compiled(A, *rest)
            first = time.perf_counter() - begin
            if "path" not in name:
                expected = function(A, *rest)
                assert expected.isequal(found) or expected.isclose(found), name
            elif library is not None:
                assert library().isequal(found), name
            ours = _samples(lambda: compiled(A, *rest), _TURNS)  # noqa: B023
            plain = _samples(lambda: function(A, *rest), _TURNS if "path" not in name else 1)  # noqa: B023
            peers = [Peer("step by step", statistics.median(plain), samples=tuple(plain))]
            ratio = None
            if library is not None:
                library()
                theirs = _samples(library, _TURNS)
                peers.append(Peer("library", statistics.median(theirs), samples=tuple(theirs)))
                ratio = statistics.median(ours) / statistics.median(theirs)
            report.add(
                Row(
                    name,
                    "x library",
                    ratio,
                    _TARGET,
                    peers=tuple(peers),
                    note=f"compiled {statistics.median(ours):.3g} ms; first call {first:.2g} s",
                    samples=tuple(ours),
                )
            )
    report.close()
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
