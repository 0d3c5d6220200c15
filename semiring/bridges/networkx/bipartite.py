"""Bipartite graphs."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
from scipy import sparse

from semiring import algorithms as sr
from semiring.exceptions import GraphProperty

from .components import _weak
from .graph import Graph, Node
from .registry import implements, refuse


def _colors(G: Graph) -> Any:
    """Return 1 for the first node of each component that NetworkX starts from, 0 for isolated nodes."""
    try:
        color = sr.two_coloring(G.undirected_structure).to_numpy().astype(np.int64)
    except GraphProperty:
        raise nx.NetworkXError("Graph is not bipartite.") from None
    labels = _weak(G)
    starts = np.flatnonzero(np.diff(G.neighbors.indptr) > 0)
    _, first = np.unique(labels[starts], return_index=True)
    flip = np.zeros(len(G), np.int64)
    flip[labels[starts[first]]] = 1 - color[starts[first]]
    colored = color ^ flip[labels]
    colored[G.degrees() == 0] = 0
    return colored


@implements()
def color(G: Graph) -> dict[Node, int]:
    """Return 0 or 1 for each node such that edges join different colors."""
    return G.by_node(_colors(G))


@implements()
def is_bipartite(G: Graph) -> bool:
    """Return whether two colors suffice."""
    return sr.is_bipartite(G.undirected_structure)


@implements()
def sets(G: Graph, top_nodes: Any = None) -> tuple[set[Node], set[Node]]:
    """Return the two sets of a connected bipartite graph, or the given one and the others."""
    if top_nodes is not None:
        top = set(top_nodes)
        return top, set(G) - top
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
    if not sr.is_connected(G.structure):
        raise nx.AmbiguousSolution("Disconnected graph: Ambiguous solution for bipartite sets.")
    colors = _colors(G)
    return set(G.labels(np.flatnonzero(colors == 1))), set(G.labels(np.flatnonzero(colors == 0)))


@implements()
def density(B: Graph, nodes: Any) -> float:
    """Return edges / the possible edges between two sets."""
    edges, size = B.number_of_edges(), len(nodes)
    if edges == 0:
        return 0.0
    pairs = size * (len(B) - size)
    return edges / (2 * pairs) if B.is_directed() else edges / pairs


@implements()
def bipartite_degree_centrality(G: Graph, nodes: Any) -> dict[Node, float]:
    """Return degree / the size of the other set."""
    top = set(nodes)
    bottom = set(G) - top
    degree = dict(zip(G.nodes, G.degrees().tolist(), strict=True))
    of_top, of_bottom = 1.0 / len(bottom), 1.0 / len(top)
    found = {node: degree[node] * of_top for node in top}
    found.update((node, degree[node] * of_bottom) for node in bottom)
    return found


@implements()
def bipartite_betweenness_centrality(G: Graph, nodes: Any) -> dict[Node, float]:
    """Return betweenness / its greatest possible value in a bipartite graph."""
    top = set(nodes)
    bottom = set(G) - top
    n, m = len(top), len(bottom)
    s, t = divmod(n - 1, m)
    bet_max_n = (((m**2) * ((s + 1) ** 2)) + (m * (s + 1) * (2 * t - s - 1)) - (t * ((2 * s) - t + 3))) / 2.0
    p, r = divmod(m - 1, n)
    bet_max_m = (((n**2) * ((p + 1) ** 2)) + (n * (p + 1) * (2 * r - p - 1)) - (r * ((2 * p) - r + 3))) / 2.0
    values = sr.betweenness_centrality(G.structure, normalized=False, directed=G.is_directed())
    found: dict[Node, float] = G.by_node(values)
    return {node: value / (bet_max_n if node in top else bet_max_m) for node, value in found.items()}


@implements()
def biadjacency_matrix(
    G: Graph, row_order: Any, column_order: Any = None, dtype: Any = None, weight: Any = "weight", format: str = "csr"
) -> Any:
    """Return the edges between two sets of nodes as a SciPy array."""
    nodes = list(row_order)
    if not nodes:
        raise nx.NetworkXError("row_order is empty list")
    if len(set(nodes)) != len(nodes):
        raise nx.NetworkXError("Ambiguous ordering: `row_order` contained duplicates.")
    others = list(set(G) - set(nodes)) if column_order is None else list(column_order)
    if len(set(others)) != len(others):
        raise nx.NetworkXError("Ambiguous ordering: `column_order` contained duplicates.")
    if G.is_multigraph():
        raise refuse("the biadjacency matrix of a multigraph")
    if not set(nodes).isdisjoint(others):
        raise refuse("a biadjacency matrix of sets that overlap")
    place = np.full((2, len(G)), -1)
    for side, listed in enumerate((nodes, others)):
        place[side, [G.index[node] for node in listed if node in G]] = [
            number for number, node in enumerate(listed) if node in G
        ]
    rows, cols = place[0, G.rows], place[1, G.cols]
    kept = (rows >= 0) & (cols >= 0)
    values = G.weights(weight)
    given = np.ones(int(kept.sum()), np.int64) if values is None else values[kept]
    A = sparse.coo_array((given, (rows[kept], cols[kept])), shape=(len(nodes), len(others)), dtype=dtype)
    try:
        return A.asformat(format)
    except ValueError as error:
        raise nx.NetworkXError(f"Unknown sparse array format: {format}") from error
