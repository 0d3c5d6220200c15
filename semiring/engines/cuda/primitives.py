"""Primitives that depend on no semiring: scans, compaction, conversion of arrays.

All work is queued on the current stream; only functions documented to synchronize wait for the device.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import cupy
import numpy as np

from ...dtypes import BOOL, FC64, FP32, FP64, INT8, INT32, INT64, UINT8, UINT16, UINT32, UINT64
from ...formats import CSR, Array, Bitmap, Full, IndexList, Pattern, VectorStore, index_dtype, word_count
from .kernel import Handles, Kernel, kernel
from .launch import BLOCK, bitmap, grid, read_one
from .specialize import constants, typedefs

__all__ = [
    "as_dense",
    "cast_array",
    "cast_into",
    "compact_csr",
    "compact_list",
    "counting",
    "entry_form",
    "exclusive_scan",
    "fill",
    "filled",
    "form_text",
    "gather",
    "key_dtype",
    "moved",
    "put",
    "rows_kernel",
    "rows_of_entries",
    "scan_marks",
    "width",
]

DENSE, LIST, ROWS = 0, 1, 2
_SCAN_TILE = 2048
_UNSIGNED = {size: np.dtype(f"u{size}") for size in (1, 2, 4, 8)}
_INT32 = np.dtype(np.int32)


def moved(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the type of the width of `dtype` that kernels use for values that they only move: an unsigned integer.

    For 16 bytes it is complex128, for other widths a record of so many bytes.
    """
    return _UNSIGNED.get(dtype.itemsize) or (FC64 if dtype.itemsize == 16 else np.dtype((np.void, dtype.itemsize)))


def width(bound: int) -> int:
    """The number of bits that indices below `bound` need."""
    return max(bound - 1, 0).bit_length()


def key_dtype(bits: int) -> np.dtype[Any]:
    """Return the narrowest type of sort keys with at least `bits` bits."""
    return _UNSIGNED[4 if bits <= 32 else 8]


def cast_array(array: Array, dtype: np.dtype[Any]) -> Array:
    """The array converted as values are (see ``types.cuh``); itself if nothing changes."""
    if array.dtype == dtype:
        return array
    out = cupy.empty(array.size, dtype)
    cast_into(out, array)
    return out


def cast_into(out: Array, array: Array) -> None:
    """Set all elements of `out` to those of an array of any type, converted as values are."""
    array = cupy.ascontiguousarray(array)
    _cast_kernel(array.dtype, out.dtype)(grid(array.size), BLOCK, array.size, array, out)


@functools.cache
def _cast_kernel(source: np.dtype[Any], target: np.dtype[Any]) -> Kernel:
    return kernel("cast.cuh", "cast_values", typedefs(A=source, Z=target))


def filled(count: int, value: np.generic) -> Array:
    """An array in which every element is `value`."""
    out = cupy.empty(count, value.dtype)
    fill(out, value)
    return out


def fill(out: Array, value: np.generic) -> None:
    """Set every element to `value`, which has the type of the array."""
    _fill_kernel(value.dtype)(grid(out.size), BLOCK, out.size, value, out)


@functools.cache
def _fill_kernel(dtype: np.dtype[Any]) -> Kernel:
    return kernel("cast.cuh", "cast_fill", typedefs(A=dtype, Z=dtype))


def counting(count: int, dtype: np.dtype[Any], start: int = 0, step: int = 1) -> Array:
    """start, start + step, ..."""
    out = cupy.empty(count, dtype)
    _range_kernel(dtype)(grid(count), BLOCK, count, start, step, out)
    return out


@functools.cache
def _range_kernel(dtype: np.dtype[Any]) -> Kernel:
    return kernel("convert.cuh", "convert_range", typedefs(I=dtype, V=_UNSIGNED[1]))


def gather(array: Array, at: Array) -> Array:
    """array[at]."""
    out, count = cupy.empty(at.size, array.dtype), int(at.size)
    gather_kernel(at.dtype, array.dtype)(grid(count), BLOCK, count, at, 0, 0, None, array, None, out, None)
    return out


@functools.lru_cache(maxsize=256)
def gather_kernel(index: np.dtype[Any], value: np.dtype[Any]) -> Kernel:
    """Return the kernel of `gather` for these types."""
    types = typedefs(X=index, V=moved(value), P=_INT32, I=_INT32) + constants(FORM=ROWS)
    return kernel("extract.cuh", "extract_vector", types)


def rows_of_entries(a: CSR) -> Array:
    """The row of each entry."""
    out = cupy.empty(a.nvals, index_dtype(a.nrows))
    rows_kernel("rows_of_entries", a.indptr.dtype, out.dtype)(grid(a.nvals), BLOCK, a.nvals, a.indptr, a.nrows, out)
    return out


@functools.cache
def rows_kernel(entry: str, offset: np.dtype[Any], out: np.dtype[Any]) -> Kernel:
    """Return a kernel of ``rows.cuh`` for offsets of a type and results of another."""
    return kernel("rows.cuh", entry, typedefs(P=offset, O=out))


def put(out: Array, at: int, part: Array) -> None:
    """Set ``out[at : at + part.size] = part`` for two contiguous arrays of one type, by a memory copy."""
    if part.size:
        out[at : at + part.size].data.copy_from_device_async(part.data, part.nbytes)


def exclusive_scan(values: Array, dtype: np.dtype[Any], *, popcount: bool = False) -> Array:
    """out[i] = the sum of values[:i] for i = 0 .. n, so that out[n] is the total.

    popcount: each element counts as the number of its bits.
    """
    n = int(values.size)
    out = cupy.empty(n + 1, dtype)
    scan_tiles, scan_sums, scan_write = _scan_kernels(values.dtype, dtype, popcount)
    tiles = n // _SCAN_TILE + 1  # the element after the last one needs a tile too
    sums = None
    if tiles > 1:
        sums = cupy.empty(tiles, dtype)
        scan_tiles(tiles, BLOCK, n, values, sums)
        scan_sums(1, 1024, tiles, sums)
    scan_write(tiles, BLOCK, n, values, sums, out)
    return out


@functools.cache
def _scan_kernels(values: np.dtype[Any], out: np.dtype[Any], popcount: bool) -> tuple[Kernel, Kernel, Kernel]:
    prologue = typedefs(IN=values, OUT=out) + constants(POPCOUNT=popcount)
    tiles, sums, write = (kernel("scan.cuh", name, prologue) for name in ("scan_tiles", "scan_sums", "scan_write"))
    return tiles, sums, write


def scan_marks(marks: Array, entries: int) -> Array:
    """How many of the bits of `marks` come before each word; one element more, the total."""
    return exclusive_scan(marks, index_dtype(entries), popcount=True)


def as_dense(u: VectorStore) -> Bitmap | Full:
    """The same vector with a slot for every index; an index list is spread out (one memset, one launch)."""
    if isinstance(u, (Bitmap, Full)):
        return u
    assert isinstance(u, IndexList)
    words = cupy.empty(word_count(u.size), np.uint32)
    words.data.memset_async(0, words.nbytes)
    values = None if u.values is None else cupy.empty(u.size, u.dtype)
    scatter_entries(u, words, values)
    return bitmap(u.size, u.dtype, words, u.iso if values is None else values, u.nvals)


def scatter_entries(u: IndexList, words: Array, values: Array | None) -> None:
    """Set the bits of the entries in cleared words, and store their values in slots unless these are None."""
    run = _convert_scatter(u.indices.dtype, u.dtype)
    run(grid(u.nvals), BLOCK, u.nvals, u.indices, u.values, words, values)


@functools.cache
def _convert_scatter(index: np.dtype[Any], value: np.dtype[Any]) -> Kernel:
    return kernel("convert.cuh", "convert_scatter", typedefs(I=index, V=moved(value)))


def entry_form(store: CSR | VectorStore) -> tuple[str, int, tuple[Any, ...]]:
    """Return the arguments of a store for kernels over entries: prologue, number of slots, (indptr, nrows, indices)."""
    if isinstance(store, CSR):
        text = form_text(ROWS, store.indptr.dtype, store.indices.dtype)
        return text, store.nvals, (store.indptr, store.nrows, store.indices)
    if isinstance(store, IndexList):
        return form_text(LIST, _INT32, store.indices.dtype), store.nvals, (None, 0, store.indices)
    return form_text(DENSE, _INT32, _INT32), store.size, (None, 0, None)


@functools.cache
def form_text(form: int, offset: np.dtype[Any], index: np.dtype[Any]) -> str:
    """Return the prologue lines of kernels over entries of a form: DENSE, LIST or ROWS."""
    return typedefs(P=offset, I=index) + constants(FORM=form)


def _compact(
    n: int,
    marks: Array,
    ranks: Array,
    kept: int,
    indices: Array | None,
    values: Array | None,
    out_dtype: np.dtype[Any],
) -> tuple[Array, Array | None]:
    out_indices = cupy.empty(kept, out_dtype)
    out_values = None if values is None else cupy.empty(kept, values.dtype)
    if kept:
        index = out_dtype if indices is None else indices.dtype
        run = _compact_kernel(
            "entries", ranks.dtype, index, _UNSIGNED[1] if values is None else moved(values.dtype), out_dtype
        )
        run(grid(n), BLOCK, n, marks, ranks, indices, values, out_indices, out_values)
    return out_indices, out_values


@functools.cache
def _compact_kernel(name: str, *types: np.dtype[Any]) -> Kernel:
    return kernel("compact.cuh", f"compact_{name}", typedefs(**dict(zip(("R", "I", "V", "O"), types, strict=True))))


def compact_list(
    size: int,
    dtype: np.dtype[Any],
    n: int,
    marks: Array,
    indices: Array | None,
    values: Array | None,
    iso: np.generic | None,
) -> IndexList:
    """The marked entries as an index list; no `indices`: positions are indices.  Synchronizes: reads their number."""
    ranks = scan_marks(marks, n)
    kept = read_one(ranks[-1:])  # synchronizes
    listed, moved_values = _compact(n, marks, ranks, kept, indices, values, index_dtype(size))
    return IndexList(size, dtype, listed, moved_values, iso)


def compact_csr(a: CSR, marks: Array) -> CSR:
    """The marked entries of a matrix.  Synchronizes: reads their number."""
    ranks = scan_marks(marks, a.nvals)
    kept = read_one(ranks[-1:])  # synchronizes
    if kept == a.nvals:
        return a
    columns, values = _compact(a.nvals, marks, ranks, kept, a.indices, a.values, a.indices.dtype)
    indptr = cupy.empty(a.nrows + 1, index_dtype(kept))
    run = _compact_kernel("indptr", ranks.dtype, a.indptr.dtype, _UNSIGNED[1], indptr.dtype)
    run(grid(a.nrows + 1), BLOCK, a.nrows, marks, ranks, a.indptr, indptr)
    return CSR(Pattern(a.nrows, a.ncols, indptr, columns), a.dtype, values, a.iso)


def samples() -> Iterator[Handles]:
    """Yield the kernels of this module for representative types and operators: see `catalog`."""
    for value, index in ((UINT8, INT32), (UINT64, INT64)):
        yield (
            _compact_kernel("entries", index, index, value, index),
            _convert_scatter(index, value),
            _range_kernel(index),
        )
        yield gather_kernel(index, value), rows_kernel("rows_of_entries", index, index)
        yield rows_kernel("rows_tiles", index, INT64)
    yield _compact_kernel("indptr", INT32, INT64, UINT8, INT32)
    for source, target in ((FP32, INT8), (FP64, UINT64), (INT64, BOOL), (UINT16, FP32)):
        yield _cast_kernel(source, target)
    yield _fill_kernel(FC64)
    for element, sums, popcount in ((UINT32, INT32, True), (INT64, INT64, False), (UINT32, UINT32, False)):
        yield _scan_kernels(element, sums, popcount)
