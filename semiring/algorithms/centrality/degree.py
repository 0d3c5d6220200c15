"""Degrees, and the share of the other vertices that they are."""

from __future__ import annotations

import numpy as np

from semiring import Matrix, Vector

from ..checks import Weight, choice, read_weight, square
from ..checks import weights as check_weights
from ..vertex_labels import algorithm

_FLOAT64 = np.dtype(np.float64)


@algorithm("v")
def degrees(A: Matrix, direction: str = "out", *, weight: Weight = None) -> Vector:
    """d(u) = the number of edges that leave u, enter u, or end at u; or the sum of their weights.

    Parameters
    ----------
    A : Matrix, n x n
        An entry (u, v) is an edge from u to v; where the structure is symmetric, A(u, v) and A(v, u) are one edge, and
        ``"out"`` and ``"in"`` are the same.
    direction : ``"out"``, ``"in"``, or ``"both"``
        Both: the ends of edges at u, so a self-loop counts twice.
    weight : True or str, optional
        True: an edge counts as its value; str: as that field of its record.
        Default: values are not read, and every edge counts 1.

    Returns
    -------
    Vector of size n, full, int64; float64 of weights, where a sum that it does not hold is infinite.

    Raises
    ------
    DimensionMismatch, InvalidValue, DomainMismatch

    Notes
    -----
    Cost O(n), for weights and in-degrees O(nvals).  For ``"both"`` the first call on a matrix determines whether its
    structure is symmetric.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (0, 2), (2, 2)])
    >>> [sr.algorithms.degrees(A, which).to_numpy().tolist() for which in ("out", "in", "both")]
    [[2, 0, 1], [0, 1, 2], [2, 1, 3]]
    """
    n = square("degrees", A)
    A, weighted = read_weight("degrees", A, weight)
    choice("degrees", "direction", direction, ("out", "in", "both"))
    if weighted:
        check_weights("degrees", A)
        A = A.apply("identity").dup(dtype=_FLOAT64)
    total = Vector.full(0.0 if weighted else 0, n, device=A.device)
    monoid = "plus" if weighted else "count"
    if direction != "in":
        total(accum="plus") << A.reduce_rowwise(monoid)
    if direction == "in" or (direction == "both" and not A.is_symmetric_structure):
        total(accum="plus") << A.reduce_columnwise(monoid)
    elif direction == "both":  # of an undirected graph: both ends of a loop are at one vertex
        loops = A.diag()
        total(accum="plus") << (loops if weighted else loops.apply("one").dup(dtype=np.int64))
    return total


@algorithm("v")
def degree_centrality(A: Matrix) -> Vector:
    """c(u) = (edges that end at u) / (n - 1).

    Parameters
    ----------
    A : Matrix, n x n
        An entry (u, v) is an edge from u to v; where the structure is symmetric, A(u, v) and A(v, u) are one edge.  A
        self-loop counts twice.  Values are not read.

    Returns
    -------
    Vector of size n, full, float64; 1 for a single vertex.

    Raises
    ------
    DimensionMismatch

    Notes
    -----
    Cost O(n) for undirected graphs, O(nvals) for directed ones; see `degrees`.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2)])
    >>> sr.algorithms.degree_centrality(A).to_dict()
    {0: 0.5, 1: 1.0, 2: 0.5}
    """
    return _share("degree_centrality", A, "both")


@algorithm("v")
def in_degree_centrality(A: Matrix) -> Vector:
    """c(v) = (edges that enter v) / (n - 1).

    Parameters
    ----------
    A : Matrix, n x n
        An entry (u, v) is an edge from u to v; values are not read.

    Returns
    -------
    Vector of size n, full, float64; 1 for a single vertex.

    Raises
    ------
    DimensionMismatch

    Notes
    -----
    Cost O(nvals).

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (2, 1)])
    >>> sr.algorithms.in_degree_centrality(A).to_dict()
    {0: 0.0, 1: 1.0, 2: 0.0}
    """
    return _share("in_degree_centrality", A, "in")


@algorithm("v")
def out_degree_centrality(A: Matrix) -> Vector:
    """c(u) = (edges that leave u) / (n - 1).

    Parameters
    ----------
    A : Matrix, n x n
        An entry (u, v) is an edge from u to v; values are not read.

    Returns
    -------
    Vector of size n, full, float64; 1 for a single vertex.

    Raises
    ------
    DimensionMismatch

    Notes
    -----
    Cost O(n).

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (2, 1)])
    >>> sr.algorithms.out_degree_centrality(A).to_dict()
    {0: 0.5, 1: 0.0, 2: 0.5}
    """
    return _share("out_degree_centrality", A, "out")


def _share(name: str, A: Matrix, direction: str) -> Vector:
    n = square(name, A)
    if n <= 1:
        return Vector.full(1.0, n, device=A.device)
    return degrees(A, direction).apply("truediv", right=float(n - 1)).dup()
