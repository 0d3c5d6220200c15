"""Common ancestors of two vertices of an acyclic graph, and the lowest of them.

C = ancestors of u and u itself, in common with those of v.  A vertex of C is lowest if no edge leads from it to C.

Source: Bender, Farach-Colton, Pemmasani, Skiena, Sumazin, "Lowest Common Ancestors in Trees and Directed Acyclic
Graphs", J. Algorithms 57(2), 2005 (the definition).
"""

from __future__ import annotations

from typing import Any, overload

from semiring import Matrix, Vector, ops, semiring
from semiring.exceptions import GraphProperty

from ..checks import Vertex, row, square
from ..vertex_labels import algorithm
from .acyclic import is_dag


@algorithm("v")
def lowest_common_ancestors(A: Matrix, u: Vertex, v: Vertex) -> Vector:
    """c(w) = true for every w from which both u and v are reached, and no other such vertex is.

    Parameters
    ----------
    A : Matrix, n x n
        An acyclic graph: an entry (w, x) is an edge from w to x; values are not read.
    u, v : int, or a name in ``A.labels``
        A vertex is an ancestor of itself here.

    Returns
    -------
    Vector of size n, boolean, true where present: one vertex in a tree, none or several in other graphs.

    Raises
    ------
    DimensionMismatch, IndexOutOfBound, InvalidValue
    GraphProperty
        If A has a cycle, a self-loop included.

    Notes
    -----
    Cost O(n + nvals), and that of `is_dag`, which takes a few launches for each generation.  Synchronizes once a
    generation.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (0, 2), (1, 3), (2, 3), (1, 4), (2, 4)])
    >>> sr.algorithms.lowest_common_ancestors(A, 3, 4).to_dict()
    {1: True, 2: True}
    """
    n = square("lowest_common_ancestors", A)
    places = [row("lowest_common_ancestors", w, n) for w in (u, v)]
    return _lowest("lowest_common_ancestors", A, places)


@overload
def lowest_common_ancestor(A: Matrix, u: int, v: int) -> int | None: ...
@overload
def lowest_common_ancestor(A: Matrix, u: Vertex, v: Vertex) -> Any: ...
@algorithm(">v")
def lowest_common_ancestor(A: Matrix, u: Vertex, v: Vertex) -> Any:
    """Return the one of the `lowest_common_ancestors` that has the smallest row number, or None if there is none.

    Parameters
    ----------
    A : Matrix, n x n
        An acyclic graph, as for `lowest_common_ancestors`.
    u, v : int, or a name in ``A.labels``

    Returns
    -------
    row number, or name if u or v is a name; or None

    Raises
    ------
    DimensionMismatch, IndexOutOfBound, InvalidValue, GraphProperty

    Notes
    -----
    Cost and synchronization as `lowest_common_ancestors`.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (0, 2), (1, 3), (1, 4)])
    >>> sr.algorithms.lowest_common_ancestor(A, 3, 4), sr.algorithms.lowest_common_ancestor(A, 2, 4)
    (1, 0)
    """
    n = square("lowest_common_ancestor", A)
    lowest = _lowest("lowest_common_ancestor", A, [row("lowest_common_ancestor", w, n) for w in (u, v)])
    return int(lowest.apply("rowindex").reduce("min")) if lowest.nvals else None  # synchronizes


def _lowest(name: str, A: Matrix, vertices: list[int]) -> Vector:
    if not is_dag(A):
        raise GraphProperty(
            f"{name}: the graph has a cycle; sr.algorithms.condensation(A).graph, of its strong components, has none"
        )
    first, second = (
        ops.closure(Vector.from_coo([w], True, size=A.nrows, device=A.device), A.T, semiring.any_pair[bool])
        for w in vertices
    )
    common = first.ewise_mult(second, "land").dup()
    return common.dup(mask=~common.vxm(A.T, semiring.any_pair[bool]).S)
