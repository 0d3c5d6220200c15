"""Values that a user gives or gets: arrays of them, one value, and their types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import dtypes
from ..ops.apply import scalar_dtype
from ..record_types import inner, of_value, of_values
from ..storage.coerce import as_array, on_gpu
from .operand import is_scalar, scalar


def as_values(values: Any, dtype: Any = None, *, ndim: int | None = None, name: str = "values") -> Any:
    """Return an array of values, or one value as a zero-dimensional array.

    dtype: what the user gave, or None.  ndim: dimensions of an array of numbers; further ones make an array type (None:
    an error elsewhere).
    """
    chosen = None if dtype is None else dtypes.lookup(dtype)
    if chosen is not None and dtypes.is_record(chosen) and not on_gpu(values):
        return np.asarray(of_values(scalar(values), chosen))
    if is_scalar(values):
        return np.asarray(scalar(values))
    array = as_array(name, values)
    return array if ndim is None or chosen is not None or not isinstance(array, np.ndarray) else inner(array, ndim)


def one_value(value: Any, dtype: Any) -> Any:
    """Return a number or a Scalar's value; with a record type given, the record that is made of it."""
    value = scalar(value)
    chosen = None if dtype is None else dtypes.lookup(dtype)
    return value if chosen is None or not dtypes.is_record(chosen) else of_value(value, chosen)


def differs(array: Any, missing: Any) -> Any:
    """Return where `array` differs from `missing`; NaN counts as equal to NaN."""
    return array == array if missing != missing else array != missing


def dense_dtype(stored: np.dtype[Any], fill: Any, dtype: Any) -> np.dtype[Any]:
    """Return the type of a dense copy: `dtype`, else one that represents the values and the fill value."""
    if dtype is not None:
        return dtypes.lookup(dtype)
    if dtypes.is_record(stored):
        return stored
    return stored if fill is None else dtypes.unify(stored, scalar_dtype(fill, stored))


def pickled_type(dtype: np.dtype[Any]) -> Any:
    """Return what `pickle` stores of a type: a text, or a record type itself."""
    return dtype if dtypes.is_record(dtype) else dtype.str


def labeled(source: Any, restore: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Return what `pickle` stores of an object: how to restore it, and its labels if it has any."""
    if source._labels is None:
        return restore, arguments
    return _with_labels, (source._labels, restore, arguments)


def _with_labels(labels: Any, restore: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    made = restore(*arguments)
    made._labels = labels
    return made
