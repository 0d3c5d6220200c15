"""What a user gives or gets: numbers, arrays of values, operands; their types, dimensions and devices."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from .. import dtypes
from ..config import checked_device, default_device, engine_for
from ..dtypes import FC32, FC64, FP32, FP64, is_record
from ..exceptions import DomainMismatch, InvalidType, InvalidValue
from ..formats import dense_values, device_of
from ..memory.allocation import allocating, require
from ..memory.arrays import as_type, read_only, to_device, to_host
from ..ops.apply import scalar_dtype
from ..ops.cast import cast_store
from ..record_types import inner, of_value, of_values, shown
from ..storage.coerce import as_array, on_gpu, value_type
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


# Python's operators that mean bits beside arrays, and plus and times beside objects of this library.
BITS = {operator.or_: ("|", "plus", "bor"), operator.and_: ("&", "times", "band")}


def check_booleans(operation: Any, left: Any, right: Any) -> None:
    """Raise InvalidType unless both are boolean: | and & of numbers mean plus and times here, and bits in NumPy."""
    sign, meaning, bits = BITS[operation]
    if not (left.dtype == right.dtype == dtypes.BOOL):
        raise InvalidType(
            f"{sign} beside arrays is for booleans, got {left.dtype} and {right.dtype}: between Vectors or Matrices it "
            f"means {meaning}; bits are binary.{bits}(v {sign} w)"
        )


def exported_indices(operation: str, indices: Any, size: int, index_dtype: Any) -> Any:
    """Indices below `size` in the requested type (None: unchanged), shared if they have it."""
    if index_dtype is None:
        return read_only(indices)
    wanted = dtypes.lookup(index_dtype)
    if wanted.kind not in "iu":
        raise DomainMismatch(f"{operation}: index_dtype= must be a type of integers or None, got {wanted}")
    if size - 1 > np.iinfo(wanted).max:
        raise InvalidValue(f"{operation}: index_dtype={wanted} cannot hold {size - 1}; expected int64, or None")
    if wanted == indices.dtype:
        return read_only(indices)
    device = device_of(indices)
    require(operation, device, int(indices.size) * wanted.itemsize)
    with allocating(operation, device):
        return read_only(as_type(indices, wanted))


def exported_values(operation: str, store: Any, dtype: Any, device: str | None) -> Any:
    """Values of a store in the requested type (None: theirs) on a device (None: its own), shared if they have both."""
    wanted = store.dtype if dtype is None else dtypes.lookup(dtype)
    with allocating(operation, store.device):
        listed = dense_values(cast_store(store, wanted, engine_for(store.device)))
        return exported(read_only(shown(listed)), device)


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
