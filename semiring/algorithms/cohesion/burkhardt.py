"""Triangle centrality: by the share of all triangles at a vertex, at its neighbors and at those in its triangles."""

from __future__ import annotations

import numpy as np

from semiring import Matrix, Vector

from ..checks import undirected
from ..vertex_labels import algorithm
from .oriented import oriented, without_loops


@algorithm("v")
def triangle_centrality(A: Matrix) -> Vector:
    """c = (3 A t - 2 T t + t) / (3 triangles), t(v) = the triangles of v, T = the edges that are in a triangle.

    Parameters
    ----------
    A : Matrix, n x n, of symmetric structure
        An undirected graph.  Values are not read; self-loops are ignored.

    Returns
    -------
    Vector of size n, full, float64, from 0 to 1; 0 everywhere if there is no triangle.

    Raises
    ------
    DimensionMismatch
        If A is not square.
    InvalidValue
        If the structure of A is not symmetric.

    Notes
    -----
    Cost as `triangles`, and three products of a matrix and a vector; memory 8 bytes an edge.  Synchronizes.

    Source: Burkhardt, "Triangle centrality", ACM Transactions on Knowledge Discovery from Data 18(9), 2024
    (arXiv:2105.00110).

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2), (2, 0), (2, 3)])
    >>> c = sr.algorithms.triangle_centrality(A.ewise_add(A.T, "any"))
    >>> {v: round(x, 3) for v, x in c.to_dict().items()}
    {0: 1.0, 1: 1.0, 2: 1.0, 3: 1.0}
    """
    n = undirected("triangle_centrality", A)
    graph = oriented(without_loops(A))
    B = graph.matrix
    common = B.mxm(B.T, "plus_pair", mask=graph.lower.S, method=graph.method).wait()
    twice = Vector.full(np.int64(0), n, device=A.device)
    twice(accum="plus") << common.reduce_rowwise("plus")
    twice(accum="plus") << common.reduce_columnwise("plus")
    t = twice.apply("floordiv", right=2).wait()
    triple = int(t.reduce("plus").get(0))  # three times the triangles; synchronizes
    if triple == 0:
        return Vector.full(0.0, n, device=A.device)
    c = t.dup()
    c(accum="plus") << B.mxv(t, "plus_second").apply("times", right=3)
    c(accum="minus") << common.mxv(t, "plus_second").apply("times", right=2)
    c(accum="minus") << t.vxm(common, "plus_first").apply("times", right=2)
    return graph.restored(c.apply("truediv", right=float(triple)))
