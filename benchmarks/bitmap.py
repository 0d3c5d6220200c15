"""Bitmap matrices beside the same matrices with rows: element-wise operations, reductions, single elements, products.

    python -m benchmarks.bitmap [--device cpu|cuda] [--size N] [--densities D ...] [--operations NAME ...]

Both formats are measured in turns on the same square float32 matrix; each row gives the time of the bitmap, and that of
the rows in multiples of it.  The number of entries and
their sum are verified against the other format once.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import semiring as sr
from semiring import Matrix, Vector

from . import arguments, graphs
from .harness import Contender, compare
from .report import Peer, Report, timed

SIZE = 2048
DENSITIES = (0.05, 0.25, 0.9)
WRITES = 100
RUNS = 7


@dataclass(frozen=True)
class Bench:
    """Where figures go, and what is measured."""

    report: Report
    device: str
    size: int
    runs: int


@dataclass(frozen=True)
class Operands:
    """Two matrices of one format, of the same size and density, and a vector."""

    a: Matrix
    b: Matrix
    u: Vector


# Each operation returns what it computes; a result is compared with that of the other format once.
OPERATIONS: dict[str, Callable[[Operands], Any]] = {
    "apply": lambda x: x.a.apply("abs").new(),
    "add": lambda x: x.a.ewise_add(x.b, "plus").new(),
    "multiply": lambda x: x.a.ewise_mult(x.b, "times").new(),
    "select": lambda x: x.a.select("valuegt", 0.5).new(),
    "masked": lambda x: _masked(x),
    "reduce": lambda x: x.a.reduce_scalar("max").value,
    "rows": lambda x: x.a.reduce_rowwise("max").new(),
    "columns": lambda x: x.a.reduce_columnwise("max").new(),
    "transpose": lambda x: fresh(x.a).T.new(),
    "part": lambda x: x.a[10:-10, 10:-10].new(),
    "get": lambda x: [x.a.get(k, 7, 0.0) for k in range(WRITES)],
    "set": lambda x: _written(x),
    "mxv": lambda x: x.a.mxv(x.u, "max_times").new(),
    "convert": lambda x: fresh(x.a).convert("csr" if x.a.format == "bitmap" else "bitmap"),
}


def _masked(x: Operands) -> Matrix:
    c = x.a.dup()
    c(~x.b.S, accum="plus") << x.b
    return c


def _written(x: Operands) -> Matrix:
    c = x.a.dup()
    for k in range(WRITES):
        c[k, 11] = float(k)
    _ = c.nvals
    return c


def operands(size: int, density: float, device: str) -> tuple[Operands, Operands]:
    """The same operands with rows and as bitmaps."""
    rng = graphs.module(Matrix(bool, 0, 0, device=device)).random.default_rng(1)
    bitmaps = [
        Matrix.from_dense(
            rng.random((size, size), dtype=np.float32) * (rng.random((size, size)) < density),
            missing_value=0,
            format="bitmap",
        )
        for _ in range(2)
    ]
    u = Vector.from_dense(rng.random(size, dtype=np.float32))
    rows = [a.dup().convert("csr") for a in bitmaps]
    return Operands(rows[0], rows[1], u), Operands(bitmaps[0], bitmaps[1], u)


def fresh(a: Matrix) -> Matrix:
    """The same matrix without cached rows or transpose."""
    pattern = replace(a.store.pattern, facts={})
    return a.with_store(replace(a.store, pattern=pattern, cache={}))


def _summary(made: Any) -> Any:
    """The number of entries of a result and their sum; a list of numbers itself.  Tests compare whole results."""
    if not isinstance(made, (Matrix, Vector)):
        return made
    total = made.dup(float).reduce("plus") if isinstance(made, Vector) else made.dup(float).reduce_scalar("plus")
    return made.nvals, total.value


def measure(bench: Bench, name: str, density: float, pair: tuple[Operands, Operands]) -> None:
    """Measure one operation on both formats."""
    call, (rows, bitmaps) = OPERATIONS[name], pair
    expected = _summary(call(rows))

    def check(number: int, made: Any) -> None:
        if number == 0:
            np.testing.assert_allclose(_summary(made), expected, rtol=1e-4)

    both = {"bitmap": Contender(lambda _: call(bitmaps), check), "rows": Contender(lambda _: call(rows), check)}
    found = compare(both, range(bench.runs), bench.device)
    peer = Peer("rows", found["rows"].median, samples=found["rows"].wall_ms)
    bench.report.add(timed(f"{name}, {bench.size} x {bench.size}, density {density}", found["bitmap"], peers=(peer,)))


def main() -> int:
    """Measure what the command line selects."""
    parser = arguments.parser("bitmap", __doc__)
    parser.add_argument("--size", type=int, default=SIZE, help=f"rows and columns, by default {SIZE}")
    parser.add_argument("--densities", type=float, nargs="+", default=DENSITIES)
    parser.add_argument("--operations", nargs="+", choices=OPERATIONS, default=tuple(OPERATIONS))
    parser.add_argument("--runs", type=int, default=RUNS)
    options = parser.parse_args()
    device = arguments.device_of(options)
    bench = Bench(Report("bitmap", device, options.out), device, options.size, options.runs)
    with sr.use(device):
        for density in options.densities:
            pair = operands(options.size, density, device)
            for name in options.operations:
                measure(bench, name, density, pair)
    bench.report.close()
    return 1 if bench.report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
