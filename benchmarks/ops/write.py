"""w<m, replace> accum= u: a full vector into a full vector, through a mask of every tenth position.

C<M> accum= T: a matrix into its lower triangle's positions, in one call and composed of several.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import product
from typing import Any

import numpy as np

import semiring as sr

from .. import checks, graphs
from .case import Case


def cases(A: sr.Matrix) -> Iterator[Case]:
    """Without options, accumulated, masked, masked and replaced."""
    xp = graphs.module(A)
    n = A.ncols
    x = graphs.dense(A, np.float32)
    y = x[::-1].copy()
    u, start = sr.Vector.from_dense(x), sr.Vector.from_dense(y)
    chosen = xp.arange(n) % 10 == 0
    m = sr.Vector.from_coo(xp.flatnonzero(chosen), True, size=n).convert("bitmap")
    table: dict[str, tuple[dict[str, Any], Any, int]] = {
        "accum": ({"accum": "plus"}, y + x, 12 * n),
        "mask": ({"mask": m.S}, xp.where(chosen, x, y), 8 * n + n // 8),
        "complemented mask, accum": ({"mask": ~m.S, "accum": "plus"}, xp.where(chosen, y, y + x), 12 * n + n // 8),
        "mask, replace": ({"mask": m.S, "replace": True}, xp.where(chosen, x, 0), 8 * n // 10 + n // 8),
    }
    for axes, (writing, expected, moved) in table.items():

        def call(writing: dict[str, Any] = writing) -> sr.Vector:
            w = start.dup()
            w(**writing) << u
            return w.wait()

        yield Case(axes, call, moved, partial(_same, expected))

    yield from _matrices(A)


def _matrices(A: sr.Matrix) -> Iterator[Case]:
    """T has the entries of C with other values, so the result has the entries of C."""
    xp = graphs.module(A)
    C = graphs.floats(A, np.float32)
    T = C.apply("plus", right=1.0)
    L = C.select("tril", -1)
    values, new = C.to_csr()[2], T.to_csr()[2]
    in_lower = C.apply("rowindex").to_csr()[2] > C.to_csr()[1]
    moved = 3 * C.nbytes + 2 * L.nbytes
    table: dict[str, tuple[dict[str, Any], Any]] = {
        "matrix, mask": ({"mask": L.S}, xp.where(in_lower, new, values)),
        "matrix, complemented mask, accum": (
            {"mask": ~L.S, "accum": "plus"},
            xp.where(in_lower, values, values + new),
        ),
    }
    for (axes, (writing, expected)), fusion in product(table.items(), (True, False)):

        def call(writing: dict[str, Any] = writing, fusion: bool = fusion) -> sr.Matrix:
            target = C.dup()
            with sr.config.set(fusion=fusion):
                target(**writing) << T
            return target.wait()

        yield Case(f"{axes}, {'fused' if fusion else 'composed'}", call, moved, partial(_same_values, expected))


def _same(expected: Any, w: sr.Vector) -> None:
    checks.equal(w.to_dense(0), expected)


def _same_values(expected: Any, C: sr.Matrix) -> None:
    checks.equal(C.to_csr()[2], expected)
