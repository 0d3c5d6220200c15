"""The closure of every row of a matrix, one after the other."""

from __future__ import annotations

import numpy as np

from ...formats import CSR
from ..registry import implements
from ..requests.graphs import Closure, ClosureRows, ClosureRowsResult
from .closure import closure
from .dense import densify, sparsify


@implements(ClosureRows, engine="reference")
def closure_rows(q: ClosureRows) -> ClosureRowsResult:
    """C(s, :) = the closure of X(s, :)."""
    x, x_present = densify(q.frontiers)
    values = np.zeros(x.shape, q.semiring.z)
    present = np.zeros(x.shape, bool)
    for s in range(x.shape[0]):
        frontier = sparsify(x[s], x_present[s], q.frontiers.dtype)
        found = closure(Closure(frontier, q.by_row, q.by_column, q.semiring, False, max(x.shape[1], 1)))
        if not found.converged:
            return ClosureRowsResult(None, s)
        values[s], present[s] = densify(found.store)
    store: CSR = sparsify(values, present, q.semiring.z)
    return ClosureRowsResult(store)
