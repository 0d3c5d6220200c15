"""Rounds in which nodes of few neighbours are removed: core numbers by in- and out-degree, and layers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .graph import Graph


def layers(indptr: NDArray[np.int64], cols: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the core number of each row, and the round in which it is removed.

    A round removes all rows that have at most k neighbours left, where k increases to the fewest that any row has.
    """
    degree = np.diff(indptr)
    n, left = len(degree), len(degree)
    core, layer = np.zeros(n, np.int64), np.zeros(n, np.int64)
    k, number = 0, 0
    frontier = np.zeros(0, np.int64)
    while left:
        if not frontier.size:
            k = max(k, int(degree[layer == 0].min()))
            frontier = np.flatnonzero((layer == 0) & (degree <= k))
        number += 1
        core[frontier], layer[frontier] = k, number
        left -= frontier.size
        starts = indptr[frontier]
        counts = indptr[frontier + 1] - starts
        slots = np.repeat(starts + counts - np.cumsum(counts), counts) + np.arange(counts.sum())
        touched = cols[slots]
        np.subtract.at(degree, touched, 1)
        frontier = np.unique(touched[(layer[touched] == 0) & (degree[touched] <= k)])
    return core, layer


def directed_cores(G: Graph) -> NDArray[np.int64]:
    """Return the core numbers by in- and out-degree: an edge in both directions counts twice."""
    ends = np.concatenate([G.rows, G.cols]), np.concatenate([G.cols, G.rows])
    order = np.argsort(ends[0], kind="stable")
    indptr = np.append(0, np.cumsum(np.bincount(ends[0], minlength=len(G))))
    return layers(indptr, ends[1][order])[0]
