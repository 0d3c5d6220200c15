"""PageRank, the Google matrix and HITS."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np

from semiring import algorithms as sr
from semiring.exceptions import ConvergenceFailure

from .centrality import as_vector
from .graph import Graph, Node
from .registry import implements, left_to_networkx, refuse

#: Power iterations for each iteration that NetworkX allows its Lanczos solver.
_STEPS = 20


@implements()
def pagerank(
    G: Graph,
    alpha: float = 0.85,
    personalization: Any = None,
    max_iter: int = 100,
    tol: float = 1.0e-6,
    nstart: Any = None,
    weight: Any = "weight",
    dangling: Any = None,
) -> dict[Node, float]:
    """Return PageRank by node; the iteration ends when the sum of changes is below n tol."""
    n = len(G)
    if n == 0:
        return {}
    if max_iter < 1 or not tol > 0:
        raise nx.PowerIterationFailedConvergence(max_iter)
    seeds = None if personalization is None else as_vector(G, personalization)
    if seeds is not None and float(seeds.reduce("plus").get(0)) == 0:
        raise ZeroDivisionError
    weighted = G.weights(weight) is not None or G.is_multigraph()
    A = G.matrix(weight) if weighted else G.structure
    try:
        ranks = left_to_networkx(
            lambda: sr.pagerank(
                A,
                alpha,
                n * tol,
                max_iter,
                personalization=seeds,
                weight=weighted,
                start=None if nstart is None else as_vector(G, nstart),
                dangling=None if dangling is None else as_vector(G, dangling),
            )
        )
    except ConvergenceFailure as failure:
        raise nx.PowerIterationFailedConvergence(max_iter) from failure
    return G.by_node(ranks)


@implements()
def google_matrix(
    G: Graph,
    alpha: float = 0.85,
    personalization: Any = None,
    nodelist: Any = None,
    weight: Any = "weight",
    dangling: Any = None,
) -> Any:
    """Return the transition probabilities of the walk with teleport as an array."""
    if nodelist is not None and set(nodelist) != set(G):
        raise refuse("a Google matrix of some of the nodes")
    if len(G) == 0:
        return np.zeros((0, 0))
    given = [None if v is None else as_vector(G, v) for v in (personalization, dangling)]
    if given[0] is not None and float(given[0].reduce("plus").get(0)) == 0:
        raise ZeroDivisionError
    weighted = G.weights(weight) is not None or G.is_multigraph()
    A = G.matrix(weight) if weighted else G.structure
    made = left_to_networkx(
        lambda: sr.google_matrix(A, alpha, personalization=given[0], weight=weighted, dangling=given[1])
    )
    array = np.asarray(made.to("cpu").to_dense(0.0))
    order = None if nodelist is None else [G.row(node) for node in nodelist]
    return array if order is None else array[np.ix_(order, order)]


@implements()
def hits(
    G: Graph, max_iter: int = 100, tol: float = 1.0e-8, nstart: Any = None, normalized: bool = True
) -> tuple[dict[Node, float], dict[Node, float]]:
    """Return hubs and authorities by node, each of sum 1."""
    if len(G) == 0:
        return {}, {}
    if max_iter <= 0:
        raise nx.PowerIterationFailedConvergence(max_iter)
    if not normalized:
        raise refuse("hubs and authorities that are not normalized")
    if not len(G.cols):
        raise refuse("hubs and authorities without edges")
    start = None if nstart is None else as_vector(G, nstart)
    weighted = G.weights("weight") is not None or G.is_multigraph()
    try:
        hubs, authorities = left_to_networkx(
            lambda: sr.hits(G.matrix("weight"), weight=weighted, start=start, tol=tol, max_iter=_STEPS * max_iter)
        )
    except ConvergenceFailure as failure:
        raise nx.PowerIterationFailedConvergence(max_iter) from failure
    return G.by_node(np.asarray(hubs.to_numpy())), G.by_node(np.asarray(authorities.to_numpy()))
