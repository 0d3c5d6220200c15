"""Searches from many sources at once: their levels, and the numbers of vertices in each level."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import semiring as sr
from semiring.memory.arrays import to_host
from tests import verify

from .. import graphs
from .case import Case

_NUMBERS = (64, 1024)
# Sources whose levels are verified after each call.
_VERIFIED = 3


def cases(A: sr.Matrix) -> Iterator[Case]:
    """Levels and counts of 64 and 1,024 sources; the time is that of one source."""
    for k in _NUMBERS:
        sources = graphs.sources(A, k)
        check = _check(A, sources)
        yield _case(f"levels of {k} sources", A, sources, True, check)
        yield _case(f"counts of {k} sources", A, sources, False, check)


def _case(axes: str, A: sr.Matrix, sources: list[int], levels: bool, check: Callable[[Any], None]) -> Case:
    def call() -> Any:
        found = sr.ops.closure_many(sources, A, levels=levels, counts=not levels)
        (found.levels if levels else found.counts).wait()
        return found

    moved = A.store.nbytes + (call().levels.store.nbytes if levels else 0)
    return Case(f"{axes}, a source", call, moved, check, parts=len(sources))


def _check(A: sr.Matrix, sources: list[int]) -> Callable[[Any], None]:
    """Levels of some sources are proven; counts are those of a single search, which is proven too."""
    indptr, indices = graphs.arrays(A)
    chosen = [(s, sources[s]) for s in np.linspace(0, len(sources) - 1, _VERIFIED).astype(int)]

    def check(found: Any) -> None:
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
