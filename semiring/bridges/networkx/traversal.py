"""Breadth-first traversal, in the order of NetworkX."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any

import networkx as nx
import numpy as np

from semiring import algorithms as sr

from .depth_first import distinct_neighbors
from .graph import Graph, Node
from .registry import implements, refuse
from .search import Search, breadth_first, lengths, out_slots

_LABELS = ("tree", "level", "forward", "reverse")


def _search(G: Graph, source: Node, depth_limit: float | None, reverse: bool = False) -> Search:
    row = G.index.get(source)
    if row is None:
        raise nx.NetworkXError(f"The node {source} is not in the {'di' if G.is_directed() else ''}graph.")
    return breadth_first(G, [row], depth=depth_limit, reverse=reverse)


def _edges(G: Graph, source: Node, depth_limit: float | None, reverse: bool = False) -> Iterator[tuple[Node, Node]]:
    parents, children = _search(G, source, depth_limit, reverse).edges()
    yield from zip(G.labels(parents), G.labels(children), strict=True)


def _plain(sort_neighbors: Any) -> None:
    if sort_neighbors is not None:
        raise refuse("neighbors in an order given by a function")


@implements()
def bfs_edges(
    G: Graph, source: Node, reverse: bool = False, depth_limit: int | None = None, sort_neighbors: Any = None
) -> Iterator[tuple[Node, Node]]:
    """Yield (parent, child) for each node discovered."""
    _plain(sort_neighbors)
    return _edges(G, source, depth_limit, reverse)


@implements()
def generic_bfs_edges(
    G: Graph, source: Node, neighbors: Any = None, depth_limit: int | None = None
) -> Iterator[tuple[Node, Node]]:
    """Yield (parent, child) for each node discovered."""
    _plain(neighbors)
    return _edges(G, source, depth_limit)


@implements()
def bfs_labeled_edges(G: Graph, sources: Any) -> Iterator[tuple[Node, Node, str]]:
    """Yield (node, neighbor, label) for the edges in the order of a search, labeled by the distances of both."""
    given = [sources] if sources in G else list(dict.fromkeys(sources))
    if any(node not in G for node in given):
        raise refuse("sources that are not in the graph")
    search = breadth_first(G, [G.index[node] for node in given])
    indptr, cols = distinct_neighbors(G)
    which, slots = out_slots(indptr, search.order)
    u, v = search.order[which], cols[slots]
    rank = np.empty(len(G), np.int64)
    rank[search.order] = np.arange(search.order.size)
    step = search.distance[v] - search.distance[u]
    label = np.where(step == 0, 1, np.where(step < 0, 3, np.where(search.parent[v] == u, 0, 2)))
    if not G.is_directed():  # an edge is listed from the end that is found first
        listed = (label != 3) & ((label != 1) | (rank[v] >= rank[u]))
        u, v, label = u[listed], v[listed], label[listed]
    return zip(G.labels(u), G.labels(v), map(_LABELS.__getitem__, label.tolist()), strict=True)


@implements()
def bfs_tree(
    G: Graph, source: Node, reverse: bool = False, depth_limit: int | None = None, sort_neighbors: Any = None
) -> nx.DiGraph:
    """Return the directed tree of a search."""
    _plain(sort_neighbors)
    tree = nx.DiGraph()
    tree.add_node(source)
    tree.add_edges_from(_edges(G, source, depth_limit, reverse))
    return tree


@implements()
def bfs_predecessors(
    G: Graph, source: Node, depth_limit: int | None = None, sort_neighbors: Any = None
) -> Iterator[tuple[Node, Node]]:
    """Yield (child, parent) for each node discovered."""
    _plain(sort_neighbors)
    return ((child, parent) for parent, child in _edges(G, source, depth_limit))


@implements()
def bfs_successors(
    G: Graph, source: Node, depth_limit: int | None = None, sort_neighbors: Any = None
) -> Iterator[tuple[Node, list[Node]]]:
    """Yield each node that has children in the tree of a search, with them; the source in any case."""
    _plain(sort_neighbors)

    def successors() -> Iterator[tuple[Node, list[Node]]]:
        parents, children = _search(G, source, depth_limit).edges()
        if not children.size:
            yield source, []
        edges = zip(parents.tolist(), G.labels(children), strict=True)
        for parent, group in groupby(edges, key=lambda edge: edge[0]):
            yield G.nodes[parent], [child for _, child in group]

    return successors()


@implements()
def bfs_layers(G: Graph, sources: Any) -> Iterator[list[Node]]:
    """Yield the nodes at each distance from the sources."""
    given = [sources] if sources in G else list(set(sources))
    for node in given:
        if node not in G:
            raise nx.NetworkXError(f"The node {node} is not in the graph.")
    search = breadth_first(G, [G.index[node] for node in given])
    level = search.distance[search.order]
    bounds = np.flatnonzero(np.append(True, level[1:] != level[:-1])).tolist() if level.size else []
    ends = [*bounds[1:], level.size]
    return (G.labels(search.order[start:end]) for start, end in zip(bounds, ends, strict=bool(bounds)))


@implements()
def descendants_at_distance(G: Graph, source: Node, distance: int) -> set[Node]:
    """Return the nodes at one distance from the source."""
    row = G.index.get(source)
    if row is None:
        raise nx.NetworkXError(f"The node {source} is not in the graph.")
    if distance < 0:
        return set()
    levels = sr.bfs_levels(G.structure, row, max_depth=int(distance)) if distance == int(distance) else None
    return set() if levels is None else G.members(levels.select("==", int(distance)))


@implements()
def descendants(G: Graph, source: Node) -> set[Node]:
    """Return the nodes that paths from the source reach, without it."""
    return G.members(sr.descendants(G.structure, _row(G, source)))


@implements()
def ancestors(G: Graph, source: Node) -> set[Node]:
    """Return the nodes from which a path reaches the source, without it."""
    return G.members(sr.ancestors(G.structure, _row(G, source)))


def _row(G: Graph, node: Node) -> int:
    row = G.index.get(node)
    if row is None:
        raise nx.NetworkXError(f"The node {node} is not in the {'di' if G.is_directed() else ''}graph.")
    return row


@implements()
def ego_graph(
    G: Graph, n: Node, radius: float = 1, center: bool = True, undirected: bool = False, distance: Any = None
) -> nx.Graph:
    """Return the subgraph of the nodes within a distance of a node."""
    from .convert import subgraph
    from .search import shortest

    if undirected and G.is_directed():
        raise refuse("an ego graph of a directed graph without its directions")
    if distance is None:
        found = lengths(breadth_first(G, [G.row(n)], depth=radius), G)
    else:
        from .distances import check_lengths

        check_lengths(G, distance)
        found = lengths(shortest(G, [G.row(n)], distance, cutoff=radius)[0], G)
    keep = np.zeros(len(G), np.bool_)
    keep[[G.index[node] for node, length in found.items() if length <= radius]] = True
    if not center:
        keep[G.index[n]] = False
    return subgraph(G, keep)
