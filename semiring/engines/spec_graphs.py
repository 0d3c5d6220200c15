"""The specs of peeling, of sums along the paths of a forest, and of spanning forests (see `spec`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ..exceptions import InvalidValue
from ..formats import CSR, AnyPattern, Full
from ..formats.records import record
from .operands import Spec

if TYPE_CHECKING:
    from ..operators.types import TypedMonoid

__all__ = ["FOREST_CYCLE", "FOREST_RANGE", "Peel", "Span", "Treefix", "forest_error"]

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
