"""Communities: modularity, Louvain, Leiden, label propagation, and the quality of a partition."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from networkx.algorithms.community.quality import NotAPartition

from semiring import Matrix, Vector
from semiring import algorithms as sr

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
    if max_level is not None:
        if max_level <= 0:
            raise ValueError("max_level argument must be a positive integer or None")
        raise refuse("a number of levels")
    if not len(G.cols):
        return [{node} for node in G.nodes]
    A = _weighted(G, weight)
    found = left_to_networkx(lambda: sr.louvain(A, resolution=resolution, tol=threshold, seed=_seed(seed)))
    return list(groups(G, found.labels.to_numpy()))


@implements()
def leiden_communities(
    G: Graph, weight: Any = "weight", resolution: float = 1, max_level: int | None = None, seed: Any = None
) -> list[set[Node]]:
    """Return connected communities of high modularity; NetworkX itself has no implementation."""
    if max_level is not None:
        if max_level <= 0:
            raise ValueError("max_level argument must be a positive integer or None")
        raise refuse("a number of levels")
    if not len(G.cols):
        return [{node} for node in G.nodes]
    A = _weighted(G, weight)
    found = left_to_networkx(lambda: sr.leiden(A, resolution=resolution, seed=_seed(seed)))
    return list(groups(G, found.labels.to_numpy()))


@implements()
def asyn_lpa_communities(G: Graph, weight: Any = None, seed: Any = None) -> Iterator[set[Node]]:
    """Yield communities such that no label is more frequent among the neighbours of a node than its own."""
    return _propagated(G, weight, seed)


@implements()
def fast_label_propagation_communities(G: Graph, *, weight: Any = None, seed: Any = None) -> Iterator[set[Node]]:
    """Yield communities such that no label is more frequent among the neighbours of a node than its own."""
    return _propagated(G, weight, seed)


@implements()
def label_propagation_communities(G: Graph) -> Any:
    """Return communities such that no label is more frequent among the neighbours of a node than its own."""
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
