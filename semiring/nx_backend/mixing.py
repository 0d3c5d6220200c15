"""Degrees at the two ends of an edge: assortativity and degrees of neighbours."""

from __future__ import annotations

from typing import Any

import networkx as nx

from semiring import algorithms as sr

from .graph import Graph
from .registry import implements, refuse


def _plain(G: Graph, weight: Any) -> None:
    """Refuse what counts degrees otherwise than the entries of a row."""
    if weight is not None or G.loops or G.is_multigraph():
        raise refuse("degrees with weights, self-loops or parallel edges")


@implements()
def degree_assortativity_coefficient(
    G: Graph, x: str = "out", y: str = "in", weight: Any = None, nodes: Any = None
) -> float:
    """Return the correlation of the degrees at the ends of an edge."""
    _plain(G, weight)
    if nodes is not None or (x, y) != ("out", "in") or len(G.cols) == 0:
        raise refuse("assortativity of some nodes, of other degrees, or without edges")
    found = sr.degree_assortativity(G.structure)
    if found != found:
        raise refuse("a correlation of constant degrees")
    return found


@implements()
def degree_pearson_correlation_coefficient(
    G: Graph, x: str = "out", y: str = "in", weight: Any = None, nodes: Any = None
) -> float:
    """Return the correlation of the degrees at the ends of an edge."""
    return degree_assortativity_coefficient(G, x, y, weight, nodes)


@implements()
def average_neighbor_degree(
    G: Graph, source: str = "out", target: str = "out", nodes: Any = None, weight: Any = None
) -> Any:
    """Return the mean degree of the neighbours of each node."""
    for name, value in (("source", source), ("target", target)):
        if G.is_directed() and value not in ("in", "out", "in+out"):
            raise nx.NetworkXError(f"{name} argument {value} must be 'in', 'out' or 'in+out'")
    if not G.is_directed() and (source, target) != ("out", "out"):
        raise nx.NetworkXError("source and target arguments are only supported for directed graphs")
    _plain(G, weight)
    if (source, target) != ("out", "out"):
        raise refuse("degrees of other directions")
    found = sr.average_neighbor_degree(G.structure)
    if nodes is not None and nodes in G:
        raise refuse("one node, of which NetworkX returns a dictionary or an error")
    return G.select(found, nodes)
