"""Matchings of rows and columns: `maximum_bipartite_matching` and others of `scipy.sparse.csgraph`."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csgraph as scipy_csgraph

from semiring import Matrix, algorithms

from .conversion import in_place_of, is_on_gpu, module_of, on_the_host


@in_place_of(scipy_csgraph.maximum_bipartite_matching, least=np.inf, formats=("csr", "csc", "coo"))
def maximum_bipartite_matching(graph: Any, perm_type: str = "row") -> Any:
    """match(j) = the row with which column j is matched, in a matching with the most pairs; -1 for none.

    Parameters
    ----------
    graph : M x N sparse matrix, of SciPy or CuPy
        An entry is an edge between its row and its column, whatever its value.
    perm_type : ``"row"`` or ``"column"``
        Whether the row of each column is returned, or the column of each row.

    Returns
    -------
    array of int32 : N for ``"row"``, M for ``"column"``

    Raises
    ------
    TypeError
        For a graph that is not sparse.

    Notes
    -----
    Which of several matchings is returned is unspecified.  SciPy computes that of a graph in host memory, on a GPU
    `semiring.algorithms.maximum_bipartite_matching`, which states cost and synchronization.

    Source: Hopcroft, Karp, "An n^{5/2} Algorithm for Maximum Matchings in Bipartite Graphs", SIAM J. Comput. 2(4),
    1973.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> sr.csgraph.maximum_bipartite_matching(sp.csr_array([[1, 1], [1, 0]]), perm_type="column").tolist()
    [1, 0]
    """
    mate = algorithms.maximum_bipartite_matching(_edges(graph))
    xp = module_of(graph)
    of_row = mate.to_dense(fill_value=-1).astype(np.int32)
    if perm_type == "column":
        return of_row
    of_column = xp.full(graph.shape[1], -1, np.int32)
    rows = xp.flatnonzero(of_row >= 0)
    of_column[of_row[rows]] = rows
    return of_column


@in_place_of(scipy_csgraph.structural_rank, least=np.inf)
def structural_rank(graph: Any) -> int:
    """rank = the number of pairs in a maximum matching of rows and columns: the most that the structure admits.

    Parameters
    ----------
    graph : M x N sparse matrix, of SciPy or CuPy

    Returns
    -------
    int

    Raises
    ------
    TypeError
        For a graph that is not sparse.

    Notes
    -----
    Cost and synchronization as `maximum_bipartite_matching`.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> int(sr.csgraph.structural_rank(sp.csr_array([[1, 1, 0], [1, 0, 0], [0, 0, 0]])))
    2
    """
    return algorithms.maximum_bipartite_matching(_edges(graph)).nvals


def _edges(graph: Any) -> Matrix:
    """Return the structure of a rectangular sparse matrix."""
    if not hasattr(graph, "tocsr"):
        raise TypeError("graph must be in CSC, CSR, or COO format")
    csr, device = graph.tocsr(), "cuda" if is_on_gpu(graph) else "cpu"
    return Matrix.from_csr(csr.indptr, csr.indices, shape=csr.shape, dup_op="any", copy=False, device=device)


@on_the_host(scipy_csgraph.min_weight_full_bipartite_matching)
def min_weight_full_bipartite_matching(biadjacency: Any, maximize: bool = False) -> Any:
    """(rows, columns) = the pairs of a matching of min(M, N) pairs, of the least total weight.

    Parameters
    ----------
    biadjacency : M x N sparse matrix, of SciPy or CuPy
        The value of an entry is the weight of the edge between its row and its column; zeros are no edges.
    maximize : bool
        Whether the total weight is the largest instead.

    Returns
    -------
    two arrays of int32, of min(M, N) rows in ascending order, and their columns

    Raises
    ------
    ValueError
        If there is no such matching.
    TypeError
        For a graph that is not sparse.

    Notes
    -----
    Computed by SciPy on the CPU, whose method augments along one shortest path after another: each depends on the one
    before, and a path visits few vertices, so matrix operations have nothing to compute at once.  A graph on a GPU is
    copied to the host, and its results back (synchronizes).

    Source: Jonker, Volgenant, "A Shortest Augmenting Path Algorithm for Dense and Sparse Linear Assignment Problems",
    Computing 38, 1987.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> rows, columns = sr.csgraph.min_weight_full_bipartite_matching(sp.csr_array([[1, 2], [1, 3]]))
    >>> rows.tolist(), columns.tolist()
    ([0, 1], [1, 0])
    """
