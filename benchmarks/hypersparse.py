"""One entry in a matrix of very many rows: made, multiplied and read, and other operations on few entries.

python -m benchmarks.hypersparse [--device cpu|cuda] [--rows ROW ...]
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import semiring as sr
from semiring import Matrix, Vector

from . import arguments
from .report import Report, Row

RUNS = 30
SIZES = (10**9, 1 << 60)
ENTRIES = 1000
# Milliseconds in which one entry is to be made, multiplied and read.
_LIMIT_MS = 1.0


@dataclass(frozen=True)
class Bench:
    """Where figures go, and what is measured."""

    report: Report
    device: str


def one_entry(b: Bench) -> None:
    """Two matrices of one entry are made, their product is computed, and its entry is read."""
    for n in SIZES:
        _measure(b, f"one entry, {n} rows: made, multiplied, read", lambda n=n: _read(n), _LIMIT_MS)  # type: ignore[misc]


def _read(n: int) -> None:
    left = Matrix.from_coo([5], [7], [2.0], nrows=n, ncols=n)
    right = Matrix.from_coo([7], [n - 1], [3.0], nrows=n, ncols=n)
    if (left @ right).get(5, n - 1) != 6.0:
        raise AssertionError("the product is wrong")


def operations(b: Bench) -> None:
    """Operations on matrices of a thousand entries at random positions."""
    n = SIZES[0]
    rng = np.random.default_rng(1)
    rows, columns, values = rng.integers(0, n, ENTRIES), rng.integers(0, n, ENTRIES), rng.random(ENTRIES)
    a = Matrix.from_coo(rows, columns, values, nrows=n, ncols=n)
    c = Matrix.from_coo(columns, rows, values, nrows=n, ncols=n)
    u = Vector.from_coo(np.unique(columns), 1.0, size=n)
    calls: dict[str, Callable[[], Any]] = {
        "from_coo": lambda: Matrix.from_coo(rows, columns, values, nrows=n, ncols=n),
        "mxm": lambda: (a @ c).nvals,
        "mxv": lambda: (a @ u).nvals,
        "from_coo and transpose": lambda: Matrix.from_coo(rows, columns, values, nrows=n, ncols=n).T.new().nvals,
        "add": lambda: (a + c).new().nvals,
        "select": lambda: a.select("tril").new().nvals,
    }
    for name, call in calls.items():
        _measure(b, f"{name}, {ENTRIES} entries, {n} rows", call)


def _measure(b: Bench, what: str, call: Callable[[], Any], bound: float | None = None) -> None:
    """Report the median of the wall times, after calls that compile and fill caches."""
    call()
    samples = []
    for _ in range(RUNS):
        started = time.perf_counter()
        call()
        samples.append((time.perf_counter() - started) * 1e3)
    b.report.add(
        Row(what, "ms", statistics.median(samples), bound, note=f"min {min(samples):.3f}", samples=tuple(samples))
    )


ROWS = (one_entry, operations)


def main() -> int:
    """Measure what the command line selects."""
    options = arguments.parser("hypersparse", __doc__, rows=ROWS).parse_args()
    device = arguments.device_of(options)
    report = Report("hypersparse", device, options.out)
    with sr.use(device):
        arguments.measure_rows(ROWS, options, Bench(report, device))
    report.close()
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
