"""Products of two graphs, whose nodes are pairs."""

from __future__ import annotations

from itertools import chain, product
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from .convert import convert_to_nx, every_edge, joined, whole
from .graph import Graph, Node
from .registry import implements, refuse

#: Tails, heads and attributes of edges; pair (u, x) is row u len(H) + x.
Edges = tuple[NDArray[np.int64], NDArray[np.int64], list[dict[Any, Any]]]


class _Factors:
    """The edges of two graphs, and those of their products, in the order of NetworkX."""

    def __init__(self, G: Graph, H: Graph) -> None:
        if G.is_directed() != H.is_directed():
            raise nx.NetworkXError("G and H must be both directed or both undirected")
        if G.is_multigraph() or H.is_multigraph() or G.loops or H.loops:
            raise refuse("a product of multigraphs, or of graphs with self-loops")
        self.G, self.H = whole(G), whole(H)
        self.first, self.second = (self._edges(part) for part in (self.G, self.H))

    @staticmethod
    def _edges(G: Graph) -> Edges:
        slots = every_edge(G)
        dicts = G.edge_dicts
        if dicts is None:
            dicts = [G.edge_attributes(slot) for slot in slots.tolist()]
        return G.rows[slots], G.cols[slots], dicts

    def _row(self, u: NDArray[np.int64], x: NDArray[np.int64]) -> NDArray[np.int64]:
        return (u[:, None] * len(self.H) + x).ravel()

    def edges_and_nodes(self) -> Edges:
        """(u, x) -> (v, x)  for each edge (u, v) of G and node x of H."""
        u, v, data = self.first
        x = np.arange(len(self.H))
        return self._row(u, x), self._row(v, x), [d for d in data for _ in range(len(self.H))]

    def nodes_and_edges(self) -> Edges:
        """(u, x) -> (u, y)  for each node u of G and edge (x, y) of H."""
        x, y, data = self.second
        u = np.arange(len(self.G))
        return self._row(u, x), self._row(u, y), data * len(self.G)

    def edges_and_pairs(self) -> Edges:
        """(u, x) -> (v, y)  for each edge (u, v) of G and any nodes x, y of H."""
        u, v, data = self.first
        n = len(self.H)
        x, y = np.repeat(np.arange(n), n), np.tile(np.arange(n), n)
        return self._row(u, x), self._row(v, y), [d for d in data for _ in range(n * n)]

    def edges_and_edges(self, crossed: bool = False) -> Edges:
        """(u, x) -> (v, y)  for each edge (u, v) of G and (x, y) of H; crossed, (v, x) -> (u, y)."""
        u, v, data = self.first
        x, y, others = self.second
        pairs = [_both(d, e) for d in data for e in others]
        return (self._row(v, x), self._row(u, y), pairs) if crossed else (self._row(u, x), self._row(v, y), pairs)

    def tensor(self) -> list[Edges]:
        """Return the edges of both factors, of undirected ones in both pairings."""
        return [self.edges_and_edges(), *([] if self.G.is_directed() else [self.edges_and_edges(True)])]

    def graph(self, *parts: Edges) -> nx.Graph:
        """Return the graph with the nodes of the product, and these edges."""
        tails, heads = (np.concatenate([part[side] for part in parts]) for side in (0, 1))
        dicts = list(chain.from_iterable(part[2] for part in parts))
        nodes: list[Node] = list(product(self.G.nodes, self.H.nodes))
        part, number = joined(nodes, self.G.is_directed(), tails, heads)
        number = number if part.once is None else number[part.once]
        sides = (side.node_data or [{}] * len(side) for side in (self.G, self.H))
        return convert_to_nx(
            Graph(
                part,
                edge_dicts=list(map(dicts.__getitem__, number.tolist())),
                node_data=[_both(d, e) for d, e in product(*sides)],
            )
        )


def _both(d: dict[Any, Any], e: dict[Any, Any]) -> dict[Any, Any]:
    return {key: (d.get(key), e.get(key)) for key in d.keys() | e.keys()}


@implements()
def cartesian_product(G: Graph, H: Graph) -> nx.Graph:
    """Return the graph in which an edge of one factor joins two pairs that agree in the other."""
    both = _Factors(G, H)
    return both.graph(both.edges_and_nodes(), both.nodes_and_edges())


@implements()
def tensor_product(G: Graph, H: Graph) -> nx.Graph:
    """Return the graph in which an edge of each factor joins two pairs."""
    both = _Factors(G, H)
    return both.graph(*both.tensor())


@implements()
def strong_product(G: Graph, H: Graph) -> nx.Graph:
    """Return the graph with the edges of the Cartesian and of the tensor product."""
    both = _Factors(G, H)
    return both.graph(both.nodes_and_edges(), both.edges_and_nodes(), *both.tensor())


@implements()
def lexicographic_product(G: Graph, H: Graph) -> nx.Graph:
    """Return the graph in which an edge of the first factor joins all pairs, and one of the second in a copy of it."""
    both = _Factors(G, H)
    return both.graph(both.edges_and_pairs(), both.nodes_and_edges())
