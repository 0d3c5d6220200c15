"""An accumulator whose result has another type than the target: combined values are cast, entries of one side are not
converted to its type."""

from __future__ import annotations

import numpy as np
import pytest

import semiring as sr
from semiring.config import config


@pytest.mark.costly
@pytest.mark.parametrize("fusion", [True, False])
@pytest.mark.parametrize("dtype", ["int8", "float64"])
def test_comparison_as_accumulator(fusion: bool, dtype: str) -> None:
    """5 < 9 is stored as 1 and 7 < 3 as 0, in the target's type; 4 and 6 are entries of one side."""
    with config.set(fusion=fusion):
        w = sr.Vector.from_coo([0, 1, 3], [5, 7, 6], dtype, size=4)
        w(accum="lt") << sr.Vector.from_coo([0, 1, 2], [9, 3, 4], dtype, size=4)
        C = sr.Matrix.from_coo([0, 0, 1], [0, 1, 1], [5, 7, 6], dtype, nrows=2, ncols=2)
        C(accum="lt") << sr.Matrix.from_coo([0, 0, 1], [0, 1, 0], [9, 3, 4], dtype, nrows=2, ncols=2)
        assert w.dtype == C.dtype == np.dtype(dtype)
        assert w.to_dict() == {0: 1, 1: 0, 2: 4, 3: 6}
        assert C.to_dicts() == {0: {0: 1, 1: 0}, 1: {0: 4, 1: 6}}
