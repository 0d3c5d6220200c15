"""The specs of votes: the group with the most weight among the entries of each row (see `spec`)."""

from __future__ import annotations

from typing import ClassVar

from ..formats import CSR, Full
from ..formats.records import record
from .operands import Spec

__all__ = ["LocalMoving", "Vote", "key_of_pass"]

# Keys of consecutive passes differ by this odd constant.
_PASS = 0x3C6EF372FE94F82B
_WORD = 1 << 64


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


@record
class LocalMoving(Spec):
    """t = the labels after votes by random parts of the rows, until no row moves.

        active(i) = true for all rows i
        repeat at most `passes` times:
            voters = the active rows i; part(i) = floor(parts random(i, 0, key_of_pass(seed, pass)))
            for p = 0 ... parts - 1:
                active(i) = false for the voters i of part p; all of them vote at once, as in `Vote`
                total(G) = the sum of mass(i) over label(i) = G, before the vote
                for the rows i that move, and a(i, j) with label(j) other than the new label(i): active(j) = true
            end when at most `few` rows moved

    a, labels, mass, rate, keep: as in `Vote`.
    parts: 1 to 65536.
    seed: int64.
    """

    name: ClassVar[str] = "local_moving"
    a: CSR
    labels: Full
    mass: Full | None
    rate: float
    parts: int
    seed: int
    passes: int
    few: int
    keep: bool


def key_of_pass(seed: int, number: int) -> int:
    """Return the third argument of `random` for the parts of a pass: an integer of 64 bits."""
    word = (seed + number * _PASS) % _WORD
    return word - _WORD if word >> 63 else word
