"""Sums of distances over all pairs: topological indices, barycenter, vitality, Voronoi cells."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np

from semiring import algorithms as sr

from .convert import added, every_edge
from .distances import check_lengths, distance_rows, wiener_index
from .graph import Graph, Node
from .registry import implements, refuse
from .search import shortest
from .structure import is_tree
from .weighted import _sources

_wiener = wiener_index  # a parameter of `closeness_vitality` has the name


def _is_connected(G: Graph) -> bool:
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
    return sr.is_connected(G.structure)


@implements()
def hyper_wiener_index(G: Graph, weight: Any = None) -> float:
    """Return sum (d(u, v) + d(u, v)^2) / 2 over the pairs of nodes."""
    if not _is_connected(G):
        return float("inf")
    total = sum((d.sum() + (d * d).sum()).item() for d in distance_rows(G, range(len(G)), weight))
    return total / 2  # type: ignore[no-any-return]


@implements()
def schultz_index(G: Graph, weight: Any = None) -> float:
    """Return sum d(u, v) (degree(u) + degree(v)) over the pairs of nodes."""
    if not _is_connected(G):
        return float("inf")
    degrees = G.degrees()
    rows = distance_rows(G, range(len(G)), weight, with_rows=True)
    total = sum((d * (degrees[u] + degrees[reached])).sum().item() for u, (reached, d) in enumerate(rows))
    return total / 2  # type: ignore[no-any-return]


@implements()
def gutman_index(G: Graph, weight: Any = None) -> float:
    """Return sum d(u, v) degree(u) degree(v) over the pairs of nodes."""
    if not _is_connected(G):
        return float("inf")
    degrees = G.degrees()
    rows = distance_rows(G, range(len(G)), weight, with_rows=True)
    total = sum(degrees[u].item() * (d * degrees[reached]).sum().item() for u, (reached, d) in enumerate(rows))
    return total / 2  # type: ignore[no-any-return]


@implements()
def barycenter(G: Graph, weight: Any = None, attr: Any = None, sp: Any = None) -> list[Node]:
    """Return the nodes of the least sum of distances."""
    if attr is not None or sp is not None:
        raise refuse("given path lengths, or an attribute to write")
    if weight is None and not G.is_directed() and is_tree(G):
        raise refuse("the centroid of a tree")
    sums = []
    for lengths in distance_rows(G, range(len(G)), weight):
        if len(lengths) < len(G):
            raise nx.NetworkXNoPath(
                f"Input graph {G} is disconnected, so every induced subgraph has infinite barycentricity."
            )
        sums.append(lengths.sum())
    return G.labels(np.flatnonzero(np.array(sums) == min(sums)) if sums else [])


@implements()
def closeness_vitality(G: Graph, node: Any = None, weight: Any = None, wiener_index: Any = None) -> Any:
    """Return the change of the sum of all distances when a node is removed; of each node by default."""
    whole = _wiener(G, weight) if wiener_index is None else wiener_index
    if node is not None:
        return whole - _wiener(_without(G, G.index.get(node)), weight)
    return {node: whole - _wiener(_without(G, row), weight) for row, node in enumerate(G.nodes)}


def _without(G: Graph, row: int | None) -> Graph:
    if row is None:
        return G
    edges = every_edge(G)
    edges = edges[(G.rows[edges] != row) & (G.cols[edges] != row)]
    return added(G, edges, np.delete(np.arange(len(G)), row))


@implements()
def voronoi_cells(G: Graph, center_nodes: Any, weight: Any = "weight") -> dict[Node, set[Node]]:
    """Return for each center the nodes of which it is the nearest; also those that none reaches."""
    rows = _sources(G, center_nodes)
    check_lengths(G, weight)
    search, _ = shortest(G, rows, weight)
    root = np.where(search.parent >= 0, search.parent, np.arange(len(G)))
    while not np.array_equal(following := root[root], root):
        root = following
    cells: dict[Node, set[Node]] = {node: set() for node in G.labels(rows)}
    for center, node in zip(G.labels(root[search.order]), G.labels(search.order), strict=True):
        cells[center].add(node)
    if search.order.size < len(G):
        cells["unreachable"] = set(G) - set(G.labels(search.order))
    return cells
