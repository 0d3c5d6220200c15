"""Stores from triples in any order, and from arrays in CSR format.

A position becomes one sort key, (row, column) in as few bits as the shape needs; a stable sort makes
repeats adjacent, in the order in which they were given.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import cupy
import numpy as np

from ...dtypes import INT32, INT64, UINT16, UINT32, UINT64
from ...exceptions import DuplicateIndex, NotSupported
from ...formats import CSR, Array, IndexList, Pattern, VectorStore, index_dtype, word_count
from ...operators.types import TypedBinary
from ..registry import implements
from ..requests.operations import BuildMatrix, BuildVector, ImportCSR
from ..shared.expression_numpy import cast, scalar
from ..shared.validation import check_size, column_outside, offsets_end, offsets_fall, offsets_start, repeated
from .kernel import Handles, Kernel, kernel
from .launch import BLOCK, grid, read_back, read_one
from .primitives import cast_array, key_dtype, moved, scan_marks, width
from .radix import by_digits, sort_keys, sorted_triples
from .reduce import Values, combine_runs
from .specialize import constants, typedefs

_BYTE = np.dtype(np.uint8)
_INT32 = np.dtype(np.int32)
_NONE = 2**64 - 1


@implements(BuildVector, engine="cuda")
def build_vector(q: BuildVector) -> VectorStore:
    """t(indices[p]) = values[p].  Synchronizes: the number of distinct indices is read back."""
    made = build(1, q.size, q.dtype, None, q.indices, q.values, q.iso, q.dup, refuse=True)
    return IndexList(q.size, q.dtype, made.indices, made.values, made.iso)


@implements(BuildMatrix, engine="cuda")
def build_matrix(q: BuildMatrix) -> CSR:
    """t(rows[p], cols[p]) = values[p].  Synchronizes: the number of distinct positions is read back.

    Memory: two keys (4 bytes each where the bits of row and column allow, else 8), two values and 5 bytes an entry.
    """
    return build(q.nrows, q.ncols, q.dtype, q.rows, q.cols, q.values, q.iso, q.dup, refuse=True)


def build(
    nrows: int,
    ncols: int,
    dtype: np.dtype[Any],
    rows: Array | None,
    cols: Array,
    values: Array | None,
    iso: np.generic | None,
    dup: TypedBinary | None,
    *,
    refuse: bool,
) -> CSR:
    """Return a matrix from triples (no `rows`: 0).  Without `dup`, repeats raise if `refuse`; else the last stays."""
    n, low = int(cols.size), width(ncols)
    rows = None if rows is None else cupy.ascontiguousarray(rows)
    cols = cupy.ascontiguousarray(cols)
    payload = None if values is None else cupy.ascontiguousarray(cast_array(values, dtype))
    if by_digits(n):
        keys, payload = sorted_triples(rows, cols, payload, _keys(nrows, ncols), low, width(nrows) + low)
    else:
        keys = cupy.empty(n, _keys(nrows, ncols))
        run = _kernel("build_keys", keys.dtype, MAJOR=_INT32 if rows is None else rows.dtype, MINOR=cols.dtype)
        run(grid(n), BLOCK, n, rows, cols, np.int32(low), keys)
        keys, payload = sort_keys(keys, payload, width(nrows) + low)
    return _of_runs(nrows, ncols, dtype, keys, payload, _iso(iso, dtype), dup, refuse=refuse, vector=rows is None)


def _iso(iso: np.generic | None, dtype: np.dtype[Any]) -> np.generic | None:
    return None if iso is None else scalar(cast(iso, dtype), dtype)


def _keys(nrows: int, ncols: int) -> np.dtype[Any]:
    bits = width(nrows) + width(ncols)
    if bits > 64:
        raise NotSupported(
            f"building a matrix on the GPU needs nrows * ncols below 2**64; got {nrows} x {ncols} "
            "(build it on the CPU and move it with .to())"
        )
    return key_dtype(bits)


@functools.lru_cache(maxsize=1024)
def _kernel(
    entry: str, key: np.dtype[Any], value: np.dtype[Any] = _BYTE, swapped: bool = False, **types: np.dtype[Any]
) -> Kernel:
    """types: MAJOR, MINOR, R and O of the kernel, where it reads them."""
    named = dict.fromkeys(("MAJOR", "MINOR", "R", "O"), _INT32) | types
    text = typedefs(V=moved(value), KEY=key, **named) + constants(SWAPPED=swapped, FORM=2)
    return kernel("build.cuh", entry, text)


def assembled(
    nrows: int,
    ncols: int,
    dtype: np.dtype[Any],
    keys: Array,
    values: Array | None,
    iso: np.generic | None,
    dup: TypedBinary | None,
    *,
    refuse: bool,
) -> CSR:
    """Return the matrix of (key, value) pairs in any order, as `_of_runs` does."""
    keys, values = sort_keys(keys, values, width(nrows) + width(ncols))
    return _of_runs(nrows, ncols, dtype, keys, values, iso, dup, refuse=refuse, vector=False)


def _of_runs(
    nrows: int,
    ncols: int,
    dtype: np.dtype[Any],
    keys: Array,
    values: Array | None,
    iso: np.generic | None,
    dup: TypedBinary | None,
    *,
    refuse: bool,
    vector: bool,
) -> CSR:
    """Return the matrix of sorted keys and their values.

    Synchronizes: the number of distinct keys is read back.  Without `dup`, repeats raise if `refuse`, with the first
    one named (by its column alone for a `vector`); else the last one given is kept.
    """
    n, bits = int(keys.size), width(ncols)
    marks, indices = cupy.empty(word_count(n), np.uint32), cupy.empty(n, index_dtype(ncols))
    run = _kernel("build_heads", keys.dtype, MINOR=indices.dtype)
    run(grid(n), BLOCK, n, keys, np.int32(bits), marks, indices)
    ranks = scan_marks(marks, n)
    runs = read_one(ranks[-1:])  # synchronizes
    if runs == n:
        indptr = cupy.empty(nrows + 1, index_dtype(n))
        starts(nrows, keys, bits, indptr)
        return CSR(Pattern(nrows, ncols, indptr, indices), dtype, values, iso)
    del indices
    if dup is None and refuse:
        raise _repeated(bits, keys, vector=vector)
    return _merged(nrows, ncols, dtype, keys, values, iso, dup, marks, ranks, runs)


def _repeated(bits: int, keys: Array, *, vector: bool) -> DuplicateIndex:
    smallest = cupy.empty(1, np.uint64)
    smallest.data.memset_async(0xFF, smallest.nbytes)
    n = int(keys.size)
    _kernel("build_repeated", keys.dtype)(grid(n), BLOCK, n, keys, smallest)
    key = read_one(smallest)  # synchronizes: only before an error is raised
    row, column = key >> bits, key & ((1 << bits) - 1)
    place: Any = column if vector else (row, column)
    return repeated(place)


def csr_from_sorted(
    nrows: int,
    ncols: int,
    bits: int,
    keys: Array,
    dtype: np.dtype[Any],
    values: Array | None,
    iso: np.generic | None,
) -> CSR:
    """Return the matrix of sorted, distinct keys, whose low `bits` hold the column.  Does not wait for the device."""
    n = int(keys.size)
    indices = cupy.empty(n, index_dtype(ncols))
    indptr = cupy.empty(nrows + 1, index_dtype(n))
    run = _kernel("build_minor", keys.dtype, MINOR=indices.dtype)
    run(grid(n), BLOCK, n, keys, np.int32(bits), None, None, indices, None)
    starts(nrows, keys, bits, indptr)
    return CSR(Pattern(nrows, ncols, indptr, indices), dtype, values, iso)


def starts(nrows: int, keys: Array, bits: int, indptr: Array) -> None:
    """indptr[r] = the position of the first of the sorted keys that is at least (r, 0), for r = 0 .. nrows."""
    run = _kernel("build_indptr", keys.dtype, O=indptr.dtype)
    run(grid(nrows + 1), BLOCK, nrows, int(keys.size), keys, np.int32(bits), None, None, indptr)


def _merged(
    nrows: int,
    ncols: int,
    dtype: np.dtype[Any],
    keys: Array,
    values: Array | None,
    iso: np.generic | None,
    dup: TypedBinary | None,
    marks: Array,
    ranks: Array,
    runs: int,
) -> CSR:
    """Return the matrix of sorted keys with repeats: runs combine by `dup`, or their last element is kept."""
    n, low = int(keys.size), np.int32(width(ncols))
    indices = cupy.empty(runs, index_dtype(ncols))
    indptr = cupy.empty(nrows + 1, index_dtype(runs))
    # Where the runs start is read only to combine values.
    starts = None if dup is None and values is None else cupy.empty(runs + 1, ranks.dtype)
    kinds = keys.dtype, _BYTE if values is None else values.dtype
    types = {"MINOR": indices.dtype, "R": ranks.dtype, "O": indptr.dtype}
    _kernel("build_minor", *kinds, **types)(grid(n), BLOCK, n, keys, low, marks, ranks, indices, starts)
    _kernel("build_indptr", *kinds, **types)(grid(nrows + 1), BLOCK, nrows, n, keys, low, marks, ranks, indptr)
    pattern = Pattern(nrows, ncols, indptr, indices)
    if dup is None:
        if values is None:
            return CSR(pattern, dtype, None, iso)
        out = cupy.empty(runs, dtype)
        _kernel("build_last", *kinds, **types)(grid(runs), BLOCK, runs, starts, values, out)
        return CSR(pattern, dtype, out)
    out = cupy.empty(runs, dtype)
    combine_runs(starts, runs, Values(n, dtype, values, iso), dup, out)
    return CSR(pattern, dtype, out)


@implements(ImportCSR, engine="cuda")
def import_csr(q: ImportCSR) -> CSR:
    """A matrix from arrays in CSR format: validated, narrowed, each row sorted.

    Synchronizes twice, for the checks on offsets and on columns.  Arrays that already meet the conditions are not
    copied.
    """
    indptr, indices = cupy.ascontiguousarray(q.indptr), cupy.ascontiguousarray(q.indices)
    n = int(indices.size)
    _check_offsets(q.nrows, indptr, n)
    first = _bad_positions("check_columns", 2, (n, indptr, q.nrows, indices, q.ncols), n, indptr.dtype, indices.dtype)
    outside, unsorted = first
    if outside != _NONE:
        column = read_one(indices[outside : outside + 1])
        raise column_outside(outside, column, q.ncols)
    if unsorted == _NONE:
        pattern = Pattern(
            q.nrows, q.ncols, cast_array(indptr, index_dtype(n)), cast_array(indices, index_dtype(q.ncols))
        )
        values = None if q.values is None else cast_array(q.values, q.dtype)
        return CSR(pattern, q.dtype, values, _iso(q.iso, q.dtype))
    keys = row_keys(q.nrows, q.ncols, indptr, indices, swapped=False)
    payload = None if q.values is None else cast_array(q.values, q.dtype)
    return assembled(q.nrows, q.ncols, q.dtype, keys, payload, _iso(q.iso, q.dtype), q.dup, refuse=True)


def row_keys(nrows: int, ncols: int, indptr: Array, indices: Array, *, swapped: bool) -> Array:
    """Return one key for each entry of a CSR matrix: (row, column), or (column, row) if `swapped`."""
    n = int(indices.size)
    keys = cupy.empty(n, _keys(nrows, ncols))
    run = _kernel("build_row_keys", keys.dtype, swapped=swapped, MAJOR=indptr.dtype, MINOR=indices.dtype)
    bits = np.int32(width(nrows if swapped else ncols))
    run(grid(n), BLOCK, n, indptr, nrows, indices, bits, keys)
    return keys


def _bad_positions(
    entry: str, count: int, arguments: tuple[Any, ...], n: int, major: np.dtype[Any], minor: np.dtype[Any]
) -> list[int]:
    """Return the first position at which each of `count` checks fails; all bits set if none fails.  Synchronizes."""
    first = cupy.empty(count, np.uint64)
    first.data.memset_async(0xFF, first.nbytes)
    check_kernel(entry, major, minor)(grid(n), BLOCK, *arguments, first)
    return [int(position) for position in read_back(first)]  # synchronizes


@functools.cache
def check_kernel(entry: str, major: np.dtype[Any], minor: np.dtype[Any]) -> Kernel:
    """Return a kernel of ``check.cuh`` for offsets, or major indices, and for minor indices of these types."""
    return kernel("check.cuh", entry, typedefs(MAJOR=major, MINOR=minor) + constants(FORM=2))


def _check_offsets(nrows: int, indptr: Array, nvals: int) -> None:
    """Raise InvalidFormat unless offsets start at 0, do not decrease, and end at the number of columns."""
    check_size(int(indptr.size), nrows)
    start, end = read_one(indptr[:1]), read_one(indptr[-1:])  # synchronizes
    if start != 0:
        raise offsets_start(start)
    (falls,) = _bad_positions("check_offsets", 1, (nrows, indptr), nrows, indptr.dtype, _INT32)
    if falls != _NONE:
        before, after = (int(offset) for offset in read_back(indptr[falls : falls + 2]))
        raise offsets_fall(falls, before, after)
    if end != nvals:
        raise offsets_end(nrows, end, nvals)


def samples() -> Iterator[Handles]:
    """Yield the kernels of this module for representative types and operators: see `catalog`."""
    for major, minor in ((INT32, INT32), (INT64, INT64), (UINT64, UINT16)):
        yield check_kernel("check_columns", major, minor)
    yield check_kernel("check_offsets", INT64, INT32), check_kernel("check_symmetric", INT32, INT64)
    for key, swapped in ((UINT32, False), (UINT64, True)):
        yield _kernel("build_row_keys", key, swapped=swapped, MAJOR=INT64, MINOR=INT32)
        yield _kernel("build_keys", key, MAJOR=INT64), _kernel("build_heads", key, MINOR=INT64)
        yield _kernel("build_repeated", key), _kernel("build_indptr", key, O=INT64)
        yield _kernel("build_minor", key, UINT16, MINOR=INT64), _kernel("build_last", key, UINT16)
