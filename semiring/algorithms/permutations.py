"""Permutations as vectors: p(k) is the vertex at place k.

There is no sort among matrix operations, and none is needed: building a matrix puts its entries in order, so the places
(key(v), v) of a matrix, read row by row, are the vertices by ascending key.
"""

from __future__ import annotations

from typing import Any

from semiring import Matrix, Vector, ops
from semiring.exceptions import DomainMismatch, InvalidValue


def numbers(n: int, device: str) -> Vector:
    """f(v) = v, the permutation that changes nothing: int32, or int64 from n = 2**31."""
    return ops.singletons(Vector(bool, n, device=device))


@ops.reports_memory
def inverse(p: Vector) -> Vector:
    """q(p(k)) = k: the place of each vertex.

    So ``inverse(p)[source]`` is the number that a source has in ``A.permute(p)``.

    Parameters
    ----------
    p : Vector of size n, full, of integers: a permutation

    Returns
    -------
    Vector of size n, full, int32 (int64 from n = 2**31).

    Raises
    ------
    InvalidValue, DomainMismatch, DuplicateIndex, IndexOutOfBound
        If p is no Vector, not full, or no permutation.

    Notes
    -----
    Cost O(n).  Synchronises on the GPU.
    """
    _permutation("inverse", p)
    places = numbers(p.size, p.device).to_dense()
    made = Vector.from_coo(p.to_dense(), places, size=p.size, device=p.device)
    return Vector.from_dense(made.to_dense(), device=p.device)


@ops.reports_memory
def restore(result: Vector, p: Vector, *, vertices: bool = False) -> Vector:
    """w(p(k)) = result(k): what was found in ``A.permute(p)``, in the numbers of A.

    Parameters
    ----------
    result : Vector of size n
        One entry for each vertex of the reordered matrix, such as levels, distances or ranks.  Missing entries stay
        missing.
    p : the permutation
    vertices : True if the values are vertices as well (parents, labels of components): then w(p(k)) = p(result(k))

    Returns
    -------
    Vector of size n.  A component's label is again one of its vertices, but no longer the smallest one.

    Raises
    ------
    InvalidValue
        If the two differ in size, or `vertices` is asked of values that are no integers.
    DomainMismatch, DuplicateIndex, IndexOutOfBound

    Notes
    -----
    Cost O(n).  Synchronises on the GPU.
    """
    _permutation("restore", p)
    if getattr(result, "shape", None) != (p.size,) or not hasattr(result, "to_coo"):
        found = getattr(result, "shape", type(result).__name__)
        raise InvalidValue(f"restore: the result must be a Vector of size {p.size}, as the order is; got {found}")
    restored: Vector = result[inverse(p)].wait()
    if not vertices:
        return restored
    if result.dtype.kind not in "iu":
        raise InvalidValue(f"restore: vertices are integers, the result holds {result.dtype}")
    places, values = restored.to_coo(index_dtype=None)
    return Vector.from_coo(places, p[values].to_dense(), result.dtype, size=p.size, device=p.device)


def sorted_by(key: Vector, bound: int, minor: Vector | None = None, minor_bound: int = 0) -> Vector:
    """The numbers of `key` by ascending value, those of one value by `minor` (distinct numbers), else by themselves.

    key, minor: full, of integers from 0 below `bound` and `minor_bound`.  Cost: building a matrix of as many entries.
    """
    device = key.device
    keys, places = key.to_dense(), numbers(key.size, device).to_dense()
    if minor is None:
        _, listed, _ = Matrix.from_coo(keys, places, True, shape=(bound, key.size), device=device).to_csr(
            index_dtype=None
        )
    else:
        shape = (bound, minor_bound)
        _, _, listed = Matrix.from_coo(keys, minor.to_dense(), places, shape=shape, device=device).to_csr(
            index_dtype=None
        )
    return Vector.from_dense(listed, device=device)


def _permutation(name: str, p: Any) -> None:
    if not isinstance(p, Vector):
        raise InvalidValue(f"{name}: an order is a Vector, got a {type(p).__name__}")
    if p.dtype.kind not in "iu":
        raise DomainMismatch(f"{name}: an order holds integers, got {p.dtype}")
    if p.nvals != p.size:
        raise InvalidValue(f"{name}: an order is full; {p.nvals} of {p.size} are present")
