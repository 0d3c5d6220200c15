"""Thresholds of the programs of compiled loops: rows as in `tuning`."""

from __future__ import annotations

from typing import Final

from ..shared.thresholds import Table
from . import tuning

TABLE: Final = Table()
_row = TABLE.row

# Calls of the six lines of a search and of rounds of peeling.
PROGRAM_BLOCK: Final = _row("PROGRAM_BLOCK", 512, "measured", "see PROGRAM_RESIDENT")
PROGRAM_RESIDENT: Final = _row(
    "PROGRAM_RESIDENT", 2, "measured",
    "H100; kron20, kron22, kron24, grid of 5000 x 5000, core numbers of kron20, ms, with PROGRAM_BLOCK: "
    "3 x 512 0.42 0.52 0.96 152 -, 2 x 512 0.32 0.50 0.92 111 23.5, 1 x 1024 0.29 0.48 1.09 125 24.3, "
    "1 x 512 0.33 0.73 1.64 100 18.9, 4 x 256 0.32 0.51 1.00 120 24.1",
)  # fmt: skip
ALONE_MOST: Final = _row(
    "ALONE_MOST", 2048, "measured",
    "items of a request that a block processes alone; grid of 2000 x 2000: 0 67 ms, 8192 119",
)  # fmt: skip
ALONE_LEAST: Final = _row("ALONE_LEAST", 1024, "reasoned", "items of an iteration from which on it goes on alone")
SOME_BLOCKS: Final = _row(
    "SOME_BLOCKS", 32, "measured",
    "blocks that process requests of up to SOME_MOST items; H100, grid of 5000 x 5000: 8 155 ms, 16 135, 32 118",
)  # fmt: skip
SOME_MOST: Final = _row("SOME_MOST", 1 << 16, "reasoned", "4 items a thread of SOME_BLOCKS")
SOME_LEAST: Final = _row("SOME_LEAST", 1 << 15, "reasoned", "as ALONE_LEAST, for SOME_BLOCKS")
PATIENCE: Final = _row(
    "PATIENCE", 4, "measured",
    "small iterations in turn before blocks leave; H100, core numbers of kron20: 0 38.9 ms, 4 33.7",
)  # fmt: skip
SPARSE_SHARE: Final = _row("SPARSE_SHARE", 8, "reasoned", "a list of fewer entries than 1 in 8 is followed")
FEW_EDGES: Final = _row("FEW_EDGES", 256, "reasoned", "edges that are pushed without a comparison of costs")
RELIST_SHARE: Final = _row(
    "RELIST_SHARE", 8, "measured",
    "fewer entries than 1 in 8 are listed first; H100, core numbers of kron22: 64 43.6 ms, 16 39.4, 8 37.4",
)  # fmt: skip
HOST_ENTRIES: Final = _row(
    "HOST_ENTRIES", 1 << 23, "measured",
    "a pull of so many entries outweighs two launches; H100, 20 ranks of kron20: 7.2 ms, by programs alone 12.5",
)  # fmt: skip
HOST_MASKED: Final = _row(
    "HOST_MASKED", 1 << 26, "measured",
    "the same under a mask, which the engine cannot rank; H100, independent set of kron20: 4.5 ms, by the host 5.3",
)  # fmt: skip
BOUNDED_ENTRIES: Final = _row("BOUNDED_ENTRIES", 1 << 20, "reasoned", "a pull of fewer is as two passes over a vector")
BOUNDED_SHARE: Final = _row("BOUNDED_SHARE", 4, "reasoned", "1 in 4 entries have the value at which a row ends")
WATCHED_CYCLES: Final = _row("WATCHED_CYCLES", 1 << 28, "reasoned", "0.15 s, then a signal is answered")


def program_constants() -> dict[str, int]:
    """Return the constants that ``program.cuh`` reads."""
    shared = {"CROWDED_SHARE": tuning.CROWDED_SHARE, "EAGER_EDGES": tuning.EAGER_EDGES}
    return {name: globals()[name] for name, _ in TABLE.items()} | shared | tuning.cost_constants(tuning.DEVICE)
