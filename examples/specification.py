"""The worked programs of the GraphBLAS C API specification, in a few lines each.

They are those of the chapter "Examples" in the appendix of the specification (Brock, Buluç, Mattson, McMillan,
Moreira, "The GraphBLAS C API Specification", version 2.1): breadth-first search by levels, the same with apply, and by
parents; betweenness centrality from one source and from a batch; a maximal independent set; triangles.  `exchange` is
for the chapter on non-opaque data: the three formats in which programs exchange matrices.

An entry (u, v) of A is an edge from u to v; values are not read.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import semiring as sr
from semiring import Matrix, Vector


def level_bfs(A: Matrix, source: int) -> Vector:
    """Return 1 + the number of edges from `source` to each vertex; missing if there is no path."""
    level = Vector(np.int32, A.nrows)
    frontier = Vector.from_coo([source], True, size=A.nrows)
    depth = 0
    while frontier.nvals:
        depth += 1
        level(frontier.S) << depth
        frontier(~level.S, replace=True) << frontier.vxm(A, "lor_land")
    return level


def level_bfs_by_apply(A: Matrix, source: int) -> Vector:
    """Return the same, where `apply` makes the levels out of the frontier, and plus accumulates them."""
    level = Vector(np.int32, A.nrows)
    frontier = Vector.from_coo([source], True, size=A.nrows)
    depth = 0
    while frontier.nvals:
        depth += 1
        level(accum="plus") << frontier.apply("second", right=depth)
        frontier(~level.S, replace=True) << frontier.vxm(A, "lor_land")
    return level


def parent_bfs(A: Matrix, source: int) -> Vector:
    """Return a vertex before each vertex on a shortest path from `source`, which is its own parent."""
    parent = Vector(np.int64, A.nrows)
    frontier = Vector.from_coo([source], [source], size=A.nrows)
    while frontier.nvals:
        parent(frontier.S) << frontier
        numbers = frontier.apply("rowindex")  # each vertex of the frontier offers its own number
        frontier(~parent.S, replace=True) << numbers.vxm(A, "min_first")
    return parent


def dependencies(A: Matrix, source: int) -> Vector:
    """Return delta(v) = the sum over t of the share of the shortest paths from `source` to t that v is inside of."""
    paths = Vector.from_coo([source], 1.0, size=A.nrows)  # the number of shortest paths to each vertex
    frontier = paths.vxm(A, "plus_first", mask=~paths.S)
    levels = []
    while frontier.nvals:
        levels.append(frontier.S)
        paths = (paths + frontier).dup()
        frontier = frontier.vxm(A, "plus_first", mask=~paths.S)
    share, delta = paths.apply("minv"), Vector.full(1.0, A.nrows)
    for later, earlier in zip(levels[:0:-1], levels[-2::-1], strict=True):
        onward = A.mxv(delta.ewise_mult(share, "times", mask=later), "plus_second", mask=earlier)
        delta(accum="plus") << onward * paths
    return delta - 1.0


def batched_dependencies(A: Matrix, sources: Sequence[int]) -> Vector:
    """Return the sum of `dependencies` over the sources, all of which advance together: row k of a matrix is one."""
    count = len(sources)
    paths = Matrix.from_coo(np.arange(count), np.asarray(sources), 1.0, nrows=count, ncols=A.nrows)
    frontier = paths.mxm(A, "plus_first", mask=~paths.S)
    levels = []
    while frontier.nvals:
        levels.append(frontier.S)
        paths = (paths + frontier).dup()
        frontier = frontier.mxm(A, "plus_first", mask=~paths.S)
    share, delta = paths.apply("minv"), Matrix.from_scalar(1.0, count, A.nrows)
    for later, earlier in zip(levels[:0:-1], levels[-2::-1], strict=True):
        onward = delta.ewise_mult(share, "times", mask=later).mxm(A.T, "plus_first", mask=earlier)
        delta(accum="plus") << onward * paths
    return delta.reduce_columnwise("plus") - float(count)


def independent_set(A: Matrix, seed: int = 0) -> Vector:
    """Return true for the members of a maximal set of vertices of which no two are adjacent; A is symmetric.

    Luby's algorithm: a candidate whose random number is larger than those of its neighbors joins the set, and its
    neighbors are candidates no longer.  Vertices of low degree get larger numbers.
    """
    rng = np.random.default_rng(seed)
    A = A.select("offdiag").dup()
    degree = Vector.full(0.0, A.nrows).ewise_add(A.apply("one").dup(float).reduce_rowwise("plus"), "plus")
    members, candidates = Vector(bool, A.nrows), Vector.full(True, A.nrows)
    while candidates.nvals:
        drawn = Vector.from_dense(rng.uniform(1e-4, 1.0, A.nrows))
        number = drawn.ewise_mult(2.0 * degree + 1.0, "truediv", mask=candidates.S)
        largest = A.mxv(number, "max_second", mask=candidates.S)  # of the neighbors that are candidates
        joins = number.ewise_union(largest, "gt", 0.0, 0.0).select("==", True).dup()
        members(joins.S) << True
        neighbors = A.mxv(joins, "lor_land")
        candidates(~(joins.S | neighbors.S), replace=True) << candidates
    return members


def triangles(L: Matrix) -> int:
    """Return the number of triangles of the undirected graph with the strictly lower triangular matrix L."""
    return int(L.mxm(L.T, "plus_pair", mask=L.S).reduce_scalar("plus").get(0))


def exchange(A: Matrix) -> list[Matrix]:
    """Return A after a round trip through each format: compressed rows, compressed columns, coordinates."""
    return [
        Matrix.from_csr(*A.to_csr(), shape=A.shape),
        Matrix.from_csc(*A.to_csc(), shape=A.shape),
        Matrix.from_coo(*A.to_coo(), shape=A.shape),
    ]


def main() -> None:
    """Run every program on a small graph whose results are known."""
    #   0 ─ 1 ─ 3
    #   └─ 2 ─┘ └─ 4      5
    edges = [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4)]
    A = Matrix.from_edgelist(edges + [(v, u) for u, v in edges], nrows=6, ncols=6)

    print("levels from 0:", level_bfs(A, 0).to_dict())
    assert level_bfs(A, 0).to_dict() == {0: 1, 1: 2, 2: 2, 3: 3, 4: 4}
    assert level_bfs_by_apply(A, 0).isequal(level_bfs(A, 0))
    assert parent_bfs(A, 0).to_dict() == {0: 0, 1: 0, 2: 0, 3: 1, 4: 3}

    # Two shortest paths lead from 0 to 3 and on to 4: 1 and 2 are inside of half of those to either.
    print("dependencies of 0:", dependencies(A, 0).to_dict())
    assert dependencies(A, 0).to_dict() == {0: 0.0, 1: 1.0, 2: 1.0, 3: 1.0, 4: 0.0, 5: 0.0}
    one_by_one = dependencies(A, 0) + dependencies(A, 4)
    assert batched_dependencies(A, [0, 4]).isclose(one_by_one)

    members = independent_set(A).select("==", True)
    print("independent set:", list(members.to_dict()))
    assert A.mxv(members, "lor_land", mask=members.S).nvals == 0  # no two are adjacent
    assert (members | A.mxv(members, "lor_land")).nvals == A.nrows  # every other vertex has a neighbor in it

    closed = A + Matrix.from_edgelist([(1, 2), (2, 1)], nrows=6, ncols=6)
    print("triangles:", triangles(closed.select("tril", -1)))
    assert triangles(closed.select("tril", -1)) == 2
    assert all(made.isequal(A) for made in exchange(A))

    K = sr.random.kronecker(8, seed=1)
    assert level_bfs(K, 0).apply("minus", right=1).isequal(sr.algorithms.bfs_levels(K, 0))


if __name__ == "__main__":
    main()
