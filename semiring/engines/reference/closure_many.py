"""The boolean closure of many sources, on dense arrays."""

from __future__ import annotations

import numpy as np

from ..registry import implements
from ..requests.graphs import ClosureMany, ClosureManyResult
from .dense import densify, sparsify
from .evaluation import Values

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
