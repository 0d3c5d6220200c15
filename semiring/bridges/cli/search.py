"""A measured breadth-first search: its result, its time, and the direction of each level."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import semiring as sr
from semiring.bridges.cli.graphs import out_degrees


@dataclass(frozen=True)
class Search:
    """A search from `source`.

    levels: the result.  vertices, edges: for each level the number of its vertices, and of the stored entries in their
    rows.  directions: ``"push"`` or ``"pull"`` for each level whose expansion was traced.  first_s: the first
    call, which compiles missing kernels.  ms: the median of the timed calls.
    """

    source: int
    levels: sr.Vector
    vertices: NDArray[np.int64]
    edges: NDArray[np.int64]
    directions: tuple[str, ...]
    first_s: float
    ms: float

    @property
    def reached(self) -> int:
        """Vertices that have a level."""
        return int(self.vertices.sum())

    @property
    def traversed(self) -> int:
        """Stored entries of the reached rows: the edges of TEPS."""
        return int(self.edges.sum())

    @property
    def teps(self) -> float:
        """Traversed entries a second."""
        return self.traversed / (self.ms * 1e-3) if self.ms else 0.0


def search(A: sr.Matrix, source: int, *, repeats: int = 1) -> Search:
    """Search, trace and time; `repeats` timed calls follow the first."""
    levels, first_s = timed(lambda: sr.algorithms.bfs_levels(A, source))
    again = [timed(lambda: sr.algorithms.bfs_levels(A, source))[1] for _ in range(repeats)]
    steps = sr.algorithms.bfs_trace(A, source).steps
    rows, depth = levels.to_coo(index_dtype=None, device="cpu")
    degrees = out_degrees(A)[rows]
    return Search(
        source,
        levels,
        np.bincount(depth),
        np.bincount(depth, weights=degrees).astype(np.int64),
        tuple(step.direction for step in steps),
        first_s,
        statistics.median(again) * 1e3,
    )


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """Return the finished result of `work` and its seconds; waits for the device."""
    start = time.perf_counter()
    result = work().wait()
    return result, time.perf_counter() - start
