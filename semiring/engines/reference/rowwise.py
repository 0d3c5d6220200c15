"""Operations on the entries of each row: scaled, summed up in order, sorted, selected."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...formats import CSR
from ..registry import implements
from ..requests.operations import Scale, Scan, SelectK, SortedRows, SortRows
from ..shared.order import order_keys, random_keys
from .dense import coordinates, densify, sparsify
from .evaluation import Fold, binary


@implements(Scale, engine="reference")
def scale(q: Scale) -> CSR:
    """t(i, j) = op(a(i, j), u(j)), or op(u(i), a(i, j))."""
    (a, present), (u, _) = densify(q.a), densify(q.u)
    i, j = (c[present] for c in coordinates(a.shape))
    t = np.zeros(a.shape, q.op.z)
    x, y = (u[i], a[present]) if q.by_rows else (a[present], u[j])
    t[present] = binary(q.op, x, y, xi=i, xj=j, yi=i, yj=j)
    made: CSR = sparsify(t, present, q.op.z)
    return made


@implements(Scan, engine="reference")
def scan(q: Scan) -> CSR:
    """t(i, j) = (+)_l a(i, l), l <= j."""
    a, present = densify(q.a)
    fold, t = Fold(q.monoid, (q.a.nrows,)), np.zeros(a.shape, q.monoid.op.z)
    for j in range(q.a.ncols):
        fold.add(present[:, j], a[present[:, j], j])
        t[:, j] = fold.values
    made: CSR = sparsify(t, present, t.dtype)
    return made


@implements(SortRows, engine="reference")
def sort_rows(q: SortRows) -> SortedRows:
    """The entries of each row in the order of their values, from column 0."""
    a, present = densify(q.a)
    values, columns = np.zeros_like(a), np.zeros(a.shape, np.int64)
    filled = np.zeros_like(present)
    for i, listed in _in_order(a, present, lambda i, j: order_keys(a[i, j], q.descending)):
        values[i, : listed.size], columns[i, : listed.size] = a[i, listed], listed
        filled[i, : listed.size] = True
    return SortedRows(sparsify(values, filled, a.dtype), sparsify(columns, filled, columns.dtype))


@implements(SelectK, engine="reference")
def select_k(q: SelectK) -> CSR:
    """Up to k entries of each row."""
    a, present = densify(q.a)

    def keys(i: int, j: np.ndarray[Any, Any]) -> Any:
        if q.how == "random":
            return random_keys(q.seed, np.full_like(j, i), j)
        if q.how in ("smallest", "largest"):
            return order_keys(a[i, j], q.how == "largest")
        return -j if q.how == "last" else j

    kept = np.zeros_like(present)
    for i, listed in _in_order(a, present, keys):
        kept[i, listed[: q.k]] = True
    made: CSR = sparsify(a, kept, a.dtype)
    return made


def _in_order(a: Any, present: Any, keys: Any) -> Any:
    """Yield each row and its columns in ascending order of keys(row, columns); equal keys keep their order."""
    for i in range(a.shape[0]):
        j = np.flatnonzero(present[i])
        yield i, j[np.argsort(keys(i, j), kind="stable")]
