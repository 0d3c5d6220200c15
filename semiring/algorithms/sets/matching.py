"""Matchings: edges of which no two share an end.

Sources: Preis, "Linear Time 1/2-Approximation Algorithm for Maximum Weighted Matching in General Graphs", STACS 1999
(locally heaviest edges); Birn et al., "Efficient Parallel and External Matching", Euro-Par 2013; Hopcroft, Karp, "An
n^{5/2} Algorithm for Maximum Matchings in Bipartite Graphs", SIAM J. Comput. 2(4), 1973; Azad, Buluç, "Distributed-
Memory Algorithms for Maximum Cardinality Matching in Bipartite Graphs", IPDPS 2016 (searches from all free vertices).
"""

from __future__ import annotations

import numpy as np

from semiring import Matrix, Vector, binary, indexunary, monoid, ops, semiring
from semiring.exceptions import NotSupported

from ..checks import is_matrix, seed_of, undirected, weights
from ..entries import listed
from ..progress import Progress, reporter
from ..randomness import distinct

# The same number for both directions of an edge.
_of_edge = indexunary.register_anonymous("random(min(i, j), max(i, j), k)", "random_of_edge")

# A claim: the free row in which a search began, times 2^32, + the column before on its path, or 2^32 - 1.
_WORD, _NONE, _LARGEST = 1 << 32, (1 << 32) - 1, (1 << 31) - 1
_root = indexunary.register_anonymous("i * 4294967296 + 4294967295", "root_of_search")
_claim = semiring.register_anonymous(
    monoid.any, binary.register_anonymous("bor(band(x, -4294967296), xj)", "claim"), "any_claim"
)


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
        Determines the maximal matching that the search begins with.
    progress : callable, optional
        ``progress(done, total)`` is called with the number of pairs, and an upper bound of it, after each phase; an
        exception in it ends the computation.

    Returns
    -------
    Vector of size m, int64: the column of each matched row, missing elsewhere.  Which of several maximum matchings it
    is may differ from run to run; their size does not.

    Raises
    ------
    InvalidValue
        If A is not a Matrix, or for a seed that is no integer.
    NotSupported
        For 2**31 rows or columns and more.

    Notes
    -----
    Begins with a maximal matching.  A phase searches from all free rows at once along alternating paths: one closure
    over the columns, c leading to the entries of the row that is matched with c, so that every column is in the tree of
    one free row.  It augments along one path in each tree that has a free column.  Cost O(m + n + nvals) a phase; the
    number of phases is at most the number of pairs, in practice small.  Synchronises a few times a phase.

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
    if max(m, n) > _LARGEST:
        raise NotSupported(
            f"maximum_bipartite_matching: at most {_LARGEST:,} rows and columns, got {m:,} and {n:,}; extract those "
            "that have entries"
        )
    seed, report = seed_of("maximum_bipartite_matching", seed), reporter("maximum_bipartite_matching", progress)
    found_columns, found_rows = _maximal(A, seed)
    # The column of each row and the row of each column; n or m: none.
    column, row = Vector.full(n, m, np.int64, device=A.device), Vector.full(m, n, np.int64, device=A.device)
    column(found_columns.S) << found_columns
    row(found_rows.S) << found_rows
    rows, unit = A.apply("one").dup(), Matrix.identity(n, bool, device=A.device)
    rows.resize(m + 1, n)
    unit.resize(n + 1, n)
    while True:
        matched = column.select("<", n)
        report(matched.nvals, min(m, n))
        claim = _alternating_search(rows[row, :].dup(), A, column)
        ends = _one_of_each_tree(claim.dup(mask=row.select("==", m).S), m)
        if ends.size == 0:
            return matched
        _augment(ends, claim, unit, column, row)


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
        of_column[columns] = rows
        of_row[rows] = columns
        # A row without a free neighbour never has one later.
        unmatched = Vector.full(True, m, device=A.device).dup(mask=~of_row.S)
        step += 1


def _alternating_search(follows: Matrix, A: Matrix, column: Vector) -> Vector:
    """Return for each column that an alternating path from a free row reaches: (that row) 2^32 + the column before.

    follows(c, d): row `row(c)` has an entry in column d.  The first column of a path has no column before it: 2^32 - 1.
    """
    roots = column.select("==", A.ncols).apply(_root)
    return ops.closure(roots.vxm(A, semiring.min_first), follows, _claim, direction="push")


def _one_of_each_tree(free: Vector, m: int) -> Vector:
    """Return one of the free columns of each tree, given the claims of all."""
    columns, claims = listed(free)
    first = Vector(np.int64, m, device=free.device)
    first(accum="min")[claims.apply("floordiv", right=_WORD)] << columns
    return listed(first)[1]


def _augment(ends: Vector, claim: Vector, unit: Matrix, column: Vector, row: Vector) -> None:
    """Exchange the edges of the alternating paths that end in these columns; no two paths have a vertex in common.

    unit: the identity, with an empty row below it.
    """
    n = unit.ncols
    before = Vector.full(n, n, np.int64, device=claim.device)
    known = claim.apply("mod", right=_WORD).select("!=", _NONE)
    before(known.S) << known
    on_paths = Vector(bool, n, device=claim.device)
    on_paths[ends] = True
    on_paths = ops.closure(on_paths, unit[before, :].dup(), semiring.any_pair, direction="push")
    columns, claims = listed(claim.dup(mask=on_paths.S))
    rows = claims.apply("floordiv", right=_WORD).dup()
    inner, previous = listed(claims.apply("mod", right=_WORD).select("!=", _NONE))
    rows[inner] = row[previous]
    row[columns] = rows
    column[rows] = columns
