"""Communities: modularity, Louvain, Leiden, label propagation, and the quality of a partition."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import networkx as nx
import numpy as np
from networkx.algorithms.community.quality import NotAPartition
from numpy.typing import NDArray

from semiring import Matrix, Vector
from semiring import algorithms as sr

from . import directed_louvain
from .components import groups
from .graph import Graph, Node
from .registry import implements, left_to_networkx, refuse


def _seed(seed: Any) -> int:
    """Return a seed drawn from NetworkX's generator, so that equal seeds give equal communities."""
    return int(seed.randint(0, 2**31 - 1))


def _weighted(G: Graph, weight: Any) -> Matrix:
    if G.is_directed():
        raise refuse("communities of a directed graph by modularity")
    return G.matrix(weight)


def _labels(G: Graph, communities: Any) -> Vector:
    numbers = np.full(len(G), -1)
    for number, community in enumerate(communities):
        for node in community:
            row = G.index.get(node)
            if row is None or numbers[row] >= 0:
                raise NotAPartition(G, communities)
            numbers[row] = number
    if (numbers < 0).any():
        raise NotAPartition(G, communities)
    return Vector.from_dense(numbers, device=G.device)


@implements()
def modularity(G: Graph, communities: Any, weight: Any = "weight", resolution: float = 1) -> float:
    """Return the modularity of a partition."""
    labels = _labels(G, communities if isinstance(communities, list) else list(communities))
    A = G.matrix(weight)
    total = float(A.reduce_scalar("plus").get(0))
    if total == 0:
        raise ZeroDivisionError("division by zero")
    return left_to_networkx(  # type: ignore[no-any-return]
        lambda: sr.modularity(A, labels, resolution=resolution, directed=G.is_directed())
    )


@implements()
def louvain_communities(
    G: Graph,
    weight: Any = "weight",
    resolution: float = 1,
    threshold: float = 0.0000001,
    max_level: int | None = None,
    seed: Any = None,
) -> list[set[Node]]:
    """Return communities of high modularity, of the last level."""
    _check_level(max_level)
    if not len(G.cols):
        return [{node} for node in G.nodes]
    if G.is_directed():
        *_, labels = islice(_directed(G, weight, resolution, threshold, seed), max_level)
        return list(groups(G, labels))
    A = G.matrix(weight)
    found = left_to_networkx(lambda: sr.louvain(A, resolution=resolution, tol=threshold, seed=_seed(seed)))
    return _at_level(G, found, max_level)


def _directed(G: Graph, weight: Any, resolution: float, threshold: float, seed: Any) -> Iterator[NDArray[np.int64]]:
    """Yield the communities of each level of a directed graph."""
    values = G.weights(weight)
    if values is not None and not values.any():
        raise ZeroDivisionError("division by zero")
    return directed_louvain.partitions(G, values, resolution, threshold, seed)


@implements()
def leiden_communities(
    G: Graph, weight: Any = "weight", resolution: float = 1, max_level: int | None = None, seed: Any = None
) -> list[set[Node]]:
    """Return connected communities of high modularity; NetworkX itself has no implementation."""
    _check_level(max_level)
    if not len(G.cols):
        return [{node} for node in G.nodes]
    A = _weighted(G, weight)
    found = left_to_networkx(lambda: sr.leiden(A, resolution=resolution, seed=_seed(seed)))
    return _at_level(G, found, max_level)


def _check_level(max_level: int | None) -> None:
    if max_level is not None and max_level <= 0:
        raise ValueError("max_level argument must be a positive integer or None")


def _at_level(G: Graph, found: sr.Communities, max_level: int | None) -> list[set[Node]]:
    """Return the communities of a level, of the last one by default."""
    labels = found.labels if max_level is None else found.levels[:max_level][-1]
    return list(groups(G, labels.to_numpy()))


@implements()
def asyn_lpa_communities(G: Graph, weight: Any = None, seed: Any = None) -> Iterator[set[Node]]:
    """Yield communities such that no label is more frequent among the neighbors of a node than its own."""
    return _propagated(G, weight, seed)


@implements()
def fast_label_propagation_communities(G: Graph, *, weight: Any = None, seed: Any = None) -> Iterator[set[Node]]:
    """Yield communities such that no label is more frequent among the neighbors of a node than its own."""
    return _propagated(G, weight, seed)


@implements()
def label_propagation_communities(G: Graph) -> Any:
    """Return communities such that no label is more frequent among the neighbors of a node than its own."""
    return dict(enumerate(_propagated(G, None, None))).values()


def _propagated(G: Graph, weight: Any, seed: Any) -> Iterator[set[Node]]:
    if G.is_directed():
        raise refuse("label propagation along directions")
    A = G.matrix(weight)
    start = 0 if seed is None else _seed(seed)
    labels = left_to_networkx(lambda: sr.label_propagation(A, seed=start))
    return groups(G, labels.to_numpy())


@implements()
def partition_quality(G: Graph, partition: Any) -> tuple[float, float]:
    """Return coverage and performance of a partition."""
    number = _labels(G, partition).to_numpy()
    rows, cols = G.edge_rows()
    edges = len(rows)
    inside = int(np.count_nonzero(number[rows] == number[cols]))
    coverage = inside / edges
    if G.is_multigraph():
        return coverage, -1.0
    n, sizes = len(G), np.bincount(number)
    across = (n * n - int(np.sum(sizes * sizes))) // (1 if G.is_directed() else 2)
    pairs = n * (n - 1) // (1 if G.is_directed() else 2)
    return coverage, (inside + across - (edges - inside)) / pairs


def _levels(G: Graph, compute: Any) -> Iterator[list[set[Node]]]:
    """Yield the communities of each level of a hierarchy."""
    if not len(G.cols):
        return iter([[{node} for node in G.nodes]])
    return (list(groups(G, labels.to_numpy())) for labels in left_to_networkx(compute).levels)


@implements()
def louvain_partitions(
    G: Graph, weight: Any = "weight", resolution: float = 1, threshold: float = 0.0000001, seed: Any = None
) -> Iterator[list[set[Node]]]:
    """Yield communities of high modularity, of one level after the other."""
    if G.is_directed() and len(G.cols):
        return (list(groups(G, labels)) for labels in _directed(G, weight, resolution, threshold, seed))
    A = G.matrix(weight)
    return _levels(G, lambda: sr.louvain(A, resolution=resolution, tol=threshold, seed=_seed(seed)))


@implements()
def leiden_partitions(
    G: Graph, weight: Any = "weight", resolution: float = 1, seed: Any = None
) -> Iterator[list[set[Node]]]:
    """Yield connected communities of high modularity, of one level after the other; NetworkX has no implementation."""
    A = _weighted(G, weight)
    return _levels(G, lambda: sr.leiden(A, resolution=resolution, seed=_seed(seed)))


def _blocks(G: Graph, partition: Any) -> NDArray[np.int64]:
    """Return the number of the community of each row; refuse what is no partition, which NetworkX checks otherwise."""
    try:
        return np.asarray(_labels(G, list(partition)).to_numpy())
    except NotAPartition as error:
        raise refuse("communities that are not a partition") from error


@implements()
def intra_community_edges(G: Graph, partition: Any) -> int:
    """Return the number of edges within communities."""
    number = _blocks(G, partition)
    rows, cols = G.edge_rows()
    return int(np.count_nonzero(number[rows] == number[cols]))


@implements()
def inter_community_edges(G: Graph, partition: Any) -> int:
    """Return the number of edges between communities, of parallel ones one."""
    number = _blocks(G, partition)
    rows, cols = G.edge_rows()
    across = number[rows] != number[cols]
    pairs = rows[across] * len(G) + cols[across]
    return len(np.unique(pairs)) if G.is_multigraph() else len(pairs)


@implements()
def inter_community_non_edges(G: Graph, partition: Any) -> int:
    """Return the number of pairs of nodes of two communities that no edge joins."""
    number = _blocks(G, partition)
    sizes = np.bincount(number)
    pairs = len(G) ** 2 - int((sizes * sizes).sum())
    return pairs // (1 if G.is_directed() else 2) - int(inter_community_edges(G, partition))


@implements()
def is_partition(G: Graph, communities: Any) -> bool:
    """Return whether each node is in exactly one community."""
    listed = communities if isinstance(communities, list) else list(communities)
    known = {node for community in listed for node in community if node in G}
    return len(G) == len(known) == sum(map(len, listed))


def _rest(G: Graph, slots: NDArray[np.bool_], values: NDArray[Any] | None = None) -> Matrix:
    """Return the matrix of the edges of some slots."""
    n = len(G)
    chosen = True if values is None else values[slots]
    return Matrix.from_coo(G.rows[slots], G.cols[slots], chosen, shape=(n, n), dup_op="any", device=G.device)


def _central(A: Matrix, weighted: bool) -> Matrix:
    found: Matrix = left_to_networkx(
        lambda: sr.edge_betweenness_centrality(A, weight=weighted, normalized=False, directed=False)
    )
    return found


def _without_central_edges(G: Graph, weight: Any) -> Iterator[list[set[Node]]]:
    """Yield the components whenever they become more, while the edge of greatest betweenness is removed.

    Of edges whose betweenness differs by rounding errors alone, the first is removed.
    """
    values = G.weights(weight)
    slots = G.rows != G.cols
    n = max(len(G), 1)
    known = len(np.unique(sr.connected_components(_rest(G, slots)).to_numpy()))
    while slots.any():
        found = _central(_rest(G, slots, values), values is not None)
        at_rows, at_cols, sums = (np.asarray(part) for part in found.to_coo(device="cpu"))
        sums = np.broadcast_to(sums, at_rows.shape)
        greatest = sums >= sums.max() * (1 - 1e-9)
        central = np.isin(G.rows * n + G.cols, at_rows[greatest] * n + at_cols[greatest]) & slots
        edge = int(np.flatnonzero(central)[0])
        u, v = G.rows[edge], G.cols[edge]
        slots &= ~(((G.rows == u) & (G.cols == v)) | ((G.rows == v) & (G.cols == u)))
        labels = sr.connected_components(_rest(G, slots)).to_numpy()
        if len(np.unique(labels)) > known:
            known = len(np.unique(labels))
            yield list(groups(G, labels))


@implements()
def girvan_newman(G: Graph, most_valuable_edge: Any = None) -> Iterator[tuple[set[Node], ...]]:
    """Yield ever more communities, while the edge of greatest betweenness is removed."""
    if most_valuable_edge is not None or G.is_directed() or G.is_multigraph():
        raise refuse("a function that chooses edges, or communities of a directed graph or a multigraph")
    if len(G.cols) == 0:
        return iter([tuple({node} for node in G.nodes)])
    return (tuple(parts) for parts in _without_central_edges(G, None))


@implements()
def edge_betweenness_partition(G: Graph, number_of_sets: int, *, weight: Any = None) -> list[set[Node]]:
    """Return so many communities, by removal of the edges of greatest betweenness."""
    if number_of_sets <= 0:
        raise nx.NetworkXError("number_of_sets must be >0")
    if number_of_sets == 1:
        return [set(G)]
    if number_of_sets == len(G):
        return [{node} for node in G]
    if number_of_sets > len(G):
        raise nx.NetworkXError("number_of_sets must be <= len(G)")
    values = G.weights(weight)
    if G.is_directed() or G.is_multigraph() or G.loops or (values is not None and (values <= 0).any()):
        raise refuse("communities of directed graphs, multigraphs or with self-loops, or weights that are not positive")
    parts = list(groups(G, sr.connected_components(G.structure).to_numpy()))
    if len(parts) >= number_of_sets:
        return parts
    return next(parts for parts in _without_central_edges(G, weight) if len(parts) >= number_of_sets)
