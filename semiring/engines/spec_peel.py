"""The spec of peeling: rows with few entries are removed, level by level (see `spec`)."""

from __future__ import annotations

from typing import ClassVar

from ..formats import AnyPattern, Full
from ..formats.records import record
from .operands import Spec

__all__ = ["Peel"]


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
