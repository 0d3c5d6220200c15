"""Breadth-first search in six lines of algebra, against the built-in one.

A level is one product: the frontier times the matrix reaches every neighbor of the frontier, and the
complemented mask drops those that have a level already. `any_pair` reads no values and keeps any one hit.
"""

from __future__ import annotations

import numpy as np

import semiring as sr
from semiring import Matrix, Vector


def bfs_levels(A: Matrix, source: int) -> Vector:
    """Return the number of edges from `source` to each vertex; missing if there is no path."""
    level = Vector(np.int32, A.nrows)
    frontier = Vector.from_coo([source], True, size=A.nrows)
    depth = 0
    while frontier.nvals:
        level(frontier.S) << depth
        frontier(~level.S, replace=True) << frontier.vxm(A, "any_pair")
        depth += 1
    return level


def main() -> None:
    """Search a small directed graph and a generated one."""
    #   0 → 1 → 3      5 → 6
    #   ↓       ↑
    #   2 ──────┘→ 4
    A = Matrix.from_edgelist([(0, 1), (0, 2), (1, 3), (2, 3), (2, 4), (5, 6)], nrows=7, ncols=7)
    level = bfs_levels(A, 0)
    reached, depth = level.to_coo()
    print("levels from vertex 0:", dict(zip(reached.tolist(), depth.tolist(), strict=True)))
    assert reached.tolist() == [0, 1, 2, 3, 4]  # 5 and 6 are missing: not reached
    assert depth.tolist() == [0, 1, 1, 2, 2]
    assert level.isequal(sr.algorithms.bfs_levels(A, 0))

    R = sr.random.rmat(10, 8, seed=1)
    source = int(R.reduce_rowwise("any").to_coo()[0][0])  # the first vertex that has an edge
    level = bfs_levels(R, source)
    assert level.isequal(sr.algorithms.bfs_levels(R, source))
    print(f"a graph of {R.nrows} vertices: {level.nvals} reached in {level.reduce('max').value} levels")


if __name__ == "__main__":
    main()
