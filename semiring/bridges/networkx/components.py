"""Components: connected, weakly and strongly connected, biconnected, attracting; bridges."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from semiring import algorithms as sr

from .depth_first import postorder
from .graph import Graph, Node, entries
from .registry import implements, refuse
from .sorted_sets import among, distinct


def _null(G: Graph) -> None:
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")


def _weak(G: Graph) -> NDArray[Any]:
    """Return the smallest row of each row's component."""
    made: NDArray[Any] = G.kept("weak", lambda: sr.connected_components(G.structure).to_numpy())
    return made


def strong(G: Graph) -> NDArray[Any]:
    """Return the smallest row of each row's strong component."""
    made: NDArray[Any] = G.kept("strong", lambda: sr.strongly_connected_components(G.structure).to_numpy())
    return made


def groups(G: Graph, labels: NDArray[Any]) -> Iterator[set[Node]]:
    """Yield the sets of nodes with equal labels, in ascending order of the labels."""
    order = np.argsort(labels, kind="stable")
    bounds = (
        np.append(np.flatnonzero(np.append(True, np.diff(labels[order]) != 0)), len(order)).tolist()
        if len(order)
        else []
    )
    nodes = G.labels(order)
    for start, end in pairwise(bounds):
        yield set(nodes[start:end])


@implements()
def connected_components(G: Graph) -> Iterator[set[Node]]:
    """Yield the components, in the order of their first nodes."""
    return groups(G, _weak(G))


@implements()
def number_connected_components(G: Graph) -> int:
    """Return the number of components."""
    return len(distinct(_weak(G)))


@implements()
def is_connected(G: Graph) -> bool:
    """Return whether there is one component."""
    _null(G)
    return sr.is_connected(G.structure)


@implements()
def node_connected_component(G: Graph, n: Node) -> set[Node]:
    """Return the component of a node."""
    row = G.index.get(n)
    if row is None:
        raise KeyError(n)
    labels = _weak(G)
    return set(G.labels(np.flatnonzero(labels == labels[row])))


implements(name="weakly_connected_components")(connected_components)
implements(name="number_weakly_connected_components")(number_connected_components)
implements(name="is_weakly_connected")(is_connected)


@implements()
def strongly_connected_components(G: Graph) -> Iterator[set[Node]]:
    """Yield the strong components, each after those that it leads to, in the order of NetworkX."""
    members = list(groups(G, strong(G)))
    # A search leaves a component at the node by which it entered; `groups` yields components by their labels.
    _, left = np.unique(strong(G)[postorder(G)[::-1]], return_index=True)
    return (members[number] for number in np.argsort(left)[::-1].tolist())


@implements()
def kosaraju_strongly_connected_components(G: Graph, source: Any = None) -> Iterator[set[Node]]:
    """Yield the strong components, each after those that it leads to."""
    if source is not None:
        raise refuse("strong components from one node")
    return strongly_connected_components(G)


@implements()
def number_strongly_connected_components(G: Graph) -> int:
    """Return the number of strong components."""
    return len(distinct(strong(G)))


@implements()
def is_strongly_connected(G: Graph) -> bool:
    """Return whether there is one strong component."""
    _null(G)
    return bool((strong(G) == 0).all())


@implements()
def condensation(G: Graph, scc: Any = None) -> nx.DiGraph:
    """Return the graph of the strong components, or of the given ones."""
    C = nx.DiGraph()
    members = [set(component) for component in (strongly_connected_components(G) if scc is None else scc)]
    mapping = {node: number for number, component in enumerate(members) for node in component}
    C.graph["mapping"] = mapping
    if len(G) == 0:
        return C
    number = np.array([mapping[node] for node in G.nodes])
    rows, cols = number[G.rows], number[G.cols]
    different = rows != cols
    pairs, first = np.unique(rows[different] * len(members) + cols[different], return_index=True)
    pairs = pairs[np.argsort(first)]
    C.add_nodes_from((number, {"members": component}) for number, component in enumerate(members))
    C.add_edges_from(zip((pairs // len(members)).tolist(), (pairs % len(members)).tolist(), strict=True))
    return C


def _attracting(G: Graph) -> NDArray[Any]:
    """Return the labels of the strong components that no edge leaves."""
    labels = strong(G)
    leaves = labels[G.rows] != labels[G.cols]
    return np.setdiff1d(labels, labels[G.rows[leaves]])


@implements()
def attracting_components(G: Graph) -> Iterator[set[Node]]:
    """Yield the strong components that no edge leaves."""
    labels = strong(G)
    return (set(G.labels(np.flatnonzero(labels == label))) for label in _attracting(G))


@implements()
def number_attracting_components(G: Graph) -> int:
    """Return the number of strong components that no edge leaves."""
    return len(_attracting(G))


@implements()
def is_attracting_component(G: Graph) -> bool:
    """Return whether the graph is one strong component that no edge leaves."""
    return len(G) > 0 and bool((strong(G) == 0).all())


@implements()
def is_semiconnected(G: Graph) -> bool:
    """Return whether of each two nodes one reaches the other: components in topological order are adjacent."""
    _null(G)
    graph = sr.condensation(G.structure).graph
    order = sr.topological_order(graph).to_numpy()
    rows, cols, _ = graph.to_coo(device="cpu")
    n = len(order)
    stored = np.asarray(rows) * n + np.asarray(cols)
    return bool(among(order[:-1].astype(np.int64) * n + order[1:], stored).all())


@implements()
def biconnected_components(G: Graph) -> Iterator[set[Node]]:
    """Yield the nodes of each biconnected component."""
    return (
        set(edges.ravel().tolist()) if G.neighbors.numbered else set(G.labels(edges.ravel())) for edges in _blocks(G)
    )


@implements()
def biconnected_component_edges(G: Graph) -> Iterator[list[tuple[Node, Node]]]:
    """Yield the edges of each biconnected component."""
    if G.loops:
        raise refuse("the edges of biconnected components with self-loops")
    return (list(zip(G.labels(edges[:, 0]), G.labels(edges[:, 1]), strict=True)) for edges in _blocks(G))


def _blocks(G: Graph) -> Iterator[NDArray[np.int64]]:
    rows, cols, block = (np.asarray(part) for part in sr.biconnected_components(G.structure).edges.to_coo(device="cpu"))
    once = rows < cols
    ends, block = np.stack([rows[once], cols[once]], axis=1), np.broadcast_to(block, rows.shape)[once]
    order = np.argsort(block, kind="stable")
    for part in np.split(order, np.flatnonzero(np.diff(block[order])) + 1) if len(order) else ():
        yield ends[part]


@implements()
def is_biconnected(G: Graph) -> bool:
    """Return whether the graph is one biconnected component."""
    blocks = list(_blocks(G))
    return len(blocks) == 1 and len(distinct(blocks[0])) == len(G)


@implements()
def articulation_points(G: Graph) -> Iterator[Node]:
    """Yield the nodes whose removal separates others, in the order of the nodes."""
    return iter(G.labels(entries(sr.articulation_points(G.structure))[0]))


@implements()
def bridges(G: Graph, root: Any = None) -> Iterator[tuple[Node, Node]]:
    """Yield the edges whose removal separates nodes, in the order of NetworkX."""
    if root is not None and root not in G:
        raise nx.NodeNotFound(f"Root node {root} is not in graph")
    found = sr.bridges(G.structure).to_coo(device="cpu")
    stored = np.asarray(found[0]) * max(len(G), 1) + np.asarray(found[1])
    rows, cols = G.edge_rows()
    pair = rows * max(len(G), 1) + cols
    is_bridge = among(pair, stored)
    if G.is_multigraph():
        _, inverse, counts = np.unique(pair, return_inverse=True, return_counts=True)
        is_bridge &= counts[inverse] == 1
    if root is not None:
        labels = _weak(G)
        is_bridge &= labels[rows] == labels[G.index[root]]
    return iter(list(zip(G.labels(rows[is_bridge]), G.labels(cols[is_bridge]), strict=True)))


@implements()
def has_bridges(G: Graph, root: Any = None) -> bool:
    """Return whether there is a bridge."""
    return next(bridges(G, root), None) is not None
