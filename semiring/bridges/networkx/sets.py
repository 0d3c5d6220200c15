"""Independent sets, matchings and spanning trees."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from semiring import algorithms as sr

from .bipartite import sets as bipartite_sets
from .communities import _seed
from .convert import subgraph
from .graph import Graph, Node, entries
from .registry import implements, refuse
from .sorted_sets import distinct


@implements()
def maximal_independent_set(G: Graph, nodes: Any = None, seed: Any = None) -> list[Node]:
    """Return nodes without edges between them, to which none can be added."""
    given = set(nodes) if nodes else set()
    if not given and len(G) == 0:
        raise IndexError("Cannot choose from an empty sequence")
    if not given.issubset(set(G)):
        raise nx.NetworkXUnfeasible(f"{given} is not a subset of the nodes of G")
    rows = [G.index[node] for node in given]
    excluded = np.zeros(len(G), np.bool_)
    excluded[rows] = True
    near = np.zeros(len(G), np.bool_)
    near[G.cols[excluded[G.rows]]] = True
    if (near & excluded).any():
        raise nx.NetworkXUnfeasible(f"{given} is not an independent set of G")
    free = np.flatnonzero(~(near | excluded))
    A = G.structure if free.size == len(G) else sr.induced_subgraph(G.structure, free)
    found = entries(sr.maximal_independent_set(A, seed=_seed(seed)))[0]
    return G.labels(rows) + G.labels(free[found])


@implements()
def maximal_matching(G: Graph) -> set[tuple[Node, Node]]:
    """Return edges without common nodes, to which none can be added."""
    rows, mates = entries(sr.maximal_matching(G.structure))
    once = rows < mates
    return set(zip(G.labels(rows[once]), G.labels(mates[once]), strict=True))


@implements()
def min_maximal_matching(G: Graph) -> set[tuple[Node, Node]]:
    """Return edges without common nodes, to which none can be added: at most twice as many as the fewest such."""
    if G.is_directed():
        raise nx.NetworkXNotImplemented("not implemented for directed type")
    if G.is_multigraph():
        raise nx.NetworkXNotImplemented("not implemented for multigraph type")
    return maximal_matching(G)


@implements()
def hopcroft_karp_matching(G: Graph, top_nodes: Any = None) -> dict[Node, Node]:
    """Return a bipartite matching with the most edges, as a dictionary in both directions."""
    if G.is_directed():
        raise refuse("a matching of a directed graph")
    left, _ = bipartite_sets(G, top_nodes)
    rows = np.array([G.index[node] for node in left], np.int64)
    if not rows.size:
        return {}
    number, mates = entries(sr.maximum_bipartite_matching(G.structure[rows, :].dup()))
    tops, bottoms = G.labels(rows[number]), G.labels(mates)
    return dict(zip([*tops, *bottoms], [*bottoms, *tops], strict=True))


implements(name="eppstein_matching")(hopcroft_karp_matching)


def _tree_slots(G: Graph, weight: Any, minimum: bool) -> NDArray[np.int64]:
    """Return the first slots of the edges of a spanning forest of least or greatest weight, sorted by weight."""
    if G.neighbors.once is None:
        raise nx.NetworkXNotImplemented("not implemented for directed type")
    if not len(G.cols):
        return np.zeros(0, np.int64)
    edges = np.flatnonzero(G.neighbors.once)
    values = G.weights(weight)
    lengths = np.zeros(len(edges)) if values is None else values[edges]
    order = np.argsort(lengths if minimum else -lengths, kind="stable")
    # Kruskal's algorithm takes edges of equal weight as they are listed: ranks make the forest the only one.
    rank = np.empty(len(edges), np.int64)
    rank[order] = np.arange(len(edges))
    forest = sr.minimum_spanning_forest(G.of_slots(rank[G.neighbors.edge], "min"))
    chosen = distinct(np.asarray(forest.to_coo(device="cpu")[2]))
    slots: NDArray[np.int64] = edges[order[chosen]]
    return slots


def _check_algorithm(G: Graph, algorithm: str) -> None:
    if algorithm not in ("kruskal", "prim", "boruvka", "borůvka"):
        raise ValueError(f"{algorithm} is not a valid choice for an algorithm.")
    if algorithm.startswith("bor") and G.is_multigraph():
        raise nx.NetworkXNotImplemented("not implemented for multigraph type")


def _spanning_edges(
    G: Graph, minimum: bool, algorithm: str, weight: Any, keys: bool, data: bool
) -> Iterator[tuple[Any, ...]]:
    _check_algorithm(G, algorithm)
    slots = _tree_slots(G, weight, minimum)
    parts: list[list[Any]] = [G.labels(G.rows[slots]), G.labels(G.cols[slots])]
    if G.neighbors.keys is not None and keys:
        parts.append([G.neighbors.keys[slot] for slot in slots.tolist()])
    if data:
        parts.append([G.edge_attributes(slot) for slot in slots.tolist()])
    return iter(list(zip(*parts, strict=True)))


@implements()
def minimum_spanning_edges(
    G: Graph,
    algorithm: str = "kruskal",
    weight: Any = "weight",
    keys: bool = True,
    data: bool = True,
    ignore_nan: bool = False,
) -> Iterator[tuple[Any, ...]]:
    """Yield the edges of a spanning forest of least weight, lightest first."""
    return _spanning_edges(G, True, algorithm, weight, keys, data)


@implements()
def maximum_spanning_edges(
    G: Graph,
    algorithm: str = "kruskal",
    weight: Any = "weight",
    keys: bool = True,
    data: bool = True,
    ignore_nan: bool = False,
) -> Iterator[tuple[Any, ...]]:
    """Yield the edges of a spanning forest of greatest weight, heaviest first."""
    return _spanning_edges(G, False, algorithm, weight, keys, data)


def _spanning_tree(G: Graph, minimum: bool, weight: Any, algorithm: str) -> nx.Graph:
    _check_algorithm(G, algorithm)
    return subgraph(G, np.ones(len(G), np.bool_), _tree_slots(G, weight, minimum))


@implements()
def minimum_spanning_tree(
    G: Graph, weight: Any = "weight", algorithm: str = "kruskal", ignore_nan: bool = False
) -> nx.Graph:
    """Return a spanning forest of least weight."""
    return _spanning_tree(G, True, weight, algorithm)


@implements()
def maximum_spanning_tree(
    G: Graph, weight: Any = "weight", algorithm: str = "kruskal", ignore_nan: bool = False
) -> nx.Graph:
    """Return a spanning forest of greatest weight."""
    return _spanning_tree(G, False, weight, algorithm)


@implements()
def kruskal_mst_edges(
    G: Graph,
    minimum: bool,
    weight: Any = "weight",
    keys: bool = True,
    data: bool = True,
    ignore_nan: bool = False,
    partition: Any = None,
) -> Iterator[tuple[Any, ...]]:
    """Yield the edges of a spanning forest of least or greatest weight, in this order."""
    if partition is not None or G.is_directed():
        raise refuse("a spanning forest with a partition or of a directed graph")
    return _spanning_edges(G, minimum, "kruskal", weight, keys, data)


@implements()
def prim_mst_edges(
    G: Graph,
    minimum: bool,
    weight: Any = "weight",
    keys: bool = True,
    data: bool = True,
    ignore_nan: bool = False,
) -> Iterator[tuple[Any, ...]]:
    """Yield the edges of a spanning forest of least or greatest weight, in this order."""
    if G.is_directed():
        raise refuse("a spanning forest of a directed graph")
    return _spanning_edges(G, minimum, "prim", weight, keys, data)


@implements()
def boruvka_mst_edges(
    G: Graph,
    minimum: bool = True,
    weight: Any = "weight",
    keys: bool = False,
    data: bool = True,
    ignore_nan: bool = False,
) -> Iterator[tuple[Any, ...]]:
    """Yield the edges of a spanning forest of least or greatest weight, in this order."""
    if G.is_directed():
        raise refuse("a spanning forest of a directed graph")
    return _spanning_edges(G, minimum, "boruvka", weight, keys, data)
