"""Weights scaled so that sums, products and squares of them neither overflow nor underflow.

Weights of ordinary size are returned as they are: nothing is rounded, and nothing is copied.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from semiring import Matrix, Vector, unary

_FLOAT64 = np.dtype(np.float64)
# Sums of the values of a row outside of these bounds: their inverses, products and quotients may not be normal numbers.
_LEAST, _MOST = 2.0**-960, 2.0**960

_finite_size = unary.register_anonymous("select(isinf(x), 0, abs(x))", "finite_size")
_divisor = unary.register_anonymous("select(x == 0, 1, x)", "divisor")


def largest(A: Matrix) -> float:
    """Return the largest |x| of the finite values; 0 without.  O(nvals); synchronizes."""
    if A.dtype.kind == "f":
        return float(A.apply(_finite_size).reduce_scalar("max").get(0))
    return max(abs(float(A.reduce_scalar(extreme).get(0))) for extreme in ("min", "max"))


def factor(size: float, terms: int, *, powers: int = 1, dtype: np.dtype[Any] = _FLOAT64) -> float:
    """Return s = 4^k, 1 for ordinary values, so that `terms` products of `powers` values up to `size` s can be summed.

    The sum is finite in `dtype`, and the product of the largest values is so far above the smallest number that what
    underflows is below the rounding error.
    """
    about = np.finfo(dtype)
    room = max((about.maxexp - about.nmant - 8 - terms.bit_length()) // powers, 1)
    exponent = math.frexp(size)[1]  # size < 2^exponent
    if size == 0 or -room <= exponent <= room:
        return 1.0
    shift = room - exponent if exponent > 0 else min(-room - exponent, 1022)
    return math.ldexp(1.0, shift // 2 * 2)


def bounded(A: Matrix, terms: int, *, powers: int = 1, dtype: np.dtype[Any] = _FLOAT64) -> tuple[Matrix, float]:
    """Return A times a `factor` of its values, and this factor.  Infinite values stay.  O(nvals); synchronizes."""
    scale = factor(largest(A), terms, powers=powers, dtype=dtype)
    return (A, scale) if scale == 1 else (A.apply("times", right=scale).dup(), scale)


def bounded_rows(A: Matrix, term: Callable[[Matrix], Matrix] | None = None) -> tuple[Matrix, Matrix, Vector]:
    """Return A, term(A) and the sums of the rows of term(A); if one is out of bounds, of A with each row divided.

    A : of float64, finite.  Rows are divided by their largest |value|, if that is not 0.
    term : applied to the values, such as their squares; None: the values, of which none is negative

    O(nvals); synchronizes.
    """
    raised = A if term is None else term(A)
    total = raised.reduce_rowwise("plus").dup()
    if total.nvals and not (total.reduce("min").value >= _LEAST and total.reduce("max").value <= _MOST):
        A = A.apply("abs").reduce_rowwise("max").apply(_divisor).ewise_mult(A, "rtruediv").dup()
        raised = A if term is None else term(A)
        total = raised.reduce_rowwise("plus").dup()
    return A, raised, total


def row_shares(A: Matrix, term: Callable[[Matrix], Matrix] | None = None) -> Matrix:
    """P(u, v) = t(A(u, v)) / (sum of row u of t(A)), as in `bounded_rows`; rows of sum 0 have no entries."""
    _, raised, total = bounded_rows(A, term)
    return total.select(">", 0).apply("minv").ewise_mult(raised, "times")
