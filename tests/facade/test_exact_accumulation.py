"""Entries outside an accumulation keep their value to the last bit, whatever type the sums have."""

from __future__ import annotations

import numpy as np
import pytest

import semiring as sr
from semiring import Matrix, Vector

LARGE = 2**53 + 1  # no float64


@pytest.mark.parametrize("fusion", [True, False])
def test_integers_beyond_floats(engine: str, fusion: bool) -> None:
    with sr.config.set(fusion=fusion):
        v = Vector.from_coo([0, 1], np.array([LARGE, 1], np.int64), size=3)
        v(accum="plus") << Vector.from_coo([1, 2], [1.5, 2.5], size=3)
        assert v.to_dict() == {0: LARGE, 1: 2, 2: 2}
        A = Matrix.from_coo([0, 0], [0, 1], np.array([LARGE, 1], np.int64), nrows=1, ncols=3)
        A(accum="plus") << Matrix.from_coo([0, 0], [1, 2], [1.5, 2.5], nrows=1, ncols=3)
        assert A.to_dicts() == {0: {0: LARGE, 1: 2, 2: 2}}
        u = Vector(np.int64, 2)
        u(accum="plus") << Vector.from_coo([1], np.array([LARGE], np.uint64), size=2)
        assert u.to_dict() == {1: LARGE}
