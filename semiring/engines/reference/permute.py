"""Permutation of rows and columns."""

from __future__ import annotations

import numpy as np

from ...formats import CSR
from ..registry import implements
from ..requests.storage import Permute
from .dense import densify, sparsify


@implements(Permute, engine="reference")
def permute(q: Permute) -> CSR:
    """t(i, cols[j]) = a(rows[i], j)."""
    a, present = densify(q.a)
    values, held = np.zeros_like(a), np.zeros_like(present)
    for i in range(q.a.nrows):
        for j in range(q.a.ncols):
            values[i, q.cols[j]], held[i, q.cols[j]] = a[q.rows[i], j], present[q.rows[i], j]
    t: CSR = sparsify(values, held, q.a.dtype)
    return t
