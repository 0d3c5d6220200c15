"""Dense and sparse graphs, and what predecessors describe: the conversions of `scipy.sparse.csgraph`."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csgraph as scipy_csgraph

from semiring import Matrix
from semiring.memory.arrays import to_device

from .conversion import (
    NONE,
    dense_to_csr,
    entry_rows,
    in_place_of,
    is_for_scipy,
    module_of,
    not_on_gpu,
    sparse_like,
    to_csr,
    weighted,
)

_scipys_to_dense = scipy_csgraph.csgraph_to_dense
_SPARSE = ("lil", "csr", "csc")
# Vertices of graphs below which SciPy makes the dense array in less time.
_FEW = 300
_MASKED = "CuPy has no masked arrays; use csgraph_from_dense and csgraph_to_dense, or copy the graph to the host"


@in_place_of(scipy_csgraph.csgraph_from_dense, least=10_000, formats=("array",))
def csgraph_from_dense(
    graph: Any, null_value: float | None = 0, nan_null: bool = True, infinity_null: bool = True
) -> Any:
    """A(u, v) = graph(u, v), except where it is null.

    Parameters
    ----------
    graph : N x N array, of NumPy or CuPy
    null_value : float or None
        The value of positions without an edge.
    nan_null, infinity_null : bool
        Whether NaN, and infinities, are no edges either.

    Returns
    -------
    N x N sparse matrix of float64, in CSR format

    Raises
    ------
    ValueError
        If the graph is not square.

    Notes
    -----
    Cost O(N^2).  Synchronizes once.

    Examples
    --------
    >>> sr.csgraph.csgraph_from_dense(np.array([[0, 2], [np.inf, 0]])).nnz
    1
    """
    xp = module_of(graph)
    given = xp.asarray(graph)
    nans = nan_null or (null_value is not None and np.isnan(null_value))
    infinities = infinity_null or (null_value is not None and np.isinf(null_value))
    neither = ~xp.isfinite(given)
    is_null = neither if nans and infinities else neither & (xp.isnan(given) if nans else xp.isinf(given) & infinities)
    if null_value is not None:
        is_null |= given == null_value
    if np.ma.isMaskedArray(graph):
        is_null |= np.ma.getmaskarray(graph)
    return dense_to_csr(graph, is_null)


@in_place_of(_scipys_to_dense, least=0, formats=_SPARSE)
def csgraph_to_dense(csgraph: Any, null_value: float = 0) -> Any:
    """D(u, v) = the least entry of the graph at (u, v), or the null value where there is none.

    Parameters
    ----------
    csgraph : N x N sparse matrix in CSR, CSC or LIL format, of SciPy or CuPy
    null_value : float

    Returns
    -------
    N x N array of float64

    Raises
    ------
    ValueError
        For another format, or if the graph is not square.

    Notes
    -----
    Cost O(N^2).

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> sr.csgraph.csgraph_to_dense(sp.csr_array([[0, 2], [0, 0]]), null_value=np.inf).tolist()
    [[inf, 2.0], [inf, inf]]
    """
    if is_for_scipy(csgraph, getattr(csgraph, "format", None) != "csr" or csgraph.shape[0] < _FEW):
        return _scipys_to_dense(csgraph, null_value)
    if getattr(csgraph, "format", None) not in _SPARSE:
        raise ValueError("csgraph must be lil, csr, or csc format")
    if csgraph.shape[0] != csgraph.shape[1]:
        raise ValueError("csgraph should be a square matrix")
    return weighted(csgraph.tocsr()).to_dense(fill_value=null_value)


@not_on_gpu(scipy_csgraph.csgraph_masked_from_dense, _MASKED)
def csgraph_masked_from_dense(
    graph: Any, null_value: float | None = 0, nan_null: bool = True, infinity_null: bool = True, copy: bool = True
) -> Any:
    """A(u, v) = graph(u, v), masked where it is null.

    Parameters
    ----------
    graph : N x N array of NumPy
    null_value, nan_null, infinity_null : as `csgraph_from_dense`
    copy : bool
        Whether the array is copied.

    Returns
    -------
    N x N masked array of float64

    Raises
    ------
    ValueError
        If the graph is not square.
    NotSupported
        For an array of CuPy, which has no masked arrays.

    Notes
    -----
    Computed by SciPy.  Cost O(N^2).

    Examples
    --------
    >>> int(sr.csgraph.csgraph_masked_from_dense(np.array([[0, 2], [np.inf, 0]])).count())
    1
    """


@not_on_gpu(scipy_csgraph.csgraph_from_masked, _MASKED)
def csgraph_from_masked(graph: Any) -> Any:
    """A(u, v) = graph(u, v), except where it is masked.

    Parameters
    ----------
    graph : N x N masked array of NumPy

    Returns
    -------
    N x N sparse matrix of float64, in CSR format

    Raises
    ------
    ValueError
        If the graph is not square.
    NotSupported
        For an array of CuPy, which has no masked arrays.

    Notes
    -----
    Computed by SciPy.  Cost O(N^2).

    Examples
    --------
    >>> sr.csgraph.csgraph_from_masked(np.ma.masked_equal([[0, 2], [3, 0]], 0)).nnz
    2
    """


@not_on_gpu(scipy_csgraph.csgraph_to_masked, _MASKED)
def csgraph_to_masked(csgraph: Any) -> Any:
    """D(u, v) = the entry of the graph at (u, v), masked where there is none.

    Parameters
    ----------
    csgraph : N x N sparse matrix of SciPy

    Returns
    -------
    N x N masked array of float64

    Raises
    ------
    NotSupported
        For a matrix of CuPy, which has no masked arrays.

    Notes
    -----
    Computed by SciPy.  Cost O(N^2).

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> int(sr.csgraph.csgraph_to_masked(sp.csr_array([[0, 2], [3, 0]])).count())
    2
    """


@in_place_of(scipy_csgraph.reconstruct_path, least=20_000)
def reconstruct_path(csgraph: Any, predecessors: Any, directed: bool = True) -> Any:
    """T(p(v), v) = the weight of the edge from p(v) to v.

    Parameters
    ----------
    csgraph : N x N array or sparse matrix, of SciPy or CuPy
    predecessors : array of N int
        p; negative where there is none.  Where it is no edge, the weight is 0.
    directed : bool
        False: the lesser weight of both directions.

    Returns
    -------
    N x N sparse matrix of float64, in CSR format

    Raises
    ------
    ValueError
        If the graph is not square.

    Notes
    -----
    Cost O(N + nnz).  Synchronizes.

    Examples
    --------
    >>> graph = np.array([[0, 3, 4], [0, 0, 5], [0, 0, 0]])
    >>> sr.csgraph.reconstruct_path(graph, np.array([-9999, 0, 1])).toarray().tolist()
    [[0.0, 3.0, 0.0], [0.0, 0.0, 5.0], [0.0, 0.0, 0.0]]
    """
    csr = to_csr(csgraph, directed=directed)
    A, xp = weighted(csr, directed=directed), module_of(csr)
    before = to_device(predecessors, A.device)
    offsets, columns, weights = A.to_csr(index_dtype=None)
    is_edge = before[columns] == entry_rows(A)
    ends = xp.concatenate([xp.zeros(1, np.int32), xp.cumsum(is_edge, dtype=np.int32)])[offsets]
    is_child = before >= 0
    if int(ends[-1]) == int(xp.count_nonzero(is_child)):  # synchronizes; each predecessor is one by an edge
        return sparse_like(csr, weights[is_edge], columns[is_edge], ends)
    children = xp.flatnonzero(is_child)
    tree = Matrix.from_coo(before[children], children, 0.0, shape=A.shape, device=A.device)
    found = tree.ewise_add(A.dup(mask=tree.S), "second")
    offsets, columns, weights = found.to_csr(np.float64, index_dtype=np.int32)
    return sparse_like(csr, weights.copy(), columns.copy(), offsets.copy())


@in_place_of(scipy_csgraph.construct_dist_matrix, least=np.inf)
def construct_dist_matrix(graph: Any, predecessors: Any, directed: bool = True, null_value: float = np.inf) -> Any:
    """D(u, v) = the sum of the weights along the path from u to v that the predecessors in row u describe.

    Parameters
    ----------
    graph : N x N array or sparse matrix, of SciPy or CuPy
    predecessors : N x N array of int32
        The vertex before v on the path from u, else -9999.
    directed : bool
        False: the lesser weight of both directions.
    null_value : float
        The distance where there is no path.

    Returns
    -------
    N x N array of float64

    Raises
    ------
    TypeError
        For predecessors of another type.
    ValueError
        If the shapes differ, or the graph is not square.

    Notes
    -----
    Computed by SciPy in host memory.  On a GPU paths are doubled, at a cost of O(N^2 log of the longest path); sums are
    added in another order than SciPy's, so that distances may differ by rounding.  Synchronizes for each doubling.

    Examples
    --------
    >>> graph = np.array([[0, 3, 9], [0, 0, 5], [0, 0, 0]])
    >>> _, before = sr.csgraph.shortest_path(graph, return_predecessors=True)
    >>> sr.csgraph.construct_dist_matrix(graph, before).tolist()
    [[0.0, 3.0, 8.0], [inf, 0.0, 5.0], [inf, inf, 0.0]]
    """
    lengths = edge_lengths(graph, directed)
    n, xp = lengths.shape[0], module_of(graph)
    if predecessors.shape != lengths.shape:
        raise ValueError("graph and predecessors must have the same shape")
    if predecessors.dtype != np.int32:
        raise TypeError(f"predecessors must be int32, got {predecessors.dtype}")
    each = xp.arange(n, dtype=np.int32)
    nearer = xp.where(predecessors == NONE, each[None, :], predecessors)
    nearer[each, each] = each
    distance = xp.where(nearer == each[None, :], 0.0, lengths[nearer, each[None, :]])
    for _ in range(max(n - 1, 1).bit_length()):
        distance += xp.take_along_axis(distance, nearer, axis=1)
        following = xp.take_along_axis(nearer, nearer, axis=1)
        if bool((following == nearer).all()):  # synchronizes
            break
        nearer = following
    distance[nearer != each[:, None]] = null_value
    return distance


def edge_lengths(graph: Any, directed: bool) -> Any:
    """Return the lengths of edges as an array of float64: infinity where there is none.

    Zeros, infinities and NaN of an array, and its masked elements, are no edges.
    """
    xp = module_of(graph)
    if hasattr(graph, "tocsr"):
        found = weighted(to_csr(graph)).to_dense(fill_value=np.inf)
    else:
        given = xp.asarray(graph)
        is_null = (given == 0) | ~xp.isfinite(given)
        if np.ma.isMaskedArray(graph):
            is_null = np.ma.getmaskarray(graph)
        found = xp.where(is_null, np.inf, given).astype(np.float64, copy=False)
        if found.ndim != 2 or found.shape[0] != found.shape[1]:
            raise ValueError("compressed-sparse graph must be shape (N, N)")
    return found if directed else xp.minimum(found, found.T)
