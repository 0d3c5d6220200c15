"""The spec of a spanning forest in the order of values (see `spec`)."""

from __future__ import annotations

from typing import ClassVar

from ..formats import CSR
from ..formats.records import record
from .operands import Spec

__all__ = ["Span"]


@record
class Span(Spec):
    """t = the entries (i, j) of a that join two trees, visited in the order of values, equal ones by row and column.

    a: square, with values that have an order.  largest: from the largest value on.  NaN is behind all numbers.
    """

    name: ClassVar[str] = "span"
    a: CSR
    largest: bool
