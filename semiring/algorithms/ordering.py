"""Orders of the vertices, and the way back from a reordered graph.

An order is a permutation as a full Vector p of integers: p(k) is the vertex that becomes vertex k, so that
``A.permute(p)`` is the reordered matrix, B(i, j) = A(p(i), p(j)).  What an algorithm finds there is in the new numbers,
and goes back by `restore`; a source goes there by `inverse`:

    B = A.permute(p)
    levels = restore(bfs_levels(B, inverse(p)[source].value), p)
"""

from __future__ import annotations

import numpy as np

from semiring import Matrix, Vector, ops, semiring

from .checks import row, square
from .components import connected_components
from .degrees import degree_order
from .locality import locality_order
from .permutations import inverse, numbers, restore, sorted_by

__all__ = ["bfs_order", "degree_order", "inverse", "locality_order", "restore", "reverse_cuthill_mckee"]


@ops.reports_memory
def bfs_order(A: Matrix, source: int | None = None) -> Vector:
    """p(0), p(1), ... = the vertices by their distance from the source, those of one distance by their number.

    The component of the source comes first; the others follow by their smallest vertices, each searched from its vertex
    of highest degree.

    Parameters
    ----------
    A : Matrix, n x n
        Values are not read; an edge counts in both directions.
    source : by default the vertex of highest degree, the smallest of several

    Returns
    -------
    Vector of size n, full, int32 (int64 from n = 2**31): a permutation.

    Raises
    ------
    DimensionMismatch, IndexOutOfBound, InvalidValue

    Notes
    -----
    Cost O(n + nvals): the components, and one search of them all together.  Where the structure is not symmetric, its
    union with its transpose is made first.  Synchronises a few times.

    Source: Apostolico, Drovandi, "Graph Compression by BFS", Algorithms 2009.
    """
    n = square("bfs_order", A)
    first = None if source is None else row("bfs_order", source, n)
    if n == 0:
        return numbers(0, A.device)
    both = A if A.is_symmetric_structure else A.ewise_add(A.T, "any")
    hubs_first = degree_order(both)
    if first is None:
        first = int(hubs_first[0].get())  # synchronises
    component = connected_components(both).to_dense()
    component += 1
    component[component == component[first]] = 0
    preference = inverse(hubs_first).to_dense()
    preference += 1
    preference[first] = 0
    # A row of this matrix is a component, by preference: its first entry is where the search begins.
    wide = (n + 1, n + 1)
    listed = numbers(n, A.device).to_dense()
    offsets, _, vertices = Matrix.from_coo(component, preference, listed, shape=wide, device=A.device).to_csr(
        index_dtype=None
    )
    starts = vertices[offsets[:-1][offsets[1:] > offsets[:-1]]]
    dtype = np.int32 if n < 2**31 - 1 else np.int64
    frontier = Vector.from_coo(starts, 0, dtype, size=n, device=A.device)
    levels = ops.closure(frontier, both.apply("second", right=dtype(1)), semiring.min_plus)
    by_level = inverse(sorted_by(levels, n))
    return sorted_by(Vector.from_dense(component, device=A.device), n + 1, by_level, n)


@ops.reports_memory
def reverse_cuthill_mckee(A: Matrix) -> Vector:
    """p(0), p(1), ... = the vertices in an order of small bandwidth: all entries lie near the diagonal.

    Parameters
    ----------
    A : Matrix, n x n
        Values are not read; an edge counts in both directions.

    Returns
    -------
    Vector of size n, full, int32 (int64 from n = 2**31): a permutation.

    Raises
    ------
    DimensionMismatch

    Notes
    -----
    A search one vertex at a time: SciPy does it, on the CPU.  A matrix in the memory of the GPU is copied to the host
    (synchronises), a compressed one is decoded there.  Cost O(nvals log degree) on one core.

    Sources: Cuthill, McKee, "Reducing the Bandwidth of Sparse Symmetric Matrices", 1969; George, 1971;
    `scipy.sparse.csgraph.reverse_cuthill_mckee`.
    """
    from scipy.sparse import csgraph, csr_array  # needed here alone, and slow to load

    n = square("reverse_cuthill_mckee", A)
    if n == 0:
        return numbers(0, A.device)
    indptr, indices, _ = A.to("cpu").to_csr(index_dtype=None)
    pattern = csr_array((np.ones(indices.size, np.bool_), indices, indptr), shape=(n, n))
    order = csgraph.reverse_cuthill_mckee(pattern, symmetric_mode=A.is_symmetric_structure)
    # A copy: SciPy's own runs backwards through memory.
    return Vector.from_dense(np.ascontiguousarray(order), dtype=np.int32 if n < 2**31 else np.int64, device=A.device)
