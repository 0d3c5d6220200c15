"""Degrees of the vertices: their distribution and its figures."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from semiring import Matrix, Vector

from ..checks import square
from ..vertex_labels import algorithm


@dataclass(frozen=True)
class DegreeStatistics:
    """Figures of the numbers of entries of the rows.

    Parameters
    ----------
    smallest, largest : int
    mean : float
    median : float
        The middle degree, or the mean of both middle ones.
    deviation : float
        The standard deviation over all vertices.
    isolated : int
        Vertices with no edge in either direction.
    gini : float
        sum |d(u) - d(v)| / (2 n sum d): 0 where all degrees are equal, near 1 where few vertices have nearly all edges.

    Examples
    --------
    >>> sr.algorithms.degree_statistics(Matrix.from_edgelist([(0, 1), (0, 2), (1, 2)])).largest
    2
    """

    smallest: int
    largest: int
    mean: float
    median: float
    deviation: float
    isolated: int
    gini: float


@algorithm()
def degree_histogram(A: Matrix) -> Vector:
    """h(d) = the number of vertices whose row has d entries.

    Parameters
    ----------
    A : Matrix, n x n
        Values are not read; a self-loop counts once.

    Returns
    -------
    Vector, int64, of size 1 + the largest degree (0 of a matrix without vertices); degrees that no vertex has are
    missing.

    Raises
    ------
    DimensionMismatch, OutOfMemory

    Notes
    -----
    Cost O(n).  Synchronizes.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (0, 2), (1, 2)])
    >>> sr.algorithms.degree_histogram(A).to_dict()
    {0: 1, 1: 1, 2: 1}
    """
    n = square("degree_histogram", A)
    if n == 0:
        return Vector(int, 0, device=A.device)
    degree = _degrees(A, n)
    size = 1 + int(degree.reduce("max"))  # synchronizes
    return Vector.from_coo(degree.to_coo(index_dtype=None)[1], 1, int, size=size, dup_op="plus", device=A.device)


@algorithm()
def degree_statistics(A: Matrix) -> DegreeStatistics:
    """Smallest, largest, mean and median number of entries in a row, deviation, isolated vertices, Gini coefficient.

    Parameters
    ----------
    A : Matrix, n x n
        Values are not read; a self-loop counts once.

    Returns
    -------
    DegreeStatistics; zeros for a matrix without vertices.

    Raises
    ------
    DimensionMismatch, OutOfMemory

    Notes
    -----
    Cost O(n + nvals), and one transpose of the structure if that is not symmetric.  Synchronizes.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (0, 2), (1, 2)])
    >>> found = sr.algorithms.degree_statistics(A)
    >>> found.smallest, found.largest, found.mean, found.isolated
    (0, 2, 1.0, 0)
    """
    n = square("degree_statistics", A)
    if n == 0:
        return DegreeStatistics(0, 0, 0.0, 0.0, 0.0, 0, 0.0)
    degree = _degrees(A, n)
    ordered = degree.sort("lt")[0]
    mean = A.nvals / n
    spread = degree.apply("identity[float64]").apply("minus", right=mean).apply("square").reduce("plus")
    # sum over pairs of |d(u) - d(v)| = 2 sum over the ordered degrees of (2 i + 1 - n) d(i)
    ranks = ordered.apply("rowindex").apply("times", right=2.0).apply("plus", right=1.0 - n)
    unequal = float(ordered.inner(ranks, "plus_times"))
    touched = (
        A.apply("second", right=True)
        .reduce_rowwise("any")
        .ewise_add(A.apply("second", right=True).reduce_columnwise("any"), "any")
    )
    middle = [int(ordered[(n - 1) // 2]), int(ordered[n // 2])]
    return DegreeStatistics(
        int(ordered[0]),
        int(ordered[n - 1]),
        mean,
        sum(middle) / 2,
        (float(spread) / n) ** 0.5,
        n - touched.nvals,
        unequal / (n * A.nvals) if A.nvals else 0.0,
    )


def _degrees(A: Matrix, n: int) -> Vector:
    """Return the number of entries of each row, 0 included."""
    counted = A.apply("second", right=np.int64(1)).reduce_rowwise("plus")
    return Vector.full(0, n, int, device=A.device).ewise_add(counted, "plus").dup()
