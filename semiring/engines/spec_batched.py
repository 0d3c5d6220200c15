"""Specs of searches from many sources at once (see `spec`)."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..formats import CSR
from ..formats.records import record
from ..operators.types import TypedSemiring
from .operands import Rows, Spec

__all__ = ["ClosureMany", "ClosureManyResult", "ClosureRows", "ClosureRowsResult"]


@record
class ClosureMany(Spec):
    """The boolean closure S A* of k sources, level by level: S(s, sources[s]) = true, a row for each source.

    levels(s, v) = the least d such that (S A^d)(s, v) is true, missing if there is none.
    counts(s, d) = the number of v with levels(s, v) = d, missing if it is 0.

    by_row: rows of A (push traverses them); by_column: rows of A transposed (pull).  Values are not read.
    sources: rows of A, an int64 array in host memory, in any order, with repeats; at least one.
    dtype: of the levels, an integer type that holds every level.
    levels, counts: which results are requested, at least one.
    direction: ``"auto"``, or forced ``"push"`` / ``"pull"``.
    """

    name: ClassVar[str] = "closure_many"
    by_row: Rows
    by_column: Rows
    sources: np.ndarray[Any, Any]
    dtype: np.dtype[Any]
    levels: bool = True
    counts: bool = False
    direction: str = "auto"


@record
class ClosureManyResult:
    """The requested results, on the device of the matrix, and the number of levels.

    levels: k x n, of the requested type.  counts: k x steps, int64.  steps: levels that are not empty, for any source.
    """

    levels: CSR | None
    counts: CSR | None
    steps: int


@record
class ClosureRows(Spec):
    """The closure of every row of a matrix: C(s, :) = x (+) x A (+) x A^2 (+) ..., with x = X(s, :).

    frontiers: X, k x n, uncompressed rows in the memory of the device, of the type of the products.
    by_row: rows of A, n x n; by_column: rows of A transposed.
    Rows do not depend on each other: an implementation computes each as `Closure` does, without a limit of steps, and
    several at once.  The layer above computes the rows one after the other where there is no implementation.
    """

    name: ClassVar[str] = "closure_rows"
    decodable: ClassVar[bool] = False
    frontiers: CSR
    by_row: Rows
    by_column: Rows
    semiring: TypedSemiring


@record
class ClosureRowsResult:
    """C, or None and the first row that does not converge."""

    store: CSR | None
    unsettled: int | None = None
