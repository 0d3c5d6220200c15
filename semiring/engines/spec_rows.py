"""Specs of operations on the entries of each row: scaled, summed in order, sorted, selected, located (see `spec`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ..formats import CSR, Full, VectorStore
from ..formats.records import record
from .operands import Index, Spec

if TYPE_CHECKING:
    from ..operators.types import TypedBinary, TypedMonoid

__all__ = [
    "HOW",
    "LocateGroups",
    "LocateRows",
    "Located",
    "Scale",
    "Scan",
    "SelectK",
    "SortRows",
    "SortedRows",
]

# How `SelectK` chooses entries of a row.
HOW = ("first", "last", "smallest", "largest", "random")


@record
class Scale(Spec):
    """t(i, j) = op(a(i, j), u(j)) on the entries of a; under `by_rows` op(u(i), a(i, j)).

    Positions: ``xi = yi = i``, ``xj = yj = j``.
    """

    name: ClassVar[str] = "scale"
    a: CSR
    u: Full
    op: TypedBinary
    by_rows: bool


@record
class Scan(Spec):
    """t(i, j) = (+)_l a(i, l) over the entries of row i with l <= j, on the entries of a, in ascending order."""

    name: ClassVar[str] = "scan"
    a: CSR
    monoid: TypedMonoid


@record
class SortRows(Spec):
    """The entries of each row in ascending order of their values (`descending`: in descending order), from column 0.

    Equal values keep their order, and NaN is behind all numbers.  The result is `SortedRows`.
    """

    name: ClassVar[str] = "sort_rows"
    a: CSR
    descending: bool


@record
class SortedRows:
    """values(i, p) is the p-th value of row i, and columns(i, p), of int64, the column that it had."""

    values: CSR
    columns: CSR


@record
class SelectK(Spec):
    """Up to k entries of each row: the first or the last, those of the smallest or largest values, or any (`HOW`).

    Of equal values the first entries are selected; NaN only where there are not enough numbers.  ``"random"`` selects
    the k smallest of the numbers that `engines.order.random_keys` computes from `seed`, row and column.
    """

    name: ClassVar[str] = "select_k"
    a: CSR
    k: int
    how: str
    seed: int


@record
class LocateRows(Spec):
    """The smallest value (`largest`: the largest) of each row that has entries, and its column.

    Of equal values, 0.0 and -0.0 among them, the first one; NaN only where there is no number.  The result is
    `Located`, with an element for each row.
    """

    name: ClassVar[str] = "locate_rows"
    a: CSR
    largest: bool


@record
class LocateGroups(Spec):
    """The smallest value (`largest`: the largest) of each group, and its index: u(p) is in group index[p].

    Chosen as by `LocateRows`.  The result is `Located`, with an element for each group that has entries.
    """

    name: ClassVar[str] = "locate_groups"
    u: VectorStore
    index: Index
    largest: bool


@record
class Located:
    """Values, and the positions that they have in their row or vector, of int64; both have the same structure."""

    values: VectorStore
    positions: VectorStore
