"""Orders of rows: `scipy.sparse.csgraph.reverse_cuthill_mckee`.

A Cuthill-McKee order is the queue of a breadth-first search in which the vertices that one vertex adds are sorted by
degree.  The search starts at the vertex of least degree of each component, at all of them at once: with pos(u) the
position of u among the vertices of its level,

    first(v) = min_u pos(u)  over the frontier and A                                  (min_first)

and the next level is sorted by (first(v), degree(v)).  Vertices of one component follow one another in each level, in
the order of the components, so that a stable sort by component makes the levels an order of the whole graph.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csgraph as scipy_csgraph

from semiring import Matrix, Vector, ops, semiring
from semiring.memory.arrays import Array, index_dtype

from .conversion import in_place_of, module_of, pattern

_FORMATS = ("csr", "csc")


@in_place_of(scipy_csgraph.reverse_cuthill_mckee, least=np.inf, formats=_FORMATS)
def reverse_cuthill_mckee(graph: Any, symmetric_mode: bool = False) -> Any:
    """p = the rows in an order of small bandwidth: all entries of A(p, p) are near the diagonal.

    Parameters
    ----------
    graph : N x N sparse matrix, of SciPy or CuPy
    symmetric_mode : bool
        Whether the structure is known to be symmetric; otherwise the union with its transpose is ordered.

    Returns
    -------
    array of N integers of the type of the graph's indices

    Raises
    ------
    TypeError
        For a graph that is not in CSR or CSC format.

    Notes
    -----
    Where vertices of one degree tie, their order is unspecified.  SciPy computes that of a graph in host memory.  On a
    GPU cost O(N + nnz) and a sort of each level; synchronizes a few times a level.

    Source: Cuthill, McKee, "Reducing the Bandwidth of Sparse Symmetric Matrices", 1969.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> graph = sp.csr_array([[0, 0, 1], [0, 0, 1], [1, 1, 0]])
    >>> sorted(sr.csgraph.reverse_cuthill_mckee(graph, True).tolist())
    [0, 1, 2]
    """
    if getattr(graph, "format", None) not in _FORMATS:
        raise TypeError("Input must be in CSC or CSR sparse format.")
    A = pattern(graph.tocsr(), directed=symmetric_mode)
    xp, n = module_of(graph), A.nrows
    offsets, _, _ = A.to_csr(index_dtype=None)
    degree = xp.diff(offsets)
    by_degree = xp.argsort(degree, kind="stable").astype(np.int32)
    component, seeds = _components(A, by_degree, xp)
    levels = [seeds]
    place = xp.arange(seeds.size, dtype=index_dtype(n))
    reached = Vector(bool, n, device=A.device)
    while levels[-1].size:
        frontier = Vector.from_coo(levels[-1], place, size=n, device=A.device)
        reached(frontier.S) << True
        found = frontier.vxm(A, semiring.min_first[place.dtype], mask=~reached.S)
        vertices, first = found.to_coo(index_dtype=None)  # synchronizes
        turn = xp.lexsort(xp.stack([degree[vertices].astype(first.dtype), first]))
        levels.append(vertices[turn].astype(np.int32))
        place = xp.arange(turn.size, dtype=place.dtype)
    by_level = xp.concatenate(levels)
    order = by_level[xp.argsort(component[by_level], kind="stable")]
    return order[::-1].astype(graph.indices.dtype)


def _components(A: Matrix, by_degree: Array, xp: Any) -> tuple[Array, Array]:
    """Return the number of the component of each vertex, and the vertex of least degree of each component.

    Components are numbered in the order of these vertices among all, by degree.
    """
    label = ops.link(ops.singletons(Vector(bool, A.nrows, device=A.device)), A).to_dense()
    rank = xp.empty(A.nrows, np.int32)
    rank[by_degree] = xp.arange(A.nrows, dtype=np.int32)
    least = xp.full(A.nrows, A.nrows, np.int32)
    xp.minimum.at(least, label, rank)
    ranks = xp.sort(least[least < A.nrows])  # synchronizes
    return xp.searchsorted(ranks, least[label]), by_degree[ranks]
