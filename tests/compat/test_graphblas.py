"""`semiring.compat.graphblas`: what differs from `semiring` itself, typed by hand once."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import semiring as sr
import semiring.compat.graphblas as gb
from semiring.compat.graphblas import dtypes

TYPES = [dtypes.lookup_dtype(dtype) for dtype in sr.dtypes.ALL]


def test_types_have_names_and_are_dtypes() -> None:
    assert [made.name for made in TYPES[:3]] == ["BOOL", "INT8", "INT16"]
    for made in TYPES:
        assert np.dtype(made) == made.np_type  # type: ignore[call-overload]
        assert made == made.name
        assert made.np_type == made
        assert made in {made.np_type}
        assert pickle.loads(pickle.dumps(made)) is made
        assert gb.Vector(made, size=2).dtype == made
        assert dtypes.lookup_dtype(made.c_type) is (dtypes.FP64 if made is dtypes.FP32 else made)


def test_types_compare_with_types_only() -> None:
    assert sorted([dtypes.UINT8, dtypes.INT64, dtypes.INT8, dtypes.FP64, dtypes.BOOL])[0] is dtypes.BOOL
    assert dtypes.BOOL < "FP32"
    assert dtypes.unify(dtypes.INT64, "UINT64") is dtypes.FP64
    with pytest.raises(TypeError):
        assert object() == dtypes.BOOL
    with pytest.raises(TypeError):
        assert dtypes.BOOL < 5
