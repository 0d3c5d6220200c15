"""The spec of a vote: the group with the most weight among the entries of each row (see `spec`)."""

from __future__ import annotations

from typing import ClassVar

from ..formats import CSR, Full
from ..formats.records import record
from .operands import Spec

__all__ = ["Vote"]


@record
class Vote(Spec):
    """t(i) = the group G of the highest score(i, G), a group being the columns of one label.

        score(i, G) = sum of a(i, j) over j in G  -  rate mass(i) total(G - i)
        total(G - i) = totals(G) - (mass(i) if label(i) = G else 0)

    a: square; real values, cast to float64 and added up there.
    labels: int32 or int64.  A label outside 0 to n - 1 is no group: entries in its columns do not vote.
    mass, totals: float64, or both None: the score is the sum alone.
    rows: bool; a row i with rows(i) = false keeps its label.  None: every row votes.
    keep: the row's own group is a candidate, and wins ties; else the groups among the entries are, and the smallest
        wins.  A row without a candidate keeps its label.  A score that is NaN never wins.

    Products and differences of the score are rounded one by one, in the order written: if the sums are exact, all
    engines return the same groups.
    """

    name: ClassVar[str] = "vote"
    a: CSR
    labels: Full
    mass: Full | None
    totals: Full | None
    rate: float
    rows: Full | None
    keep: bool
