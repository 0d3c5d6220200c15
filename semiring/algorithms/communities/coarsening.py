"""Groups of vertices as matrices and vectors: selectors, numbers, masses, and the graph of the groups."""

from __future__ import annotations

from typing import Any

from semiring import Matrix, Vector, monoid, ops
from semiring.exceptions import DomainMismatch, IndexOutOfBound, InvalidValue, UnknownOperator

from ..checks import Values, square, vector
from ..vertex_labels import algorithm


@algorithm("..")
def coarsen(A: Matrix, labels: Values, *, op: str = "plus") -> Matrix:
    """C = S' A S, S(v, labels(v)) = 1: the graph of the groups, C(g, h) = the sum of A(u, v) from group g to group h.

    Parameters
    ----------
    A : Matrix, n x n
        An entry (u, v) is an edge from u to v.
    labels : Vector of size n, full, integer; or {vertex: community}
        The group of each vertex, a number from 0; there is a row for each number up to the largest.
    op : str
        The name of the monoid that combines parallel edges: ``"plus"``, ``"max"``, ``"any"`` ...

    Returns
    -------
    Matrix, k x k, of the type of A; sums of integers and booleans are of 64 bits.  The diagonal holds the edges within
    groups; of an undirected graph each of them twice, apart from self-loops.

    Raises
    ------
    DimensionMismatch, DomainMismatch, InvalidValue, IndexOutOfBound, UnknownOperator, OutOfMemory

    Notes
    -----
    Cost: two products, O(nvals) multiplications each.  Synchronizes.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2), (2, 3), (3, 0)])
    >>> sr.algorithms.coarsen(A, Vector.from_dense([0, 0, 1, 1])).to_dicts()
    {0: {0: 1, 1: 1}, 1: {0: 1, 1: 1}}
    """
    square("coarsen", A)
    labels = labels_of("coarsen", labels, A)
    if not isinstance(op, str):
        raise InvalidValue(f"coarsen: op must be the name of a monoid, got {op!r}")
    if not hasattr(monoid, op):
        raise UnknownOperator(f"coarsen: no monoid is called {op!r}")
    if op in ("plus", "times") and A.dtype.kind in "iu":
        A = A.dup("int64" if A.dtype.kind == "i" else "uint64")
    return grouped(A, labels, number_of("coarsen", labels), op)


def grouped(A: Matrix, labels: Vector, k: int, op: str = "plus") -> Matrix:
    """S' A S for the selector of k groups."""
    S = selector(labels, k)
    return S.T.mxm(A.mxm(S, f"{op}_first"), f"{op}_second")


def selector(labels: Vector, k: int) -> Matrix:
    """S(v, labels(v)) = true, n x k."""
    offsets = ops.singletons(Vector(bool, labels.size + 1, device=labels.device))
    return Matrix.from_csr(offsets.to_dense(), labels.to_dense(), True, ncols=k, copy=False, device=labels.device)


def labels_of(name: str, labels: Any, A: Matrix) -> Vector:
    """Return labels as a full Vector of int32 or int64; InvalidValue or DomainMismatch for something else."""
    n = A.nrows
    labels = vector(name, "labels", labels, n, A.device)
    if labels.nvals < n:
        raise InvalidValue(f"{name}: every vertex needs a label, and {n - labels.nvals} of {n} have none")
    if labels.dtype.kind not in "iu":
        raise DomainMismatch(f"{name}: labels are integers, got {labels.dtype}")
    if labels.dtype.name not in ("int32", "int64"):
        labels = labels.dup("int64")
    made: Vector = labels.convert("full")
    return made


def number_of(name: str, labels: Vector) -> int:
    """Return the largest label and one; IndexOutOfBound for a negative label.  Synchronizes."""
    if labels.size == 0:
        return 0
    least, most = labels.reduce("min").value, labels.reduce("max").value
    if least < 0:
        raise IndexOutOfBound(f"{name}: labels are numbers from 0, got {least}")
    return int(most) + 1


def numbered(labels: Vector) -> tuple[Vector, int]:
    """Number the groups from 0 in the order of their smallest vertices; return the labels and their number.

    labels: numbers below their size.  Synchronizes.
    """
    n, device = labels.size, labels.device
    vertices = ops.singletons(labels)
    least = Vector.full(n, n, dtype=vertices.dtype, device=device)
    least(accum="min")[labels] << vertices
    first = least[labels]
    used = Vector("int64", n, device=device)
    used(accum="any")[first] << 1
    ranks = used.scan("plus").apply("minus", right=1)
    return ranks[first].dup(vertices.dtype).convert("full"), used.nvals


def mass_of_groups(labels: Vector, mass: Vector, k: int) -> Vector:
    """m(g) = the sum of mass(v) over labels(v) = g: a full Vector of size k."""
    made = Vector.full(0.0, k, device=labels.device)
    made(accum="plus")[labels] << mass
    return made


def agreement(A: Matrix, labels: Vector) -> Matrix:
    """E(u, v) = (labels(u) = labels(v)) at the entries of A."""
    return labels.ewise_mult(A, "first").ewise_mult(labels, "eq")


def within(A: Matrix, labels: Vector) -> Matrix:
    """Return the entries of A whose two ends have one label."""
    return A.dup(mask=agreement(A, labels).V)
