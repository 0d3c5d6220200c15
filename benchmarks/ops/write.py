"""w<m, replace> accum= u: a full vector into a full vector, through a mask of every tenth position."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
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


def _same(expected: Any, w: sr.Vector) -> None:
    checks.equal(w.to_dense(0), expected)
