"""Subgraphs of some vertices: induced subgraphs, and the neighborhoods of a vertex."""

from __future__ import annotations

from typing import Any

from semiring import Matrix, Vector

from ..checks import Vertex, Vertices, count, row, rows, square, vector
from ..vertex_labels import algorithm


@algorithm("xx")
def induced_subgraph(A: Matrix, vertices: Vector | Vertex | Vertices) -> Matrix:
    """B = A(I, I): the edges between some vertices, which are numbered as they are listed.

    Parameters
    ----------
    A : Matrix, n x n
        An entry (u, v) is an edge from u to v.
    vertices : sequence of rows or names, or a Vector whose indices they are

    Returns
    -------
    Matrix, k x k, of the type of A.

    Raises
    ------
    DimensionMismatch, IndexOutOfBound, InvalidValue, OutOfMemory

    Notes
    -----
    Cost O(n + the entries of the chosen rows).

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2), (2, 0), (2, 3)])
    >>> sr.algorithms.induced_subgraph(A, [0, 2, 3]).to_dicts()
    {1: {0: True, 2: True}}
    """
    n = square("induced_subgraph", A)
    listed: Any
    if isinstance(vertices, Vector):
        listed = vector("induced_subgraph", "vertices", vertices, n).to_coo()[0]
    else:
        listed = rows("induced_subgraph", "vertices", vertices, n)
    made: Matrix = A.extract(listed, listed)
    return made


@algorithm(("v", "kk"))
def ego_graph(A: Matrix, source: Vertex, radius: int = 1) -> tuple[Vector, Matrix]:
    """B = A(I, I) for the vertices I within `radius` steps from a vertex.

    Parameters
    ----------
    A : Matrix, n x n
        An entry (u, v) is an edge from u to v; steps follow its direction.
    source : int, or a name in ``A.labels``
    radius : int

    Returns
    -------
    Vector of size n, int64, with the distance of each vertex of I; and Matrix, k x k, whose vertices are numbered in
    ascending order.

    Raises
    ------
    DimensionMismatch, IndexOutOfBound, InvalidValue, OutOfMemory

    Notes
    -----
    Cost O(n + the entries of the rows of I).  Synchronizes once a step.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2), (2, 3)])
    >>> distance, ego = sr.algorithms.ego_graph(A, 1)
    >>> distance.to_dict(), ego.to_dicts()
    ({1: 0, 2: 1}, {0: {1: True}})
    """
    n = square("ego_graph", A)
    source, radius = row("ego_graph", source, n), count("ego_graph", "radius", radius)
    distance = Vector.from_coo([source], [0], "int64", size=n, device=A.device)
    frontier = distance.apply("one").dup(bool)
    for step in range(1, radius + 1):
        frontier = frontier.vxm(A, "any_pair", mask=~distance.S)
        if frontier.nvals == 0:  # synchronizes
            break
        distance(frontier.S) << step
    return distance, induced_subgraph(A, distance)
