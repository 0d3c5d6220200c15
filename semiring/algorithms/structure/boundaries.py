"""Edges and vertices between a set and the rest of the graph.

With the set as a boolean vector s, which is true in the set, and r = not s:

    edges    B = diag(s) A diag(r)
    vertices b = s A, where r
"""

from __future__ import annotations

from typing import Any

import numpy as np

from semiring import Matrix, Vector, semiring
from semiring.exceptions import InvalidValue

from ..checks import Vertices, Weight, each_row, is_many, read_weight, square, vector
from ..checks import weights as check_weights
from ..vertex_labels import algorithm


@algorithm("vv")
def edge_boundary(A: Matrix, vertices: Vector | Vertices) -> Matrix:
    """B(u, v) = A(u, v) where u is in the set and v is not.

    Parameters
    ----------
    A : Matrix, n x n
        An entry (u, v) is an edge from u to v.
    vertices : Vector of size n, or a sequence of rows or names
        The set: a Vector's entries that are not 0.

    Returns
    -------
    Matrix, n x n, of the type of A.

    Raises
    ------
    DimensionMismatch, IndexOutOfBound, InvalidValue

    Notes
    -----
    Cost O(nvals).

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2), (2, 0)])
    >>> sr.algorithms.edge_boundary(A, [0, 1]).to_dicts()
    {1: {2: True}}
    """
    inside, outside = _sides("edge_boundary", A, vertices)
    return inside.ewise_mult(A, "second").ewise_mult(outside, "first").dup()


@algorithm("v")
def node_boundary(A: Matrix, vertices: Vector | Vertices) -> Vector:
    """b(v) = true for every v outside the set to which an edge leads from the set.

    Parameters
    ----------
    A : Matrix, n x n
        An entry (u, v) is an edge from u to v; values are not read.
    vertices : Vector of size n, or a sequence of rows or names
        The set: a Vector's entries that are not 0.

    Returns
    -------
    Vector of size n, boolean, true where present.

    Raises
    ------
    DimensionMismatch, IndexOutOfBound, InvalidValue

    Notes
    -----
    Cost O(edges that leave the set), at most O(nvals).

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2), (2, 0)])
    >>> sr.algorithms.node_boundary(A, [0, 1]).to_dict()
    {2: True}
    """
    inside, _ = _sides("node_boundary", A, vertices)
    return inside.vxm(A, semiring.any_pair[bool], mask=~inside.S)


@algorithm()
def cut_size(A: Matrix, vertices: Vector | Vertices, *, weight: Weight = None) -> float:
    """Return the number, or the sum of weights, of the edges between the set and the other vertices.

    Parameters
    ----------
    A : Matrix, n x n
        An entry (u, v) is an edge from u to v; where A equals its transpose (in structure, and with `weight` in
        values), A(u, v) and A(v, u) are one edge.
    vertices : Vector of size n, or a sequence of rows or names
        The set: a Vector's entries that are not 0.
    weight : True or str, optional
        True: an edge counts as its value; str: as that field of its record.
        Default: values are not read, and every edge counts 1.

    Returns
    -------
    float

    Raises
    ------
    DimensionMismatch, IndexOutOfBound, InvalidValue, DomainMismatch

    Notes
    -----
    Cost O(nvals).  Synchronizes.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2), (2, 3)])
    >>> sr.algorithms.cut_size(A | A.T, [0, 2])
    3.0
    """
    inside, outside = _sides("cut_size", A, vertices)
    A, weighted = read_weight("cut_size", A, weight)
    if weighted:
        check_weights("cut_size", A)
    W = (A if weighted else A.apply("one")).dup(dtype=np.float64)
    undirected = A.is_symmetric_structure and (not weighted or A.is_iso or A.isequal(A.T))
    crossing = inside.vxm(W, "plus_second").inner(outside, "plus_first").get(0.0)
    if not undirected:
        crossing += outside.vxm(W, "plus_second").inner(inside, "plus_first").get(0.0)
    return float(crossing)


@algorithm()
def is_dominating_set(A: Matrix, vertices: Vector | Vertices) -> bool:
    """Return whether every vertex is in the set, or an edge leads to it from the set.

    Parameters
    ----------
    A : Matrix, n x n
        An entry (u, v) is an edge from u to v; values are not read.
    vertices : Vector of size n, or a sequence of rows or names
        The set: a Vector's entries that are not 0.

    Returns
    -------
    bool

    Raises
    ------
    DimensionMismatch, IndexOutOfBound, InvalidValue

    Notes
    -----
    Cost O(edges that leave the set), at most O(nvals).  Synchronizes.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2), (1, 3)])
    >>> sr.algorithms.is_dominating_set(A, [0, 1]), sr.algorithms.is_dominating_set(A, [0])
    (True, False)
    """
    n = square("is_dominating_set", A)
    inside, _ = _sides("is_dominating_set", A, vertices)
    reached = inside.vxm(A, semiring.any_pair[bool], mask=~inside.S)
    return inside.nvals + reached.nvals == n


def _sides(name: str, A: Matrix, vertices: Any) -> tuple[Vector, Vector]:
    """Return the vertices inside and outside the set, each true."""
    n = square(name, A)
    if isinstance(vertices, Vector):
        inside = vector(name, "vertices", vertices, n).select("!=", 0).apply("one").dup(bool)
    elif is_many(vertices):
        rows = sorted(set(each_row(name, vertices, n)))
        inside = Vector.from_coo(rows, True, bool, size=n, device=A.device)
    else:
        raise InvalidValue(f"{name}: vertices must be a Vector or a sequence of rows, got {vertices!r}")
    return inside, Vector.full(True, n, device=A.device).dup(mask=~inside.S)
