"""Projections of a bipartite graph onto one set of nodes: two nodes are joined if they have a common neighbor."""

from __future__ import annotations

from typing import Any, NamedTuple

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from semiring import Matrix

from .bipartite_measures import entries_of_rows
from .convert import whole
from .graph import Graph, Node
from .registry import implements, refuse


class Joined(NamedTuple):
    """The pairs of nodes with common neighbors.

    Attributes
    ----------
    graph : of NetworkX, with the nodes, and without edges
    first, second : the ends of each pair, as nodes; of an undirected graph each pair is listed once
    rows, cols : the same as rows
    values : what each pair sums over its common neighbors
    """

    graph: Any
    first: list[Node]
    second: list[Node]
    rows: NDArray[np.int64]
    cols: NDArray[np.int64]
    values: NDArray[Any]

    def with_weights(self, weights: NDArray[Any]) -> Any:
        """Return the graph with an edge of this weight for each pair."""
        self.graph.add_weighted_edges_from(zip(self.first, self.second, weights.tolist(), strict=True))
        return self.graph


def _joined(B: Graph, nodes: Any, shares: NDArray[Any] | None = None, *, multigraph: bool = False) -> Joined:
    """Return the pairs of nodes, and the number of their common neighbors, or the sum of these shares of them."""
    listed = list(nodes)
    if len(set(listed)) < len(listed) or not all(node in B for node in listed):
        raise refuse("a projection onto nodes that are not in the graph, or that are listed twice")
    kinds = (nx.MultiGraph, nx.MultiDiGraph) if multigraph else (nx.Graph, nx.DiGraph)
    made = kinds[B.is_directed()]()
    made.graph.update(B.graph)
    rows = [B.index[node] for node in listed]
    data = whole(B).node_data
    made.add_nodes_from(listed if data is None else zip(listed, map(data.__getitem__, rows), strict=True))
    if not rows:
        return Joined(made, [], [], *(np.zeros(0, np.int64) for _ in range(3)))
    chosen = np.array(rows, np.int64)
    A = B.structure
    into = A[chosen, :].dup()
    if shares is None:
        common = into.mxm(A, "plus_pair")
    else:
        scaled = Matrix.from_coo(np.arange(len(B)), np.arange(len(B)), shares, shape=(len(B), len(B)), device=B.device)
        common = into.mxm(scaled.mxm(A, "plus_first"), "plus_second")
    i, cols, values = (np.asarray(part) for part in common.to_coo(device="cpu"))
    values = np.broadcast_to(values, i.shape)
    ends = chosen[i]
    kept = ends != cols
    if not B.is_directed():
        inside = np.zeros(len(B), np.bool_)
        inside[chosen] = True
        kept = (ends < cols) | (kept & ~inside[cols])
    return Joined(made, B.labels(ends[kept]), B.labels(cols[kept]), ends[kept], cols[kept], values[kept])


def _check(B: Graph) -> None:
    """Raise for a multigraph."""
    if B.is_multigraph():
        raise nx.NetworkXNotImplemented("not implemented for multigraph type")


@implements()
def projected_graph(B: Graph, nodes: Any, multigraph: bool = False) -> Any:
    """Return the graph in which two nodes are joined by an edge, or by one for each common neighbor."""
    if B.is_multigraph():
        raise nx.NetworkXError("not defined for multigraphs")
    found = _joined(B, nodes, multigraph=multigraph)
    if not multigraph:
        found.graph.add_edges_from(zip(found.first, found.second, strict=True))
        return found.graph
    into, out = _neighbors(B, B.cols, B.rows), _neighbors(B, B.rows, B.cols)
    for u, v, row, col in zip(found.first, found.second, found.rows.tolist(), found.cols.tolist(), strict=True):
        found.graph.add_edges_from((u, v, key) for key in out[row] & into[col])
    return found.graph


def _neighbors(B: Graph, rows: NDArray[np.int64], cols: NDArray[np.int64]) -> list[set[Node]]:
    sets: list[set[Node]] = [set() for _ in range(len(B))]
    for row, node in zip(rows.tolist(), B.labels(cols), strict=True):
        sets[row].add(node)
    return sets


@implements()
def weighted_projected_graph(B: Graph, nodes: Any, ratio: bool = False) -> Any:
    """Return the graph whose weights are the numbers of common neighbors, or their share of the other set."""
    _check(B)
    found, others = _joined(B, nodes), len(B) - len(nodes)
    if others < 1:
        raise nx.NetworkXAlgorithmError(
            f"the size of the nodes to project onto ({len(nodes)}) is >= the graph size ({len(B)}).\n"
            "They are either not a valid bipartite partition or contain duplicates"
        )
    return found.with_weights(found.values / others if ratio else found.values)


@implements()
def collaboration_weighted_projected_graph(B: Graph, nodes: Any) -> Any:
    """Return the graph whose weights are the sums of 1 / (degree - 1) over the common neighbors."""
    _check(B)
    others = np.diff(B.neighbors.indptr) - 1.0
    shares = np.divide(1.0, others, out=np.zeros(len(B)), where=others > 0)
    found = _joined(B, nodes, shares)
    return found.with_weights(found.values)


@implements()
def overlap_weighted_projected_graph(B: Graph, nodes: Any, jaccard: bool = True) -> Any:
    """Return the graph whose weights are the common neighbors / all neighbors of both, or of the one with fewer."""
    _check(B)
    found = _joined(B, nodes)
    one, other = B.degrees("out")[found.rows], B.degrees("in")[found.cols]
    if not B.is_directed():
        one, other = (entries_of_rows(B.structure)[ends] for ends in (found.rows, found.cols))
    sizes = one + other - found.values if jaccard else np.minimum(one, other)
    return found.with_weights(found.values / sizes)
