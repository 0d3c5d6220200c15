"""Numbers of shortest paths and dependencies of many sources at once, level by level: the products of Brandes' method.

For a source s let sigma(v) be the number of shortest paths from s to v, and L(v) the level of v.  With the adjacency
matrix A, a matrix F(d) holds sigma at level d, one source a row or a column:

    F(d + 1) = A' F(d),           where no path of at most d edges leads         (forward, until nothing is new)
    delta(d) = F(d) * A Y(d + 1),  Y(d) = (1 + delta(d)) / F(d)                   (backward)

delta(v) is the dependency of s on v: the sum over t of the share of the shortest paths from s to t on which v lies.
sigma may be multiplied instead of F(d), and the sum of all Y instead of Y(d + 1): an edge leads at most one level
down, so a vertex at a new level has no other predecessors with paths, and no other successors that are complete.

Two layouts.  *Wide*: vertices are rows, sigma is a dense n x k matrix, and a product is a sparse matrix times a dense
one, or times a sparse one where the level has few edges; best for few levels.  *Deep*: sources are rows and all
matrices are sparse, so that a level costs what its edges cost; best for road networks.

Sources: Brandes, "A Faster Algorithm for Betweenness Centrality", 2001; Robinson, Kepner in Kepner, Gilbert (eds.),
"Graph Algorithms in the Language of Linear Algebra", SIAM 2011, chapter 6; Buluç, Gilbert, "The Combinatorial BLAS",
2011.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from semiring import Matrix, Vector, binary, hstack, semiring, vstack

# Products with a sparse operand whose time is that of one product with a dense operand (measured, kron16 on two cores).
_SPARSE = 16
# A level of the wide layout costs passes over n k values, one of the deep layout the products of its edges.  So the
# wide one is used up to a number of levels that grows with the entries of an average row (measured: kron16, roads).
_WIDE_LEVELS, _WIDE_LEVELS_PER_ENTRY = 6, 1.0

_fresh = binary.register_anonymous("select(y == 0, x, 0)", "fresh")
_share = binary.register_anonymous("(1 + x) / y", "share")


Levels: TypeAlias = tuple[list[Matrix], list[Matrix], list[Matrix]]


@dataclass
class Graph:
    """A graph as the products read it, in the type of the sums.

    deep : which layout its sweeps have
    The wide layout reads `out_complete` and `into_complete`, with the diagonal, so that no row of a product is empty; a
    diagonal entry adds sigma(v) = 0 to sigma(v).
    """

    A: Matrix
    dtype: np.dtype[Any]
    deep: bool = False

    @property
    def wide_levels(self) -> int:
        """The number of levels from which on the deep layout costs less."""
        return int(_WIDE_LEVELS + _WIDE_LEVELS_PER_ENTRY * self.A.nvals / max(self.A.nrows, 1))

    @cached_property
    def out(self) -> Matrix:
        """The structure of A, with ones."""
        return self.A.apply("second", right=self.dtype.type(1)).wait()

    @cached_property
    def into(self) -> Matrix:
        """The transpose of `out`."""
        return self.out if self.A.is_symmetric_structure else self.out.T

    @cached_property
    def out_complete(self) -> Matrix:
        """The structure of A and the diagonal, with ones."""
        if self.A.placement != "device":
            return self.out
        return self.out.ewise_add(Matrix.identity(self.A.nrows, self.dtype, device=self.A.device), "any").wait()

    @cached_property
    def into_complete(self) -> Matrix:
        """The transpose of `out_complete`."""
        return self.out_complete if self.A.is_symmetric_structure else self.out_complete.T

    @cached_property
    def out_degree(self) -> Vector:
        """The number of entries of each row."""
        return self.A.reduce_rowwise("count")

    @cached_property
    def in_degree(self) -> Vector:
        """The number of entries of each column."""
        return self.out_degree if self.A.is_symmetric_structure else self.A.reduce_columnwise("count")


@dataclass(frozen=True)
class Sweep:
    """The levels of a batch of k sources.

    paths : F(d) from d = 0, n x k, or k x n in the deep layout
    shares : Y(d) from d = 1, of the same structure
    dependencies : delta(d) from d = 1; missing where no shortest path continues
    """

    deep: bool
    paths: list[Matrix]
    shares: list[Matrix]
    dependencies: list[Matrix]

    def of_vertices(self, parts: list[Matrix], monoid: str) -> Vector:
        """Reduce matrices of levels over all sources, to a Vector of size n."""
        sums: Vector = vstack(parts).reduce_columnwise(monoid) if self.deep else hstack(parts).reduce_rowwise(monoid)
        return sums

    def of_sources(self, parts: list[Matrix]) -> Vector:
        """Count entries of matrices of levels over all vertices, to a Vector of size k."""
        counts: Vector = (
            hstack(parts).reduce_rowwise("count") if self.deep else vstack(parts).reduce_columnwise("count")
        )
        return counts

    def of_edges(self, A: Matrix) -> Matrix:
        """E(u, v) = sum over the sources and d of F(d)(u) Y(d + 1)(v), for the entries of A."""
        before, after = self.paths[:-1], self.shares
        left, right = (vstack(before).T, vstack(after)) if self.deep else (hstack(before), hstack(after).T)
        sums: Matrix = left.mxm(right, "plus_times", mask=A.S)
        return sums


def sweep(graph: Graph, sources: list[int]) -> Sweep:
    """Return the levels from a batch of sources, in the layout that costs least."""
    if not graph.deep:
        levels = _wide(graph, sources)
        if levels is not None:
            return Sweep(False, *levels)
        graph.deep = True  # for all further batches
    return Sweep(True, *_deep(graph, sources))


def _deep(graph: Graph, sources: list[int]) -> Levels:
    k, dtype = len(sources), graph.dtype
    ring = semiring.plus_first[dtype]
    two_levels = graph.A.is_symmetric_structure  # a neighbour is at most one level nearer
    F = Matrix.from_coo(np.arange(k), sources, dtype.type(1), shape=(k, graph.A.nrows), device=graph.A.device)
    paths, seen = [], F
    while F.nvals:  # synchronises
        paths.append(F)
        following = F.mxm(graph.out, ring, mask=~seen.S, method="rows").wait()
        seen = following.ewise_add(F if two_levels else seen, "any")
        F = following
    if len(paths) == 1:
        return paths, [], []
    shares, dependencies = [paths[-1].apply("minv")], []
    for F in reversed(paths[1:-1]):
        flow = shares[-1].mxm(graph.into, ring, mask=F.S, method="rows")
        dependencies.append(flow.ewise_mult(F, "times"))
        shares.append(dependencies[-1].ewise_union(F, _share, 0, 0).wait())
    return paths, shares[::-1], dependencies[::-1]


def _wide(graph: Graph, sources: list[int]) -> Levels | None:
    """Return the levels, or None if there are too many for this layout."""
    A, k, dtype = graph.A, len(sources), graph.dtype
    ring, limit = semiring.plus_second[dtype], graph.wide_levels
    F = Matrix.from_coo(sources, np.arange(k), dtype.type(1), shape=(A.nrows, k), device=A.device)
    none = Matrix.from_scalar(dtype.type(0), A.nrows, k, device=A.device)
    sigma = none.ewise_add(F, "plus")
    paths: list[Matrix] = []
    few_out: list[bool] = []
    while F.nvals:  # synchronises
        if len(paths) == limit:
            return None
        paths.append(F)
        few_out.append(_is_sparse(F, graph.out_degree, A))
        product = graph.into_complete.mxm(F if few_out[-1] else sigma, ring)
        new = product.ewise_mult(sigma, _fresh).wait()
        F = new.select("!=", 0).wait()
        sigma = sigma.ewise_add(new, "plus").wait()
    if len(paths) == 1:
        return paths, [], []
    shares, dependencies = [paths[-1].apply("minv").wait()], []
    total = none.ewise_add(shares[0], "plus")
    for d in range(len(paths) - 2, 0, -1):
        F = paths[d]
        if _is_sparse(shares[-1], graph.in_degree, A):
            flow = graph.out_complete.mxm(shares[-1], ring)
        else:
            flow = graph.out_complete.mxm(total, ring, mask=F.S if few_out[d] else None)
        dependencies.append(flow.ewise_mult(F, "times").wait())
        shares.append(dependencies[-1].ewise_union(F, _share, 0, 0).wait())
        total = total.ewise_add(shares[-1], "plus").wait()
    return paths, shares[::-1], dependencies[::-1]


def _is_sparse(F: Matrix, degree: Vector, A: Matrix) -> bool:
    """Return whether the edges of a level are few enough for a product with a sparse operand."""
    edges = F.reduce_rowwise("count").inner(degree).get(0)  # synchronises
    return int(edges) * _SPARSE < A.nvals * F.ncols
