"""Matchings: edges of which no two share an end.

Sources: Preis, "Linear Time 1/2-Approximation Algorithm for Maximum Weighted Matching in General Graphs", STACS 1999
(locally heaviest edges); Birn et al., "Efficient Parallel and External Matching", Euro-Par 2013; Hopcroft, Karp, "An
n^{5/2} Algorithm for Maximum Matchings in Bipartite Graphs", SIAM J. Comput. 2(4), 1973; Azad, Buluç, "Distributed-
Memory Algorithms for Maximum Cardinality Matching in Bipartite Graphs", IPDPS 2016 (searches from all free vertices).
"""

from __future__ import annotations

import numpy as np

from semiring import Matrix, Vector, indexunary, ops, semiring

from ..checks import is_matrix, seed_of, undirected, weights
from ..entries import listed
from ..progress import Progress, reporter
from ..randomness import distinct

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
    return mate


def _full(v: Vector, n: int) -> Vector:
    """v with zeros where entries are missing."""
    return Vector.full(0, n, v.dtype, device=v.device).ewise_add(v, "second")


@ops.reports_memory
def maximum_bipartite_matching(A: Matrix, *, seed: int = 0, progress: Progress | None = None) -> Vector:
    """mate(i) = the column with which row i is matched, in a matching of rows and columns with the most pairs.

    Parameters
    ----------
    A : Matrix, m x n
        A bipartite graph: an entry (i, j) is an edge between row i and column j; values are not read.
    seed : int
        Determines which of several maximum matchings is found.
    progress : callable, optional
        ``progress(done, total)`` is called with the number of pairs, and an upper bound of it, after each phase; an
        exception in it ends the computation.

    Returns
    -------
    Vector of size m, int64: the column of each matched row, missing elsewhere.  The same on every engine.

    Raises
    ------
    InvalidValue
        If A is not a Matrix, or for a seed that is no integer.

    Notes
    -----
    Begins with a maximal matching.  A phase searches from all free rows at once along alternating paths, one step for
    each vxm, stops each tree at its first free column, and augments along the disjoint paths found.  Cost O(nvals) for
    the products of a phase, and O(m + n) for each of its steps; the number of phases is at most the number of pairs, in
    practice small.  Synchronises a few times for each step of the searches and of the longest augmenting path.

    Sources: Hopcroft, Karp, "An n^{5/2} Algorithm for Maximum Matchings in Bipartite Graphs", SIAM J. Comput. 2(4),
    1973; Azad, Buluç, "Distributed-Memory Algorithms for Maximum Cardinality Matching in Bipartite Graphs", IPDPS 2016.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 0), (0, 1), (1, 0), (2, 1)], nrows=3, ncols=2)
    >>> mate = sr.algorithms.maximum_bipartite_matching(A)
    >>> mate.nvals, all(mate[i].value in A[i].to_dict() for i in mate.to_dict())
    (2, True)
    """
    m, n = is_matrix("maximum_bipartite_matching", A).shape
    seed, report = seed_of("maximum_bipartite_matching", seed), reporter("maximum_bipartite_matching", progress)
    of_row, of_column = _maximal(A, seed)
    while True:
        report(of_row.nvals, min(m, n))
        parent, ends = _alternating_search(A, of_row, of_column)
        if ends.size == 0:
            return of_row
        _augment(ends, parent, of_row, of_column)


def _maximal(A: Matrix, seed: int) -> tuple[Vector, Vector]:
    """A maximal matching: free rows choose a free neighbour with the least random key, which accepts the first row."""
    (m, n), step = A.shape, 0
    of_row, of_column = Vector(np.int64, m, device=A.device), Vector(np.int64, n, device=A.device)
    unmatched = Vector.full(True, m, device=A.device)
    while True:
        keys = distinct(n, seed, step, device=A.device).dup(mask=~of_column.S)
        rows, chosen = listed(A.mxv(keys, semiring.min_second, mask=unmatched.S))
        if rows.size == 0:  # synchronises
            return of_row, of_column
        accepted = Vector(np.int64, n, device=A.device)
        accepted(accum="min")[chosen.apply("mod", right=n)] << rows
        columns, rows = listed(accepted)
        of_column[columns] << rows
        of_row[rows] << columns
        # A row without a free neighbour never has one later.
        unmatched = Vector.full(True, m, device=A.device).dup(mask=~of_row.S)
        step += 1


def _alternating_search(A: Matrix, of_row: Vector, of_column: Vector) -> tuple[Vector, Vector]:
    """Search from all free rows; return the parent row of each column, and a free column for each tree that has any."""
    m, n = A.shape
    root = Vector.full(True, m, device=A.device).dup(mask=~of_row.S).apply("rowindex").dup()
    parent, end = Vector(np.int64, n, device=A.device), Vector(np.int64, m, device=A.device)
    frontier = root.dup()
    while frontier.nvals:  # synchronises
        found = frontier.vxm(A, semiring.min_secondi[np.int64], mask=~parent.S)
        parent(found.S) << found
        columns, rows = listed(found)
        roots, mates = root[rows].dup(), of_column[columns].dup()
        # The first free column of each tree ends its search.
        end(accum="min")[roots] << columns.dup(mask=~mates.S)
        growing = mates.dup(mask=~end[roots].S)
        places, following = listed(growing)
        frontier = Vector(np.int64, m, device=A.device)
        frontier[following] << roots[places]
        root(frontier.S) << frontier
    return parent, listed(end)[1]


def _augment(columns: Vector, parent: Vector, of_row: Vector, of_column: Vector) -> None:
    """Exchange the edges of the alternating paths that end in these columns."""
    while columns.size:  # synchronises
        rows = parent[columns].dup()
        _, following = listed(of_row[rows])
        of_row[rows] << columns
        of_column[columns] << rows
        columns = following
