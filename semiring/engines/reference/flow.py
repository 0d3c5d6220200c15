"""Maximum flows: one path after the other."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...dtypes import FP64
from ..registry import implements
from ..requests.graphs import MaximumFlow, MaximumFlowResult
from .dense import densify, sparsify

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
