"""Properties that verify a result: those of `semiring bench`, by which tests and benchmarks verify results too."""

from __future__ import annotations

from semiring.bridges.bench.validation import SLICE, UNREACHED, arcs, bfs_levels, bfs_parents, components, module_of

__all__ = ["SLICE", "UNREACHED", "arcs", "bfs_levels", "bfs_parents", "components", "module_of"]
