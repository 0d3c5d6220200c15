"""Similarity of nodes by the similarity of their neighbors."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np

from semiring import Matrix, binary

from .convert import whole
from .graph import Graph
from .registry import implements, refuse

#: How much two values differ beyond the relative tolerance of `numpy.allclose`.
_difference = binary.register_anonymous("abs(x - y) - 1e-5 * abs(y)", "difference")


@implements()
def simrank_similarity(
    G: Graph,
    source: Any = None,
    target: Any = None,
    importance_factor: float = 0.9,
    max_iterations: int = 1000,
    tolerance: float = 0.0001,
) -> Any:
    """Return S = max(I, c W' S W), where the columns of W are the shares of the edges into each node."""
    for name, node in (("Source", source), ("Target", target)):
        if node is not None and node not in G:
            raise nx.NodeNotFound(f"{name} node {node} not in G")
    if len(G) == 0 or max_iterations < 1:
        raise refuse("no nodes or no iterations")
    weights = whole(G).weights("weight")  # NetworkX converts no weights, and uses them
    lengths = np.ones(len(G.cols)) if weights is None else weights.astype(np.float64)
    sums = np.bincount(G.cols, weights=lengths, minlength=len(G))[G.cols]
    W = G.of_slots(lengths / np.where(sums == 0, 1, sums), "plus")
    S, steps, converged = Matrix.from_dense(np.eye(len(G)), device=G.device), 0, False
    while not converged and steps < max_iterations:
        before = S
        S = W.T.mxm(before, "plus_times").dup().mxm(W, "plus_times").apply("times", right=importance_factor).dup()
        S.setdiag(1.0)
        converged = before.ewise_add(S, _difference).reduce_scalar("max").get(0.0) <= tolerance
        steps += 1
    if steps == max_iterations:
        raise nx.ExceededMaxIterations(f"simrank did not converge after {max_iterations} iterations.")
    found = S.to_numpy(0.0)
    if source is None:
        return {node: G.by_node(row) for node, row in zip(G.nodes, found, strict=True)}
    row = found[G.index[source]]
    return G.by_node(row) if target is None else float(row[G.index[target]])
