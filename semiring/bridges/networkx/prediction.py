"""Link prediction: scores of pairs of nodes from their common neighbors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from semiring import Matrix
from semiring import algorithms as sr

from .graph import Graph, Node
from .registry import implements, refuse
from .search import breadth_first

Scores = Iterator[tuple[Node, Node, Any]]


def _pairs(G: Graph, ebunch: Any) -> tuple[list[tuple[Node, Node]], NDArray[np.int64], NDArray[np.int64]]:
    """Return the pairs of nodes, and their rows; those that are not adjacent for None."""
    if ebunch is not None:
        pairs = [(u, v) for u, v in ebunch]
        for pair in pairs:
            for node in pair:
                if node not in G:
                    raise nx.NodeNotFound(f"Node {node} not in G.")
        rows = np.array([[G.index[u], G.index[v]] for u, v in pairs], np.int64).reshape(-1, 2)
        return pairs, rows[:, 0], rows[:, 1]
    missing = np.triu(np.ones((len(G), len(G)), np.bool_), 1)
    missing[G.rows, G.cols] = False
    first, second = np.nonzero(missing)
    return list(zip(G.labels(first), G.labels(second), strict=True)), first, second


def _scores(G: Graph, ebunch: Any, score: Callable[[Matrix, Matrix], Matrix], *, same: bool) -> Scores:
    """Yield each pair with its score; `same`: whether a pair may be one node twice."""
    if G.loops:
        raise refuse("common neighbors in a graph with self-loops")
    pairs, rows, cols = _pairs(G, ebunch)
    if not same and (rows == cols).any():
        raise refuse("the score of a node with itself")
    if not pairs:
        return iter(())
    n = len(G)
    found = score(G.structure, Matrix.from_coo(rows, cols, True, nrows=n, ncols=n, dup_op="any", device=G.device))
    at_rows, at_cols, values = (np.asarray(part) for part in found.to_coo(device="cpu"))
    stored = at_rows * n + at_cols
    asked = rows * n + cols
    place = np.minimum(np.searchsorted(stored, asked), max(len(stored) - 1, 0))
    known = stored[place] == asked if len(stored) else np.zeros(len(asked), np.bool_)
    result = np.broadcast_to(values, at_rows.shape)[place].tolist() if len(stored) else [0] * len(asked)
    return ((u, v, value if has else 0) for (u, v), value, has in zip(pairs, result, known.tolist(), strict=True))


@implements()
def jaccard_coefficient(G: Graph, ebunch: Any = None) -> Scores:
    """Yield the share of the neighbors of two nodes that are common."""
    return _scores(G, ebunch, sr.jaccard, same=True)


@implements()
def adamic_adar_index(G: Graph, ebunch: Any = None) -> Scores:
    """Yield the sum of 1 / log(degree) over the common neighbors of two nodes."""
    return _scores(G, ebunch, sr.adamic_adar, same=False)


@implements()
def resource_allocation_index(G: Graph, ebunch: Any = None) -> Scores:
    """Yield the sum of 1 / degree over the common neighbors of two nodes."""
    return _scores(G, ebunch, sr.resource_allocation, same=False)


@implements()
def preferential_attachment(G: Graph, ebunch: Any = None) -> Scores:
    """Yield the product of the degrees of two nodes."""
    pairs, rows, cols = _pairs(G, ebunch)
    degrees = G.degrees()
    products = (degrees[rows] * degrees[cols]).tolist()
    return ((u, v, product) for (u, v), product in zip(pairs, products, strict=True))


@implements()
def common_neighbor_centrality(G: Graph, ebunch: Any = None, alpha: float = 0.8) -> Scores:
    """Yield alpha * the number of common neighbors + (1 - alpha) n / distance."""
    if alpha == 1:
        return _scores(G, ebunch, sr.common_neighbors, same=False)
    pairs, rows, cols = _pairs(G, ebunch)
    common = [score for *_, score in _scores(G, pairs, sr.common_neighbors, same=False)]
    distance = np.full(len(pairs), np.inf)
    for start in np.unique(rows).tolist():
        level = breadth_first(G, [start]).distance
        chosen = np.flatnonzero(rows == start)
        reached = chosen[level[cols[chosen]] >= 0]
        distance[reached] = level[cols[reached]]
    far = ((1 - alpha) * len(G) / distance).tolist()
    return ((u, v, alpha * count + other) for (u, v), count, other in zip(pairs, common, far, strict=True))


def _communities(G: Graph, attribute: Any) -> NDArray[np.int64]:
    """Return the number of each node's community."""
    number: dict[Any, int] = {}
    try:
        return np.array([number.setdefault(data[attribute], len(number)) for data in G.node_data or [{}] * len(G)])
    except KeyError as error:
        raise refuse("a node without a community") from error


def _inside(G: Graph, community: NDArray[np.int64]) -> Matrix:
    """Return the edges within communities: a path of two of them joins nodes of one community within it."""
    return G.of_slots(community[G.rows] == community[G.cols]).select("==", True).wait()


def _count(A: Matrix, pairs: Matrix) -> Matrix:
    """Return the number of common neighbors of each pair."""
    return A.mxm(A, "plus_pair", mask=pairs.S).wait()


@implements()
def cn_soundarajan_hopcroft(G: Graph, ebunch: Any = None, community: Any = "community") -> Scores:
    """Yield the number of common neighbors, where those in the community of both nodes count twice."""
    inside = _inside(G, _communities(G, community))

    def score(A: Matrix, pairs: Matrix) -> Matrix:
        return _count(A, pairs).ewise_add(_count(inside, pairs), "plus").wait()

    return _scores(G, ebunch, score, same=True)


@implements()
def ra_index_soundarajan_hopcroft(G: Graph, ebunch: Any = None, community: Any = "community") -> Scores:
    """Yield the sum of 1 / degree over the common neighbors in the community of both nodes."""
    inside = _inside(G, _communities(G, community))

    def score(A: Matrix, pairs: Matrix) -> Matrix:
        shares = A.reduce_rowwise("count").dup().dup(dtype=np.float64).apply("minv").dup().diag()
        return inside.mxm(shares.mxm(inside, "plus_first"), "plus_second", mask=pairs.S).wait()

    return _scores(G, ebunch, score, same=True)


@implements()
def within_inter_cluster(G: Graph, ebunch: Any = None, delta: float = 0.001, community: Any = "community") -> Scores:
    """Yield the number of common neighbors in the community of both nodes / (that of the others + delta)."""
    if delta <= 0:
        raise nx.NetworkXAlgorithmError("Delta must be greater than zero")
    inside = _inside(G, _communities(G, community))
    pairs = _pairs(G, ebunch)[0]
    every = _scores(G, pairs, _count, same=True)
    within = _scores(G, pairs, lambda A, wanted: _count(inside, wanted), same=True)
    number = _communities(G, community)
    return (
        (u, v, near / (count - near + delta) if number[G.index[u]] == number[G.index[v]] else 0)
        for (u, v, count), (_, _, near) in zip(every, within, strict=True)
    )
