"""Random numbers that depend on a seed, a round and the position alone: the same on every engine."""

from __future__ import annotations

import numpy as np

from semiring import Matrix, Vector

# Rounds of one seed are thunks apart by an odd number near 2**62.6 / golden ratio, seeds by 1.
_ROUND = 0x3C6EF372FE94F82B
_WORD = 1 << 64


def uniform(n: int, seed: int, step: int = 0, *, device: str | None = None) -> Vector:
    """r(v), in [0, 1) with 53 random bits, for each vertex v: a full Vector of float64.

    step : a number of the round; rounds are independent.
    """
    return Vector.full(True, n, device=device).apply("random", right=_thunk(seed, step))


def on_entries(A: Matrix, seed: int, step: int = 0) -> Matrix:
    """R(u, v), in [0, 1) with 53 random bits, for each entry of A."""
    return A.apply("random", right=_thunk(seed, step))


def _thunk(seed: int, step: int) -> int:
    word = (seed + step * _ROUND) % _WORD
    return word - _WORD if word >> 63 else word


def distinct(n: int, seed: int, step: int = 0, *, device: str | None = None) -> Vector:
    """k(v) = floor(m r(v)) n + v, with r as `uniform` and m up to 2**31: distinct int64 numbers in random order.

    v is k(v) modulo n, so the least of several keys names its vertex.
    """
    parts = min(1 << 31, (1 << 63) // max(n, 1))
    high = Vector(np.int64, n, device=device)
    high << uniform(n, seed, step, device=device).apply("times", right=float(parts))
    return high.apply("times", right=n).ewise_add(high.apply("rowindex"), "plus")
