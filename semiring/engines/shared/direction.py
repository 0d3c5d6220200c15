"""Push or pull: one cost model for every step that multiplies a matrix by a sparse vector, on every engine.

    push = frontier_row * rows + edge * edges + word * push_words
    pull = probe * probes + row * pull_rows + word * pull_words + derive * derived + branch * branches

    probes = min(open_rows * entries / edges, open_edges)  if a row ends at its first hit,  else open_edges
    branches = 2 * open_edges * s * (1 - s),  s = edges / entries,  if a hit computes a term of a sum,  else 0

A push follows the edges of the frontier; a pull probes the entries of the open rows, whose results are not final and
which the mask admits.  One entry in entries / edges leads to the frontier: a row that ends at its first hit probes
this number on average, and at most its own entries.  Whether an entry leads to the frontier is hardly predictable: of
two in a row the second one differs from the first as often as `branches` has it.

Source: S. Beamer, K. Asanović, D. Patterson, "Direction-Optimizing Breadth-First Search" (SC 2012), whose rule
``edges > open edges / alpha`` follows for rows of average length; the expected number of probes replaces alpha.

The costs are rows of the tuning table of each engine.  Inputs describe what is available in a step: stored orientations
(`preset`), bounds of the edges instead of their number, bytes instead of entries (`reading_less`).
`cuda/kernels/direction.cuh` states the same equation for kernels; numba compiles this one.
"""

from __future__ import annotations

from typing import NamedTuple

from ...dtypes import BOOL
from ...formats import Full
from ...operators.types import TypedMonoid
from ..requests.operations import Mxv

__all__ = [
    "Costs", "Work", "derives_transpose", "ends_early", "expected_probes", "prefers_pull", "preset", "reading_less"
]  # fmt: skip


class Costs(NamedTuple):
    """The costs of an engine in a unit of its own; the ratios determine the direction.

    edge: an edge that a push follows.  probe: an entry that a pull reads.  frontier_row: a row of the frontier, beside
    its edges.  row: a row of a pass over rows.  word: 32 presence bits of a pass.  derive: an entry of an orientation
    that is computed first, less what later steps gain by it.  branch: one that is predicted wrongly.
    """

    edge: int
    probe: int
    frontier_row: int = 0
    row: int = 0
    word: int = 0
    derive: int = 0
    branch: int = 0


class Work(NamedTuple):
    """What each direction does in a step, beside the frontier itself.

    entries: of the matrix.  open_rows, open_edges: the rows that a pull probes, and their entries.  early: whether a
    row ends at its first hit.  push_words, pull_words: presence words that this direction passes over.  pull_rows: rows
    that a pull passes over.  derived: entries of the rows that a pull needs, if they are not at hand.  sums: whether a
    hit computes a term from values.
    """

    entries: int
    open_rows: int
    open_edges: int
    early: bool
    push_words: int = 0
    pull_rows: int = 0
    pull_words: int = 0
    derived: int = 0
    sums: bool = False


def ends_early(add: TypedMonoid) -> bool:
    """Return whether sums are likely to be final before the end of a row: the limits of a number type seldom occur."""
    return add.is_any or (add.terminal is not None and add.dtype == BOOL)


def expected_probes(work: Work, edges: float) -> float:
    """Return the number of entries that a pull is expected to read."""
    if work.early:
        return min(work.open_rows * (work.entries / max(edges, 1.0)), float(work.open_edges))
    return float(work.open_edges)


def prefers_pull(costs: Costs, work: Work, rows: float, edges: float) -> bool:
    """Return whether a pull costs no more than a push of `rows` rows with `edges` edges.

    Monotonic in `edges`, without `sums`: the answer for a bound can make their number unnecessary.
    """
    push = costs.frontier_row * rows + costs.edge * edges + costs.word * work.push_words
    pull = costs.probe * expected_probes(work, edges) + costs.row * work.pull_rows + costs.word * work.pull_words
    if work.sums and not work.early:
        share = min(edges / max(work.entries, 1), 1.0)
        pull += costs.branch * 2.0 * work.open_edges * share * (1.0 - share)
    return push >= pull + costs.derive * work.derived


def reading_less(push: float | None = None, pull: float | None = None) -> str:
    """Return the direction that reads less, where this determines the cost; None: the direction is not available.

    The model with exact inputs: bytes or entries, as `edges` and `open_edges`, at a cost of one each.
    """
    return "pull" if push is None or (pull is not None and push >= pull) else "push"


def preset(q: Mxv) -> str | None:
    """Return the direction of a product that needs no costs; None otherwise.

    It is the forced direction; the only one whose rows are at hand; or a pull where the vector is full, because a push
    would follow every edge.
    """
    if q.direction != "auto":
        return q.direction
    if not q.by_row.ready or not q.by_column.ready:
        return "push" if q.by_column.ready else "pull"
    return "pull" if isinstance(q.vector, Full) else None


def derives_transpose(direction: str, early: bool, resident: bool) -> bool:
    """Return whether a search derives a missing transpose, so that it can pull.

    Only where rows end at their first hit: others probe all entries, which a push follows.  Not for matrices that are
    compressed or in host memory: the transpose would be uncompressed and resident, and use the memory that they save.
    """
    return direction != "push" and early and resident
