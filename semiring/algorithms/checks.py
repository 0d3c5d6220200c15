"""Argument checks of the algorithms."""

from __future__ import annotations

import operator
from collections.abc import Sized
from numbers import Real
from typing import Any

from semiring import Matrix
from semiring.exceptions import DimensionMismatch, IndexOutOfBound, InvalidValue


def square(name: str, A: Matrix) -> int:
    """Return the number of rows of A; DimensionMismatch unless it is square, InvalidValue unless it is a Matrix."""
    if not isinstance(A, Matrix):
        raise InvalidValue(f"{name}: expected a Matrix, got {_described(A)}; {_remedy(A)}")
    nrows, ncols = A.shape
    if nrows != ncols:
        raise DimensionMismatch(f"{name}: an adjacency matrix is square, got shape {A.shape}")
    return nrows


def _described(A: Any) -> str:
    return f"a {type(A).__module__.partition('.')[0]} {type(A).__name__}"


def _remedy(A: Any) -> str:
    """Return how to make a Matrix from an object of another library."""
    if hasattr(A, "tocsr"):
        return "make one with sr.io.from_scipy_sparse"
    if hasattr(A, "adjacency"):
        return "make one with sr.io.from_networkx"
    if hasattr(A, "ndim") or isinstance(A, (list, tuple)):
        return "make one with Matrix.from_dense(array, missing_value=0), or with Matrix.from_edgelist for pairs"
    return "make one with Matrix.from_dense, Matrix.from_edgelist, sr.io.from_scipy_sparse or sr.io.from_networkx"


def number(name: str, parameter: str, value: Any, *, high: float | None = None) -> float:
    """Return a real number from 0 to `high`; InvalidValue otherwise, for NaN too."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise InvalidValue(f"{name}: {parameter} must be a number, got {value!r}")
    real = float(value)
    if not (real >= 0 and (high is None or real <= high)):
        expected = "must not be negative or NaN" if high is None else f"must be in [0, {high}]"
        raise InvalidValue(f"{name}: {parameter} {expected}, got {value}")
    return real


def count(name: str, parameter: str, value: Any) -> int:
    """Return a count, an integer of at least 0; InvalidValue otherwise."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise InvalidValue(f"{name}: {parameter} must be an integer, got {value!r}")
    if value.__index__() < 0:
        raise InvalidValue(f"{name}: {parameter} must not be negative, got {value}")
    return operator.index(value)


def row(name: str, source: Any, n: int) -> int:
    """Return a source as a row number; IndexOutOfBound unless 0 <= source < n."""
    if type(source) is int and 0 <= source < n:
        return source
    if isinstance(source, bool) or not hasattr(source, "__index__"):
        raise InvalidValue(f"{name}: a source is a row number, got {source!r}")
    try:
        number = operator.index(source)
    except TypeError as error:  # an array has the method, which fails unless it holds one integer
        raise InvalidValue(f"{name}: a source is a row number, got {source!r}") from error
    if not 0 <= number < n:
        raise IndexOutOfBound(f"{name}: source {number} is out of bounds for a matrix of {n} rows")
    return number


def is_many(source: Any) -> bool:
    """Return whether `source` is a sequence of sources."""
    return (
        type(source) is not int
        and isinstance(source, Sized)
        and not isinstance(source, (str, bytes))
        and getattr(source, "ndim", 1) == 1
    )
