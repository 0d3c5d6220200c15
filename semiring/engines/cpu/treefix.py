"""Sums along the paths of a forest, each vertex once; one thread.

Towards the roots: a climb starts at every leaf and ends where a vertex has children that are not complete; the climb of
the last child continues.  Towards the leaves: a climb ends at a complete vertex, and the path is completed on the way
back.
"""

from __future__ import annotations

import numpy as np

from ...formats import Full, dense_values, index_dtype
from ...memory.allocation import require
from ..registry import implements
from ..requests.graphs import FOREST_CYCLE, FOREST_RANGE, Treefix, forest_error
from . import types
from .atomics import MANY_STEPS, stopped
from .compile import kernel
from .operands import kernel_array
from .threads import run
from .types import combine, converted, position, put, value_at

# Marks of a vertex.
_COMPLETE, _ON_PATH = -1, -2


@implements(Treefix, engine="cpu")
def treefix(q: Treefix) -> Full:
    """t(v) = (+) of u(w) over the descendants, or the ancestors, of v."""
    n, z = q.parent.size, q.monoid.z
    index = index_dtype(n)
    require("treefix", "cpu", n * (2 * index.itemsize + z.itemsize))
    parent = kernel_array(dense_values(q.parent))
    made = kernel_array(dense_values(q.values)).copy()
    pending, failed = np.zeros(n, index), np.zeros(1, np.int64)
    if q.up:
        run(_towards_roots, 1, parent, types.monoid(q.monoid), made, pending, failed, work=n)
    else:
        path = np.empty(n, index)
        run(_towards_leaves, 1, parent, types.monoid(q.monoid), made, pending, path, failed, work=n)
    if failed[0]:
        raise forest_error(int(failed[0]))
    return Full(n, z, made)


@kernel
def _towards_roots(t, threads, control, parent, add, made, pending, failed):
    """pending: 0; then the number of children of each vertex that are not complete."""
    n = parent.size
    for child in range(n):
        above = np.int64(parent[child])
        if above < 0 or above >= n:
            failed[0] = FOREST_RANGE
            return
        if above != child:
            pending[above] += 1
    complete = 0
    for leaf in range(n):
        if leaf & MANY_STEPS == 0 and stopped(control):
            return
        v = np.int64(leaf)
        while pending[v] == 0:
            pending[v] = _COMPLETE
            complete += 1
            above = position(parent, v)
            if above == v:
                break
            put(made, above, converted(made, combine(add, value_at(made, above), value_at(made, v))))
            pending[above] -= 1
            v = above
    if complete < n:
        failed[0] = FOREST_CYCLE


@kernel
def _towards_leaves(t, threads, control, parent, add, made, marks, path, failed):
    n = parent.size
    for start in range(n):
        if start & MANY_STEPS == 0 and stopped(control):
            return
        v, length = np.int64(start), 0
        while marks[v] == 0:
            marks[v] = _ON_PATH
            path[length] = v
            length += 1
            v = np.int64(parent[v])
            if v < 0 or v >= n:
                failed[0] = FOREST_RANGE
                return
        if marks[v] == _ON_PATH and v != position(path, length - 1):
            failed[0] = FOREST_CYCLE
            return
        for s in range(length - 1, -1, -1):
            below = position(path, s)
            if below != v:  # the root is its own parent
                put(made, below, converted(made, combine(add, value_at(made, v), value_at(made, below))))
            marks[below] = _COMPLETE
            v = below
