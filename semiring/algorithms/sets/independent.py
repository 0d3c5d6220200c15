"""Maximal independent sets and colourings, from random priorities of the vertices.

A vertex whose priority exceeds that of all undecided neighbours is decided in the same round as all other such
vertices: with random priorities O(log n) rounds suffice for an independent set.

Sources: Luby, "A Simple Parallel Algorithm for the Maximal Independent Set Problem", SIAM J. Comput. 15(4), 1986;
Fischer, Noever, "Tight Analysis of Parallel Randomized Greedy MIS", SODA 2018; Jones, Plassmann, "A Parallel Graph
Coloring Heuristic", SIAM J. Sci. Comput. 14(3), 1993; Hasenplaugh et al., "Ordering Heuristics for Parallel Graph
Coloring", SPAA 2014.
"""

from __future__ import annotations

import numpy as np

from semiring import Matrix, Vector, ops, semiring

from ..checks import seed_of, undirected
from ..progress import Progress, reporter
from ..randomness import distinct, permutation

_COLOURS = 64  # of one word of forbidden colours


@ops.reports_memory
def maximal_independent_set(A: Matrix, *, seed: int = 0, progress: Progress | None = None) -> Vector:
    """s(v) = true for the members of a set without edges inside, to which no vertex can be added.

    Parameters
    ----------
    A : Matrix, n x n, symmetric structure
        An entry is an edge; values are not read.  Self-loops are ignored.
    seed : int
        Another seed draws other priorities, and usually another set.
    progress : callable, optional
        ``progress(done, None)`` is called with the number of rounds after each one; an exception in it ends the
        computation.

    Returns
    -------
    Vector of size n, boolean: true for members, missing elsewhere.  The same on every engine.

    Raises
    ------
    DimensionMismatch
        If A is not square.
    InvalidValue
        If its structure is not symmetric, or for a seed that is not an integer.

    Notes
    -----
    Vertices of small degree have better priorities, which makes the set larger: it is the set that the greedy algorithm
    finds in the order of random numbers divided by degree + 1, largest first.  Cost O(n + the entries in rows of
    undecided vertices) a round, O(log n) rounds.  Synchronises once a round.

    Sources: Luby, "A Simple Parallel Algorithm for the Maximal Independent Set Problem", SIAM J. Comput. 15(4), 1986;
    Fischer, Noever, "Tight Analysis of Parallel Randomized Greedy MIS", SODA 2018.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (0, 2), (0, 3)])
    >>> sr.algorithms.maximal_independent_set(A.ewise_add(A.T, "any")).to_dict()
    {1: True, 2: True, 3: True}
    """
    n = undirected("maximal_independent_set", A)
    seed, report = seed_of("maximal_independent_set", seed), reporter("maximal_independent_set", progress)
    # The largest key is decided first.
    undecided = distinct(n, seed, device=A.device, scale=_inverse_degree(A, n))
    members, rounds = Vector(bool, n, device=A.device), 0
    while undecided.nvals:  # synchronises
        largest = A.mxv(undecided, semiring.max_second, mask=undecided.S)
        later = undecided.ewise_mult(largest, "lt").select("==", True)
        chosen = undecided.dup(mask=~later.S)
        members(chosen.S) << True
        excluded = chosen.vxm(A, semiring.any_pair, mask=undecided.S)
        undecided = later_of(undecided, chosen, excluded)
        report(rounds := rounds + 1, None)
    return members


def later_of(undecided: Vector, chosen: Vector, excluded: Vector) -> Vector:
    """Return what is neither chosen nor excluded."""
    return undecided.dup(mask=~chosen.S).dup(mask=~excluded.S)


def _inverse_degree(A: Matrix, n: int) -> Vector:
    """1 / (degree(v) + 1), full."""
    degree = A.apply("second", right=np.float64(1)).reduce_rowwise("plus")
    return Vector.full(1.0, n, device=A.device).ewise_add(degree, "plus").apply("truediv", left=1.0)


@ops.reports_memory
def colouring(A: Matrix, *, seed: int = 0, progress: Progress | None = None) -> Vector:
    """c(v) = a colour from 0 with c(u) != c(v) for every edge (u, v), u != v, chosen greedily by decreasing degree.

    Parameters
    ----------
    A : Matrix, n x n, symmetric structure
        An entry is an edge; values are not read.  Self-loops are ignored.
    seed : int
        Determines the order of vertices of equal degree.
    progress : callable, optional
        ``progress(done, n)`` is called with the number of coloured vertices after each round; an exception in it ends
        the computation.

    Returns
    -------
    Vector of size n, full, int64.  The same on every engine.

    Raises
    ------
    DimensionMismatch
        If A is not square.
    InvalidValue
        If its structure is not symmetric, or for a seed that is not an integer.

    Notes
    -----
    The colours are those of the greedy algorithm in the order of (degree, largest first; random): at most the largest
    degree + 1, in practice far fewer.  A vertex is coloured in the round after its last neighbour that precedes it, so
    that rounds are as many as the longest path of the order.  Each edge is used once; cost O(nvals), and in each round
    some operations on vectors of size n.  Synchronises a few times a round.

    Sources: Jones, Plassmann, "A Parallel Graph Coloring Heuristic", SIAM J. Sci. Comput. 14(3), 1993; Welsh, Powell,
    "An Upper Bound for the Chromatic Number of a Graph", The Computer Journal 10(1), 1967 (order); Hasenplaugh et al.,
    "Ordering Heuristics for Parallel Graph Coloring", SPAA 2014.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2), (2, 0), (2, 3)])
    >>> colours = sr.algorithms.colouring(A.ewise_add(A.T, "any")).to_dict()
    >>> colours[2], sorted(set(colours.values()))
    (0, [0, 1, 2])
    """
    n = undirected("colouring", A)
    seed, report = seed_of("colouring", seed), reporter("colouring", progress)
    degree = Vector.full(0, n, np.int64, device=A.device).ewise_add(_degree(A), "plus")
    order = degree.apply("times", right=max(n, 1)).ewise_add(permutation(n, seed, device=A.device), "plus")
    precedes = order.ewise_mult(A, "first").ewise_mult(order, "gt").select("==", True)
    waiting = precedes.apply("second", right=np.int64(1)).reduce_columnwise("plus")
    frontier = Vector.full(True, n, device=A.device).dup(mask=~waiting.S)
    colours, done = Vector(np.int64, n, device=A.device), 0
    forbidden: list[Vector] = []
    while frontier.nvals:  # synchronises
        frontier = frontier.convert("index")  # what follows costs O(entries of the frontier), and not O(n)
        _colour(frontier, precedes, colours, forbidden)
        report(done := done + frontier.nvals, n)
        fewer = frontier.vxm(precedes, semiring.plus_pair[np.int64])
        waiting(accum="minus") << fewer
        frontier = fewer.ewise_mult(waiting, "second").select("==", 0)
    return colours


def _degree(A: Matrix) -> Vector:
    return A.apply("second", right=np.int64(1)).reduce_rowwise("plus")


def _colour(frontier: Vector, precedes: Matrix, colours: Vector, forbidden: list[Vector]) -> None:
    """Give each vertex of the frontier its smallest colour, and forbid it for its later neighbours.

    forbidden[w](v): the set of colours 64 w to 64 w + 63 that v may not have, as bits of a word.
    """
    uncoloured, window = frontier, 0
    while uncoloured.nvals:  # synchronises
        if window == len(forbidden):
            forbidden.append(Vector.full(0, colours.size, np.uint64, device=colours.device))
        used = uncoloured.ewise_mult(forbidden[window], "second").dup()
        # The lowest bit that is not set; zero if all are.
        bit = used.apply("bnot").ewise_mult(used.apply("plus", right=np.uint64(1)), "band").select("!=", 0)
        # A logarithm on a GPU may be a little less than the integer, and the cast to integers drops the fraction.
        colours(bit.S) << bit.apply("log2").apply("plus", right=_COLOURS * window + 0.5)
        forbidden[window](accum="bor") << bit.vxm(precedes, semiring.bor_first)
        if bit.nvals == uncoloured.nvals:
            return
        uncoloured = uncoloured.dup(mask=~bit.S)
        window += 1
