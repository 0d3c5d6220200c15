"""Searches from 64 and 1,024 sources in one call: their levels, and the numbers of vertices in each level."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import semiring as sr
from semiring.memory.arrays import to_host
from tests import verify

from .. import graphs
from ..case import Run
from ..harness import SOURCES, measure

_NUMBERS = (64, 1024)
# Sources whose levels are verified after each call.
_VERIFIED = 3

OPTIONS = {"graph": ({"cuda": "kron22", "cpu": "kron16"}, "that is searched")}


def main(run: Run) -> int:
    """Levels and counts, the time of one source with its bandwidth; there are no targets."""
    name = run.options.graph
    A = graphs.make(name)
    for k in _NUMBERS:
        sources = graphs.sources(A, k)
        check = _verified(A, sources)
        for what in ("levels", "counts"):

            def call(_: int, what: str = what, sources: list[int] = sources) -> Any:
                found = sr.ops.closure_many(sources, A, levels=what == "levels", counts=what == "counts")
                (found.levels if what == "levels" else found.counts).wait()
                return found

            moved = A.store.nbytes + (call(0).levels.store.nbytes if what == "levels" else 0)
            samples = measure(call, check, range(SOURCES), run.device)
            note = f"{moved / samples.median / 1e6:.4g} GB/s"
            run.timed(f"closure_many {name}: {what} of {k} sources, a source", samples.divided(k), note=note)
    return 0


def _verified(A: sr.Matrix, sources: list[int]) -> Callable[[int, Any], None]:
    """Levels of some sources are proven; counts are those of a single search, which is proven too."""
    indptr, indices = graphs.arrays(A)
    chosen = [(s, sources[s]) for s in np.linspace(0, len(sources) - 1, _VERIFIED).astype(int)]

    def check(_: int, found: Any) -> None:
        for s, source in chosen:
            single = sr.algorithms.bfs_levels(A, source) if found.levels is None else found.levels[int(s), :]
            levels = single.to_dense(verify.UNREACHED)
            verify.bfs_levels(indptr, indices, source, levels)
            if found.counts is not None:
                expected = np.bincount(to_host(levels)[to_host(levels) >= 0])
                counts = to_host(found.counts[int(s), :].to_dense(0))
                np.testing.assert_array_equal(counts[: expected.size], expected)
                assert not counts[expected.size :].any()

    return check
