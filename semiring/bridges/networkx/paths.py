"""Shortest paths by any method: what NetworkX dispatches to the weighted and unweighted functions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx

from semiring.exceptions import ConvergenceFailure

from . import unweighted, weighted
from .distances import check_lengths
from .graph import Graph, Node
from .registry import implements
from .search import breadth_first, lengths, paths, shortest


def _method(weight: Any, method: str) -> str:
    if method not in ("dijkstra", "bellman-ford"):
        raise ValueError(f"method not supported: {method}")
    return "unweighted" if weight is None else method


@implements()
def shortest_path(
    G: Graph, source: Any = None, target: Any = None, weight: Any = None, method: str = "dijkstra"
) -> Any:
    """Return the path between two nodes, those from or to one node, or an iterator over those of all pairs."""
    method = _method(weight, method)
    if source is None and target is None:
        if method == "unweighted":
            return unweighted.all_pairs_shortest_path(G)
        if method == "dijkstra":
            return weighted.all_pairs_dijkstra_path(G, weight=weight)
        return weighted.all_pairs_bellman_ford_path(G, weight=weight)
    if source is None:
        if method == "unweighted":
            search = breadth_first(G, [G.row(target, f"Source {target} not in G")], reverse=True)
        else:
            search = _backwards(G, target, weight, method)
        return paths(search, G, backwards=True)
    if target is None:
        if method == "unweighted":
            return unweighted.single_source_shortest_path(G, source)
        if method == "dijkstra":
            return weighted.single_source_dijkstra_path(G, source, weight=weight)
        return weighted.single_source_bellman_ford_path(G, source, weight=weight)
    if method == "unweighted":
        return unweighted.bidirectional_shortest_path(G, source, target)
    if method == "dijkstra":
        return weighted.bidirectional_dijkstra(G, source, target, weight)[1]
    return weighted.bellman_ford_path(G, source, target, weight)


@implements()
def shortest_path_length(
    G: Graph, source: Any = None, target: Any = None, weight: Any = None, method: str = "dijkstra"
) -> Any:
    """Return the distance between two nodes, those from or to one node, or an iterator over those of all pairs."""
    method = _method(weight, method)
    if source is None and target is None:
        if method == "unweighted":
            return unweighted.all_pairs_shortest_path_length(G)
        if method == "dijkstra":
            return weighted.all_pairs_dijkstra_path_length(G, weight=weight)
        return weighted.all_pairs_bellman_ford_path_length(G, weight=weight)
    if source is None:
        if method == "unweighted":
            row = G.row(target, f"Source {target} is not in G")
            return lengths(breadth_first(G, [row], reverse=True), G)
        return lengths(_backwards(G, target, weight, method), G)
    if target is None:
        if method == "unweighted":
            return unweighted.single_source_shortest_path_length(G, source)
        if method == "dijkstra":
            return weighted.single_source_dijkstra_path_length(G, source, weight=weight)
        return weighted.single_source_bellman_ford_path_length(G, source, weight=weight)
    if method == "unweighted":
        return len(unweighted.bidirectional_shortest_path(G, source, target)) - 1
    if method == "dijkstra":
        return weighted.dijkstra_path_length(G, source, target, weight)
    return weighted.bellman_ford_path_length(G, source, target, weight)


def _backwards(G: Graph, target: Node, weight: Any, method: str) -> Any:
    if method == "dijkstra":
        check_lengths(G, weight)
    try:
        return shortest(G, [G.row(target)], weight, reverse=True)[0]
    except ConvergenceFailure as failure:
        raise nx.NetworkXUnbounded("Negative cycle detected.") from failure


@implements()
def all_shortest_paths(
    G: Graph, source: Node, target: Node, weight: Any = None, method: str = "dijkstra"
) -> Iterator[list[Node]]:
    """Yield every shortest path between two nodes."""
    return _all_paths({source}, target, _predecessors(G, source, weight, method))


@implements()
def single_source_all_shortest_paths(
    G: Graph, source: Node, weight: Any = None, method: str = "dijkstra"
) -> Iterator[tuple[Node, list[list[Node]]]]:
    """Yield each node reached with every shortest path to it."""
    pred = _predecessors(G, source, weight, method)
    return ((node, list(_all_paths({source}, node, pred))) for node in pred)


@implements()
def all_pairs_all_shortest_paths(
    G: Graph, weight: Any = None, method: str = "dijkstra"
) -> Iterator[tuple[Node, dict[Node, list[list[Node]]]]]:
    """Yield each node with every shortest path from it."""
    if weight is not None:
        check_lengths(G, weight)
    return ((node, dict(single_source_all_shortest_paths(G, node, weight, method))) for node in G.nodes)


def _predecessors(G: Graph, source: Node, weight: Any, method: str) -> dict[Node, list[Node]]:
    if weight is None:
        found: dict[Node, list[Node]] = unweighted.predecessor(G, source)
        return found
    if _method(weight, method) == "dijkstra":
        return weighted.dijkstra_predecessor_and_distance(G, source, weight=weight)[0]
    return weighted.bellman_ford_predecessor_and_distance(G, source, weight=weight)[0]


def _all_paths(sources: set[Node], target: Node, pred: dict[Node, list[Node]]) -> Iterator[list[Node]]:
    """Yield the paths that end at the target, depth first from it, without repeating a node."""
    if target not in pred:
        raise nx.NetworkXNoPath(f"Target {target} cannot be reached from given sources")
    stack: list[tuple[Node, Iterator[Node]]] = [(target, iter(pred[target]))]
    on_path = {target}
    if target in sources:
        yield [target]
    while stack:
        before = next(stack[-1][1], None)
        if before is None:
            on_path.discard(stack.pop()[0])
        elif before not in on_path:
            stack.append((before, iter(pred[before])))
            on_path.add(before)
            if before in sources:
                yield [node for node, _ in reversed(stack)]
