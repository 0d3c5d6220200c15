"""Orders by a breadth-first search: by distance, and reverse Cuthill-McKee."""

from __future__ import annotations

import numpy as np

from semiring import Matrix, Vector, binary, ops, semiring

from ..checks import Vertex, row, square
from ..components import connected_components
from ..vertex_labels import algorithm
from .degrees import degree_order
from .permutations import inverse, numbers, sorted_by

# The number y becomes the first, the others follow in their order.
_leading = binary.register_anonymous("select(x == y, 0, x + 1)", "leading")


@algorithm(".>v")
def bfs_order(A: Matrix, source: Vertex | None = None) -> Vector:
    """p(0), p(1), ... = the vertices by their distance from the source, then by number.

    The component of the source is first; the others follow by their smallest vertices, each searched from its vertex of
    highest degree.

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
    Cost O(n + nvals): the components, and one search of all of them together.  Where the structure is not symmetric,
    its union with its transpose is computed first.  Synchronizes a few times.

    Source: Apostolico, Drovandi, "Graph Compression by BFS", Algorithms 2009.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 3), (3, 1), (1, 2)])
    >>> sr.algorithms.bfs_order(A, 0).to_dict()
    {0: 0, 1: 3, 2: 1, 3: 2}
    """
    n = square("bfs_order", A)
    first = None if source is None else row("bfs_order", source, n)
    if n == 0:
        return numbers(0, A.device)
    both = A if A.is_symmetric_structure else A.ewise_add(A.T, "any")
    by_degree = degree_order(both)
    if first is None:
        first = int(by_degree[0].get())  # synchronizes
    labels, rank = connected_components(both), inverse(by_degree)
    component, preference = (f.apply(_leading, right=f[first].get()) for f in (labels, rank))  # synchronizes
    # A row of this matrix is a component, its columns are preferences: the search starts at its first entry.
    listed, shape = numbers(n, A.device).to_dense(), (n + 1, n + 1)
    S = Matrix.from_coo(component.to_dense(), preference.to_dense(), listed, shape=shape, device=A.device)
    _, starts = S.reduce_rowwise("first").to_coo(index_dtype=None)
    dtype = np.int32 if n < 2**31 - 1 else np.int64
    frontier = Vector.from_coo(starts, 0, dtype, size=n, device=A.device)
    levels = ops.closure(frontier, both.apply("second", right=dtype(1)), semiring.min_plus)
    by_level = inverse(sorted_by(levels, n))
    return sorted_by(component, n + 1, by_level, n)


@algorithm(".>v")
def reverse_cuthill_mckee(A: Matrix) -> Vector:
    """p(0), p(1), ... = the vertices in an order of small bandwidth: all entries are near the diagonal.

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
    A sequential search, computed by SciPy on the CPU.  A matrix in the memory of the GPU is copied to the host
    (synchronizes), a compressed one is decoded there.  Cost O(nvals log degree) on one core.

    Sources: Cuthill, McKee, "Reducing the Bandwidth of Sparse Symmetric Matrices", 1969; George, 1971;
    `scipy.sparse.csgraph.reverse_cuthill_mckee`.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 3), (3, 1), (1, 2)])
    >>> B = A.permute(sr.algorithms.reverse_cuthill_mckee(A))
    >>> sorted((i, j) for (i, j), _ in (B + B.T).items())
    [(0, 1), (1, 0), (1, 2), (2, 1), (2, 3), (3, 2)]
    """
    from scipy.sparse import csgraph, csr_array  # needed only here, and slow to import

    n = square("reverse_cuthill_mckee", A)
    if n == 0:
        return numbers(0, A.device)
    indptr, indices, _ = A.to("cpu").to_csr(index_dtype=None)
    pattern = csr_array((np.ones(indices.size, np.bool_), indices, indptr), shape=(n, n))
    order = csgraph.reverse_cuthill_mckee(pattern, symmetric_mode=A.is_symmetric_structure)
    # A copy: the array of SciPy has a negative stride.
    return Vector.from_dense(np.ascontiguousarray(order), dtype=np.int32 if n < 2**31 else np.int64, device=A.device)
