"""Single operations as bandwidth: products with a vector, steps of a traversal, searches from many sources."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import semiring as sr
from semiring.memory.arrays import to_host
from tests import verify

from .. import checks, graphs
from ..case import Run
from ..harness import SOURCES, Contender, compare


@dataclass(frozen=True)
class Case:
    """One call to be timed.

    axes: what distinguishes it from its neighbors: operator, types, formats, density.  call: computes the result,
    complete when the device has finished.  moved_bytes: the bytes that it must read and write at least, each once, so
    that its time gives a bandwidth.  check: raises AssertionError unless the result is correct.  parts: equal parts of
    the call; the time that is reported is that of one.
    """

    axes: str
    call: Callable[[], Any]
    moved_bytes: int
    check: Callable[[Any], None]
    parts: int = 1


_TYPES = ((np.float32, 1e-4), (np.float64, 1e-11))
_MXV_DENSITIES = (0.5, 0.01)


def mxv(A: sr.Matrix) -> Iterator[Case]:
    """plus_times over random values; any_pair over random presence."""
    for dtype, tolerance in _TYPES:
        M, x = graphs.floats(A, dtype), graphs.dense(A, dtype)
        check, _ = checks.product(M, x, tolerance)
        v = sr.Vector.from_dense(x)
        yield _product(M, v, check, np.dtype(dtype))
    for density in _MXV_DENSITIES:
        yield _presence(A, density)


def _product(M: sr.Matrix, v: sr.Vector, check: checks.Check, dtype: np.dtype[Any]) -> Case:
    moved = M.store.nbytes + (M.nrows + M.ncols) * dtype.itemsize
    return Case(f"plus_times {dtype}, full", lambda: M.mxv(v, "plus_times").wait(), moved, lambda w: check(None, w))


def _presence(A: sr.Matrix, density: float) -> Case:
    xp = graphs.module(A)
    present = graphs.dense(A, np.float32) < 0.5 + density
    indptr, indices = graphs.arrays(A)
    below = xp.zeros(A.nvals + 1, np.int64)
    xp.cumsum(present[indices], out=below[1:])
    expected = below[indptr[1:]] > below[indptr[:-1]]
    u = sr.Vector.from_coo(xp.flatnonzero(present), True, size=A.ncols).convert("bitmap")
    moved = A.store.nbytes + (A.nrows + A.ncols) // 8
    return Case(
        f"any_pair, bitmap of {density:g}",
        lambda: A.mxv(u, "any_pair").wait(),
        moved,
        lambda w: checks.equal(w.to_dense(False), expected),
    )


_VXM_DENSITIES = (1e-4, 1e-3, 1e-2, 1e-1)
_DIRECTIONS = ("push", "pull", "auto")


def vxm(A: sr.Matrix) -> Iterator[Case]:
    """any_pair under a complemented mask, whose rows are those of the frontier and half of all others."""
    xp = graphs.module(A)
    draw = graphs.dense(A, np.float32) - np.float32(0.5)
    indptr, indices = graphs.arrays(A)
    degree = indptr[1:] - indptr[:-1]
    for density in _VXM_DENSITIES:
        frontier, seen = draw < density, draw < 0.5
        expected = xp.zeros(A.ncols, dtype=bool)
        for i, j in verify.arcs(indptr, indices):
            expected[j[frontier[i]]] = True
        expected &= ~seen
        f = sr.Vector.from_coo(xp.flatnonzero(frontier), True, size=A.nrows)
        mask = ~sr.Vector.from_coo(xp.flatnonzero(seen), True, size=A.nrows).convert("bitmap").S
        pushed = int(degree[frontier].sum())
        for direction in _DIRECTIONS:
            yield _step(A, f, mask, direction, density, pushed, expected)


def _step(A: sr.Matrix, f: sr.Vector, mask: Any, direction: str, density: float, pushed: int, expected: Any) -> Case:
    def call() -> sr.Vector:
        with sr.config.set(direction=direction):
            return f.vxm(A, "any_pair", mask=mask).wait()

    moved = 4 * pushed + 3 * A.ncols // 8
    return Case(
        f"any_pair, {direction}, frontier {density:g} ({pushed} entries)",
        call,
        moved,
        lambda w: checks.equal(w.to_dense(False), expected),
    )


_NUMBERS = (64, 1024)
# Sources whose levels are verified after each call.
_VERIFIED = 3


def closure_many(A: sr.Matrix) -> Iterator[Case]:
    """Levels and counts of 64 and 1,024 sources; the time is that of one source."""
    for k in _NUMBERS:
        sources = graphs.sources(A, k)
        check = _levels_check(A, sources)
        yield _many(f"levels of {k} sources", A, sources, True, check)
        yield _many(f"counts of {k} sources", A, sources, False, check)


def _many(axes: str, A: sr.Matrix, sources: list[int], levels: bool, check: Callable[[Any], None]) -> Case:
    def call() -> Any:
        found = sr.ops.closure_many(sources, A, levels=levels, counts=not levels)
        (found.levels if levels else found.counts).wait()
        return found

    moved = A.store.nbytes + (call().levels.store.nbytes if levels else 0)
    return Case(f"{axes}, a source", call, moved, check, parts=len(sources))


def _levels_check(A: sr.Matrix, sources: list[int]) -> Callable[[Any], None]:
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


def _call(call: Callable[[], Any]) -> Callable[[Any], Any]:
    return lambda _: call()


def _check(check: Callable[[Any], None]) -> checks.Check:
    return lambda _, result: check(result)


ROWS = (mxv, vxm, closure_many)
OPTIONS = {"graph": ({"cuda": "kron22", "cpu": "kron16"}, "that is operated on")}


def main(run: Run) -> int:
    """The operations that are selected; there are no targets."""
    name = run.options.graph
    A = graphs.make(name)
    for row in run.chosen(ROWS):
        for case in row(A):
            found = compare({row.__name__: Contender(_call(case.call), _check(case.check))}, range(SOURCES), run.device)
            samples = found[row.__name__]
            note = f"{case.moved_bytes / samples.median / 1e6:.4g} GB/s"
            run.timed(f"{row.__name__} {name}: {case.axes}", samples.divided(case.parts), note=note)
    return 0
