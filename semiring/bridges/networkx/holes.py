"""Structural holes: constraint and effective size, after Burt.

P(u, v) is the weight between two nodes in both directions, divided by that of all edges of u.  Both measures read a
product of matrices only where an edge is: it is computed under the mask of the edges.
"""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np

from semiring import Matrix, Vector

from .graph import Graph, Node
from .registry import implements, refuse


def _mutual(G: Graph, weight: Any) -> Matrix:
    """M(u, v) = the weights of the edges between u and v in both directions, without zeros."""
    if len(G) == 0:
        raise nx.NetworkXError("Graph has no nodes or edges")
    values = G.weights(weight)
    if values is not None and len(values) and values.min() < 0:
        raise refuse("structural holes with negative weights")
    A = G.matrix(weight)
    return A.dup(dtype=np.float64).ewise_add(A.T.dup(dtype=np.float64), "plus").select(">", 0).wait()


def _scaled(M: Matrix, totals: Vector) -> Matrix:
    """Return the matrix with its rows divided by these numbers."""
    factors = totals.apply("minv").dup()
    return factors.diag().mxm(M, "plus_times").wait()


def _rows(v: Vector) -> Any:
    return v.to_numpy(0.0)


@implements()
def constraint(G: Graph, nodes: Any = None, weight: Any = None) -> dict[Node, float]:
    """Return the sum over the neighbors v of u of (P(u, v) + (P P)(u, v))**2; NaN without neighbors."""
    if nodes is not None:
        raise refuse("the constraint of some nodes")
    M = _mutual(G, weight)
    totals = M.reduce_rowwise("plus").dup()
    P = _scaled(M, totals)
    indirect = P.mxm(P, "plus_times", mask=P.S)
    both = P.ewise_add(indirect, "plus")
    found = _rows(both.ewise_mult(both, "times").reduce_rowwise("plus").dup())
    found[_rows(totals) - 2 * _rows(P.diag()) == 0] = np.nan
    return G.by_node(found)


@implements()
def effective_size(G: Graph, nodes: Any = None, weight: Any = None) -> dict[Node, float]:
    """Return the number of neighbors of u less what is redundant among them; NaN without neighbors."""
    if nodes is not None:
        raise refuse("the effective size of some nodes")
    M = _mutual(G, weight)
    P = _scaled(M, M.reduce_rowwise("plus").dup())
    greatest = M.reduce_rowwise("max").dup()
    if greatest.nvals and float(greatest.reduce("min").value) < float(greatest.reduce("max").value):
        raise refuse("an effective size with different weights")  # NetworkX divides by the maxima of other nodes
    Q = _scaled(M, greatest)
    redundant = P.mxm(Q.T, "plus_times", mask=P.S)
    found = _rows(P.reduce_rowwise("count").dup()) - _rows(redundant.reduce_rowwise("plus").dup())
    found[_rows(P.reduce_rowwise("plus").dup()) - _rows(P.diag()) == 0] = np.nan
    return G.by_node(found)
