"""Eigenvector and Katz centrality: fixed points of products with the adjacency matrix."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from semiring import Matrix, Vector, compile
from semiring.exceptions import InvalidValue

from ..checks import Values, Weight, count, number, read_weight, square
from ..progress import Progress, reporter
from ..vertex_labels import algorithm
from .iteration import distance, floating, normalize, not_converged, products_with, start_vector


@algorithm("v")
def eigenvector_centrality(
    A: Matrix,
    *,
    weight: Weight = None,
    start: Values | None = None,
    tol: float = 1e-6,
    max_iter: int = 100,
    dtype: Any = np.float64,
    progress: Progress | None = None,
) -> Vector:
    """x(v) = (1 / lambda) sum over edges (u, v) of x(u), for the largest eigenvalue lambda; the norm of x is 1.

    Parameters
    ----------
    A : Matrix, n x n
        An entry (u, v) is an edge from u to v, which counts for v.
    weight : True or str, optional
        True: an edge counts as its value, which must be finite and not negative; str: as that field of its record.
        Default: values are not read, and every edge counts 1.
    start : Vector of size n, or {vertex: value}, not negative; default: all ones
    tol : stop when the sum of |change| is below n tol
    max_iter : the largest number of iterations
    dtype : float64 or float32
    progress : function of (iterations done, None), called after each one

    Returns
    -------
    Vector of size n, full.  Without edges all entries are equal.

    Raises
    ------
    DimensionMismatch, IndexOutOfBound, InvalidValue, DomainMismatch
    ConvergenceFailure
        If `max_iter` iterations do not reach `tol`; ``.result`` is the last vector.

    Notes
    -----
    Power iteration with A + s I, which has the eigenvectors of A and converges on bipartite graphs too; s is 1, with
    `weight` the power of 2 above the largest weight, so that the result does not depend on the unit of weights.  Where
    several eigenvectors have the largest eigenvalue, as in disconnected graphs, the result depends on `start`.  Cost
    O(n + nvals) an iteration.  The iterations are one program (`compile`), which synchronizes once; with `progress`,
    and where loops are not compiled, twice an iteration.

    Sources: Bonacich, "Power and Centrality: A Family of Measures", 1987; iteration and stop as in NetworkX, where s is
    always 1.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2), (1, 3)])
    >>> x = sr.algorithms.eigenvector_centrality(A | A.T)
    >>> {v: round(c, 3) for v, c in x.to_dict().items()}
    {0: 0.408, 1: 0.707, 2: 0.408, 3: 0.408}
    """
    name = "eigenvector_centrality"
    n, kind = square(name, A), floating(name, dtype)
    tol, max_iter, report = number(name, "tol", tol), count(name, "max_iter", max_iter), reporter(name, progress)
    A, weighted = read_weight(name, A, weight)
    B, over_in, _, _, unit = products_with(name, A, kind, weighted=weighted)
    x = Vector.full(kind.type(1), n, device=A.device)
    if start is not None:
        x = start_vector(name, "start", start, n, kind, A.device)
    if n == 0:
        report(0, None)
        return x
    x = x.apply("truediv", right=x.reduce("plus").get(1.0))
    x, change = _power(B, over_in, x, unit, n * tol, max_iter, report)
    if not change < n * tol:
        raise not_converged(name, max_iter, change, tol, x)
    return x


@compile
def _power(
    A: Matrix, over_in: Any, x: Vector, shift: float, tol: float, max_iter: int, report: Progress
) -> tuple[Vector, float]:
    """x ~ (A + s I)' x, of norm 1; return x and its last change."""
    change = np.inf
    for done in range(1, max_iter + 1):
        following = normalize(x.apply("times", right=shift).ewise_add(x.vxm(A, over_in), "plus"))
        change = distance(following, x)  # synchronizes
        x = following
        report(done, None)
        if change < tol:
            break
    return x, change


@algorithm("v")
def katz_centrality(
    A: Matrix,
    alpha: float = 0.1,
    beta: float | Values = 1.0,
    *,
    weight: Weight = None,
    normalized: bool = True,
    start: Values | None = None,
    tol: float = 1e-6,
    max_iter: int = 1000,
    dtype: Any = np.float64,
    progress: Progress | None = None,
) -> Vector:
    """x(v) = alpha (sum over edges (u, v) of x(u)) + beta(v).

    Parameters
    ----------
    A : Matrix, n x n
        An entry (u, v) is an edge from u to v, which counts for v.
    alpha : float
        The attenuation, less than 1 / lambda for the largest eigenvalue lambda of A; otherwise nothing converges.
    beta : float, or Vector of size n, or {vertex: value} (missing entries are 0), finite in `dtype`
    weight : True or str, optional
        True: an edge counts as its value, which must be finite and not negative; str: as that field of its record.
        Default: values are not read, and every edge counts 1.
    normalized : bool
        Whether the norm of the result is 1.
    start : Vector of size n, or {vertex: value}, not negative; default: zeros
    tol : stop when the sum of |change| is below n tol
    max_iter : the largest number of iterations
    dtype : float64 or float32
    progress : function of (iterations done, None), called after each one

    Returns
    -------
    Vector of size n, full.

    Raises
    ------
    DimensionMismatch, IndexOutOfBound, InvalidValue, DomainMismatch
    ConvergenceFailure
        If `max_iter` iterations do not reach `tol`; ``.result`` is the last vector.

    Notes
    -----
    Cost O(n + nvals) an iteration.  The iterations are one program (`compile`), which synchronizes once; with
    `progress`, and where loops are not compiled, once an iteration.

    Sources: Katz, "A New Status Index Derived from Sociometric Analysis", 1953; iteration and stop as in NetworkX.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2)])
    >>> sr.algorithms.katz_centrality(A, 0.5, normalized=False).to_dict()
    {0: 1.0, 1: 1.5, 2: 1.75}
    """
    name = "katz_centrality"
    n, kind = square(name, A), floating(name, dtype)
    alpha, tol = number(name, "alpha", alpha), number(name, "tol", tol)
    max_iter, report = count(name, "max_iter", max_iter), reporter(name, progress)
    A, weighted = read_weight(name, A, weight)
    B, over_in, _, scale, _ = products_with(name, A, kind, weighted=weighted)
    if isinstance(beta, (Vector, Mapping)):
        base = start_vector(name, "beta", beta, n, kind, A.device, relative=False)
    elif isinstance(beta, bool) or not isinstance(beta, (int, float, np.integer, np.floating)):
        raise InvalidValue(f"{name}: beta must be a number or a Vector, got {beta!r}")
    else:
        with np.errstate(over="ignore"):
            held = kind.type(number(name, "beta", beta))
        if not np.isfinite(held) or (held == 0) != (beta == 0):
            raise InvalidValue(f"{name}: beta must be finite and not 0 in {kind}, got {beta!r}")
        base = Vector.full(held, n, device=A.device)
    x = Vector.full(kind.type(0), n, device=A.device)
    if start is not None:
        x = start_vector(name, "start", start, n, kind, A.device, relative=False)
    if n == 0:
        report(0, None)
        return x
    with np.errstate(over="ignore"):  # an infinite one: no sum is finite
        damping = float(kind.type(alpha / scale))
    x, change, done = _katz(B, over_in, base, x, damping, n * tol, max_iter, report)
    if not change < n * tol:
        raise not_converged(name, done, change, tol, x)
    return normalize(x).dup() if normalized else x


@compile
def _katz(
    A: Matrix, over_in: Any, base: Vector, x: Vector, damping: float, tol: float, max_iter: int, report: Progress
) -> tuple[Vector, float, int]:
    """x = alpha A' x + beta; return x, its last change, and the iterations."""
    change, done = np.inf, 0
    for done in range(1, max_iter + 1):
        following = base.ewise_add(x.vxm(A, over_in).apply("times", right=damping), "plus")
        change = distance(following, x)  # synchronizes
        x = following
        report(done, None)
        if change < tol or not math.isfinite(change):
            break
    return x, change, done
