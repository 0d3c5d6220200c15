"""Maximal independent sets and colorings, from random priorities of the vertices.

A vertex whose priority exceeds that of all undecided neighbors is decided in the same round as all other such
vertices: with random priorities O(log n) rounds suffice for an independent set.  A coloring decides every vertex after
all neighbors of higher priority, which an acyclic closure does in one call.

Sources: Luby, "A Simple Parallel Algorithm for the Maximal Independent Set Problem", SIAM J. Comput. 15(4), 1986;
Fischer, Noever, "Tight Analysis of Parallel Randomized Greedy MIS", SODA 2018; Jones, Plassmann, "A Parallel Graph
Coloring Heuristic", SIAM J. Sci. Comput. 14(3), 1993; Hasenplaugh et al., "Ordering Heuristics for Parallel Graph
Coloring", SPAA 2014.
"""

from __future__ import annotations

import numpy as np

from semiring import Matrix, Vector, binary, compile, ops, semiring, unary

from ..checks import Vertices, rows, seed_of, undirected, vector
from ..index_vectors import listed, positions
from ..ordering.permutations import inverse_of
from ..progress import Progress, reporter
from ..randomness import distinct, uniform
from ..vertex_labels import algorithm

_COLORS = 64  # of one word of forbidden colors
_lowest_free = unary.register_anonymous("band(bnot(x), x + 1)", "lowest_free_bit")
_precedes = binary.register_anonymous("lor(x > y, land(x == y, xi < xj))", "precedes")


@algorithm("v")
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
    undecided vertices) a round, O(log n) rounds.  The rounds are one program (`compile`), which synchronizes once; with
    `progress`, and where loops are not compiled, once a round.

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
    if n == 0:
        report(0, None)
    return _luby(A, undecided, Vector(bool, n, device=A.device), report)


@compile
def _luby(A: Matrix, undecided: Vector, members: Vector, report: Progress) -> Vector:
    """Members: the undecided that no undecided neighbor exceeds; their neighbors are excluded; until none is left."""
    rounds = 0
    while undecided.nvals:  # synchronizes
        largest = A.mxv(undecided, semiring.max_second, mask=undecided.S)
        later = undecided.ewise_mult(largest, "lt").select("==", True)
        chosen = undecided.dup(mask=~later.S)
        members(chosen.S) << True
        excluded = chosen.vxm(A, semiring.any_pair, mask=undecided.S)
        undecided = undecided.dup(mask=~chosen.S).dup(mask=~excluded.S)
        rounds += 1
        report(rounds, None)
    return members


def _inverse_degree(A: Matrix, n: int) -> Vector:
    """1 / (degree(v) + 1), full."""
    degree = A.apply("second", right=np.float64(1)).reduce_rowwise("plus")
    return Vector.full(1.0, n, device=A.device).ewise_add(degree, "plus").apply("truediv", left=1.0)


@algorithm("v")
def coloring(
    A: Matrix, *, order: Vector | Vertices | None = None, seed: int = 0, progress: Progress | None = None
) -> Vector:
    """c(v) = the least color from 0 that no neighbor of v before it in an order has, so that neighbors differ.

    Parameters
    ----------
    A : Matrix, n x n, symmetric structure
        An entry is an edge; values are not read.  Self-loops are ignored.
    order : Vector of size n, full, of integers, or a sequence of rows or names, optional
        The vertices in the order of the greedy algorithm, as from `degree_order`; by default by decreasing degree.
    seed : int
        Determines the order of vertices of equal degree; of no effect with `order`.
    progress : callable, optional
        ``progress(done, n)`` is called with the number of colored vertices after every 64 colors; an exception in it
        ends the computation.

    Returns
    -------
    Vector of size n, full, int64.  The same on every engine.

    Raises
    ------
    DimensionMismatch
        If A is not square.
    InvalidValue
        If its structure is not symmetric, for a seed that is not an integer, or an order that is not full.
    DomainMismatch, DuplicateIndex, IndexOutOfBound
        If the order is not a permutation.

    Notes
    -----
    The colors are those of the greedy algorithm in the order, by default of (degree, largest first; random): at
    most the largest degree + 1, in practice far fewer.  A vertex gets the lowest bit that is not set in the bits of
    its neighbors that precede it: one `ops.acyclic_closure` for every 64 colors, and then the graph of the
    vertices without a color.  Cost O(n + nvals); on a GPU with a barrier for each step of the longest path of the
    order.  Synchronizes a few times for every 64 colors.

    Sources: Jones, Plassmann, "A Parallel Graph Coloring Heuristic", SIAM J. Sci. Comput. 14(3), 1993; Welsh, Powell,
    "An Upper Bound for the Chromatic Number of a Graph", The Computer Journal 10(1), 1967 (order); Hasenplaugh et al.,
    "Ordering Heuristics for Parallel Graph Coloring", SPAA 2014.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2), (2, 0), (2, 3)])
    >>> colors = sr.algorithms.coloring(A.ewise_add(A.T, "any")).to_dict()
    >>> colors[2], sorted(set(colors.values()))
    (0, [0, 1, 2])
    """
    n = undirected("coloring", A)
    seed, report = seed_of("coloring", seed), reporter("coloring", progress)
    colors = Vector(np.int64, n, device=A.device)
    if order is None:
        key = _by_degree(A, n, seed)
    else:
        if not isinstance(order, Vector):
            order = Vector.from_dense(rows("coloring", "order", order, n), device=A.device)
        key = inverse_of("coloring", vector("coloring", "order", order, n)).dup(dtype=np.float64).apply("ainv")
    later, uncolored, window = _orientation(A, key), None, 0
    while True:
        none = Vector.full(0, later.nrows, np.uint64, device=A.device)
        bit = ops.acyclic_closure(none, later, semiring.bor_first, then=_lowest_free).select("!=", 0)
        # A logarithm on a GPU may be a little less than the integer, and the cast to integers drops the fraction.
        number = bit.apply("log2").apply("plus", right=_COLORS * window + 0.5)
        if uncolored is None:
            colors << number
        else:
            places, values = listed(number)
            colors[uncolored[places]] = values
        report(colors.nvals, n)  # synchronizes
        if colors.nvals == n:
            return colors
        left = positions(Vector.full(True, later.nrows, device=A.device).dup(mask=~bit.S))
        later = later[left, :].dup()[:, left].dup()
        uncolored = left if uncolored is None else uncolored[left].dup()
        window += 1


def _by_degree(A: Matrix, n: int, seed: int) -> Vector:
    """Return keys that are largest for the largest degrees, with a random fraction."""
    degree = Vector.full(0.0, n, device=A.device).ewise_add(_ones(A).reduce_rowwise("plus"), "plus")
    return degree.ewise_add(uniform(n, seed, device=A.device), "plus")


def _orientation(A: Matrix, key: Vector) -> Matrix:
    """Return the entries (u, v) of A where u precedes v: by its key, largest first, then by its row number."""
    return key.ewise_mult(_ones(A), "first").ewise_mult(key, _precedes).select("==", True)


def _ones(A: Matrix) -> Matrix:
    """Return the structure of A with values of a type that has an order."""
    return A.apply("second", right=np.float64(1))
