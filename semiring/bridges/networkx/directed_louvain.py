"""Communities of directed graphs by the method of Louvain, on the host.

The vertices move one after the other, in the order that NetworkX draws, and communities of equal gain are met in its
order, so that the result is NetworkX's for the same seed, where sums of weights are exact.
`semiring.algorithms.louvain` moves many vertices at a time, by a gain that needs one mass a vertex: directed modularity
(Leicht and Newman, "Community structure in directed networks", Phys. Rev. Lett. 2008) has two.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .graph import Graph

__all__ = ["partitions"]


class _Level(NamedTuple):
    """A directed graph of n vertices: its edges with weights, in the order in which NetworkX lists them."""

    n: int
    tails: NDArray[np.int64]
    heads: NDArray[np.int64]
    weights: NDArray[np.float64]
    #: When each edge was added, which is the order of the predecessors of a vertex.
    added: NDArray[np.int64]


def partitions(
    G: Graph, values: NDArray[Any] | None, resolution: float, threshold: float, seed: Any
) -> Iterator[NDArray[np.int64]]:
    """Yield the number of the community of each row, of one level after the other."""
    from .directed_louvain_kernel import move

    weights = np.ones(len(G.cols)) if values is None else values.astype(np.float64)
    level = _merged(np.arange(len(G)), len(G), G.rows, G.cols, weights)
    total = float(level.weights.sum())
    before = _modularity(level, np.arange(level.n), total, resolution)
    labels: NDArray[np.int64] | None = None
    while True:
        indptr, near, sums = _neighbors(level)
        order = list(range(level.n))
        seed.shuffle(order)
        community = np.arange(level.n)
        leaving, entering = (np.bincount(ends, level.weights, level.n) for ends in (level.tails, level.heads))
        drawn = np.array(order, np.int64)
        moves = move(indptr, near, sums, leaving, entering, drawn, total, total**2, float(resolution), community)
        if labels is not None and moves == 0:
            return
        kept, community = np.unique(community, return_inverse=True)
        labels = community if labels is None else community[labels]
        yield labels
        found = _modularity(level, community, total, resolution)
        if found - before <= threshold:
            return
        before = found
        level = _merged(community, len(kept), level.tails, level.heads, level.weights)


def _distinct(
    ends: NDArray[np.int64], near: NDArray[np.int64], weights: NDArray[np.float64], n: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the first of equal pairs, by `ends` and then by when they occur, and the sum of the weights of each."""
    pairs, first, number = np.unique(ends * n + near, return_index=True, return_inverse=True)
    order = np.lexsort((first, pairs // n))
    sums: NDArray[np.float64] = np.bincount(number, weights=weights, minlength=pairs.size).astype(np.float64)
    return first[order], sums[order]


def _merged(
    community: NDArray[np.int64], n: int, tails: NDArray[np.int64], heads: NDArray[np.int64], weights: NDArray[Any]
) -> _Level:
    """Return the graph of communities, whose edges are added in the order of the edges between their members."""
    tails, heads = community[tails], community[heads]
    chosen, sums = _distinct(tails, heads, weights, n)
    return _Level(n, tails[chosen], heads[chosen], sums, chosen)


def _neighbors(level: _Level) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Return offsets, neighbors in either direction, and sums of weights: successors first, without self-loops."""
    other = np.flatnonzero(level.tails != level.heads)
    back = other[np.argsort(level.added[other], kind="stable")]
    ends = np.concatenate([level.tails[other], level.heads[back]])
    near = np.concatenate([level.heads[other], level.tails[back]])
    chosen, sums = _distinct(ends, near, np.concatenate([level.weights[other], level.weights[back]]), level.n)
    indptr = np.append(0, np.cumsum(np.bincount(ends[chosen], minlength=level.n)))
    return indptr, near[chosen], sums


def _modularity(level: _Level, community: NDArray[np.int64], total: float, resolution: float) -> float:
    inside = float(level.weights[community[level.tails] == community[level.heads]].sum())
    leaving, entering = (np.bincount(community[ends], level.weights, level.n) for ends in (level.tails, level.heads))
    return inside / total - resolution * float(leaving @ entering) / total**2
