"""Degrees and attributes at the two ends of an edge: mixing, assortativity, degrees of neighbors.

A pair (x, y) belongs to each slot: the values of the node and of its neighbor.  Of an undirected graph an edge has two
slots, and so two pairs.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any, NamedTuple

import networkx as nx
import numpy as np
from networkx.utils import dict_to_numpy_array
from numpy.typing import NDArray

from semiring import algorithms as sr

from .graph import Graph
from .registry import implements, refuse

#: The sides of an edge by the name of a degree.
_DIRECTIONS = ("in", "out", "in+out")


class Pairs(NamedTuple):
    """The pairs of the slots, as numbers of values.

    Attributes
    ----------
    values : the values that the numbers stand for
    first, second : the numbers of each slot, in the order of NetworkX
    """

    values: list[Any]
    first: NDArray[np.int64]
    second: NDArray[np.int64]

    def mixing(self, normalized: bool) -> dict[Any, dict[Any, Any]]:
        """Return ``{x: {y: number of pairs}}``, or their share of all pairs."""
        k = max(len(self.values), 1)
        ends = np.stack([self.first, self.second], axis=1).ravel()
        found: dict[Any, dict[Any, Any]] = {self.values[number]: {} for number in _as_listed(ends)[0].tolist()}
        codes, counts = _as_listed(self.first * k + self.second)
        shares = counts / float(len(self.first)) if normalized and len(self.first) else counts
        for x, y, share in zip((codes // k).tolist(), (codes % k).tolist(), shares.tolist(), strict=True):
            found[self.values[x]][self.values[y]] = share
        return found

    def listed(self) -> Iterator[tuple[Any, Any]]:
        """Yield each pair."""
        values = self.values
        return ((values[x], values[y]) for x, y in zip(self.first.tolist(), self.second.tolist(), strict=True))


def _as_listed(numbers: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the different numbers, in the order of their first places, and how often each is listed."""
    different, first, counts = np.unique(numbers, return_index=True, return_counts=True)
    order = np.argsort(first)
    return different[order], counts[order]


def _numbered(values: list[Hashable]) -> tuple[list[Any], NDArray[np.int64]]:
    """Return the different values, and the number of each value; equal ones have one number, as in a dictionary."""
    number: dict[Hashable, int] = {}
    numbers = np.array([number.setdefault(value, len(number)) for value in values], np.int64)
    return list(number), numbers


def _weighted_degrees(G: Graph, direction: str, weight: Any) -> NDArray[Any]:
    """Return the sum of the weights of the edges of each node; a self-loop counts twice."""
    values = G.weights(weight)
    if values is None:
        return G.degrees(direction)
    n = len(G)
    total = np.zeros(n, values.dtype)
    with np.errstate(over="ignore"):  # a sum that is too large is infinite
        if direction != "in" or not G.is_directed():
            np.add.at(total, G.rows, values)
        if G.is_directed() and direction != "out":
            np.add.at(total, G.cols, values)
        if not G.is_directed():
            loops = G.rows == G.cols
            np.add.at(total, G.rows[loops], values[loops])
    return total


def _side(G: Graph, direction: str) -> str:
    """Return which degree NetworkX takes: that of the undirected graph, or the one that is named."""
    if not G.is_directed():
        return "both"
    if direction not in ("in", "out"):
        raise KeyError(direction)
    return direction


def _slots(G: Graph, nodes: Any, *, both: bool) -> Any:
    """Return the slots that leave some nodes; `both`: that lead to them too."""
    if nodes is None:
        return slice(None)
    chosen = np.zeros(len(G), np.bool_)
    chosen[[G.index[node] for node in set(nodes) if node in G]] = True
    return chosen[G.rows] & chosen[G.cols] if both else chosen[G.rows]


def _degree_pairs(G: Graph, x: str, y: str, weight: Any, nodes: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the degrees of the two ends of each slot between some nodes."""
    slots = _slots(G, nodes, both=True)
    first, second = (_weighted_degrees(G, _side(G, end), weight) for end in (x, y))
    return first[G.rows[slots]], second[G.cols[slots]]


def _degree_mixing(G: Graph, x: str, y: str, weight: Any, nodes: Any) -> Pairs:
    first, second = _degree_pairs(G, x, y, weight, nodes)
    values, numbers = np.unique(np.concatenate([first, second]), return_inverse=True)
    return Pairs(values.tolist(), numbers[: len(first)], numbers[len(first) :])


def _attribute_mixing(G: Graph, attribute: Any, nodes: Any) -> Pairs:
    data = G.node_data or [{}] * len(G)
    values, numbers = _numbered([known.get(attribute) for known in data])
    slots = _slots(G, nodes, both=False)
    return Pairs(values, numbers[G.rows[slots]], numbers[G.cols[slots]])


def _correlation(x: NDArray[Any], y: NDArray[Any]) -> float:
    """Return Pearson's correlation of the pairs (x, y)."""
    if not len(x):
        raise refuse("a correlation without edges")
    x, y = _deviations(x), _deviations(y)
    # Sums of products of few numbers: `dot` would start the threads of a BLAS.
    return float((x * y).sum()) / float(np.sqrt((x * x).sum() * (y * y).sum()))


def _deviations(x: NDArray[Any]) -> NDArray[Any]:
    """Return x minus its mean, divided by the largest deviation: squares neither overflow nor underflow."""
    with np.errstate(invalid="ignore"):
        share: NDArray[Any] = x / (np.abs(x).max() or 1)
        share -= share.mean()
    most = np.abs(share).max()
    if not most > 1e-12:  # of infinite values NaN
        raise refuse("a correlation of constant or infinite values")
    share /= most
    return share


@implements()
def node_degree_xy(G: Graph, x: str = "out", y: str = "in", weight: Any = None, nodes: Any = None) -> Any:
    """Yield the degrees of the two ends of each edge."""
    return _degree_mixing(G, x, y, weight, nodes).listed()


@implements()
def node_attribute_xy(G: Graph, attribute: Any, nodes: Any = None) -> Any:
    """Yield the attributes of the two ends of each edge."""
    return _attribute_mixing(G, attribute, nodes).listed()


@implements()
def degree_mixing_dict(
    G: Graph, x: str = "out", y: str = "in", weight: Any = None, nodes: Any = None, normalized: bool = False
) -> dict[Any, dict[Any, Any]]:
    """Return how many edges join each two degrees."""
    return _degree_mixing(G, x, y, weight, nodes).mixing(normalized)


@implements()
def attribute_mixing_dict(
    G: Graph, attribute: Any, nodes: Any = None, normalized: bool = False
) -> dict[Any, dict[Any, Any]]:
    """Return how many edges join each two values of an attribute."""
    return _attribute_mixing(G, attribute, nodes).mixing(normalized)


def _mixing_matrix(pairs: Pairs, mapping: Any, normalized: bool) -> Any:
    made = dict_to_numpy_array(pairs.mixing(False), mapping=mapping)
    return made / made.sum() if normalized else made


@implements()
def degree_mixing_matrix(
    G: Graph,
    x: str = "out",
    y: str = "in",
    weight: Any = None,
    nodes: Any = None,
    normalized: bool = True,
    mapping: Any = None,
) -> Any:
    """Return how many edges join each two degrees as an array; `mapping` gives the row of a degree."""
    return _mixing_matrix(_degree_mixing(G, x, y, weight, nodes), mapping, normalized)


@implements()
def attribute_mixing_matrix(
    G: Graph, attribute: Any, nodes: Any = None, mapping: Any = None, normalized: bool = True
) -> Any:
    """Return how many edges join each two values of an attribute as an array; `mapping` gives the row of a value."""
    return _mixing_matrix(_attribute_mixing(G, attribute, nodes), mapping, normalized)


@implements()
def attribute_assortativity_coefficient(G: Graph, attribute: Any, nodes: Any = None) -> float:
    """Return (t - s) / (1 - s): t is the share of edges between equal values, s that of a random graph."""
    pairs = _attribute_mixing(G, attribute, nodes)
    edges = len(pairs.first)
    if not edges:
        raise refuse("assortativity without edges")
    ends = [np.bincount(side, minlength=len(pairs.values)) / edges for side in (pairs.first, pairs.second)]
    equal, expected = np.count_nonzero(pairs.first == pairs.second) / edges, float(np.dot(*ends))
    if not 1 - expected > 1e-12:
        raise refuse("assortativity of one value")
    return float((equal - expected) / (1 - expected))


@implements()
def numeric_assortativity_coefficient(G: Graph, attribute: Any, nodes: Any = None) -> float:
    """Return the correlation of a number at the ends of an edge."""
    if nodes is not None:
        raise refuse("assortativity of some nodes, whose neighbors NetworkX needs among them")
    values = np.array([data[attribute] for data in G.node_data or [{}] * len(G)])
    if values.dtype.kind not in "iuf":
        raise refuse(f"node attribute {attribute!r} holds values that are not real numbers")
    return _correlation(values[G.rows].astype(np.float64), values[G.cols].astype(np.float64))


@implements()
def degree_assortativity_coefficient(
    G: Graph, x: str = "out", y: str = "in", weight: Any = None, nodes: Any = None
) -> float:
    """Return the correlation of the degrees at the ends of an edge."""
    first, second = _degree_pairs(G, x, y, weight, nodes)
    return _correlation(first.astype(np.float64), second.astype(np.float64))


@implements()
def degree_pearson_correlation_coefficient(
    G: Graph, x: str = "out", y: str = "in", weight: Any = None, nodes: Any = None
) -> float:
    """Return the correlation of the degrees at the ends of an edge."""
    return degree_assortativity_coefficient(G, x, y, weight, nodes)


def _simple(G: Graph, weight: Any) -> None:
    """Refuse what counts degrees otherwise than the entries of a row."""
    if weight is not None or G.loops or G.is_multigraph():
        raise refuse("degrees with weights, self-loops or parallel edges")


@implements()
def average_neighbor_degree(
    G: Graph, source: str = "out", target: str = "out", nodes: Any = None, weight: Any = None
) -> Any:
    """Return the mean degree of the neighbors of each node."""
    for name, value in (("source", source), ("target", target)):
        if G.is_directed() and value not in _DIRECTIONS:
            raise nx.NetworkXError(f"{name} argument {value} must be 'in', 'out' or 'in+out'")
    if not G.is_directed() and (source, target) != ("out", "out"):
        raise nx.NetworkXError("source and target arguments are only supported for directed graphs")
    _simple(G, weight)
    if (source, target) != ("out", "out"):
        raise refuse("degrees of other directions")
    found = sr.average_neighbor_degree(G.structure)
    if nodes is not None and nodes in G:
        raise refuse("one node, of which NetworkX returns a dictionary or an error")
    return G.select(found, nodes)


@implements()
def average_degree_connectivity(
    G: Graph, source: str = "in+out", target: str = "in+out", nodes: Any = None, weight: Any = None
) -> dict[Any, Any]:
    """Return for each degree the mean degree of the neighbors of its nodes."""
    for name, value in (("source", source), ("target", target)):
        if G.is_directed() and value not in _DIRECTIONS:
            raise nx.NetworkXError(f'{name} must be one of "in", "out", or "in+out"')
    if not G.is_directed() and (source, target) != ("in+out", "in+out"):
        raise nx.NetworkXError("source and target arguments are only supported for directed graphs")
    if G.is_multigraph():
        raise refuse("degrees of the neighbors in a multigraph, each of which counts once")
    own, other = (end if end in ("in", "out") else "both" for end in (source, target))
    rows, cols = (G.cols, G.rows) if own == "in" and G.is_directed() else (G.rows, G.cols)
    values, reached = G.weights(weight), G.degrees(other)[cols]
    sums = np.zeros(len(G), np.int64 if values is None else values.dtype)
    np.add.at(sums, rows, reached if values is None else values * reached)
    chosen = np.array(G.nbunch(nodes), np.int64)
    degree, norm = G.degrees(own)[chosen], _weighted_degrees(G, own, weight)[chosen]
    listed, first, place = np.unique(degree, return_index=True, return_inverse=True)
    totals, norms = np.zeros(len(listed), sums.dtype), np.zeros(len(listed), norm.dtype)
    np.add.at(totals, place, sums[chosen])
    np.add.at(norms, place, norm)
    return {
        int(listed[number]): totals[number].item() if norms[number] == 0 else (totals[number] / norms[number]).item()
        for number in np.argsort(first).tolist()
    }
