"""Counts and properties: isolated nodes, self-loops, reciprocity, trees, cuts, regular graphs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from semiring import algorithms as sr

from .graph import Graph, Node
from .registry import implements, refuse
from .sorted_sets import among, distinct


@implements()
def is_isolate(G: Graph, n: Node) -> bool:
    """Return whether a node has no edge."""
    row = G.index.get(n)
    if row is None:
        raise refuse("a node that is not in the graph")
    return bool(G.degrees()[row] == 0)


@implements()
def isolates(G: Graph) -> Iterator[Node]:
    """Yield the nodes without edges."""
    return iter(G.labels(np.flatnonzero(G.degrees() == 0)))


@implements()
def number_of_isolates(G: Graph) -> int:
    """Return the number of nodes without edges."""
    return int(np.count_nonzero(G.degrees() == 0))


@implements()
def number_of_selfloops(G: Graph) -> int:
    """Return the number of self-loops."""
    return G.loops


@implements()
def is_empty(G: Graph) -> bool:
    """Return whether there is no edge."""
    return len(G.cols) == 0


@implements()
def is_negatively_weighted(G: Graph, edge: Any = None, weight: Any = "weight") -> bool:
    """Return whether an edge has a negative weight."""
    if edge is not None:
        raise refuse("the weight of one edge")
    values = G.weights(weight, 1)
    return values is not None and bool((values < 0).any())


@implements()
def overall_reciprocity(G: Graph) -> float:
    """Return the share of edges whose reverse is an edge."""
    if G.is_multigraph():
        raise refuse("the reciprocity of a multigraph")
    edges = len(G.cols)
    if edges == 0:
        raise nx.NetworkXError("Not defined for empty graphs")
    if not G.is_directed():
        return 0.0
    low, high = np.minimum(G.rows, G.cols), np.maximum(G.rows, G.cols)
    pairs = len(distinct(low * len(G) + high))
    return (edges - pairs) * 2 / edges


@implements()
def reciprocity(G: Graph, nodes: Any = None) -> Any:
    """Return the share of each node's edges whose reverse is an edge."""
    if nodes is None:
        return overall_reciprocity(G)
    if not G.is_directed() or G.is_multigraph():
        raise refuse("the reciprocity of nodes of an undirected graph or a multigraph")
    n = len(G)
    is_mutual = among(G.rows * n + G.cols, G.cols * n + G.rows)
    mutual = np.bincount(G.rows[is_mutual], minlength=n)
    total = G.degrees("in") + G.degrees("out")
    if nodes in G:
        row = G.index[nodes]
        if total[row] == 0:
            raise nx.NetworkXError("Not defined for isolated nodes.")
        return 2 * int(mutual[row]) / int(total[row])
    return {
        G.nodes[row]: None if total[row] == 0 else 2 * int(mutual[row]) / int(total[row]) for row in G.nbunch(nodes)
    }


def _components(G: Graph) -> int:
    return len(distinct(sr.connected_components(G.structure).to_numpy()))


def _some_nodes(G: Graph) -> None:
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept("G has no nodes.")


@implements()
def is_forest(G: Graph) -> bool:
    """Return whether there is no cycle, without directions."""
    _some_nodes(G)
    return G.number_of_edges() == len(G) - _components(G)


@implements()
def is_tree(G: Graph) -> bool:
    """Return whether the graph is connected and has no cycle, without directions."""
    _some_nodes(G)
    return G.number_of_edges() == len(G) - 1 and sr.is_connected(G.structure)


@implements()
def is_arborescence(G: Graph) -> bool:
    """Return whether the graph is a tree whose edges lead away from a root."""
    return is_tree(G) and bool((G.degrees("in") <= 1).all())


@implements()
def is_branching(G: Graph) -> bool:
    """Return whether the graph is a forest whose edges lead away from roots."""
    return is_forest(G) and bool((G.degrees("in") <= 1).all())


@implements()
def is_regular(G: Graph) -> bool:
    """Return whether all nodes have the same degree, of a directed graph both in- and out-degree."""
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept("Graph has no nodes.")
    kinds = ("in", "out") if G.is_directed() else ("both",)
    return all(len(distinct(G.degrees(kind))) == 1 for kind in kinds)


@implements()
def is_k_regular(G: Graph, k: int) -> bool:
    """Return whether all nodes have degree k."""
    return bool((G.degrees() == k).all())


@implements()
def s_metric(G: Graph) -> float:
    """Return the sum over the edges of the product of the degrees of their ends."""
    degrees = G.degrees()
    rows, cols = G.edge_rows()
    return float(np.dot(degrees[rows], degrees[cols]))


def _mask(G: Graph, nodes: Any) -> NDArray[np.bool_]:
    chosen = np.zeros(len(G), np.bool_)
    chosen[[G.index[node] for node in nodes if node in G]] = True
    return chosen


def _weight_sum(G: Graph, slots: NDArray[np.bool_], weight: Any) -> Any:
    values = G.weights(weight)
    return int(np.count_nonzero(slots)) if values is None else values[slots].sum().item()


def _crossing(G: Graph, S: Any, T: Any, weight: Any) -> Any:
    """Return the weight of the edges between S and T; of a directed graph in both directions."""
    in_s = _mask(G, S)
    in_t = ~in_s if T is None else _mask(G, T)
    if T is not None and (in_s & in_t).any():
        raise refuse("a cut between sets that overlap")
    if T is None and G.is_directed():
        raise refuse("a directed cut without its second set")
    slots = in_s[G.rows] & in_t[G.cols]
    if G.is_directed():
        slots |= in_t[G.rows] & in_s[G.cols]
    return _weight_sum(G, slots, weight)


@implements()
def cut_size(G: Graph, S: Any, T: Any = None, weight: Any = None) -> Any:
    """Return the weight of the edges between two sets of nodes."""
    return _crossing(G, S, T, weight)


@implements()
def volume(G: Graph, S: Any, weight: Any = None) -> Any:
    """Return the sum of the (out-)degrees of a set of nodes."""
    chosen = _mask(G, S)
    total = _weight_sum(G, chosen[G.rows], weight)
    if not G.is_directed():
        total += _weight_sum(G, chosen[G.rows] & (G.rows == G.cols), weight)
    return total


def _others(G: Graph, S: Any, T: Any) -> Any:
    return set(G) - set(S) if T is None else T


@implements()
def normalized_cut_size(G: Graph, S: Any, T: Any = None, weight: Any = None) -> float:
    """Return cut (1 / volume of S + 1 / volume of T)."""
    T = _others(G, S, T)
    cut = _crossing(G, S, T, weight)
    return float(cut * (1 / volume(G, S, weight) + 1 / volume(G, T, weight)))


@implements()
def conductance(G: Graph, S: Any, T: Any = None, weight: Any = None) -> float:
    """Return cut / the smaller volume."""
    T = _others(G, S, T)
    return float(_crossing(G, S, T, weight) / min(volume(G, S, weight), volume(G, T, weight)))


@implements()
def edge_expansion(G: Graph, S: Any, T: Any = None, weight: Any = None) -> float:
    """Return cut / the size of the smaller set."""
    T = _others(G, S, T)
    return float(_crossing(G, S, T, weight) / min(len(S), len(T)))


@implements()
def mixing_expansion(G: Graph, S: Any, T: Any = None, weight: Any = None) -> float:
    """Return cut / twice the number of edges."""
    return float(_crossing(G, S, T, weight) / (2 * G.number_of_edges()))


def _neighborhood(G: Graph, S: Any) -> NDArray[np.bool_]:
    reached = np.zeros(len(G), np.bool_)
    reached[G.cols[_mask(G, S)[G.rows]]] = True
    return reached


@implements()
def node_expansion(G: Graph, S: Any) -> float:
    """Return the number of neighbors of a set / its size."""
    if any(node not in G for node in S):
        raise refuse("nodes that are not in the graph")
    return int(np.count_nonzero(_neighborhood(G, S))) / len(S)


@implements()
def boundary_expansion(G: Graph, S: Any) -> float:
    """Return the number of neighbors outside a set / its size."""
    return len(node_boundary(G, S)) / len(S)


@implements()
def node_boundary(G: Graph, nbunch1: Any, nbunch2: Any = None) -> set[Node]:
    """Return the neighbors of a set outside it; of them those of a second set."""
    outside = _neighborhood(G, nbunch1) & ~_mask(G, nbunch1)
    found = set(G.labels(np.flatnonzero(outside)))
    return found if nbunch2 is None else found & set(nbunch2)


@implements()
def is_dominating_set(G: Graph, nbunch: Any) -> bool:
    """Return whether each node is in the set or a neighbor of it."""
    return bool((_mask(G, nbunch) | _neighborhood(G, nbunch)).all())


@implements()
def is_tournament(G: Graph) -> bool:
    """Return whether exactly one edge joins each two nodes."""
    n = len(G)
    low, high = np.minimum(G.rows, G.cols), np.maximum(G.rows, G.cols)
    return G.loops == 0 and len(G.cols) == n * (n - 1) // 2 == len(distinct(low * n + high))


@implements()
def number_of_walks(G: Graph, walk_length: int) -> dict[Node, dict[Node, int]]:
    """Return the number of walks of a length between each two nodes."""
    if walk_length < 0:
        raise ValueError(f"`walk_length` cannot be negative: {walk_length}")
    if len(G) == 0:
        raise nx.NetworkXError("Graph has no nodes or edges")
    if G.is_multigraph():
        raise refuse("walks of a multigraph")
    found = sr.number_of_walks(G.structure, walk_length)
    rows = found.to_numpy(0).tolist()
    return {node: dict(zip(G.nodes, row, strict=True)) for node, row in zip(G.nodes, rows, strict=True)}
