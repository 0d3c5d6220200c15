"""Cast the values of a store, and the operators that `ops` itself needs."""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from typing import Any, TypeVar, cast

import numpy as np

from ..dtypes import FP64, is_record
from ..engines import registry
from ..engines.requests.operations import Apply
from ..engines.shared.expression_numpy import cast as cast_values
from ..exceptions import InvalidType, InvalidValue
from ..formats import CSR, Store, VectorStore, with_values
from ..operators.expression import Expression
from ..operators.records import by_leaf
from ..operators.types import TypedBinary, TypedIndexUnary
from ..record_types import of_value
from ..symbolic import Symbolic

S = TypeVar("S", CSR, VectorStore, Store)
_PYTHON = {"b": bool, "i": int, "u": int}


@cache
def typed_second(dtype: np.dtype[Any]) -> TypedBinary:
    """Z = y, all of one type."""
    return TypedBinary("second", dtype, dtype, dtype, Expression("y"))


@cache
def typed_identity(source: np.dtype[Any], target: np.dtype[Any]) -> TypedIndexUnary:
    """Z = x, cast."""
    return TypedIndexUnary("identity", source, np.dtype(np.bool_), target, Expression("x"))


def cast_scalar(value: Any, dtype: np.dtype[Any]) -> np.generic:
    """Return one value as a NumPy scalar of `dtype`, cast as arrays are; InvalidType if it is not a number."""
    kind = type(value)
    if kind is dtype.type and kind is not np.void:
        return value  # type: ignore[no-any-return]
    if kind is _PYTHON.get(dtype.kind):  # the common case in loops, such as a depth; the rest uses the general path
        try:
            return dtype.type(value)  # type: ignore[no-any-return]
        except OverflowError:  # the general path wraps it
            pass
    if kind is float and dtype == FP64:
        return np.float64(value)
    if kind is np.ndarray and value.ndim == 0:
        if value.dtype == object:  # refused as arrays of objects are, whatever the object
            raise InvalidType(f"expected a number that a {dtype} can be made of, got an array of objects")
        return cast_scalar(value[()], dtype)
    if issubclass(kind, Symbolic):
        return cast(np.generic, value.traced_cast(dtype))
    if is_record(dtype):
        return of_value(value, dtype)
    if kind is np.int64 and dtype.kind in "iu":
        with suppress(OverflowError):
            return cast(np.generic, dtype.type(int(value)))
    array = np.asarray(value)
    if kind is int and array.dtype == object:  # of more than 64 bits
        try:
            array = np.asarray(float(value) if dtype.kind in "fc" else None)
        except OverflowError:
            raise InvalidValue(f"no {dtype} is near an integer of {value.bit_length()} bits") from None
    if array.ndim or array.dtype.kind not in "biufc":
        shown = type(value).__name__ if hasattr(value, "ndim") else repr(value)
        raise InvalidType(f"expected a number that a {dtype} can be made of, got {shown}")
    return cast(np.generic, cast_values(array, dtype)[()])


def cast_store(store: S, dtype: np.dtype[Any], engine: str) -> S:
    """Return the store with its values cast to `dtype` (itself if they have it already)."""
    if store.dtype == dtype:
        return store
    if is_record(store.dtype):
        by_leaf(Expression("x"), {"x": store.dtype}, dtype, "cast")  # raises where the type cannot hold the records
    if store.iso is not None:
        return with_values(store, dtype, None, cast_scalar(store.iso, dtype))
    return cast(S, registry.run(Apply(store, typed_identity(store.dtype, dtype), np.bool_(False)), engine))
