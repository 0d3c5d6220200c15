"""Directed acyclic graphs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from semiring import algorithms as sr
from semiring.exceptions import GraphProperty

from .convert import convert_to_nx, whole
from .graph import Graph, Node
from .registry import implements, refuse
from .search import first_of_each, out_slots
from .sorted_sets import among

_CYCLE = "Graph contains a cycle or graph changed during iteration"


@implements()
def is_directed_acyclic_graph(G: Graph) -> bool:
    """Return whether the graph is directed and has no cycle."""
    return G.is_directed() and sr.is_dag(G.structure)


@implements()
def has_cycle(G: Graph) -> bool:
    """Return whether the directed graph has a cycle."""
    _directed(G)
    return not sr.is_dag(G.structure)


def _directed(G: Graph) -> None:
    if not G.is_directed():
        raise nx.NetworkXError("Topological sort not defined on undirected graphs.")


def _generations(G: Graph) -> list[NDArray[np.int64]]:
    """Return the rows of each generation, in the order in which NetworkX removes their last incoming edge."""
    try:
        number = sr.topological_generations(G.structure).to_numpy()
    except GraphProperty:
        raise nx.NetworkXUnfeasible(_CYCLE) from None
    found: list[NDArray[np.int64]] = [np.flatnonzero(number == 0)] if len(G) else []
    indptr, cols, n = G.neighbors.indptr, G.cols, len(G)
    place = np.empty(n, np.int64)
    for level in range(int(number.max()) if n else 0):
        rows = found[-1]
        targets = cols[out_slots(indptr, rows)[1]][::-1]  # reversed: the last edge into a node releases it
        targets = targets[number[targets] == level + 1]
        released, _ = first_of_each(targets, targets, place)
        found.append(released[::-1])
    return found


@implements()
def topological_generations(G: Graph) -> Iterator[list[Node]]:
    """Yield the nodes by the length of the longest path to them."""

    def generations() -> Iterator[list[Node]]:
        _directed(G)
        yield from map(G.labels, _generations(G))

    return generations()


@implements()
def topological_sort(G: Graph) -> Iterator[Node]:
    """Yield the nodes such that each edge leads to a later one."""

    def nodes() -> Iterator[Node]:
        _directed(G)
        for generation in _generations(G):
            yield from G.labels(generation)

    return nodes()


@implements()
def dag_longest_path(G: Graph, weight: Any = "weight", default_weight: Any = 1, topo_order: Any = None) -> list[Node]:
    """Return a path of the greatest sum of weights."""
    if topo_order is not None:
        raise refuse("a given topological order")
    return G.labels(_longest(G, weight, default_weight)[0])


@implements()
def dag_longest_path_length(G: Graph, weight: Any = "weight", default_weight: Any = 1) -> Any:
    """Return the greatest sum of weights of a path."""
    return _longest(G, weight, default_weight)[1]


def _longest(G: Graph, weight: Any, default: Any) -> tuple[list[int], Any]:
    if len(G) == 0:
        return [], 0
    A = G.matrix(weight, "max", default)
    try:
        length = sr.longest_paths(A).to_numpy()
    except GraphProperty:
        raise nx.NetworkXUnfeasible(_CYCLE) from None
    rows, cols, values = (np.asarray(part) for part in A.to_coo(device="cpu"))
    values = np.broadcast_to(values, rows.shape)
    tight = length[rows] + values == length[cols]
    before = np.full(len(G), -1)
    before[cols[tight][::-1]] = rows[tight][::-1]
    path = [int(length.argmax())]
    while length[path[-1]] > 0 and before[path[-1]] >= 0:
        path.append(int(before[path[-1]]))
    return path[::-1], length[path[0]].item()


@implements()
def transitive_closure(G: Graph, reflexive: bool | None = False) -> nx.Graph:
    """Return the graph with an edge for each pair that a path joins."""
    if reflexive not in {None, True, False}:
        raise nx.NetworkXError("Incorrect value for the parameter `reflexive`")
    if not G.is_directed():
        raise refuse("the closure of an undirected graph")
    closed = sr.transitive_closure(G.structure, reflexive=reflexive is True)
    rows, cols, _ = (np.asarray(part) for part in closed.to_coo(device="cpu"))
    if reflexive is None:
        rows, cols = rows[rows != cols], cols[rows != cols]
    return _added(G, rows, cols)


@implements()
def transitive_closure_dag(G: Graph, topo_order: Any = None) -> nx.DiGraph:
    """Return the graph with an edge for each pair that a path joins."""
    if not sr.is_dag(G.structure):
        raise nx.NetworkXUnfeasible(_CYCLE)
    rows, cols, _ = sr.transitive_closure(G.structure).to_coo(device="cpu")
    return _added(G, np.asarray(rows), np.asarray(cols))


def _added(G: Graph, rows: NDArray[Any], cols: NDArray[Any]) -> nx.Graph:
    """Return the graph of NetworkX with further edges, without attributes."""
    fresh = ~among(rows * len(G) + cols, G.rows * len(G) + G.cols)
    if not G.is_directed():
        fresh &= rows <= cols
    result = convert_to_nx(whole(G))
    result.add_edges_from(zip(G.labels(rows[fresh]), G.labels(cols[fresh]), strict=True))
    return result
