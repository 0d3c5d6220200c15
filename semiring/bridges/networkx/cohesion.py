"""Triangles, clustering, cores and trusses."""

from __future__ import annotations

from collections import Counter
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from semiring import Vector
from semiring import algorithms as sr

from .convert import subgraph
from .cores import directed_cores
from .graph import Graph, Node
from .registry import implements, left_to_networkx, refuse
from .search import out_slots
from .sorted_sets import among

#: Nodes whose triangles are counted one after the other, without those of the whole graph.
_FEW = 8


def _simple(G: Graph) -> None:
    if G.is_multigraph():
        raise nx.NetworkXNotImplemented("not implemented for multigraph type")


@implements()
def triangles(G: Graph, nodes: Any = None) -> Any:
    """Return the number of triangles of each node."""
    if nodes is None:
        return G.by_node(sr.triangles(G.structure))
    _simple(G)
    rows = G.nbunch(nodes)
    found = _triangles_of(G, rows)[0] if len(rows) <= _FEW else sr.triangles(G.structure).to_numpy()[rows]
    return _of_rows(G, nodes, rows, found)


def _triangles_of(G: Graph, rows: list[int]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the triangles and the neighbors, except itself, of some rows of an undirected graph."""
    indptr, cols = G.neighbors.indptr, G.cols
    counts = np.zeros((2, len(rows)), np.int64)
    for i, row in enumerate(rows):
        near = cols[indptr[row] : indptr[row + 1]]
        near = near[near != row]
        which, slots = out_slots(indptr, near)
        ends = cols[slots]
        counts[:, i] = np.count_nonzero(among(ends, near) & (ends != near[which])) // 2, near.size
    return counts[0], counts[1]


@implements()
def clustering(G: Graph, nodes: Any = None, weight: Any = None) -> Any:
    """Return the clustering coefficient of each node."""
    _simple(G)
    if nodes is None:
        return G.by_node(_clustering(G, weight))
    rows = G.nbunch(nodes)
    if len(rows) > _FEW or G.is_directed() or G.weights(weight) is not None:
        return _of_rows(G, nodes, rows, _clustering(G, weight).to_numpy()[rows])
    count, degree = _triangles_of(G, rows)
    return _of_rows(G, nodes, rows, 2 * count / np.maximum(degree * (degree - 1), 1))


def _of_rows(G: Graph, nodes: Any, rows: list[int], values: NDArray[Any]) -> Any:
    """Return ``{node: value}`` for the rows of an `nbunch`; the value alone if it is one node."""
    return values.item() if nodes in G else dict(zip(G.labels(rows), values.tolist(), strict=True))


def _clustering(G: Graph, weight: Any) -> Vector:
    weighted = G.weights(weight) is not None
    if weighted and G.loops:
        raise refuse("weighted clustering of a graph with self-loops")  # NetworkX divides by their weights too
    A = G.matrix(weight) if weighted else G.structure
    found: Vector = left_to_networkx(lambda: sr.clustering(A, weight=weighted))
    return found


@implements()
def average_clustering(G: Graph, nodes: Any = None, weight: Any = None, count_zeros: bool = True) -> float:
    """Return the mean of the clustering coefficients."""
    _simple(G)
    values = _clustering(G, weight).to_numpy()
    if nodes is not None:
        if nodes in G:
            raise refuse("the average over one node")
        values = values[list(dict.fromkeys(G.nbunch(nodes)))]
    if not count_zeros:
        values = values[values > 0]
    return float(sum(values.tolist()) / len(values))


@implements()
def transitivity(G: Graph) -> float:
    """Return 3 triangles / paths of two edges."""
    _simple(G)
    if G.is_directed():
        raise refuse("transitivity of a directed graph")
    return sr.transitivity(G.structure) or 0


@implements()
def square_clustering(G: Graph, nodes: Any = None) -> Any:
    """Return the share of the possible squares of each node that exist."""
    if G.is_directed():
        raise refuse("square clustering of a directed graph")
    return G.select(sr.square_clustering(G.structure), nodes)


@implements()
def generalized_degree(G: Graph, nodes: Any = None) -> Any:
    """Return for each node a count of its edges by the number of their triangles."""
    _simple(G)
    indptr, triangles, edges = (np.asarray(part) for part in sr.generalized_degree(G.structure).to_csr(device="cpu"))
    counters = [
        Counter(dict(zip(triangles[start:end].tolist(), edges[start:end].tolist(), strict=True)))
        for start, end in zip(indptr[:-1].tolist(), indptr[1:].tolist(), strict=True)
    ]
    if nodes is not None and nodes in G:
        return counters[G.index[nodes]]
    return {G.nodes[row]: counters[row] for row in G.nbunch(nodes)}


def _without_loops(G: Graph, what: str = "Input graph has") -> None:
    if G.loops:
        raise nx.NetworkXNotImplemented(
            f"{what} self loops which is not permitted; Consider using G.remove_edges_from(nx.selfloop_edges(G))."
        )


def _cores(G: Graph) -> NDArray[np.int64]:
    _without_loops(G)
    made: NDArray[np.int64] = G.kept(
        "cores", lambda: directed_cores(G) if G.is_directed() else sr.core_numbers(G.structure).to_numpy()
    )
    return made


@implements()
def core_number(G: Graph) -> dict[Node, int]:
    """Return the largest k of each node such that it is in the k-core."""
    _simple(G)
    return G.by_node(_cores(G))


def _given_cores(G: Graph, core_number: Any) -> NDArray[np.int64]:
    _simple(G)
    if core_number is None:
        return _cores(G)
    return np.array([core_number.get(node, -1) for node in G.nodes])


@implements()
def k_core(G: Graph, k: int | None = None, core_number: Any = None) -> nx.Graph:
    """Return the subgraph of the nodes whose core number is at least k."""
    cores = _given_cores(G, core_number)
    return subgraph(G, cores >= (max(cores.tolist()) if k is None else k))


@implements()
def k_shell(G: Graph, k: int | None = None, core_number: Any = None) -> nx.Graph:
    """Return the subgraph of the nodes whose core number is k."""
    cores = _given_cores(G, core_number)
    return subgraph(G, cores == (max(cores.tolist()) if k is None else k))


@implements()
def k_crust(G: Graph, k: int | None = None, core_number: Any = None) -> nx.Graph:
    """Return the subgraph of the nodes whose core number is at most k."""
    cores = _given_cores(G, core_number)
    return subgraph(G, (cores >= 0) & (cores <= (max(cores.tolist()) - 1 if k is None else k)))


@implements()
def k_corona(G: Graph, k: int, core_number: Any = None) -> nx.Graph:
    """Return the subgraph of the nodes of core number k with exactly k neighbors in the k-core."""
    cores = _given_cores(G, core_number)
    inner = np.bincount(G.rows, weights=cores[G.cols] >= k, minlength=len(G))
    return subgraph(G, (cores == k) & (inner == k))


@implements()
def k_truss(G: Graph, k: int) -> nx.Graph:
    """Return the largest subgraph whose edges are all in k - 2 of its triangles, without isolated nodes."""
    _without_loops(G)
    if len(G.cols) == 0:
        return subgraph(G, np.zeros(len(G), np.bool_))
    truss = sr.k_truss(G.structure, max(int(k), 0))
    rows, cols, _ = truss.to_coo(device="cpu")
    stored = np.asarray(rows) * len(G) + np.asarray(cols)
    kept = among(G.rows * len(G) + G.cols, stored)
    nodes = np.zeros(len(G), np.bool_)
    nodes[G.rows[kept]] = True
    return subgraph(G, nodes, kept)


@implements()
def rich_club_coefficient(G: Graph, normalized: bool = True, Q: float = 100, seed: Any = None) -> dict[int, float]:
    """Return the density of the subgraph of the nodes of more than k neighbors, by k."""
    if normalized:
        raise refuse("a rich club coefficient normalized by a random graph")
    if G.loops:
        raise Exception("rich_club_coefficient is not implemented for graphs with self loops.")
    if not len(G.cols):
        return {}
    return sr.rich_club(G.structure).to_dict()
