"""Further steps of `benchmarks.sanitize`: layouts of matrices, and operations within rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest import mock

import numpy as np

import semiring as sr
from semiring import Matrix, Vector

from .inputs import N, Small

__all__ = ["STEPS"]


def _sorted_by_each_method() -> Vector:
    """900 values, by keys of 32 and 64 bits: sorted by a block, and as a long row."""
    u = Vector.from_dense(np.arange(900, dtype=np.float32)[::-1] % 77)
    made = u.sort()[1].wait()
    if u.device == "cpu":
        return made
    from semiring.engines.cuda import order, tuning

    for big in (1024, 256):
        order._plan.cache_clear()
        with mock.patch.object(tuning, "SORT_BIG", big):
            assert all(u.dup(dtype).sort()[1].isequal(made) for dtype in ("float32", "float64"))
    order._plan.cache_clear()
    assert u.dup("float64").sort()[1].isequal(made)
    return made


def _updated(target: Vector, entries: Vector, accum: str | None) -> Vector:
    """Entries written in place: nothing else holds the target."""
    made = target.apply("plus", right=0).wait()
    if accum is None:
        made(entries.S) << entries
    else:
        made(accum=accum) << entries
    return made


def _voted(A: Matrix) -> Vector:
    """With masses, of a random half of the rows, which keep their groups in ties."""
    mass = Vector.from_dense(np.arange(N) % 5.0)
    rows = Vector.full(True, N).apply("random", right=3).apply("<", right=0.5)
    return sr.ops.vote(A.dup("float64"), Vector.from_dense(np.arange(N)), mass=mass, totals=mass, rows=rows, ties="own")


def _rows_of_all_lengths() -> Matrix:
    """Rows of every method of votes; the last one has two tiles."""
    lengths = [3, 8, 16, 32, 200, 900, 3000, 5000]
    rows = np.repeat(np.arange(len(lengths)), lengths)
    columns = np.concatenate([np.arange(length) for length in lengths])
    return Matrix.from_coo(rows, columns, (rows + columns) % 7 + 1.0, shape=(5000, 5000))


def _moved(A: Matrix) -> Vector:
    """By random thirds of the rows, with masses."""
    mass = Vector.full(1.0, A.nrows).ewise_add(A.reduce_rowwise("plus"), "plus")
    label = Vector.from_dense(np.arange(A.nrows))
    return sr.ops.local_moving(A, label, mass=mass, rate=1e-4, parts=3, max_passes=1)


def _parents() -> Vector:
    """A forest of two trees: a path, and one of logarithmic height."""
    vertices = np.arange(N)
    return Vector.from_dense(np.where(vertices < N // 2, np.maximum(vertices - 1, 0), (vertices + N // 2) // 2))


STEPS: dict[str, Callable[[Small], Any]] = {
    "concat": lambda s: sr.concat([[s.A, s.S], [None, s.E]], "float32"),
    "concat, pattern": lambda s: sr.vstack([s.S, s.S[:3], s.S]),
    "concat, many": lambda s: sr.hstack([s.A, s.S, s.E, s.B] * 5),
    "reshape": lambda s: s.A.reshape(N // 2, 2 * N),
    "reshape, flat": lambda s: s.S.flatten(order="columnwise").reshape(2 * N, N // 2),
    "reposition": lambda s: s.A.reposition(-5, 9, nrows=N + 3),
    "scale, columns": lambda s: s.A.ewise_mult(Vector.full(1.5, N), "minus"),
    "scale, rows": lambda s: Vector.full(3, N).ewise_mult(s.A, "secondj"),
    "scan": lambda s: s.A.scan("max"),
    "scan, pattern": lambda s: s.S.dup("int32").scan("plus"),
    "scan, tiles": lambda s: Vector.from_dense(np.arange(20000, dtype=np.int32)).scan("max"),
    "scan, tiles of 8 bytes": lambda s: Vector.from_dense(np.arange(9000.0)).scan("plus"),
    "sort": lambda s: s.A.sort(">")[1],
    "sort, large": lambda s: _sorted_by_each_method(),
    "selectk": lambda s: s.A.selectk("largest", 3),
    "selectk, random": lambda s: s.S.selectk("random", 3, seed=5),
    "selectk, last": lambda s: s.A.selectk("last", 2),
    "selectk, first of many": lambda s: s.A.selectk("first", N),
    "vote": lambda s: sr.ops.vote(s.S, Vector.from_dense(np.arange(N) % 97)),
    "vote, scored": lambda s: _voted(s.A),
    "vote, long rows": lambda s: sr.ops.vote(_rows_of_all_lengths(), Vector.from_dense(np.arange(5000)[::-1].copy())),
    "local moving": lambda s: sr.ops.local_moving(s.S, Vector.from_dense(np.arange(N)), max_passes=3),
    "local moving, long rows": lambda s: _moved(_rows_of_all_lengths()),
    "peel": lambda s: sr.ops.peel(Vector.from_dense(np.arange(N) % 40), s.S),
    "peel, one level": lambda s: sr.ops.peel(Vector.from_dense(np.arange(N, dtype=np.int32) % 40), s.A, least=9),
    "acyclic closure": lambda s: sr.ops.acyclic_closure(Vector.full(1.0, N), s.A.select("triu", 1), "plus_times"),
    "acyclic closure, columns": lambda s: sr.ops.acyclic_closure(s.q, s.A.select("triu", 1), "min_plus"),
    "update, sums": lambda s: _updated(s.u, s.q, "plus"),
    "update": lambda s: _updated(s.u, s.q, None),
    "update, bytes": lambda s: _updated(s.u.dup("int8"), s.q.dup("int8"), "max"),
    "treefix, roots": lambda s: sr.ops.treefix(_parents(), Vector.from_dense(np.arange(N) % 7)),
    "treefix, leaves": lambda s: sr.ops.treefix(_parents(), Vector.full(2.0, N), towards="leaves"),
    "treefix, bytes": lambda s: sr.ops.treefix(_parents(), Vector.full(np.int8(3), N), "min"),
    "minloc": lambda s: s.A.dup("float32").minloc()[1],
    "minloc, pattern": lambda s: s.S.minloc()[1],
    "maxloc, columns of 8 bytes": lambda s: s.A.dup("float64").maxloc("columnwise")[1],
    "minloc of groups": lambda s: s.A.maxloc()[0].minloc_by(np.arange(N) % 7, size=40)[1],
    "reduce by groups": lambda s: s.A.maxloc()[0].reduce_by(np.arange(N) % 7, "max"),
    "reduce by groups, plus": lambda s: Vector.full(2, N, dtype="int32").reduce_by(np.arange(N) % 7),
    "reduce by groups, complex": lambda s: Vector.full(2j, N).reduce_by(np.arange(N) % 7),
}
