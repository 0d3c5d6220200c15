"""The entries of each row in order, and the one of an extreme value, by definition."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...formats import CSR
from ..registry import implements
from ..requests.operations import Located, LocateGroups, LocateRows, Scale, Scan, SelectK, SortedRows, SortRows
from ..shared.order import order_keys, random_keys
from .dense import coordinates, densify, positions, sparsify
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


_INT64 = np.dtype(np.int64)


@implements(LocateRows, engine="reference")
def locate_rows(q: LocateRows) -> Located:
    """w(i) = min_j a(i, j), p(i) = the first such j."""
    a, present = densify(q.a)
    return _located(q.a.nrows, a.dtype, q.largest, ((i, a[i], present[i]) for i in range(q.a.nrows)))


@implements(LocateGroups, engine="reference")
def locate_groups(q: LocateGroups) -> Located:
    """w(g) = min of u(p) with index[p] = g, p(g) = the first such p."""
    u, present = densify(q.u)
    group = positions(q.index)
    return _located(q.index.size, u.dtype, q.largest, ((g, u, present & (group == g)) for g in range(q.index.size)))


def _located(size: int, dtype: np.dtype[Any], largest: bool, candidates: Any) -> Located:
    values, places, found = np.zeros(size, dtype), np.zeros(size, np.int64), np.zeros(size, np.bool_)
    for g, u, present in candidates:
        p = np.flatnonzero(present)
        if p.size:
            places[g] = p[np.argmin(order_keys(u[p], largest))]
            values[g], found[g] = u[places[g]], True
    return Located(sparsify(values, found, dtype), sparsify(places, found, _INT64))
