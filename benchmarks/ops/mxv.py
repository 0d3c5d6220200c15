"""y = A x by rows: a full vector, and a presence bitmap under a semiring that stops at the first hit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import semiring as sr

from .. import checks, graphs
from .case import Case

_TYPES = ((np.float32, 1e-4), (np.float64, 1e-11))
_DENSITIES = (0.5, 0.01)


def cases(A: sr.Matrix) -> Iterator[Case]:
    """plus_times over random values; any_pair over random presence."""
    for dtype, tolerance in _TYPES:
        M, x = graphs.floats(A, dtype), graphs.dense(A, dtype)
        check, _ = checks.product(M, x, tolerance)
        v = sr.Vector.from_dense(x)
        yield _product(M, v, check, np.dtype(dtype))
    for density in _DENSITIES:
        yield _presence(A, density)


def _product(M: sr.Matrix, v: sr.Vector, check: checks.Check, dtype: np.dtype[Any]) -> Case:
    moved = M.store.nbytes + (M.nrows + M.ncols) * dtype.itemsize
    return Case(f"plus_times {dtype}, full", lambda: M.mxv(v, "plus_times").wait(), moved, lambda w: check(None, w))


def _presence(A: sr.Matrix, density: float) -> Case:
    xp = graphs.module(A)
    present = graphs.dense(A, np.float32) < 0.5 + density
    indptr, indices = graphs.arrays(A)
    below = xp.zeros(A.nvals + 1, np.int64)
    xp.cumsum(present[indices], out=below[1:])
    expected = below[indptr[1:]] > below[indptr[:-1]]
    u = sr.Vector.from_coo(xp.flatnonzero(present), True, size=A.ncols).convert("bitmap")
    moved = A.store.nbytes + (A.nrows + A.ncols) // 8
    return Case(
        f"any_pair, bitmap of {density:g}",
        lambda: A.mxv(u, "any_pair").wait(),
        moved,
        lambda w: checks.equal(w.to_dense(False), expected),
    )
