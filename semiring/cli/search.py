"""One breadth-first search measured: what it found, how long it took, which way each level went."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import semiring as sr
from semiring.cli.graphs import out_degrees
from semiring.memory.arrays import to_host


@dataclass(frozen=True)
class Search:
    """A search from `source`.

    levels: the levels found.  vertices, edges: for each level how many vertices it has, and how many stored entries
    leave them.  directions: ``"push"`` or ``"pull"`` for each level whose expansion was traced.  first_s: the first
    call, which compiles what is not compiled yet.  ms: the median of the timed calls.
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
        """Stored entries of the rows that were reached: what TEPS count."""
        return int(self.edges.sum())

    @property
    def teps(self) -> float:
        """Traversed entries a second."""
        return self.traversed / (self.ms * 1e-3) if self.ms else 0.0


def search(A: sr.Matrix, source: int, *, repeats: int = 1) -> Search:
    """Search, see how it went, and time it; `repeats` timed calls follow the first."""
    levels, first_s = timed(lambda: sr.algorithms.bfs_levels(A, source))
    again = [timed(lambda: sr.algorithms.bfs_levels(A, source))[1] for _ in range(repeats)]
    steps = sr.algorithms.bfs_trace(A, source).steps
    rows, depth = (to_host(part) for part in levels.to_coo(index_dtype=None))
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
    """The finished result of `work`, and the seconds it took: the device is waited for."""
    start = time.perf_counter()
    result = work().wait()
    return result, time.perf_counter() - start
