"""A spanning forest in the order of values: Kruskal's algorithm.

A key and the number of its entry are sorted as one integer where they fit, by NumPy's vectorized sort.  Union-find
halves the paths that it follows, and ends when one tree is left; one thread.
"""

from __future__ import annotations

import numpy as np

from ...formats import CSR, index_dtype
from ...memory.allocation import require
from ..registry import RESIDENT, implements
from ..requests.graphs import Span
from ..shared.order import order_keys
from .atomics import MANY_STEPS, stopped
from .compile import inlined, kernel
from .operands import Array, rows_of
from .select import kept_rows
from .threads import run
from .types import position

_LOW = np.uint64(0xFFFFFFFF)


@implements(Span, engine="cpu", accepts=RESIDENT)
def span(q: Span) -> CSR:
    """t = the entries that join two trees, visited in the order of values."""
    a, n = q.a, q.a.nrows
    require("span", "cpu", n * index_dtype(n).itemsize + a.nvals * (0 if a.iso is not None else 24) + a.nvals)
    order = None if a.values is None else _order(a.values, q.largest)
    indptr, indices = rows_of(a)
    rows = None if order is None else np.repeat(np.arange(n, dtype=index_dtype(n)), np.diff(indptr))
    tree, joins = np.arange(n, dtype=index_dtype(n)), np.zeros(a.nvals, np.bool_)
    if order is None:
        run(_join_rows, 1, indptr, indices, tree, joins, work=a.nvals)
    else:
        run(_join_listed, 1, order, rows, indices, tree, joins, work=a.nvals)
    return kept_rows(a, joins)


def _order(values: Array, largest: bool) -> Array:
    """Return the numbers of the entries in the order of their values; equal ones keep their order."""
    keys = order_keys(values, largest)
    if keys.dtype == np.uint64 and keys.size:
        least = keys.min()
        if keys.max() - least <= _LOW:
            keys = (keys - least).astype(np.uint32)
    if keys.dtype == np.uint64 or keys.size > 1 << 32:
        return np.argsort(keys, kind="stable")
    packed = keys.astype(np.uint64) << np.uint64(32)
    packed |= np.arange(keys.size, dtype=np.uint64)
    packed.sort()
    return (packed & _LOW).astype(np.int64)


@inlined
def _root(tree, v):
    """Return the root of v; every vertex on the path then skips its parent."""
    above = position(tree, v)
    while above != v:
        beyond = position(tree, above)
        tree[v] = beyond
        v, above = beyond, position(tree, beyond)
    return v


@inlined
def _join(tree, i, j):
    """Hook the larger root of two vertices under the smaller one; return whether they differ."""
    a, b = _root(tree, i), _root(tree, j)
    tree[max(a, b)] = min(a, b)
    return bool(a != b)


@kernel
def _join_rows(t, threads, control, indptr, indices, tree, joins):
    left = tree.size - 1
    for row in range(indptr.size - 1):
        if row & MANY_STEPS == 0 and stopped(control):
            return
        i = np.int64(row)
        for p in range(indptr[row], indptr[row + 1]):
            if _join(tree, i, position(indices, np.int64(p))):
                joins[p] = True
                left -= 1
        if left == 0:
            return


@kernel
def _join_listed(t, threads, control, order, rows, indices, tree, joins):
    left = tree.size - 1
    for s in range(order.size):
        if s & MANY_STEPS == 0 and stopped(control):
            return
        p = order[s]
        if _join(tree, position(rows, p), position(indices, p)):
            joins[p] = True
            left -= 1
            if left == 0:
                return
