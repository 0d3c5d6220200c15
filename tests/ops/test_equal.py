"""Equality of objects: positions, values, types, and values within a tolerance."""

from __future__ import annotations

import math

import numpy as np
import pytest

from semiring import Matrix, Vector
from semiring.exceptions import InvalidValue


def test_vectors() -> None:
    v = Vector.from_dense([1.0, math.nan, math.inf])
    assert v.isequal(v.dup())
    assert v.isclose(v.dup().convert("bitmap"))
    assert v.isclose(v + 1e-12)
    assert not v.isequal(v + 1e-12)
    assert not v.isclose(Vector.from_dense([1.0, math.nan, 5.0]))
    assert not v.isclose(Vector.from_dense([1.0, 2.0, math.inf]))
    assert not v.isclose(Vector.from_dense([1.0, math.nan, -math.inf]))
    assert not v.isequal(v[:2].dup())
    assert not Vector.full(1, 3).isequal(Vector.full(1.0, 3), check_dtype=True)
    assert Vector.full(1, 3).isequal(Vector.from_dense([1.0, 1.0, 1.0]))
    assert not Vector.full(1, 3).isequal(Vector.from_coo([0, 1], 1, size=3))
    assert Vector(float, 3).isequal(Vector(int, 3))
    assert v.isequal(np.array([1.0, math.nan, math.inf]))
    for wrong in (Matrix(float, 1, 3), None):
        with pytest.raises(InvalidValue):
            v.isequal(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("values", [1.5, [1.0, 2.0, 3.0]], ids=["one value", "values"])
def test_matrices_with_the_same_values_elsewhere(values: float | list[float]) -> None:
    A = Matrix.from_coo([0, 1, 1], [2, 0, 1], values, shape=(3, 3))
    assert A.isequal(Matrix.from_coo([0, 1, 1], [2, 0, 1], values, shape=(3, 3)))
    other_columns = Matrix.from_coo([0, 1, 1], [2, 0, 2], values, shape=(3, 3))
    other_rows = Matrix.from_coo([0, 1, 2], [2, 0, 1], values, shape=(3, 3))
    for B in (other_columns, other_rows):
        assert not A.isequal(B)
        assert not A.isclose(B)
        assert not A.isequal(B.compress("varint"))


def test_the_one_value_of_no_entries_is_not_compared() -> None:
    ones, twos = (Vector.from_coo([], value, size=3) for value in (1.0, 2.0))
    assert ones.store.iso != twos.store.iso
    assert ones.isequal(twos)
    assert not Vector.full(1.0, 3).isequal(Vector.full(2.0, 3))


def test_the_relative_tolerance_grows_with_the_value() -> None:
    large, small = Vector.from_dense([1e6, -1e6]), Vector.from_dense([1e-6, 1e-6])
    assert large.isclose(large * (1 + 1e-4), rel_tol=1e-3)
    assert not large.isclose(large * (1 + 1e-2), rel_tol=1e-3)
    assert not small.isclose(small * 2, rel_tol=1e-3)
    assert small.isclose(small * 2, rel_tol=1e-3, abs_tol=1e-5)
