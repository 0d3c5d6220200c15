"""Graphs made from the edges of another one: line graph, powers, reduction, moral and stochastic graph."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from semiring import Matrix
from semiring import algorithms as sr

from .convert import convert_to_nx, deep, every_edge, joined, plain_class, whole
from .graph import Graph, Node
from .registry import implements, refuse
from .search import out_slots

#: Levels of this many (source, node) pairs are computed together.
_PAIRS = 2**22


def _graph(nodes: list[Node], directed: bool, tails: NDArray[Any], heads: NDArray[Any], keyed: bool = False) -> Any:
    """Return the graph of NetworkX with these edges, without attributes."""
    part, _ = joined(nodes, directed, np.asarray(tails, np.int64), np.asarray(heads, np.int64))
    return convert_to_nx(Graph(replace(part, keys=[0] * len(part.cols)) if keyed else part))


@implements()
def line_graph(G: Graph, create_using: Any = None) -> nx.Graph:
    """Return the graph whose nodes are the edges; two are adjacent where one continues the other."""
    if create_using is not None:
        raise refuse("a given type of graph")
    plain_class(G)
    edges = every_edge(G)
    parts: list[list[Any]] = [G.labels(G.rows[edges]), G.labels(G.cols[edges])]
    if G.neighbors.keys is not None:
        parts.append([G.neighbors.keys[slot] for slot in edges.tolist()])
    names: list[Node] = list(zip(*parts, strict=True))
    if not G.is_directed():
        n, m = len(G), edges.size
        ends = np.append(G.rows[edges], G.cols[edges])
        at = Matrix.from_coo(np.tile(np.arange(m), 2), ends, True, shape=(m, n), dup_op="any", device=G.device)
        L = at.mxm(at.T, "any_pair").select("triu", 1)
        tails, heads, _ = L.to_coo(device="cpu")
        return _graph(names, False, np.asarray(tails), np.asarray(heads), G.is_multigraph())
    tails, heads = out_slots(G.neighbors.indptr, G.cols)
    # NetworkX adds an edge of the graph, and then those that continue it.
    seen = np.concatenate([edges, heads])[np.argsort(np.concatenate([edges, tails]), kind="stable")]
    listed, first = np.unique(seen, return_index=True)
    order = listed[np.argsort(first)]
    place = np.empty(edges.size, np.int64)
    place[order] = np.arange(edges.size)
    named = [names[slot] for slot in order.tolist()]
    return _graph(named, True, place[tails], place[heads], G.is_multigraph())


@implements()
def power(G: Graph, k: int) -> nx.Graph:
    """Return the graph of the pairs of nodes at distances up to k."""
    if k <= 0:
        raise ValueError("k must be a positive integer")
    n = len(G)
    tails, heads = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    size = max(_PAIRS // max(n, 1), 1)
    for first in range(0, n, size):
        levels = sr.bfs_levels(G.structure, list(range(first, min(first + size, n))), max_depth=int(k))
        rows, cols, _ = (np.asarray(part) for part in levels.to_coo(device="cpu"))
        above = rows + first < cols
        tails.append(rows[above] + first)
        heads.append(cols[above])
    return _graph(list(G.nodes), False, np.concatenate(tails), np.concatenate(heads))


@implements()
def transitive_reduction(G: Graph) -> nx.DiGraph:
    """Return the acyclic graph without the edges that a longer path replaces."""
    A = G.structure
    if not sr.is_dag(A):
        raise nx.NetworkXError("Directed Acyclic Graph required for transitive_reduction")
    longer = A.mxm(sr.transitive_closure(A), "any_pair", mask=A.S).dup()
    tails, heads, _ = A.dup(mask=~longer.S).to_coo(device="cpu")
    return _graph(list(G.nodes), True, np.asarray(tails), np.asarray(heads))


@implements()
def moral_graph(G: Graph) -> nx.Graph:
    """Return the graph without directions, and with an edge between each two predecessors of a node."""
    if G.is_multigraph():
        raise refuse("the moral graph of a multigraph")
    G = whole(G)
    H = nx.Graph()
    H.graph.update(G.graph)
    H.add_nodes_from(zip(G.nodes, deep(G.node_data) or [{}] * len(G), strict=True))
    H.add_edges_from(zip(G.labels(G.rows), G.labels(G.cols), deep(G.edge_dicts) or [{}] * len(G.cols), strict=True))
    A = G.structure
    tails, heads, _ = A.mxm(A.T, "any_pair", mask=~G.undirected_structure.S).select("triu", 1).to_coo(device="cpu")
    H.add_edges_from(zip(G.labels(np.asarray(tails)), G.labels(np.asarray(heads)), strict=True))
    return H


@implements()
def stochastic_graph(G: Graph, copy: bool = True, weight: Any = "weight") -> nx.DiGraph:
    """Return the graph with the weights of the edges from each node divided by their sum."""
    if not copy or weight is None:
        raise refuse("a change of the graph, or no name of the weights")
    plain_class(G)
    G = whole(G)
    values = G.weights(weight)
    lengths = np.ones(len(G.cols)) if values is None else values
    sums = np.bincount(G.rows, weights=lengths, minlength=len(G))[G.rows]
    shares = np.divide(lengths, sums, out=np.zeros(len(sums)), where=sums != 0).tolist()
    data = map(G.edge_attributes, range(len(shares))) if G.edge_dicts is None else G.edge_dicts
    dicts = [{**attributes, weight: share} for attributes, share in zip(data, shares, strict=True)]
    return convert_to_nx(Graph(G.neighbors, edge_dicts=dicts, node_data=G.node_data, graph=G.graph))
