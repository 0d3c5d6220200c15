"""Graphs from graphs: complement, reverse, labels; and their matrices."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from itertools import pairwise
from typing import Any

import networkx as nx
import numpy as np
from scipy import sparse

from semiring.io.networkx_arrays import Neighbors

from .convert import added, convert_to_nx, deep, every_edge, plain_class, whole
from .graph import Graph, Node
from .registry import implements, refuse
from .search import adjacency


@implements()
def complement(G: Graph) -> nx.Graph:
    """Return the graph of the missing edges, without self-loops."""
    if G.is_multigraph():
        raise refuse("the complement of a multigraph")
    plain_class(G)
    n = len(G)
    missing = np.ones((n, n), np.bool_)
    missing[G.rows, G.cols] = False
    np.fill_diagonal(missing, False)
    rows, cols = np.nonzero(missing)
    indptr = np.append(0, np.cumsum(np.bincount(rows, minlength=n)))
    part = Neighbors(G.nodes, G.neighbors.numbered, G.is_directed(), indptr, cols)
    return convert_to_nx(Graph(part))


@implements()
def reverse(G: Graph, copy: bool = True) -> nx.DiGraph:
    """Return the graph with the directions of its edges reversed."""
    if not G.is_directed():
        raise nx.NetworkXError("Cannot reverse an undirected graph.")
    if not copy:
        raise refuse("a reversed view")
    G = whole(G)
    indptr, cols = adjacency(G, reverse=True)
    slots = np.argsort(G.cols, kind="stable").tolist()
    keys, dicts = G.neighbors.keys, deep(G.edge_dicts)
    return convert_to_nx(
        Graph(
            Neighbors(
                G.nodes, G.neighbors.numbered, True, indptr, cols, None if keys is None else [keys[s] for s in slots]
            ),
            columns={name: column[slots] for name, column in G.columns.items()},
            edge_dicts=None if dicts is None else [dicts[slot] for slot in slots],
            node_data=deep(G.node_data),
            graph=deepcopy(G.graph),
        )
    )


def _relabeled(G: Graph, nodes: list[Node]) -> Graph:
    G = whole(G)
    G = G if G.is_directed() else added(G, every_edge(G))
    old = G.neighbors
    return Graph(
        Neighbors(nodes, False, old.directed, old.indptr, old.cols, old.keys),
        columns=G.columns,
        edge_dicts=G.edge_dicts,
        node_data=G.node_data,
        graph=G.graph,
    )


@implements()
def convert_node_labels_to_integers(
    G: Graph, first_label: int = 0, ordering: str = "default", label_attribute: str | None = None
) -> nx.Graph:
    """Return the graph with its nodes numbered."""
    if ordering != "default":
        if ordering in ("sorted", "increasing degree", "decreasing degree"):
            raise refuse("an order of the nodes")
        raise nx.NetworkXError(f"Unknown node ordering: {ordering}")
    made = convert_to_nx(_relabeled(G, list(range(first_label, first_label + len(G)))))
    if label_attribute is not None:
        for node, old in zip(made, G.nodes, strict=True):
            made._node[node][label_attribute] = old
    return made


@implements()
def relabel_nodes(G: Graph, mapping: Any, copy: bool = True) -> nx.Graph:
    """Return the graph with other names of its nodes."""
    if not copy:
        raise refuse("relabeling in place")
    if callable(mapping) and not isinstance(mapping, Mapping):
        nodes = [mapping(node) for node in G.nodes]
    else:
        nodes = [mapping.get(node, node) for node in G.nodes]
    if len(set(nodes)) != len(nodes):
        raise refuse("names that merge nodes")
    return convert_to_nx(_relabeled(G, nodes))


@implements()
def to_dict_of_lists(G: Graph, nodelist: Any = None) -> dict[Node, list[Node]]:
    """Return the list of the neighbors of each node."""
    if nodelist is not None:
        raise refuse("some of the nodes")
    labels, bounds = G.labels(G.cols), G.neighbors.indptr.tolist()
    lists = (labels[start:end] for start, end in pairwise(bounds))
    return {node: list(dict.fromkeys(part)) for node, part in zip(G.nodes, lists, strict=True)}


@implements()
def to_scipy_sparse_array(
    G: Graph, nodelist: Any = None, dtype: Any = None, weight: Any = "weight", format: str = "csr"
) -> Any:
    """Return the adjacency matrix as a SciPy array; parallel edges are summed."""
    n = len(G)
    if n == 0:
        raise nx.NetworkXError("Graph has no nodes or edges")
    values = G.weights(weight)
    entries = np.ones(len(G.cols), np.int64) if values is None else values
    A = sparse.coo_array((entries, (G.rows, G.cols)), shape=(n, n), dtype=dtype)
    A.sum_duplicates()
    A = A.tocsr()
    if nodelist is not None:
        chosen = _rows_of(G, nodelist)
        A = A[chosen][:, chosen]
    if A.nnz == 0 and dtype is None:
        A = A.astype(np.float64)  # as that of an empty list
    try:
        return A.asformat(format)
    except ValueError as error:
        raise nx.NetworkXError(f"Unknown sparse matrix format: {format}") from error


def _rows_of(G: Graph, nodelist: Any) -> list[int]:
    nodes = list(nodelist)
    if not nodes:
        raise nx.NetworkXError("nodelist has no nodes")
    for node in nodes:
        if node not in G:
            raise nx.NetworkXError(f"Node {node} in nodelist is not in G")
    if len(set(nodes)) != len(nodes):
        raise nx.NetworkXError("nodelist contains duplicates.")
    return [G.index[node] for node in nodes]


@implements()
def adjacency_matrix(G: Graph, nodelist: Any = None, dtype: Any = None, weight: Any = "weight") -> Any:
    """Return the adjacency matrix as a SciPy array."""
    return to_scipy_sparse_array(G, nodelist, dtype, weight)


@implements()
def laplacian_matrix(G: Graph, nodelist: Any = None, weight: Any = "weight") -> Any:
    """Return D - A as a SciPy array, where D holds the sums of the rows of A."""
    A = to_scipy_sparse_array(G, list(G.nodes) if nodelist is None else nodelist, None, weight)
    n = A.shape[0]
    return sparse.dia_array((A.sum(axis=1)[np.newaxis], 0), shape=(n, n)).tocsr() - A
