"""Conversion between graphs of NetworkX and of the backend."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from copy import deepcopy
from dataclasses import replace
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from semiring.io.networkx_arrays import Column, Neighbors, attribute, edge_data, fill_adjacency, read_neighbors

from .graph import Graph, Source
from .registry import refuse

#: The type of a graph by whether it is directed and has parallel edges.
_KINDS = {
    (False, False): nx.Graph,
    (True, False): nx.DiGraph,
    (False, True): nx.MultiGraph,
    (True, True): nx.MultiDiGraph,
}

#: Types of values that `copy.deepcopy` returns as they are.
_ATOMS = frozenset({bool, bytes, complex, float, int, str, type(None)})

__all__ = [
    "added",
    "convert_from_nx",
    "convert_to_nx",
    "deep",
    "every_edge",
    "is_view",
    "joined",
    "plain_class",
    "subgraph",
    "whole",
]


def convert_from_nx(
    graph: Any,
    edge_attrs: Mapping[str, Any] | None = None,
    node_attrs: Mapping[str, Any] | None = None,
    preserve_edge_attrs: bool = False,
    preserve_node_attrs: bool = False,
    preserve_graph_attrs: bool = False,
    *,
    name: str | None = None,
    graph_name: str | None = None,
) -> Any:
    """Convert a graph of NetworkX to the type of the backend.

    Parameters
    ----------
    graph : networkx.Graph, DiGraph, MultiGraph, MultiDiGraph or a view of one
    edge_attrs, node_attrs : dict of attribute: default, optional
        The attributes to keep; an edge or node without one has the default, unless that is None.
    preserve_edge_attrs, preserve_node_attrs, preserve_graph_attrs : bool
        Whether to keep all attributes.
    name, graph_name : str, optional
        The function that is called, and its parameter.

    Returns
    -------
    Graph

    Raises
    ------
    NotImplementedError
        For a graph that is none of NetworkX's types, such as one whose adjacency is computed.

    Notes
    -----
    O(nodes + edges).  Attributes are copied, their values are not.  The conversion of a view is not cached.  The
    attributes of the graph are always kept: the key of NetworkX's cache does not depend on `preserve_graph_attrs`.
    """
    if isinstance(graph, Graph):
        return graph
    if not isinstance(graph, nx.Graph) or _has_own_adjacency(type(graph)):
        raise NotImplementedError(f"a graph of type {type(graph).__name__}")
    if is_view(graph):
        # A change of the graph beneath does not clear the cache of its view.  NetworkX disables caching by None; the
        # dictionary that it is about to fill, which copies of the view share, is detached by clearing.
        nx._clear_cache(graph)
        graph.__networkx_cache__ = None
    neighbors = read_neighbors(graph)
    columns: dict[Hashable, Column] = {}
    edge_dicts = None
    if preserve_edge_attrs:
        edge_dicts = list(map(dict, edge_data(graph._adj, neighbors)))
    else:
        for attr, default in (edge_attrs or {}).items():
            found = attribute(graph._adj, neighbors, attr)
            if found is not None and default is not None:
                found = Column(found.filled(default))
            elif found is None and default not in (None, 1):
                found = Column(np.full(len(neighbors.cols), default))
            if found is not None:
                columns[attr] = found
    node_data: list[dict[Any, Any]] | None = None
    if preserve_node_attrs:
        node_data = list(map(dict, graph._node.values()))
    elif node_attrs:
        node_data = [
            {
                attr: data.get(attr, default)
                for attr, default in node_attrs.items()
                if default is not None or attr in data
            }
            for data in graph._node.values()
        ]
    return Graph(
        neighbors,
        columns=columns,
        edge_dicts=edge_dicts,
        node_data=node_data,
        graph=graph.graph,
        kind=type(graph),
        # The dictionaries of a graph that the dispatch converts are those of the cached graph as long as it is cached.
        source=None if name is None else Source(graph._adj, graph._node, graph.graph),
    )


def is_view(graph: Any) -> bool:
    """Return whether a graph of NetworkX shows the nodes and edges of another one."""
    return hasattr(graph, "_graph") or not isinstance(graph._adj, dict)


def _has_own_adjacency(kind: type) -> bool:
    """Return whether a subclass computes its neighbors, which are then not those of its dictionaries."""
    return any(
        getattr(kind, method) not in {getattr(known, method) for known in _KINDS.values()}
        for method in ("__getitem__", "adjacency", "neighbors")
    )


def convert_to_nx(result: Any, *, name: str | None = None) -> Any:
    """Convert a graph of the backend to one of NetworkX; return any other result as it is."""
    if not isinstance(result, Graph):
        return result
    G = result
    made = _KINDS[G.is_directed(), G.is_multigraph()]()
    made.graph.update(G.graph)
    if G.node_data is None:
        made._node.update((node, {}) for node in G.nodes)
    else:
        made._node.update(zip(G.nodes, map(dict, G.node_data), strict=True))
    fill_adjacency(made, G.neighbors, G.columns, G.edge_dicts)
    return made


def plain_class(G: Graph) -> None:
    """Refuse a subclass of NetworkX's graphs, of which NetworkX returns another one."""
    if G.kind not in (None, _KINDS[G.is_directed(), G.is_multigraph()]):
        raise refuse(f"a new graph of type {G.kind.__name__}")


def whole(G: Graph) -> Graph:
    """Return the graph with all attributes, for functions that copy them; NetworkX's dispatch requests none for these.

    Its conversion may have been cached without attributes, which are then read from the dictionaries of the source.
    """
    plain_class(G)
    if G.source is None or (G.edge_dicts is not None and G.node_data is not None):
        return G
    return Graph(
        G.neighbors,
        edge_dicts=list(edge_data(G.source.adjacency, G.neighbors)),
        node_data=list(G.source.nodes.values()),
        graph=G.source.graph,
    )


def deep(dicts: list[dict[Any, Any]] | None) -> list[dict[Any, Any]] | None:
    """Return deep copies of attributes, as `reverse` and `to_undirected` of NetworkX make them."""
    if dicts is None:
        return None
    return [data if _ATOMS.issuperset(map(type, data.values())) else deepcopy(data) for data in dicts]


def subgraph(G: Graph, nodes: NDArray[np.bool_], slots: NDArray[Any] | None = None) -> Any:
    """Return the graph of NetworkX of some nodes, and of some edges between them, with their attributes.

    Parameters
    ----------
    nodes : one boolean for each row
    slots : booleans, alike for both slots of an edge, or one slot for each edge in the order of adding; by default all
    """
    G = whole(G)
    kept = nodes[G.rows] & nodes[G.cols]
    if slots is None or slots.dtype == np.bool_:
        edges = every_edge(G)
        edges = edges[(kept if slots is None else kept & slots)[edges]]
    else:
        edges = slots[kept[slots]]
    return convert_to_nx(added(G, edges, np.flatnonzero(nodes)))


def added(G: Graph, edges: NDArray[np.int64], chosen: NDArray[np.int64] | None = None) -> Graph:
    """Return the graph of some edges, one slot each, whose neighbors are in the order of adding these edges.

    An undirected graph that NetworkX copies edge by edge lists first the neighbors before a node.  `chosen` are the
    rows to keep, which the edges must join.
    """
    tails, heads, old = G.rows[edges], G.cols[edges], G.neighbors
    nodes, data = G.nodes, G.node_data
    if chosen is not None and chosen.size < len(G):
        place = np.empty(len(G), np.int64)
        place[chosen] = np.arange(chosen.size)
        tails, heads, nodes = place[tails], place[heads], G.labels(chosen)
        data = None if data is None else list(map(data.__getitem__, chosen.tolist()))
    part, number = joined(nodes, old.directed, tails, heads, numbered=old.numbered and len(nodes) == len(G))
    slots, dicts = edges[number], G.edge_dicts
    if old.keys is not None:
        part = replace(part, keys=list(map(old.keys.__getitem__, slots.tolist())))
    if dicts is not None:
        first = slots if part.once is None else slots[part.once]
        dicts = list(map(dicts.__getitem__, old.edge[first].tolist()))
    columns = {} if dicts is not None else {name: column[slots] for name, column in G.columns.items()}
    return Graph(part, columns=columns, edge_dicts=dicts, node_data=data, graph=G.graph)


def joined(
    nodes: list[Hashable], directed: bool, tails: NDArray[np.int64], heads: NDArray[np.int64], *, numbered: bool = False
) -> tuple[Neighbors, NDArray[np.int64]]:
    """Return the adjacency made by adding edges in their order, and the number of the edge of each slot."""
    number = np.arange(tails.size)
    if not directed:
        twice = np.flatnonzero(tails != heads)
        tails, heads = np.append(tails, heads[twice]), np.append(heads, tails[twice])
        number = np.append(number, twice)
    order = np.lexsort((number, tails))
    indptr = np.append(0, np.cumsum(np.bincount(tails, minlength=len(nodes))))
    return Neighbors(nodes, numbered, directed, indptr, heads[order]), number[order]


def every_edge(G: Graph) -> NDArray[np.int64]:
    """Return one slot of each edge, in the order of NetworkX."""
    once = G.neighbors.once
    return np.arange(len(G.cols)) if once is None else np.flatnonzero(once)
