"""Products with dense matrices on a CPU, beside SciPy and SuiteSparse.

    python -m benchmarks.cpu_dense                      kron16 and kron18 with 64 columns
    python -m benchmarks.cpu_dense --graphs kron12      smaller, to try the program itself

Exits with 1 if a peer is faster.  The contenders run in turns, and their least times are compared, because other load
on the machine affects all of them.  SuiteSparse uses as many threads as the CPU engine, SciPy one.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

import semiring as sr

from . import arguments, graphs, peers
from .harness import RUNS, Contender, compare
from .report import Peer, Report, Row

COLUMNS = 64
SIZE = 768
SUITESPARSE = "SuiteSparse"
SEMIRINGS = ("min_plus", "max_second")


class Peers:
    """Operands of one type, as matrices of each library."""

    def __init__(self, A: sr.Matrix, dtype: str) -> None:
        rng = np.random.default_rng(1)
        self.A = A.dup(np.dtype(dtype))
        self.X = sr.Matrix.from_dense(rng.random((A.nrows, COLUMNS)).astype(dtype))
        self.T = self.X.T.new()
        self.S, self.x, self.t = sr.io.to_scipy_sparse(self.A), self.X.to_dense(), self.T.to_dense()
        self.library = peers.graphblas() if peers.graphblas_available() else None
        if self.library is not None:
            self.GA = self.library.Matrix.from_coo(*self.A.to_coo(), nrows=A.nrows, ncols=A.ncols)
            self.GX, self.GT = (self.library.Matrix.from_dense(array) for array in (self.x, self.t))

    def over(self, ring: str, product: Callable[[], Any], **mask: Any) -> dict[str, Callable[[], Any]]:
        """The same product by SuiteSparse, if it is installed."""
        if self.library is None:
            return {}
        semiring = getattr(self.library.semiring, ring)
        return {SUITESPARSE: lambda: semiring(product()).new(**mask)}


def _array(made: Any) -> Any:
    """The values of a result: of all positions, with 0 where nothing is stored, or of the entries if they are few."""
    if isinstance(made, np.ndarray):
        return made
    return made.to_dense(0) if made.nvals * 2 > made.nrows * made.ncols else made.to_coo()[2]


def _in_turns(report: Report, what: str, ours: Callable[[], sr.Matrix], others: dict[str, Callable[[], Any]]) -> None:
    """Report the least time, and for each peer the ratio of its least time to ours."""
    expected = _array(ours())

    def check(_: int, made: Any) -> None:
        np.testing.assert_allclose(_array(made), expected, rtol=1e-3)

    calls = {"mxm": ours, **others}
    found = compare({name: Contender(lambda _, c=call: c(), check) for name, call in calls.items()}, range(RUNS), "cpu")  # type: ignore[misc]
    least = found["mxm"].least
    beside = tuple(Peer(name, found[name].least, samples=found[name].wall_ms) for name in others)
    report.add(Row(what, "ms", least, peers=beside, note=found["mxm"].spread, samples=found["mxm"].wall_ms))
    for name in others:
        report.add(Row(f"{what}: {name}", "x ours", found[name].least / least, 1.0, at_most=False))


def products(name: str, dtype: str, report: Report) -> None:
    """A X, X' A, and X X' under A, of one graph."""
    p = Peers(graphs.floats(graphs.make(name), np.float32), dtype)
    A, X, T = p.A, p.X, p.T
    what = f"{name} x {COLUMNS} {dtype}"
    scipy = {"SciPy": lambda: p.S @ p.x}
    _in_turns(report, f"A X, {what}", lambda: A.mxm(X).wait(), scipy | p.over("plus_times", lambda: p.GA @ p.GX))
    for ring in SEMIRINGS if dtype == "float32" else ():
        _in_turns(report, f"A X, {what}, {ring}", lambda r=ring: A.mxm(X, r).wait(), p.over(ring, lambda: p.GA @ p.GX))  # type: ignore[misc]
    scipy = {"SciPy": lambda: p.t @ p.S}
    _in_turns(report, f"X' A, {what}", lambda: T.mxm(A).wait(), scipy | p.over("plus_times", lambda: p.GT @ p.GA))
    under = {} if p.library is None else {"mask": p.GA.S}
    dots = p.over("plus_times", lambda: p.GX @ p.GX.T, **under)
    _in_turns(report, f"X X' under A, {what}", lambda: X.mxm(X.T, mask=A.S).wait(), dots)


def dense(dtype: str, report: Report) -> None:
    """The product of two square dense matrices over min_plus, which no BLAS has."""
    array = np.random.default_rng(2).random((SIZE, SIZE)).astype(dtype)
    X = sr.Matrix.from_dense(array)
    others: dict[str, Callable[[], Any]] = {}
    if peers.graphblas_available():
        library = peers.graphblas()
        G = library.Matrix.from_dense(array)
        others[SUITESPARSE] = lambda: library.semiring.min_plus(G @ G).new()
    _in_turns(report, f"X X, {SIZE} x {SIZE} {dtype}, min_plus", lambda: X.mxm(X, "min_plus").wait(), others)


def main() -> int:
    """Run the measurements that the command line selects."""
    parser = arguments.parser("cpu_dense", __doc__)
    parser.add_argument("--graphs", nargs="*", default=("kron16", "kron18"), metavar="GRAPH")
    asked = parser.parse_args()
    with sr.use("cpu"):
        report = Report("dense", "cpu", asked.out)
        for name in asked.graphs:
            for dtype in ("float32", "float64"):
                products(name, dtype, report)
        dense("float32", report)
        report.close()
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
