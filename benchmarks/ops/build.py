"""A(i, j) = x from shuffled triples, with and without repeated positions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import semiring as sr

from .. import checks, graphs
from .case import Case


def cases(A: sr.Matrix) -> Iterator[Case]:
    """float32 values; triples in random order."""
    xp = graphs.module(A)
    M = graphs.floats(A, np.float32)
    rows, columns, values = M.to_coo()
    order = xp.random.default_rng(graphs.SEED).random(A.nvals).argsort()
    i, j, x = rows[order], columns[order], values[order]
    twice_i, twice_j, twice_x = (xp.concatenate([part, part]) for part in (i, j, x))
    moved = int(i.nbytes + j.nbytes + x.nbytes) + M.nbytes

    def same(expected: Any) -> Callable[[sr.Matrix], None]:
        def check(C: sr.Matrix) -> None:
            for found, known in zip(C.to_csr(), (*graphs.arrays(M), expected), strict=True):
                checks.equal(found, known)

        return check

    yield Case(
        "from_coo", lambda: sr.Matrix.from_coo(i, j, x, nrows=A.nrows, ncols=A.ncols).wait(), moved, same(values)
    )
    yield Case(
        "from_coo, each place twice, plus",
        lambda: sr.Matrix.from_coo(twice_i, twice_j, twice_x, nrows=A.nrows, ncols=A.ncols, dup_op="plus").wait(),
        moved + int(i.nbytes + j.nbytes + x.nbytes),
        same(values + values),
    )
