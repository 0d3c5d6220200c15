"""The chain of a vertex and its ancestors under a vector of parents."""

from __future__ import annotations

import numpy as np

from semiring import Matrix, Vector, ops, semiring

from ..index_vectors import listed


def chain(parent: Vector, start: int) -> list[int]:
    """Return start, parent(start), parent(parent(start)), ... up to a vertex without a parent, or all of a cycle.

    The levels of a search along the edges (v, parent(v)) are the positions.  O(n); synchronizes.
    """
    n = parent.size
    children, parents = parent.to_coo()
    upwards = Matrix.from_coo(children, parents, True, nrows=n, ncols=n, device=parent.device)
    first = Vector.from_coo([start], 0, np.int64, size=n, device=parent.device)
    vertices, places = listed(ops.closure(first, upwards, semiring.min_plus, weight=1))
    order = Vector(np.int64, vertices.size, device=parent.device)
    order[places] << vertices
    return [int(v) for v in order.to_numpy()]
