"""A selection by the values of a matrix that shares its structure: the same as by a matrix of other structure."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import semiring as sr


@pytest.mark.parametrize("complement", [False, True])
@pytest.mark.parametrize("dtype", [bool, np.int32, np.float64])
def test_selection(dtype: Any, complement: bool) -> None:
    A = sr.random.kronecker(8, 8, seed=3, weights="uniform")
    marks = A.apply("colindex").apply("mod", right=3).dup(dtype)
    other = marks.select("!=", 0)
    for B in (A, A.apply("one").dup(bool)):  # values of its own, and one for all entries
        found = B.dup(mask=~marks.V if complement else marks.V)
        assert found.isequal(B.dup(mask=~other.S if complement else other.S))
        assert 0 < found.nvals < A.nvals


def test_all_and_none() -> None:
    A = sr.Matrix.from_coo([0, 1, 2], [1, 2, 0], [1.0, np.nan, 3.0])
    all_of_them, none = A.apply("isinf").apply("lnot"), A.apply("isinf")
    assert A.dup(mask=all_of_them.V).nvals == 3
    assert A.dup(mask=none.V).nvals == 0
    assert A.dup(mask=A.V).nvals == 3  # NaN is not zero
