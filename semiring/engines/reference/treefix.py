"""Sums along the paths of a forest."""

from __future__ import annotations

import numpy as np

from ...formats import Full
from ..registry import implements
from ..requests.graphs import FOREST_CYCLE, FOREST_RANGE, Treefix, forest_error
from .dense import densify
from .evaluation import Fold


@implements(Treefix, engine="reference")
def treefix(q: Treefix) -> Full:
    """t(v) = (+) of u(w) over the descendants, or the ancestors, of v: a climb from every vertex."""
    parent, values = densify(q.parent)[0], densify(q.values)[0]
    n = parent.size
    if ((parent < 0) | (parent >= n)).any():
        raise forest_error(FOREST_RANGE)
    fold = Fold(q.monoid, (n,))
    at = np.arange(n)
    open_ = np.ones(n, np.bool_)
    for _ in range(n):
        for v in np.flatnonzero(open_):
            target, source = (at[v], v) if q.up else (v, at[v])
            fold.add(np.arange(n) == target, values[[source]])
        open_ &= parent[at] != at
        at = np.where(open_, parent[at], at)
    if open_.any():
        raise forest_error(FOREST_CYCLE)
    return Full(n, q.monoid.z, fold.values)
