"""Common ancestors in directed acyclic graphs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations_with_replacement
from typing import Any

import networkx as nx
import numpy as np

from semiring import algorithms as sr

from .graph import Graph, Node
from .registry import implements

#: Pairs whose ancestors are found by searches.
_FEW = 4


@implements()
def all_pairs_lowest_common_ancestor(G: Graph, pairs: Any = None) -> Iterator[tuple[tuple[Node, Node], Node]]:
    """Yield each pair of nodes that has a common ancestor, with a lowest one."""
    if not sr.is_dag(G.structure):
        raise nx.NetworkXError("LCA only defined on directed acyclic graphs.")
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept("LCA meaningless on null graphs.")
    if pairs is None:
        return _of_many(G, combinations_with_replacement(G.nodes, 2))
    given: dict[Any, None] = dict.fromkeys(pairs)
    for pair in given:
        absent = {node for node in pair if node not in G}
        if absent:
            raise nx.NodeNotFound(f"Node(s) {absent} from pair {pair} not in G.")
    if len(given) <= _FEW:
        found = ((pair, sr.lowest_common_ancestor(G.structure, G.index[pair[0]], G.index[pair[1]])) for pair in given)
        return ((pair, G.nodes[row]) for pair, row in found if row is not None)
    return _of_many(G, given)


def _of_many(G: Graph, pairs: Iterable[Any]) -> Iterator[tuple[tuple[Node, Node], Node]]:
    """Yield the common ancestor that is last in a topological order, so that it leads to no other.

    The ancestors of a node, and itself, are the bits of an integer, by their places in the order.
    """
    order = np.argsort(sr.topological_generations(G.structure).to_numpy(), kind="stable")
    known = [0] * len(G)
    indptr, cols = G.neighbors.indptr.tolist(), G.cols.tolist()
    for place, row in enumerate(order.tolist()):
        known[row] |= 1 << place
        for head in cols[indptr[row] : indptr[row + 1]]:
            known[head] |= known[row]
    ordered, index = G.labels(order), G.index
    for pair in pairs:
        common = known[index[pair[0]]] & known[index[pair[1]]]
        if common:
            yield pair, ordered[common.bit_length() - 1]


@implements()
def lowest_common_ancestor(G: Graph, node1: Node, node2: Node, default: Any = None) -> Any:
    """Return a lowest common ancestor of two nodes, or a default."""
    return next((node for _, node in all_pairs_lowest_common_ancestor(G, [(node1, node2)])), default)
