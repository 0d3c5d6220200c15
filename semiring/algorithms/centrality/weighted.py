"""Numbers of shortest paths and dependencies of weighted graphs: Brandes' method on the tight edges of many sources.

Sources do not share distances, so a batch of k searches k copies of the graph, the blocks of I (x) A, at once:

    d = closure({start of each block: 0}, I (x) A, min_plus)
    T(u, v) = true where d(u) + A(u, v) = d(v)                                  the graph of the shortest paths
    h = closure({start of each block: 0}, T, max_plus) with weight 1            the most edges of one that ends at v

Every edge of T leads to a larger h, and some edge to v starts at h(v) - 1: the vertices of one h are a level.  With the
numbers of paths F(h) at a level and Y(h) = (1 + delta(h)) / F(h), where delta is the dependency,

    F(h + 1) = F(h) T + what longer edges of T brought from levels before h     forward, until nothing is reached
    Y(h)     = 1 / F(h) + Y(h + 1) T' + what longer edges brought back          backward

so both are  x T*  over plus_first, for an acyclic T: F from the starts, Y of the transpose from 1 / F.

Sources: Brandes, "A Faster Algorithm for Betweenness Centrality", 2001; "On Variants of Shortest-Path Betweenness
Centrality and their Generic Computation", 2008.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from semiring import Matrix, Vector, binary, ops, semiring, vstack
from semiring.exceptions import ConvergenceFailure, NotSupported

from ..paths.sssp import tight, weight_type

_consecutive = binary.register_anonymous("x + 1 == y", "consecutive")


@dataclass
class WeightedGraph:
    """A graph with positive weights, and its copies for the last number of sources."""

    A: Matrix
    dtype: np.dtype[Any]
    _copies: dict[int, Matrix] = field(default_factory=dict)

    def copies(self, k: int) -> Matrix:
        """Return I (x) A, with k blocks; paths of infinite length are none."""
        if k not in self._copies:
            A = self.A.dup(dtype=weight_type(self.A))
            A = A.select("<", np.inf) if A.dtype.kind == "f" else A
            blocks = Matrix.identity(k, dtype=bool, device=A.device)
            self._copies = {k: blocks.kronecker(A, "second").wait()}
        return self._copies[k]


class Counted(NamedTuple):
    """The shortest paths of a batch: T, and F and Y of every vertex of every copy that is reached."""

    edges: Matrix
    paths: Vector
    shares: Vector


def counted(name: str, graph: WeightedGraph, sources: list[int]) -> Counted:
    """Return the numbers of shortest paths from each of the sources, and the shares of the paths that continue."""
    k, n, device = len(sources), graph.A.nrows, graph.A.device
    copies = graph.copies(k)
    starts = np.arange(k) * n + np.asarray(sources)
    zero = Vector.from_coo(starts, 0, copies.dtype, size=k * n, device=device)
    distance = ops.closure(zero, copies, semiring.min_plus[copies.dtype])
    T = tight(copies, distance).wait()
    try:
        h = ops.closure(zero.dup(dtype=np.int64), T, semiring.max_plus[np.int64], weight=np.int64(1))
    except ConvergenceFailure as failure:
        raise NotSupported(
            f"{name}: some weights are so small beside the distances that sums do not change by them; use integers"
        ) from failure
    follows = h.ewise_mult(T, "first").ewise_mult(h, _consecutive).wait()
    one = graph.dtype.type(1)
    near, far = (follows.select("==", kept).apply("second", right=one).wait() for kept in (True, False))
    levels = _accumulated(Vector.from_coo(starts, one, size=k * n, device=device), near, far)
    shares = _shares(levels, near.T, far.T)
    return Counted(follows, _joined(levels), _joined(shares))


def _accumulated(start: Vector, near: Matrix, far: Matrix) -> list[Vector]:
    """Return x T* by levels.  near: the edges from a level to the next one; far: the other edges."""
    ring = semiring.plus_first[near.dtype]
    waiting = Vector(near.dtype, near.nrows, device=near.device)
    levels, level = [], start
    while level.nvals:  # synchronises
        levels.append(level)
        brought = level.vxm(near, ring)
        if far.nvals:
            waiting, level = _met(waiting.ewise_add(level.vxm(far, ring), "plus"), brought)
        else:
            level = brought.wait()
    return levels


def _shares(levels: list[Vector], near: Matrix, far: Matrix) -> list[Vector]:
    """Return Y by levels, from the last one to the first; near and far are those of the transpose."""
    ring = semiring.plus_first[near.dtype]
    waiting = Vector(near.dtype, near.nrows, device=near.device)
    shares: list[Vector] = []
    for level in reversed(levels):
        share = level.apply("minv").wait()
        if shares:
            share = share.ewise_add(shares[-1].vxm(near, ring), "plus").wait()
            if far.nvals:
                waiting, share = _met(waiting.ewise_add(shares[-1].vxm(far, ring), "plus"), share)
        shares.append(share)
    return shares


def _met(waiting: Vector, level: Vector) -> tuple[Vector, Vector]:
    """Return what still waits, and the level with what waited for its vertices."""
    ready = waiting.ewise_mult(level, "first").wait()
    if ready.nvals == 0:  # synchronises
        return waiting, level
    return waiting.dup(mask=~ready.S), level.ewise_add(ready, "plus").wait()


def _joined(levels: list[Vector]) -> Vector:
    """Return the sum of vectors without common entries."""
    joined: Vector = vstack(levels).reduce_columnwise("plus").new()
    return joined


def vertex_sums(name: str, graph: WeightedGraph, sources: list[int], *, endpoints: bool) -> Vector:
    """Return the sum of the dependencies of a batch of sources; with `endpoints` the paths that end at a vertex too."""
    k, n = len(sources), graph.A.nrows
    _, paths, shares = counted(name, graph, sources)
    every = paths.ewise_mult(shares, "times").reshape(k, n)
    at_starts = Matrix.from_coo(np.arange(k), sources, True, shape=(k, n), device=graph.A.device)
    others = every.dup(mask=~at_starts.S)
    total = Vector.full(0.0, n, device=graph.A.device)
    total(accum="plus") << others.apply("minus", right=0.0 if endpoints else 1.0).reduce_columnwise("plus")
    if endpoints:
        ends = Vector.full(0.0, k, device=graph.A.device)
        ends(accum="plus") << others.reduce_rowwise("count")
        total(accum="plus")[sources] << ends
    return total


def edge_sums(name: str, graph: WeightedGraph, sources: list[int]) -> Matrix:
    """Return the sum over a batch of sources of F(u) Y(v), for the edges (u, v) of T."""
    A = graph.A
    edges, paths, shares = counted(name, graph, sources)
    parts = paths.ewise_mult(edges, "first").ewise_mult(shares, "times")
    of_vertices = vstack([Matrix.identity(A.nrows, dtype=bool, device=A.device)] * len(sources))
    total = A.apply("second", right=np.float64(0)).new()
    total(accum="plus") << of_vertices.T.mxm(parts, "plus_second").mxm(of_vertices, "plus_first", mask=A.S)
    return total
