"""A spanning forest in the order of values."""

from __future__ import annotations

import numpy as np

from ...formats import CSR
from ..registry import implements
from ..requests.graphs import Span
from ..shared.order import order_keys
from .dense import densify, sparsify


@implements(Span, engine="reference")
def span(q: Span) -> CSR:
    """Visit the entries in order, and keep those between two trees; all vertices of a tree have one number."""
    values, present = densify(q.a)
    rows, columns = np.nonzero(present)
    tree = np.arange(q.a.nrows)
    for p in np.argsort(order_keys(values[rows, columns], q.largest), kind="stable"):
        i, j = rows[p], columns[p]
        if tree[i] == tree[j]:
            present[i, j] = False
        else:
            tree[tree == tree[i]] = tree[j]
    made: CSR = sparsify(values, present, q.a.dtype)
    return made
