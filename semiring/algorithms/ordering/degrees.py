"""Order of the vertices by degree."""

from __future__ import annotations

import numpy as np

from semiring import Matrix, Vector

from ..checks import square
from ..vertex_labels import algorithm
from .permutations import numbers, sorted_by


@algorithm(".>v")
def degree_order(A: Matrix, descending: bool = True) -> Vector:
    """p(0), p(1), ... = the vertices by the number of entries in their rows, then by number.

    Parameters
    ----------
    A : Matrix, n x n
        Values are not read.
    descending : the highest degree first

    Returns
    -------
    Vector of size n, full, int32 (int64 from n = 2**31): a permutation.

    Raises
    ------
    DimensionMismatch
        If A is not square.

    Notes
    -----
    Groups the vertices of high degree at one end, where caches hold their data; locality of the former order is lost.
    Cost O(n + nvals).  Synchronizes, for the highest degree.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(1, 0), (1, 2), (2, 0)])
    >>> sr.algorithms.degree_order(A).to_dict()
    {0: 1, 1: 2, 2: 0}
    """
    n = square("degree_order", A)
    if n == 0:
        return numbers(0, A.device)
    counts = A.apply("second", right=np.int64(1)).reduce_rowwise("plus")
    degrees = Vector.from_dense(counts.to_dense(0), device=A.device)
    most = int(degrees.reduce("max").get())  # synchronizes
    return sorted_by(degrees.apply("minus", left=np.int64(most)) if descending else degrees, most + 1)
