"""Edges by the degrees of their ends, and vertices by the triangles of their edges."""

from __future__ import annotations

from typing import Any

import numpy as np

from semiring import Matrix, Vector

from ..checks import undirected
from ..vertex_labels import algorithm
from .oriented import degrees, without_loops
from .triangles import edge_triangles


@algorithm()
def rich_club(A: Matrix) -> Vector:
    """phi(k) = 2 E(k) / (N(k) (N(k) - 1)): the density of the subgraph of the vertices with more than k neighbors.

    Parameters
    ----------
    A : Matrix, n x n, of symmetric structure
        An undirected graph.  Values are not read; self-loops are ignored.

    Returns
    -------
    Vector of size n, float64: an entry for each k that at least two vertices exceed.

    Raises
    ------
    DimensionMismatch
        If A is not square.
    InvalidValue
        If the structure of A is not symmetric.

    Notes
    -----
    Equals ``networkx.rich_club_coefficient(G, normalized=False)``.  Not normalized by a random graph of the same
    degrees.  Cost O(n + nvals).  Synchronizes.

    Sources: Zhou, Mondragón, "The rich-club phenomenon in the Internet topology", IEEE Communications Letters 8, 2004;
    Colizza, Flammini, Serrano, Vespignani, "Detecting rich-club ordering in complex networks", Nature Physics 2, 2006.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2), (2, 0), (2, 3)])
    >>> phi = sr.algorithms.rich_club(A.ewise_add(A.T, "any"))
    >>> {k: round(x, 3) for k, x in phi.to_dict().items()}
    {0: 0.667, 1: 1.0}
    """
    n = undirected("rich_club", A)
    if n == 0:
        return Vector(np.float64, 0, device=A.device)
    P = without_loops(A)
    d = Vector.full(np.int64(0), n, device=A.device)
    d(accum="plus") << degrees(P)
    # An edge is in the subgraph of k < the smaller degree of its ends.
    least = d.ewise_mult(P.select("tril", -1), "first").ewise_mult(d, "min")
    edges, vertices = _above(least.to_coo()[2], n, A.device), _above(d.to_dense(), n, A.device)
    pairs = vertices.ewise_mult(vertices.apply("minus", right=1), "times").select(">", 0)
    return edges.apply("times", right=2).ewise_mult(pairs, "truediv").wait()


@algorithm("v.")
def generalized_degree(A: Matrix) -> Matrix:
    """D(v, s) = the number of edges of v that are in exactly s triangles.

    Parameters
    ----------
    A : Matrix, n x n, of symmetric structure
        An undirected graph.  Values are not read; self-loops are ignored.

    Returns
    -------
    Matrix, n x n, int64: an entry where the number is not 0.

    Raises
    ------
    DimensionMismatch
        If A is not square.
    InvalidValue
        If the structure of A is not symmetric.

    Notes
    -----
    Equals ``networkx.generalized_degree``.  Cost as `edge_triangles`, and the building of a matrix of nvals entries.
    Synchronizes.

    Source: Fronczak, Fronczak, "Networks with arbitrary edge multiplicities", EPL 102, 2013: the edge multiplicity is
    the number of triangles.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2), (2, 0), (2, 3)])
    >>> sr.algorithms.generalized_degree(A.ewise_add(A.T, "any")).to_dicts()
    {0: {1: 2}, 1: {1: 2}, 2: {0: 1, 1: 2}, 3: {0: 1}}
    """
    n = undirected("generalized_degree", A)
    rows, _, found = edge_triangles(A).to_coo()
    return Matrix.from_coo(rows, found, np.int64(1), shape=(n, n), dup_op="plus", device=A.device)


def _above(numbers: Any, n: int, device: str) -> Vector:
    """w(k) = how many of the numbers, which are in [0, n), are above k."""
    counted = Vector.full(np.int64(0), n, device=device)
    counted(accum="plus") << Vector.from_coo(numbers, np.int64(1), size=n, dup_op="plus", device=device)
    return counted.scan("plus").apply("minus", left=numbers.size)
