"""Calls of the CPU engine on 64 rows, and on batches of vectors, in turns with SuiteSparse.

Then calls on a batch of eight vectors of 22,500 entries, and two programs: betweenness of a grid as a user writes it
(`batched_betweenness`), and products of a symmetric matrix under its structure.

Exits with 1 if a call takes longer than that of SuiteSparse.  The two take turns, a batch of calls each; times are
those of the processor, because other load on the machine would be larger than the differences; of programs, which run
on all cores, they are wall-clock times.  A figure is the ratio of the shortest batches, and its note has the ratio of
the medians.  Results are complete when a call returns, and are
compared with each other before the measurement.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

import semiring as sr

from .. import graphs, peers
from ..case import ONLY, Run
from .operations import PEER, TARGET, Operation, Pair, equal

_N, _ENTRIES = 64, 256
_TURNS, _CALLS = 40, 100
_PROGRAM_TURNS = 11
_BATCH, _SIDE, _SCALE = 8, 150, 13


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
    yield Operation(
        "mxm under a complemented mask",
        lambda: a.mxm(a, mask=~a.S).wait(),
        lambda: b.mxm(b).new(mask=~b.S),
        rtol=1e-12,
    )
    yield Operation(
        "vxm under a mask", lambda: c.vxm(a, mask=w.ours.S).wait(), lambda: r.vxm(b).new(mask=w.theirs.S), rtol=1e-12
    )


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
    C = Pair(A.ours.dup())
    d, f = C.ours, C.theirs
    k = A.ours.select("tril").new()
    g = Pair(k).theirs
    yield Operation("C(M) << A.mxm(A)", lambda: d(k.S) << a.mxm(a), lambda: _after(f, f(g.S), b.mxm(b)), rtol=1e-12)
    yield Operation(
        "C(M, replace) << A.mxm(A)",
        lambda: d(k.S, replace=True) << a.mxm(a),
        lambda: _after(f, f(g.S, replace=True), b.mxm(b)),
        rtol=1e-12,
    )
    yield Operation(
        "C(accum=max) << A.mxm(A)",
        lambda: d(accum="max") << a.mxm(a),
        lambda: _after(f, f(accum=gb.binary.max), b.mxm(b)),
        rtol=1e-12,
    )


def _after(written: Any, target: Any, value: Any) -> Any:
    """The object that is written to, after the write: their ``<<`` returns None."""
    target << value
    return written


def batches(_: Any = None) -> Iterator[Operation]:
    """Calls on a batch of vectors, as a matrix of eight rows, under a mask of ten entries or with few entries."""
    gb = peers.graphblas()
    rng = np.random.default_rng(9)
    shape = _BATCH, _SIDE * _SIDE

    def sparse(count: int) -> Pair:
        positions = np.sort(rng.choice(shape[0] * shape[1], count, replace=False))
        return Pair(
            sr.Matrix.from_coo(*np.divmod(positions, shape[1]), rng.random(count), nrows=shape[0], ncols=shape[1])
        )

    m, few = sparse(10), sparse(1000)
    operands = {
        "full": (Pair(sr.Matrix.from_dense(rng.random(shape))), Pair(sr.Matrix.from_dense(rng.random(shape)))),
        "half full": (sparse(shape[0] * shape[1] // 2), sparse(shape[0] * shape[1] // 2)),
        "sparse": (sparse(4000), sparse(4000)),
    }
    for name, (x, y) in operands.items():
        for method, op in (("ewise_mult", "times"), ("ewise_add", "plus")):
            mine, other = partial(getattr(x.ours, method), y.ours, op), partial(getattr(x.theirs, method), y.theirs, op)
            yield Operation(
                f"{method} of 8 vectors under 10 entries, {name}",
                lambda mine=mine: mine(mask=m.ours.S).wait(),
                lambda other=other: other().new(mask=m.theirs.S),  # type: ignore[misc]
                rtol=1e-12,
            )
        mine, other = x.ours.dup(), x.theirs.dup()
        yield Operation(
            f"X(max) << 1000 entries, {name}",
            lambda mine=mine: mine(accum="max") << few.ours,
            lambda other=other: _after(other, other(gb.binary.max), few.theirs),  # type: ignore[misc]
        )


def programs(_: Any = None) -> Iterator[Operation]:
    """Products of a symmetric Kronecker graph under its structure."""
    gb = peers.graphblas()
    made = sr.random.kronecker(_SCALE, 16, seed=graphs.SEED)
    indptr, indices, _values = made.to_csr()

    def fresh() -> sr.Matrix:
        """The graph without anything known about its structure."""
        return sr.Matrix.from_csr(indptr.copy(), indices.copy(), True, ncols=made.ncols)

    theirs = Pair(fresh()).theirs
    kept = fresh()
    pair, times = gb.semiring.plus_pair[int], gb.semiring.plus_times[float]
    yield Operation(
        "plus_pair A A under A.S, a new A",
        lambda: (lambda A: A.mxm(A, "plus_pair", mask=A.S).wait())(fresh()),
        lambda: pair(theirs @ theirs).new(mask=theirs.S).wait(),
    )
    yield Operation(
        "plus_pair A A under A.S",
        lambda: kept.mxm(kept, "plus_pair", mask=kept.S).wait(),
        lambda: pair(theirs @ theirs).new(mask=theirs.S).wait(),
    )
    yield Operation(
        "plus_pair A A' under A.S",
        lambda: kept.mxm(kept.T, "plus_pair", mask=kept.S).wait(),
        lambda: pair(theirs @ theirs.T).new(mask=theirs.S).wait(),
    )
    W = Pair(graphs.floats(fresh(), np.float64))
    yield Operation(
        "plus_times W W under W.S",
        lambda: W.ours.mxm(W.ours, "plus_times", mask=W.ours.S).wait(),
        lambda: times(W.theirs @ W.theirs).new(mask=W.theirs.S).wait(),
        rtol=1e-9,
    )
    D = Pair(W.ours.select("tril", -1).new())
    yield Operation(
        "plus_times L L under L.S",
        lambda: D.ours.mxm(D.ours, "plus_times", mask=D.ours.S).wait(),
        lambda: times(D.theirs @ D.theirs).new(mask=D.theirs.S).wait(),
        rtol=1e-9,
    )


GROUPS = (results, writes, batches, programs)


def measure(operation: Operation, *, whole: bool = False) -> tuple[list[float], list[float]]:
    """The times of a call of each library, in us, by batches in turns.  whole: of single calls, wall-clock."""
    times: tuple[list[float], list[float]] = ([], [])
    calls = operation.ours, operation.theirs
    turns, count, clock = (_PROGRAM_TURNS, 1, time.perf_counter) if whole else (_TURNS, _CALLS, time.thread_time)
    for turn in range(turns):
        for side in (0, 1) if turn % 2 else (1, 0):
            call = calls[side]
            call()
            start = clock()
            for _ in range(count):
                call()
            times[side].append((clock() - start) / count * 1e6)
    return times


DEVICE = "cpu"
ROWS = (results, writes, batches, programs)
OPTIONS = {"only": ONLY}


def main(run: Run) -> None:
    """The calls that are selected."""
    for group in run.chosen(ROWS):
        for operation in group():
            if run.selects(operation.name):
                equal(operation)
                ours, theirs = measure(operation, whole=group is programs)
                least, median = min(ours) / min(theirs), statistics.median(ours) / statistics.median(theirs)
                note = f"ours {min(ours):.1f} us, {PEER} {min(theirs):.1f} us; by medians {median:.2f}"
                bound = TARGET if group is results else None
                run.add(operation.name, "of its time", least, bound, note=note, samples=tuple(ours))
