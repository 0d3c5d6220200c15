"""Benchmark suites: Graph500, GAP, LDBC Graphalytics and the ceilings of a machine; `semiring bench` runs them.

They use the public API alone.  A suite yields rows (`rows`), of which each is measured (`measuring`) and verified
(`validation`) in the same run.
"""

from __future__ import annotations

from typing import Final

GAP_GRAPHS: Final = ("kron", "urand")
GAP_KERNELS: Final = ("bfs", "sssp", "pr", "cc", "bc", "tc")
