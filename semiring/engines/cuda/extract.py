"""Extraction of entries of vectors and matrices, in any order and with repetition."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import cupy
import numpy as np

from ...dtypes import INT32, INT64, UINT8, UINT64
from ...exceptions import NotSupported
from ...formats import CSR, Array, Full, IndexList, Pattern, VectorStore, index_dtype, word_count
from ...formats.csr import empty_csr
from ...memory.allocation import require
from ..registry import implements
from ..requests.operands import Index
from ..requests.operations import ExtractMatrix, ExtractRow, ExtractVector
from . import tuning
from .build import csr_from_sorted
from .kernel import Handles, Kernel, kernel
from .launch import BLOCK, Counter, bitmap, counter, full, grid, read_back, read_one, words_of
from .primitives import as_dense, cast_array, counting, exclusive_scan, gather_kernel, moved, put, rows_kernel, width
from .radix import sort_keys
from .row_tiles import TILE_BLOCK, TILE_TEXT, find_tiles, lookback_words
from .specialize import constants, typedefs

_INT32 = np.dtype(np.int32)
_INT64 = np.dtype(np.int64)
_BYTE = np.dtype(np.uint8)
# A range up to this length is expanded, which takes microseconds; of a longer one, only columns with entries.
LISTED = 1 << 16


def index_arguments(index: Index) -> tuple[np.dtype[Any], tuple[Any, int, int]]:
    """Return the type X of an index array, and the arguments (array, start, step)."""
    if index.array is None:
        return _INT32, (None, index.start, index.step)
    return index.array.dtype, (cupy.ascontiguousarray(index.array), 0, 0)


@implements(ExtractVector, engine="cuda")
def extract_vector(q: ExtractVector) -> VectorStore:
    """t(p) = u(index[p]): one launch (one more for an index list), no wait for the device."""
    if q.index.is_all:
        return q.u
    u, n = as_dense(q.u), q.index.count
    x, position = index_arguments(q.index)
    values = None if u.values is None else cupy.empty(n, u.dtype)
    whole = isinstance(u, Full)
    words = None if whole else cupy.empty(word_count(n), np.uint32)
    count = None if whole else counter()
    if words is not None or values is not None:
        run = gather_kernel(x, _BYTE if values is None else values.dtype)
        run(grid(n), BLOCK, n, *position, words_of(u), u.values, words, values, count)
    if words is None or count is None:
        return full(n, u.dtype, u.iso if values is None else values)
    return bitmap(n, u.dtype, words, u.iso if values is None else values, count if n else 0)


@implements(ExtractRow, engine="cuda")
def extract_row(q: ExtractRow) -> VectorStore:
    """t(j) = a(row, j): views of the row's columns and values.  Synchronizes: two offsets are read back."""
    a = q.a
    begin, end = (int(p) for p in read_back(a.indptr[q.row : q.row + 2]))  # synchronizes
    values = None if a.values is None else a.values[begin:end]
    return IndexList(a.ncols, a.dtype, a.indices[begin:end], values, a.iso)


@implements(ExtractMatrix, engine="cuda")
def extract_matrix(q: ExtractMatrix) -> CSR:
    """t(p, q) = a(rows[p], cols[q]).  Synchronizes: the number of entries is read back, once for each axis.

    Whole rows are copied; columns are looked up in the sorted index and ordered by one sort.
    """
    made = q.a if q.rows.is_all else _rows(q.a, q.rows)
    return made if q.cols.is_all else _columns(made, q.cols)


def _rows(a: CSR, rows: Index) -> CSR:
    """t(p, :) = a(rows[p], :).  Consecutive rows are copied as one range of entries."""
    if rows.array is None and rows.step == 1 and rows.count > 0:
        return _consecutive(a, rows.start, rows.start + rows.count)
    x, position = index_arguments(rows)
    n = rows.count
    offset = a.indptr.dtype if rows.array is None and rows.step != 0 else _INT64  # rows of an array may repeat
    offsets, words = row_offsets(x, position, n, a.indptr, offset)
    total = read_one(words) if n else 0  # synchronizes
    return copied_rows(a, x, position, n, a.indptr, offsets, total)


def copied_rows(
    a: CSR, x: np.dtype[Any], position: tuple[Any, int, int], n: int, starts: Array, offsets: Array, total: int
) -> CSR:
    """Return n rows of consecutive entries of a: row p begins at starts[index[p]].

    x, position: of the index, as `index_arguments` returns them.  total: the number of entries of all.
    """
    indices, values = _allocated(a, total)
    first_row = find_tiles(offsets, n, total)
    value = _BYTE if a.values is None else moved(a.dtype)
    _extract_kernel("extract_rows", x, starts.dtype, offsets.dtype, a.indices.dtype, value)(
        int(first_row.size) - 1, TILE_BLOCK, n, *position, starts, a.indices, a.values, offsets, total, first_row,
        indices, values,
    )  # fmt: skip
    pattern = Pattern(n, a.ncols, cast_array(offsets, index_dtype(total)), indices)
    return CSR(pattern, a.dtype, values, a.iso)


@functools.lru_cache(maxsize=1024)
def _extract_kernel(entry: str, *types: np.dtype[Any]) -> Kernel:
    named = typedefs(**dict(zip(("X", "P", "O", "I", "V"), types, strict=True)))
    return kernel("extract_rows.cuh", entry, named + constants(FORM=2) + TILE_TEXT)


def row_offsets(
    x: np.dtype[Any], position: tuple[Any, int, int], n: int, indptr: Array, offset: np.dtype[Any]
) -> tuple[Array, Counter]:
    """Return the offsets of n rows of which `indptr` has the lengths; and, on the device, the number of their entries.

    x, position: of the index, as `index_arguments` returns them.  offset: the type of the offsets.
    """
    if n == 0:
        return cupy.zeros(1, offset), counter()
    tiles = -(-n // tuning.TILE)
    offsets, words = cupy.empty(n + 1, offset), lookback_words(tiles)
    run = _extract_kernel("extract_offsets", x, indptr.dtype, offset, _INT32, _BYTE)
    run(tiles, TILE_BLOCK, n, *position, indptr, offsets, words)
    return offsets, words


def _consecutive(a: CSR, first: int, stop: int) -> CSR:
    """t(p, :) = a(first + p, :).  Synchronizes: two offsets are read back."""
    begin = 0 if first == 0 else read_one(a.indptr[first : first + 1])  # synchronizes
    end = a.nvals if stop == a.nrows else read_one(a.indptr[stop : stop + 1])  # synchronizes
    total = end - begin
    indices, values = _allocated(a, total)
    put(indices, 0, a.indices[begin:end])
    if a.values is not None and values is not None:
        put(values, 0, a.values[begin:end])
    indptr = cupy.empty(stop - first + 1, index_dtype(total))
    shift = rows_kernel("rows_shift", a.indptr.dtype, indptr.dtype)
    shift(grid(indptr.size), BLOCK, int(indptr.size), a.indptr[first:], -begin, indptr)
    return CSR(Pattern(stop - first, a.ncols, indptr, indices), a.dtype, values, a.iso)


def _allocated(a: CSR, total: int) -> tuple[Array, Array | None]:
    """Return uninitialized columns and values of `total` entries of the types of a."""
    require("extract", "cuda", total * (a.indices.dtype.itemsize + (0 if a.values is None else a.dtype.itemsize)))
    return cupy.empty(total, a.indices.dtype), None if a.values is None else cupy.empty(total, a.dtype)


def _columns(a: CSR, cols: Index) -> CSR:
    bits = width(cols.count)
    if bits + width(a.nrows) > 64:
        raise NotSupported(f"extract on the GPU needs rows * columns below 2**64; got {a.nrows} x {cols.count}")
    short = cols.array is not None or cols.count <= max(a.nvals, LISTED)
    wanted, goes_to = _sorted_index(cols) if short else _occurring(a, cols)
    if wanted.size == 0:
        return empty_csr(a.nrows, cols.count, a.dtype, "cuda")
    value = _BYTE if a.values is None else a.dtype
    count_copies, copy = _columns_plan(wanted.dtype, a.indptr.dtype, a.indices.dtype, value)
    copies = cupy.empty(a.nvals, np.int64)
    count_copies(grid(a.nvals), BLOCK, a.nvals, a.indices, wanted, int(wanted.size), copies)
    offsets = exclusive_scan(copies, _INT64)
    total = read_one(offsets[-1:])  # synchronizes
    keys = cupy.empty(total, np.uint64)
    values = None if a.values is None else cupy.empty(total, a.dtype)
    copy(
        grid(total),
        BLOCK,
        a.nvals,
        a.nrows,
        a.indptr,
        a.indices,
        a.values,
        wanted,
        int(wanted.size),
        goes_to,
        offsets,
        total,
        bits,
        keys,
        values,
    )
    keys, values = sort_keys(keys, values, bits + width(a.nrows))
    return csr_from_sorted(a.nrows, cols.count, bits, keys, a.dtype, values, a.iso)


@functools.lru_cache(maxsize=1024)
def _columns_plan(
    x: np.dtype[Any], offset: np.dtype[Any], column: np.dtype[Any], value: np.dtype[Any]
) -> tuple[Kernel, Kernel]:
    """Return the kernels that count the copies of each entry, and that write them.  x: of the index."""
    text = typedefs(X=x, V=moved(value), P=offset, I=column) + constants(FORM=2)
    return kernel("extract.cuh", "extract_copies", text), kernel("extract.cuh", "extract_columns", text)


def _occurring(a: CSR, cols: Index) -> tuple[Array, Array]:
    """As `_sorted_index`, for a range of more columns than there are entries: only columns that occur in the matrix.

    Synchronizes, for their number.
    """
    wide = index_dtype(max(cols.size, cols.count))
    present = cupy.unique(a.indices).astype(np.int64)  # synchronizes
    place, rest = cupy.divmod(present - cols.start, cols.step or 1)
    held = (rest == 0) & (place >= 0) & (place < cols.count)
    return present[held].astype(wide), place[held].astype(wide)  # synchronizes


def _sorted_index(cols: Index) -> tuple[Array, Array]:
    """Return the requested columns in ascending order, and the position of each in the result."""
    wide = index_dtype(max(cols.size, cols.count))
    goes_to = counting(cols.count, wide)
    wanted = counting(cols.count, wide, cols.start, cols.step) if cols.array is None else cast_array(cols.array, wide)
    kind = moved(wide)
    keys, order = sort_keys(wanted.view(kind), goes_to, width(cols.size))
    return keys.view(wide), order


def samples() -> Iterator[Handles]:
    """Yield the kernels of this module for representative types and operators: see `catalog`."""
    for index, value in ((INT32, UINT8), (INT64, UINT64)):
        yield _columns_plan(index, index, INT32, value), rows_kernel("rows_shift", index, INT32)
        yield _extract_kernel("extract_rows", index, index, INT64, INT32, value)
    yield _extract_kernel("extract_offsets", INT64, INT32, INT64, INT32, UINT8)
