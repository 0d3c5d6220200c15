"""Laplacians of graphs: `scipy.sparse.csgraph.laplacian`, as a matrix, a function or a linear operator.

    L = D - A,    D = diag(the sums of the rows, or columns, of A)
    normed:  D^(-1/2) L D^(-1/2),  with 0 on the diagonal of vertices without edges
    symmetrized:  of A + A^H

The diagonal of A cancels.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import csgraph as scipy_csgraph

from semiring.memory.arrays import Array

from .conversion import in_place_of, is_for_scipy, is_on_gpu, module_of

_scipys = scipy_csgraph.laplacian


@in_place_of(_scipys, least=100_000)
def laplacian(
    csgraph: Any,
    normed: bool = False,
    return_diag: bool = False,
    use_out_degree: bool = False,
    *,
    copy: bool = True,
    form: str = "array",
    dtype: Any = None,
    symmetrized: bool = False,
) -> Any:
    """L = D - A, where D is the diagonal matrix of degrees.

    Parameters
    ----------
    csgraph : N x N array or sparse matrix, of SciPy or CuPy
        A.  Its diagonal is ignored.
    normed : bool
        Return D^(-1/2) L D^(-1/2) instead, with zeros for vertices of degree 0.
    return_diag : bool
        Return the diagonal of L too; if `normed`, the square roots of the degrees, and 1 for degree 0.
    use_out_degree : bool
        Whether degrees are the sums of the rows of A; otherwise of its columns.
    copy : bool
        False: a graph in host memory may be overwritten.
    form : ``"array"``, ``"function"`` or ``"lo"``
        An array or sparse matrix; a function that multiplies L by a vector or by the columns of a matrix; or a
        `LinearOperator`.
    dtype : optional
        The type of the result; by default that of the graph, and float64 for integers if `normed`.
    symmetrized : bool
        Whether A + A^H takes the place of A.

    Returns
    -------
    array, sparse matrix in COO format, function or LinearOperator
    array of N : if `return_diag`

    Raises
    ------
    ValueError
        If the graph is not square, or for another form.

    Notes
    -----
    In host memory SciPy computes that of an array, and symmetrized ones.  Cost O(N + nnz), or O(N^2) for an
    array.

    Examples
    --------
    >>> sr.csgraph.laplacian(np.array([[0, 1, 0], [1, 0, 2], [0, 2, 0]])).tolist()
    [[1, -1, 0], [-1, 3, -2], [0, -2, 2]]
    """
    slower = symmetrized or form != "array" or not hasattr(csgraph, "tocoo")
    if not (copy or is_on_gpu(csgraph)) or is_for_scipy(csgraph, slower):
        return _scipys(
            csgraph,
            normed,
            return_diag,
            use_out_degree,
            copy=copy,
            form=form,
            dtype=dtype,
            symmetrized=symmetrized,
        )
    if csgraph.ndim != 2 or csgraph.shape[0] != csgraph.shape[1]:
        raise ValueError("csgraph must be a square matrix or array")
    if form not in ("array", "function", "lo"):
        raise ValueError(f"Invalid form: {form!r}")
    graph = csgraph.astype(np.float64) if normed and csgraph.dtype.kind in "iu" else csgraph
    is_sparse = hasattr(graph, "tocoo")
    graph = graph if is_sparse else module_of(graph).asarray(graph)
    dtype = graph.dtype if dtype is None else dtype
    axis = 1 if use_out_degree else 0
    if form == "array":
        made, diagonal = _matrix(graph, normed, axis, dtype, symmetrized)
    else:
        made, diagonal = _function(graph if is_sparse else graph.copy(), normed, axis, symmetrized)
        made = _operator(graph, made, dtype) if form == "lo" else made
    return (made, diagonal.astype(dtype, copy=False)) if return_diag else made


def _matrix(graph: Any, normed: bool, axis: int, dtype: Any, symmetrized: bool) -> tuple[Any, Array]:
    """Return L, and its diagonal or the square roots of the degrees."""
    xp, n = module_of(graph), graph.shape[0]
    A, is_dense, vertices = graph + graph.T.conj() if symmetrized else graph, not hasattr(graph, "tocoo"), xp.arange(n)
    if is_dense:  # without loops, which may be infinite
        A = A.copy()
        A[vertices, vertices] = 0
    degree = _sums(A, axis, xp) - A.diagonal()
    scale, is_isolated = _scale(degree, xp)
    on_diagonal = 1 - is_isolated if normed else degree
    if is_dense:
        L = -(A / scale / scale[:, None] if normed else A)
        L[vertices, vertices] = on_diagonal
        return L.astype(dtype, copy=False), scale if normed else degree
    edges = A.tocoo(copy=False)
    rows, columns, weights = edges.row, edges.col, edges.data
    aside = rows != columns
    if not bool(aside.all()):  # synchronizes
        rows, columns, weights = rows[aside], columns[aside], weights[aside]
    weights = -(weights / scale[rows] / scale[columns] if normed else weights)
    vertices = vertices.astype(rows.dtype)
    positions = xp.concatenate([rows, vertices]), xp.concatenate([columns, vertices])
    values = xp.concatenate([weights, on_diagonal.astype(weights.dtype)]).astype(dtype, copy=False)
    return edges.__class__((values, positions), shape=A.shape), scale if normed else degree


def _function(graph: Any, normed: bool, axis: int, symmetrized: bool) -> tuple[Callable[[Array], Array], Array]:
    """Return v -> L v, which keeps the graph, and the diagonal of L or the square roots of the degrees."""
    xp = module_of(graph)
    sums, loops = _sums(graph, axis, xp), graph.diagonal()
    if symmetrized:
        sums, loops = sums + _sums(graph, 1 - axis, xp), loops + loops
    degree = sums - loops
    scale, _ = _scale(degree, xp)

    def product(v: Array) -> Array:
        found = _rows_times(sums, v) - graph @ v
        return found - (v.conj().T @ graph).conj().T if symmetrized else found

    if normed:
        return lambda v: _rows_times(1.0 / scale, product(_rows_times(1.0 / scale, v))), scale
    return product, degree


def _sums(graph: Any, axis: int, xp: Any) -> Array:
    return xp.asarray(graph.sum(axis=axis)).ravel()


def _scale(degree: Array, xp: Any) -> tuple[Array, Array]:
    """Return the square roots of the degrees, 1 for degree 0, and which vertices these are."""
    is_isolated = degree == 0
    return xp.where(is_isolated, 1, xp.sqrt(degree)), is_isolated


def _rows_times(d: Array, v: Array) -> Array:
    """diag(d) v, for a vector or a matrix v."""
    return d * v if v.ndim == 1 else d[:, None] * v


def _operator(graph: Any, product: Callable[[Array], Array], dtype: Any) -> Any:
    if is_on_gpu(graph):
        from cupyx.scipy.sparse.linalg import LinearOperator
    else:
        from scipy.sparse.linalg import LinearOperator
    return LinearOperator(graph.shape, matvec=product, matmat=product, dtype=dtype)
