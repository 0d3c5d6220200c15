"""The value types and the many ways to name them."""

from __future__ import annotations

import numpy as np
import pytest

from semiring import dtypes
from semiring.exceptions import DomainMismatch


@pytest.mark.parametrize(
    ("obj", "expected"),
    [
        (bool, dtypes.BOOL),
        (int, dtypes.INT64),
        (float, dtypes.FP64),
        (complex, dtypes.FC64),
        ("FC32", dtypes.FC32),
        ("complex128", dtypes.FC64),
        ("int", dtypes.INT64),
        ("FP32", dtypes.FP32),
        ("UINT8", dtypes.UINT8),
        (np.int16, dtypes.INT16),
        (np.dtype(">i4"), dtypes.INT32),
        ("q", dtypes.INT64),
    ],
)
def test_lookup(obj: object, expected: np.dtype) -> None:
    assert dtypes.lookup(obj) is expected


@pytest.mark.parametrize("obj", [object, None, np.clongdouble, "float16", "no", dict, 3])
def test_lookup_refuses(obj: object) -> None:
    with pytest.raises(DomainMismatch, match="expected one of: bool, int8"):
        dtypes.lookup(obj)


def test_every_pair_unifies() -> None:
    for a in dtypes.ALL:
        for b in dtypes.ALL:
            assert dtypes.unify(a, b) is dtypes.unify(b, a)
            assert dtypes.unify(a, b) == np.result_type(a, b)


def test_names_and_limits() -> None:
    assert [dtypes.c_name(t) for t in (bool, "int8", int, float)] == ["bool", "signed char", "long long", "double"]
    assert dtypes.limits("int8") == (-128, 127)
    assert dtypes.limits(float) == (-np.inf, np.inf)
    assert len(dtypes.ALL) == len({dtypes.c_name(t) for t in dtypes.ALL}) == 13
    with pytest.raises(DomainMismatch, match="no smallest"):
        dtypes.limits(complex)
