"""Core numbers by in- and out-degree."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .graph import Graph


def directed_cores(G: Graph) -> NDArray[np.int64]:
    """Return the core numbers by in- and out-degree: an edge in both directions counts twice.

    A round removes all rows that have at most k neighbors left, where k increases to the fewest that any row has.
    """
    ends = np.concatenate([G.rows, G.cols]), np.concatenate([G.cols, G.rows])
    cols = ends[1][np.argsort(ends[0], kind="stable")]
    degree = np.bincount(ends[0], minlength=len(G))
    indptr = np.append(0, np.cumsum(degree))
    core = np.full(len(G), -1)
    k, frontier = 0, np.zeros(0, np.int64)
    while (core < 0).any():
        if not frontier.size:
            k = max(k, int(degree[core < 0].min()))
            frontier = np.flatnonzero((core < 0) & (degree <= k))
        core[frontier] = k
        starts = indptr[frontier]
        counts = indptr[frontier + 1] - starts
        touched = cols[np.repeat(starts + counts - np.cumsum(counts), counts) + np.arange(counts.sum())]
        np.subtract.at(degree, touched, 1)
        frontier = np.unique(touched[(core[touched] < 0) & (degree[touched] <= k)])
    return core
