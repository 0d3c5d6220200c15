"""The shortest cycle, diameters by two searches, and the center of a tree."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np

from semiring import algorithms as sr

from .graph import Graph, Node
from .registry import implements, refuse
from .search import breadth_first


@implements()
def girth(G: Graph) -> float:
    """Return the length of a shortest cycle; infinite without cycles.

    A cycle of three edges is a triangle, one of four edges two nodes with two common neighbors.  For others an edge
    (u, v) that is not in the tree of a search closes a walk of d(u) + d(v) + 1 edges, which from a node of a shortest
    cycle is that cycle.
    """
    if G.loops:
        raise refuse("the girth of a graph with self-loops")
    n = len(G)
    if G.number_of_edges() == n - len(np.unique(sr.connected_components(G.structure).to_numpy())):
        return float("inf")
    if sr.triangle_count(G.structure):
        return 3
    rows, cols, counts = (np.asarray(part) for part in sr.common_neighbors(G.structure).to_coo(device="cpu"))
    if ((rows != cols) & (counts > 1)).any():
        return 4
    shortest = np.inf
    for source in range(n):
        search = breadth_first(G, [source])
        level, parent = search.distance, search.parent
        beside = (level[G.rows] >= 0) & (parent[G.rows] != G.cols) & (parent[G.cols] != G.rows)
        if beside.any():
            shortest = min(shortest, float((level[G.rows] + level[G.cols])[beside].min()) + 1)
        if shortest == 5:
            break
    return int(shortest)


@implements()
def approximate_diameter(G: Graph, seed: Any = None) -> int:
    """Return the greatest distance from the node that a search from a random one reaches last."""
    n = len(G)
    if n == 0:
        raise nx.NetworkXError("Expected non-empty NetworkX graph!")
    if n == 1:
        return 0
    source = G.index[seed.choice(list(G.nodes))]
    searches = [breadth_first(G, [source], reverse=reverse) for reverse in (False, True)[: 1 + G.is_directed()]]
    if any(len(search.order) < n for search in searches):
        raise nx.NetworkXError("DiGraph not strongly connected." if G.is_directed() else "Graph not connected.")
    ends = [int(search.order[-1]) for search in searches]
    if not G.is_directed():
        return int(breadth_first(G, ends).distance.max())
    # What is last on the way from the source begins a search against the edges, and the other way round.
    lengths = (breadth_first(G, [end], reverse=reverse) for end, reverse in zip(ends, (True, False), strict=True))
    return max(int(search.distance.max()) for search in lengths)


@implements()
def centroid(G: Graph) -> list[Node]:
    """Return the one or two nodes of a tree without which no component has more than half of the nodes."""
    n = len(G)
    if n == 0:
        raise nx.NetworkXPointlessConcept("G has no nodes.")
    if G.number_of_edges() != n - 1 or not sr.is_connected(G.structure):
        raise nx.NotATree("provided graph is not a tree")
    search = breadth_first(G, [0])
    sizes = np.ones(n, np.int64)
    level, order = search.distance, search.order
    for depth in range(int(level.max()), 0, -1):
        children = order[level[order] == depth]
        np.add.at(sizes, search.parent[children], sizes[children])
    greatest = n - sizes
    children = order[1:]
    np.maximum.at(greatest, search.parent[children], sizes[children])
    central = order[2 * greatest[order] <= n]  # the one nearer to the first node is first
    return G.labels(central)


@implements()
def find_cycle(G: Graph, source: Any = None, orientation: Any = None) -> list[tuple[Any, ...]]:
    """Return the edges of the first cycle that a depth-first search meets."""
    if orientation is not None:
        raise refuse("cycles against the directions of edges")
    from .depth_first_kernel import first_cycle

    indptr, rows, cols, n = G.neighbors.indptr, G.rows, G.cols, len(G)
    if G.is_directed():
        edge = np.arange(len(cols))
    elif G.is_multigraph():
        edge = G.neighbors.edge
    else:
        edge = np.minimum(rows, cols) * n + np.maximum(rows, cols)
    path = np.empty(n, np.int64)
    first, last = first_cycle(indptr, cols, edge, np.array(G.nbunch(source), np.int64), path)
    if first == last:
        raise nx.exception.NetworkXNoCycle("No cycle found.")
    slots = path[first:last]
    ends = G.labels(rows[slots]), G.labels(cols[slots])
    keys = G.neighbors.keys
    return list(zip(*ends, *([] if keys is None else [map(keys.__getitem__, slots.tolist())]), strict=True))
