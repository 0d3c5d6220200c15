"""Closures by definition: of a vector, of many sources, of the rows of a matrix, and of acyclic matrices."""

from __future__ import annotations

import numpy as np

from ...formats import CSR, VectorStore
from ..registry import implements
from ..requests.graphs import (
    AcyclicClosure,
    AcyclicResult,
    Closure,
    ClosureMany,
    ClosureManyResult,
    ClosureResult,
    ClosureRows,
    ClosureRowsResult,
    Step,
)
from ..requests.operations import Mxv
from .dense import densify, sparsify
from .evaluation import Fold, Values, binary, indexunary
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


_INT64 = np.dtype(np.int64)


@implements(ClosureMany, engine="reference")
def closure_many(q: ClosureMany) -> ClosureManyResult:
    """S, S A, S A^2, ...: an entry that appears for the first time in S A^d is at level d."""
    _, adjacent = densify(q.by_row.get())
    k, n = q.sources.size, adjacent.shape[0]
    levels = np.zeros((k, n), q.dtype)
    frontier = np.zeros((k, n), bool)
    frontier[np.arange(k), q.sources] = True
    reached = np.zeros((k, n), bool)
    counted: list[Values] = []
    while frontier.any():
        levels[frontier] = len(counted)
        counted.append(frontier.sum(axis=1))
        reached |= frontier
        frontier = (frontier @ adjacent) & ~reached
    counts = np.stack(counted, axis=1).astype(_INT64)
    return ClosureManyResult(
        sparsify(levels, reached, q.dtype) if q.levels else None,
        sparsify(counts, counts > 0, _INT64) if q.counts else None,
        len(counted),
    )


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


@implements(AcyclicClosure, engine="reference")
def acyclic_closure(q: AcyclicClosure) -> AcyclicResult:
    """c(v) = f( x(v) (+) (+)_u c(u) (x) A(u, v) ): rows whose predecessors are all finished, one after another."""
    values, present = densify(q.a)
    x, x_present = densify(q.x)
    n, add, mult = q.a.nrows, q.semiring.add, q.semiring.mult
    total = Fold(add, (n,))
    total.add(x_present, x[x_present])
    waiting = present.sum(axis=0)
    ready = [int(v) for v in np.flatnonzero(waiting == 0)]
    zero = np.zeros(1, np.int64)
    for u in ready:  # it grows
        if total.present[u] and q.then is not None:
            made = indexunary(q.then, total.values[u : u + 1], zero, zero, np.bool_(False))
            total.values[u : u + 1] = made.astype(total.values.dtype)
        for v in np.flatnonzero(present[u]):
            if total.present[u]:
                at = np.array([u]), np.array([v])
                z = binary(mult, total.values[u : u + 1], values[u, v : v + 1], zero, at[0], at[0], at[1])
                where = np.zeros(n, np.bool_)
                where[v] = True
                total.add(where, z)
            waiting[v] -= 1
            if waiting[v] == 0:
                ready.append(int(v))
    return AcyclicResult(sparsify(total.values, total.present, total.values.dtype), len(ready))
