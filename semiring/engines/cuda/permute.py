"""Permutation of rows and columns: new rows are gathered, and sorted slice by slice."""

from __future__ import annotations

import functools
from itertools import pairwise, product
from typing import Any

import cupy
import numpy as np

from ...dtypes import INT32, INT64, UINT8, UINT32, UINT64
from ...exceptions import NotSupported
from ...formats import CSR, Array, Pattern, index_dtype
from ..registry import implements
from ..requests.storage import Permute
from .extract import row_offsets
from .kernel import Handles, Kernel, kernel
from .launch import BLOCK, grid, read_back
from .primitives import cast_array, key_dtype, moved, put, width
from .radix import sort_keys
from .specialize import constants, typedefs

_INT64 = np.dtype(np.int64)
_BYTE = np.dtype(np.uint8)
# Entries that are sorted at a time, unless one row has more: enough to fill the device, and with keys of 8 bytes
# beside themselves and 8-byte values 3 GB of scratch at most.
_SLICE = 1 << 26


@implements(Permute, engine="cuda")
def permute(q: Permute) -> CSR:
    """t(i, cols[j]) = a(rows[i], j).  Synchronizes where there is more than one slice, to read where they begin.

    Memory beyond the result: 17 bytes an entry of a slice, three times its values, and 16 bytes a row.
    """
    a = q.a
    kind = q.rows.dtype if q.rows.dtype == q.cols.dtype else _INT64
    rows, cols = (cast_array(cupy.ascontiguousarray(array), kind) for array in (q.rows, q.cols))
    offsets, _ = row_offsets(rows.dtype, (rows, 0, 0), a.nrows, a.indptr, _INT64)
    indices = cupy.empty(a.nvals, index_dtype(a.ncols))
    values = None if a.values is None else cupy.empty(a.nvals, a.dtype)
    for first, last, begin, end in _slices(offsets, a.nrows, a.nvals):
        part = offsets[first : last + 1], rows[first:last]
        keys, moved_values = _sorted(a, *part, cols, begin, end)
        bits = np.int32(width(a.ncols))
        run = _kernel("permute_columns", *_types(a, cols), keys.dtype)
        run(grid(end - begin), BLOCK, end - begin, keys, bits, indices[begin:end])
        if values is not None and moved_values is not None:
            put(values, begin, moved_values)
    indptr = cast_array(offsets, index_dtype(a.nvals))
    return CSR(Pattern(a.nrows, a.ncols, indptr, indices), a.dtype, values, a.iso)


def _slices(offsets: Array, nrows: int, nvals: int) -> list[tuple[int, int, int, int]]:
    """(first row, last row, first entry, last entry) of each slice that has entries."""
    if nvals <= _SLICE:
        return [(0, nrows, 0, nvals)] if nvals else []
    wanted = cupy.arange(_SLICE, nvals, _SLICE, dtype=_INT64)
    # Two consecutive candidate bounds are at most _SLICE entries, or one row, apart.
    inner = cupy.searchsorted(offsets, wanted, side="right") - 1
    ends = cupy.concatenate([inner, inner + 1])
    pairs = read_back(cupy.stack([ends, offsets[ends]], axis=1).astype(_INT64))  # synchronizes
    known = {0: 0, nrows: nvals} | {int(row): int(entry) for row, entry in pairs}
    bounds = sorted(known.items())
    chosen = bounds[:1]
    for before, (_, reaches) in pairwise(bounds):
        if reaches - chosen[-1][1] > _SLICE and before[1] > chosen[-1][1]:
            chosen.append(before)
    chosen.append(bounds[-1])
    return [(first, last, begin, end) for (first, begin), (last, end) in pairwise(chosen)]


def _types(a: CSR, cols: Array) -> tuple[np.dtype[Any], ...]:
    value = _BYTE if a.values is None else moved(a.dtype)
    return a.indptr.dtype, a.indices.dtype, cols.dtype, value


@functools.lru_cache(maxsize=256)
def _kernel(entry: str, *types: np.dtype[Any]) -> Kernel:
    named = dict(zip(("P", "I", "X", "V", "KEY"), types, strict=True))
    return kernel("permute.cuh", entry, typedefs(**named) + constants(FORM=2))


def _sorted(a: CSR, offsets: Array, rows: Array, cols: Array, begin: int, end: int) -> tuple[Array, Array | None]:
    """The keys of a slice in order, and its values."""
    n, height, bits = end - begin, int(rows.size), width(a.ncols)
    if bits + width(height) > 64:
        raise NotSupported(f"permute: {a.ncols} columns and slices of {height} rows do not fit into one 64-bit key")
    keys = cupy.empty(n, key_dtype(bits + width(height)))
    values = None if a.values is None else cupy.empty(n, a.dtype)
    arguments: tuple[Any, ...] = (a.indptr, a.indices, a.values, cols, np.int32(bits), keys, values)
    run = _kernel("permute_keys", *_types(a, cols), keys.dtype)
    run(grid(n), BLOCK, height, rows, offsets, begin, end, *arguments)
    return sort_keys(keys, values, bits + width(height))


def samples() -> Handles:
    """Return the kernels of this module for representative types and operators: see `catalog`."""
    some, others = (INT32, INT32, INT32, UINT8, UINT32), (INT64, INT32, INT64, UINT64, UINT64)
    names = "permute_keys", "permute_columns"
    return tuple(_kernel(name, *types) for name, types in product(names, (some, others)))
