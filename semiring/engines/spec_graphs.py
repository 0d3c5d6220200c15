"""The specs of peeling, of sums along the paths of a forest, of spanning forests, and of flows (see `spec`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ..exceptions import InvalidValue
from ..formats import CSR, AnyPattern, Full, VectorStore
from ..formats.records import record
from .operands import Spec

if TYPE_CHECKING:
    from ..operators.types import TypedMonoid

__all__ = [
    "FOREST_CYCLE",
    "FOREST_RANGE",
    "MaximumFlow",
    "MaximumFlowResult",
    "Peel",
    "Span",
    "Treefix",
    "forest_error",
]

# Errors that implementations detect.
FOREST_RANGE, FOREST_CYCLE = 1, 2


def forest_error(code: int) -> InvalidValue:
    """Return the exception for one of the errors."""
    if code == FOREST_RANGE:
        return InvalidValue("treefix: a parent is no row number; parents are from 0 to n - 1, that of a root is itself")
    return InvalidValue("treefix: parent has a cycle, and a forest has none; a root is its own parent")


@record
class Peel(Spec):
    """t(i) = max(0, the largest k such that i is in a set S of rows i with counts(i) - lost(i, S) >= k).

    lost(i, S) is the number of entries of row i in the columns outside S.  The result is full, of the type of `counts`.

    counts: int32 or int64.
    by_column: the pattern of the transpose of a square matrix; row j lists the rows that lose an entry with column j.
    least: t(i) = least, above 0, where this number is reached, and 0 elsewhere; None: every level.
    """

    name: ClassVar[str] = "peel"
    counts: Full
    by_column: AnyPattern
    least: int | None = None


@record
class Treefix(Spec):
    """t(v) = (+) of u(w) over the descendants w of v (`up`), or over its ancestors; v is both.

    parent: int32 or int64, parent(v) = v for a root.  values: u, of the type of the monoid, which is commutative.
    The result is full.  An implementation raises InvalidValue for a parent out of range and for a cycle.
    """

    name: ClassVar[str] = "treefix"
    parent: Full
    values: Full
    monoid: TypedMonoid
    up: bool


@record
class Span(Spec):
    """t = the entries (i, j) of a that join two trees, visited in the order of values, equal ones by row and column.

    a: square, with values that have an order.  largest: from the largest value on.  NaN is behind all numbers.
    """

    name: ClassVar[str] = "span"
    a: CSR
    largest: bool


@record
class MaximumFlow(Spec):
    """max over F, s, d of sum_v s(v), where  0 <= F <= a,  0 <= s <= supply,  0 <= d <= demand,  and at every vertex

        s(v) + sum_u F(u, v) = d(v) + sum_w F(v, w).

    a: square, real, with an entry (v, u) wherever it has (u, v).  Values that are not above 0, NaN among them, and the
        diagonal admit nothing.
    by_column: the transpose of a, uncompressed as a is.
    supply, demand: float64, finite, not negative; missing entries are 0.
    least: what is left of a capacity, a supply or a demand counts as 0 up to this amount.

    Which of several maximum flows is returned is unspecified.
    """

    name: ClassVar[str] = "flow"
    a: CSR
    by_column: CSR
    supply: VectorStore
    demand: VectorStore
    least: float


@record
class MaximumFlowResult:
    """F, s and d, float64 and without zeros, and the vertices on the side of the supplies in a minimum cut.

    side: boolean, all True.  Supplies outside are used up, and so are demands inside, and entries that leave it.
    """

    flow: CSR
    sent: VectorStore
    received: VectorStore
    side: VectorStore
