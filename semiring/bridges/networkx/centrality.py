"""Centralities: betweenness, closeness, degree, eigenvector, Katz, groups."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from semiring import Vector
from semiring import algorithms as sr
from semiring.exceptions import ConvergenceFailure

from .distances import distance_rows
from .graph import Graph, Node, entries
from .registry import implements, left_to_networkx, refuse
from .sorted_sets import distinct


def as_vector(G: Graph, values: dict[Node, Any]) -> Vector:
    """Return a full Vector of ``{node: value}``; missing nodes have 0, and other keys are ignored."""
    return Vector.from_dense(np.array([values.get(node, 0) for node in G.nodes], np.float64), device=G.device)


@implements()
def betweenness_centrality(
    G: Graph,
    k: int | None = None,
    normalized: bool = True,
    weight: Any = None,
    endpoints: bool = False,
    seed: Any = None,
) -> dict[Node, float]:
    """Return betweenness by node; a sample of k sources is the one that NetworkX draws."""
    graph = _lengths(G, weight)
    if k is None or k == len(G):
        found = left_to_networkx(
            lambda: sr.betweenness_centrality(
                **graph, normalized=normalized, endpoints=endpoints, directed=G.is_directed()
            )
        )
        return G.by_node(found)
    sources = _sample(G, k, seed)
    sums = left_to_networkx(
        lambda: sr.betweenness_centrality(
            **graph, sources=sources, normalized=False, endpoints=endpoints, directed=True
        )
    ).to_numpy()
    if (len(G) if endpoints else len(G) - 1) < 2:
        return G.by_node(sums)
    own, other = _scales(G, k, normalized, endpoints)
    scale = np.full(len(G), other)
    scale[sources] = own
    return G.by_node(sums * scale)


@implements()
def edge_betweenness_centrality(
    G: Graph, k: int | None = None, normalized: bool = True, weight: Any = None, seed: Any = None
) -> dict[Any, float]:
    """Return betweenness by edge; a sample of k sources is the one that NetworkX draws."""
    if G.is_multigraph():
        raise refuse("edge betweenness of a multigraph")
    graph = _lengths(G, weight)
    if k is None:
        found = left_to_networkx(
            lambda: sr.edge_betweenness_centrality(**graph, normalized=normalized, directed=G.is_directed())
        )
        return dict(zip(G.edges(), G.at_edges(found).tolist(), strict=True))
    sources = _sample(G, k, seed)
    found = left_to_networkx(
        lambda: sr.edge_betweenness_centrality(**graph, sources=sources, normalized=False, directed=True)
    )
    if not G.is_directed():
        found = found.ewise_add(found.T, "plus")
    values = G.at_edges(found)
    if len(G) >= 2:
        values = values * _scales(G, k, normalized, endpoints=True)[1]
    return dict(zip(G.edges(), values.tolist(), strict=True))


def _lengths(G: Graph, weight: Any) -> dict[str, Any]:
    """Return the matrix of lengths, which must be positive and finite; of parallel edges the shortest counts."""
    lengths = G.weights(weight)
    if lengths is None:
        return {"A": G.structure}
    if lengths.size and not 0 < lengths.min() <= lengths.max() < np.inf:
        raise refuse("betweenness with lengths that are not positive, or infinite")
    return {"A": G.matrix(weight, "min"), "weight": True}


def _sample(G: Graph, k: int, seed: Any) -> list[int]:
    """Return the rows of the sources that NetworkX draws with this generator."""
    return [G.index[node] for node in seed.sample(list(G.nodes), k)]


def _scales(G: Graph, k: int, normalized: bool, endpoints: bool) -> tuple[float, float]:
    """Return the factors of the sums of k sources: for the sources, whose own paths do not count, and for others."""
    n = len(G) if endpoints else len(G) - 1
    pairs = 1 / (n - 1) if normalized else n / (1 if G.is_directed() else 2)
    if endpoints:
        return pairs / k, pairs / k
    return pairs / (k - 1) if k > 1 else float("nan"), pairs / k


@implements()
def closeness_centrality(
    G: Graph, u: Any = None, distance: Any = None, wf_improved: bool = True
) -> float | dict[Node, float]:
    """Return closeness by node, of one node if `u` is given; distances lead to the node."""
    rows = list(range(len(G))) if u is None else [G.row(u, f"Source {u} is not in G")]
    found: NDArray[np.float64]
    if distance is None:
        found = sr.closeness_centrality(G.structure, rows, wf_improved=wf_improved).to_numpy(0.0)[rows]
    else:
        found = np.array(
            [_closeness(lengths, len(G), wf_improved) for lengths in distance_rows(G, rows, distance, reverse=True)]
        )
    return dict(zip(G.labels(rows), found.tolist(), strict=True)) if u is None else float(found[0])


def _closeness(lengths: NDArray[Any], n: int, wf_improved: bool) -> float:
    total = lengths.sum()
    if not total > 0 or n < 2:
        return 0.0
    share = (len(lengths) - 1.0) / total
    return float(share * ((len(lengths) - 1.0) / (n - 1))) if wf_improved else float(share)


@implements()
def harmonic_centrality(G: Graph, nbunch: Any = None, distance: Any = None, sources: Any = None) -> dict[Node, float]:
    """Return the sum of 1 / distance from each source to each node of `nbunch`."""
    targets = list(dict.fromkeys(G.nbunch(nbunch)))
    if sources is None and distance is None:
        found = sr.harmonic_centrality(G.structure, targets).to_numpy(0.0)[targets].tolist()
        return {node: value or 0 for node, value in zip(G.labels(targets), found, strict=True)}
    starts = list(dict.fromkeys(G.nbunch(sources)))
    is_target, is_start = np.zeros(len(G), np.bool_), np.zeros(len(G), np.bool_)
    is_target[targets], is_start[starts] = True, True
    total = np.zeros(len(G))
    if len(targets) < len(starts):
        for target, (rows, lengths) in zip(targets, _reached(G, targets, distance, reverse=True), strict=True):
            total[target] = np.sum(1 / lengths[is_start[rows] & (lengths != 0)])
    else:
        for rows, lengths in _reached(G, starts, distance, reverse=False):
            counted = is_target[rows] & (lengths != 0)
            total[rows[counted]] += 1 / lengths[counted]
    return {node: value or 0 for node, value in zip(G.labels(targets), total[targets].tolist(), strict=True)}


def _reached(
    G: Graph, rows: list[int], weight: Any, *, reverse: bool
) -> Iterator[tuple[NDArray[np.int64], NDArray[Any]]]:
    return distance_rows(G, rows, weight, reverse=reverse, with_rows=True)


@implements()
def degree_centrality(G: Graph) -> dict[Node, float]:
    """Return degree / (n - 1) by node; a self-loop counts twice."""
    return _degree_centrality(G, G.degrees("both"))


@implements()
def in_degree_centrality(G: Graph) -> dict[Node, float]:
    """Return in-degree / (n - 1) by node."""
    return _degree_centrality(G, G.degrees("in"))


@implements()
def out_degree_centrality(G: Graph) -> dict[Node, float]:
    """Return out-degree / (n - 1) by node."""
    return _degree_centrality(G, G.degrees("out"))


def _degree_centrality(G: Graph, degrees: NDArray[np.int64]) -> dict[Node, float]:
    if len(G) <= 1:
        return dict.fromkeys(G, 1)
    return G.by_node(degrees * (1.0 / (len(G) - 1.0)))


@implements()
def eigenvector_centrality(
    G: Graph, max_iter: int = 100, tol: float = 1.0e-6, nstart: Any = None, weight: Any = None
) -> dict[Node, float]:
    """Return the principal eigenvector of the adjacency matrix, by power iteration."""
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept("cannot compute centrality for the null graph")
    if nstart is not None and all(value == 0 for value in nstart.values()):
        raise nx.NetworkXError("initial vector cannot have all zero values")
    if nstart is not None and set(nstart) != set(G):
        raise refuse("a start vector that is not of all nodes")
    start = None if nstart is None else as_vector(G, nstart)
    return _converged(
        G,
        lambda: sr.eigenvector_centrality(
            G.matrix(weight), weight=G.weights(weight) is not None, start=start, tol=tol, max_iter=max_iter
        ),
        max_iter,
    )


@implements()
def katz_centrality(
    G: Graph,
    alpha: float = 0.1,
    beta: Any = 1.0,
    max_iter: int = 1000,
    tol: float = 1.0e-6,
    nstart: Any = None,
    normalized: bool = True,
    weight: Any = None,
) -> dict[Node, float]:
    """Return x = alpha A' x + beta, by iteration."""
    if len(G) == 0:
        return {}
    try:
        bias: Any = float(beta)
    except (TypeError, ValueError, AttributeError) as error:
        if set(beta) != set(G):
            raise nx.NetworkXError("beta dictionary must have a value for every node") from error
        bias = as_vector(G, beta)
    if nstart is not None and set(nstart) != set(G):
        raise refuse("a start vector that is not of all nodes")
    start = None if nstart is None else as_vector(G, nstart)
    return _converged(
        G,
        lambda: sr.katz_centrality(
            G.matrix(weight), alpha, bias, weight=G.weights(weight) is not None, normalized=normalized, start=start,
            tol=tol, max_iter=max_iter,
        ),
        max_iter,
    )  # fmt: skip


def _converged(G: Graph, compute: Any, max_iter: int) -> dict[Node, float]:
    try:
        return G.by_node(left_to_networkx(compute))
    except ConvergenceFailure as failure:
        raise nx.PowerIterationFailedConvergence(max_iter) from failure


@implements()
def group_degree_centrality(G: Graph, S: Any) -> float:
    """Return the share of the nodes outside the group that are neighbors of it."""
    return _group_degree(G, S, reverse=False)


@implements()
def group_in_degree_centrality(G: Graph, S: Any) -> float:
    """Return the share of the nodes outside the group with an edge into it."""
    return _group_degree(G, S, reverse=True)


@implements()
def group_out_degree_centrality(G: Graph, S: Any) -> float:
    """Return the share of the nodes outside the group with an edge from it."""
    return _group_degree(G, S, reverse=False)


def _group_degree(G: Graph, S: Any, *, reverse: bool) -> float:
    for node in S:
        if node not in G:
            raise nx.NetworkXError(f"The node {node} is not in the {'di' if G.is_directed() else ''}graph.")
    members = [G.index[node] for node in S]
    inside = np.zeros(len(G), np.bool_)
    inside[members] = True
    rows, cols = (G.cols, G.rows) if reverse else (G.rows, G.cols)
    beyond = distinct(cols[inside[rows] & ~inside[cols]])
    return len(beyond) / (len(G) - len(S))


@implements()
def group_closeness_centrality(G: Graph, S: Any, weight: Any = None) -> float:
    """Return the nodes outside the group / the sum of their distances from it."""
    members = set(S)
    rows = [G.row(node) for node in members]
    from .search import breadth_first, shortest

    search = breadth_first(G, rows, reverse=True) if weight is None else shortest(G, rows, weight, reverse=True)[0]
    total = search.distance[search.order].sum()
    outside = len(G) - len(members)
    return float(outside / total) if total else 0


@implements()
def voterank(G: Graph, number_of_nodes: int | None = None) -> list[Node]:
    """Return the elected nodes in order; of equal votes, which are added exactly, the first node is elected."""
    if G.is_multigraph() or G.loops:
        raise refuse("elections with parallel edges or self-loops, whose votes count several times")
    found = left_to_networkx(lambda: sr.voterank(G.structure, number=number_of_nodes))
    rows, turns = entries(found)
    return G.labels(np.asarray(rows)[np.argsort(turns)])
