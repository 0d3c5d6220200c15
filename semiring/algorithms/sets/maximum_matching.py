"""Maximum matchings of bipartite graphs: alternating paths from all free rows at once, one of each tree a phase.

    d            = the closure of the columns next to free rows under  rows(row(c), :)          (min_plus, weight 1)
    visited(i)   = 2^32 (d(column(i)) + 1) + i,  and i for free rows
    above(c)     = the least of visited(i) over the entries A(i, c)                             (min_first)
    root(c)      = the least of above(b) over the columns b on the path to c                    (treefix)

above(c) holds a row that is one step closer to the free rows, and of several the smallest.  So the trees depend on the
matching alone, not on the order in which entries are visited.  A free row on top of a tree is the least value in it.

No later path leaves the columns that are reached from a free row, nor those from which a free column is reached: an
exchange within such a set adds no edge that leaves or enters it.  After two phases the others are left out once; trees,
and so the matching, do not change.

Sources: Hopcroft, Karp, "An n^{5/2} Algorithm for Maximum Matchings in Bipartite Graphs", SIAM J. Comput. 2(4), 1973;
Azad, Buluç, "Distributed-Memory Algorithms for Maximum Cardinality Matching in Bipartite Graphs", IPDPS 2016 (searches
from all free vertices); Karp, Sipser, "Maximum matchings in sparse random graphs", FOCS 1981 (low degrees first).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from semiring import Matrix, Vector, binary, indexunary, ops, semiring
from semiring.exceptions import NotSupported

from ..checks import is_matrix, seed_of
from ..index_vectors import listed, positions
from ..progress import Progress, reporter
from ..randomness import distinct
from ..vertex_labels import algorithm

_WORD, _LARGEST = 1 << 32, (1 << 31) - 1
# The phase before which the search is restricted: reasoned, since the first two match most, and what is left of roads
# after them takes six or seven phases more.
_RESTRICTED = 2
_or_itself = indexunary.register_anonymous("select(x == k, i, x)", "or_itself")
# A row at a distance: the least of several is the smallest row at the least distance.
_row_after = binary.register_anonymous("(x + 1) * 4294967296 + y", "row_after")


@algorithm("r>c")
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
    is depends on `seed` alone, and not on engine or threads.

    Raises
    ------
    InvalidValue
        If A is not a Matrix, or for a seed that is no integer.
    NotSupported
        For 2**31 rows or columns and more.

    Notes
    -----
    Begins with a maximal matching that prefers low degrees.  A phase searches from all free rows at once along
    alternating paths, and augments along one path in each tree that has a free column.  Cost O(m + n + nvals) a phase;
    the number of phases is at most the number of pairs, in practice small.  Synchronizes a few times a phase.

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
    graph = A.apply("second", right=np.bool_(True)).wait()  # of a type with an order, whatever the type of A
    of_row, of_column = _maximal(graph, seed)
    search = _Search.of(graph, of_row, of_column)
    phases, most = 0, min(m, n)
    report(search.matched().nvals, most)
    while search.augment():
        phases += 1
        report(search.matched().nvals, most)
        if phases == _RESTRICTED:
            _complete(search, lambda pairs: report(pairs, most))
            break
    return search.matched()


def _complete(search: _Search, report: Callable[[int], object]) -> None:
    """Augment the matching until it is a maximum one, among the rows and columns that alternating paths can visit."""
    part, rows, columns = search.restricted()
    outside = search.matched().nvals - part.matched().nvals
    while part.augment():
        report(outside + part.matched().nvals)
    inside, mates = listed(part.matched())
    search.column[rows[inside].dup()] = columns[mates].dup()


def _maximal(A: Matrix, seed: int) -> tuple[Vector, Vector]:
    """A maximal matching: free rows choose a free neighbor, which accepts one of them; those of low degree first."""
    (m, n), device, ones = A.shape, A.device, A.apply("one")
    of_row, of_column = Vector(np.int64, m, device=device), Vector(np.int64, n, device=device)
    row_keys = distinct(m, seed, 0, device=device, scale=_scale(ones.reduce_rowwise("plus")))
    column_keys = distinct(n, seed, 1, device=device, scale=_scale(ones.reduce_columnwise("plus")))
    unmatched = Vector.full(True, m, device=device)
    while True:
        keys = column_keys.dup(mask=~of_column.S)
        choice = A.mxv(keys, semiring.min_second, mask=unmatched.S).wait()
        rows, chosen = listed(choice)
        if rows.size == 0:  # synchronizes
            return of_row, of_column
        accepted = Vector(np.int64, n, device=device)
        accepted(accum="min")[chosen.apply("mod", right=n)] << row_keys[rows]
        columns, rows = listed(accepted.apply("mod", right=m))
        of_column[columns] = rows
        of_row[rows] = columns
        # A row without a free neighbor never has one later.
        unmatched = choice.dup(mask=~of_row.S)


def _scale(degrees: Vector) -> Vector:
    """Factors from 0 to 1 in proportion to degrees."""
    made = Vector.full(0.0, degrees.size, device=degrees.device).ewise_add(degrees, "second")
    most = made.reduce("max").get(0.0)
    return made.apply("truediv", right=most) if most else made


@dataclass
class _Search:
    """A graph with a matching, in which alternating paths from the free rows are found.

    A: the graph, m x n.  rows: its pattern, with an empty row m.  occupied: an entry for each row of A that has any.
    column(i), row(j): with whom a row and a column are matched; n or m: with nobody.  column(m) = n.
    reached: the columns that the last search visited.
    """

    A: Matrix
    rows: Matrix
    occupied: Vector
    column: Vector
    row: Vector
    reached: Vector

    @classmethod
    def of(cls, A: Matrix, of_row: Vector, of_column: Vector) -> _Search:
        """The search for the matching in which these are matched."""
        (m, n), rows = A.shape, A.apply("one").dup()
        rows.resize(m + 1, n)
        column, row = (Vector.full(k, size, np.int64, device=A.device) for k, size in ((n, m + 1), (m, n)))
        column[:m](of_row.S) << of_row
        row(of_column.S) << of_column
        return cls(A, rows, A.reduce_rowwise("any").dup(), column, row, Vector(np.int64, 0, device=A.device))

    def matched(self) -> Vector:
        """The columns of the matched rows."""
        m, n = self.A.shape
        return self.column[:m].select("<", n)

    def augment(self) -> bool:
        """Exchange the edges of one path of each tree that has a free column; return whether there is any."""
        m, n = self.A.shape
        column = self.column[:m].dup()
        free = column.select("==", n).apply("rowindex").dup(mask=self.occupied.S)
        follows = self.rows[self.row, :].dup()  # from a column to those of the row that is matched with it
        start = free.vxm(self.A, semiring.any_pair).apply("second", right=np.int64(0))
        distance = ops.closure(start, follows, "min_plus", weight=1, direction="push")
        columns, steps = listed(distance)
        self.reached = columns
        mates = self.row[columns].dup()
        ends = positions(mates.select("==", m))
        if ends.size == 0:
            return False
        inner = positions(mates.select("<", m))
        rows = mates[inner].dup()
        visited = Vector(np.int64, m, device=free.device)
        visited[rows] = steps[inner].ewise_mult(rows, _row_after)
        visited = visited.ewise_add(free, "second").dup()
        above = listed(visited.vxm(self.A, semiring.min_first, mask=distance.S))[1]
        self._exchange(columns, ends, above)
        return True

    def _exchange(self, columns: Vector, ends: Vector, above: Vector) -> None:
        """Match the columns of a path to one of these ends in each tree with the rows above them.

        columns: those that the search visited.  ends: places among them.  above: (steps to the root) 2^32 + the row
        above each of them.
        """
        (m, n), device, k = self.A.shape, self.A.device, columns.size
        above_row = above.apply("mod", right=_WORD).dup()
        place = Vector.full(-1, n + 1, np.int64, device=device)
        place[columns] = columns.apply("rowindex")
        parent = place[self.column[above_row].dup()].apply(_or_itself, right=-1)
        root = ops.treefix(parent, above, "min", towards="leaves")
        first = Vector(np.int64, m, device=device)
        first(accum="min")[root[ends]] << ends
        on_path = Vector.full(False, k, device=device)
        on_path[listed(first)[1]] = True
        path = positions(ops.treefix(parent, on_path, "lor", towards="roots").select("==", True))
        rows, exchanged = above_row[path].dup(), columns[path].dup()
        self.row[exchanged] = rows
        self.column[rows] = exchanged

    def restricted(self) -> tuple[_Search, Vector, Vector]:
        """Return the search among rows and columns between free rows and free columns, and the numbers of these."""
        (m, n), device = self.A.shape, self.A.device
        column = self.column[:m].dup()
        backwards = self.A.T.apply("one").dup()
        backwards.resize(n + 1, m)
        beside = self.A.mxv(self.row.select("==", m).apply("one"), semiring.any_pair).dup()
        leading = ops.closure(beside, backwards[column, :].dup(), semiring.any_pair, direction="push")
        # A column leads to a free one if its row does, or if it is free.
        leads = Vector.full(False, m + 1, device=device)
        leads[positions(leading)] = True
        leads[m] = True
        columns = self.reached[positions(leads[self.row[self.reached].dup()].select("==", True))].dup()
        kept = Vector.full(False, m + 1, device=device)
        kept[self.row[columns].dup()] = True
        kept[positions(column.select("==", n).ewise_mult(leading, "pair"))] = True
        rows = positions(kept[:m].select("==", True))
        places = [
            Vector.full(size, length + 1, np.int64, device=device)
            for size, length in ((columns.size, n), (rows.size, m))
        ]
        for place, these in zip(places, (columns, rows), strict=True):
            place[these] = these.apply("rowindex")
        of_row = places[0][column[rows].dup()].select("<", columns.size).dup()
        of_column = places[1][self.row[columns].dup()].select("<", rows.size).dup()
        part = self.A[rows, columns].dup()
        part.T.dup()  # derives the transpose, which is cached: products with most rows then read columns
        return _Search.of(part, of_row, of_column), rows, columns
