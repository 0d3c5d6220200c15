"""Random numbers that depend on a seed, a round and the position alone: the same on every engine."""

from __future__ import annotations

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
