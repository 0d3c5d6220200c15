"""Cores: the largest subgraphs in which every vertex has at least k neighbors.

Vertices of the lowest degree are removed, level by level; `semiring.ops.peel` removes all in one call:

    core(v) = the largest k such that v is in a set of vertices that all have k neighbors or more in it

Sources: Seidman, "Network structure and minimum degree", Social Networks 5, 1983; Matula, Beck, "Smallest-last ordering
and clustering and graph coloring algorithms", Journal of the ACM 30, 1983; by levels: Dasari, Desh, Zubair, "ParK: An
efficient algorithm for k-core decomposition on multicore processors", IEEE Big Data 2014.
"""

from __future__ import annotations

import numpy as np

from semiring import Matrix, Vector, ops

from ..checks import count, undirected
from ..progress import Progress, reporter
from ..vertex_labels import algorithm


@algorithm("v")
def core_numbers(A: Matrix, *, progress: Progress | None = None) -> Vector:
    """core(v) = the largest k such that v is in a subgraph whose vertices all have k neighbors or more in it.

    Parameters
    ----------
    A : Matrix, n x n, of symmetric structure
        An undirected graph.  Values are not read; self-loops are ignored.
    progress : ``progress(done, total)``, called once, with the number of vertices, because one operation does the work

    Returns
    -------
    Vector of size n, full, int64.

    Raises
    ------
    DimensionMismatch
        If A is not square.
    InvalidValue
        If the structure of A is not symmetric, or `progress` cannot be called.

    Notes
    -----
    Cost O(nvals + n), on a CPU with one thread, on a GPU in one launch.  Memory: about 24 bytes a vertex.  Synchronizes
    the first time that a matrix is used.

    Sources: Matula, Beck, "Smallest-last ordering and clustering and graph coloring algorithms", Journal of the ACM 30,
    1983; by levels: Dasari, Desh, Zubair, "ParK: An efficient algorithm for k-core decomposition on multicore
    processors", IEEE Big Data 2014.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2), (2, 0), (2, 3)], nrows=5, ncols=5)
    >>> sr.algorithms.core_numbers(A.ewise_add(A.T, "any")).to_dict()
    {0: 2, 1: 2, 2: 2, 3: 1, 4: 0}
    """
    n = undirected("core_numbers", A)
    report = reporter("core_numbers", progress)
    core = ops.peel(_degrees(A), A).dup(np.int64)
    report(n, n)
    return core


@algorithm("vv")
def k_core(A: Matrix, k: int | None = None) -> Matrix:
    """B = the entries of A between the vertices whose core number is at least k.

    Parameters
    ----------
    A : Matrix, n x n, of symmetric structure
        An undirected graph; self-loops are ignored.
    k : None: the largest core number, which gives the main core

    Returns
    -------
    Matrix, n x n: the edges of the core with their values in A, and the numbers of the vertices unchanged.

    Raises
    ------
    DimensionMismatch
        If A is not square.
    InvalidValue
        If the structure of A is not symmetric, or k is not a count.

    Notes
    -----
    Cost as `core_numbers`, less for a given k, whose lower levels are removed together, and that of the result, whose
    entries are counted: synchronizes.

    Source: Seidman, "Network structure and minimum degree", Social Networks 5, 1983.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2), (2, 0), (2, 3)])
    >>> sr.algorithms.k_core(A.ewise_add(A.T, "any"), 2).select("triu").to_dicts()
    {0: {1: True, 2: True}, 1: {2: True}}
    """
    undirected("k_core", A)
    if k is not None and count("k_core", "k", k) == 0:
        return A.select("offdiag").wait()
    core = ops.peel(_degrees(A), A, least=k)
    kept = core.select(">=", core.reduce("max").get(0) if k is None else k)  # synchronizes
    return kept.ewise_mult(A.select("offdiag"), "second").ewise_mult(kept, "first").wait()


def _degrees(A: Matrix) -> Vector:
    """d(v) = the number of neighbors of v other than v."""
    index = np.int32 if A.nrows < 2**31 else np.int64
    degree = Vector.full(index(0), A.nrows, device=A.device)
    degree(accum="plus") << A.apply("second", right=index(1)).reduce_rowwise("plus")
    loops = A.diag()
    degree(loops.S, accum="minus") << 1
    return degree
