"""PageRank: with uniform teleport here; with weights, seeds and other rules for sinks in `teleport`."""

from __future__ import annotations

from typing import Any, overload

import numpy as np

from semiring import Matrix, Vector, compile, semiring

from ..checks import Values, Vertex, Weight, count, number, read_weight, square
from ..progress import Progress, reporter
from ..vertex_labels import algorithm
from .iteration import converged, distance, floating
from .teleport import Rule, ranks


@overload
def pagerank(
    A: Matrix,
    damping: float = 0.85,
    tol: float = 1e-6,
    max_iter: int = 100,
    *,
    personalization: Vertex | Values | None = None,
    weight: Weight = None,
    start: Values | None = None,
    dangling: Values | str | None = None,
    dtype: Any = np.float64,
    progress: Progress | None = None,
) -> Vector: ...
@overload
def pagerank(
    A: Matrix,
    damping: float = 0.85,
    tol: float = 1e-6,
    max_iter: int = 100,
    *,
    personalization: Matrix,
    weight: Weight = None,
    dangling: Values | str | None = None,
    dtype: Any = np.float64,
    progress: Progress | None = None,
) -> Matrix: ...
@algorithm("v|sv")
def pagerank(
    A: Matrix,
    damping: float = 0.85,
    tol: float = 1e-6,
    max_iter: int = 100,
    *,
    personalization: Any = None,
    weight: Weight = None,
    start: Values | None = None,
    dangling: Any = None,
    dtype: Any = np.float64,
    progress: Progress | None = None,
) -> Vector | Matrix:
    """r = (1 - d) / n + d (sum over edges (u, v) of r(u) / outdegree(u) + mass of the sinks / n).

    Parameters
    ----------
    A : Matrix, n x n
        An entry (u, v) is an edge from u to v.
    damping : d, in [0, 1]
    tol : stop when the sum of |change| is below it; 0: exactly `max_iter` iterations
    max_iter : the largest number of iterations
    personalization : int or a name in ``A.labels``, Vector of size n, {vertex: value}, or Matrix, k x n
        Where the teleport leads: to one vertex, or in proportion to the entries; of a Matrix in proportion to each of
        its rows, for k results.  Entries must not be negative.  Default: to every vertex alike.
    weight : True or str, optional
        True: an edge is followed in proportion to its value, which must be finite and not negative; str: to that field
        of its record.  Default: values are not read, and every edge counts 1.
    start : Vector of size n, or {vertex: value}; default: all entries equal
    dangling : Vector of size n, {vertex: value}, or ``"drop"``
        Where the mass of sinks is distributed, in proportion to the entries; ``"drop"``: nowhere, as in the GAP
        benchmark.  Default: as the teleport.  A sink is a vertex without out-edges, or with weights of sum 0.
    dtype : float64 or float32
    progress : function of (iterations done, None), called after each one

    Returns
    -------
    Vector of size n, full; for a Matrix of seeds a Matrix, k x n.  The entries of a vector or row sum to 1, unless
    `dangling` is ``"drop"``.

    Raises
    ------
    DimensionMismatch
        If A is not square.
    InvalidValue, DomainMismatch
        For parameters out of range.
    IndexOutOfBound
        If `personalization` is an int and not a row.
    ConvergenceFailure
        If `max_iter` iterations do not reach `tol` > 0; ``.result`` is the last vector.

    Notes
    -----
    Cost O(n + nvals) an iteration.  The iterations are one program (`compile`), which synchronizes once; with
    `progress`, where loops are not compiled, and for a Matrix of seeds, each iteration synchronizes for the change, if
    `tol` > 0, and for the mass of sinks that edges enter, if there are any.

    With `weight`, `personalization`, `start` or `dangling` a matrix of the probabilities is made first, with a value
    for each entry; a Matrix of seeds needs three dense n x k matrices.

    Sources: Page, Brin, Motwani, Winograd, "The PageRank Citation Ranking", 1999; the treatment of sinks is that of
    LDBC Graphalytics and NetworkX.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 2), (1, 2), (2, 0)])
    >>> ranks = sr.algorithms.pagerank(A)
    >>> {v: round(x, 2) for v, x in ranks.to_dict().items()}
    {0: 0.46, 1: 0.05, 2: 0.49}
    >>> near = sr.algorithms.pagerank(A, personalization={0: 1, 1: 3})
    >>> {v: round(x, 2) for v, x in near.to_dict().items()}
    {0: 0.43, 1: 0.11, 2: 0.46}
    """
    n, kind = square("pagerank", A), floating("pagerank", dtype)
    damping = number("pagerank", "damping", damping, high=1)
    tol, max_iter = number("pagerank", "tol", tol), count("pagerank", "max_iter", max_iter)
    report = reporter("pagerank", progress)
    A, weighted = read_weight("pagerank", A, weight)
    if n == 0 or max_iter == 0:
        report(0, None)
    if n == 0 and not isinstance(personalization, Matrix):
        return Vector(kind, 0, device=A.device)
    if weighted or personalization is not None or start is not None or dangling is not None:
        rule = Rule(damping, tol, max_iter, kind, report)
        return ranks(A, rule, weighted=weighted, personalization=personalization, start=start, dangling=dangling)
    return _uniform(A, damping, tol, max_iter, kind, report)


def _uniform(A: Matrix, damping: float, tol: float, max_iter: int, kind: np.dtype[Any], report: Progress) -> Vector:
    n = A.nrows
    degree = A.apply("second", right=kind.type(1)).reduce_rowwise("plus")
    whole = Vector.full(damping, n, kind, device=A.device)
    share = whole.ewise_union(degree, "truediv", kind.type(0), kind.type(np.inf))  # d / outdegree(u), 0 for sinks
    sinks = n - degree.nvals
    # Sinks without in-edges, such as isolated vertices, hold only the teleport: a constant, so no sum is needed.
    entered = whole.vxm(A, "any_pair").dup(mask=~degree.S) if sinks else None
    if entered is not None and not entered.nvals:
        entered = None
    rank, change = _iterated(A, share, entered, sinks, damping, tol, max_iter, kind, report)
    return converged("pagerank", max_iter, change, tol, rank)


@compile
def _iterated(
    A: Matrix, share: Vector, entered: Vector | None, sinks: int, damping: float, tol: float, max_iter: int,
    kind: np.dtype[Any], report: Progress,
) -> tuple[Vector, float]:  # fmt: skip
    """r(v) = teleport + sum over edges (u, v) of r(u) share(u); return r and the last change, infinite for tol = 0."""
    n, change = A.nrows, np.inf
    rank, mass = Vector.full(1 / n, n, kind, device=A.device), sinks / n
    for done in range(1, max_iter + 1):
        received = rank.ewise_mult(share, "times").vxm(A, semiring.plus_first)
        teleport = (1 - damping + damping * mass) / n
        following = Vector.full(teleport, n, kind, device=A.device).ewise_add(received, "plus")
        if tol > 0:
            change = distance(following, rank)  # synchronizes
        mass = sinks * teleport
        if entered is not None:
            mass += received.inner(entered, semiring.plus_first).get(0.0)  # synchronizes
        rank = following
        report(done, None)
        if change < tol:
            break
    return rank, change
