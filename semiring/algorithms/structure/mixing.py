"""Who is connected with whom: the degrees at both ends of the edges."""

from __future__ import annotations

import math

import numpy as np

from semiring import Matrix, Vector

from ..checks import square, undirected
from ..vertex_labels import algorithm


@algorithm()
def degree_assortativity(A: Matrix) -> float:
    """Return the correlation of the degrees at both ends of an edge: out of u and into v, over the edges (u, v).

    Parameters
    ----------
    A : Matrix, n x n
        An entry (u, v) is an edge from u to v; an undirected graph has each in both directions.  Values are not read,
        self-loops are ignored.

    Returns
    -------
    float
        From -1 to 1; NaN where all edges have ends of the same degree, and without edges.

    Raises
    ------
    DimensionMismatch

    Notes
    -----
    Cost O(nvals).  Synchronizes.

    Source: Newman, "Mixing Patterns in Networks", Physical Review E 67, 2003.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2), (2, 3)])
    >>> round(sr.algorithms.degree_assortativity(A | A.T), 3)
    -0.5
    """
    square("degree_assortativity", A)
    S = _ones(A)
    edges, leave, enter = S.nvals, S.reduce_rowwise("plus").dup(), S.reduce_columnwise("plus").dup()
    if edges == 0:
        return math.nan
    # Each vertex is the first end of leave(v) edges and the second end of enter(v).
    means = [float(d.ewise_mult(d, "times").reduce("plus").get(0.0)) / edges for d in (leave, enter)]
    first, second = (d.apply("minus", right=mean) for d, mean in zip((leave, enter), means, strict=True))
    spread = [
        math.sqrt(float(x.ewise_mult(x, "times").ewise_mult(d, "times").reduce("plus").get(0.0)) / edges)
        for x, d in ((first, leave), (second, enter))
    ]
    together = float(first.vxm(S, "plus_first").inner(second).get(0.0)) / edges
    return together / (spread[0] * spread[1]) if all(spread) else math.nan


@algorithm("v")
def average_neighbor_degree(A: Matrix) -> Vector:
    """a(u) = the mean, over the edges (u, v), of the number of edges that leave v.

    Parameters
    ----------
    A : Matrix, n x n
        An entry (u, v) is an edge from u to v; values are not read.

    Returns
    -------
    Vector of size n, full, float64: 0 for vertices without neighbors.

    Raises
    ------
    DimensionMismatch

    Notes
    -----
    Cost O(nvals).

    Source: Barrat, Barthélemy, Pastor-Satorras, Vespignani, "The Architecture of Complex Weighted Networks", PNAS
    101(11), 2004.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2), (1, 3)])
    >>> sr.algorithms.average_neighbor_degree(A | A.T).to_numpy().tolist()
    [3.0, 1.0, 3.0, 3.0]
    """
    n = square("average_neighbor_degree", A)
    degree = A.reduce_rowwise("count").dup(dtype=np.float64)
    every = Vector.full(0.0, n, device=A.device)
    every(accum="plus") << degree
    mean = Vector.full(0.0, n, device=A.device)
    mean(accum="plus") << A.mxv(every, "plus_second").ewise_mult(degree, "truediv")
    return mean


@algorithm()
def s_metric(A: Matrix) -> float:
    """Return the sum over the edges of the product of the degrees at their ends.

    Parameters
    ----------
    A : Matrix, n x n, of symmetric structure
        An undirected graph; values are not read, self-loops are ignored.

    Returns
    -------
    float

    Raises
    ------
    DimensionMismatch, GraphProperty

    Notes
    -----
    Cost O(nvals).  Synchronizes.

    Source: Li, Alderson, Doyle, Willinger, "Towards a Theory of Scale-Free Graphs", Internet Mathematics 2(4), 2005.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2), (1, 3)])
    >>> sr.algorithms.s_metric(A | A.T)
    9.0
    """
    undirected("s_metric", A)
    S = _ones(A)
    degree = S.reduce_rowwise("plus").dup()
    return float(degree.vxm(S, "plus_first").inner(degree).get(0.0)) / 2


def _ones(A: Matrix) -> Matrix:
    """Return the structure without the diagonal, with ones."""
    return A.select("offdiag").apply("second", right=np.float64(1)).wait()
