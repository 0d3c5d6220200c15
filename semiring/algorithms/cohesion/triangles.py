"""Triangles: of a graph, of each vertex, of each edge.

    C<L> = B B'    over plus_pair    the triangles of each edge
    C<L> = U U'    over plus_pair    those whose third vertex has a higher number than the ends of the edge

B is the symmetric structure without a diagonal, U its part above the diagonal and L the one below.  The sum of the
second product is the number of triangles; its rows and columns, and the rows of L U' under L, add up to those of each
vertex (`oriented`).

Sources: Azad, Buluç, Gilbert, "Parallel Triangle Counting and Enumeration Using Matrix Algebra", IPDPSW 2015; Latapy,
"Main-memory triangle computations for very large (sparse (power-law)) graphs", Theoretical Computer Science 407, 2008.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from semiring import Matrix, Vector, ops

from ..checks import undirected
from ..ordering import inverse
from ..vertex_labels import algorithm
from .oriented import closed_walks, oriented, shares, without_loops


@algorithm()
def triangle_count(A: Matrix) -> int:
    """Return the number of triangles, sets of three vertices that are joined by edges pairwise.

    The sum of U U' over plus_pair under the mask L, where U leads from each vertex to those of higher degree.

    Parameters
    ----------
    A : Matrix, n x n, of symmetric structure
        An undirected graph.  Values are not read; self-loops are ignored.

    Returns
    -------
    int

    Raises
    ------
    DimensionMismatch
        If A is not square.
    InvalidValue
        If the structure of A is not symmetric.

    Notes
    -----
    Cost O(the sum over edges of the smaller degree of both ends), at most O(nvals ** 1.5).  The product is summed as it
    is computed and never stored.  On a grid of processes the edges are divided, as in `ops.map_reduce`.  Synchronizes.

    Sources: see `semiring.algorithms.triangles`.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2), (2, 0), (2, 3)])
    >>> sr.algorithms.triangle_count(A.ewise_add(A.T, "any"))
    1
    """
    undirected("triangle_count", A)

    def counted(A: Matrix, chosen: Sequence[int]) -> Vector:
        graph = oriented(without_loops(A)).of_shares(chosen)
        common = graph.upper.mxm(graph.upper.T, "plus_pair", mask=graph.lower.S, method=graph.method)
        return Vector.full(common.reduce_scalar("plus").get(0), 1, np.int64, device=A.device)  # synchronizes

    return int(ops.map_reduce(counted, A, shares, values=False)[0].value)


@algorithm("v")
def triangles(A: Matrix) -> Vector:
    """t(v) = the number of triangles that contain v.

    Parameters
    ----------
    A : Matrix, n x n, of symmetric structure
        An undirected graph.  Values are not read; self-loops are ignored.

    Returns
    -------
    Vector of size n, full, int64.  Its entries sum to three times `triangle_count`.

    Raises
    ------
    DimensionMismatch
        If A is not square.
    InvalidValue
        If the structure of A is not symmetric.

    Notes
    -----
    Cost as `triangle_count`; memory 8 bytes an edge.  Synchronizes.

    Sources: Azad, Buluç, Gilbert, "Parallel Triangle Counting and Enumeration Using Matrix Algebra", IPDPSW 2015;
    Latapy, "Main-memory triangle computations for very large (sparse (power-law)) graphs", Theoretical Computer
    Science 407, 2008.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2), (2, 0), (2, 3)])
    >>> sr.algorithms.triangles(A.ewise_add(A.T, "any")).to_dict()
    {0: 1, 1: 1, 2: 1, 3: 0}
    """
    undirected("triangles", A)

    def counted(A: Matrix, chosen: Sequence[int]) -> Vector:
        graph = oriented(without_loops(A)).of_shares(chosen)
        return graph.restored(closed_walks(graph))

    return ops.map_reduce(counted, A, shares, values=False)


@algorithm("vv")
def edge_triangles(A: Matrix) -> Matrix:
    """C(u, v) = the number of triangles that contain the edge {u, v}, its support: C<A> = A A' over plus_pair.

    Parameters
    ----------
    A : Matrix, n x n, of symmetric structure
        An undirected graph.  Values are not read; self-loops are ignored.

    Returns
    -------
    Matrix, n x n, symmetric, int64: an entry for each edge, 0 where it is in no triangle.

    Raises
    ------
    DimensionMismatch
        If A is not square.
    InvalidValue
        If the structure of A is not symmetric.

    Notes
    -----
    Cost as `triangle_count`; memory 24 bytes an entry of A.  Synchronizes.

    Source: Cohen, "Trusses: Cohesive Subgraphs for Social Network Analysis", NSA technical report, 2008.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2), (2, 0), (2, 3)])
    >>> C = sr.algorithms.edge_triangles(A.ewise_add(A.T, "any"))
    >>> C.select("triu").to_dicts()
    {0: {1: 1, 2: 1}, 1: {2: 1}, 2: {3: 0}}
    """
    undirected("edge_triangles", A)
    P = without_loops(A)
    graph = oriented(P)
    found = supports(graph.matrix, graph.lower, graph.method)
    if graph.order is not None:
        found = found.permute(inverse(graph.order))
    return found.wait()


def supports(B: Matrix, lower: Matrix, method: str = "auto") -> Matrix:
    """C(i, j) = the common neighbors of i and j for each entry of B, which is symmetric and has no diagonal."""
    common = B.mxm(B.T, "plus_pair", mask=lower.S, method=method).wait()
    found = B.apply("second", right=np.int64(0))
    found(accum="plus") << common
    found(accum="plus") << common.T
    return found
