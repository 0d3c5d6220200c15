"""What users give, as arrays: lists, NumPy, CuPy and DLPack arrays, checked before anything is made of them.

Every message names the argument.  A size is inferred only from indices that are known to be indices.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes
from ..exceptions import DomainMismatch, InvalidValue
from ..formats import Array, array_module
from ..formats.arrays import to_host

# DLPack's numbers of the devices whose memory a GPU kernel reads: CUDA, and CUDA managed.
_DLPACK_CUDA = (2, 13)


def on_gpu(given: Any) -> bool:
    """True for an array in GPU memory, whichever library made it (the CUDA array interface, or DLPack)."""
    if isinstance(given, np.ndarray):
        return False
    if hasattr(given, "__cuda_array_interface__"):
        return True
    device = getattr(given, "__dlpack_device__", None)
    return device is not None and int(device()[0]) in _DLPACK_CUDA


def as_array(name: str, given: Any, empty: Any = None) -> Array:
    """A NumPy or CuPy array of the argument `name`, shared where it can be; an empty one gets the type `empty`.

    Raises InvalidValue for lists of unequal length, sparse matrices and graphs.
    """
    if on_gpu(given):
        cupy = array_module("cuda")
        shared = hasattr(given, "__cuda_array_interface__")
        return cupy.asarray(given) if shared else cupy.from_dlpack(given)
    if hasattr(given, "tocsr"):
        raise InvalidValue(f"{name}: expected an array, got a sparse {type(given).__name__}; use io.from_scipy_sparse")
    if hasattr(given, "adjacency"):
        raise InvalidValue(f"{name}: expected an array, got a {type(given).__name__}; use io.from_networkx")
    try:
        foreign = hasattr(given, "__dlpack__") and not hasattr(given, "__array__")
        array: np.ndarray[Any, Any] = np.from_dlpack(given) if foreign else np.asarray(given)
    except (ValueError, TypeError, BufferError, OverflowError) as error:
        raise InvalidValue(f"{name}: no array can be made of this {type(given).__name__} ({error})") from error
    return array.astype(empty) if empty is not None and array.size == 0 else array


def as_indices(name: str, given: Any) -> Array:
    """A one-dimensional array of integers; InvalidValue for anything else (NaN, text, unequal lists)."""
    array = as_array(name, given, np.int64)
    if array.ndim != 1:
        raise InvalidValue(f"{name} must be one-dimensional, got {array.ndim} dimensions")
    if array.size and array.dtype.kind not in "iu":
        raise InvalidValue(f"{name} must hold integers, got {_content(array)}")
    return array


def size_for(indices: Array) -> int:
    """The largest index + 1.  Synchronises on the GPU."""
    return int(to_host(indices.max())) + 1 if indices.size else 0


def value_type(name: str, values: Array, dtype: Any = None) -> np.dtype[Any]:
    """The type of a store of these values: as asked, or theirs; DomainMismatch if they are no numbers."""
    if values.dtype.kind in "biuf":
        if dtype is not None:
            return dtypes.lookup(dtype)
        if values.dtype.name in {known.name for known in dtypes.ALL}:
            return dtypes.lookup(values.dtype)
    supported = ", ".join(known.name for known in dtypes.ALL)
    raise DomainMismatch(f"{name}: expected numbers, got {_content(values)}; the types are: {supported}")


def _content(array: Array) -> str:
    """What an array holds, in words: ``float64``, or for what is no number an example of it."""
    if array.dtype.kind in "biufc" or not array.size:
        return str(array.dtype.name)
    kind = {"U": "text", "S": "text", "O": "objects"}.get(array.dtype.kind, array.dtype.name)
    return f"{kind} such as {array.reshape(-1).tolist()[0]!r}"
