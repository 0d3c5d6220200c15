"""Peeling: rows with small counts are removed, level by level.

One pass over the rows that remain collects those of a level and drops those removed before; removing a row may bring
others to the level, which are collected on a stack.  A row of level k is in at most k + 2 passes, and each entry is
visited once.
Source: Dasari, Desh, Zubair, "ParK: An efficient algorithm for k-core decomposition on multicore processors", IEEE Big
Data 2014.
"""

from __future__ import annotations

import numpy as np

from ...formats import Full, dense_values, index_dtype, uncompressed_pattern
from ...memory.allocation import require
from ..registry import RESIDENT, implements
from ..requests.graphs import Peel
from .atomics import stopped
from .compile import kernel
from .operands import kernel_array
from .threads import run
from .types import position

# Rows and entries after which the kernel polls for an interrupt: below a millisecond.
_POLLED = 1 << 16


@implements(Peel, engine="cpu", accepts=RESIDENT)
def peel(q: Peel) -> Full:
    """Remove the rows of one level after another; one thread."""
    t, dtype, n = uncompressed_pattern(q.by_column), q.counts.dtype, q.counts.size
    index = index_dtype(n)
    require("peel", "cpu", n * (2 * index.itemsize + dtype.itemsize))
    counts = kernel_array(dense_values(q.counts)).copy()
    rows, stack = np.arange(n, dtype=index), np.empty(n, index)
    least = -1 if q.least is None else q.least
    entries = kernel_array(t.indptr), kernel_array(t.indices)
    run(_peel, 1, *entries, counts, rows, stack, least, work=n + t.nvals)
    level = np.maximum(counts, 0) if q.least is None else np.where(counts >= least, dtype.type(least), dtype.type(0))
    return Full(n, dtype, level)


@kernel
def _peel(t, threads, control, indptr, indices, counts, rows, stack, least):
    """Replace the count of each row by its level; with `least`, by a smaller number where the row is removed.

    The count of a removed row is not changed again, because it is at most the current level.
    """
    remain = counts.size
    level = np.int64(0) if least < 0 else np.int64(least) - 1
    first, before = True, level
    polled = _POLLED
    while remain > 0:
        kept, top = 0, 0
        nearest = level
        for s in range(remain):
            i = position(rows, s)
            c = np.int64(counts[i])
            if c > level:
                rows[kept] = i
                nearest = min(nearest, c) if kept else c
                kept += 1
            elif c > before or first:
                stack[top] = i
                top += 1
        polled -= remain
        removed = top
        while top > 0:
            top -= 1
            i = position(stack, top)
            begin, end = np.int64(indptr[i]), np.int64(indptr[i + 1])
            for p in range(begin, end):
                j = position(indices, p)
                c = np.int64(counts[j])
                if c > level:
                    counts[j] = c - 1
                    if c == level + 1:
                        stack[top] = j
                        top += 1
            polled -= end - begin + 1
            if polled < 0:
                if stopped(control):
                    return
                polled = _POLLED
        if least >= 0:
            return
        first, before, remain = False, level, kept
        level = level + 1 if removed > 0 else nearest
