"""What every algorithm checks of its arguments."""

from __future__ import annotations

from collections.abc import Sized
from typing import Any, SupportsIndex

from semiring import Matrix
from semiring.exceptions import DimensionMismatch, IndexOutOfBound, InvalidValue


def square(name: str, A: Matrix) -> int:
    """The number of rows of a square matrix; DimensionMismatch for any other."""
    if A.nrows != A.ncols:
        raise DimensionMismatch(f"{name}: an adjacency matrix is square, got shape {A.shape}")
    return A.nrows


def row(name: str, source: Any, n: int) -> int:
    """A source as a row number; IndexOutOfBound unless 0 <= source < n."""
    if isinstance(source, bool) or not isinstance(source, SupportsIndex):
        raise InvalidValue(f"{name}: a source is a row number, got {source!r}")
    number = source.__index__()
    if not 0 <= number < n:
        raise IndexOutOfBound(f"{name}: source {number} is out of bounds for a matrix of {n} rows")
    return number


def is_many(source: Any) -> bool:
    """True if several sources were given."""
    return isinstance(source, Sized) and not isinstance(source, (str, bytes)) and getattr(source, "ndim", 1) == 1
