"""Maximal matchings: edges of which no two share an end, and to which none can be added.

Sources: Preis, "Linear Time 1/2-Approximation Algorithm for Maximum Weighted Matching in General Graphs", STACS 1999
(locally heaviest edges); Birn et al., "Efficient Parallel and External Matching", Euro-Par 2013; Karp, Sipser, "Maximum
matchings in sparse random graphs", FOCS 1981 (low degrees first).
"""

from __future__ import annotations

import numpy as np

from semiring import Matrix, Vector, indexunary, unary

from ..checks import Weight, read_weight, seed_of, undirected, weights
from ..index_vectors import listed, positions
from ..progress import Progress, reporter
from ..randomness import thunk
from ..vertex_labels import algorithm

# The same number for both directions of an edge.
_of_edge = indexunary.register_anonymous("random(min(i, j), max(i, j), k)", "random_of_edge")
# 1 / degree^2, of the degree rounded to a power of two.
_preference = unary.register_anonymous("ldexp(1.0, -2 * frexpe(1.5 * x))", "degree_preference")


@algorithm("v>v")
def maximal_matching(A: Matrix, *, weight: Weight = None, seed: int = 0, progress: Progress | None = None) -> Vector:
    """mate(v) = u and mate(u) = v for the edges of a matching to which no edge can be added.

    Parameters
    ----------
    A : Matrix, n x n, symmetric structure
        An entry is an edge.  Self-loops are ignored.
    weight : True or str, optional
        True: edges of large values are preferred: the weight of the matching is at least half of the largest possible
        one, if weights are positive.  A must be symmetric in its values too.  str: that field of records in place of
        the value.  Default: values are not read, and all edges are alike.
    seed : int
        Determines the order of edges, of those of equal weight with `weight`.
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
        If it is not symmetric, a weight is NaN, a seed is no integer, or `weight` no field.
    DomainMismatch
        For complex weights.

    Notes
    -----
    In each round every vertex points at its best neighbor, and edges that are pointed at from both ends are taken.
    The best edge has the largest weight, with `weight`, and of several the largest random number / (degree(u)
    degree(v))^2, with the degrees among the vertices that are left: ends of low degree are matched first, as they have
    few other partners.  The matching has at least half of the largest possible number of edges, 95% on sparse random
    graphs.  Cost O(n + the edges between unmatched vertices) a round; O(log n) rounds if few weights differ, more on
    long chains of increasing weights.  Synchronizes a few times a round.

    Sources: Preis, STACS 1999; Birn et al., "Efficient Parallel and External Matching", Euro-Par 2013; Karp, Sipser,
    "Maximum matchings in sparse random graphs", FOCS 1981.

    Examples
    --------
    >>> A = Matrix.from_coo([0, 1, 2], [1, 2, 3], [1, 5, 1], shape=(4, 4))
    >>> sr.algorithms.maximal_matching(A.ewise_add(A.T, "any"), weight=True).to_dict()
    {1: 2, 2: 1}
    """
    A, weighted = read_weight("maximal_matching", A, weight)
    n = undirected("maximal_matching", A, values=weighted)
    seed, report = seed_of("maximal_matching", seed), reporter("maximal_matching", progress)
    if weighted:
        weights("maximal_matching", A)
    B = A.select("offdiag")
    B = B.dup() if weighted else B.apply("second", right=np.bool_(True)).dup()
    mate, rounds = Vector(np.int64, n, device=A.device), 0
    number = Vector.full(0, n, np.int64, device=A.device).apply("rowindex").dup()
    while B.nvals:
        column = _preferred(B, weighted, thunk(seed, rounds))
        vertices, chosen = listed(column)  # synchronizes
        mutual = column[chosen].ewise_mult(vertices, "eq").dup()
        pairs, others = (positions(mutual.select("==", taken)) for taken in (True, False))
        mate[number[vertices[pairs]]] = number[chosen[pairs]].dup()
        left = vertices[others].dup()
        B, number = B[left, left].dup(), number[left].dup()
        report(rounds := rounds + 1, None)
    if rounds == 0:
        report(0, None)
    return mate


def _preferred(B: Matrix, weighted: bool, seed: int) -> Vector:
    """p(v) = the neighbor u with the largest (weight, random(u, v) / degree(u)^2), missing where v has no neighbor.

    Degrees are rounded to powers of two, so that quotients are exact: then of the edges of largest (weight,
    random / (degree(u)^2 degree(v)^2)) one is preferred from both ends.
    """
    n, heaviest = B.nrows, B
    if weighted:
        best, column = B.maxloc()
        best = Vector.full(0, n, B.dtype, device=B.device).ewise_add(best, "second")
        heaviest = B.dup(mask=best.ewise_mult(B, "eq").V)
        if heaviest.nvals == column.nvals:
            return column
    ones = B.apply("second", right=np.bool_(True))
    degree = Vector.full(0.0, n, device=B.device).ewise_add(ones.reduce_rowwise("plus"), "second")
    drawn = heaviest.apply(_of_edge, right=seed)
    return drawn.ewise_mult(degree.apply(_preference).dup(), "times").maxloc()[1]
