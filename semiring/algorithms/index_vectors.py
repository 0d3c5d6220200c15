"""The entries of a vector as full vectors, to be used as indices."""

from __future__ import annotations

from semiring import Vector


def positions(v: Vector) -> Vector:
    """Return the positions of the entries of v in ascending order: a full Vector of nvals int64.  Synchronizes."""
    return listed(v)[0]


def listed(v: Vector) -> tuple[Vector, Vector]:
    """Return the positions and the values of the entries of v: two full Vectors of size nvals.  Synchronizes."""
    indices, values = v.to_coo()
    return Vector.from_dense(indices, device=v.device), Vector.from_dense(values, device=v.device)
