"""Operators that equal a function of NumPy or of `math`, on the engine under test."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from semiring import Matrix, Vector, binary, indexunary, monoid, unary
from semiring.dtypes import FLOATS, INTEGERS
from semiring.exceptions import DomainMismatch

INTEGER_PAIRS = [(a, b) for a in (0, 1, 2, 6, 12, 60, 66, 100, 127) for b in (0, 1, 2, 3, 8, 33, 64, 127)]
FLOAT_PAIRS = [(a, b) for a in (-np.inf, -2.5, -0.0, 0.0, 1.0, 3.5, np.inf) for b in (-np.inf, -1.0, 0.0, 3.5, np.inf)]


def called(name: str, pairs: list[tuple[Any, Any]], dtype: Any) -> np.ndarray[Any, Any]:
    a, b = (np.array(side, dtype) for side in zip(*pairs, strict=True))
    found = Vector.from_dense(a).ewise_mult(Vector.from_dense(b), getattr(binary, name))
    assert found.dtype == dtype
    return found.to_numpy()


@pytest.mark.costly
@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_divisors_and_choices(dtype: np.dtype[Any]) -> None:
    low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    pairs = [*INTEGER_PAIRS, (high, 1), (high, high), (high, high - 1), (high, 2), (low, high), (low, 0)]
    if low:
        pairs += [(-12, 8), (12, -8), (-12, -8), (low, low), (-3, 2), (3, -2)]
    expected = [math.gcd(a, b) for a, b in pairs]
    assert called("gcd", pairs, dtype).tolist() == np.array(expected, np.uint64).astype(dtype).tolist()
    ways = [min(math.comb(a, b), high) if 0 <= b <= a else 0 for a, b in pairs if min(b, a - b) < 100]
    assert called("binom", [(a, b) for a, b in pairs if min(b, a - b) < 100], dtype).tolist() == ways
    small = [(a, b) for a, b in pairs if math.lcm(a, b) <= high and abs(a * b) < 2**31]
    assert called("lcm", small, dtype).tolist() == [math.lcm(a, b) for a, b in small]


@pytest.mark.costly
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_functions_of_two_floats(dtype: np.dtype[Any]) -> None:
    a, b = (np.array(side, dtype) for side in zip(*FLOAT_PAIRS, strict=True))
    assert called("nextafter", FLOAT_PAIRS, dtype).tolist() == np.nextafter(a, b).tolist()
    for name in ("logaddexp", "logaddexp2"):
        np.testing.assert_allclose(called(name, FLOAT_PAIRS, dtype), getattr(np, name)(a, b), rtol=1e-6, atol=1e-7)


@pytest.mark.costly
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("name", ["square", "fabs", "deg2rad", "rad2deg", "radians", "degrees", "signbit", "spacing"])
def test_functions_of_one_float(name: str, dtype: np.dtype[Any]) -> None:
    values = np.array([-180.0, -1.5, 1e-30, 1.0, 90.0, 1e18], dtype)
    with np.errstate(all="ignore"):
        expected = getattr(np, name)(values)
    found = getattr(unary.numpy, name)(Vector.from_dense(values))
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found.to_numpy(), expected, rtol=1e-6)


def test_monoids_of_these() -> None:
    assert Vector.from_coo([1, 4], np.array([12, 18], np.uint8), size=9).reduce(monoid.gcd) == 6
    assert monoid.gcd.is_idempotent
    assert Vector.from_dense([0.0, 0.0]).reduce(monoid.numpy.logaddexp2) == 1.0
    assert Vector(float, 3).reduce(monoid.logaddexp, allow_empty=False).value == -np.inf


def mixed(i: int, j: int, k: int) -> float:
    """splitmix64's mixing of i, j and k, in Python's integers."""
    word = (1 << 64) - 1
    z = (i * 0x9E3779B97F4A7C15 + j * 0xD1B54A32D192ED03 + k * 0x8CB92BA72F3D8DD7) & word
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & word
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & word
    return ((z ^ (z >> 31)) >> 11) * 2.0**-53


@pytest.mark.parametrize("seed", [0, 7, -3, 2**40])
def test_random_numbers_depend_on_position_and_seed_alone(seed: int) -> None:
    A = Matrix.from_coo([0, 3, 3, 5], [2, 0, 4, 1], np.array([1, 2, 2, 9], np.uint8), nrows=6, ncols=5)
    found = A.apply("random", right=seed).to_dicts()
    assert found == {i: {j: mixed(i, j, seed) for j in row} for i, row in A.to_dicts().items()}
    by_text = A.apply(indexunary.register_anonymous("random(i, j, k)"), right=seed)
    assert by_text.to_dicts() == found
    assert A.apply("random(x, 0, 1)").to_dicts()[5][1] == mixed(9, 0, 1)


def test_random_numbers_are_uniform() -> None:
    values = Vector.full(True, 1 << 16).apply("random", right=5).to_numpy()
    assert values.min() >= 0
    assert values.max() < 1
    assert np.unique(values).size == values.size
    counts = np.bincount((values * 64).astype(int), minlength=64)
    assert ((counts - 1024) ** 2 / 1024).sum() < 120  # chi-squared, 63 degrees of freedom: 120 has p = 2e-5
    other = Vector.full(True, 1 << 16).apply("random", right=6).to_numpy()
    assert abs(np.corrcoef(values, other)[0, 1]) < 0.02
    assert abs(np.corrcoef(values[1:], values[:-1])[0, 1]) < 0.02


def test_fabs_has_no_complex_numbers() -> None:
    assert unary.numpy.fabs is unary.fabs
    assert unary.fabs["int64"].return_type == np.float64
    with pytest.raises(DomainMismatch):
        unary.fabs["complex64"]
