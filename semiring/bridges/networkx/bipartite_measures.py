"""Measures of bipartite graphs: closeness, clustering, redundancy, BiRank, and sets of nodes."""

from __future__ import annotations

from itertools import chain
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from semiring import Matrix
from semiring import algorithms as sr

from .bipartite import _colors, biadjacency_matrix
from .components import _weak
from .graph import Graph, Node
from .registry import implements, refuse


@implements()
def bipartite_closeness_centrality(G: Graph, nodes: Any, normalized: bool = True) -> dict[Node, float]:
    """Return the least possible sum of the distances of each node / this sum, times the share of nodes reached."""
    if G.is_directed():
        raise refuse("closeness in a directed bipartite graph")
    top = set(nodes)
    bottom = set(G) - top
    if not top <= set(G) or len(G) < 2:
        raise refuse("closeness of nodes that are not in the graph, or of one node")
    reached = np.bincount(_weak(G), minlength=len(G))[_weak(G)] - 1.0
    shares = sr.closeness_centrality(G.structure, wf_improved=False).to_numpy(0.0)  # reached / the sum of the distances
    total = np.rint(np.divide(reached, shares, out=np.zeros(len(G)), where=shares > 0))
    n, m = len(top), len(bottom)
    found: dict[Node, float] = {}
    for part, least in ((top, m + 2 * (n - 1)), (bottom, n + 2 * (m - 1))):
        rows = [G.index[node] for node in part]
        values = np.divide(least, total[rows], out=np.zeros(len(rows)), where=total[rows] > 0)
        if normalized:
            values *= reached[rows] / (len(G) - 1)
        found.update(zip(part, values.tolist(), strict=True))
    return found


def _common(G: Graph) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the pairs of different nodes with common neighbors, and their number."""

    def make() -> Any:
        rows, cols, counts = (np.asarray(x) for x in sr.common_neighbors(G.structure).to_coo(device="cpu"))
        apart = rows != cols
        return rows[apart], cols[apart], np.broadcast_to(counts, rows.shape)[apart]

    made: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]] = G.kept("common", make)
    return made


def _undirected(G: Graph) -> NDArray[np.int64]:
    """Return the number of neighbors of each row; refuse graphs with directions or self-loops."""
    if G.is_directed() or G.loops:
        raise refuse("common neighbors in a directed graph or with self-loops")
    return entries_of_rows(G.structure)


def entries_of_rows(A: Matrix) -> NDArray[np.int64]:
    """Return the number of entries of each row."""
    return np.asarray(A.reduce_rowwise("count").dup().to_numpy(0), np.int64)


@implements()
def latapy_clustering(G: Graph, nodes: Any = None, mode: str = "dot") -> dict[Node, float]:
    """Return the mean overlap of the neighbors of each node and those of the nodes that share one with it.

    The common neighbors of two nodes are divided by all neighbors of both (dot), or by those of one (min, max).
    """
    if not sr.is_bipartite(G.undirected_structure):
        raise nx.NetworkXError("Graph is not bipartite")
    if mode not in ("dot", "min", "max"):
        raise nx.NetworkXError("Mode for bipartite clustering must be: dot, min or max")
    degree = _undirected(G)
    chosen = list(G) if nodes is None else list(nodes)
    rows, cols, common = _common(G)
    one, other = degree[rows], degree[cols]
    size = {"dot": one + other - common, "min": np.minimum(one, other), "max": np.maximum(one, other)}[mode]
    sums, counts = np.bincount(rows, common / size, len(G)), np.bincount(rows, minlength=len(G))
    values = np.divide(sums, counts, out=np.zeros(len(G)), where=counts > 0)
    return {node: float(values[G.index[node]]) for node in chosen}


@implements()
def bipartite_average_clustering(G: Graph, nodes: Any = None, mode: str = "dot") -> float:
    """Return the mean of the bipartite clustering coefficients of some nodes."""
    chosen = list(G) if nodes is None else list(nodes)
    found = latapy_clustering(G, chosen, mode)
    return sum(found[node] for node in chosen) / len(chosen)


@implements()
def robins_alexander_clustering(G: Graph) -> float:
    """Return 4 cycles of four edges / paths of three edges."""
    if len(G) < 4 or G.number_of_edges() < 3:
        return 0
    degree = _undirected(G)
    rows, cols, _ = (np.asarray(part) for part in G.structure.to_coo(device="cpu"))
    paths = int(((degree[rows] - 1) * (degree[cols] - 1)).sum()) // 2 - 3 * sr.triangle_count(G.structure)
    if paths == 0:
        return 0
    _, _, common = _common(G)
    cycles = int((common * (common - 1)).sum()) // 8
    return 4.0 * cycles / paths


@implements()
def node_redundancy(G: Graph, nodes: Any = None) -> dict[Node, float]:
    """Return the share of the pairs of neighbors of each node that have another common neighbor."""
    degree = _undirected(G)
    chosen = list(G) if nodes is None else list(nodes)
    rows = [G.index[node] for node in chosen]
    if (degree[rows] < 2).any():
        raise nx.NetworkXError("Cannot compute redundancy coefficient for a node that has fewer than two neighbors.")
    first, second, common = _common(G)
    again, n = common >= 2, len(G)
    linked = Matrix.from_coo(first[again], second[again], True, shape=(n, n), device=G.device)
    pairs = G.structure.mxm(linked, "plus_pair", mask=G.structure.S).reduce_rowwise("plus").dup().to_numpy(0)
    return {node: float(pairs[row] / (degree[row] * (degree[row] - 1))) for node, row in zip(chosen, rows, strict=True)}


@implements()
def is_bipartite_node_set(G: Graph, nodes: Any) -> bool:
    """Return whether some nodes are one of the two sets of each component."""
    given = set(nodes)
    if len(given) < len(nodes):
        raise nx.AmbiguousSolution(
            "The input node set contains duplicates.\n"
            "This may lead to incorrect results when using it in bipartite algorithms.\n"
            "Consider using set(nodes) as the input"
        )
    if G.is_directed():
        raise nx.NetworkXNotImplemented("not implemented for directed type")
    if not sr.is_bipartite(G.structure):
        raise refuse("a graph that is not bipartite")
    inside = np.zeros(len(G), np.bool_)
    inside[[G.index[node] for node in given if node in G]] = True
    same, component = inside == (_colors(G) == 1), _weak(G)
    alike = np.bincount(component, same, len(G))
    return bool(((alike == 0) | (alike == np.bincount(component, minlength=len(G)))).all())


def _personal(given: Any, nodes: list[Node]) -> NDArray[np.float64]:
    if given and any(value < 0 for value in given.values()):
        raise nx.NetworkXAlgorithmError("Personalization values must be non-negative.")
    return np.array([(given or {}).get(node, 0) for node in nodes], np.float64)


@implements()
def birank(
    G: Graph,
    nodes: Any,
    *,
    alpha: float | None = None,
    beta: float | None = None,
    top_personalization: Any = None,
    bottom_personalization: Any = None,
    max_iter: int = 100,
    tol: float = 1.0e-6,
    weight: Any = "weight",
) -> dict[Node, float]:
    """Return ranks of the nodes of both sets, each of which is the sum of those of the other set, by iteration."""
    if G.is_directed():
        raise refuse("BiRank of a directed graph")
    top = list(set(nodes))
    bottom = list(set(G) - set(top))
    if not top or not bottom:
        raise nx.NetworkXAlgorithmError(
            "The BiRank algorithm requires a bipartite graph with at least onenode in each set."
        )
    own, others = _personal(top_personalization, top), _personal(bottom_personalization, bottom)
    if not set(top) <= set(G):
        raise refuse("BiRank of nodes that are not in the graph")
    if alpha is None:
        alpha = 0.8 if any((top_personalization or {}).values()) else 1
    if beta is None:
        beta = 0.8 if any((bottom_personalization or {}).values()) else 1
    for name, value in (("alpha", alpha), ("beta", beta)):
        if value < 0 or value > 1:
            raise nx.NetworkXAlgorithmError(f"{name} must be in the interval [0, 1]")
    W = biadjacency_matrix(G, bottom, top, dtype=float, weight=weight)
    scales = []
    for axis in (1, 0):
        degrees = W.sum(axis=axis)
        degrees[degrees == 0] = 1.0
        scales.append(1.0 / np.sqrt(degrees))
    S = W.multiply(scales[0][:, None]).multiply(scales[1][None, :]).tocsr()
    back = S.T.tocsr()
    p = np.full(len(top), 1.0 / len(top))
    u = beta * (S @ p) + (1 - beta) * others
    for _ in range(max_iter):
        p_last, u_last = p, u
        p = alpha * (back @ u) + (1 - alpha) * own
        u = beta * (S @ p) + (1 - beta) * others
        if all(
            (np.abs(before - after) / np.maximum(1.0, before)).sum() < len(after) * tol
            for before, after in ((u_last, u), (p_last, p))
        ):
            if alpha == 1 and beta == 1:
                p, u = p / np.linalg.norm(p, 1), u / np.linalg.norm(u, 1)
            return dict(zip(chain(top, bottom), chain(p.tolist(), u.tolist()), strict=True))
    raise nx.PowerIterationFailedConvergence(max_iter)
