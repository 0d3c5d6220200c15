"""Maximal matchings: edges of which no two share an end, and to which none can be added.

Sources: Preis, "Linear Time 1/2-Approximation Algorithm for Maximum Weighted Matching in General Graphs", STACS 1999
(locally heaviest edges); Birn et al., "Efficient Parallel and External Matching", Euro-Par 2013.
"""

from __future__ import annotations

import numpy as np

from semiring import Matrix, Vector, indexunary, ops

from ..checks import seed_of, undirected, weights
from ..progress import Progress, reporter

# The same number for both directions of an edge.
_of_edge = indexunary.register_anonymous("random(min(i, j), max(i, j), k)", "random_of_edge")


@ops.reports_memory
def maximal_matching(A: Matrix, *, weighted: bool = False, seed: int = 0, progress: Progress | None = None) -> Vector:
    """mate(v) = u and mate(u) = v for the edges of a matching to which no edge can be added.

    Parameters
    ----------
    A : Matrix, n x n, symmetric structure
        An entry is an edge.  Self-loops are ignored.
    weighted : bool
        Whether heavy edges are preferred: the weight of the matching is then at least half of the largest possible one,
        if weights are positive.  A must be symmetric in its values too.  Otherwise values are not read.
    seed : int
        Determines the order of edges (of equal weight).
    progress : callable, optional
        ``progress(done, None)`` is called with the number of rounds after each one; an exception in it ends the
        computation.

    Returns
    -------
    Vector of size n, int64: missing where a vertex is not matched.  The same on every engine.

    Raises
    ------
    DimensionMismatch
        If A is not square.
    InvalidValue
        If it is not symmetric, a weight is NaN, or a seed is no integer.
    DomainMismatch
        For complex weights.

    Notes
    -----
    The matching is that of the greedy algorithm in the order of (weight, random number of the edge): every vertex
    points at its best neighbour, and edges that are pointed at from both ends are taken.  Cost O(n + the edges between
    unmatched vertices) a round; O(log n) rounds if few weights differ, more on long chains of increasing weights.
    Synchronises a few times a round.

    Sources: Preis, STACS 1999; Birn et al., "Efficient Parallel and External Matching", Euro-Par 2013.

    Examples
    --------
    >>> A = Matrix.from_coo([0, 1, 2], [1, 2, 3], [1, 5, 1], shape=(4, 4))
    >>> sr.algorithms.maximal_matching(A.ewise_add(A.T, "any"), weighted=True).to_dict()
    {1: 2, 2: 1}
    """
    n = undirected("maximal_matching", A, values=weighted)
    seed, report = seed_of("maximal_matching", seed), reporter("maximal_matching", progress)
    if weighted:
        weights("maximal_matching", A)
    B = A.select("offdiag")
    if not weighted:
        B = B.apply(_of_edge, right=seed).dup()
    mate, itself, rounds = Vector(np.int64, n, device=A.device), Vector.full(0, n, np.int64, device=A.device), 0
    itself = itself.apply("rowindex").dup()
    while B.nvals:
        best, column = B.maxloc()
        if weighted:
            _, column = B.dup(mask=_full(best, n).ewise_mult(B, "eq").V).apply(_of_edge, right=seed).maxloc()
        pointer = itself.dup()
        pointer(column.S) << column
        mutual = pointer[pointer].ewise_mult(itself, "eq").dup(mask=column.S)
        mate(mutual.V) << pointer
        free = Vector.full(True, n, device=A.device)
        free(mate.S) << False
        B = B.dup(mask=free.ewise_mult(B, "first").ewise_mult(free, "land").V)
        report(rounds := rounds + 1, None)
    if rounds == 0:
        report(0, None)
    return mate


def _full(v: Vector, n: int) -> Vector:
    """v with zeros where entries are missing."""
    return Vector.full(0, n, v.dtype, device=v.device).ewise_add(v, "second")
