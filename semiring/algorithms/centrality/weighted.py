"""Numbers of shortest paths and dependencies of weighted graphs: Brandes' method on the tight edges of many sources.

Sources do not share distances, so a batch of k searches k copies of the graph, the blocks of I (x) A, at once:

    d = closure({start of each block: 0}, I (x) A, min_plus)
    T(u, v) = true where d(u) + A(u, v) = d(v)                                  the graph of the shortest paths

T is acyclic where weights are positive.  An infinite weight is replaced by a number above the length of every path of
finite ones, so that paths over it are compared and counted as others.  With F(v) the number of paths to v, and Y(v) =
(1 + delta(v)) / F(v), where delta is the dependency,

    F = {start of each block: 1} T*,    Y = (1 / F) (T')*      over plus_first

each an `ops.acyclic_closure`: every edge of T is visited once for it.

Sources: Brandes, "A Faster Algorithm for Betweenness Centrality", 2001; "On Variants of Shortest-Path Betweenness
Centrality and their Generic Computation", 2008.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from semiring import Matrix, Vector, binary, ops, semiring
from semiring.exceptions import GraphProperty, NotSupported

from ..cached_property import kept
from ..paths.sssp import weight_type
from ..scaling import bounded, largest

# Distances are filled with -1 where there is no path: operations with full vectors cost one pass over the entries.
_extended = binary.register_anonymous("select(x < 0, x, x + y)", "extended")
_finite = binary.register_anonymous("select(isinf(x), y, x)", "finite")
_tight = binary.register_anonymous("land(x >= 0, x == y)", "tight")


@dataclass
class WeightedGraph:
    """A graph with positive weights, and its copies for the last number of sources."""

    A: Matrix
    dtype: np.dtype[Any]
    _copies: dict[int, Matrix] = field(default_factory=dict)

    @kept
    def lengths(self) -> Matrix:
        """The weights; an infinite one as a number above the length of every path of finite weights."""
        A, n = self.A.dup(dtype=weight_type(self.A)), max(self.A.nrows, 1)
        if A.dtype.kind != "f":
            return A
        infinite = bool(A.apply("isinf").reduce_scalar("lor"))
        A = A.dup(dtype=np.float64) if infinite else A
        A, _ = bounded(A, 4 * n * n, dtype=A.dtype)
        if not infinite:
            return A
        above = math.ldexp(1, math.frexp(largest(A))[1] + n.bit_length())
        return A.apply(_finite, right=above).dup()

    def copies(self, k: int) -> Matrix:
        """Return I (x) A, with k blocks."""
        if k not in self._copies:
            blocks = Matrix.identity(k, dtype=bool, device=self.A.device)
            self._copies = {k: blocks.kronecker(self.lengths, "second").wait()}
        return self._copies[k]


class Counted(NamedTuple):
    """The shortest paths of a batch, by the vertices of all copies.

    edges : T
    paths, shares : F and Y, where there is a path
    """

    edges: Matrix
    paths: Vector
    shares: Vector


def counted(name: str, graph: WeightedGraph, sources: list[int]) -> Counted:
    """Return the numbers of shortest paths from each of the sources, and the shares of the paths that continue."""
    k, n, device = len(sources), graph.A.nrows, graph.A.device
    copies = graph.copies(k)
    zero = Vector.from_coo(np.arange(k) * n + np.asarray(sources), 0, copies.dtype, size=k * n, device=device)
    distance = _filled(ops.closure(zero, copies, semiring.min_plus[copies.dtype]), -1)
    T = distance.ewise_mult(copies, _extended).ewise_mult(distance, _tight).select("==", True).wait()
    one = zero.apply("second", right=graph.dtype.type(1)).dup()
    ring = semiring.plus_first[graph.dtype]
    try:
        paths = ops.acyclic_closure(one, T, ring)
    except GraphProperty as failure:
        raise NotSupported(
            f"{name}: some weights are so small beside the distances that sums do not change by them; use integers"
        ) from failure
    return Counted(T, paths, ops.acyclic_closure(paths.apply("minv").dup(), T.T, ring))


def _filled(v: Vector, missing: int) -> Vector:
    """Return a full vector, with this number where v has no entry."""
    made = Vector.full(missing, v.size, v.dtype, device=v.device)
    made(v.S) << v
    return made


def vertex_sums(name: str, graph: WeightedGraph, sources: list[int], *, endpoints: bool) -> Vector:
    """Return the sum of the dependencies of a batch of sources; with `endpoints` the paths that end at a vertex too."""
    k, n, device = len(sources), graph.A.nrows, graph.A.device
    _, paths, shares = counted(name, graph, sources)
    starts = Vector.from_coo(np.arange(k) * n + np.asarray(sources), True, bool, size=k * n, device=device)
    others = paths.ewise_mult(shares, "times").dup(mask=~starts.S)
    if not endpoints:
        others = others.apply("minus", right=1.0).dup()
    table = others.reshape(k, n)
    total = Vector.full(0.0, n, device=device)
    total(accum="plus") << table.reduce_columnwise("plus")
    if endpoints:
        ends = Vector.full(0.0, k, device=device)
        ends(accum="plus") << table.reduce_rowwise("count")
        total(accum="plus")[sources] << ends
    return total


def edge_sums(name: str, graph: WeightedGraph, sources: list[int]) -> Matrix:
    """Return the sum over a batch of sources of F(u) Y(v), for the edges (u, v) of T."""
    A, k = graph.A, len(sources)
    edges, paths, shares = counted(name, graph, sources)
    parts = _filled(paths, 0).ewise_mult(edges, "first").ewise_mult(_filled(shares, 0), "times")
    column = Matrix.from_coo(np.arange(k), np.zeros(k, np.int64), True, bool, shape=(k, 1), device=A.device)
    of_vertices = column.kronecker(Matrix.identity(A.nrows, dtype=bool, device=A.device), "land")
    total = A.apply("second", right=np.float64(0)).dup()
    total(accum="plus") << of_vertices.T.mxm(parts, "plus_second").mxm(of_vertices, "plus_first", mask=A.S)
    return total
