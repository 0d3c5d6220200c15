"""Greedy coloring in a given order, and dominating sets."""

from __future__ import annotations

import random
from typing import Any

import networkx as nx
import numpy as np
from networkx.algorithms.coloring.greedy_coloring import STRATEGIES
from numpy.typing import NDArray

from semiring import Vector
from semiring import algorithms as sr

from .components import _weak
from .depth_first import depth_first
from .graph import Graph, Node, entries
from .registry import implements, refuse
from .search import breadth_first
from .sorted_sets import distinct
from .structure import is_dominating_set


@implements()
def greedy_color(G: Graph, strategy: Any = "largest_first", interchange: bool = False) -> dict[Node, int]:
    """Return the least color for each node that no neighbor before it has."""
    if len(G) == 0:
        return {}
    if callable(strategy) or interchange or G.is_directed():
        raise refuse("a strategy that is a function, interchanges, or a directed graph")
    if strategy not in STRATEGIES:
        raise nx.NetworkXError(f"strategy must be callable or a valid string. {strategy} not valid.")
    order = _order(G, strategy)
    colors = sr.coloring(G.structure, order=Vector.from_dense(order, device=G.device)).to_numpy()
    return dict(zip(G.labels(order), colors[order].tolist(), strict=True))


def _order(G: Graph, strategy: str) -> NDArray[np.int64]:
    order: NDArray[np.int64]
    if strategy == "largest_first":
        order = np.argsort(-G.degrees(), kind="stable")
    elif strategy == "random_sequential":
        listed = list(range(len(G)))
        random.shuffle(listed)
        order = np.array(listed)
    elif strategy == "connected_sequential_dfs":
        _, children, kinds = depth_first(G, np.arange(len(G)))
        order = children[kinds == 0]
    elif strategy in ("connected_sequential", "connected_sequential_bfs"):
        labels = _weak(G)
        found = breadth_first(G, distinct(labels).tolist()).order
        order = found[np.argsort(labels[found], kind="stable")]
    else:
        raise refuse(f"the order {strategy!r}")
    return order


@implements()
def dominating_set(G: Graph, start_with: Any = None) -> set[Node]:
    """Return a maximal independent set, of which each other node is a neighbor."""
    if len(G) == 0 or G.is_directed():
        raise refuse("a dominating set of a graph without nodes, or of a directed graph")
    if start_with is not None and start_with not in G:
        raise nx.NetworkXError(f"node {start_with} is not in G")
    first = 0 if start_with is None else G.index[start_with]
    free = np.ones(len(G), np.bool_)
    free[[first, *G.cols[G.neighbors.indptr[first] : G.neighbors.indptr[first + 1]].tolist()]] = False
    others = np.flatnonzero(free)
    found = entries(sr.maximal_independent_set(sr.induced_subgraph(G.structure, others)))[0]
    return {G.nodes[first], *G.labels(others[found])}


@implements()
def is_connected_dominating_set(G: Graph, nbunch: Any) -> bool:
    """Return whether a set of nodes is connected, and each other node is a neighbor of one."""
    nodes = set(nbunch)
    if not is_dominating_set(G, nodes):
        return False
    rows = sorted(G.index[node] for node in nodes if node in G)
    if not rows:
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
    return sr.is_connected(sr.induced_subgraph(G.structure, rows))
