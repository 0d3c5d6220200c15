"""Maximum flows and minimum cuts between two nodes, and the tree and the cut that follow from many of them.

Of the minimum cuts between two nodes NetworkX returns the one with the fewest nodes on the side of the target, which is
the same for all maximum flows: the nodes from which the target can be reached along edges that are not full.
"""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
from networkx.utils import BinaryHeap
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import breadth_first_order

from semiring import Matrix
from semiring import algorithms as sr
from semiring.algorithms import Flow

from .graph import Graph, Node
from .registry import implements, refuse


class Network:
    """A matrix of capacities, and its entries in both directions.

    Parameters
    ----------
    A : Matrix
        Infinite capacities are more than `total`.
    total : int or float
        The sum of the finite capacities: a flow that exceeds it has no limit.
    """

    def __init__(self, A: Matrix, total: Any) -> None:
        self.A, self.total = A, total
        rows, cols, values = (np.asarray(part) for part in A.to_coo(device="cpu"))
        n = A.nrows
        one = rows * n + cols
        self.keys = np.unique(np.concatenate([one, cols * n + rows]))
        self.capacity = np.zeros(len(self.keys))
        self.capacity[np.searchsorted(self.keys, one)] = values
        self.tails, self.heads = np.divmod(self.keys, n)
        self.reverse = np.searchsorted(self.keys, self.heads * n + self.tails)

    def flow(self, source: int, target: int) -> Flow:
        """Return a maximum flow; raise NetworkXUnbounded if infinite capacities lead to the target."""
        found = sr.maximum_flow(self.A, source, target)
        if found.value > self.total:
            raise nx.NetworkXUnbounded("Infinite capacity path, flow unbounded above.")
        return found

    def target_side(self, found: Flow, target: int) -> NDArray[np.bool_]:
        """Return the rows from which the target can be reached along edges that are not full."""
        n = self.A.nrows
        rows, cols, values = (np.asarray(part) for part in found.flow.to_coo(device="cpu"))
        flow = np.zeros(len(self.keys))
        flow[np.searchsorted(self.keys, rows * n + cols)] = values
        # Of floats, what is left of a full edge may be a rounding error.
        least = 2.0**-47 * float(found.value) if self.A.dtype.kind == "f" else 0
        left = self.capacity - flow + flow[self.reverse] > least
        into = left[self.reverse]  # of entry (v, u): whether u can still send to v
        indptr = np.append(0, np.cumsum(np.bincount(self.tails[into], minlength=n)))
        steps = sparse.csr_array((np.ones(indptr[-1]), self.heads[into], indptr), shape=(n, n))
        side = np.zeros(n, np.bool_)
        side[breadth_first_order(steps, target, return_predecessors=False)] = True
        return side


def _capacities(G: Graph, capacity: Any) -> Network:
    """Return the capacities, made when first needed."""
    if G.is_multigraph():
        raise nx.NetworkXError("MultiGraph and MultiDiGraph not supported (yet).")
    values = G.weights(capacity, float("inf"))

    def make() -> Network:
        limits = np.ones(len(G.cols)) if values is None else values
        finite = np.isfinite(limits)
        if (limits < 0).any():
            raise refuse("negative capacities")
        whole = bool((limits[finite] == np.floor(limits[finite])).all()) and float(limits[finite].sum()) < 2**52
        total = limits[finite].sum()
        bounded = np.where(finite, limits, total + 1)
        return Network(G.of_slots(bounded.astype(np.int64) if whole else bounded), total)

    made: Network = G.kept(("capacities", capacity), make)
    return made


def _flow(G: Graph, source: Node, target: Node, capacity: Any, flow_func: Any, options: dict[str, Any]) -> Flow:
    if flow_func is None and options:
        raise nx.NetworkXError("You have to explicitly set a flow_func if you need to pass parameters via kwargs.")
    if flow_func is not None:
        if not callable(flow_func):
            raise nx.NetworkXError("flow_func has to be callable.")
        raise refuse("a flow function of NetworkX")
    if G.is_multigraph():
        raise nx.NetworkXError("MultiGraph and MultiDiGraph not supported (yet).")
    for node in (source, target):
        if node not in G:
            raise nx.NetworkXError(f"node {node!s} not in graph")
    if source == target:
        raise nx.NetworkXError("source and sink are the same node")
    return _capacities(G, capacity).flow(G.index[source], G.index[target])


@implements()
def maximum_flow_value(
    flowG: Graph, _s: Node, _t: Node, capacity: Any = "capacity", flow_func: Any = None, **kwargs: Any
) -> Any:
    """Return the value of a maximum flow."""
    return _number(_flow(flowG, _s, _t, capacity, flow_func, kwargs).value)


implements(name="minimum_cut_value")(maximum_flow_value)


def _number(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


@implements()
def maximum_flow(
    flowG: Graph, _s: Node, _t: Node, capacity: Any = "capacity", flow_func: Any = None, **kwargs: Any
) -> tuple[Any, dict[Node, dict[Node, Any]]]:
    """Return the value of a maximum flow, and the flow of each edge."""
    G = flowG
    found = _flow(G, _s, _t, capacity, flow_func, kwargs)
    flow: dict[Node, dict[Node, Any]] = {node: {} for node in G.nodes}
    for node, neighbor in zip(G.labels(G.rows), G.labels(G.cols), strict=True):
        flow[node][neighbor] = 0
    rows, cols, values = found.flow.to_coo(device="cpu")
    values = np.broadcast_to(np.asarray(values), np.asarray(rows).shape)
    for node, neighbor, value in zip(
        G.labels(np.asarray(rows)), G.labels(np.asarray(cols)), values.tolist(), strict=True
    ):
        if value > 0:
            flow[node][neighbor] = value
    return _number(found.value), flow


@implements()
def minimum_cut(
    flowG: Graph, _s: Node, _t: Node, capacity: Any = "capacity", flow_func: Any = None, **kwargs: Any
) -> tuple[Any, tuple[set[Node], set[Node]]]:
    """Return the value of a minimum cut, and its two sets of nodes."""
    G = flowG
    found = _flow(G, _s, _t, capacity, flow_func, kwargs)
    side = _capacities(G, capacity).target_side(found, G.index[_t])
    return _number(found.value), (set(G.labels(np.flatnonzero(~side))), set(G.labels(np.flatnonzero(side))))


def cut_tree(network: Network) -> tuple[NDArray[np.int64], list[Any]]:
    """Return for each row but the first its parent in a Gomory-Hu tree, and the value of the cut between them."""
    n = network.A.nrows
    parent, value = np.zeros(n, np.int64), [0] * n
    for source in range(1, n):
        target = int(parent[source])
        found = network.flow(source, target)
        apart = ~network.target_side(found, target)
        moved = np.flatnonzero(apart & (parent == target))
        parent[moved[(moved != source) & (moved != 0)]] = source
        value[source] = _number(found.value)
        above = int(parent[target])
        if target != 0 and apart[above]:
            value[source], value[target] = value[target], value[source]
            parent[source], parent[target] = above, source
    return parent, value


@implements()
def gomory_hu_tree(G: Graph, capacity: Any = "capacity", flow_func: Any = None) -> nx.Graph:
    """Return the tree in which the lightest edge between two nodes is the value of a minimum cut between them."""
    if flow_func is not None:
        raise refuse("a flow function of NetworkX")
    if len(G) == 0:
        raise nx.NetworkXError("Empty Graph does not have a Gomory-Hu tree representation")
    known = _capacities(G, capacity)
    parent, value = cut_tree(known if known.A.device == "cpu" else Network(known.A.to("cpu"), known.total))
    tree = nx.Graph()
    tree.add_nodes_from(G.nodes)
    tree.add_weighted_edges_from(zip(G.nodes[1:], G.labels(parent[1:]), value[1:], strict=True))
    return tree


@implements()
def stoer_wagner(G: Graph, weight: Any = "weight", heap: Any = BinaryHeap) -> tuple[Any, tuple[list[Node], list[Node]]]:
    """Return the least weight of the edges between two sets of nodes, and the sets, by flows from one node."""
    n = len(G)
    if n < 2:
        raise nx.NetworkXError("graph has less than two nodes.")
    if not sr.is_connected(G.structure):
        raise nx.NetworkXError("graph is not connected.")
    values = G.weights(weight)
    if values is not None and (values < 0).any():
        raise nx.NetworkXError("graph has a negative-weighted edge.")
    if heap is not BinaryHeap or (values is not None and not np.isfinite(values).all()):
        raise refuse("another heap or infinite weights")
    network = Network(G.matrix(weight).to("cpu"), np.inf)
    best = min((network.flow(0, target).value, target) for target in range(1, n))[1]
    found = network.flow(0, best)
    side = network.target_side(found, best)
    return _number(found.value), (G.labels(np.flatnonzero(side)), G.labels(np.flatnonzero(~side)))
