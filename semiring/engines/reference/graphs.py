"""Union-find, peeling, spanning forests, sums along the paths of a forest and maximum flows, by definition."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...dtypes import FP64
from ...formats import CSR, Full, VectorStore, structure_only, uncompressed_pattern
from ..registry import EVERY_KIND, implements
from ..requests.graphs import (
    FOREST_CYCLE,
    FOREST_RANGE,
    Link,
    MaximumFlow,
    MaximumFlowResult,
    Peel,
    Span,
    Treefix,
    forest_error,
)
from ..requests.operations import ScalarResult
from ..rows.link_sample import LinkSample, LinkSampleResult, MostFrequent, frequent_label, link_first
from ..shared.order import order_keys
from .dense import densify, sparsify
from .evaluation import Fold


@implements(Link, engine="reference")
def link(q: Link) -> VectorStore:
    """Unite i and j for each entry (i, j) at positions [first, last) of its row; then flatten every tree.

    The root of a united tree is its smallest member, so the result is the same on every engine.
    """
    parent = densify(q.forest)[0].tolist()
    pattern = uncompressed_pattern(q.pattern)
    indptr, columns = pattern.indptr.tolist(), pattern.indices.tolist()
    before, skip = [_root(parent, v) for v in range(q.pattern.nrows)], q.skipped()
    for i in range(q.pattern.nrows):
        if before[i] == skip:
            continue
        for j in columns[indptr[i] : indptr[i + 1]][q.first : q.last]:
            a, b = _root(parent, i), _root(parent, j)
            parent[max(a, b)] = min(a, b)
    flat = [_root(parent, v) for v in range(len(parent))]
    return Full(q.forest.size, q.forest.dtype, np.array(flat, q.forest.dtype))


@implements(LinkSample, engine="reference", accepts=EVERY_KIND)
def link_sample(q: LinkSample) -> LinkSampleResult:
    """Link the first neighbors of every row, one neighbor at a time."""
    return link_first(q, "reference")


@implements(MostFrequent, engine="reference")
def most_frequent(q: MostFrequent) -> ScalarResult:
    """A label that is most frequent in a sample of the forest."""
    return frequent_label(q)


def _root(parent: list[int], v: int) -> int:
    while parent[v] != v:
        v = parent[v]
    return v


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


_BOOL = np.dtype(np.bool_)


@implements(MaximumFlow, engine="reference")
def flow(q: MaximumFlow) -> MaximumFlowResult:
    """Send as much as a shortest path can carry, until there is none, in a matrix with two vertices more.

    Entries from vertex n, the source, are the supplies, and those into vertex n + 1, the target, the demands.
    """
    n = q.a.nrows
    limit = np.zeros((n + 2, n + 2))
    limit[:n, :n] = np.fmax(densify(q.a)[0].astype(np.float64), 0.0)
    np.fill_diagonal(limit, 0.0)
    limit[n, :n], limit[:n, n + 1] = densify(q.supply)[0], densify(q.demand)[0]
    net = np.zeros_like(limit)
    while True:
        parent = _search(limit - net > q.least, n)
        if parent[n + 1] < 0:
            break
        path = [n + 1]
        while path[-1] != n:
            path.append(int(parent[path[-1]]))
        tails, heads = path[:0:-1], path[-2::-1]
        left = limit[tails, heads] - net[tails, heads]
        full = left == left.min()
        net[tails, heads] = np.where(full, limit[tails, heads], net[tails, heads] + left.min())
        net[heads, tails] = -net[tails, heads]
    sent = np.maximum(net, 0.0)
    return MaximumFlowResult(
        sparsify(sent[:n, :n], sent[:n, :n] > 0, FP64),
        sparsify(sent[n, :n], sent[n, :n] > 0, FP64),
        sparsify(sent[:n, n + 1], sent[:n, n + 1] > 0, FP64),
        sparsify(parent[:n] >= 0, parent[:n] >= 0, _BOOL),
    )


def _search(open_: np.ndarray[Any, Any], source: int) -> np.ndarray[Any, Any]:
    """Return the parent of each vertex in a tree of shortest paths from the source; -1 without one."""
    parent = np.full(len(open_), -1)
    parent[source] = source
    queue = [source]
    for v in queue:
        for w in np.flatnonzero(open_[v] & (parent < 0)):
            parent[w] = v
            queue.append(int(w))
    return parent
