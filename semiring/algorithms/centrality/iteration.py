"""What the iterations of this family share: products with or without weights, distances, and how they end."""

from __future__ import annotations

import math
from typing import Any, TypeVar

import numpy as np

from semiring import Matrix, Vector, binary, monoid, semiring
from semiring.exceptions import ConvergenceFailure, DomainMismatch, InvalidValue, OutOfMemory, SemiringError

from ..checks import vector, weights
from ..scaling import factor, largest

T = TypeVar("T")

absdiff = binary.register_anonymous("abs(x - y)", "absdiff")
# The L1 distance of two vectors, as an inner product.
plus_absdiff = semiring.register_anonymous(monoid.plus, absdiff, "plus_absdiff")


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


class Products:
    """Products of the adjacency matrix with vectors: sums over in-edges and over out-edges.

    weighted : an edge counts as its value, which must be finite and not negative; else as 1

    scale : a power of 4 by which weights are multiplied, so that squares of products can be summed; 1 for ordinary ones
    unit : a power of 2 above the largest weight, scaled, and at most twice it
    """

    def __init__(self, name: str, A: Matrix, dtype: np.dtype[Any], *, weighted: bool) -> None:
        self.scale = self.unit = 1.0
        if weighted:
            weights(name, A, least=0, finite=True)
            most = largest(A)
            self.scale = factor(most, max(A.nrows, 1) ** 3, powers=2, dtype=dtype)
            self.unit = 2.0 ** math.frexp(most * self.scale)[1]
            A = A if self.scale == 1 else A.apply("times", right=self.scale).new()
        self._A = A
        self._in = (semiring.plus_times if weighted else semiring.plus_first)[dtype]
        self._out = (semiring.plus_times if weighted else semiring.plus_second)[dtype]

    def over_in_edges(self, x: Vector) -> Vector:
        """Return y(v) = sum over edges (u, v) of x(u) A(u, v); missing where v has no in-edge."""
        return x.vxm(self._A, self._in)

    def over_out_edges(self, x: Vector) -> Vector:
        """Return y(u) = sum over edges (u, v) of A(u, v) x(v); missing where u has no out-edge."""
        return self._A.mxv(x, self._out)


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
        most = float(given.reduce("max").get(0))  # synchronises
        given = given.apply("truediv", right=most if most > 0 else np.inf)
    full(accum="second") << given.apply("identity")
    least, total = full.reduce("min").get(0), full.reduce("plus").get(0)  # synchronises
    if not (least >= 0 and 0 < total < np.inf):
        raise InvalidValue(
            f"{name}: the entries of {parameter} must not be negative, and their sum must be positive and finite"
        )
    return full


def distance(x: Vector, y: Vector) -> float:
    """Return the sum of |x - y| of two full vectors.  Synchronises."""
    return float(x.inner(y, plus_absdiff).get(0.0))


def normalised(x: Vector) -> Vector:
    """Return x of Euclidean norm 1, for x of which no entry is negative; zeros as they are.  Synchronises."""
    kind, about = x.dtype.type, np.finfo(x.dtype)
    squares = float(x.inner(x).get(0.0))
    if not about.tiny / about.eps <= squares < np.inf:  # 0, or squares that overflow or underflow
        x = x.apply("truediv", right=kind(x.reduce("max").get(0) or 1)).new()
        squares = float(x.inner(x).get(0.0))
    return x.apply("truediv", right=kind(np.sqrt(squares) or 1)).new()


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
