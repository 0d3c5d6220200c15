"""Thresholds of the CPU engine: one row each, with the source of the number."""

from __future__ import annotations

from typing import Final

from ..direction import Costs
from ..thresholds import Table

__all__ = ["COSTS", "COUNTED_SHARE", "TABLE"]

TABLE: Final = Table()
_row = TABLE.row

# Push or pull.
PROBE_COST: Final = _row("PROBE_COST", 1, "reasoned", "the unit, about a nanosecond")
EDGE_COST: Final = _row(
    "EDGE_COST", 3, "measured",
    "an edge pushed: with the next three, levels of bfs_parents on one thread of a 2-core x86 server, Kronecker graphs "
    "of scale 14 to 18 and uniform ones of 8 and 32 edges a row; none of 15 other sets was as fast on all of them",
)  # fmt: skip
FRONTIER_ROW_COST: Final = _row(
    "FRONTIER_ROW_COST", 48, "measured", "a row pushed: its offsets and first entry are rarely in a cache"
)
ROW_COST: Final = _row("ROW_COST", 2, "measured", "a row that a pull tests by its hub, or passes over")
WORD_COST: Final = _row("WORD_COST", 16, "measured", "a word of presence bits, of which a pull passes over four arrays")
COUNTED_SHARE: Final = _row(
    "COUNTED_SHARE", 8, "reasoned",
    "with one vector entry in so many or more, its edges are estimated from the average row instead of counted",
)  # fmt: skip
COSTS: Final = Costs(EDGE_COST, PROBE_COST, FRONTIER_ROW_COST, ROW_COST, WORD_COST)
