"""PageRank with uniform teleport; the mass of vertices without out-edges is distributed uniformly."""

from __future__ import annotations

from typing import Any

import numpy as np

from semiring import Matrix, Vector, binary, monoid, ops, semiring
from semiring.exceptions import ConvergenceFailure, DomainMismatch

from ..checks import count, number, square

# The L1 distance of two vectors, as an inner product.
_plus_absdiff = semiring.register_anonymous(
    monoid.plus, binary.register_anonymous("abs(x - y)", "absdiff"), "plus_absdiff"
)


@ops.reports_memory
def pagerank(
    A: Matrix,
    damping: float = 0.85,
    tol: float = 1e-6,
    max_iter: int = 100,
    *,
    dtype: Any = np.float64,
) -> Vector:
    """r = (1 - d) / n + d (sum over edges (u, v) of r(u) / outdegree(u) + mass of the sinks / n).

    Parameters
    ----------
    A : Matrix, n x n
        An entry (u, v) is an edge from u to v; values are not read.
    damping : d, in [0, 1]
    tol : stop when the sum of |change| is below it; 0: exactly `max_iter` iterations
    max_iter : the largest number of iterations
    dtype : float64 or float32

    Returns
    -------
    Vector of size n, full; its entries sum to 1.

    Raises
    ------
    DimensionMismatch
        If A is not square.
    InvalidValue, DomainMismatch
        For parameters out of range.
    ConvergenceFailure
        If `max_iter` iterations do not reach `tol` > 0; ``.result`` is the last vector.

    Notes
    -----
    Cost O(n + nvals) an iteration, and one additional product if `tol` is reached before `max_iter`: the next product
    is queued before the host reads the sums, so that the device does not wait for the host.  On the GPU an
    iteration is 3 or 4 launches, 1 more for the mass of sinks that edges enter, if there are any, and 1 more for the
    change, if `tol` > 0.  Synchronises for each of these two sums, and the first time that a matrix is used for its row
    degrees.

    Sources: Page, Brin, Motwani, Winograd, "The PageRank Citation Ranking", 1999; the treatment of sinks is that of
    LDBC Graphalytics and NetworkX.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 2), (1, 2), (2, 0)])
    >>> ranks = sr.algorithms.pagerank(A)
    >>> {v: round(x, 2) for v, x in ranks.to_dict().items()}
    {0: 0.46, 1: 0.05, 2: 0.49}
    """
    n = square("pagerank", A)
    kind = Vector(dtype).dtype  # accepts every name of a dtype
    if kind.kind != "f":
        raise DomainMismatch(f"pagerank: dtype is float32 or float64, got {kind}")
    damping = number("pagerank", "damping", damping, high=1)
    tol, max_iter = number("pagerank", "tol", tol), count("pagerank", "max_iter", max_iter)
    if n == 0:
        return Vector(kind, 0, device=A.device)
    degree = A.apply("second", right=kind.type(1)).reduce_rowwise("plus")
    whole = Vector.full(damping, n, kind, device=A.device)
    share = whole.ewise_union(degree, "truediv", kind.type(0), kind.type(np.inf))  # d / outdegree(u), 0 for sinks
    rank, change = Vector.full(1 / n, n, kind, device=A.device), np.inf
    received = _received(rank, share, A)
    sinks = n - degree.nvals
    mass = sinks / n
    # Sinks without in-edges, such as isolated vertices, hold only the teleport: a constant, so no sum is needed.
    entered = whole.vxm(A, "any_pair").dup(mask=~degree.S) if sinks else None
    for remaining in reversed(range(max_iter)):
        teleport = (1 - damping + damping * mass) / n
        following = Vector.full(teleport, n, kind, device=A.device).ewise_add(received, "plus")
        moved = following.inner(rank, _plus_absdiff) if tol > 0 else None
        if remaining:
            pending = None if entered is None else received.inner(entered, semiring.plus_first)
            received = _received(following, share, A)  # queued before the host waits for the sums
            inflow = None if pending is None else pending.get()  # synchronises
            if inflow is None:
                entered = None
            mass = sinks * teleport + float(inflow or 0)
        rank = following
        if moved is not None:
            change = float(moved)  # synchronises
            if change < tol:
                return rank
    if tol > 0:
        raise ConvergenceFailure(
            f"pagerank: the change is still {change:.3g} after {max_iter} iterations (tol={tol:g})",
            result=rank,
            iterations=max_iter,
            residual=change,
        )
    return rank


def _received(rank: Vector, share: Vector, A: Matrix) -> Vector:
    """w(v) = sum over edges (u, v) of rank(u) share(u), queued immediately."""
    return rank.ewise_mult(share, "times").vxm(A, semiring.plus_first).new()
