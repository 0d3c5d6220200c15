"""C = A (+) B on the union and A (x) B on the intersection, for vectors of each format and for matrices."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import semiring as sr

from .. import checks, graphs
from .case import Case


def cases(A: sr.Matrix) -> Iterator[Case]:
    """Full and full; bitmap and bitmap, half full each; a matrix and its lower triangle."""
    xp = graphs.module(A)
    x = graphs.dense(A, np.float32)
    y = x[::-1].copy()
    n = A.ncols
    u, v = sr.Vector.from_dense(x), sr.Vector.from_dense(y)
    full = x + y
    yield Case("add, full and full", lambda: u.ewise_add(v).wait(), 12 * n, lambda w: checks.equal(w.to_dense(), full))

    s = sr.Vector.from_coo(xp.flatnonzero(x < 1), x[x < 1], size=n).convert("bitmap")
    t = sr.Vector.from_coo(xp.flatnonzero(y < 1), y[y < 1], size=n).convert("bitmap")
    union = xp.where(x < 1, x, 0) + xp.where(y < 1, y, 0)
    both = xp.where((x < 1) & (y < 1), x * y, 0)
    moved = 12 * n + 3 * n // 8
    yield Case("add, bitmaps", lambda: s.ewise_add(t).wait(), moved, lambda w: checks.equal(w.to_dense(0), union))
    yield Case(
        "mult, bitmaps", lambda: s.ewise_mult(t, "times").wait(), moved, lambda w: checks.equal(w.to_dense(0), both)
    )

    M = graphs.floats(A, np.float32)
    L = M.select("tril", -1)
    values, lower = M.to_csr()[2], L.to_csr()[2]
    moved = 2 * M.nbytes + L.nbytes
    in_lower = M.apply("rowindex").to_csr()[2] > M.to_csr()[1]
    doubled = xp.where(in_lower, 2 * values, values)
    yield Case(
        "add, matrix and triangle", lambda: M.ewise_add(L).wait(), moved, lambda C: checks.equal(C.to_csr()[2], doubled)
    )
    yield Case(
        "mult, matrix and triangle",
        lambda: M.ewise_mult(L, "times").wait(),
        M.nbytes + 2 * L.nbytes,
        lambda C: checks.equal(C.to_csr()[2], lower * lower),
    )
