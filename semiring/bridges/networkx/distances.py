"""Distances between all pairs: eccentricities, averages, efficiency."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal, overload

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from semiring import algorithms as sr

from .graph import Graph, Node, entries
from .registry import implements, refuse
from .search import distances

#: Levels of this many (source, node) pairs are computed together.
_PAIRS = 2**22


@overload
def distance_rows(
    G: Graph, rows: Sequence[int], weight: Any = None, *, reverse: bool = False, with_rows: Literal[False] = False
) -> Iterator[NDArray[Any]]: ...
@overload
def distance_rows(
    G: Graph, rows: Sequence[int], weight: Any = None, *, reverse: bool = False, with_rows: Literal[True]
) -> Iterator[tuple[NDArray[np.int64], NDArray[Any]]]: ...
def distance_rows(
    G: Graph, rows: Sequence[int], weight: Any = None, *, reverse: bool = False, with_rows: bool = False
) -> Iterator[Any]:
    """Yield for each row its distances to the rows reached, itself included; with `with_rows` also those rows."""
    if weight is not None:
        check_lengths(G, weight)
        for row in rows:
            found = entries(distances(G, [row], weight, reverse=reverse))
            yield found if with_rows else found[1]
        return
    A = G.structure
    if reverse and G.is_directed():
        A = G.kept("reversed", lambda: G.structure.T.dup())
    size = max(_PAIRS // max(len(G), 1), 1)
    for first in range(0, len(rows), size):
        levels = sr.bfs_levels(A, list(rows[first : first + size]))
        indptr, cols, values = (np.asarray(part) for part in levels.to_csr(device="cpu"))
        if values.size != cols.size:
            values = np.broadcast_to(values, cols.shape)
        for start, end in zip(indptr[:-1].tolist(), indptr[1:].tolist(), strict=True):
            yield (cols[start:end], values[start:end]) if with_rows else values[start:end]


def check_lengths(G: Graph, weight: Any) -> None:
    """Refuse negative lengths: whether Dijkstra's algorithm in NetworkX raises depends on the order of the nodes."""
    values = G.weights(weight)
    if values is not None and values.size and values.min() < 0:
        raise refuse(f"edge attribute {weight!r} holds negative lengths")


@implements()
def eccentricity(G: Graph, v: Any = None, sp: Any = None, weight: Any = None) -> Any:
    """Return the greatest distance from each node of an `nbunch`."""
    if sp is not None:
        raise refuse("given path lengths")
    chosen = G.nbunch(v)
    found = _eccentricities(G, chosen, weight)
    if v is not None and v in G:
        return found[0]
    return dict(zip(G.labels(chosen), found, strict=True))


def _eccentricities(G: Graph, rows: list[int], weight: Any) -> list[Any]:
    if not rows:
        return []
    whole = weight is None and not G.is_directed() and len(rows) == len(G)
    if whole and sr.is_connected(G.structure):
        found: list[Any] = sr.eccentricity(G.structure).to_numpy().tolist()
        return found
    greatest = []
    for lengths in distance_rows(G, rows, weight):
        if len(lengths) != len(G):
            raise nx.NetworkXError(
                "Found infinite path length because the digraph is not strongly connected"
                if G.is_directed()
                else "Found infinite path length because the graph is not connected"
            )
        greatest.append(lengths.max().item())
    return greatest


@implements()
def diameter(G: Graph, e: Any = None, usebounds: bool = False, weight: Any = None) -> Any:
    """Return the greatest eccentricity."""
    if e is None and weight is None and not G.is_directed() and len(G) and sr.is_connected(G.structure):
        return sr.diameter(G.structure)
    return max(_given(G, e, usebounds, weight).values())


@implements()
def radius(G: Graph, e: Any = None, usebounds: bool = False, weight: Any = None) -> Any:
    """Return the least eccentricity."""
    if e is None and weight is None and not G.is_directed() and len(G) and sr.is_connected(G.structure):
        return sr.radius(G.structure)
    return min(_given(G, e, usebounds, weight).values())


@implements()
def center(G: Graph, e: Any = None, usebounds: bool = False, weight: Any = None) -> list[Node]:
    """Return the nodes of least eccentricity."""
    if e is None and weight is None and not G.is_directed() and not usebounds and len(G) == 0:
        raise nx.NetworkXPointlessConcept("G has no nodes.")
    found = _given(G, e, usebounds, weight)
    least = min(found.values())
    return [node for node, value in found.items() if value == least]


@implements()
def periphery(G: Graph, e: Any = None, usebounds: bool = False, weight: Any = None) -> list[Node]:
    """Return the nodes of greatest eccentricity."""
    found = _given(G, e, usebounds, weight)
    most = max(found.values())
    return [node for node, value in found.items() if value == most]


def _given(G: Graph, e: Any, usebounds: bool, weight: Any) -> dict[Node, Any]:
    if e is not None:
        given: dict[Node, Any] = e
        return given
    try:
        return G.by_node(_eccentricities(G, list(range(len(G))), weight))
    except nx.NetworkXError:
        if usebounds is True and not G.is_directed():
            raise nx.NetworkXError("Cannot compute metric because graph is not connected.") from None
        raise


@implements()
def average_shortest_path_length(G: Graph, weight: Any = None, method: str | None = None) -> float:
    """Return the mean distance over the ordered pairs of different nodes."""
    supported = ["unweighted", "dijkstra", "bellman-ford", "floyd-warshall", "floyd-warshall-numpy"]
    if method is None:
        method = "unweighted" if weight is None else "dijkstra"
    if method not in supported:
        raise ValueError(f"method not supported: {method}")
    n = len(G)
    if n == 0:
        raise nx.NetworkXPointlessConcept("the null graph has no paths, thus there is no average shortest path length")
    if n == 1:
        return 0
    if not _is_connected(G):
        raise nx.NetworkXError(f"Graph is not {'strongly ' if G.is_directed() else ''}connected.")
    total = sum(
        lengths.sum().item() for lengths in distance_rows(G, range(n), None if method == "unweighted" else weight)
    )
    return float(total / (n * (n - 1)))


def _is_connected(G: Graph) -> bool:
    if not G.is_directed():
        return sr.is_connected(G.structure)
    labels = sr.strongly_connected_components(G.structure).to_numpy()
    return bool((labels == labels[0]).all())


@implements()
def wiener_index(G: Graph, weight: Any = None) -> float:
    """Return the sum of the distances over the pairs of nodes."""
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
    if not _is_connected(G):
        return float("inf")
    total = sum(lengths.sum().item() for lengths in distance_rows(G, range(len(G)), weight))
    return total if G.is_directed() else total / 2  # type: ignore[no-any-return]


@implements()
def global_efficiency(G: Graph) -> float:
    """Return the mean of 1 / distance over the ordered pairs of different nodes."""
    n = len(G)
    if n < 2:
        return 0
    return float(sr.harmonic_centrality(G.structure).to_numpy(0.0).sum() / (n * (n - 1)))


@implements()
def local_efficiency(G: Graph) -> float:
    """Return the mean over the nodes of the efficiency of the graph of their neighbors."""
    if G.loops or G.is_multigraph():
        raise refuse("local efficiency of a multigraph or a graph with self-loops")
    if len(G) == 0:
        raise ZeroDivisionError("division by zero")
    return float(sr.local_efficiency(G.structure).to_numpy().sum() / len(G))


@implements()
def harmonic_diameter(G: Graph, sp: Any = None, *, weight: Any = None) -> float:
    """Return n (n - 1) / the sum of 1 / distance."""
    if sp is not None:
        raise refuse("given path lengths")
    n, total = len(G), 0.0
    for lengths in distance_rows(G, range(n), weight):
        total += float(np.sum(1 / lengths[lengths != 0]))
    if total != 0:
        return n * (n - 1) / total
    return float("inf") if n > 1 else float("nan")
