"""Searches in the order of NetworkX: neighbors in the order of insertion, ties as its queue or heap breaks them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semiring import Matrix, Vector, ops, semiring
from semiring.exceptions import ConvergenceFailure

from .graph import Graph, Node, entries
from .sorted_sets import among, distinct

#: Rounds after which nodes at equal distance keep the order of the last round.
_MOST_ROUNDS = 64


class Search(NamedTuple):
    """The nodes that a search reached, as rows in the order of discovery.

    Attributes
    ----------
    order : rows reached
    parent : for every row its parent, -1 for sources and rows that are not reached
    distance : for every row its distance; of no meaning where a row is not reached
    """

    order: NDArray[np.int64]
    parent: NDArray[np.int64]
    distance: NDArray[Any]

    def edges(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the tree's edges (parents, children), in the order of discovery."""
        children = self.order[self.parent[self.order] >= 0]
        return self.parent[children], children


def adjacency(G: Graph, reverse: bool = False) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return offsets and columns in the order of NetworkX; of predecessors, in the order of rows, if `reverse`."""
    if not (reverse and G.is_directed()):
        return G.neighbors.indptr, G.cols
    made: tuple[NDArray[np.int64], NDArray[np.int64]] = G.kept("predecessors", lambda: _predecessors(G)[:2])
    return made


def _predecessors(G: Graph) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    slots = np.argsort(G.cols, kind="stable")
    indptr = np.zeros(len(G) + 1, np.int64)
    np.cumsum(np.bincount(G.cols, minlength=len(G)), out=indptr[1:])
    return indptr, G.rows[slots], slots


def breadth_first(G: Graph, sources: list[int], *, depth: float | None = None, reverse: bool = False) -> Search:
    """Search level by level; a node's parent is the first one that NetworkX would find."""
    indptr, cols = adjacency(G, reverse)
    n = len(G)
    level, parent, place = np.full(n, -1), np.full(n, -1), np.empty(n, np.int64)
    frontier = np.array(sources, np.int64)
    level[frontier] = 0
    layers, steps = [frontier], 0
    while frontier.size and (depth is None or depth > steps):
        steps += 1
        which, slots = out_slots(indptr, frontier)
        targets = cols[slots]
        fresh = level[targets] < 0
        targets, origins = targets[fresh], frontier[which[fresh]]
        frontier, origins = first_of_each(targets, origins, place)
        parent[frontier], level[frontier] = origins, steps
        layers.append(frontier)
    return Search(np.concatenate(layers), parent, level)


def out_slots(indptr: NDArray[np.int64], rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the slots of some rows, one row after the other, and for each slot the index of its row in `rows`."""
    starts = indptr[rows]
    counts = indptr[rows + 1] - starts
    slots = np.repeat(starts + counts - np.cumsum(counts), counts)
    slots += np.arange(slots.size)
    return np.repeat(np.arange(rows.size), counts), slots


def first_of_each(
    targets: NDArray[np.int64], origins: NDArray[np.int64], place: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Keep the first of each group of equal targets, with its origin; `place` is scratch for every row."""
    numbers = np.arange(targets.size)
    place[targets[::-1]] = numbers[::-1]  # of repeated indices the last assignment remains
    first = place[targets] == numbers
    return targets[first], origins[first]


class Tight(NamedTuple):
    """The edges u -> v with distance(u) + weight = distance(v), which form the shortest paths."""

    rows: NDArray[np.int64]
    cols: NDArray[np.int64]


def distances(G: Graph, sources: list[int], weight: Any, *, reverse: bool = False) -> Vector:
    """Return the least sum of weights from a source to each node; missing where there is no path.

    Raises
    ------
    ConvergenceFailure
        If a cycle of negative weight can be reached.
    """
    A: Matrix = G.matrix(weight, "min")
    if reverse and G.is_directed():
        A = G.kept(("transposed", weight), lambda: A.T.dup())
    start = Vector.from_coo(sources, 0, A.dtype, size=len(G), device=A.device)
    return ops.closure(start, A, semiring.min_plus[A.dtype])


def shortest(
    G: Graph, sources: list[int], weight: Any, *, cutoff: float | None = None, reverse: bool = False
) -> tuple[Search, Tight]:
    """Search by weight: rows ordered by distance, with the parents that Dijkstra's algorithm in NetworkX finds.

    The least sums are those of `ops.closure`.  Of several shortest paths, that one is found whose nodes the heap of
    NetworkX returns first.
    """
    reached, found = entries(distances(G, sources, weight, reverse=reverse))
    n = len(G)
    distance = np.zeros(n, found.dtype)
    distance[reached] = found
    is_reached = np.zeros(n, np.bool_)
    is_reached[reached] = True
    if cutoff is not None:
        is_reached &= distance <= cutoff
        is_reached[sources] = True
    tight = _tight(G, weight, distance, is_reached, reverse)
    if np.any(distance[tight.rows] >= distance[tight.cols]):
        search = _by_steps(tight, sources, distance, n)
    else:
        search = _by_heap(tight, sources, distance, np.flatnonzero(is_reached))
    return search, tight


def _tight(G: Graph, weight: Any, distance: NDArray[Any], is_reached: NDArray[np.bool_], reverse: bool) -> Tight:
    rows, cols = (G.cols, G.rows) if reverse and G.is_directed() else (G.rows, G.cols)
    weights = G.weights(weight)
    lengths = distance[rows] + (1 if weights is None else weights)
    slots = np.flatnonzero(is_reached[rows] & is_reached[cols] & (lengths == distance[cols]) & (rows != cols))
    rows, cols = rows[slots], cols[slots]
    if reverse and G.is_directed():
        order = np.argsort(rows, kind="stable")
        rows, cols = rows[order], cols[order]
    return Tight(rows, cols)


def _by_heap(tight: Tight, sources: list[int], distance: NDArray[Any], reached: NDArray[np.int64]) -> Search:
    """Order rows by (distance, time of the push), where a push follows the rank of the parent."""
    n = distance.size
    rank, pushed, place = np.zeros(n, np.int64), np.zeros(n, np.int64), np.empty(n, np.int64)
    inner = ~among(tight.cols, np.asarray(sources))
    rows, cols = tight.rows[inner], tight.cols[inner]
    pushed[sources] = np.arange(len(sources)) - len(sources)
    order = reached[np.lexsort((pushed[reached], distance[reached]))]
    parent = np.full(n, -1)
    ties = distinct(distance[reached]).size < reached.size
    for _ in range(_MOST_ROUNDS):
        rank[order] = np.arange(order.size)
        by_rank = np.argsort(rank[rows], kind="stable")
        children, parents = first_of_each(cols[by_rank], rows[by_rank], place)
        parent[children] = parents
        if not ties:
            break
        pushed[children] = np.arange(children.size)
        following = reached[np.lexsort((pushed[reached], distance[reached]))]
        if np.array_equal(following, order):
            break
        order = following
    return Search(order, parent, distance)


def _by_steps(tight: Tight, sources: list[int], distance: NDArray[Any], n: int) -> Search:
    """Search the tight edges breadth first: where weights are 0 or negative, distances do not order a path."""
    indptr = np.zeros(n + 1, np.int64)
    order = np.argsort(tight.rows, kind="stable")
    np.cumsum(np.bincount(tight.rows, minlength=n), out=indptr[1:])
    from semiring.io.networkx_arrays import Neighbors

    found = breadth_first(Graph(Neighbors(list(range(n)), True, True, indptr, tight.cols[order])), sources)
    return Search(found.order, found.parent, distance)


def predecessors(search: Search, tight: Tight, G: Graph) -> dict[Node, list[Node]]:
    """Return for each node the nodes before it on shortest paths, in the order in which they were found."""
    rank = np.empty(len(G), np.int64)
    rank[search.order] = np.arange(search.order.size)
    order = np.lexsort((rank[tight.rows], rank[tight.cols]))
    rows, cols = tight.rows[order], tight.cols[order]
    if G.is_multigraph() and rows.size:
        distinct = np.append(True, (rows[1:] != rows[:-1]) | (cols[1:] != cols[:-1]))
        rows, cols = rows[distinct], cols[distinct]
    pred: dict[Node, list[Node]] = {node: [] for node in G.labels(search.order)}
    for node, before in zip(G.labels(cols), G.labels(rows), strict=True):
        pred[node].append(before)
    return pred


def paths(search: Search, G: Graph, *, backwards: bool = False) -> dict[Node, list[Node]]:
    """Return the path from a source to each node reached; from each node to the source if `backwards`."""
    nodes = G.nodes
    found: dict[int, list[Node]] = {}
    for row, parent in zip(search.order.tolist(), search.parent[search.order].tolist(), strict=True):
        if parent < 0:
            found[row] = [nodes[row]]
        else:
            found[row] = [nodes[row], *found[parent]] if backwards else [*found[parent], nodes[row]]
    return dict(zip(G.labels(search.order), found.values(), strict=True))


def path_to(search: Search, row: int) -> list[int]:
    """Return the rows from a source to `row`."""
    path = [row]
    while (before := int(search.parent[path[-1]])) >= 0:
        path.append(before)
    return path[::-1]


def lengths(search: Search, G: Graph) -> dict[Node, Any]:
    """Return the distance of each node reached, in the order of discovery."""
    return dict(zip(G.labels(search.order), search.distance[search.order].tolist(), strict=True))


__all__ = [
    "ConvergenceFailure",
    "Search",
    "Tight",
    "adjacency",
    "breadth_first",
    "distances",
    "lengths",
    "out_slots",
    "path_to",
    "paths",
    "predecessors",
    "shortest",
]
