"""Products with dense matrices: beside cuSPARSE on a GPU, beside SciPy and SuiteSparse on a CPU.

Operands and results are in the memory of the device; the first call of a matrix,
which caches the segments of its long rows, is not timed.  cuSPARSE writes to memory that is allocated beforehand, and
its analysis of the matrix is not timed either.
On a CPU the least times are compared; SuiteSparse uses as many threads as the CPU engine, SciPy one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import semiring as sr

from .. import graphs, peers
from ..case import Run
from ..harness import RUNS, Contender, Samples, compare, measure, unchecked
from ..report import Peer

FEATURES = 64
WIDTHS = (1, 8, 64, 128, 256)
# cuSPARSE's time over ours, for FEATURES columns of float32.
AS_FAST = 1.0
SEMIRINGS = ("min_plus", "plus_second", "any_secondi", "lor_land", "plus_pair")
SIZE = 768
SUITESPARSE = "SuiteSparse"
CPU_SEMIRINGS = ("min_plus", "max_second")


def _random(A: sr.Matrix, shape: tuple[int, int], dtype: Any = np.float32, seed: int = 1) -> Any:
    """A random array on the device of A."""
    return graphs.module(A).random.default_rng(seed).random(shape, dtype=dtype)


def _close(made: Any, expected: Any) -> None:
    assert float(abs(made - expected).max()) <= 1e-4 * float(abs(expected).max())


def _report(run: Run, what: str, found: dict[str, Samples], *, bound: bool) -> None:
    """Report a time beside its peers, and the ratio of the best of them to it."""
    run.timed(what, found)
    ours, *others = (samples.median for samples in found.values())
    if others and bound:
        run.add(f"{what}, the best peer", "x ours", min(others) / ours, AS_FAST, at_most=False)


def spmm(A: sr.Matrix, name: str, width: int, dtype: Any, run: Run) -> None:
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
    _report(run, f"A X, {name} x {width} {np.dtype(dtype).name}", found, bound=bound)


def _spmm_peers(A: sr.Matrix, X: Any) -> dict[str, Callable[[int], Any]]:
    from .. import cusparse

    made: dict[str, Callable[[int], Any]] = {}
    for algorithm in cusparse.ALGORITHMS:
        call, Y = cusparse.spmm(A, X, algorithm)

        def run(_: int, call: Callable[[], None] = call, Y: Any = Y) -> Any:
            call()
            return Y

        made[f"cuSPARSE {algorithm}"] = run
    return made


def sddmm(M: sr.Matrix, name: str, run: Run) -> None:
    """C<M.S> = X Y' for dense X and Y."""
    X, Y = _random(M, (M.nrows, FEATURES), seed=2), _random(M, (M.ncols, FEATURES), seed=3)
    A, B = sr.Matrix.from_dense(X, copy=False), sr.Matrix.from_dense(Y, copy=False)
    rows, columns, _ = M.to_coo()
    some = slice(None, None, max(1, M.nvals // 10_000))
    expected = (X[rows[some]] * Y[columns[some]]).sum(axis=1)

    def check(_: int, C: Any) -> None:
        _close((C.to_coo()[2] if isinstance(C, sr.Matrix) else C)[some], expected)

    from .. import cusparse

    call, values = cusparse.sddmm(M, X, Y)

    def theirs(_: int) -> Any:
        call()
        return values

    contenders = {"mxm": Contender(lambda _: A.mxm(B.T, mask=M.S).wait(), check), "cuSPARSE": Contender(theirs, check)}
    found = compare(contenders, range(RUNS), M.device)
    _report(run, f"X Y' under {name}, {FEATURES} float32", found, bound=True)
    for ring in SEMIRINGS:
        taken = measure(lambda _, r=ring: A.mxm(B.T, r, mask=M.S).wait(), unchecked, range(RUNS), M.device)  # type: ignore[misc]
        run.timed(f"X Y' under {name}, {FEATURES} float32, {ring}", taken)


def semirings(A: sr.Matrix, name: str, run: Run) -> None:
    """A X over other semirings; of rows that are partly empty; and X' A."""
    B = sr.Matrix.from_dense(_random(A, (A.ncols, FEATURES)), copy=False)
    calls: dict[str, Callable[[], sr.Matrix]] = {ring: lambda r=ring: A.mxm(B, r).wait() for ring in SEMIRINGS}  # type: ignore[misc]
    C, T = A.mxm(B).wait(), B.T.new()
    calls["plus_times, X with empty rows"] = lambda: A.mxm(C).wait()
    calls["plus_times, X' A"] = lambda: T.mxm(A).wait()
    for what, call in calls.items():
        taken = measure(lambda _, c=call: c(), unchecked, range(RUNS), A.device)  # type: ignore[misc]
        run.timed(f"A X, {name} x {FEATURES} float32, {what}", taken)


def dense(A: sr.Matrix, size: int, run: Run) -> None:
    """Products of two dense matrices: square, with few columns, and with few rows and columns."""
    shapes = {
        f"{size} x {size} x {size}": ((size, size), (size, size)),
        f"{A.nrows} x 64 x 64": ((A.nrows, 64), (64, 64)),
        f"64 x {A.nrows} x 64": ((64, A.nrows), (A.nrows, 64)),
    }
    for what, (left, right) in shapes.items():
        X, Y = (sr.Matrix.from_dense(_random(A, shape), copy=False) for shape in (left, right))
        for ring in ("plus_times", "min_plus"):
            taken = measure(lambda _, x=X, y=Y, r=ring: x.mxm(y, r).wait(), unchecked, range(RUNS), A.device)  # type: ignore[misc]
            run.timed(f"X Y, {what} float32, {ring}", taken)


class Peers:
    """Operands of one type, as matrices of each library."""

    def __init__(self, A: sr.Matrix, dtype: str) -> None:
        rng = np.random.default_rng(1)
        self.A = A.dup(np.dtype(dtype))
        self.X = sr.Matrix.from_dense(rng.random((A.nrows, FEATURES)).astype(dtype))
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


def _in_turns(run: Run, what: str, ours: Callable[[], sr.Matrix], others: dict[str, Callable[[], Any]]) -> None:
    """Report the least time, and for each peer the ratio of its least time to ours."""
    expected = _array(ours())

    def check(_: int, made: Any) -> None:
        np.testing.assert_allclose(_array(made), expected, rtol=1e-3)

    calls = {"mxm": ours, **others}
    found = compare({name: Contender(lambda _, c=call: c(), check) for name, call in calls.items()}, range(RUNS), "cpu")  # type: ignore[misc]
    least = found["mxm"].least
    beside = tuple(Peer(name, found[name].least, samples=found[name].wall_ms) for name in others)
    run.add(what, "ms", least, peers=beside, note=found["mxm"].spread, samples=found["mxm"].wall_ms)
    for name in others:
        run.add(f"{what}: {name}", "x ours", found[name].least / least, 1.0, at_most=False)


def on_cpu(name: str, dtype: str, run: Run) -> None:
    """A X, X' A, and X X' under A, of one graph."""
    p = Peers(graphs.floats(graphs.make(name), np.float32), dtype)
    A, X, T = p.A, p.X, p.T
    what = f"{name} x {FEATURES} {dtype}"
    scipy = {"SciPy": lambda: p.S @ p.x}
    _in_turns(run, f"A X, {what}", lambda: A.mxm(X).wait(), scipy | p.over("plus_times", lambda: p.GA @ p.GX))
    for ring in CPU_SEMIRINGS if dtype == "float32" else ():
        _in_turns(run, f"A X, {what}, {ring}", lambda r=ring: A.mxm(X, r).wait(), p.over(ring, lambda: p.GA @ p.GX))  # type: ignore[misc]
    scipy = {"SciPy": lambda: p.t @ p.S}
    _in_turns(run, f"X' A, {what}", lambda: T.mxm(A).wait(), scipy | p.over("plus_times", lambda: p.GT @ p.GA))
    under = {} if p.library is None else {"mask": p.GA.S}
    dots = p.over("plus_times", lambda: p.GX @ p.GX.T, **under)
    _in_turns(run, f"X X' under A, {what}", lambda: X.mxm(X.T, mask=A.S).wait(), dots)


def square(dtype: str, run: Run) -> None:
    """The product of two square dense matrices over min_plus, which no BLAS has."""
    array = np.random.default_rng(2).random((SIZE, SIZE)).astype(dtype)
    X = sr.Matrix.from_dense(array)
    others: dict[str, Callable[[], Any]] = {}
    if peers.graphblas_available():
        library = peers.graphblas()
        G = library.Matrix.from_dense(array)
        others[SUITESPARSE] = lambda: library.semiring.min_plus(G @ G).new()
    _in_turns(run, f"X X, {SIZE} x {SIZE} {dtype}, min_plus", lambda: X.mxm(X, "min_plus").wait(), others)


OPTIONS = {
    "graphs": ({"cuda": ("kron20",), "cpu": ("kron16", "kron18")}, "with rows of very different lengths"),
    "grid": ("grid2000x2000", "with short rows; on a GPU"),
    "size": (2048, "of square dense matrices; on a GPU"),
}


def main(run: Run) -> None:
    """The products of the device."""
    if not run.on_gpu:
        for name in run.options.graphs:
            for dtype in ("float32", "float64"):
                on_cpu(name, dtype, run)
        square("float32", run)
        return
    for name in run.options.graphs:
        A = graphs.floats(graphs.make(name), np.float32)
        for width in WIDTHS:
            spmm(A, name, width, np.float32, run)
        spmm(A, name, FEATURES, np.float64, run)
        sddmm(A, name, run)
        semirings(A, name, run)
    G = graphs.floats(graphs.make(run.options.grid), np.float32)
    for width in (8, FEATURES):
        spmm(G, run.options.grid, width, np.float32, run)
    dense(A, run.options.size, run)
