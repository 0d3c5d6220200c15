"""Arrays on either device: their module, the width of an index, and the one function that copies to the host."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any, cast

import numpy as np

from ..devices import local_device
from ..exceptions import NotSupported

# A NumPy or a CuPy array.  CuPy is never imported for an annotation.
Array = Any

_INT32_LIMIT = 2**31
_INT32, _INT64 = np.dtype(np.int32), np.dtype(np.int64)
# Arrays up to so many bytes are copied to the host without `cupy.ndarray.get`, which stages them in memory of its own.
_SMALL = 64 << 10
# Bytes of a record in a tile of a kernel.
LARGEST_RECORD = 16


def index_dtype(bound: int) -> np.dtype[Any]:
    """Return the dtype of indices below `bound` (or of offsets up to `bound`): int32 below 2**31, else int64."""
    return _INT32 if bound < _INT32_LIMIT else _INT64


class Placeholder:
    """An array of a traced loop, which has no elements until the program of the loop runs on `device`."""

    size: int
    device: str
    base: None = None
    nbytes = 0


def device_of(array: Array) -> str:
    """Return ``"cpu"`` for a NumPy array, ``"cuda"`` for a CuPy array, and the device of a placeholder."""
    if isinstance(array, (np.ndarray, np.generic)):
        return "cpu"
    return array.device if isinstance(array, Placeholder) else "cuda"


def address_of(array: Array) -> int:
    """Return the address of the first element, in the memory where the array resides."""
    return int(array.__array_interface__["data"][0] if device_of(array) == "cpu" else array.data.ptr)


def array_module(device: str) -> ModuleType:
    """Return NumPy for ``"cpu"``, and for ``"cuda"`` CuPy with functions of its engine (`engines.cuda.arrays`)."""
    return _of_cuda() if device.endswith("cuda") else np


class CudaFunctions:
    """How the module of functions on arrays of the GPU is loaded; the table of engines sets it."""

    load: Callable[[], ModuleType]


@functools.cache
def _of_cuda() -> ModuleType:
    return CudaFunctions.load()


def copied(array: Array) -> Array:
    """Return a copy of an array; on the GPU one of memory, for which CuPy would compile a kernel."""
    if (
        isinstance(array, np.ndarray)
        or not array.flags.c_contiguous
        or getattr(array.data.mem, "host", None) is not None
    ):
        return array.copy()
    made = array_module("cuda").empty(array.shape, array.dtype)
    if array.nbytes:
        made.data.copy_from_device_async(array.data, array.nbytes)
    return made


def assign_at(array: Array, at: Array, values: Array) -> None:
    """Set ``array[at] = values`` for distinct indices and values of the type of the array."""
    if isinstance(array, np.ndarray):
        array[at] = values
    else:
        array_module("cuda").scatter(array, at, values)


def segments_of(offsets: Array, count: int) -> Array:
    """Return the number of the segment of each of `count` positions; segment s begins at offsets[s]."""
    if isinstance(offsets, np.ndarray):
        segments = offsets.size - 1
        return np.repeat(np.arange(segments, dtype=index_dtype(segments)), np.diff(offsets))
    return array_module("cuda").segments_of(offsets, count)


def cyclic(first: int, last: int, period: int, dtype: np.dtype[Any], device: str) -> Array:
    """Return the numbers from `first` to `last` (exclusive) modulo a period."""
    if device == "cpu":
        return (np.arange(first, last, dtype=np.int64) % period).astype(dtype)
    return array_module(device).cyclic(first, last, period, dtype)


def rebased(offsets: Array, begin: int, dtype: np.dtype[Any]) -> Array:
    """Return offsets less the first one, in another type of integers."""
    if isinstance(offsets, np.ndarray):
        return (offsets - begin).astype(dtype, copy=False)
    return array_module("cuda").rebased(offsets, begin, dtype)


class Transfers:
    """Counts every copy from the GPU back to the host (each waits for the device)."""

    copies: int = 0
    bytes: int = 0

    @classmethod
    def reset(cls) -> None:
        """Set both counts to 0."""
        cls.copies = 0
        cls.bytes = 0


def to_host(array: Array) -> np.ndarray[Any, Any]:
    """Return a NumPy array of the same values.  A CuPy array is copied: this synchronizes, and is counted.

    An array over page-locked host memory (a pinned matrix, which is never written) is shared, not copied.
    """
    if isinstance(array, (np.ndarray, np.generic)):
        return np.asarray(array)
    if getattr(array.data.mem, "host", None) is not None:
        from .locked import host_view

        return host_view(array)
    if array.nbytes <= _SMALL and array.flags.c_contiguous and array.data.device_id == current_device():
        made = np.empty(array.shape, array.dtype)
        _download()(array, made)  # synchronizes
        return made
    Transfers.copies += 1
    Transfers.bytes += int(array.nbytes)
    return np.asarray(array.get())  # synchronizes


def current_device() -> int:
    """Return the number of the current GPU."""
    return _device_query()()


@functools.cache
def _device_query() -> Callable[[], int]:
    from cupy.cuda import runtime

    return cast(Callable[[], int], runtime.getDevice)


@functools.cache
def _download() -> Callable[[Array, np.ndarray[Any, Any]], None]:
    from .transfer import download  # a cycle: transfer imports this module

    return download


def as_type(array: Array, dtype: np.dtype[Any], *, copy: bool = True) -> Array:
    """Return the array in another type, as ``astype`` does; complex numbers that become real ones keep their real part.

    copy: also an array that has the type already.
    """
    if array.dtype.kind == "c" and dtype.kind not in "cb":
        array, copy = array.real, True  # NumPy's and CuPy's astype would warn
    if not isinstance(array, np.ndarray):
        if array.dtype == dtype:
            return copied(array) if copy else array
        if array.dtype.kind in "iu" and dtype.kind in "iu" and array.ndim == 1:
            return array_module("cuda").converted(array, dtype)
    return array.astype(dtype, order="C", copy=copy)


def read_only(array: Array) -> Array:
    """Return a read-only view of an array of a store; a CuPy array is returned itself, as CuPy has no such views."""
    if not isinstance(array, np.ndarray):
        return array
    view = array.view()
    view.flags.writeable = False
    return view


def to_device(array: Array, device: str) -> Array:
    """Return the same values on `device`; not a copy where the array already resides there."""
    device = local_device(device)
    if device_of(array) == device:
        return array
    if device == "cpu":
        return to_host(array)
    if array.dtype.names is not None:
        check_layout(array.dtype)
    return _uploaded()(array)


@functools.lru_cache(maxsize=256)
def check_layout(dtype: np.dtype[Any]) -> None:
    """Raise NotSupported for records that CuPy's arrays do not hold, or that exceed the tiles of kernels."""
    if dtype.itemsize > LARGEST_RECORD:
        raise NotSupported(
            f"records on a GPU have at most {LARGEST_RECORD} bytes, got {dtype.itemsize}; use smaller fields, two "
            f"objects, or the CPU"
        )
    parts = [dtype]
    while parts:
        part = parts.pop()
        assert part.fields is not None
        for name, (kind, offset, *_) in part.fields.items():
            if kind.subdtype is not None:
                raise NotSupported(
                    f"records on a GPU have no fields that are arrays, and {name!r} is one; use a field for each "
                    f"element, or the CPU"
                )
            if kind.names is not None:
                parts.append(kind)
            if offset % kind.alignment or part.itemsize % kind.alignment:
                raise NotSupported(
                    f"fields of records on a GPU are aligned, and {name!r} is not; use np.dtype(fields, align=True), "
                    f"or the CPU"
                )


@functools.cache
def _uploaded() -> Callable[[np.ndarray[Any, Any]], Array]:
    from .transfer import uploaded  # a cycle: transfer imports this module

    return uploaded
