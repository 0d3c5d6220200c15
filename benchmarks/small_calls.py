"""Calls of the CPU engine on operands of 64 rows beside SuiteSparse (python-graphblas): what a call itself costs.

    python -m benchmarks.small_calls                  all calls
    python -m benchmarks.small_calls --only mxv       those whose names contain the word

Exits with 1 if a call takes longer than that of SuiteSparse.  The two take turns, a batch of calls each; times are
those of the processor, because other load on the machine would be larger than the differences.  A figure is the ratio
of the shortest batches, and its note has the ratio of the medians.  Results are complete when a call returns, and are
compared with each other before the measurement.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

import semiring as sr

from . import arguments, peers
from .cpu_operations import PEER, TARGET, Operation, Pair, equal
from .report import Report, Row

_N, _ENTRIES = 64, 256
_TURNS, _CALLS = 40, 100


def results(_: Any = None) -> Iterator[Operation]:
    """Calls that return a new object."""
    gb = peers.graphblas()
    rng = np.random.default_rng(7)
    positions = np.unique(rng.integers(0, _N * _N, _ENTRIES))
    coordinates = positions // _N, positions % _N
    A = Pair(sr.Matrix.from_coo(*coordinates, rng.random(positions.size), nrows=_N, ncols=_N))
    P = Pair(sr.Matrix.from_coo(*coordinates, True, nrows=_N, ncols=_N))
    x = Pair(sr.Vector.from_dense(rng.random(_N)))
    v, w = (
        Pair(sr.Vector.from_coo(np.sort(rng.choice(_N, _N // 3, replace=False)), rng.random(_N // 3), size=_N))
        for _ in range(2)
    )
    a, p, b, c, q, r = A.ours, x.ours, A.theirs, v.ours, x.theirs, v.theirs
    pairs: dict[str, tuple[Any, Any]] = {
        "mxv": (lambda: a.mxv(p), lambda: b.mxv(q)),
        "mxv, sparse vector": (lambda: a.mxv(c), lambda: b.mxv(r)),
        "vxm": (lambda: p.vxm(a), lambda: q.vxm(b)),
        "v + w, sparse": (lambda: c + w.ours, lambda: r + w.theirs),
        "x + x, full": (lambda: p + p, lambda: q + q),
        "ewise_mult, full": (lambda: p.ewise_mult(p), lambda: q.ewise_mult(q)),
        "A + A": (lambda: a + a, lambda: b + b),
        "mxm": (lambda: a.mxm(a), lambda: b.mxm(b)),
        "select, vector": (lambda: c.select(">", 0.5), lambda: r.select(">", 0.5)),
        "select, matrix": (lambda: a.select(">", 0.5), lambda: b.select(">", 0.5)),
        "apply, vector": (lambda: p.apply("sqrt"), lambda: q.apply("sqrt")),
        "apply, matrix": (lambda: a.apply("sqrt"), lambda: b.apply("sqrt")),
        "reduce rows": (lambda: a.reduce_rowwise("plus"), lambda: b.reduce_rowwise("plus")),
        "extract": (lambda: p[[3, 5, 7]], lambda: q[[3, 5, 7]]),
    }
    for name, (mine, other) in pairs.items():
        yield Operation(name, lambda mine=mine: mine().wait(), lambda other=other: other().new(), rtol=1e-12)  # type: ignore[misc]
    yield Operation("reduce", lambda: p.reduce().value, lambda: q.reduce().value, rtol=1e-12)
    masks = {"mask": (lambda: c.S, lambda: r.S), "complemented mask": (lambda: ~c.S, lambda: ~r.S)}
    for name, (mine, other) in masks.items():
        yield Operation(
            f"mxv under a {name}",
            lambda mine=mine: a.mxv(p, mask=mine()).wait(),
            lambda other=other: b.mxv(q).new(mask=other()),  # type: ignore[misc]
            rtol=1e-12,
        )
    yield Operation(
        "mxv any_pair under a complemented mask",
        lambda: P.ours.mxv(c, "any_pair", mask=~w.ours.S).wait(),
        lambda: P.theirs.mxv(r, gb.semiring.any_pair).new(mask=~w.theirs.S),
    )
    yield Operation("mxm under a mask", lambda: a.mxm(a, mask=a.S).wait(), lambda: b.mxm(b).new(mask=b.S), rtol=1e-12)


def writes(_: Any = None) -> Iterator[Operation]:
    """Calls that write into an object; it has the same entries after each."""
    gb = peers.graphblas()
    made = {operation.name: operation for operation in results()}
    rng = np.random.default_rng(8)
    y = Pair(sr.Vector.from_dense(rng.random(_N)))
    m = Pair(sr.Vector.from_coo(np.sort(rng.choice(_N, _N // 3, replace=False)), True, size=_N))
    x = Pair(sr.Vector.from_dense(rng.random(_N)))
    A = Pair(made["mxm"].ours())
    a, p, t, b, q, o = A.ours, x.ours, y.ours, A.theirs, x.theirs, y.theirs
    yield Operation("y(m) << 3.0", lambda: t(m.ours.S) << 3.0, lambda: _after(o, o(m.theirs.S), 3.0))
    yield Operation(
        "y(m) << A.mxv(x)", lambda: t(m.ours.S) << a.mxv(p), lambda: _after(o, o(m.theirs.S), b.mxv(q)), rtol=1e-12
    )
    yield Operation(
        "y(m, replace) << A.mxv(x)",
        lambda: t(m.ours.S, replace=True) << a.mxv(p),
        lambda: _after(o, o(m.theirs.S, replace=True), b.mxv(q)),
        rtol=1e-12,
    )
    yield Operation(
        "y(accum=max) << A.mxv(x)",
        lambda: t(accum="max") << a.mxv(p),
        lambda: _after(o, o(accum=gb.binary.max), b.mxv(q)),
        rtol=1e-12,
    )


def _after(written: Any, target: Any, value: Any) -> Any:
    """The object that is written to, after the write: their ``<<`` returns None."""
    target << value
    return written


GROUPS = (results, writes)


def measure(operation: Operation) -> tuple[list[float], list[float]]:
    """The processor times of a call of each library, in microseconds, by batches in turns."""
    times: tuple[list[float], list[float]] = ([], [])
    calls = operation.ours, operation.theirs
    for turn in range(_TURNS):
        for side in (0, 1) if turn % 2 else (1, 0):
            call = calls[side]
            call()
            start = time.thread_time()
            for _ in range(_CALLS):
                call()
            times[side].append((time.thread_time() - start) / _CALLS * 1e6)
    return times


def main() -> int:
    """Run the measurements that the command line selects."""
    parser = arguments.parser("small_calls", __doc__, rows=GROUPS)
    parser.add_argument("--only", default="", metavar="WORD", help="calls whose name contains it")
    asked = parser.parse_args()
    with sr.use("cpu"):
        report = Report("small-calls", "cpu", asked.out)
        for group in GROUPS:
            if asked.rows is not None and group.__name__ not in asked.rows:
                continue
            for operation in group():
                if asked.only not in operation.name:
                    continue
                equal(operation)
                ours, theirs = measure(operation)
                least, median = min(ours) / min(theirs), statistics.median(ours) / statistics.median(theirs)
                note = f"ours {min(ours):.1f} us, {PEER} {min(theirs):.1f} us; by medians {median:.2f}"
                bound = TARGET if group is results else None
                report.add(Row(operation.name, "of its time", least, bound, note=note, samples=tuple(ours)))
        report.close()
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
