"""Random numbers that depend on a seed, a round and the position alone: the same on every engine."""

from __future__ import annotations

import numpy as np

from semiring import Vector, indexunary

# Thunks of consecutive rounds differ by this odd constant, those of consecutive seeds by 1, so that they do not meet.
_ROUND = 0x3C6EF372FE94F82B
_WORD = 1 << 64


def uniform(n: int, seed: int, step: int = 0, *, device: str | None = None) -> Vector:
    """r(v), in [0, 1) with 53 random bits, for each vertex v: a full Vector of float64.

    step : a number of the round; rounds are independent.
    """
    return Vector.full(True, n, device=device).apply(indexunary.random, right=thunk(seed, step))


def thunk(seed: int, step: int) -> int:
    """Return the thunk of a round, an integer of 64 bits."""
    word = (seed + step * _ROUND) % _WORD
    return word - _WORD if word >> 63 else word


def distinct(n: int, seed: int, step: int = 0, *, device: str | None = None, scale: Vector | None = None) -> Vector:
    """k(v) = floor(m s(v) r(v)) n + v, with r as `uniform` and m up to 2**31: distinct int64 numbers in random order.

    v is k(v) modulo n, so the least of several keys names its vertex.  scale: s, a full Vector from 0 to 1; 1 without.
    """
    drawn = uniform(n, seed, step, device=device)
    if scale is not None:
        drawn = drawn.ewise_mult(scale, "times")
    high = Vector(np.int64, n, device=device)
    high << drawn.apply("times", right=float(min(1 << 31, (1 << 63) // max(n, 1))))
    return high.apply("times", right=n).ewise_add(high.apply("rowindex"), "plus")


def permutation(n: int, seed: int, step: int = 0, *, device: str | None = None) -> Vector:
    """p(v), the numbers 0 to n - 1 in random order: a full Vector of int64."""
    _, order = uniform(n, seed, step, device=device).sort()
    made = Vector(np.int64, n, device=device)
    made[order] << order.apply("rowindex")
    return made
