"""Functions on arrays by kernels that are stored.  CuPy compiles one for each function and combination of types.

The module is what `memory.arrays.array_module` returns for the GPU: what is not defined here is CuPy's.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from typing import Any

import cupy
import numpy as np

from ...dtypes import FC64, FP32, FP64, INT32, INT64, UINT32, UINT64
from ...formats import Array, index_dtype, word_count
from .kernel import Handles, Kernel, kernel
from .launch import BLOCK, grid, read_one
from .primitives import cast_array, counting, fill, gather, moved, rows_kernel, width
from .specialize import constants, typedefs


def __getattr__(name: str) -> Any:
    return getattr(cupy, name)


def full(shape: int | tuple[int, ...], fill_value: Any, dtype: Any = None) -> Array:
    """Return an array in which every element is a value, as `numpy.full` does."""
    value: Any = np.asarray(fill_value, dtype)[()]
    out = cupy.empty(shape, value.dtype)
    fill(out, value)
    return out


def arange(start: int, stop: int | None = None, step: int = 1, dtype: Any = None) -> Array:
    """Return start, start + step, ... below `stop`, as `numpy.arange` does; without a type of indices by CuPy."""
    wanted = None if dtype is None else np.dtype(dtype)
    if wanted not in (INT32, INT64):
        return cupy.arange(start, stop, step, dtype)
    low, high = (0, start) if stop is None else (start, stop)
    return counting(max(math.ceil((high - low) / step), 0), wanted, low, step)


def array_equal(a: Array, b: Array) -> bool:
    """Return whether two arrays have one shape and the same elements; NaN equals NaN.  Synchronizes."""
    return a.shape == b.shape and agree(a, b, None)


def agree(a: Array, b: Array, tolerance: tuple[float, float] | None) -> bool:
    """Return whether the elements of two arrays of one size are equal (NaN equals NaN), or close.  Synchronizes.

    tolerance: None for exact equality, else (relative, absolute): |a - b| <= absolute + relative |b|; not for complex
    numbers.
    """
    n = int(a.size)
    relative, absolute = (0.0, 0.0) if tolerance is None else tolerance
    differ = cupy.zeros(1, np.uint32)
    a, b = cupy.ascontiguousarray(a), cupy.ascontiguousarray(b)
    run = _differ_kernel(a.dtype, b.dtype, tolerance is not None)
    run(grid(n), BLOCK, n, a, b, np.float64(relative), np.float64(absolute), differ)
    return read_one(differ) == 0  # synchronizes


@functools.cache
def _differ_kernel(a: np.dtype[Any], b: np.dtype[Any], close: bool) -> Kernel:
    types = typedefs(A=a, B=b, Z=np.result_type(a, b), I=INT32)
    return kernel("arrays.cuh", "arrays_differ", types + constants(CLOSE=close))


def scatter(out: Array, at: Array, values: Array) -> None:
    """Set ``out[at] = values`` for distinct indices and values of the type of `out`."""
    n = int(at.size)
    _kernel("arrays_scatter", at.dtype, moved(out.dtype))(grid(n), BLOCK, n, at, values, out)


@functools.cache
def _kernel(entry: str, index: np.dtype[Any], value: np.dtype[Any]) -> Kernel:
    types = typedefs(A=value, B=value, Z=value, I=index)
    return kernel("arrays.cuh", entry, types + constants(CLOSE=False))


def is_permutation(array: Array) -> bool:
    """Return whether each number below its size occurs once in an array of integers.  Synchronizes."""
    n = int(array.size)
    words = cupy.zeros(word_count(n) + 1, np.uint32)  # the last one becomes 1 if a number does not fit
    array = cupy.ascontiguousarray(array)
    _kernel("arrays_permutation", array.dtype, moved(array.dtype))(grid(n), BLOCK, n, array, words, words[-1:])
    return read_one(words[-1:]) == 0  # synchronizes


def take(a: Array, indices: Array) -> Array:
    """Return a[indices] of one dimension, as `numpy.take` does."""
    return gather(a, indices)


def searchsorted(a: Array, v: Array, side: str = "left") -> Array:
    """Return where elements belong in a sorted array, as `numpy.searchsorted` does; of other than integers by CuPy."""
    if a.dtype != v.dtype or a.dtype.kind not in "iu":
        return cupy.searchsorted(a, v, side)
    n, out = int(v.size), cupy.empty(v.size, np.int64)
    a, v = cupy.ascontiguousarray(a), cupy.ascontiguousarray(v)
    run, right = _kernel("arrays_search", a.dtype, moved(a.dtype)), np.int32(side == "right")
    run(grid(n), BLOCK, n, int(a.size), a, v, right, out)
    return out.reshape(v.shape)


def cyclic(first: int, last: int, period: int, dtype: np.dtype[Any]) -> Array:
    """Return the numbers from `first` to `last` (exclusive) modulo a period."""
    n, out = last - first, cupy.empty(last - first, dtype)
    _kernel("arrays_cyclic", dtype, moved(dtype))(grid(n), BLOCK, n, first, period, out)
    return out


def rebased(offsets: Array, begin: int, dtype: np.dtype[Any]) -> Array:
    """Return offsets less the first one, in another type of integers."""
    n, out = int(offsets.size), cupy.empty(offsets.size, dtype)
    _kernel("arrays_rebased", dtype, offsets.dtype)(grid(n), BLOCK, n, offsets, begin, out)
    return out


def sorted_few(keys: Array, values: Array, bits: int) -> tuple[Array, Array]:
    """Return keys of up to `bits` bits in ascending order, and the values in the order of their keys, stably.

    Keys with their positions, in 64 bits together, are sorted by CuPy, which synchronizes.
    """
    n = int(keys.size)
    numbered, shift = cupy.empty(n, np.uint64), np.int32(width(n))
    assert bits + width(n) <= 64
    _kernel("arrays_number", keys.dtype, moved(values.dtype))(grid(n), BLOCK, n, keys, shift, numbered)
    numbered.sort()
    out = cupy.empty(n, values.dtype)
    _kernel("arrays_ordered", keys.dtype, moved(values.dtype))(grid(n), BLOCK, n, numbered, shift, values, keys, out)
    return keys, out


def segments_of(offsets: Array, count: int) -> Array:
    """Return the number of the segment of each of `count` positions; segment s begins at offsets[s]."""
    segments = int(offsets.size) - 1
    out = cupy.empty(count, index_dtype(segments))
    rows_kernel("rows_of_entries", offsets.dtype, out.dtype)(grid(count), BLOCK, count, offsets, segments, out)
    return out


def converted(array: Array, dtype: np.dtype[Any]) -> Array:
    """Return an array of integers in another type of integers."""
    return cast_array(array, dtype)


def samples() -> Iterator[Handles]:
    """Yield the kernels of this module for representative types and operators: see `catalog`."""
    for a, b, close in ((INT32, INT32, False), (FP64, FP32, True), (FC64, FP64, False), (INT64, INT32, True)):
        yield _differ_kernel(a, b, close)
    yield _differ_kernel(np.dtype(bool), np.dtype(bool), False)
    for entry in ("arrays_scatter", "arrays_permutation", "arrays_cyclic"):
        yield _kernel(entry, INT32, moved(FC64)), _kernel(entry, INT64, moved(INT64))
    for entry in ("arrays_number", "arrays_ordered"):
        yield _kernel(entry, UINT32, moved(FC64)), _kernel(entry, UINT64, moved(INT64))
    yield _kernel("arrays_rebased", INT32, INT32), _kernel("arrays_rebased", INT32, INT64)
    yield _kernel("arrays_search", INT32, moved(INT32)), _kernel("arrays_search", UINT64, moved(UINT64))
