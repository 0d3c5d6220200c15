"""Sums over the shortest paths from each source, where sources, targets or predecessors count differently.

The edges of the shortest paths from one source lead from each level to the next.  Counts of paths are summed level by
level from the source, and the shares of paths in the opposite order, with one pass over the edges of each level.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .graph import Graph, Node
from .registry import implements, refuse
from .search import breadth_first


class Levels(NamedTuple):
    """The shortest paths from a source.

    Attributes
    ----------
    order : rows reached, the source first
    edges : tails and heads of the edges from each level to the next, level by level
    paths : for every row the number of shortest paths; 0 where there is none
    """

    order: NDArray[np.int64]
    edges: list[tuple[NDArray[np.int64], NDArray[np.int64]]]
    paths: NDArray[np.float64]

    def dependencies(self, own: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return d(v) = sum over the edges (v, w) of paths(v) / paths(w) (own(w) + d(w))."""
        delta = np.zeros(len(self.paths))
        for tails, heads in reversed(self.edges):
            np.add.at(delta, tails, self.paths[tails] * ((own[heads] + delta[heads]) / self.paths[heads]))
        return delta


def _ends(G: Graph) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the ends of each slot, of parallel edges those of one."""
    if not G.is_multigraph():
        return G.rows, G.cols
    pairs = G.kept("pairs", lambda: np.unique(G.rows * len(G) + G.cols))
    return pairs // len(G), pairs % len(G)


def levels(G: Graph, source: int, depth: float | None = None) -> Levels:
    """Return the shortest paths from a source, of at most so many edges."""
    search = breadth_first(G, [source], depth=depth)
    level, (rows, cols) = search.distance, _ends(G)
    tails_level = level[rows]
    slots = np.flatnonzero((tails_level >= 0) & (level[cols] == tails_level + 1))
    slots = slots[np.argsort(tails_level[slots], kind="stable")]
    ends = np.cumsum(np.bincount(tails_level[slots])).tolist()
    edges = [(rows[slots[i:j]], cols[slots[i:j]]) for i, j in pairwise([0, *ends])]
    paths = np.zeros(len(G))
    paths[source] = 1
    for tails, heads in edges:
        np.add.at(paths, heads, paths[tails])
    return Levels(search.order, edges, paths)


def _hops(weight: Any) -> None:
    if weight is not None:
        raise refuse("sums over shortest paths with weights")


@implements()
def percolation_centrality(
    G: Graph, attribute: Any = "percolation", states: Any = None, weight: Any = None
) -> dict[Node, float]:
    """Return the share of shortest paths through each node, weighted by the states of their sources."""
    _hops(weight)
    n = len(G)
    if states is None:
        data = G.node_data or [{}] * n
        states = {node: known.get(attribute, 1) for node, known in zip(G.nodes, data, strict=True)}
    if n < 3 or set(states) != set(G):
        raise refuse("percolation of fewer than three nodes, or with states of other nodes")
    state = np.array([states[node] for node in G.nodes])
    if state.dtype.kind not in "biuf":
        raise refuse("states that are not real numbers")
    rest = state.sum(dtype=np.float64) - state
    if (rest == 0).any():
        raise refuse("a node of which all other states sum to 0")
    total, ones = np.zeros(n), np.ones(n)
    for source in np.flatnonzero(state).tolist():
        delta = levels(G, source).dependencies(ones)
        delta[source] = 0
        total += delta * (state[source] / rest)
    return G.by_node(total / (n - 2))


@implements()
def betweenness_centrality_subset(
    G: Graph, sources: Iterable[Node], targets: Iterable[Node], normalized: bool = False, weight: Any = None
) -> dict[Node, float]:
    """Return the share of shortest paths from some nodes to others through each node."""
    _hops(weight)
    starts, ends = list(sources), set(targets)
    if not ends <= set(G):
        raise refuse("targets that are not in the graph")
    wanted = np.zeros(len(G))
    wanted[[G.index[node] for node in ends]] = 1
    total = np.zeros(len(G))
    for source in starts:
        if source not in G:
            raise KeyError(source)
        row = G.index[source]
        delta = levels(G, row).dependencies(wanted)
        delta[row] = 0
        total += delta
    pairs = len(G) - 1
    if pairs < 2:
        return G.by_node(total)
    scale = 1 / (pairs * (pairs - 1)) if normalized else 1.0 if G.is_directed() else 0.5
    return G.by_node(total * scale)


@implements()
def newman_betweenness_centrality(
    G: Graph, v: Any = None, cutoff: float | None = None, normalized: bool = True, weight: Any = None
) -> Any:
    """Return the load of each node: what each two nodes exchange is divided evenly among predecessors at each step."""
    _hops(weight)
    total = np.zeros(len(G))
    for source in range(len(G)):
        total += _load(levels(G, source, max(cutoff, 1) if cutoff else None), source)
    n = len(G)
    if normalized and n > 2:
        total *= 1.0 / ((n - 1) * (n - 2))
    if v is not None:
        return float(total[G.index[v]]) if v in G else 0.0
    return G.by_node(total)


def _load(found: Levels, source: int) -> NDArray[np.float64]:
    """Return what passes through each row on the way from one source, without what begins or ends there."""
    n = len(found.paths)
    load, predecessors = np.zeros(n), np.zeros(n)
    load[found.order] = 1
    for _, heads in found.edges:
        np.add.at(predecessors, heads, 1)
    for tails, heads in reversed(found.edges[1:]):
        np.add.at(load, tails, load[heads] / predecessors[heads])
    load[found.order] -= 1
    load[source] = 0
    return load
