"""Numbers of shortest paths and dependencies of many sources at once, level by level: the products of Brandes' method.

For a source s let sigma(v) be the number of shortest paths from s to v, and L(v) the level of v.  With the adjacency
matrix A, a matrix F(d) holds sigma at level d, one source a row or a column:

    F(d + 1) = A' F(d),           where no path of at most d edges leads         (forward, until nothing is new)
    delta(d) = F(d) * A Y(d + 1),  Y(d) = (1 + delta(d)) / F(d)                   (backward)

delta(v) is the dependency of s on v: the sum over t of the share of the shortest paths from s to t on which v lies.
sigma may be multiplied instead of F(d): an edge leads at most one level down, so a vertex of a new level has no other
predecessors with paths.

Each level has the layout that costs least.  A level of few edges is a sparse k x n matrix, whose product costs what its
edges cost; on road networks all levels are.  A level of many edges is a dense n x k matrix, 0 at other levels, and its
product is one of a sparse and a dense matrix; Kronecker graphs have two to four such levels.

Sources: Brandes, "A Faster Algorithm for Betweenness Centrality", 2001; Robinson, Kepner in Kepner, Gilbert (eds.),
"Graph Algorithms in the Language of Linear Algebra", SIAM 2011, chapter 6; Buluç, Gilbert, "The Combinatorial BLAS",
2011.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from semiring import Matrix, Vector, binary, monoid, semiring, unary

from ..cached_property import kept
from ..checks import processor

# Products with a dense operand in the time of one with a sparse operand (measured, kron16 on two cores, kron20 on an
# H200).
_SPARSE = {"cpu": 16, "cuda": 1000}
# A dense level has at least one edge for so many positions.  So there are at most so many dense levels for each entry
# of an average row, whatever the graph is.
_POSITIONS = 4

_fresh = binary.register_anonymous("select(y == 0, x, 0)", "fresh")
_share = binary.register_anonymous("select(y == 0, 0, (1 + x) / y)", "share")
_inverse = unary.register_anonymous("select(x == 0, 0, 1 / x)", "inverse")
_plus_where = semiring.register_anonymous(
    monoid.plus, binary.register_anonymous("select(y == 0, 0, x)", "where"), "plus_where"
)


@dataclass
class Graph:
    """A graph as the products read it, in the type of the sums.

    Dense products read `out_complete` and `into_complete`, with the diagonal, so that no row of a product is empty; a
    diagonal entry adds sigma(v) = 0 to sigma(v).
    """

    A: Matrix
    dtype: np.dtype[Any]

    @kept
    def out(self) -> Matrix:
        """The structure of A, with ones."""
        return self.A.apply("second", right=self.dtype.type(1)).wait()

    @kept
    def into(self) -> Matrix:
        """The transpose of `out`."""
        return self.out if self.A.is_symmetric_structure else self.out.T

    @kept
    def out_complete(self) -> Matrix:
        """The structure of A and the diagonal, with ones; without the diagonal for entries outside device memory."""
        if self.A.placement != "device":
            return self.out
        return self.out.ewise_add(Matrix.identity(self.A.nrows, self.dtype, device=self.A.device), "any").wait()

    @kept
    def into_complete(self) -> Matrix:
        """The transpose of `out_complete`."""
        return self.out_complete if self.A.is_symmetric_structure else self.out_complete.T

    @kept
    def out_work(self) -> Vector:
        """One more than the number of entries of each row."""
        return Vector.full(1.0, self.A.nrows, device=self.A.device).ewise_add(self.A.reduce_rowwise("count"), "plus")

    @kept
    def in_work(self) -> Vector:
        """One more than the number of entries of each column."""
        if self.A.is_symmetric_structure:
            return self.out_work
        return Vector.full(1.0, self.A.nrows, device=self.A.device).ewise_add(self.A.reduce_columnwise("count"), "plus")

    @kept
    def most_work(self) -> float:
        """The largest entry of `out_work` and `in_work`."""
        return max(float(work.reduce("max").get(0)) for work in (self.out_work, self.in_work))

    def many(self, work: float, k: int) -> bool:
        """Return whether a dense product costs less than one with a sparse operand of so many edges and entries."""
        return work > k * max(self.A.nvals / _SPARSE[processor(self.A)], self.A.nrows / _POSITIONS)


class Level(NamedTuple):
    """F(d).

    paths : k x n and sparse, or n x k and dense
    work : the number of its entries and of the edges that leave them, or a bound that is small
    """

    paths: Matrix
    dense: bool
    work: float


class Step(NamedTuple):
    """A level of the backward pass: F(d), Y(d) and delta(d), which is None at the last level.

    by_vertex : whether delta is n x k, else k x n
    """

    level: Level
    shares: Matrix
    dependencies: Matrix | None
    by_vertex: bool


def forward(graph: Graph, sources: list[int]) -> list[Level]:
    """Return the levels from a batch of sources."""
    A, k, one = graph.A, len(sources), graph.dtype.type(1)
    sparse_ring, dense_ring = semiring.plus_first[graph.dtype], semiring.plus_second[graph.dtype]
    F = Matrix.from_coo(np.arange(k), sources, one, shape=(k, A.nrows), device=A.device)
    level = Level(F, False, _work(graph, F, graph.out_work))
    levels: list[Level] = []
    sigma: Matrix | None = None  # of the first `held` levels
    held = 0
    near: Matrix | None = F  # what the next level excludes, beside `sigma`
    while level.work:
        levels.append(level)
        if graph.many(level.work, k):
            if sigma is None:
                sigma = Matrix.from_scalar(graph.dtype.type(0), A.nrows, k, device=A.device)
            sigma = _added(sigma, [part.paths for part in levels[held:]])
            new = graph.into_complete.mxm(sigma, dense_ring).ewise_mult(sigma, _fresh).wait()
            work = float(graph.out_work.vxm(new, _plus_where).reduce("plus").get(0))  # synchronizes
            dense = graph.many(work, k)
            F = new if dense else new.select("!=", 0).T.wait()
            sigma, held, near = sigma.ewise_add(new, "plus").wait(), len(levels) + 1, None
            level = Level(F, dense, work)
            continue
        following = level.paths.mxm(graph.out, sparse_ring, mask=None if near is None else ~near.S)
        if sigma is not None:
            following = following.T.ewise_mult(sigma, _fresh).select("!=", 0).T
        F = following.wait()
        if A.is_symmetric_structure:  # a neighbor is at most one level nearer
            near = F.ewise_add(level.paths, "any")
        else:
            near = F if near is None else F.ewise_add(near, "any")
        level = Level(F, False, _work(graph, F, graph.out_work))
    return levels


def backward(graph: Graph, levels: list[Level], k: int) -> Iterator[Step]:
    """Yield the levels from the last one to level 1, and remove them from the list."""
    sparse_ring, dense_ring = semiring.plus_first[graph.dtype], semiring.plus_second[graph.dtype]
    if len(levels) < 2:
        return
    above = levels.pop()
    shares = above.paths.apply(_inverse).wait()
    yield Step(above, shares, None, above.dense)
    while len(levels) > 1:
        level = levels.pop()
        F = level.paths
        if above.dense or graph.many(_work(graph, above.paths, graph.in_work), k):
            dense = shares if above.dense else _densified(graph, k, shares)
            places = F if level.dense else F.T
            wanted = None if level.dense or graph.many(level.work, k) else places.S
            delta = graph.out_complete.mxm(dense, dense_ring, mask=wanted).ewise_mult(places, "times")
            delta = delta if level.dense else delta.T
        elif level.dense:
            delta = shares.mxm(graph.into, sparse_ring).T.ewise_mult(F, "times")
        else:
            delta = shares.mxm(graph.into, sparse_ring, mask=F.S, method="rows").ewise_mult(F, "times")
        delta.wait()
        shares = delta.ewise_union(F, _share, 0, 0).wait()
        yield Step(level, shares, delta, level.dense)
        above = level


def by_source(M: Matrix, *, dense: bool) -> Matrix:
    """Return a matrix of a level as a sparse k x n matrix."""
    return M.select("!=", 0).T.dup() if dense else M


def _work(graph: Graph, F: Matrix, work: Vector) -> float:
    """Return the sum of the work of the entries of a sparse level, or a bound of it that is small.  Synchronizes."""
    bound = F.nvals * graph.most_work
    return float(F.reduce_columnwise("count").inner(work).get(0)) if graph.many(bound, F.nrows) else bound


def _densified(graph: Graph, k: int, sparse: Matrix) -> Matrix:
    """Return a sparse k x n matrix as a dense n x k one, with 0 where it has no entry."""
    none = Matrix.from_scalar(graph.dtype.type(0), graph.A.nrows, k, device=graph.A.device)
    return _added(none, [sparse])


def _added(dense: Matrix, parts: list[Matrix]) -> Matrix:
    """Return a dense n x k matrix with sparse k x n ones, which have no common entries, added to it."""
    if not parts:
        return dense
    together = parts[0]
    for part in parts[1:]:
        together = together.ewise_add(part, "plus")
    return dense.ewise_add(together.T, "plus").wait()
