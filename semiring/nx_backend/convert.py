"""Conversion between graphs of NetworkX and of the backend."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from itertools import compress
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from semiring.io.networkx_arrays import Column, Neighbours, attribute, edge_data, fill_adjacency, read_neighbours

from .graph import Graph

#: The type of a graph by whether it is directed and has parallel edges.
_KINDS = {
    (False, False): nx.Graph,
    (True, False): nx.DiGraph,
    (False, True): nx.MultiGraph,
    (True, True): nx.MultiDiGraph,
}

__all__ = ["convert_from_nx", "convert_to_nx", "subgraph"]


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
    O(nodes + edges).  Attributes are copied, their values are not.
    """
    if isinstance(graph, Graph):
        return graph
    if not isinstance(graph, nx.Graph) or _has_own_adjacency(type(graph)):
        raise NotImplementedError(f"a graph of type {type(graph).__name__}")
    neighbours = read_neighbours(graph)
    columns: dict[Hashable, Column] = {}
    edge_dicts = None
    if preserve_edge_attrs:
        edge_dicts = list(map(dict, edge_data(graph, neighbours)))
    else:
        for attr, default in (edge_attrs or {}).items():
            found = attribute(graph, neighbours, attr)
            if found is not None and default is not None:
                found = Column(found.filled(default))
            elif found is None and default not in (None, 1):
                found = Column(np.full(len(neighbours.cols), default))
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
        neighbours,
        columns=columns,
        edge_dicts=edge_dicts,
        node_data=node_data,
        graph=graph.graph if preserve_graph_attrs else None,
        device=getattr(getattr(nx.config.backends, "semiring", None), "device", None),
    )


def _has_own_adjacency(kind: type) -> bool:
    """Return whether a subclass computes its neighbours, which are then not those of its dictionaries."""
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
    fill_adjacency(made, G.neighbours, G.columns, G.edge_dicts)
    return made


def subgraph(G: Graph, nodes: NDArray[np.bool_], slots: NDArray[np.bool_] | None = None) -> Any:
    """Return the graph of NetworkX of some nodes and slots, both directions of an edge alike, with their attributes."""
    kept = nodes[G.rows] & nodes[G.cols]
    if slots is not None:
        kept &= slots
    chosen = np.flatnonzero(nodes)
    place = np.full(len(G), -1)
    place[chosen] = np.arange(chosen.size)
    indptr = np.append(0, np.cumsum(np.bincount(place[G.rows[kept]], minlength=chosen.size)))
    keys = G.neighbours.keys
    part = Neighbours(
        G.labels(chosen),
        G.neighbours.numbered and chosen.size == len(G),
        G.is_directed(),
        indptr,
        place[G.cols[kept]],
        None if keys is None else list(compress(keys, kept.tolist())),
    )
    dicts = G.edge_dicts
    if dicts is not None:
        once = kept if G.neighbours.once is None else kept[G.neighbours.once]
        dicts = list(compress(dicts, once.tolist()))
    data = None if G.node_data is None else list(map(G.node_data.__getitem__, chosen.tolist()))
    columns = {} if dicts is not None else {name: column[kept] for name, column in G.columns.items()}
    return convert_to_nx(Graph(part, columns=columns, edge_dicts=dicts, node_data=data, graph=G.graph))
