"""``dup_op="mean"``: the mean of repeated entries, from their sum and their number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..dtypes import FC32, FC64, FP32, FP64
from ..exceptions import InvalidValue
from ..ops.build import is_mean
from ..storage.coerce import value_type
from .values import as_values

__all__ = ["check_mean_fits", "is_mean", "mean_of"]


def mean_of(make: Callable[[Any, Any, Any], Any], values: Any, dtype: Any, name: str | None = None) -> Any:
    """Return the object whose entries are means: of float64, of complex128, or of the type that floats have.

    make: the constructor, of values, their type and the operator for repeated entries.
    """
    values = np.asarray(True) if values is None else as_values(values, dtype)
    chosen = value_type("values", values, dtype)
    wide = FC64 if chosen.kind == "c" else FP64
    total, count = make(values, wide, "plus"), make(1, wide, "plus")
    mean = total.ewise_mult(count, "truediv").dup(dtype=chosen if chosen in (FP32, FC32) else wide)
    mean.name = name
    return mean


def check_mean_fits(dtype: np.dtype[Any]) -> None:
    """Raise InvalidValue for a type that does not hold means."""
    if dtype.kind not in "fc":
        raise InvalidValue(f'build: expected values of a floating-point type for dup_op="mean", got {dtype}')
