"""Permutations as vectors: p(k) is the vertex at position k.

The matrix operations include no sort, and none is needed: building a matrix sorts its entries, so the positions
(key(v), v) of a matrix, in row order, are the vertices by ascending key.
"""

from __future__ import annotations

from typing import Any

from semiring import Matrix, Vector, ops
from semiring.exceptions import DomainMismatch, InvalidValue

from ..vertex_labels import algorithm


def numbers(n: int, device: str) -> Vector:
    """f(v) = v, the identity permutation: int32, or int64 from n = 2**31."""
    return ops.singletons(Vector(bool, n, device=device))


@algorithm()
def inverse(p: Vector) -> Vector:
    """q(p(k)) = k: the position of each vertex.

    So ``inverse(p)[source]`` is the number of a source in ``A.permute(p)``.

    Parameters
    ----------
    p : Vector of size n, full, of integers: a permutation

    Returns
    -------
    Vector of size n, full, int32 (int64 from n = 2**31).

    Raises
    ------
    InvalidValue, DomainMismatch, DuplicateIndex, IndexOutOfBound
        If p is not a Vector, not full, or not a permutation.

    Notes
    -----
    Cost O(n).  Synchronizes on the GPU.

    Examples
    --------
    >>> p = Vector.from_dense([2, 0, 1])
    >>> sr.algorithms.ordering.inverse(p).to_dict()
    {0: 1, 1: 2, 2: 0}
    """
    return inverse_of("inverse", p)


def inverse_of(name: str, p: Vector) -> Vector:
    """Return the inverse of p, an argument of the function `name`."""
    _permutation(name, p)
    own = numbers(p.size, p.device).to_dense()
    made = Vector.from_coo(p.to_dense(), own, size=p.size, device=p.device)
    return Vector.from_dense(made.to_dense(), device=p.device)


@algorithm()
def restore(result: Vector, p: Vector, *, vertices: bool = False) -> Vector:
    """w(p(k)) = result(k): a result on ``A.permute(p)``, in the numbers of A.

    Parameters
    ----------
    result : Vector of size n
        One entry for each vertex of the reordered matrix, such as levels, distances or ranks.  Missing entries remain
        missing.
    p : the permutation
    vertices : True if the values are vertices as well (parents, labels of components): then w(p(k)) = p(result(k))

    Returns
    -------
    Vector of size n.  The label of a component is one of its vertices, but not necessarily the smallest.

    Raises
    ------
    InvalidValue
        If the two differ in size, or `vertices` is true and the values are not integers.
    DomainMismatch, DuplicateIndex, IndexOutOfBound

    Notes
    -----
    Cost O(n).  Synchronizes on the GPU.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2)])
    >>> p = Vector.from_dense([2, 1, 0])
    >>> levels = sr.algorithms.bfs_levels(A.permute(p), 2)
    >>> levels.to_dict(), sr.algorithms.ordering.restore(levels, p).to_dict()
    ({0: 2, 1: 1, 2: 0}, {0: 0, 1: 1, 2: 2})
    """
    _permutation("restore", p)
    if getattr(result, "shape", None) != (p.size,) or not hasattr(result, "to_coo"):
        found = getattr(result, "shape", type(result).__name__)
        raise InvalidValue(f"restore: the result must be a Vector of size {p.size}, like the order; got {found}")
    restored: Vector = result[inverse(p)].wait()
    if not vertices:
        return restored
    if result.dtype.kind not in "iu":
        raise InvalidValue(f"restore: vertices are integers, the result holds {result.dtype}")
    indices, values = restored.to_coo(index_dtype=None)
    return Vector.from_coo(indices, p[values].to_dense(), result.dtype, size=p.size, device=p.device)


def sorted_by(key: Vector, bound: int, minor: Vector | None = None, minor_bound: int = 0) -> Vector:
    """Return the indices of `key` sorted by value, then by `minor` (distinct numbers) or, without it, by index.

    key, minor: full, of integers from 0 below `bound` and `minor_bound`.  Cost: building a matrix of `key.size`
    entries.
    """
    device = key.device
    keys, indices = key.to_dense(), numbers(key.size, device).to_dense()
    if minor is None:
        _, listed, _ = Matrix.from_coo(keys, indices, True, shape=(bound, key.size), device=device).to_csr(
            index_dtype=None
        )
    else:
        shape = (bound, minor_bound)
        _, _, listed = Matrix.from_coo(keys, minor.to_dense(), indices, shape=shape, device=device).to_csr(
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
