"""The closure of a frontier under a matrix."""

from __future__ import annotations

import numpy as np

from ...formats import VectorStore
from ..registry import implements
from ..requests.graphs import Closure, ClosureResult, Step
from ..requests.operations import Mxv
from .dense import densify, sparsify
from .evaluation import Fold, Values
from .products import mxv


@implements(Closure, engine="reference")
def closure(q: Closure) -> ClosureResult:
    """C = x (+) x A (+) x A^2 (+) ...: multiply the frontier and fold it into C; changed entries are the next one."""
    x, x_present = densify(q.frontier)
    size = q.by_row.get().nrows
    total = Fold(q.semiring.add, (size,))
    total.add(x_present, x[x_present])
    frontier = total.present.copy()
    degree = np.diff(q.by_row.get().indptr)
    trace: list[Step] = []
    steps = 0
    while frontier.any() and steps < q.max_steps:
        steps += 1
        trace.append(Step("push", int(frontier.sum()), int(degree[frontier].sum())))
        t, t_present = densify(_times(q, sparsify(total.values, frontier, total.values.dtype), size))
        before, was_present = total.values.copy(), total.present.copy()
        total.add(t_present, t[t_present])
        frontier = total.present & (~was_present | _differs(total.values, before))
    store: VectorStore = sparsify(total.values, total.present, total.values.dtype)
    return ClosureResult(store, not frontier.any(), steps, tuple(trace) if q.trace else ())


def _times(q: Closure, frontier: VectorStore, size: int) -> VectorStore:
    """Return the product of the frontier, a row vector, and A."""
    return mxv(Mxv(size, size, q.by_column, q.by_row, frontier, q.semiring, flip=True))


def _differs(a: Values, b: Values) -> Values:
    """Return where the values differ; NaN equals NaN, because otherwise a search would not end."""
    return np.asarray((a != b) & ~((a != a) & (b != b)))
