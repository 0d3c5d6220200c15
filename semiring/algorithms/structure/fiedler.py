"""The Fiedler vector: the eigenvector of the Laplacian with the smallest eigenvalue above 0.

Inverse iteration in the space of vectors of sum 0, on which the Laplacian L of a connected graph is positive definite:

    x = normalized solution of L y = x,      lambda = x' L x

Each system is solved by conjugate gradients, with the inverse degrees as preconditioner, from the last solution on.

Sources: Fiedler, "Algebraic Connectivity of Graphs", Czechoslovak Math. J. 23, 1973; Hestenes, Stiefel, "Methods of
Conjugate Gradients for Solving Linear Systems", J. Res. NBS 49(6), 1952.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from semiring import Matrix, Vector
from semiring.exceptions import ConvergenceFailure, GraphProperty, InvalidValue

from ..checks import Weight, count, number, read_weight, seed_of, undirected
from ..checks import weights as check_weights
from ..components import is_connected
from ..progress import Progress, reporter
from ..randomness import uniform
from ..scaling import bounded
from ..vertex_labels import algorithm
from .matrices import laplacian


class Fiedler(NamedTuple):
    """The algebraic connectivity of a graph, and its vector.

    Attributes
    ----------
    value : float
        The second smallest eigenvalue of the Laplacian.
    vector : Vector of size n, full, float64
        Of norm 1 and sum 0; the first entry other than 0 is positive up to rounding.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2)])
    >>> round(sr.algorithms.fiedler_vector(A | A.T).value, 6)
    1.0
    """

    value: float
    vector: Vector


@algorithm(vector="v")
def fiedler_vector(
    A: Matrix,
    *,
    weight: Weight = None,
    tol: float = 1e-8,
    max_iter: int = 1000,
    seed: int = 0,
    progress: Progress | None = None,
) -> Fiedler:
    """Return the x of norm 1 and sum 0 with the least x' L x, for the Laplacian L, and this value.

    Vertices where x is positive and those where it is negative are two well separated parts of the graph.

    Parameters
    ----------
    A : Matrix, n x n, symmetric
        An undirected, connected graph of two or more vertices.
    weight : True or str, optional
        True: an edge counts as its value, which must be finite and positive; str: as that field of its record.
        Default: values are not read, and every edge counts 1.
    tol : float
        The iteration ends when the norm of  L x - value x  is at most this share of the largest degree.
    max_iter : int, of the iteration
    seed : int, of the start vector
    progress : callable, optional
        ``progress(done, None)`` is called after each iteration; an exception in it ends the computation.

    Returns
    -------
    Fiedler

    Raises
    ------
    DimensionMismatch, DomainMismatch, InvalidValue
    GraphProperty
        If the graph is not undirected and connected.
    ConvergenceFailure
        After `max_iter` iterations; ``.result`` holds the last Fiedler.

    Notes
    -----
    Cost one product of L and a vector for each step of the conjugate gradients: about the square root of the condition
    of L for each iteration, and more iterations the nearer the second eigenvalue is to the third.  If they are equal,
    the vector is one of many.  Synchronizes a few times a step.

    Source: Fiedler, "Algebraic Connectivity of Graphs", Czechoslovak Math. J. 23, 1973.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3)])
    >>> x = sr.algorithms.fiedler_vector(A | A.T).vector
    >>> sorted(x.select(">", 0).to_dict()) in ([0, 1, 2], [3, 4, 5])
    True
    """
    A, weighted = read_weight("fiedler_vector", A, weight)
    n = undirected("fiedler_vector", A, values=weighted)
    bound, most = number("fiedler_vector", "tol", tol), count("fiedler_vector", "max_iter", max_iter)
    draw, report = seed_of("fiedler_vector", seed), reporter("fiedler_vector", progress)
    if weighted:
        check_weights("fiedler_vector", A, above=0, finite=True)
    if n < 2:
        raise InvalidValue(f"fiedler_vector: a graph of two vertices or more is needed, got {n}")
    if not is_connected(A):
        raise GraphProperty("fiedler_vector: the graph is not connected; connected_components(A) labels its parts")
    W, unit = bounded(A, n**3, powers=2) if weighted else (A.apply("one"), 1.0)
    L, degrees = laplacian(W.dup(dtype=np.float64))
    scale, largest = degrees.apply("minv").dup(), float(degrees.reduce("max").value)
    x = _normalized(uniform(n, draw, device=A.device))
    value = error = math.inf
    for step in range(most):
        Lx = L.mxv(x, "plus_times").dup()
        value = _dot(x, Lx)
        residual = Lx.ewise_add(x.apply("times", right=value), "minus").dup()
        error = math.sqrt(_dot(residual, residual))
        if error <= bound * largest:
            if step == 0:
                report(0, None)
            return _signed(value / unit, x)
        start = x.apply("times", right=1 / value) if value > 0 else x
        x = _normalized(_solved(L, scale, x, start.dup()))
        report(step + 1, None)
    raise ConvergenceFailure(
        f"fiedler_vector: a residual of {error / unit:.2g} after {most} iterations, "
        f"and tol expects {bound * largest / unit:.2g}",
        result=_signed(value / unit, x),
        iterations=most,
        residual=error / unit,
    )


def _solved(L: Matrix, scale: Vector, b: Vector, x: Vector) -> Vector:
    """Return y with L y = b, by conjugate gradients that end at a thousandth of the residual of x."""
    r = b.ewise_add(L.mxv(x, "plus_times"), "minus").dup()
    z = _centered(r.ewise_mult(scale, "times"))
    p, rho, least = z, _dot(r, z), 1e-3 * math.sqrt(_dot(r, r))
    for _ in range(10 * L.nrows):
        if math.sqrt(_dot(r, r)) <= least:
            break
        Lp = L.mxv(p, "plus_times").dup()
        alpha = rho / _dot(p, Lp)
        x = x.ewise_add(p.apply("times", right=alpha), "plus").dup()
        r = r.ewise_add(Lp.apply("times", right=alpha), "minus").dup()
        z = _centered(r.ewise_mult(scale, "times"))
        rho, before = _dot(r, z), rho
        p = z.ewise_add(p.apply("times", right=rho / before), "plus").dup()
    return x


def _dot(x: Vector, y: Vector) -> float:
    return float(x.inner(y).get(0.0))


def _centered(x: Vector) -> Vector:
    return x.apply("minus", right=float(x.reduce("plus").value) / x.size).dup()


def _normalized(x: Vector) -> Vector:
    x = _centered(x)
    return x.apply("truediv", right=math.sqrt(_dot(x, x))).dup()


def _signed(value: float, x: Vector) -> Fiedler:
    first = float(x.select(">", 1e-12).apply("rowindex").reduce("min").get(x.size))
    other = float(x.select("<", -1e-12).apply("rowindex").reduce("min").get(x.size))
    return Fiedler(value, x if first < other else x.apply("ainv").dup())
