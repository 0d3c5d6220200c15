"""Connectivity by maximum flows: edges and nodes whose removal separates others, trees of minimum cuts.

A node that may be passed once is an edge of capacity 1 between two vertices: row v and row n + v, where edges enter the
first and leave the second.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations, permutations
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from semiring import Matrix
from semiring import algorithms as sr

from .components import connected_components, groups, strongly_connected_components
from .flows import Network, cut_tree
from .graph import Graph, Node
from .registry import implements, refuse


def _given(*arguments: Any) -> None:
    """Refuse flow functions, auxiliary and residual graphs of NetworkX."""
    if any(argument is not None for argument in arguments):
        raise refuse("a flow function, auxiliary or residual graph of NetworkX")


def _edges(G: Graph) -> Network:
    """Return the capacity 1 of each edge, in both directions if the graph is undirected."""
    made: Network = G.kept("unit capacities", lambda: Network(_units(len(G), G.rows, G.cols), np.inf))
    return made


def _nodes(G: Graph) -> Network:
    """Return the capacities of edges and of nodes."""

    def make() -> Network:
        n = len(G)
        every = np.arange(n)
        rows, cols = np.concatenate([every, n + G.rows]), np.concatenate([n + every, G.cols])
        return Network(_units(2 * n, rows, cols), np.inf)

    made: Network = G.kept("node capacities", make)
    return made


def _units(n: int, rows: NDArray[np.int64], cols: NDArray[np.int64]) -> Matrix:
    """Return the matrix of capacities 1, on the CPU: many small flows are many paths, one after the other."""
    return Matrix.from_coo(rows, cols, np.int64(1), shape=(n, n), dup_op="any", device="cpu").wait()


def _pair(G: Graph, s: Any, t: Any) -> bool:
    """Return whether a source and a target are given; raise as NetworkX if one is missing or not in the graph."""
    if (s is None) != (t is None):
        raise nx.NetworkXError("Both source and target must be specified.")
    for node in (s, t):
        if s is not None and node not in G:
            raise nx.NetworkXError(f"node {node} not in graph")
    return s is not None


def _value(network: Network, s: int, t: int) -> int:
    return int(network.flow(s, t).value)


def _distinct(s: Node, t: Node) -> None:
    if s == t:
        raise nx.NetworkXError("source and sink are the same node")


def _ends(G: Graph, s: Node, t: Node) -> tuple[int, int]:
    """Return the rows of a source and a target of a flow."""
    for node in (s, t):
        if node not in G:
            raise nx.NetworkXError(f"node {node!s} not in graph")
    _distinct(s, t)
    return G.index[s], G.index[t]


def _limited(value: int, cutoff: Any) -> int:
    """Return a flow that ends when it reaches the cutoff."""
    if cutoff is None:
        return value
    if isinstance(cutoff, bool) or not isinstance(cutoff, int) or cutoff < 1:
        raise refuse("a cutoff that is not a positive integer")
    return min(value, cutoff)


@implements()
def local_edge_connectivity(
    G: Graph, s: Node, t: Node, flow_func: Any = None, auxiliary: Any = None, residual: Any = None, cutoff: Any = None
) -> int:
    """Return the least number of edges whose removal leaves no path between two nodes."""
    _given(flow_func, auxiliary, residual)
    return _limited(_value(_edges(G), *_ends(G, s, t)), cutoff)


@implements()
def local_node_connectivity(
    G: Graph, s: Node, t: Node, flow_func: Any = None, auxiliary: Any = None, residual: Any = None, cutoff: Any = None
) -> int:
    """Return the greatest number of paths between two nodes that have no other node in common."""
    _given(flow_func, auxiliary, residual)
    for node in (s, t):
        if node not in G:
            raise KeyError(node)
    return _limited(_value(_nodes(G), len(G) + G.index[s], G.index[t]), cutoff)


def _connected(G: Graph) -> bool:
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
    return sr.is_connected(G.structure)


def _simple(G: Graph) -> None:
    if G.loops or G.is_multigraph():
        raise refuse("connectivity with self-loops or parallel edges, which NetworkX counts as degrees")


def _separated(G: Graph) -> Iterator[tuple[int, int]]:
    """Yield pairs of rows of which a least cut of the edges separates one."""
    n = len(G)
    if G.is_directed():
        return ((row, (row + 1) % n) for row in range(n))
    # A cut smaller than the least degree has a node on each side without neighbors on the other, and so a member of
    # any dominating set.
    free, chosen = np.ones(n, np.bool_), []
    indptr, cols = G.neighbors.indptr, G.cols
    for row in range(n):
        if free[row]:
            chosen.append(row)
            free[row] = False
            free[cols[indptr[row] : indptr[row + 1]]] = False
    return ((chosen[0], row) for row in chosen[1:])


@implements()
def edge_connectivity(G: Graph, s: Any = None, t: Any = None, flow_func: Any = None, cutoff: Any = None) -> int:
    """Return the least number of edges whose removal separates two nodes, or any."""
    _given(flow_func)
    if _pair(G, s, t):
        return int(local_edge_connectivity(G, s, t, cutoff=cutoff))
    _simple(G)
    if not _connected(G):
        return 0
    least = _limited(int(G.degrees().min()), cutoff)
    if len(G) == 1:
        raise refuse("the connectivity of one node")
    network = _edges(G)
    for i, j in _separated(G):
        least = min(least, _value(network, i, j))
    return least


def _around(G: Graph) -> tuple[int, Iterator[tuple[int, int]]]:
    """Return a node of least degree, and the pairs of nodes of which a least cut of nodes separates one."""
    _simple(G)
    n, v = len(G), int(np.argmin(G.degrees()))
    indptr, cols = G.neighbors.indptr, G.cols
    near = np.unique(np.concatenate([cols[indptr[v] : indptr[v + 1]], G.rows[cols == v]]))
    far = np.setdiff1d(np.arange(n), np.append(near, v))
    pairs: Callable[..., Iterator[tuple[int, int]]] = permutations if G.is_directed() else combinations

    def listed() -> Iterator[tuple[int, int]]:
        yield from ((v, row) for row in far.tolist())
        for x, y in pairs(near.tolist(), 2):
            if not (cols[indptr[x] : indptr[x + 1]] == y).any():
                yield x, y

    return v, listed()


@implements()
def node_connectivity(G: Graph, s: Any = None, t: Any = None, flow_func: Any = None) -> int:
    """Return the least number of nodes whose removal separates two nodes, or any."""
    _given(flow_func)
    if _pair(G, s, t):
        return int(local_node_connectivity(G, s, t))
    if not _connected(G):
        return 0
    v, pairs = _around(G)
    least, network, n = int(G.degrees()[v]), _nodes(G), len(G)
    for i, j in pairs:
        least = min(least, _value(network, n + i, j))
    return least


@implements()
def average_node_connectivity(G: Graph, flow_func: Any = None) -> float:
    """Return the mean of the connectivity of all pairs of nodes."""
    _given(flow_func)
    n, network = len(G), _nodes(G)
    pairs = list((permutations if G.is_directed() else combinations)(range(n), 2))
    return sum(_value(network, n + i, j) for i, j in pairs) / len(pairs) if pairs else 0


@implements()
def all_pairs_node_connectivity(G: Graph, nbunch: Any = None, flow_func: Any = None) -> dict[Node, dict[Node, int]]:
    """Return the connectivity of all pairs of nodes, or of some."""
    _given(flow_func)
    n, network = len(G), _nodes(G)
    chosen = list(G) if nbunch is None else list(set(nbunch))
    if not all(node in G for node in chosen):
        raise refuse("nodes that are not in the graph")
    found: dict[Node, dict[Node, int]] = {node: {} for node in chosen}
    for u, v in (permutations if G.is_directed() else combinations)(chosen, 2):
        found[u][v] = _value(network, n + G.index[u], G.index[v])
        if not G.is_directed():
            found[v][u] = found[u][v]
    return found


def _edge_cut(G: Graph, s: int, t: int) -> set[tuple[Node, Node]]:
    network = _edges(G)
    side = network.target_side(network.flow(s, t), t)
    crossing = ~side[G.rows] & side[G.cols]
    return set(zip(G.labels(G.rows[crossing]), G.labels(G.cols[crossing]), strict=True))


@implements()
def minimum_st_edge_cut(
    G: Graph, s: Node, t: Node, flow_func: Any = None, auxiliary: Any = None, residual: Any = None
) -> set[tuple[Node, Node]]:
    """Return the fewest edges whose removal leaves no path between two nodes."""
    _given(flow_func, auxiliary, residual)
    return _edge_cut(G, *_ends(G, s, t))


@implements()
def minimum_edge_cut(G: Graph, s: Any = None, t: Any = None, flow_func: Any = None) -> set[tuple[Node, Node]]:
    """Return the fewest edges whose removal separates two nodes, or any."""
    _given(flow_func)
    if _pair(G, s, t):
        return _edge_cut(G, *_ends(G, s, t))
    _simple(G)
    if not _connected(G):
        raise nx.NetworkXError("Input graph is not connected")
    if len(G) == 1:
        raise refuse("a cut of one node")
    v = int(np.argmin(G.degrees()))
    least, best = int(G.degrees()[v]), None
    network = _edges(G)
    for i, j in _separated(G):
        value = _value(network, i, j)
        if value < least or (best is None and value == least):
            least, best = value, (i, j)
    if best is None:
        leaving = slice(G.neighbors.indptr[v], G.neighbors.indptr[v + 1])
        return {(G.nodes[v], node) for node in G.labels(G.cols[leaving])}
    return _edge_cut(G, *best)


def _node_cut(G: Graph, s: int, t: int) -> set[Node]:
    n, network = len(G), _nodes(G)
    if ((G.rows == s) & (G.cols == t)).any() or ((G.rows == t) & (G.cols == s)).any():
        return set()
    side = network.target_side(network.flow(n + s, t), t)
    rows, cols = np.concatenate([np.arange(n), G.rows]), np.concatenate([np.arange(n), G.cols])
    tails, heads = np.concatenate([np.arange(n), n + G.rows]), np.concatenate([n + np.arange(n), G.cols])
    crossing = ~side[tails] & side[heads]
    return set(G.labels(np.setdiff1d(np.concatenate([rows[crossing], cols[crossing]]), [s, t])))


@implements()
def minimum_st_node_cut(
    G: Graph, s: Node, t: Node, flow_func: Any = None, auxiliary: Any = None, residual: Any = None
) -> set[Node]:
    """Return the fewest nodes whose removal leaves no path between two others; none if these are adjacent."""
    _given(flow_func, auxiliary, residual)
    for node in (s, t):
        if node not in G:
            raise KeyError(node)
    return _node_cut(G, G.index[s], G.index[t])


@implements()
def minimum_node_cut(G: Graph, s: Any = None, t: Any = None, flow_func: Any = None) -> set[Node]:
    """Return the fewest nodes whose removal separates two nodes, or any."""
    _given(flow_func)
    if _pair(G, s, t):
        return _node_cut(G, G.index[s], G.index[t])
    if not _connected(G):
        raise nx.NetworkXError("Input graph is not connected")
    v, pairs = _around(G)
    n, network, indptr = len(G), _nodes(G), G.neighbors.indptr
    best: tuple[int, int] | None = None
    least = int(indptr[v + 1] - indptr[v])
    for i, j in pairs:
        if (G.cols[indptr[j] : indptr[j + 1]] == i).any():
            raise refuse("a cut between nodes with an edge in the other direction, which NetworkX takes for none")
        value = _value(network, n + i, j)
        if value < least or (best is None and value == least):
            least, best = value, (i, j)
    if best is None:
        return set(G.labels(G.cols[indptr[v] : indptr[v + 1]]))
    return _node_cut(G, *best)


@implements()
def bridge_components(G: Graph) -> Iterator[set[Node]]:
    """Yield the sets of nodes between which no edge is a bridge, in the order of their first nodes."""
    A = G.structure
    if len(G.cols):
        A = A.dup(mask=~sr.bridges(A).S)
    return groups(G, sr.connected_components(A).to_numpy())


@implements()
def k_edge_components(G: Graph, k: int) -> Iterator[set[Node]]:
    """Yield the sets of nodes that the removal of fewer than k edges does not separate."""
    if k < 1:
        raise ValueError("k cannot be less than 1")
    if k == 1:
        return strongly_connected_components(G) if G.is_directed() else connected_components(G)
    if G.is_directed():
        raise refuse("components of directed graphs that two edges or more connect")
    if k == 2:
        return bridge_components(G)
    parent, value = cut_tree(_edges(G))
    rows = np.flatnonzero(np.array(value) >= k)
    tree = _units(len(G), np.concatenate([rows, parent[rows]]), np.concatenate([parent[rows], rows]))
    return groups(G, sr.connected_components(tree).to_numpy())


@implements()
def k_edge_subgraphs(G: Graph, k: int) -> Iterator[set[Node]]:
    """Yield the sets of nodes such that the removal of fewer than k edges between them does not separate them."""
    if k > (1 if G.is_directed() else 2):
        raise refuse("subgraphs that more edges connect")
    return k_edge_components(G, k)


@implements()
def is_k_edge_connected(G: Graph, k: int) -> bool:
    """Return whether the removal of fewer than k edges separates no nodes."""
    if k < 1:
        raise ValueError(f"k must be positive, not {k}")
    if len(G) < k + 1 or int(G.degrees().min()) < k:
        return False
    if k == 1:
        return sr.is_connected(G.structure)
    if k == 2:
        return sr.is_connected(G.structure) and sr.bridges(G.structure).nvals == 0
    return bool(edge_connectivity(G, cutoff=k) >= k)


@implements()
def is_locally_k_edge_connected(G: Graph, s: Node, t: Node, k: int) -> bool:
    """Return whether the removal of fewer than k edges leaves a path between two nodes."""
    if k < 1:
        raise ValueError(f"k must be positive, not {k}")
    if s not in G or t not in G:
        raise refuse("nodes that are not in the graph")
    if k == 1:
        return sr.has_path(G.structure, G.index[s], G.index[t])
    return bool(local_edge_connectivity(G, s, t, cutoff=k) >= k)
