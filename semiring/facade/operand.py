"""Interpret an operand of a user (a number, a Scalar, an array): its value, its dimensions, its device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ..config import checked_device, default_device
from ..dtypes import is_record
from ..exceptions import InvalidType
from ..memory.arrays import to_device, to_host
from ..record_types import of_values
from ..storage.coerce import as_array, on_gpu
from .scalar import Scalar

if TYPE_CHECKING:
    from uuid import UUID

# What is one value beside a Matrix or Vector; and what selects a row, a column or a position, or several: names too.
Number: TypeAlias = int | float | complex | np.generic | Scalar
Integer: TypeAlias = "int | np.integer[Any] | Scalar | str | bytes | UUID"
Dense: TypeAlias = np.ndarray[Any, Any]  # an array as an operand: one dimension a Vector, two a Matrix
Several: TypeAlias = "slice | range | list[int] | list[bool] | list[str] | list[UUID] | Dense"

_NUMBERS = (int, float, complex, Scalar)


def is_scalar(value: Any) -> bool:
    """True for numbers, Scalars and zero-dimensional arrays."""
    return isinstance(value, _NUMBERS) or getattr(value, "ndim", None) == 0


def is_empty(value: Any) -> bool:
    """True for a Scalar without a value, which deletes on assignment.  Synchronizes if it is pending on a GPU."""
    return isinstance(value, Scalar) and value.is_empty


def scalar(value: Any) -> Any:
    """Return the value of a Scalar or a zero-dimensional array; anything else unchanged."""
    unwrapped = getattr(value, "_unwrapped", None)
    if unwrapped is not None:
        return unwrapped()
    if getattr(value, "ndim", None) == 0 and not isinstance(value, np.generic):
        if hasattr(value, "get"):
            return to_host(value)[()]  # synchronizes
        if hasattr(value, "__dlpack__") and not isinstance(value, np.ndarray):  # a tensor
            return to_host(as_array("operand", value))[()]
    return value


def as_records(value: Any, dtype: np.dtype[Any]) -> Any:
    """Return what is written to an object of records: records; objects and numbers unchanged."""
    if not is_record(dtype) or isinstance(value, _NUMBERS) or hasattr(type(value), "store") or on_gpu(value):
        return value
    return value if value is None else of_values(value, dtype)


def dimensions(value: Any) -> int | None:
    """Return the number of dimensions of an array or a nested list; None for anything else."""
    if isinstance(value, (list, tuple)):
        return np.ndim(value)
    return value.ndim if hasattr(value, "ndim") and not hasattr(type(value), "store") else None


def is_array(value: Any) -> bool:
    """Return True for an array or a sparse matrix of another library."""
    if isinstance(value, np.ndarray) or hasattr(value, "tocsr") or hasattr(value, "__cuda_array_interface__"):
        return True
    return hasattr(value, "__dlpack__") and not hasattr(type(value), "store")


def no_operand(value: Any) -> None:
    """Raise InvalidType for a list or a tuple; anything else may support objects of this library by itself."""
    if isinstance(value, (list, tuple)):
        from .migration_errors import constructor_of

        how = constructor_of(value)
        raise InvalidType(f"a {type(value).__name__} is no operand here: make an object of it by {how}")


def expected(operation: str, kind: str, value: Any) -> InvalidType:
    """Return the error for an argument that must be a Matrix or a Vector; it names the constructor for the value."""
    from .migration_errors import constructor_of

    how = "" if isinstance(value, Scalar) or hasattr(type(value), "store") else constructor_of(value, kind)
    place, hint = f"{operation}: " if operation else "", f"; make one of it by {how}" if how else ""
    return InvalidType(f"{place}expected a {kind}, got {type(value).__name__}{hint}")


def exported(array: Any, device: str | None) -> Any:
    """Return an array of an export on `device` (None: where it resides).  Synchronizes if it is copied from a GPU."""
    return array if device is None else to_device(array, checked_device(device))


def device_for(*arrays: Any, device: str | None = None) -> str:
    """Return the device for an object made of these arrays: the GPU if one is a CuPy array, else the default device."""
    if device is not None:
        return device if device == "cpu" else checked_device(device)
    if arrays and any(on_gpu(array) for array in arrays):
        return "cuda"
    return default_device()
