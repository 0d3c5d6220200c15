"""Minimum spanning trees: `scipy.sparse.csgraph.minimum_spanning_tree`.

SciPy sorts all edges.  Of a dense graph in host memory it gets the lightest few, from which most of the tree comes,
and then those of the others that join components of these (Filter-Kruskal).  On a GPU: Borůvka's algorithm.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csgraph as scipy_csgraph

from semiring import algorithms
from semiring.memory.arrays import Array

from .conversion import in_place_of, is_for_scipy, sparse_like, to_csr, weighted

_scipys = scipy_csgraph.minimum_spanning_tree
_scipys_components = scipy_csgraph.connected_components
# The fewest entries a vertex of graphs that are filtered, lightest entries a vertex that are sorted first, and weights
# from which the heaviest of these is estimated.
_DENSE, _LIGHTEST, _SAMPLE = 8, 3, 10_000


@in_place_of(_scipys, least=100_000)
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
    Which of several trees is returned is unspecified.  SciPy computes the tree of a graph in host memory, of one with
    eight entries a vertex or more from its lightest edges first.  On a GPU at most log2(N) rounds of cost O(the edges
    between components + N).  Synchronizes a few times a round.

    Sources: Borůvka, "O jistém problému minimálním", 1926; Osipov, Sanders, Singler, "The Filter-Kruskal Minimum
    Spanning Tree Algorithm", ALENEX 2009.

    Examples
    --------
    >>> sr.csgraph.minimum_spanning_tree(np.array([[0, 5, 2], [0, 0, 1], [0, 0, 0]])).toarray().tolist()
    [[0.0, 0.0, 2.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]
    """
    csr = to_csr(csgraph)
    if is_for_scipy(csr, True):
        return _filtered(csr) if csr.nnz >= _DENSE * csr.shape[0] else _scipys(csr, overwrite)
    A = weighted(csr)
    forest = algorithms.minimum_spanning_forest(A.ewise_add(A.T, "min"))
    stored = A.dup(mask=A.ewise_mult(forest, "eq").V)
    # Of an edge that is stored in both directions with one weight: the direction from the smaller end.
    upper = stored.select("triu", 1)
    lower = stored.select("tril", -1)
    tree = lower.dup(mask=~upper.T.S).ewise_add(upper, "first").select("!=", 0)
    offsets, columns, weights = tree.to_csr(np.float64, index_dtype=np.int32)
    return sparse_like(csr, weights.copy(), columns.copy(), offsets.copy())


def _filtered(csr: Any) -> Any:
    """Return the tree of the lightest edges, and of the others that join its components."""
    data = csr.data.astype(np.float64, copy=False)
    n, m = csr.shape[0], data.size
    sample = data[:: max(1, m // _SAMPLE)]
    most = np.quantile(sample, min(1.0, _LIGHTEST * n / m), method="lower")
    is_light = data <= most
    if 2 * np.count_nonzero(is_light) > m:  # many equal weights, or NaN among them
        return _scipys(csr)
    light = _entries(csr, data, is_light)
    _, label = _scipys_components(light, directed=False)
    joins = np.repeat(label, np.diff(csr.indptr)) != label[csr.indices]
    joins[is_light] = False
    tree, between = _scipys(light, overwrite=True), np.flatnonzero(joins)
    if between.size == 0:
        return tree
    # The tree of the components: its weights are ranks, by which its edges are found again.
    ascending = between[np.argsort(data[between], kind="stable")]
    rows = label[np.searchsorted(csr.indptr, ascending, side="right") - 1]
    ranks = np.arange(1.0, ascending.size + 1)
    found = _scipys(_sorted_rows(csr, ranks, rows, label[csr.indices[ascending]]), overwrite=True)
    chosen = np.zeros(m, bool)
    chosen[ascending[found.data.astype(np.int64) - 1]] = True
    return tree + _entries(csr, data, chosen)


def _entries(csr: Any, data: Array, keep: Array) -> Any:
    """Return some entries of a matrix."""
    ends = np.concatenate([np.zeros(1, csr.indptr.dtype), np.cumsum(keep, dtype=csr.indptr.dtype)])
    return sparse_like(csr, data[keep], csr.indices[keep], ends[csr.indptr])


def _sorted_rows(csr: Any, data: Array, rows: Array, columns: Array) -> Any:
    """Return a matrix of the shape of `csr` with these entries, of which some may have one position."""
    order = np.argsort(rows, kind="stable")
    offsets = np.searchsorted(rows[order], np.arange(csr.shape[0] + 1)).astype(np.int32)
    return sparse_like(csr, data[order], columns[order].astype(np.int32), offsets)
