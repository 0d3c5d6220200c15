"""Numbers of edges and vertices of a kind: density, reciprocity, isolated vertices, regular graphs."""

from __future__ import annotations

import math

import numpy as np

from semiring import Matrix, Vector

from ..checks import square
from ..vertex_labels import algorithm


@algorithm()
def density(A: Matrix) -> float:
    """Return the share of the pairs u != v that are edges: (entries off the diagonal) / (n (n - 1)).

    Parameters
    ----------
    A : Matrix, n x n
        An entry (u, v) is an edge from u to v; an undirected graph has each in both directions.  Values are not read,
        self-loops are ignored.

    Returns
    -------
    float
        0 for fewer than two vertices.

    Raises
    ------
    DimensionMismatch

    Notes
    -----
    Cost O(n log nvals), for the diagonal.  Synchronizes.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2), (2, 2)])
    >>> round(sr.algorithms.density(A), 3)
    0.333
    """
    n = square("density", A)
    return (A.nvals - A.diag().nvals) / (n * (n - 1)) if n > 1 else 0.0


@algorithm("v")
def isolates(A: Matrix) -> Vector:
    """i(v) = true for every v at which no edge ends.

    Parameters
    ----------
    A : Matrix, n x n
        An entry (u, v) is an edge from u to v; values are not read.  A self-loop is an edge.

    Returns
    -------
    Vector of size n, boolean, true where present.

    Raises
    ------
    DimensionMismatch

    Notes
    -----
    Cost O(n), for directed graphs O(nvals).

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (3, 3)], nrows=5, ncols=5)
    >>> sr.algorithms.isolates(A).to_dict()
    {2: True, 4: True}
    """
    n = square("isolates", A)
    ends = A.reduce_rowwise("any").apply("one").dup(bool)
    if not A.is_symmetric_structure:
        ends = ends.ewise_add(A.reduce_columnwise("any").apply("one").dup(bool), "lor").dup()
    return Vector.full(True, n, device=A.device).dup(mask=~ends.S)


@algorithm()
def is_regular(A: Matrix) -> bool:
    """Return whether all vertices have equally many neighbors; of a directed graph, in and out each.

    Parameters
    ----------
    A : Matrix, n x n
        An entry (u, v) is an edge from u to v; values are not read.

    Returns
    -------
    bool
        True for no vertex.

    Raises
    ------
    DimensionMismatch

    Notes
    -----
    Cost O(n), for directed graphs O(nvals).  Synchronizes.

    Examples
    --------
    >>> cycle = Matrix.from_edgelist([(0, 1), (1, 2), (2, 0)])
    >>> sr.algorithms.is_regular(cycle), sr.algorithms.is_regular(Matrix.from_edgelist([(0, 1), (1, 2)]))
    (True, False)
    """
    n = square("is_regular", A)
    return n == 0 or all(_is_constant(degree) for degree in _degrees(A))


@algorithm()
def reciprocity(A: Matrix) -> float:
    """Return the share of the edges (u, v) for which (v, u) is an edge too.

    Parameters
    ----------
    A : Matrix, n x n
        An entry (u, v) is an edge from u to v; values are not read, self-loops are ignored.

    Returns
    -------
    float
        NaN without edges.

    Raises
    ------
    DimensionMismatch

    Notes
    -----
    Cost O(nvals); the transpose is derived and cached the first time.  Synchronizes.

    Source: Garlaschelli, Loffredo, "Patterns of Link Reciprocity in Directed Networks", Physical Review Letters 93,
    2004.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 0), (1, 2), (2, 0)])
    >>> sr.algorithms.reciprocity(A)
    0.5
    """
    square("reciprocity", A)
    edges = A.nvals - A.diag().nvals
    return float(_returned(A).reduce("plus").get(0)) / edges if edges else math.nan


@algorithm("v")
def vertex_reciprocity(A: Matrix) -> Vector:
    """r(u) = 2 (vertices v with edges (u, v) and (v, u)) / (edges that leave u + edges that enter u).

    Parameters
    ----------
    A : Matrix, n x n
        An entry (u, v) is an edge from u to v; values are not read, self-loops are ignored.

    Returns
    -------
    Vector of size n, float64; missing for vertices without edges.

    Raises
    ------
    DimensionMismatch

    Notes
    -----
    Cost O(nvals); the transpose is derived and cached the first time.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 0), (1, 2), (2, 0)], nrows=4, ncols=4)
    >>> {v: round(r, 3) for v, r in sr.algorithms.vertex_reciprocity(A).to_dict().items()}
    {0: 0.667, 1: 0.667, 2: 0.0}
    """
    n = square("vertex_reciprocity", A)
    S = A.select("offdiag").apply("second", right=np.int64(1)).wait()
    ends = S.reduce_rowwise("plus").ewise_add(S.reduce_columnwise("plus"), "plus").dup()
    both = Vector.full(0, n, np.int64, device=A.device)
    both(accum="plus") << _returned(A)
    return both.apply("times", right=2).ewise_mult(ends, "truediv").dup()


def _returned(A: Matrix) -> Vector:
    """Return the number of edges (u, v) of each u, other than loops, for which (v, u) is an edge."""
    S = A.apply("second", right=np.int64(1))
    return S.ewise_mult(S.T, "times").select("offdiag").reduce_rowwise("plus").dup()


def _degrees(A: Matrix) -> list[Vector]:
    """Return the numbers of entries of the rows, and unless the structure is symmetric of the columns."""
    counted = (
        [A.reduce_rowwise("count")]
        if A.is_symmetric_structure
        else [
            A.reduce_rowwise("count"),
            A.reduce_columnwise("count"),
        ]
    )
    made = []
    for part in counted:
        degree = Vector.full(0, A.nrows, np.int64, device=A.device)
        degree(accum="plus") << part
        made.append(degree)
    return made


def _is_constant(v: Vector) -> bool:
    return bool(v.reduce("min").value == v.reduce("max").value)
