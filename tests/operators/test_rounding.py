"""`round` is that of C, ties away from 0; `rint` and Python's and NumPy's round go to even."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from semiring import Vector, agg, unary
from semiring.dtypes import FP32, FP64
from semiring.engines.shared.expression_numpy import evaluate
from semiring.operators import lookup_unary
from semiring.operators.expression import Expression

# x, and x rounded with ties away from 0.
TIES = [
    (0.5, 1),
    (1.5, 2),
    (2.5, 3),
    (-0.5, -1),
    (-1.5, -2),
    (-2.5, -3),
    (0.3, 0),
    (-0.3, -0.0),
    (0.0, 0),
    (-0.0, -0.0),
]
EDGES = [
    (0.49999999999999994, 0.0), (-0.49999999999999994, -0.0), (2.0**51 + 0.5, 2.0**51 + 1), (2.0**52 + 1, 2.0**52 + 1),
    (-(2.0**53) + 1, -(2.0**53) + 1), (1e300, 1e300), (5e-324, 0.0), (np.inf, np.inf), (-np.inf, -np.inf),
    (np.nan, np.nan),
]  # fmt: skip
EDGES32 = [
    (0.49999997, 0.0),
    (2.0**22 + 0.5, 2.0**22 + 1),
    (2.0**23 + 1, 2.0**23 + 1),
    (-(2.0**24) + 1, -(2.0**24) + 1),
]
CASES = {"float64": TIES + EDGES, "float32": TIES + EDGES32 + EDGES[-3:]}


def same(found: Any, expected: Any) -> None:
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(np.signbit(found), np.signbit(expected))


@pytest.mark.parametrize("dtype", [FP64, FP32], ids=str)
def test_round_rounds_ties_away_from_zero(dtype: Any) -> None:
    given, expected = (np.array(part, dtype) for part in zip(*CASES[dtype.name], strict=True))
    found = Vector.from_dense(given).apply("round").to_numpy()
    number = ~np.isnan(expected)
    same(found[number], expected[number])
    assert np.isnan(found[~number]).all()
    same(evaluate(Expression("round(x)"), {"x": given}, dtype)[number], expected[number])


@pytest.mark.parametrize("dtype", [FP64, FP32], ids=str)
def test_rint_rounds_ties_to_even(dtype: Any) -> None:
    given = np.array([x for x, _ in CASES[dtype.name]][:-1], dtype)
    same(Vector.from_dense(given).apply("rint").to_numpy(), np.rint(given))


def test_integers_stay() -> None:
    given = np.array([-128, -3, 0, 127], np.int8)
    for name in ("round", "rint"):
        same(Vector.from_dense(given).apply(name).to_numpy(), given)


AWAY: dict[str, Any] = {"name": "round", "operator": unary.round, "text": "round(x)", "typed": "round[float64]"}
TO_EVEN: dict[str, Any] = {
    "name": "rint",
    "Python's function": round,
    "NumPy's function": np.rint,
    "inside a lambda": lambda x: round(x),
    "NumPy's inside a lambda": lambda x: np.round(x),
    "rint inside a lambda": lambda x: np.rint(x),
    "NumPy's in a text": "np.round(x)",
    "text": "rint(x)",
}


@pytest.mark.parametrize(
    ("op", "expected"),
    [pytest.param(op, 3.0, id=f"away: {name}") for name, op in AWAY.items()]
    + [pytest.param(op, 2.0, id=f"to even: {name}") for name, op in TO_EVEN.items()],
)
def test_which_round_is_meant(op: str | Callable[..., Any], expected: float) -> None:
    typed = lookup_unary(op).typed(float)
    assert evaluate(typed.expr, {"x": np.float64(2.5)}, typed.z) == expected


@pytest.mark.parametrize("name", ["varp", "vars", "stdp", "stds"])
@pytest.mark.parametrize("values", [[np.nan, 1.0], [1e160, 2e160]])
def test_variances_without_a_value_are_nan(name: str, values: list[float]) -> None:
    """Of NaN, and where the squares overflow: 0 would be a result."""
    assert np.isnan(Vector.from_dense(values).reduce(getattr(agg, name)).value)
