"""What few edges show: triads, triangles, local bridges, boundaries, layers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semiring import algorithms as sr

from .cohesion import _without_loops
from .components import strong
from .depth_first import distinct_neighbors
from .graph import Graph, Node
from .registry import implements, refuse
from .search import out_slots
from .sorted_sets import among, distinct
from .structure import _mask, is_tournament

#: Paths of two edges that are tested together for the third edge.
_WEDGES = 2**20


@implements()
def triadic_census(G: Graph, nodelist: Any = None) -> dict[str, int]:
    """Return the number of triples of nodes with each structure; of those with a node of a list."""
    if nodelist is None:
        return sr.triad_census(G.structure)
    rows = set(G.nbunch(nodelist))
    if len(nodelist) != len(rows):
        raise ValueError("nodelist includes duplicate nodes or nodes not in G")
    if G.loops:
        raise refuse("the triads of some nodes of a graph with self-loops")
    others = np.setdiff1d(np.arange(len(G)), list(rows))
    without = sr.triad_census(sr.induced_subgraph(G.structure, others))
    return {name: count - without[name] for name, count in sr.triad_census(G.structure).items()}


@implements()
def all_triangles(G: Graph, nbunch: Any = None) -> Iterator[tuple[Node, Node, Node]]:
    """Yield the nodes of each triangle once; of those with a node of an `nbunch`."""
    indptr, cols = distinct_neighbors(G)
    first = np.array(list(dict.fromkeys(G.nbunch(nbunch))), np.int64)
    number = np.full(len(G), -1)
    number[first] = np.arange(first.size)
    if nbunch is not None:
        near = cols[out_slots(indptr, first)[1]]
        near = near[number[near] < 0]
        number[near] = first.size + np.arange(near.size)
    n = max(len(G), 1)
    rows = np.repeat(np.arange(len(G)), np.diff(indptr))
    order = np.argsort(number[rows], kind="stable")  # the nodes of the `nbunch` as they are given
    rows, cols = rows[order], cols[order]
    forward = (number[rows] >= 0) & (number[cols] > number[rows])
    rows, cols = rows[forward], cols[forward]
    bounds = np.append(0, np.cumsum(np.bincount(rows, minlength=len(G))))
    following, stored = cols[np.argsort(rows, kind="stable")], np.sort(rows * n + cols)
    begins = np.flatnonzero(number[rows] < first.size)
    wedges = int(np.diff(bounds)[cols[begins]].sum())

    def triangles() -> Iterator[tuple[Node, Node, Node]]:
        for chunk in np.array_split(begins, 1 + wedges // _WEDGES):
            which, slots = out_slots(bounds, cols[chunk])
            u, v, w = rows[chunk][which], cols[chunk][which], following[slots]
            closed = np.searchsorted(stored, u * n + w, "right") > np.searchsorted(stored, u * n + w)
            yield from zip(G.labels(u[closed]), G.labels(v[closed]), G.labels(w[closed]), strict=True)

    return triangles()


@implements()
def local_bridges(G: Graph, with_span: bool = True, weight: Any = None) -> Iterator[tuple[Any, ...]]:
    """Yield the edges whose ends have no common neighbor, with the distance of the ends without the edge."""
    if with_span is True and weight is not None:
        raise refuse("spans of weighted edges")
    A = G.structure
    near = A.mxm(A, "any_pair", mask=A.S).dup()
    found = A.dup(mask=~near.S).to_coo(device="cpu")
    n = max(len(G), 1)
    rows, cols = G.edge_rows()
    bridge = among(rows * n + cols, np.asarray(found[0]) * n + np.asarray(found[1]))
    rows, cols = rows[bridge], cols[bridge]
    if with_span is not True:
        return iter(list(zip(G.labels(rows), G.labels(cols), strict=True)))
    seen = np.full(len(G), -1)
    return (
        (G.nodes[u], G.nodes[v], _detour(G, u, v, seen, number))
        for number, (u, v) in enumerate(zip(rows.tolist(), cols.tolist(), strict=True))
    )


def _detour(G: Graph, u: int, v: int, seen: NDArray[np.int64], number: int) -> float:
    """Return the distance from u to v without the edge between them; `seen` holds the last search of each row."""
    indptr, cols = G.neighbors.indptr, G.cols
    frontier = cols[indptr[u] : indptr[u + 1]]
    frontier = frontier[(frontier != v) & (frontier != u)]
    seen[u] = seen[frontier] = number
    steps = 1
    while frontier.size:
        steps += 1
        reached = cols[out_slots(indptr, frontier)[1]]
        frontier = distinct(reached[seen[reached] != number])
        seen[frontier] = number
        if seen[v] == number:
            return steps
    return float("inf")


@implements()
def onion_layers(G: Graph) -> dict[Node, int]:
    """Return for each node the round in which it is removed with those of least degree."""
    _without_loops(G, "Input graph contains")
    indptr, cols = G.neighbors.indptr, G.cols
    degree, layer = G.degrees().copy(), np.zeros(len(G), np.int64)
    removed = np.flatnonzero(degree == 0)
    order, current, core = [removed], 1, 1
    layer[removed] = 1
    left = np.flatnonzero(degree)
    current += bool(removed.size)
    frontier = left[degree[left] <= core]
    while left.size:
        if not frontier.size:
            left = left[layer[left] == 0]
            if not left.size:
                break
            core = max(core, int(degree[left].min()))
            frontier = left[degree[left] <= core]
        layer[frontier] = current
        order.append(frontier[np.argsort(degree[frontier], kind="stable")])
        current += 1
        reached = cols[out_slots(indptr, frontier)[1]]
        reached, count = np.unique(reached[layer[reached] == 0], return_counts=True)
        degree[reached] -= count
        frontier = reached[degree[reached] <= core]
    listed = np.concatenate(order)
    return dict(zip(G.labels(listed), layer[listed].tolist(), strict=True))


@implements()
def edge_boundary(
    G: Graph, nbunch1: Any, nbunch2: Any = None, data: Any = False, keys: bool = False, default: Any = None
) -> Iterator[tuple[Any, ...]]:
    """Yield the edges that leave a set of nodes; with a second set, those between the two."""
    inside = _mask(G, {node for node in nbunch1 if node in G})
    rows, cols = G.rows, G.cols
    if nbunch2 is None:
        chosen = inside[rows] & ~inside[cols]
    else:
        other = _mask(G, set(nbunch2))
        chosen = inside[rows] & (other[cols] | (inside[cols] & other[rows]))
        if not G.is_directed():
            chosen &= ~inside[cols] | (rows <= cols)  # an edge inside has two slots
    slots = np.flatnonzero(chosen).tolist()
    parts: list[list[Any]] = [G.labels(rows[slots]), G.labels(cols[slots])]
    if keys and G.neighbors.keys is not None:
        parts.append([G.neighbors.keys[slot] for slot in slots])
    if data is not False:
        found = [G.edge_attributes(slot) for slot in slots]
        parts.append(found if data is True else [attributes.get(data, default) for attributes in found])
    return iter(list(zip(*parts, strict=True)))


@implements()
def score_sequence(G: Graph) -> list[int]:
    """Return the numbers of edges from the nodes of a tournament, in ascending order."""
    found: list[int] = np.sort(G.degrees("out")).tolist()
    return found


@implements()
def is_reachable(G: Graph, s: Node, t: Node) -> bool:
    """Return whether a path leads from one node of a tournament to another."""
    if not is_tournament(G) or s not in G or t not in G:
        raise refuse("a graph that is no tournament, or nodes that are not in it")
    return sr.has_path(G.structure, G.index[s], G.index[t])


@implements()
def tournament_is_strongly_connected(G: Graph) -> bool:
    """Return whether paths lead between all nodes of a tournament."""
    if not is_tournament(G):
        raise refuse("a graph that is no tournament")
    return bool((strong(G) == 0).all())
