"""Checks, progress and random numbers that the algorithms share."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from semiring import Matrix, Vector
from semiring.algorithms import checks
from semiring.algorithms.progress import reporter
from semiring.algorithms.randomness import uniform
from semiring.exceptions import DimensionMismatch, DomainMismatch, GraphProperty, InvalidValue

EDGE = Matrix.from_coo([0], [1], [3], nrows=3, ncols=3)
BOTH = Matrix.from_coo([0, 1], [1, 0], [3, 4], nrows=3, ncols=3)


def test_undirected() -> None:
    assert checks.undirected("f", BOTH) == 3
    assert checks.undirected("f", Matrix(bool, 0, 0)) == 0
    with pytest.raises(GraphProperty, match="one direction only"):
        checks.undirected("f", EDGE)
    with pytest.raises(GraphProperty, match="differs from"):
        checks.undirected("f", BOTH, values=True)
    assert checks.undirected("f", BOTH.ewise_add(BOTH.T, "max").new(), values=True) == 3
    with pytest.raises(DimensionMismatch):
        checks.undirected("f", Matrix(bool, 2, 3))


@pytest.mark.parametrize(
    ("values", "options", "message"),
    [
        (np.array([1.0, np.nan]), {}, "NaN"),
        (np.array([1, -2]), {"least": 0}, "must not be negative, got -2"),
        (np.array([0, 2]), {"above": 0}, "must be positive, got 0"),
        (np.array([2, 7], np.uint8), {"least": 3}, "at least 3, got 2"),
        (np.array([-np.inf, 7]), {"above": -5}, "must exceed -5, got -inf"),
    ],
)
def test_weights(values: Any, options: dict[str, float], message: str) -> None:
    A = Matrix.from_coo([0, 1], [1, 2], values, nrows=3, ncols=3)
    with pytest.raises(InvalidValue, match=message):
        checks.weights("f", A, **options)
    checks.weights("f", Matrix(values.dtype, 3, 3), **options)


@pytest.mark.costly
def test_weights_in_range() -> None:
    checks.weights("f", BOTH, least=3, above=2)
    checks.weights("f", Matrix.from_coo([0], [1], [True], nrows=2, ncols=2), above=0)
    with pytest.raises(DomainMismatch, match="complex128"):
        checks.weights("f", Matrix.from_coo([0], [1], [1j], nrows=2, ncols=2))


def test_parameters() -> None:
    v = Vector.full(1, 3)
    assert checks.vector("f", "start", v, 3) is v
    with pytest.raises(DimensionMismatch, match="start has size 3"):
        checks.vector("f", "start", v, 4)
    with pytest.raises(InvalidValue, match="must be a Vector"):
        checks.vector("f", "start", [1, 2, 3], 3)
    assert checks.seed_of("f", np.int32(-4)) == -4
    for wrong in (1.5, True, 2**63, "1"):
        with pytest.raises(InvalidValue, match="seed must be an integer"):
            checks.seed_of("f", wrong)
    assert checks.choice("f", "method", "a", ("a", "b")) == "a"
    with pytest.raises(InvalidValue, match="method is one of 'a', 'b', got 'c'"):
        checks.choice("f", "method", "c", ("a", "b"))


def test_progress() -> None:
    seen: list[tuple[int, int | None]] = []
    reporter("f", lambda done, total: seen.append((done, total)))(1, None)
    reporter("f", None)(2, 3)
    assert seen == [(1, None)]
    with pytest.raises(InvalidValue, match="progress must be a function"):
        reporter("f", 3)  # type: ignore[arg-type]


def test_rounds_and_seeds_differ() -> None:
    drawn = [
        uniform(1000, seed, step).to_numpy() for seed, step in [(0, 0), (0, 1), (1, 0), (-(2**63), 0), (2**63 - 1, 9)]
    ]
    for at, first in enumerate(drawn):
        for second in drawn[at + 1 :]:
            assert abs(np.corrcoef(first, second)[0, 1]) < 0.15
    assert np.array_equal(uniform(1000, 1, 0).to_numpy(), drawn[2])
