"""Peeling: rows with small counts are removed, level by level."""

from __future__ import annotations

import numpy as np

from ...formats import Full, structure_only
from ..registry import implements
from ..requests.graphs import Peel
from .dense import densify


@implements(Peel, engine="reference")
def peel(q: Peel) -> Full:
    """Remove rows whose counts, without the columns of removed rows, are below k, until none is; then for k + 1."""
    counts = densify(q.counts)[0].astype(object)
    entries = densify(structure_only(q.by_column))[1].T
    level, remain = np.zeros(counts.size, q.counts.dtype), np.ones(counts.size, np.bool_)
    k = 1 if q.least is None else q.least
    while remain.any():
        left = counts - entries[:, ~remain].sum(1)
        few = remain & (left < k)
        if few.any():
            remain &= ~few
            continue
        if q.least is not None:
            level[remain] = k
            break
        level[remain] = left[remain].min()
        k = int(left[remain].min()) + 1
    return Full(counts.size, q.counts.dtype, level)
