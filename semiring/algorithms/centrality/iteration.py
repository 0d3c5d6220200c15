"""What the iterations of this family share: products with or without weights, distances, and how they end."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, TypeVar

import numpy as np

from semiring import Matrix, Vector, binary, monoid, semiring
from semiring.exceptions import ConvergenceFailure, DomainMismatch, InvalidValue, OutOfMemory, SemiringError

from ..checks import vector, weights
from ..scaling import factor, largest

T = TypeVar("T")

absdiff = binary.register_anonymous("abs(x - y)", "absdiff")
# The L1 distance of two vectors, as an inner product.
plus_absdiff = semiring.register_anonymous(monoid.plus, absdiff, "plus_absdiff")

# Sums of squares from which no digit is lost, of float64 and float32.
_LEAST, _LEAST_32 = (float(np.finfo(dtype).tiny / np.finfo(dtype).eps) for dtype in (np.float64, np.float32))


def floating(name: str, dtype: Any) -> np.dtype[Any]:
    """Return float32 or float64, of every name of a dtype; DomainMismatch for others."""
    try:
        kind = Vector(dtype).dtype
    except OutOfMemory:
        raise
    except SemiringError as error:
        raise DomainMismatch(f"{name}: dtype is float32 or float64, got {dtype!r}") from error
    if kind.kind != "f":
        raise DomainMismatch(f"{name}: dtype is float32 or float64, got {kind}")
    return kind


class Products(NamedTuple):
    """Products of the adjacency matrix with vectors.

    over_in: the semiring of x.vxm(A): y(v) = sum over edges (u, v) of x(u) A(u, v), missing where v has no in-edge.
    over_out: that of A.mxv(x): y(u) = sum over edges (u, v) of A(u, v) x(v), missing where u has no out-edge.
    scale: a power of 4 by which weights are multiplied, so that squares of products can be summed; 1 for ordinary ones.
    unit: a power of 2 above the largest weight, scaled, and at most twice it.
    """

    A: Matrix
    over_in: Any
    over_out: Any
    scale: float = 1.0
    unit: float = 1.0


def products_with(name: str, A: Matrix, dtype: np.dtype[Any], *, weighted: bool) -> Products:
    """Return the products in which an edge counts as its value, which must be finite and not negative, or as 1."""
    if not weighted:
        return Products(A, semiring.plus_first[dtype], semiring.plus_second[dtype])
    weights(name, A, least=0, finite=True)
    most = largest(A)
    scale = factor(most, max(A.nrows, 1) ** 3, powers=2, dtype=dtype)
    A = A if scale == 1 else A.apply("times", right=scale).dup()
    ring = semiring.plus_times[dtype]
    return Products(A, ring, ring, scale, unit=2.0 ** math.frexp(most * scale)[1])


def start_vector(
    name: str, parameter: str, v: Any, n: int, dtype: np.dtype[Any], device: str, *, relative: bool = True
) -> Vector:
    """Return a full vector of entries that are not negative, missing ones 0; their sum must be positive and finite.

    relative : divide them by the largest
    """
    given = vector(name, parameter, v, n, device)
    if given.dtype.kind not in "biuf":
        raise DomainMismatch(f"{name}: {parameter} must hold real numbers, got {given.dtype}")
    full = Vector.full(dtype.type(0), n, device=device)
    if relative:
        most = float(given.reduce("max").get(0))  # synchronizes
        given = given.apply("truediv", right=most if most > 0 else np.inf)
    full(accum="second") << given.apply("identity")
    least, total = full.reduce("min").get(0), full.reduce("plus").get(0)  # synchronizes
    if not (least >= 0 and 0 < total < np.inf):
        raise InvalidValue(
            f"{name}: the entries of {parameter} must not be negative, and their sum must be positive and finite"
        )
    return full


def distance(x: Vector, y: Vector) -> float:
    """Return the sum of |x - y| of two full vectors.  Synchronizes."""
    return float(x.inner(y, plus_absdiff).get(0.0))


def normalize(x: Vector) -> Vector:
    """Return x of Euclidean norm 1, for x of which no entry is negative; zeros as they are.  Synchronizes."""
    squares = x.inner(x).get(0.0)
    if (_LEAST if x.dtype == np.float64 else _LEAST_32) <= squares < np.inf:
        return x.apply("truediv", right=math.sqrt(squares))
    most = x.reduce("max").get(0.0)  # of 0, or of squares that overflow or underflow
    scaled = x.apply("truediv", right=most if most != 0 else 1.0)
    norm = math.sqrt(scaled.inner(scaled).get(0.0))
    return scaled.apply("truediv", right=norm if norm != 0 else 1.0)


def converged(name: str, max_iter: int, change: float, tol: float, result: T) -> T:
    """Return the result of an iteration; ConvergenceFailure if its change is not below tol > 0."""
    if tol > 0 and not change < tol:
        raise not_converged(name, max_iter, change, tol, result)
    return result


def not_converged(name: str, max_iter: int, change: float, tol: float, result: Any) -> ConvergenceFailure:
    """Return the error of an iteration that does not end."""
    return ConvergenceFailure(
        f"{name}: the change is still {change:.3g} after {max_iter} iterations (tol={tol:g})",
        result=result,
        iterations=max_iter,
        residual=change,
    )
