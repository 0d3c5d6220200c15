"""Convert user input to checked arrays, sizes and permutations: from lists, NumPy, CuPy and DLPack arrays.

Every message names the argument.  A size is inferred only from arrays that hold indices.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes
from ..devices import whole_of
from ..exceptions import DeviceMismatch, IntegerOverflow, InvalidType, InvalidValue, NotNumbers
from ..formats import Array, VectorStore, array_module, dense_values, device_of, index_dtype
from ..memory.allocation import allocating
from ..memory.arrays import to_device, to_host

# DLPack's device types whose memory a GPU kernel reads: CUDA, and CUDA managed.
_DLPACK_CUDA = (2, 13)


def on_gpu(given: Any) -> bool:
    """Return True for an array in GPU memory, of any library (the CUDA array interface, or DLPack)."""
    if isinstance(given, np.ndarray):
        return False
    if hasattr(given, "__cuda_array_interface__"):
        return True
    device = getattr(given, "__dlpack_device__", None)
    return device is not None and int(device()[0]) in _DLPACK_CUDA


def as_array(name: str, given: Any, empty: Any = None) -> Array:
    """Return the argument `name` as a NumPy or CuPy array, shared where possible; an empty one gets the type `empty`.

    Raises InvalidValue for lists of unequal length, sparse matrices and graphs.
    """
    if on_gpu(given):
        cupy = array_module("cuda")
        shared = hasattr(given, "__cuda_array_interface__")
        try:
            return cupy.asarray(given) if shared else cupy.from_dlpack(given)
        except BufferError as error:
            raise InvalidValue(f"{name}: no array can be made of this {type(given).__name__} ({error})") from error
    if hasattr(given, "tocsr"):
        raise InvalidValue(f"{name}: expected an array, got a sparse {type(given).__name__}; use io.from_scipy_sparse")
    if hasattr(given, "adjacency"):
        raise InvalidValue(f"{name}: expected an array, got a {type(given).__name__}; use io.from_networkx")
    try:
        foreign = hasattr(given, "__dlpack__") and not hasattr(given, "__array__")
        array: np.ndarray[Any, Any] = np.from_dlpack(given) if foreign else np.asarray(given)
    except (ValueError, TypeError, BufferError, OverflowError, RuntimeError) as error:  # RuntimeError: PyTorch's
        raise InvalidValue(f"{name}: no array can be made of this {type(given).__name__} ({error})") from error
    if isinstance(given, np.ndarray) and np.any(getattr(given, "mask", False)):
        raise InvalidValue(f"{name}: a masked array lacks entries; pass its .compressed() values, and their positions")
    return array.astype(empty) if empty is not None and array.size == 0 else array


def as_indices(name: str, given: Any) -> Array:
    """Return a one-dimensional array of integers; InvalidValue for anything else (NaN, text, unequal lists)."""
    array = as_array(name, given, np.int64)
    if array.ndim != 1:
        raise InvalidValue(f"{name} must be one-dimensional, got {array.ndim} dimensions")
    if array.dtype.kind == "O" and all(isinstance(index, int) for index in array.flat):
        raise IntegerOverflow(f"{name} holds {max(array.flat, key=abs)}, which does not fit in 64 bits")
    if array.size and array.dtype.kind not in "iu":
        raise InvalidValue(f"{name} must hold integers, got {_content(array)}")
    return array


def size_for(indices: Array) -> int:
    """Return the largest index + 1.  Synchronizes on the GPU."""
    return int(to_host(indices.max())) + 1 if indices.size else 0


# Offsets and keys of 64 bits are sufficient for sizes up to here.
_LARGEST = 1 << 60


def extent(name: str, value: Any) -> int:
    """Return a dimension: an integer from 0 to 2**60; InvalidType or InvalidValue otherwise."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise InvalidType(f"{name} must be an integer, got {value!r}")
    size = int(value.__index__())
    if size < 0:
        raise InvalidValue(f"{name} must not be negative, got {size}")
    if size > _LARGEST:
        raise InvalidValue(f"{name} must be at most 2**60, got {size}")
    return size


def sizes(operation: str, shape: Any, **given: Any) -> list[Any]:
    """Return the sizes that were `given` by name, or that `shape` gives in the same order; None where neither does.

    InvalidValue for a shape of another length, for a value that is not a size, and where both are given and differ.
    """
    if shape is None:
        return [None if value is None else extent(name, value) for name, value in given.items()]
    parts = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    if len(parts) != len(given):
        raise InvalidValue(f"{operation}: shape= must be ({', '.join(given)}{',' * (len(given) == 1)}), got {shape!r}")
    extents = []
    for (name, value), part in zip(given.items(), parts, strict=True):
        extents.append(extent(name, part))
        if value is not None and extent(name, value) != extents[-1]:
            raise InvalidValue(f"{operation}: shape={shape!r} and {name}={value} disagree; give one of them")
    return extents


# Kinds and sizes of the value types, in any byte order.
_SUPPORTED = {(dtype.kind, dtype.itemsize) for dtype in dtypes.ALL}


def value_type(name: str, values: Array, dtype: Any = None) -> np.dtype[Any]:
    """Return the type of a store of these values: `dtype`, or theirs; DomainMismatch if they are not numbers."""
    if values.dtype.names is not None:
        found = dtypes.lookup(values.dtype if dtype is None else dtype)
        if dtypes.is_record(found):
            return found
    if values.dtype.kind in "biufc":
        if dtype is not None:
            return dtypes.lookup(dtype)
        if (values.dtype.kind, values.dtype.itemsize) in _SUPPORTED:
            return dtypes.lookup(values.dtype)
    supported = ", ".join(known.name for known in dtypes.ALL)
    raise NotNumbers(f"{name}: expected numbers, got {_content(values)}; the types are: {supported}")


def _content(array: Array) -> str:
    """Describe the elements of an array: ``float64``, or an example if they are not numbers."""
    if array.dtype.kind in "biufc" or not array.size:
        return str(array.dtype.name)
    kind = {"U": "text", "S": "text", "O": "objects"}.get(array.dtype.kind, array.dtype.name)
    return f"{kind} such as {array.reshape(-1).tolist()[0]!r}"


def permutation(name: str, given: Any, size: int, device: str) -> Array:
    """Return a permutation of range(size), as an array of the index type on `device`.  Synchronizes on the GPU.

    given: a full vector store, an array, or a list, of integers.  InvalidValue for anything that is not a permutation,
    with the first position that is out of range or repeats.
    """
    if isinstance(given, VectorStore):
        if given.device != device:
            raise DeviceMismatch(f"{name} is on {given.device}, the matrix on {device}; move one with .to()")
        if given.nvals != given.size:
            raise InvalidValue(f"{name} must be full; {given.nvals} of {given.size} are present")
        array = as_indices(name, dense_values(whole_of(given)))
    else:
        array = as_indices(name, given).copy()  # the caller may write to the array while the operation is pending
    if array.size != size:
        raise InvalidValue(f"{name} must be a permutation of {size} numbers, got {array.size}")
    with allocating("permute", device):
        array = to_device(array, device)
        _check_permutation(name, array, size)
        return array.astype(index_dtype(size), copy=False)


def _check_permutation(name: str, array: Array, size: int) -> None:
    """Raise InvalidValue unless each number below `size` occurs once."""
    xp = array_module(device_of(array))
    if not size or (xp is not np and xp.is_permutation(array)):  # synchronizes on the GPU
        return
    outside = (array < 0) | (array >= size)
    if bool(to_host(outside.any())):  # synchronizes on the GPU
        at = _first(outside)
        raise InvalidValue(f"{name}[{at}] = {_at(array, at)}; expected a permutation of the numbers below {size}")
    at_each = xp.full(size, size, dtype=np.int64)
    at_each[array] = xp.arange(size, dtype=np.int64)  # where a number repeats, one of its positions is stored
    missing = at_each == size
    if bool(to_host(missing.any())):  # synchronizes on the GPU
        lacks = _first(missing)
        twice = _first(xp.bincount(array, minlength=size) > 1)
        places = xp.flatnonzero(array == twice)[:2]
        first, second = (int(place) for place in to_host(places))
        raise InvalidValue(
            f"{name}[{first}] and {name}[{second}] are both {twice}, and {lacks} is missing; expected a permutation"
        )


def _first(where: Array) -> int:
    return int(to_host(where.argmax()))


def _at(array: Array, at: int) -> int:
    return int(to_host(array[at : at + 1])[0])
