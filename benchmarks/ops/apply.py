"""C = f(A): a unary operator, a bound scalar, and an index operator, on matrices and on vectors."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import semiring as sr

from .. import checks, graphs
from .case import Case


def cases(A: sr.Matrix) -> Iterator[Case]:
    """float32 in and out; the pattern of a matrix is shared and moves no bytes."""
    xp = graphs.module(A)
    M, x = graphs.floats(A, np.float32), graphs.dense(A, np.float32)
    v = sr.Vector.from_dense(x)
    indptr, _, values = M.to_csr()
    rows = xp.empty(A.nvals, np.int64)
    for first in range(0, A.nvals, 1 << 26):
        places = xp.arange(first, min(first + (1 << 26), A.nvals), dtype=indptr.dtype)
        rows[first : first + places.size] = xp.searchsorted(indptr, places, side="right") - 1
    yield Case("matrix, abs", lambda: M.apply("abs").wait(), 8 * A.nvals, lambda C: checks.equal(C.to_csr()[2], values))
    yield Case(
        "matrix, plus 1",
        lambda: M.apply("plus", right=1.0).wait(),
        8 * A.nvals,
        lambda C: checks.equal(C.to_csr()[2], values + 1),
    )
    yield Case(
        "matrix, rowindex",
        lambda: M.apply("rowindex").wait(),
        8 * A.nvals + indptr.nbytes,
        lambda C: checks.equal(C.to_csr()[2], rows),
    )
    yield Case(
        "vector, plus 1",
        lambda: v.apply("plus", right=1.0).wait(),
        8 * A.ncols,
        lambda w: checks.equal(w.to_dense(), x + 1),
    )
