"""w<not seen> = f A, the step of a traversal: push, pull, and the rule's choice, at each density of f."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import semiring as sr
from tests import verify

from .. import checks, graphs
from .case import Case

_DENSITIES = (1e-4, 1e-3, 1e-2, 1e-1)
_DIRECTIONS = ("push", "pull", "auto")


def cases(A: sr.Matrix) -> Iterator[Case]:
    """any_pair under a complemented mask, whose rows are those of the frontier and half of all others."""
    xp = graphs.module(A)
    draw = graphs.dense(A, np.float32) - np.float32(0.5)
    indptr, indices = graphs.arrays(A)
    degree = indptr[1:] - indptr[:-1]
    for density in _DENSITIES:
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
