"""PageRank in general: weights, any teleport, any rule for sinks; of one vector, or of k vectors at once.

    r = d (W' r + m q) + (1 - d) p,    W(u, v) = A(u, v) / (sum of row u),    m = sum of r(v) over the sinks v

With p one seed or one row of seeds it is personalized PageRank.  Of k seeds, the vectors are the columns of a dense
n x k matrix, so that one pass over A serves all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from semiring import Matrix, Vector, compile, semiring
from semiring.exceptions import DimensionMismatch, DomainMismatch, InvalidValue

from ..checks import row, weights
from ..progress import Progress
from ..scaling import row_shares
from .iteration import absdiff, converged, distance, not_converged, start_vector


@dataclass(frozen=True)
class Rule:
    """The numbers of an iteration."""

    damping: float
    tol: float
    max_iter: int
    dtype: np.dtype[Any]
    report: Progress


def ranks(A: Matrix, rule: Rule, *, weighted: bool, personalization: Any, start: Any, dangling: Any) -> Vector | Matrix:
    """Return the ranks: a Vector, or a k x n Matrix for a Matrix of k rows of seeds."""
    if weighted:
        weights("pagerank", A, least=0, finite=True)
    n, dtype = A.nrows, rule.dtype
    W, sinks = walk(A, dtype, weighted=weighted)
    keeps = not (isinstance(dangling, str) and dangling == "drop")
    if isinstance(dangling, str) and keeps:
        raise InvalidValue(f"pagerank: dangling is a Vector, 'drop' or None, got {dangling!r}")
    q = distribution("pagerank", "dangling", dangling, n, dtype, A.device) if keeps and dangling is not None else None
    lost = sinks if keeps else None
    if isinstance(personalization, Matrix):
        if start is not None:
            raise InvalidValue("pagerank: start cannot be combined with a Matrix of seeds")
        return _many(W, lost, _seeds(personalization, n, dtype), q, rule)
    if personalization is None:
        p = Vector.full(dtype.type(1 / n), n, device=A.device)
    elif isinstance(personalization, (Vector, Mapping)):
        p = distribution("pagerank", "personalization", personalization, n, dtype, A.device)
    else:
        p = Vector.full(dtype.type(0), n, device=A.device)
        p[row("pagerank", personalization, n)] = 1
    first = p if start is None else distribution("pagerank", "start", start, n, dtype, A.device)
    if start is None and personalization is not None:  # as NetworkX: the walk starts anywhere
        first = Vector.full(dtype.type(1 / n), n, device=A.device)
    d, tol, max_iter = rule.damping, rule.tol, rule.max_iter
    rank, change = _one(W, lost, first, p, p if q is None else q, d, tol, max_iter, rule.report)
    return converged("pagerank", max_iter, change, tol, rank)


def walk(A: Matrix, dtype: np.dtype[Any], *, weighted: bool) -> tuple[Matrix, Vector | None]:
    """Return W, and a Vector of ones at the sinks; None if there are none."""
    if weighted:
        W = row_shares(A.dup(dtype=np.float64)).dup(dtype=dtype)
        total = W.reduce_rowwise("any")
    else:
        total = A.apply("second", right=dtype.type(1)).reduce_rowwise("plus")
        W = total.apply("minv").diag().mxm(A, semiring.any_first[dtype]).wait()
    sinks = Vector.full(dtype.type(1), A.nrows, device=A.device).dup(mask=~total.S)
    return W, sinks if sinks.nvals else None


def distribution(name: str, parameter: str, v: Any, n: int, dtype: np.dtype[Any], device: str) -> Vector:
    """Return a Vector of n weights as a full one of sum 1; InvalidValue for another object or negative weights."""
    full = start_vector(name, parameter, v, n, dtype, device)
    return full.apply("truediv", right=dtype.type(full.reduce("plus").value)).dup()


def _seeds(given: Matrix, n: int, dtype: np.dtype[Any]) -> Matrix:
    """Return the distributions of the rows, as columns."""
    k = given.nrows
    if given.ncols != n:
        raise DimensionMismatch(f"pagerank: personalization has shape {given.shape}, and the matrix {n} rows")
    if given.dtype.kind not in "biuf":
        raise DomainMismatch(f"pagerank: personalization must hold real numbers, got {given.dtype}")
    valid = given.apply("isfinite").reduce_scalar("land").get(True) and given.reduce_scalar("min").get(0) >= 0
    seeds = row_shares(given.dup(dtype=np.float64)) if valid else given
    if not valid or seeds.reduce_rowwise("any").nvals < k:
        raise InvalidValue(
            "pagerank: the entries of personalization must be finite and not negative, and the sum of each row positive"
        )
    return seeds.T.dup(dtype=dtype)


@compile
def _one(
    W: Matrix, sinks: Vector | None, rank: Vector, p: Vector, q: Vector, damping: float, tol: float, max_iter: int,
    report: Progress,
) -> tuple[Vector, float]:  # fmt: skip
    """r = d (W' r + m q) + (1 - d) p; return r and the last change, infinite for tol = 0."""
    change = np.inf
    for done in range(1, max_iter + 1):
        following = p.apply("times", right=1 - damping)
        following(accum="plus") << rank.vxm(W, "plus_times").apply("times", right=damping)
        if sinks is not None:
            mass = rank.inner(sinks, "plus_first").get(0.0)  # synchronizes
            following(accum="plus") << q.apply("times", right=damping * mass)
        if tol > 0:
            change = distance(following, rank)  # synchronizes
        rank = following
        report(done, None)
        if change < tol:
            break
    return rank, change


def _many(W: Matrix, sinks: Vector | None, seeds: Matrix, q: Vector | None, rule: Rule) -> Matrix:
    kind, d = rule.dtype.type, rule.damping
    (n, k), device = seeds.shape, seeds.device
    base = Matrix.from_scalar(kind(0), n, k, device=device)
    rank, change = Matrix.from_scalar(kind(1 / max(n, 1)), n, k, device=device), np.inf
    for done in range(1, rule.max_iter + 1):
        following = base.ewise_add(W.T.mxm(rank, "plus_times"), "plus").apply("times", right=kind(d))
        share = Vector.full(kind(1 - d), k, device=device)
        if sinks is not None:
            mass = sinks.vxm(rank, "plus_second").apply("times", right=kind(d))
            if q is None:
                share = share.ewise_add(mass, "plus")
            else:
                following = following.ewise_add(q.outer(mass, "times"), "plus")
        following = following.ewise_add(seeds.mxm(share.diag(), "any_times"), "plus").wait()
        if rule.tol > 0:
            moved = following.ewise_mult(rank, absdiff).reduce_columnwise("plus")
            change = float(moved.reduce("max").get(0))  # synchronizes
        rank = following
        rule.report(done, None)
        if change < rule.tol:
            return rank.T.dup()
    if rule.tol > 0:
        raise not_converged("pagerank", rule.max_iter, change, rule.tol, rank.T.dup())
    return rank.T.dup()
