"""Products with dense matrices on a GPU: sparse times dense, and dense under a sparse mask, beside cuSPARSE.

    python -m benchmarks.dense                              kron20, a grid, and dense matrices
    python -m benchmarks.dense --graph kron12 --grid grid100x100     smaller, to try the program itself

Exits with 1 if a target is missed.  Operands and results are in the memory of the device; the first call of a matrix,
which caches the segments of its long rows, is not timed.  cuSPARSE writes to memory that is allocated beforehand, and
its analysis of the matrix is not timed either.  ``--device cpu`` tries the program without cuSPARSE; see `cpu_dense`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

import semiring as sr

from . import arguments, graphs
from .harness import RUNS, Contender, Samples, compare, measure
from .report import Peer, Report, Row, timed

FEATURES = 64
WIDTHS = (1, 8, 64, 128, 256)
# cuSPARSE's time over ours, for FEATURES columns of float32.
AS_FAST = 1.0
SEMIRINGS = ("min_plus", "plus_second", "any_secondi", "lor_land", "plus_pair")


def _random(A: sr.Matrix, shape: tuple[int, int], dtype: Any = np.float32, seed: int = 1) -> Any:
    """A random array on the device of A."""
    return graphs.module(A).random.default_rng(seed).random(shape, dtype=dtype)


def _close(made: Any, expected: Any) -> None:
    assert float(abs(made - expected).max()) <= 1e-4 * float(abs(expected).max())


def _report(report: Report, what: str, found: dict[str, Samples], ours: str, *, bound: bool) -> None:
    """Report a time beside its peers, and the ratio of the best of them to it."""
    others = {name: samples for name, samples in found.items() if name != ours}
    peers = tuple(Peer(name, samples.median, samples=samples.wall_ms) for name, samples in others.items())
    report.add(timed(what, found[ours], peers=peers))
    if others and bound:
        best = min(samples.median for samples in others.values())
        report.add(Row(f"{what}, the best peer", "x ours", best / found[ours].median, AS_FAST, at_most=False))


def spmm(A: sr.Matrix, name: str, width: int, dtype: Any, report: Report) -> None:
    """A X for a dense X."""
    A = A.dup(dtype)
    X = _random(A, (A.ncols, width), dtype)
    B = sr.Matrix.from_dense(X, copy=False)
    expected = A.mxv(sr.Vector.from_dense(X[:, -1].copy())).to_dense(0)

    def check(_: int, Y: Any) -> None:
        _close((Y.to_dense(0) if isinstance(Y, sr.Matrix) else Y)[:, -1], expected)

    contenders = {"mxm": Contender(lambda _: A.mxm(B).wait(), check)}
    for peer, call in _spmm_peers(A, X).items():
        contenders[peer] = Contender(call, check)
    found = compare(contenders, range(RUNS), A.device)
    bound = width == FEATURES and np.dtype(dtype) == np.float32
    _report(report, f"A X, {name} x {width} {np.dtype(dtype).name}", found, "mxm", bound=bound)


def _spmm_peers(A: sr.Matrix, X: Any) -> dict[str, Callable[[int], Any]]:
    if A.device == "cpu":
        return {}
    from . import cusparse

    made: dict[str, Callable[[int], Any]] = {}
    for algorithm in cusparse.ALGORITHMS:
        call, Y = cusparse.spmm(A, X, algorithm)

        def run(_: int, call: Callable[[], None] = call, Y: Any = Y) -> Any:
            call()
            return Y

        made[f"cuSPARSE {algorithm}"] = run
    return made


def sddmm(M: sr.Matrix, name: str, report: Report) -> None:
    """C<M.S> = X Y' for dense X and Y."""
    X, Y = _random(M, (M.nrows, FEATURES), seed=2), _random(M, (M.ncols, FEATURES), seed=3)
    A, B = sr.Matrix.from_dense(X, copy=False), sr.Matrix.from_dense(Y, copy=False)
    rows, columns, _ = M.to_coo()
    some = slice(None, None, max(1, M.nvals // 10_000))
    expected = (X[rows[some]] * Y[columns[some]]).sum(axis=1)

    def check(_: int, C: Any) -> None:
        _close((C.to_coo()[2] if isinstance(C, sr.Matrix) else C)[some], expected)

    contenders = {"mxm": Contender(lambda _: A.mxm(B.T, mask=M.S).wait(), check)}
    if M.device == "cuda":
        from . import cusparse

        call, values = cusparse.sddmm(M, X, Y)

        def run(_: int) -> Any:
            call()
            return values

        contenders["cuSPARSE"] = Contender(run, check)
    found = compare(contenders, range(RUNS), M.device)
    _report(report, f"X Y' under {name}, {FEATURES} float32", found, "mxm", bound=True)
    for ring in SEMIRINGS:
        taken = measure(lambda _, r=ring: A.mxm(B.T, r, mask=M.S).wait(), _any, range(RUNS), M.device)  # type: ignore[misc]
        report.add(timed(f"X Y' under {name}, {FEATURES} float32, {ring}", taken))


def semirings(A: sr.Matrix, name: str, report: Report) -> None:
    """A X over other semirings; of rows that are partly empty; and X' A."""
    B = sr.Matrix.from_dense(_random(A, (A.ncols, FEATURES)), copy=False)
    calls: dict[str, Callable[[], sr.Matrix]] = {ring: lambda r=ring: A.mxm(B, r).wait() for ring in SEMIRINGS}  # type: ignore[misc]
    C, T = A.mxm(B).wait(), B.T.new()
    calls["plus_times, X with empty rows"] = lambda: A.mxm(C).wait()
    calls["plus_times, X' A"] = lambda: T.mxm(A).wait()
    for what, call in calls.items():
        taken = measure(lambda _, c=call: c(), _any, range(RUNS), A.device)  # type: ignore[misc]
        report.add(timed(f"A X, {name} x {FEATURES} float32, {what}", taken))


def dense(A: sr.Matrix, size: int, report: Report) -> None:
    """Products of two dense matrices: square, with few columns, and with few rows and columns."""
    shapes = {
        f"{size} x {size} x {size}": ((size, size), (size, size)),
        f"{A.nrows} x 64 x 64": ((A.nrows, 64), (64, 64)),
        f"64 x {A.nrows} x 64": ((64, A.nrows), (A.nrows, 64)),
    }
    for what, (left, right) in shapes.items():
        X, Y = (sr.Matrix.from_dense(_random(A, shape), copy=False) for shape in (left, right))
        for ring in ("plus_times", "min_plus"):
            taken = measure(lambda _, x=X, y=Y, r=ring: x.mxm(y, r).wait(), _any, range(RUNS), A.device)  # type: ignore[misc]
            report.add(timed(f"X Y, {what} float32, {ring}", taken))


def _any(*_: Any) -> None:
    """Accept a result that the tests verify."""


def main() -> int:
    """Run the measurements that the command line selects."""
    parser = arguments.parser("dense", __doc__)
    parser.add_argument("--graph", default="kron20", help="with rows of very different lengths")
    parser.add_argument("--grid", default="grid2000x2000", help="with short rows")
    parser.add_argument("--size", type=int, default=2048, help="of square dense matrices")
    asked = parser.parse_args()
    device = arguments.device_of(asked)
    with sr.use(device):
        report = Report("dense", device, asked.out)
        A = graphs.floats(graphs.make(asked.graph), np.float32)
        for width in WIDTHS:
            spmm(A, asked.graph, width, np.float32, report)
        spmm(A, asked.graph, FEATURES, np.float64, report)
        sddmm(A, asked.graph, report)
        semirings(A, asked.graph, report)
        G = graphs.floats(graphs.make(asked.grid), np.float32)
        for width in (8, FEATURES):
            spmm(G, asked.grid, width, np.float32, report)
        dense(A, asked.size, report)
        report.close()
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
