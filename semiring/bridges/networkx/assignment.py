"""Matchings of greatest or least weight in bipartite graphs, their covers, and edge covers.

A matching of nodes on the left is a permutation of the rows of a matrix that has, beside the column of each node on the
right, one for each row, which leaves that row unmatched.  SciPy finds the permutation of least cost.
"""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import min_weight_full_bipartite_matching

from semiring import algorithms as sr
from semiring.exceptions import GraphProperty
from semiring.io.networkx_arrays import Neighbors

from .bipartite import sets as bipartite_sets
from .graph import Graph, Node
from .registry import implements, refuse
from .search import breadth_first

#: Integers up to it are exact in float64.
_EXACT = 2.0**53


def _left(G: Graph) -> NDArray[np.bool_]:
    """Return which nodes are on the left of a bipartite graph."""
    try:
        colors = sr.two_coloring(G.structure).to_numpy()
    except GraphProperty as error:
        raise refuse("a weighted matching of a graph that is not bipartite") from error
    return np.asarray(colors == 0)


def _assigned(rows: NDArray[np.int64], cols: NDArray[np.int64], costs: NDArray[np.float64], apart: float) -> Any:
    """Return which of the edges form the matching of least cost, where an unmatched row costs `apart`.

    `rows` and `cols` are numbered from 0 without gaps.  SciPy takes a cost of 0 for a missing edge: all are raised by
    one number, which each row adds once.
    """
    n, m = int(rows.max()) + 1, int(cols.max()) + 1
    if n > m:
        rows, cols, n, m = cols, rows, m, n
    base = 1 - min(float(costs.min()), apart)
    every = np.arange(n)
    matrix = sparse.csr_array(
        (
            np.concatenate([costs + base, np.full(n, apart + base)]),
            (np.concatenate([rows, every]), np.concatenate([cols, m + every])),
        ),
        shape=(n, m + n),
    )
    _, mates = min_weight_full_bipartite_matching(matrix)
    return mates[rows] == cols


def _matching(G: Graph, costs: NDArray[Any], apart: float) -> set[tuple[Node, Node]]:
    """Return the edges of the matching of least cost; costs: one for each edge."""
    rows, cols = G.edge_rows()
    left = _left(G)
    first, second = np.where(left[rows], rows, cols), np.where(left[rows], cols, rows)
    kept = costs < apart
    if not kept.any():
        return set()
    u, v = (np.unique(side[kept], return_inverse=True)[1] for side in (first, second))
    chosen = np.flatnonzero(kept)[_assigned(u, v, costs[kept].astype(np.float64), apart)]
    return set(zip(G.labels(rows[chosen]), G.labels(cols[chosen]), strict=True))


def _costs(G: Graph, weight: Any, sign: int) -> NDArray[Any]:
    """Return the weight of each edge, or its negative."""
    if G.neighbors.once is None:
        raise nx.NetworkXNotImplemented("not implemented for directed type")
    values = G.weights(weight)
    if values is not None and not np.isfinite(values).all():
        raise refuse("a matching with infinite weights")
    return sign * (np.ones(len(G.rows), np.int64) if values is None else values)[G.neighbors.once]


def _of_most_edges(G: Graph, costs: NDArray[Any]) -> set[tuple[Node, Node]]:
    """Return the matching of least cost among those of the most edges: an edge less costs more than others gain."""
    if not len(costs):
        return set()
    apart = 2 * float(np.abs(costs).sum()) + 1
    if apart * (len(G) + 1) > _EXACT:
        raise refuse("weights whose sums float64 does not hold exactly")
    return _matching(G, costs, apart)


@implements()
def max_weight_matching(G: Graph, maxcardinality: bool = False, weight: Any = "weight") -> set[tuple[Node, Node]]:
    """Return edges without common nodes of the greatest total weight, among all or those of the most edges."""
    costs = _costs(G, weight, -1)
    if maxcardinality:
        return _of_most_edges(G, costs)
    if len(costs) and costs.dtype.kind != "f" and float(np.abs(costs).sum()) * 2 > _EXACT:
        raise refuse("weights whose sums float64 does not hold exactly")
    return _matching(G, costs, 0.0)


@implements()
def min_weight_matching(G: Graph, weight: Any = "weight") -> set[tuple[Node, Node]]:
    """Return edges without common nodes of the least total weight, among those of the most edges."""
    return _of_most_edges(G, _costs(G, weight, 1))


@implements()
def minimum_weight_full_matching(G: Graph, top_nodes: Any = None, weight: Any = "weight") -> dict[Node, Node]:
    """Return the matching of least weight of all nodes of the smaller set, as a dictionary in both directions."""
    if G.is_directed() or G.is_multigraph():
        raise refuse("a full matching of a directed graph or a multigraph")
    top, _ = bipartite_sets(G, top_nodes)
    if not all(node in G for node in top):
        raise refuse("nodes that are not in the graph")
    left = np.zeros(len(G), np.bool_)
    left[[G.index[node] for node in top]] = True
    slots = np.flatnonzero(left[G.rows] & ~left[G.cols])
    values = G.weights(weight)
    costs = (np.ones(len(G.rows)) if values is None else values.astype(np.float64))[slots]
    if not len(slots) or not np.isfinite(costs).all():
        raise refuse("a full matching without edges or with infinite weights")
    sides = np.flatnonzero(left), np.flatnonzero(~left)
    place = np.empty(len(G), np.int64)
    for side in sides:
        place[side] = np.arange(side.size)
    base = 1 - costs.min() if costs.min() <= 0 else 0.0
    ends = place[G.rows[slots]], place[G.cols[slots]]
    matrix = sparse.csr_array((costs + base, ends), shape=(sides[0].size, sides[1].size))
    try:
        chosen = min_weight_full_bipartite_matching(matrix)
    except ValueError:
        raise ValueError("cost matrix is infeasible") from None
    tops, bottoms = (G.labels(side[part]) for side, part in zip(sides, chosen, strict=True))
    return dict(zip([*tops, *bottoms], [*bottoms, *tops], strict=True))


@implements()
def to_vertex_cover(G: Graph, matching: Any, top_nodes: Any = None) -> set[Node]:
    """Return the least cover of the edges by nodes that a maximum bipartite matching gives, after König.

    With Z, the nodes that alternating paths reach from the unmatched nodes on the left, it is the nodes on the left
    that are not in Z, and those on the right that are.
    """
    if G.is_directed():
        raise refuse("a vertex cover of a directed graph")
    top, bottom = bipartite_sets(G, top_nodes)
    if not top <= set(G):
        raise refuse("nodes that are not in the graph")
    n, left = len(G), np.zeros(len(G), np.bool_)
    left[[G.index[node] for node in top]] = True
    if any(u not in G or v not in G for u, v in matching.items()) or (left[G.rows] == left[G.cols]).any():
        raise refuse("a matching of other nodes, or sets with edges inside")
    mates = np.array([(G.index[u], G.index[v]) for u, v in matching.items()], np.int64).reshape(-1, 2)
    matched = np.isin(G.rows * n + G.cols, np.concatenate([mates @ [n, 1], mates @ [1, n]]))
    # Alternating paths leave the left along edges that are not matched, and the right along those that are.
    slots = np.flatnonzero(left[G.rows] != matched)
    indptr = np.append(0, np.cumsum(np.bincount(G.rows[slots], minlength=n)))
    paths = Graph(Neighbors(list(range(n)), True, True, indptr, G.cols[slots]))
    free = [G.index[node] for node in top if node not in matching]
    reached = set(G.labels(breadth_first(paths, free).order)) if free else set()
    return (top - reached) | (bottom & reached)
