"""Expressions on NumPy scalars, and scalars of arrays."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np

from semiring.dtypes import DType, is_record
from semiring.engines.expression_numpy import evaluate
from semiring.operators.expression import Expression
from semiring.record_types import frozen

__all__ = ["evaluate_scalars", "scalar"]

Array: TypeAlias = np.ndarray[Any, Any]


def scalar(value: Array, dtype: DType) -> np.generic:
    """Return an array of one, or one without axes, as a scalar of `dtype`; a record is read-only, and so hashable."""
    if is_record(dtype):
        return frozen(np.array(value, dtype).reshape(1))
    made: np.generic = dtype.type(value.reshape(-1)[0])
    return made


def evaluate_scalars(expr: Expression, z: DType, operands: Iterable[tuple[str, np.generic]]) -> np.generic:
    """Evaluate for scalars that already have the operator's types; results are cached."""
    # The cache key is the bytes: -0.0 equals 0.0, and NaN does not equal itself.
    return _evaluated(expr, z, tuple([(name, value.dtype, value.tobytes()) for name, value in operands]))


@functools.lru_cache(maxsize=1024)
def _evaluated(expr: Expression, z: DType, operands: tuple[tuple[str, DType, bytes], ...]) -> np.generic:
    variables = {name: np.frombuffer(raw, dtype)[0] for name, dtype, raw in operands}
    return scalar(evaluate(expr, variables, z), z)
