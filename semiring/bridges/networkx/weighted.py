"""Shortest paths by weights: Dijkstra, Bellman-Ford, Floyd-Warshall, Johnson."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import networkx as nx
import numpy as np

from semiring.exceptions import ConvergenceFailure

from .distances import check_lengths
from .graph import Graph, Node, entries
from .registry import implements, refuse
from .search import Search, Tight, distances, lengths, path_to, paths, predecessors, shortest


def _dijkstra(G: Graph, sources: list[int], weight: Any, cutoff: float | None = None) -> tuple[Search, Tight]:
    check_lengths(G, weight)
    return shortest(G, sources, weight, cutoff=cutoff)


def _bellman_ford(G: Graph, sources: list[int], weight: Any) -> tuple[Search, Tight]:
    try:
        return shortest(G, sources, weight)
    except ConvergenceFailure as failure:
        raise nx.NetworkXUnbounded("Negative cycle detected.") from failure


def _sources(G: Graph, sources: Iterable[Node]) -> list[int]:
    if not sources:
        raise ValueError("sources must not be empty")
    return list(dict.fromkeys(G.row(node) for node in sources))


@implements()
def multi_source_dijkstra(
    G: Graph, sources: Any, target: Any = None, cutoff: float | None = None, weight: Any = "weight"
) -> tuple[Any, Any]:
    """Return distances and paths from the nearest source; of the target alone if it is given."""
    rows = _sources(G, sources)
    if target is not None and target in sources:
        return 0, [target]
    search, _ = _dijkstra(G, rows, weight, cutoff)
    if target is None:
        return lengths(search, G), paths(search, G)
    row = G.index.get(target)
    if row is None or not (search.order == row).any():
        raise nx.NetworkXNoPath(f"No path to {target}.")
    return search.distance[row].item(), G.labels(path_to(search, row))


@implements()
def multi_source_dijkstra_path(
    G: Graph, sources: Any, cutoff: float | None = None, weight: Any = "weight"
) -> dict[Node, list[Node]]:
    """Return a path from the nearest source to each node reached."""
    return paths(_dijkstra(G, _sources(G, sources), weight, cutoff)[0], G)


@implements()
def multi_source_dijkstra_path_length(
    G: Graph, sources: Any, cutoff: float | None = None, weight: Any = "weight"
) -> dict[Node, Any]:
    """Return the distance from the nearest source to each node reached."""
    return lengths(_dijkstra(G, _sources(G, sources), weight, cutoff)[0], G)


@implements()
def single_source_dijkstra(
    G: Graph, source: Node, target: Any = None, cutoff: float | None = None, weight: Any = "weight"
) -> tuple[Any, Any]:
    """Return distances and paths from the source; of the target alone if it is given."""
    return multi_source_dijkstra(G, {source}, target, cutoff, weight)


@implements()
def single_source_dijkstra_path(
    G: Graph, source: Node, cutoff: float | None = None, weight: Any = "weight"
) -> dict[Node, list[Node]]:
    """Return a path to each node reached."""
    return multi_source_dijkstra_path(G, {source}, cutoff, weight)


@implements()
def single_source_dijkstra_path_length(
    G: Graph, source: Node, cutoff: float | None = None, weight: Any = "weight"
) -> dict[Node, Any]:
    """Return the distance to each node reached."""
    return multi_source_dijkstra_path_length(G, {source}, cutoff, weight)


@implements()
def dijkstra_path(G: Graph, source: Node, target: Node, weight: Any = "weight") -> list[Node]:
    """Return a shortest path."""
    found: list[Node] = single_source_dijkstra(G, source, target, None, weight)[1]
    return found


@implements()
def dijkstra_path_length(G: Graph, source: Node, target: Node, weight: Any = "weight") -> Any:
    """Return the length of a shortest path."""
    row = G.row(source)
    if source == target:
        return 0
    check_lengths(G, weight)
    return _length(G, row, source, target, weight, "Node")


def _length(G: Graph, row: int, source: Node, target: Node, weight: Any, word: str) -> Any:
    end = G.index.get(target)
    found = None if end is None else distances(G, [row], weight).get(end)
    if found is None:
        raise nx.NetworkXNoPath(f"{word} {target} not reachable from {source}")
    return found


@implements()
def bidirectional_dijkstra(G: Graph, source: Node, target: Node, weight: Any = "weight") -> tuple[Any, list[Node]]:
    """Return the length of a shortest path, and the path."""
    start, end = G.row(source, f"Source {source} is not in G"), G.row(target, f"Target {target} is not in G")
    if start == end:
        return 0, [source]
    search, _ = _dijkstra(G, [start], weight)
    if search.parent[end] < 0:
        raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
    return search.distance[end].item(), G.labels(path_to(search, end))


def _astar(G: Graph, source: Node, target: Node, heuristic: Any, weight: Any, cutoff: Any) -> tuple[Any, list[Node]]:
    if heuristic is not None:
        raise refuse("a heuristic: without one the search is Dijkstra's")
    start, end = G.index[source], G.index[target]
    search, _ = _dijkstra(G, [start], weight, cutoff or None)
    if start != end and search.parent[end] < 0:
        raise nx.NetworkXNoPath(f"Node {target} not reachable from {source}")
    return search.distance[end].item(), G.labels(path_to(search, end))


@implements()
def astar_path(
    G: Graph, source: Node, target: Node, heuristic: Any = None, weight: Any = "weight", *, cutoff: Any = None
) -> list[Node]:
    """Return a shortest path."""
    G.row(source, f"Source {source} is not in G")
    G.row(target, f"Target {target} is not in G")
    return _astar(G, source, target, heuristic, weight, cutoff)[1]


@implements()
def astar_path_length(
    G: Graph, source: Node, target: Node, heuristic: Any = None, weight: Any = "weight", *, cutoff: Any = None
) -> Any:
    """Return the length of a shortest path."""
    if source not in G or target not in G:
        raise nx.NodeNotFound(f"Either source {source} or target {target} is not in G")
    return _astar(G, source, target, heuristic, weight, cutoff)[0]


@implements()
def dijkstra_predecessor_and_distance(
    G: Graph, source: Node, cutoff: float | None = None, weight: Any = "weight"
) -> tuple[dict[Node, list[Node]], dict[Node, Any]]:
    """Return the nodes before each node on shortest paths, and the distances."""
    row = G.row(source, f"Node {source} is not found in the graph")
    search, tight = _dijkstra(G, [row], weight, cutoff)
    return predecessors(search, tight, G), lengths(search, G)


@implements()
def all_pairs_dijkstra(
    G: Graph, cutoff: float | None = None, weight: Any = "weight"
) -> Iterator[tuple[Node, tuple[dict[Node, Any], dict[Node, list[Node]]]]]:
    """Yield each node with the distances and paths from it."""
    check_lengths(G, weight)
    searches = ((node, shortest(G, [row], weight, cutoff=cutoff)[0]) for row, node in enumerate(G.nodes))
    return ((node, (lengths(search, G), paths(search, G))) for node, search in searches)


@implements()
def all_pairs_dijkstra_path_length(
    G: Graph, cutoff: float | None = None, weight: Any = "weight"
) -> Iterator[tuple[Node, dict[Node, Any]]]:
    """Yield each node with the distances from it."""
    check_lengths(G, weight)
    return ((node, lengths(shortest(G, [row], weight, cutoff=cutoff)[0], G)) for row, node in enumerate(G.nodes))


@implements()
def all_pairs_dijkstra_path(
    G: Graph, cutoff: float | None = None, weight: Any = "weight"
) -> Iterator[tuple[Node, dict[Node, list[Node]]]]:
    """Yield each node with the paths from it."""
    check_lengths(G, weight)
    return ((node, paths(shortest(G, [row], weight, cutoff=cutoff)[0], G)) for row, node in enumerate(G.nodes))


@implements()
def single_source_bellman_ford(G: Graph, source: Node, target: Any = None, weight: Any = "weight") -> tuple[Any, Any]:
    """Return distances and paths from the source, with weights of any sign."""
    row = G.row(source, f"Source {source} not in G")
    if source == target:
        return 0, [source]
    search, _ = _bellman_ford(G, [row], weight)
    if target is None:
        return lengths(search, G), paths(search, G)
    end = G.index.get(target)
    if end is None or search.parent[end] < 0:
        raise nx.NetworkXNoPath(f"Node {target} not reachable from {source}")
    return search.distance[end].item(), G.labels(path_to(search, end))


@implements()
def single_source_bellman_ford_path(G: Graph, source: Node, weight: Any = "weight") -> dict[Node, list[Node]]:
    """Return a path to each node reached."""
    return paths(_bellman_ford(G, [G.row(source, f"Source {source} not in G")], weight)[0], G)


@implements()
def single_source_bellman_ford_path_length(G: Graph, source: Node, weight: Any = "weight") -> dict[Node, Any]:
    """Return the distance to each node reached."""
    return lengths(_bellman_ford(G, [G.row(source, f"Source {source} not in G")], weight)[0], G)


@implements()
def bellman_ford_path(G: Graph, source: Node, target: Node, weight: Any = "weight") -> list[Node]:
    """Return a shortest path."""
    found: list[Node] = single_source_bellman_ford(G, source, target, weight)[1]
    return found


@implements()
def bellman_ford_path_length(G: Graph, source: Node, target: Node, weight: Any = "weight") -> Any:
    """Return the length of a shortest path."""
    if source == target:
        G.row(source)
        return 0
    try:
        return _length(G, G.row(source, f"Source {source} not in G"), source, target, weight, "node")
    except ConvergenceFailure as failure:
        raise nx.NetworkXUnbounded("Negative cycle detected.") from failure


@implements()
def bellman_ford_predecessor_and_distance(
    G: Graph, source: Node, target: Any = None, weight: Any = "weight", heuristic: bool = False
) -> tuple[dict[Node, list[Node]], dict[Node, Any]]:
    """Return the nodes before each node on shortest paths, and the distances."""
    row = G.row(source, f"Node {source} is not found in the graph")
    values = G.weights(weight)
    if values is not None and (values[G.rows == G.cols] < 0).any():
        raise nx.NetworkXUnbounded("Negative cycle detected.")
    search, tight = _bellman_ford(G, [row], weight)
    return predecessors(search, tight, G), lengths(search, G)


@implements()
def goldberg_radzik(G: Graph, source: Node, weight: Any = "weight") -> tuple[dict[Node, Any], dict[Node, Any]]:
    """Return the node before each node on a shortest path, and the distances."""
    row = G.row(source, f"Node {source} is not found in the graph")
    search, _ = _bellman_ford(G, [row], weight)
    parents = search.parent[search.order].tolist()
    before = [None if parent < 0 else G.nodes[parent] for parent in parents]
    return dict(zip(G.labels(search.order), before, strict=True)), lengths(search, G)


@implements()
def all_pairs_bellman_ford_path_length(G: Graph, weight: Any = "weight") -> Iterator[tuple[Node, dict[Node, Any]]]:
    """Yield each node with the distances from it."""
    G.weights(weight)
    return ((node, lengths(_bellman_ford(G, [row], weight)[0], G)) for row, node in enumerate(G.nodes))


@implements()
def all_pairs_bellman_ford_path(G: Graph, weight: Any = "weight") -> Iterator[tuple[Node, dict[Node, list[Node]]]]:
    """Yield each node with the paths from it."""
    G.weights(weight)
    return ((node, paths(_bellman_ford(G, [row], weight)[0], G)) for row, node in enumerate(G.nodes))


@implements()
def johnson(G: Graph, weight: Any = "weight") -> dict[Node, dict[Node, list[Node]]]:
    """Return the paths between all pairs, with weights of any sign."""
    if len(G):
        _bellman_ford(G, list(range(len(G))), weight)  # a negative cycle anywhere is an error
    return dict(all_pairs_bellman_ford_path(G, weight))


@implements()
def negative_edge_cycle(G: Graph, weight: Any = "weight", heuristic: bool = True) -> bool:
    """Return whether a cycle has a negative sum of weights."""
    if len(G.cols) == 0:
        return False
    try:
        distances(G, list(range(len(G))), weight)
    except ConvergenceFailure:
        return True
    return False


def _all_distances(G: Graph, weight: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return the n x n array of distances, inf without a path."""
    n = len(G)
    found = np.full((n, n), np.inf)
    for row in range(n):
        try:
            reached, values = entries(distances(G, [row], weight))
        except ConvergenceFailure as failure:
            raise refuse("all pairs of a graph with a negative cycle") from failure
        found[row, reached] = values
    return found


@implements()
def floyd_warshall_numpy(G: Graph, nodelist: Any = None, weight: Any = "weight") -> Any:
    """Return the array of distances between all pairs; inf without a path."""
    if nodelist is not None and not (len(nodelist) == len(G) == len(set(nodelist))):
        raise nx.NetworkXError(
            "nodelist must contain every node in G with no repeats."
            "If you wanted a subgraph of G use G.subgraph(nodelist)"
        )
    found = _all_distances(G, weight)
    if nodelist is None:
        return found
    rows = [G.row(node) for node in nodelist]
    return found[np.ix_(rows, rows)]


@implements()
def floyd_warshall(G: Graph, weight: Any = "weight") -> dict[Node, dict[Node, Any]]:
    """Return the distances between all pairs; inf without a path."""
    return {
        node: dict(zip(G.nodes, values, strict=True))
        for node, values in zip(G.nodes, _all_distances(G, weight).tolist(), strict=True)
    }
