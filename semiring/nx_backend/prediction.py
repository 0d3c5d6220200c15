"""Link prediction: scores of pairs of nodes from their common neighbours."""

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
        raise refuse("common neighbours in a graph with self-loops")
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
    """Yield the share of the neighbours of two nodes that are common."""
    return _scores(G, ebunch, sr.jaccard, same=True)


@implements()
def adamic_adar_index(G: Graph, ebunch: Any = None) -> Scores:
    """Yield the sum of 1 / log(degree) over the common neighbours of two nodes."""
    return _scores(G, ebunch, sr.adamic_adar, same=False)


@implements()
def resource_allocation_index(G: Graph, ebunch: Any = None) -> Scores:
    """Yield the sum of 1 / degree over the common neighbours of two nodes."""
    return _scores(G, ebunch, sr.resource_allocation, same=False)


@implements(cheap=True)
def preferential_attachment(G: Graph, ebunch: Any = None) -> Scores:
    """Yield the product of the degrees of two nodes."""
    pairs, rows, cols = _pairs(G, ebunch)
    degrees = G.degrees()
    products = (degrees[rows] * degrees[cols]).tolist()
    return ((u, v, product) for (u, v), product in zip(pairs, products, strict=True))
