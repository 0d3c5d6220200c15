"""The spec of sums along the paths of a forest (see `spec`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ..exceptions import InvalidValue
from ..formats import Full
from ..formats.records import record
from .operands import Spec

if TYPE_CHECKING:
    from ..operators.types import TypedMonoid

__all__ = ["FOREST_CYCLE", "FOREST_RANGE", "Treefix", "forest_error"]

# Errors that implementations detect.
FOREST_RANGE, FOREST_CYCLE = 1, 2


def forest_error(code: int) -> InvalidValue:
    """Return the exception for one of the errors."""
    if code == FOREST_RANGE:
        return InvalidValue("treefix: a parent is no row number; parents are from 0 to n - 1, that of a root is itself")
    return InvalidValue("treefix: parent has a cycle, and a forest has none; a root is its own parent")


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
