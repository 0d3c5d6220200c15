"""Cores: the largest subgraphs in which every vertex has at least k neighbours.

Vertices of the lowest degree are removed, level by level.  One vector holds the degrees of the vertices that remain:

    shell = degree<degree <= k>;    degree<degree > k> -= shell A  over plus_pair

A vertex pushes once, when it is removed, so that all products together read each edge once.  As vertices go, the
structure is compacted to those that remain, because most steps are those of the densest part.

Sources: Seidman, "Network structure and minimum degree", Social Networks 5, 1983; Matula, Beck, "Smallest-last ordering
and clustering and graph coloring algorithms", Journal of the ACM 30, 1983; by levels: Dasari, Desh, Zubair, "ParK: An
efficient algorithm for k-core decomposition on multicore processors", IEEE Big Data 2014.
"""

from __future__ import annotations

import numpy as np

from semiring import Matrix, Vector, ops

from ..checks import count, undirected
from ..progress import Progress, reporter
from .oriented import degrees, without_loops

# The structure is compacted when so many times fewer vertices remain.  Measured on two cores: core numbers of kron16
# without compaction take 1.5 times as long, of the roads of New York 2.8 times.
_SHRINK = 2


@ops.reports_memory
def core_numbers(A: Matrix, *, progress: Progress | None = None) -> Vector:
    """core(v) = the largest k such that v is in a subgraph whose vertices all have k neighbours or more in it.

    Parameters
    ----------
    A : Matrix, n x n, of symmetric structure
        An undirected graph.  Values are not read; self-loops are ignored.
    progress : ``progress(done, total)``, called with the number of vertices removed after each step

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
    Cost O(nvals + n) in all products, and O(the vertices that remain) in each step; a level has one step or more.
    Memory: up to that of the structure, for the compacted one.  Synchronises once a step.

    Sources: Matula, Beck, "Smallest-last ordering and clustering and graph coloring algorithms", Journal of the ACM 30,
    1983; by levels: Dasari, Desh, Zubair, "ParK: An efficient algorithm for k-core decomposition on multicore
    processors", IEEE Big Data 2014.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2), (2, 0), (2, 3)], nrows=5, ncols=5)
    >>> sr.algorithms.core_numbers(A.ewise_add(A.T, "any")).to_dict()
    {0: 2, 1: 2, 2: 2, 3: 1, 4: 0}
    """
    undirected("core_numbers", A)
    return _peeled(without_loops(A), reporter("core_numbers", progress))


@ops.reports_memory
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
    Cost as `core_numbers`; fewer steps for a given k, whose lower levels are removed together.  Synchronises once a
    step.

    Source: Seidman, "Network structure and minimum degree", Social Networks 5, 1983.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2), (2, 0), (2, 3)])
    >>> sr.algorithms.k_core(A.ewise_add(A.T, "any"), 2).select("triu").to_dicts()
    {0: {1: True, 2: True}, 1: {2: True}}
    """
    undirected("k_core", A)
    wanted = None if k is None else count("k_core", "k", k)
    core = _peeled(without_loops(A), reporter("k_core", None), wanted)
    least = core.reduce("max").get(0) if wanted is None else wanted  # synchronises
    kept = core.select(">=", least)
    return kept.ewise_mult(A.select("offdiag"), "second").ewise_mult(kept, "first").wait()


def _peeled(P: Matrix, report: Progress, wanted: int | None = None) -> Vector:
    """Return the core numbers; with a wanted one, that number where they reach it, and 0 elsewhere."""
    n, degree = P.nrows, degrees(P)
    core = Vector.full(np.int64(0), n, device=P.device)
    vertices = ops.singletons(Vector(bool, n, device=P.device))  # of the rows of P
    level = Vector(np.int64, n, device=P.device)
    k = 0 if wanted is None else wanted - 1
    while (least := degree.reduce("min").value) is not None:  # synchronises
        if degree.nvals * _SHRINK < degree.size:
            core(accum="max")[vertices] << level
            kept, left = degree.to_coo(index_dtype=None)
            vertices = Vector.from_dense(vertices[kept].to_dense(), device=P.device)
            P = P[kept, kept].wait()
            degree = Vector.from_dense(left, device=P.device)
            level = Vector(np.int64, degree.size, device=P.device)
        if least > k:
            k = int(least) if wanted is None else wanted
            level(degree.S) << k  # the core number of all that remain is k or more
            if wanted is not None:
                break
        shell = degree.select("<=", k).wait()
        degree = degree.select(">", k).wait()
        degree(degree.S, accum="minus") << shell.vxm(P, "plus_pair")
        report(n - degree.nvals, n)
    core(accum="max")[vertices] << level
    return core
