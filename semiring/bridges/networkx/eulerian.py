"""Walks over every edge, and periods of closed walks."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np

from semiring import algorithms as sr

from .components import is_connected, is_strongly_connected
from .graph import Graph
from .registry import implements, refuse
from .search import breadth_first


@implements()
def is_eulerian(G: Graph) -> bool:
    """Return whether a closed walk passes over every edge once."""
    if G.is_directed():
        return bool((G.degrees("in") == G.degrees("out")).all()) and is_strongly_connected(G)
    return bool((G.degrees() % 2 == 0).all()) and is_connected(G)


@implements()
def has_eulerian_path(G: Graph, source: Any = None) -> bool:
    """Return whether a walk passes over every edge once."""
    if is_eulerian(G):
        return True
    row = None if source is None else G.index.get(source)
    if source is not None and row is None:
        raise refuse("a source that is not in the graph")
    if not G.is_directed():
        odd = G.degrees() % 2 == 1
        return (row is None or bool(odd[row])) and int(odd.sum()) == 2 and is_connected(G)
    excess = G.degrees("out") - G.degrees("in")
    if row is not None and excess[row] != 1:
        return False
    ends = int((excess == -1).sum()), int((excess == 1).sum())
    return bool((np.abs(excess) <= 1).all()) and max(ends) <= 1 and sr.is_connected(G.structure)


@implements()
def is_semieulerian(G: Graph) -> bool:
    """Return whether a walk, but no closed one, passes over every edge once."""
    return has_eulerian_path(G) and not is_eulerian(G)


@implements()
def is_aperiodic(G: Graph) -> bool:
    """Return whether the lengths of the closed walks have no common divisor."""
    if not G.is_directed():
        raise nx.NetworkXError("is_aperiodic not defined for undirected graphs")
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept("Graph has no nodes.")
    if not is_strongly_connected(G):
        raise nx.NetworkXError("Graph is not strongly connected.")
    level = breadth_first(G, [0]).distance
    return int(np.gcd.reduce(level[G.rows] - level[G.cols] + 1)) == 1 if len(G.cols) else False
