"""Minimum spanning trees: `scipy.sparse.csgraph.minimum_spanning_tree`."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csgraph as scipy_csgraph

from semiring import algorithms

from .conversion import in_place_of, sparse_like, to_csr, weighted


@in_place_of(scipy_csgraph.minimum_spanning_tree, least=np.inf)
def minimum_spanning_tree(csgraph: Any, overwrite: bool = False) -> Any:
    """T = the edges of a spanning tree of each component, of the least total weight, each in one direction.

    Parameters
    ----------
    csgraph : N x N array or sparse matrix, of SciPy or CuPy
        The entries (u, v) and (v, u) are one edge, of the lesser weight.
    overwrite : bool
        Whether SciPy may change the graph; graphs on a GPU stay unchanged.

    Returns
    -------
    N x N sparse matrix of float64, in CSR format
        An edge is in the direction in which the graph has this weight: if in both, from the smaller end.  Edges of
        weight 0 join components, and are not in the result.

    Raises
    ------
    ValueError
        If the graph is not square, or one on a GPU has a weight of NaN.

    Notes
    -----
    Which of several trees is returned is unspecified.  SciPy computes the tree of a graph in host memory.  On a GPU
    at most log2(N) rounds of cost O(the edges between components + N).  Synchronises a few times a round.

    Source: Borůvka, "O jistém problému minimálním", 1926.

    Examples
    --------
    >>> sr.csgraph.minimum_spanning_tree(np.array([[0, 5, 2], [0, 0, 1], [0, 0, 0]])).toarray().tolist()
    [[0.0, 0.0, 2.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]
    """
    csr = to_csr(csgraph)
    A = weighted(csr)
    forest = algorithms.minimum_spanning_forest(A.ewise_add(A.T, "min"))
    stored = A.dup(mask=A.ewise_mult(forest, "eq").V)
    # Of an edge that is stored in both directions with one weight: the direction from the smaller end.
    upper = stored.select("triu", 1)
    lower = stored.select("tril", -1)
    tree = lower.dup(mask=~upper.T.S).ewise_add(upper, "first").select("!=", 0)
    offsets, columns, weights = tree.to_csr(np.float64, index_dtype=np.int32)
    return sparse_like(csr, weights.copy(), columns.copy(), offsets.copy())
