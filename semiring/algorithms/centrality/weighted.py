"""Numbers of shortest paths and dependencies of weighted graphs: Brandes' method on the tight edges of many sources.

Sources do not share distances, so a batch of k searches k copies of the graph, the blocks of I (x) A, at once:

    d = closure({start of each block: 0}, I (x) A, min_plus)
    T(u, v) = true where d(u) + A(u, v) = d(v)                                  the graph of the shortest paths
    h = closure({start of each block: 0}, T, max_plus) with weight 1            the most edges of one that ends at v

Every edge of T leads to a larger h, and some edge to v starts at h(v) - 1: the vertices of one h are a level.  They are
renumbered by level, so that the edges between two levels are a block of T, and their products are as small.  With the
numbers of paths F(h) at a level and Y(h) = (1 + delta(h)) / F(h), where delta is the dependency,

    F(h + 1) = F(h) T + what longer edges of T brought from levels before h     forward, until nothing is reached
    Y(h)     = 1 / F(h) + Y(h + 1) T' + what longer edges brought back          backward

so both are  x T*  over plus_first, for an acyclic T: F from the starts, Y of the transpose from 1 / F.

Sources: Brandes, "A Faster Algorithm for Betweenness Centrality", 2001; "On Variants of Shortest-Path Betweenness
Centrality and their Generic Computation", 2008.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from semiring import Matrix, Vector, binary, concat, ops, semiring
from semiring.exceptions import ConvergenceFailure, NotSupported

from ..paths.sssp import weight_type

# Distances are filled with -1 where there is no path: operations with full vectors cost one pass over the entries.
_extended = binary.register_anonymous("select(x < 0, x, x + y)", "extended")
_tight = binary.register_anonymous("land(x >= 0, x == y)", "tight")
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
    """The shortest paths of a batch, with the reached vertices of all copies ordered by level.

    copies : the number of each of these vertices in I (x) A
    edges : T
    paths, shares : F and Y, full
    """

    copies: Vector
    edges: Matrix
    paths: Vector
    shares: Vector


class Level(NamedTuple):
    """The edges that leave a level.

    near : those to the next level
    far : those to the levels behind it, before level `until`; None if there are none
    """

    near: Matrix
    far: Matrix | None
    until: int


def counted(name: str, graph: WeightedGraph, sources: list[int]) -> Counted:
    """Return the numbers of shortest paths from each of the sources, and the shares of the paths that continue."""
    k, n, device = len(sources), graph.A.nrows, graph.A.device
    copies = graph.copies(k)
    zero = Vector.from_coo(np.arange(k) * n + np.asarray(sources), 0, copies.dtype, size=k * n, device=device)
    distance = _filled(ops.closure(zero, copies, semiring.min_plus[copies.dtype]), -1)
    T = distance.ewise_mult(copies, _extended).ewise_mult(distance, _tight).select("==", True).wait()
    try:
        h = ops.closure(zero.dup(dtype=np.int64), T, semiring.max_plus[np.int64], weight=np.int64(1))
    except ConvergenceFailure as failure:
        raise NotSupported(
            f"{name}: some weights are so small beside the distances that sums do not change by them; use integers"
        ) from failure
    depth, order = (part[: h.nvals].new() for part in h.sort())
    T = T[order, order].apply("second", right=graph.dtype.type(1)).wait()
    levels = list(_levels(T, depth))
    paths = _paths(levels, Vector.full(graph.dtype.type(1), k, device=device))
    return Counted(order, T, concat(paths), concat(_shares(levels, paths)))


def _levels(T: Matrix, depth: Vector) -> Iterator[Level]:
    """Yield the levels.  depth: the level of each row, ascending."""
    further = depth.ewise_mult(T, "first").ewise_mult(depth, _consecutive).select("==", False)
    ones = Vector.full(1, depth.size, np.int64, device=T.device)
    steps = int(depth.reduce("max").get(-1)) + 1  # synchronises
    ends = np.cumsum(ones.reduce_by(depth, "plus", size=steps).to("cpu").to_numpy())
    farthest = further.apply("colindex").reduce_rowwise("max").reduce_by(depth, "max", size=steps)
    reach = farthest.to("cpu").to_dense(-1)
    first = 0
    for level, last in enumerate(ends.tolist()):
        following = int(ends[min(level + 1, steps - 1)])
        far, until = None, level + 2
        if reach[level] >= 0:
            until = int(np.searchsorted(ends, reach[level], side="right")) + 1
            far = T[first:last, following : int(ends[until - 1])].new()
        yield Level(T[first:last, last:following].new(), far, until)
        first = last


def _paths(levels: list[Level], start: Vector) -> list[Vector]:
    """Return F by levels."""
    ring = semiring.plus_first[start.dtype]
    waiting = Vector(start.dtype, 0, device=start.device)  # what edges that skip levels bring to the vertices behind
    made = [start]
    for level in levels[:-1]:
        brought, width = made[-1].vxm(level.near, ring).wait(), level.near.ncols
        if waiting.size:
            brought = brought.ewise_add(waiting[:width], "plus").wait()
            waiting = waiting[width:].new()
        if level.far is not None:
            skipped = made[-1].vxm(level.far, ring).new()
            size = max(skipped.size, waiting.size)
            skipped.resize(size)
            waiting.resize(size)
            waiting = waiting.ewise_add(skipped, "plus").new()
        made.append(brought)
    return made


def _shares(levels: list[Level], paths: list[Vector]) -> list[Vector]:
    """Return Y by levels."""
    ring = semiring.plus_second[paths[0].dtype]
    made = [paths[-1].apply("minv").wait()]
    for number in range(len(levels) - 2, -1, -1):
        level = levels[number]
        share = paths[number].apply("minv").ewise_add(level.near.mxv(made[-1], ring), "plus").wait()
        if level.far is not None:
            behind = concat(made[-2 : -(level.until - number) : -1])
            share = share.ewise_add(level.far.mxv(behind, ring), "plus").wait()
        made.append(share)
    return made[::-1]


def _filled(v: Vector, missing: int) -> Vector:
    """Return a full vector, with this number where v has no entry."""
    made = Vector.full(missing, v.size, v.dtype, device=v.device)
    made(v.S) << v
    return made


def vertex_sums(name: str, graph: WeightedGraph, sources: list[int], *, endpoints: bool) -> Vector:
    """Return the sum of the dependencies of a batch of sources; with `endpoints` the paths that end at a vertex too."""
    n = graph.A.nrows
    copies, _, paths, shares = counted(name, graph, sources)
    vertices = copies.apply("mod", right=n).new()
    others = paths.ewise_mult(shares, "times")[len(sources) :]  # the first ones are the sources
    if not endpoints:
        others = others.apply("minus", right=1.0)
    total = Vector.full(0.0, n, device=graph.A.device)
    total(accum="plus") << others.new().reduce_by(vertices[len(sources) :].new(), "plus", size=n)
    if endpoints:
        blocks = copies[len(sources) :].apply("floordiv", right=n).new()
        ones = Vector.full(1.0, blocks.size, device=graph.A.device)
        ends = Vector.full(0.0, len(sources), device=graph.A.device)
        ends(accum="plus") << ones.reduce_by(blocks, "plus", size=len(sources))
        total(accum="plus")[sources] << ends
    return total


def edge_sums(name: str, graph: WeightedGraph, sources: list[int]) -> Matrix:
    """Return the sum over a batch of sources of F(u) Y(v), for the edges (u, v) of T."""
    A = graph.A
    copies, edges, paths, shares = counted(name, graph, sources)
    parts = paths.ewise_mult(edges, "first").ewise_mult(shares, "times")
    vertices, numbers = (v.to_dense() for v in (copies.apply("mod", right=A.nrows), ops.singletons(copies)))
    of_vertices = Matrix.from_coo(numbers, vertices, True, bool, shape=(copies.size, A.nrows), device=A.device)
    total = A.apply("second", right=np.float64(0)).new()
    total(accum="plus") << of_vertices.T.mxm(parts, "plus_second").mxm(of_vertices, "plus_first", mask=A.S)
    return total
