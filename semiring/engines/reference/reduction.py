"""Reduction of rows to a vector, and of all entries to a scalar."""

from __future__ import annotations

import numpy as np

from ...formats import VectorStore
from ..registry import implements
from ..requests.operations import Inner, ReduceRows, ReduceScalar
from .dense import densify, sparsify
from .evaluation import Fold, binary


@implements(ReduceRows, engine="reference")
def reduce_rows(q: ReduceRows) -> VectorStore:
    """t(i) = (+)_j a(i, j), j ascending, for the rows that have entries."""
    a, present = densify(q.a)
    fold = Fold(q.monoid, (q.a.nrows,))
    for j in range(q.a.ncols):
        fold.add(present[:, j], a[present[:, j], j])
    t: VectorStore = sparsify(fold.values, fold.present, fold.values.dtype)
    return t


@implements(ReduceScalar, engine="reference")
def reduce_scalar(q: ReduceScalar) -> np.generic | None:
    """(+) over all entries in row-major order; None if there is no entry."""
    a, present = densify(q.a)
    fold = Fold(q.monoid, (1,))
    one = np.ones(1, np.bool_)
    for value in a[present]:
        fold.add(one, np.array([value]))
    total: np.generic = fold.values[0]
    return total if fold.present[0] else None


@implements(Inner, engine="reference")
def inner(q: Inner) -> np.generic | None:
    """(+)_k  u(k) (x) v(k), k ascending; None if u and v have no position in common."""
    (u, in_u), (v, in_v) = densify(q.u), densify(q.v)
    fold = Fold(q.semiring.add, (1,))
    one, zero = np.ones(1, np.bool_), np.zeros(1, np.int64)
    for k in np.flatnonzero(in_u & in_v):
        at = np.array([k], np.int64)
        fold.add(one, binary(q.semiring.mult, u[at], v[at], xi=zero, xj=at, yi=at, yj=zero))
    total: np.generic = fold.values[0]
    return total if fold.present[0] else None
