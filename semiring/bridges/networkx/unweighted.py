"""Shortest paths by the number of edges."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx
import numpy as np

from semiring import algorithms as sr

from .graph import Graph, Node
from .registry import implements
from .search import breadth_first, lengths, paths


@implements()
def single_source_shortest_path_length(G: Graph, source: Node, cutoff: float | None = None) -> dict[Node, int]:
    """Return the distance of each node reached, in the order of discovery."""
    return lengths(breadth_first(G, [G.row(source, f"Source {source} is not in G")], depth=cutoff), G)


@implements()
def single_target_shortest_path_length(G: Graph, target: Node, cutoff: float | None = None) -> dict[Node, int]:
    """Return the distance of each node from which the target is reached."""
    row = G.row(target, f"Target {target} is not in G")
    return lengths(breadth_first(G, [row], depth=cutoff, reverse=True), G)


@implements()
def all_pairs_shortest_path_length(G: Graph, cutoff: float | None = None) -> Iterator[tuple[Node, dict[Node, int]]]:
    """Yield each node with the distances from it."""
    return ((node, lengths(breadth_first(G, [row], depth=cutoff), G)) for row, node in enumerate(G.nodes))


@implements()
def single_source_shortest_path(G: Graph, source: Node, cutoff: float | None = None) -> dict[Node, list[Node]]:
    """Return a path to each node reached."""
    return paths(breadth_first(G, [G.row(source, f"Source {source} not in G")], depth=cutoff), G)


@implements()
def single_target_shortest_path(G: Graph, target: Node, cutoff: float | None = None) -> dict[Node, list[Node]]:
    """Return a path from each node from which the target is reached."""
    row = G.row(target, f"Target {target} not in G")
    return paths(breadth_first(G, [row], depth=cutoff, reverse=True), G, backwards=True)


@implements()
def all_pairs_shortest_path(G: Graph, cutoff: float | None = None) -> Iterator[tuple[Node, dict[Node, list[Node]]]]:
    """Yield each node with the paths from it."""
    return ((node, paths(breadth_first(G, [row], depth=cutoff), G)) for row, node in enumerate(G.nodes))


@implements()
def bidirectional_shortest_path(G: Graph, source: Node, target: Node) -> list[Node]:
    """Return a shortest path."""
    start, end = G.row(source, f"Source {source} is not in G"), G.row(target, f"Target {target} is not in G")
    found = sr.shortest_path(G.structure, start, end)
    if found is None:
        raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
    return G.labels(found.vertices)


@implements()
def has_path(G: Graph, source: Node, target: Node) -> bool:
    """Return whether a path leads from the source to the target."""
    start, end = G.row(source, f"Source {source} is not in G"), G.row(target, f"Target {target} is not in G")
    return sr.has_path(G.structure, start, end)


@implements()
def efficiency(G: Graph, u: Node, v: Node) -> float:
    """Return 1 / distance; 0 without a path."""
    start, end = G.row(u, f"Source {u} is not in G"), G.row(v, f"Target {v} is not in G")
    found = sr.shortest_path(G.structure, start, end)
    return 0 if found is None else 1 / found.length


@implements()
def predecessor(
    G: Graph, source: Node, target: Any = None, cutoff: float | None = None, return_seen: bool | None = None
) -> Any:
    """Return for each node reached the nodes before it on shortest paths."""
    row = G.row(source, f"Source {source} not in G")
    search = breadth_first(G, [row], depth=max(cutoff, 1) if cutoff else None)
    level, order = search.distance, search.order
    rank = np.full(len(G), -1)
    rank[order] = np.arange(order.size)
    cols = G.cols
    slots = np.flatnonzero((level[G.rows] >= 0) & (level[cols] == level[G.rows] + 1))
    before, after = G.rows[slots], cols[slots]
    sorted_ = np.lexsort((rank[before], rank[after]))
    pred: dict[Node, list[Node]] = {node: [] for node in G.labels(order)}
    last: Any = None
    for node, parent in zip(G.labels(after[sorted_]), G.labels(before[sorted_]), strict=True):
        if (node, parent) != last:  # parallel edges are one predecessor
            pred[node].append(parent)
        last = (node, parent)
    seen = lengths(search, G)
    if target is not None:
        found = pred.get(target, [])
        return (found, seen.get(target, -1)) if return_seen else found
    return (pred, seen) if return_seen else pred
