"""Bipartite graphs: two-coloring by the parity of levels."""

from __future__ import annotations

import numpy as np

from semiring import Matrix, Vector, ops, semiring
from semiring.exceptions import GraphProperty

from ..checks import of_vertices, undirected
from ..vertex_labels import algorithm
from .weak import connected_components


@algorithm("v")
def two_coloring(A: Matrix) -> Vector:
    """c(v) in {0, 1} with c(u) != c(v) for every edge (u, v); 0 for the smallest vertex of each component.

    Parameters
    ----------
    A : Matrix, n x n, symmetric structure
        An entry is an edge; values are not read.  A self-loop is a cycle of odd length.

    Returns
    -------
    Vector of size n, full, int8.

    Raises
    ------
    DimensionMismatch
        If A is not square.
    InvalidValue
        If its structure is not symmetric.
    GraphProperty
        If a cycle has odd length, so that there is no such coloring.

    Notes
    -----
    c(v) is the parity of the level of v in a search from the smallest vertex of its component.  Cost O(n + nvals).
    Synchronizes.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2), (2, 3)])
    >>> sr.algorithms.two_coloring(A.ewise_add(A.T, "any")).to_dict()
    {0: 0, 1: 1, 2: 0, 3: 1}
    """
    return _colored("two_coloring", A)


@algorithm()
def is_bipartite(A: Matrix) -> bool:
    """Return whether the vertices have two colors such that every edge joins different ones.

    Parameters
    ----------
    A : Matrix, n x n, symmetric structure
        An entry is an edge; values are not read.

    Returns
    -------
    bool

    Raises
    ------
    DimensionMismatch, InvalidValue

    Notes
    -----
    Cost and synchronization as `two_coloring`.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2), (2, 0)])
    >>> sr.algorithms.is_bipartite(A.ewise_add(A.T, "any"))
    False
    """
    undirected("is_bipartite", A)
    try:
        _colored("is_bipartite", A)
    except GraphProperty:
        return False
    return True


def _colored(name: str, A: Matrix) -> Vector:
    """Return a color for each vertex, or raise GraphProperty."""
    n = undirected(name, A)
    label = connected_components(A)
    smallest = label.ewise_mult(label.apply("rowindex"), "eq").select("==", True)
    start = Vector(label.dtype, n, device=A.device)
    start(smallest.S) << 0
    level = ops.closure(start, A, semiring.min_plus, weight=label.dtype.type(1))
    odd = level.apply("band", right=1)
    for color in (0, 1):
        side = odd.select("==", color)
        clash = side.vxm(A, semiring.any_pair, mask=side.S)
        if clash.nvals:  # synchronizes
            vertex = int(clash.apply("rowindex").reduce("min"))
            text = f"{name}: vertex {{}} is on a closed walk of odd length; the graph is not bipartite"
            raise of_vertices(GraphProperty, text, vertex)
    parity = Vector(np.int8, n, device=A.device)
    parity << odd
    return parity
