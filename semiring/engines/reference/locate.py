"""The extreme entry of each row or group, with its position."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..registry import implements
from ..requests.operations import Located, LocateGroups, LocateRows
from ..shared.order import order_keys
from .dense import densify, positions, sparsify

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
