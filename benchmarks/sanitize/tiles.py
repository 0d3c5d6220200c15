"""Further steps of `benchmarks.sanitize`: small operands take the paths of large ones over tiles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest import mock

import numpy as np

import semiring as sr
from semiring import Matrix, Vector
from semiring.dtypes import INT64
from semiring.memory.arrays import array_module, cyclic, rebased

from .. import graphs
from .inputs import Small

__all__ = ["STEPS", "sorts"]


def _tuned(A: Matrix, call: Callable[[], Any], **rows: Any) -> Any:
    """The result of the call with other rows of the tuning table."""
    if A.device == "cpu":
        return call()
    from semiring.engines.cuda import tuning

    with mock.patch.multiple(tuning, **rows):
        return call().wait()


def _assigned(C: Matrix, A: Matrix, rows: Any, cols: Any = slice(None)) -> Matrix:
    """A copy of C with entries of A in a region; of rows that repeat the last one is kept."""
    made = C.dup()
    made[rows, cols] << A[: len(range(C.nrows)[rows]) if isinstance(rows, slice) else len(rows), cols]
    return made


def _rebuilt(A: Matrix) -> Matrix:
    """The matrix from its triples in descending order."""
    rows, cols, values = (array[::-1] for array in A.to_coo())
    return Matrix.from_coo(rows, cols, values, shape=A.shape)


def _ranked(A: Matrix, call: Callable[[], Any]) -> Any:
    """The result of the call, which ranks the columns of A."""
    return _tuned(A, call, RANKED_ENTRIES=0, RANKED_PRODUCTS=1, RANKED_SAMPLE=1 << 10, RANKED_SHARE=0)


def _covering(A: Matrix) -> Any:
    """A product with a vector that has entries in those columns alone that have some."""
    some = A.select("colle", 200)
    columns = some.reduce_columnwise("plus").convert("bitmap")
    return _ranked(some, lambda: some.mxv(columns, "plus_times"))


def _positions(A: Matrix) -> Vector:
    """The row of each position, and numbers that repeat: searches in offsets."""
    offsets = A.to_csr(index_dtype=None)[0]
    n, xp = A.nrows, array_module(A.device)
    found = xp.searchsorted(offsets, xp.arange(n, dtype=offsets.dtype), "right")
    found += rebased(offsets, 3, INT64)[1:]
    return Vector.from_dense(found + cyclic(5, 5 + n, 7, INT64, A.device))


def sorts(scale: int) -> None:
    """Sorts of several tiles, whose blocks wait for each other."""
    A = sr.random.kronecker(scale, seed=graphs.SEED, weights="uniform")
    L = A.select("tril", -1)
    order = np.random.default_rng(graphs.SEED).permutation(L.nvals)
    rows, cols, values = (array[graphs.module(A).asarray(order)] for array in L.to_coo())
    U = Matrix.from_coo(cols, rows, values, shape=A.shape)
    assert _tuned(A, lambda: Matrix.from_coo(cols, rows, values, shape=A.shape), RADIX_ENTRIES=1).isequal(U)
    assert _tuned(A, lambda: L.T.dup(), RADIX_ENTRIES=1).isequal(U)


STEPS: dict[str, Callable[[Small], Any]] = {
    "ewise mult, two passes": lambda s: _tuned(s.A, lambda: s.A.ewise_mult(s.E, "first"), ONE_PASS_BYTES=0),
    "ewise union, positions": lambda s: s.A.ewise_union(s.E, "secondi", 1, 2),
    "ewise union, two passes": lambda s: _tuned(s.A, lambda: s.A.ewise_union(s.E, "secondi", 1, 2), ONE_PASS_BYTES=0),
    "select, two passes": lambda s: _tuned(s.A, lambda: s.A.select("offdiag", 0), ONE_PASS_BYTES=0),
    "select, a range of columns": lambda s: _tuned(s.A, lambda: s.A.select("tril", 0), ONE_PASS_BYTES=0),
    "keep, two passes": lambda s: _tuned(s.A, lambda: s.A.dup(mask=s.E.S), ONE_PASS_BYTES=0),
    "outside, two passes": lambda s: _tuned(s.A, lambda: _assigned(s.A, s.A, [1, 3], [0, 2]), ONE_PASS_BYTES=0),
    "mxv pull ranked": lambda s: _ranked(s.A, lambda: s.A.mxv(s.u, "plus_times")),
    "mxv pull ranked, float": lambda s: _ranked(s.A, lambda: s.A.dup("float64").mxv(s.v, "min_plus")),
    "mxv pull ranked, bitmap": lambda s: _covering(s.A),
    "scale, ranked": lambda s: _ranked(s.A, lambda: s.A.ewise_mult(s.u, "minus")),
    "vxm pull ranked, flipped": lambda s: _ranked(s.A, lambda: s.u.vxm(s.A.T, "plus_minus")),
    "transpose by radix sort": lambda s: _tuned(s.A, lambda: s.A.apply("plus", right=1).T.dup(), RADIX_ENTRIES=1),
    "positions": lambda s: _positions(s.A),
    "build by radix sort": lambda s: _tuned(s.A, lambda: _rebuilt(s.A), RADIX_ENTRIES=1),
    "tiles in rows and columns": lambda s: sr.block(
        [[s.A[:150, :200].new(), s.E[:150, 200:].new()], [s.E[150:, :200].new(), s.A[150:, 200:].new()]]
    ),
    "assign to rows": lambda s: _assigned(s.A, s.A, [3, 1]),
    "assign to ranges": lambda s: _assigned(s.A, s.A, slice(1, None, 2), slice(1, None)),
    "assign to rows that repeat": lambda s: _assigned(s.A, s.A, [3, 1, 3]),
}
