"""Thresholds of the CPU engine: one row each, with the source of the number."""

from __future__ import annotations

from typing import Final

from ..shared.direction import Costs
from ..shared.thresholds import Table

__all__ = ["COSTS", "COUNTED_SHARE", "TABLE"]

TABLE: Final = Table()
_row = TABLE.row

# Push or pull.  `python -m benchmarks direction` fits the costs to the levels of searches, and compares the directions
# that they choose with the faster ones: benchmarks/results/amd-epyc-2-cores-direction.txt.  The fits differ
# between graphs, as the ranges state; the values are those near the fits whose choices are good on all graphs.
PROBE_COST: Final = _row("PROBE_COST", 1, "measured", "the unit: 0.3 to 1.9 ns")
EDGE_COST: Final = _row(
    "EDGE_COST", 2, "measured", "an edge pushed: 1 to 3 probes on Kronecker and on sparse uniform graphs, else more"
)
FRONTIER_ROW_COST: Final = _row(
    "FRONTIER_ROW_COST", 40, "measured",
    "a row pushed: 25 probes at most, for its offsets and first entry, which are rarely in a cache; but with 20, "
    "searches of a sparse uniform graph pull too late",
)  # fmt: skip
ROW_COST: Final = _row(
    "ROW_COST", 2, "measured",
    "a row that a pull tests by its hub, or passes over: 2 probes or more; but with 4, searches of a sparse uniform "
    "graph pull too late",
)  # fmt: skip
WORD_COST: Final = _row(
    "WORD_COST", 3, "measured", "a word of presence bits, of which a pull passes over four arrays: 1 to 6 probes"
)
COUNTED_SHARE: Final = _row(
    "COUNTED_SHARE", 8, "reasoned",
    "with one vector entry in so many or more, its edges are estimated from the average row instead of counted",
)  # fmt: skip
BRANCH_COST: Final = _row(
    "BRANCH_COST", 10, "measured",
    "min_plus of kron16, two cores of an AMD EPYC; share of the entries, push and pull in ms: 0.05 0.6 2.6, 0.3 2.0 "
    "5.3, 0.6 2.2 9.4, 0.9 2.7 2.7, 0.98 2.6 1.6",
)  # fmt: skip
COSTS: Final = Costs(EDGE_COST, PROBE_COST, FRONTIER_ROW_COST, ROW_COST, WORD_COST, branch=BRANCH_COST)

# Searches from many sources.
SOURCES: Final = _row("SOURCES", 512, "reasoned", "sources of a group: the bits of a row fill one cache line")
SHARING: Final = _row(
    "SHARING", 16, "measured",
    "sources that share a row of a frontier, on average, from which they are searched together: equally fast as apart "
    "at 12 to 50 on Kronecker and uniform graphs, two cores of an AMD EPYC; roads of New York have 1.1 with 64 sources",
)  # fmt: skip

# Products under a mask, by rows or by dot products: costs in tenths of a nanosecond on one core of an AMD EPYC, which
# decide between the two: benchmarks/results/amd-epyc-2-cores-masked-products.txt.
PRODUCT_COST: Final = _row(
    "PRODUCT_COST", 23, "measured", "a product of a row: 12 to 34 on uniform random and Kronecker graphs"
)
PROBE_OF_DOT: Final = _row("PROBE_OF_DOT", 9, "measured", "a probe of a dot product that reads no values")
VALUED_PROBE: Final = _row("VALUED_PROBE", 17, "measured", "a probe of a dot product that reads values")
DOT_ENTRY: Final = _row("DOT_ENTRY", 800, "measured", "an entry of the mask of dot products: 800 to 1200")
TRANSPOSED_ENTRY: Final = _row(
    "TRANSPOSED_ENTRY", 290, "measured",
    "an entry of B that is transposed for dot products: 120 to 170 on kron13, more where rows are far apart in memory",
)  # fmt: skip

# Products with full matrices.
COLUMNS: Final = _row("COLUMNS", 1024, "reasoned", "columns of a chunk: four rows of B and one of C in the L1 cache")
LEAST_COLUMNS: Final = _row(
    "LEAST_COLUMNS", 32, "reasoned", "least columns of a chunk: two vector instructions of 16 float32 or more"
)
PANEL_BYTES: Final = _row(
    "PANEL_BYTES", 1 << 18, "reasoned", "columns of a full B that all rows of a full A read: a part of the L2 cache"
)
SAMPLED_SHARE: Final = _row(
    "SAMPLED_SHARE", 4, "reasoned",
    "under a mask with an entry for so many positions, or more, numpy.matmul computes all of them at less cost",
)  # fmt: skip
