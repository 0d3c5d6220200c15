"""The extreme entry of each row or group, with its position: one pass over entries, or two for values of 8 bytes."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import cupy
import numpy as np

from ...dtypes import BOOL, FP32, FP64, INT8, INT32, INT64, UINT16, UINT32, UINT64
from ...formats import Array, Bitmap, FullPattern, IndexList, word_count
from ..registry import UNCOMPRESSED_OR_FULL, implements
from ..requests.operations import Located, LocateGroups, LocateRows
from .degrees import present_rows
from .extract import index_arguments
from .kernel import Handles, Kernel, kernel
from .launch import BLOCK, bitmap, counter, grid, one_wave, values_of
from .specialize import constants, typedefs

# What entries bid, as kernels/locate.cuh names it.
_KEYS_AND_PLACES, _KEYS, _PLACES = 0, 1, 2
# With at most so many entries, a sort key of 32 bits and the number of an entry share 64 bits.
_FEW = (1 << 32) - 1


@implements(LocateRows, engine="cuda", accepts=UNCOMPRESSED_OR_FULL)
def locate_rows(q: LocateRows) -> Located:
    """w(i) = min_j a(i, j), p(i) = the first such j: partitioned by entries; does not wait for the device."""
    a, n = q.a, q.a.nvals
    full = isinstance(a.pattern, FullPattern)
    types = a.dtype, a.indptr.dtype, _INDEX if full else a.indices.dtype, _INDEX, _INDEX
    passes = _passes(types, q.largest, n)

    def bid(run: _Kernels, keys: Array | None, best: Array) -> None:
        run.rows(one_wave(run.rows, n, 4), BLOCK, n, a.nrows, a.indptr, a.values, keys, best)

    best = None if a.values is None else _winners(passes, a.nrows, bid)
    out = None if a.values is None else cupy.empty(a.nrows, a.dtype)
    places = cupy.empty(a.nrows, np.int64)
    write = passes[-1].write_rows
    write(grid(a.nrows), BLOCK, a.nrows, a.indptr, None if full else a.indices, a.values, best, out, places)
    values = present_rows(a.pattern, a.dtype, a.iso if out is None else out)
    return Located(values, present_rows(a.pattern, places.dtype, places))


@implements(LocateGroups, engine="cuda")
def locate_groups(q: LocateGroups) -> Located:
    """w(g) = min of u(p) with index[p] = g, p(g) = the first such p: by atomics; does not wait for the device."""
    u, size = q.u, q.index.size
    listed = u.indices if isinstance(u, IndexList) else None
    words = u.words if isinstance(u, Bitmap) else None
    n = u.nvals if isinstance(u, IndexList) else u.size
    x, position = index_arguments(q.index)
    types = u.dtype, _INDEX, _INDEX, x, _INDEX if listed is None else listed.dtype
    passes = _passes(types, q.largest, n)

    def bid(run: _Kernels, keys: Array | None, best: Array) -> None:
        run.groups(grid(n), BLOCK, n, words, listed, *position, *values_of(u), keys, best)

    best = _winners(passes, size, bid)
    made, count = cupy.empty(word_count(size), np.uint32), counter()
    out = None if u.values is None else cupy.empty(size, u.dtype)
    places = cupy.empty(size, np.int64)
    passes[-1].write_groups(grid(size), BLOCK, size, listed, u.values, best, made, out, places, count)
    values = bitmap(size, u.dtype, made, u.iso if out is None else out, count if size else 0)
    return Located(values, Bitmap(size, places.dtype, made, places, None, values.count))


class _Kernels(NamedTuple):
    """The kernels of a pass, and those that write the result if it is the last one."""

    rows: Kernel
    write_rows: Kernel
    groups: Kernel
    write_groups: Kernel


def _winners(passes: tuple[_Kernels, ...], size: int, bid: Callable[[_Kernels, Array | None, Array], None]) -> Array:
    """Return the winning bids of the last pass."""
    best = None
    for run in passes:
        keys, best = best, cupy.empty(size, np.uint64)
        if size:
            best.data.memset_async(0xFF, best.nbytes)
            bid(run, keys, best)
    assert best is not None
    return best


def _passes(types: tuple[np.dtype[Any], ...], largest: bool, n: int) -> tuple[_Kernels, ...]:
    if types[0].itemsize <= 4 and n <= _FEW:
        return (_kernels(types, largest, _KEYS_AND_PLACES),)
    return _kernels(types, largest, _KEYS), _kernels(types, largest, _PLACES)


@functools.lru_cache(maxsize=1024)
def _kernels(types: tuple[np.dtype[Any], ...], largest: bool, bids: int) -> _Kernels:
    text = typedefs(**dict(zip(("A", "P", "I", "X", "L"), types, strict=True)))
    text += typedefs(KEY=UINT64 if types[0].itemsize == 8 else UINT32)
    text += constants(FORM=2, DESCENDING=largest, BIDS=bids)
    names = "locate_rows", "locate_rows_write", "locate_groups", "locate_groups_write"
    return _Kernels(*(kernel("locate.cuh", name, text) for name in names))


# The type of indices that a kernel does not read.
_INDEX = INT32


def samples() -> Iterator[Handles]:
    """Yield the kernels of this module for representative types and operators: see `catalog`."""
    for value, largest, bids in (
        (FP32, False, _KEYS_AND_PLACES), (INT8, True, _KEYS_AND_PLACES), (BOOL, True, _KEYS_AND_PLACES),
        (UINT16, False, _KEYS), (FP64, False, _KEYS), (INT64, True, _PLACES), (FP32, True, _PLACES),
    ):  # fmt: skip
        index = INT32 if value.itemsize <= 4 else INT64
        yield _kernels((value, index, index, INT64, INT32), largest, bids)
