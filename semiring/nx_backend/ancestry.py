"""Common ancestors in directed acyclic graphs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations_with_replacement
from typing import Any

import networkx as nx

from semiring import algorithms as sr

from .graph import Graph, Node
from .registry import implements


@implements()
def all_pairs_lowest_common_ancestor(G: Graph, pairs: Any = None) -> Iterator[tuple[tuple[Node, Node], Node]]:
    """Yield each pair of nodes that has a common ancestor, with a lowest one."""
    if not sr.is_dag(G.structure):
        raise nx.NetworkXError("LCA only defined on directed acyclic graphs.")
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept("LCA meaningless on null graphs.")
    given: Iterable[Any] = combinations_with_replacement(G.nodes, 2) if pairs is None else dict.fromkeys(pairs)
    if pairs is not None:
        for pair in given:
            absent = {node for node in pair if node not in G}
            if absent:
                raise nx.NodeNotFound(f"Node(s) {absent} from pair {pair} not in G.")
    found = ((pair, sr.lowest_common_ancestor(G.structure, G.index[pair[0]], G.index[pair[1]])) for pair in given)
    return ((pair, G.nodes[row]) for pair, row in found if row is not None)


@implements()
def lowest_common_ancestor(G: Graph, node1: Node, node2: Node, default: Any = None) -> Any:
    """Return a lowest common ancestor of two nodes, or a default."""
    return next((node for _, node in all_pairs_lowest_common_ancestor(G, [(node1, node2)])), default)
