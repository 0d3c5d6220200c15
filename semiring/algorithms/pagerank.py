"""PageRank with uniform teleport, the mass of vertices without out-edges spread evenly."""

from __future__ import annotations

from typing import Any

import numpy as np

from semiring import Matrix, Vector, semiring
from semiring.exceptions import ConvergenceFailure, DomainMismatch

from .checks import count, number, square


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
        An entry (u, v) is a link from u to v; values are not read.
    damping : d, in [0, 1]
    tol : stop when the sum of |change| falls below it; 0: make exactly `max_iter` iterations
    max_iter : how many iterations may be made
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
        If `max_iter` iterations do not reach `tol` > 0; carries the last vector as ``.result``.

    Notes
    -----
    Cost O(n + nvals) an iteration.  Synchronises once an iteration for the mass of the sinks, if there are any, and
    once for the change, if `tol` > 0.

    Sources: Page, Brin, Motwani, Winograd, "The PageRank Citation Ranking", 1999; the treatment of sinks is that of
    LDBC Graphalytics and NetworkX.
    """
    n = square("pagerank", A)
    kind = Vector(dtype).dtype  # looked up as every type is
    if kind.kind != "f":
        raise DomainMismatch(f"pagerank: dtype is float32 or float64, got {kind}")
    damping = number("pagerank", "damping", damping, high=1)
    tol, max_iter = number("pagerank", "tol", tol), count("pagerank", "max_iter", max_iter)
    if n == 0:
        return Vector(kind, 0, device=A.device)
    degree = A.apply("second", right=kind.type(1)).reduce_rowwise("plus")
    share = degree.apply("rdiv", right=kind.type(damping))  # d / outdegree(u); missing for sinks
    sinks = degree.nvals < n
    rank = Vector.full(1 / n, n, kind, device=A.device)
    change = np.inf
    for _ in range(max_iter):
        mass = float(rank.dup(mask=~degree.S).reduce("plus").get(0)) if sinks else 0.0  # synchronises
        following = Vector.full((1 - damping + damping * mass) / n, n, kind, device=A.device)
        following(accum="plus") << rank.ewise_mult(share, "times").vxm(A, semiring.plus_first)
        if tol > 0:
            change = float((following - rank).apply("abs").reduce("plus").get(0))  # synchronises
        rank = following
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
