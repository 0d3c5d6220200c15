"""Extract a part of an object:  w(p) = u(I[p]);  C(p, q) = A(I[p], J[q]);  w(j) = A(i, j);  w(i) = A(i, j)."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from ..devices import dispatched
from ..engines import registry
from ..engines.programs import traced
from ..engines.requests.operands import Index
from ..engines.requests.operations import ExtractMatrix, ExtractRow, ExtractVector
from ..engines.rows.residency import columns_around, listed_or_resident
from ..formats import (
    CSR,
    Array,
    FullPattern,
    HyperPattern,
    IndexList,
    Pattern,
    VectorStore,
    array_module,
    device_of,
    index_dtype,
)
from ..memory.arrays import as_type, segments_of, to_device, to_host
from ..symbolic import Symbolic
from . import check, structure
from .write import Plan

# Indices that are copied to the host for a search: one copy costs less than a search on a GPU and two copies.
_SHORT = 1 << 12


def extract_vector(u: VectorStore, index: Index) -> Plan[VectorStore]:
    """W = u(I).  Positions may repeat."""
    request: Any = (lambda: u) if index.is_all else ExtractVector(u, index)
    return Plan("extract", (index.count,), u.dtype, u.device, request)


def extract_matrix(a: CSR, rows: Index, cols: Index, *, transposed: bool = False) -> Plan[CSR]:
    """C = A(I, J).  Positions may repeat.  Execution synchronizes for the size of the result."""

    def whole() -> CSR:
        return structure.transposed(a) if transposed else a

    if rows.is_all and cols.is_all:
        request: Any = whole
    elif transposed:

        def request() -> CSR:
            return cast(CSR, registry.run(ExtractMatrix(whole(), rows, cols), check.engine_of("extract", a)))

    elif rows is cols and structure.knows_symmetric(a, values=False):

        def request() -> CSR:
            made = registry.run(ExtractMatrix(a, rows, cols), check.engine_of("extract", a))
            return structure.remember_symmetric(made, a)

    else:
        request = ExtractMatrix(a, rows, cols)
    return Plan("extract", (rows.count, cols.count), a.dtype, a.device, request)


def extract_line(a: CSR, at: int, index: Index, *, transposed: bool = False) -> Plan[VectorStore]:
    """W = A(i, J), or A(I, j) under `transposed`: the part of one row or column.

    A column is read from the transpose if that is cached, else by a pass over the rows.
    """

    def line() -> VectorStore:
        if transposed and not structure.has_transpose(a):
            return _column(a, at)
        row = ExtractRow(structure.transposed(a) if transposed else a, at)
        return cast(VectorStore, registry.run(row, check.engine_of("extract", a)))

    request = line if index.is_all else lambda: extract_vector(line(), index).into()
    return Plan("extract", (index.count,), a.dtype, a.device, request)


def _column(a: CSR, col: int) -> IndexList:
    return column_vector(extract_matrix(a, Index(a.nrows, a.nrows), Index(a.ncols, 1, col)).into())


@dispatched()
def column_vector(a: CSR) -> IndexList:
    """Return a matrix of one column as a vector, sharing its values."""
    line = listed_or_resident(a)
    return IndexList(a.nrows, a.dtype, row_numbers(line), line.values, line.iso)


def row_numbers(a: CSR) -> Array:
    """Return the row of each entry, in storage order."""
    pattern = a.pattern
    if not isinstance(pattern, HyperPattern):
        return segments_of(pattern.indptr, a.nvals)
    return as_type(pattern.rows[segments_of(pattern.offsets, a.nvals)], index_dtype(a.nrows), copy=False)


def column_numbers(a: CSR) -> Array:
    """Return the column of each entry of uncompressed or hypersparse rows, in storage order."""
    pattern = a.pattern
    return pattern.indices if isinstance(pattern, HyperPattern) else a.indices


@dispatched()
def places(a: CSR | VectorStore, rows: Array, cols: Array | None = None) -> Array | None:
    """Return the slots of the values at these positions if all of them are stored, else None.  Synchronizes.

    rows, cols: int64, on the host; cols: None for a vector.  The result is None too for bitmaps, and for rows that are
    compressed, hypersparse, not in the memory of the device or on a grid.  Cost O(k log degree).
    """
    rows = to_device(rows, a.device)
    xp = array_module(a.device)
    if not isinstance(a, CSR):
        if a.format == "full":
            return rows
        if not isinstance(a, IndexList):
            return None
        return _all_found(a.indices, xp.searchsorted(a.indices, as_type(rows, a.indices.dtype)), a.nvals, rows)
    assert cols is not None
    cols = to_device(cols, a.device)
    if a.placement != "device" or not isinstance(a.pattern, (Pattern, FullPattern)):
        return None
    low, high = a.indptr[rows].astype(np.int64), a.indptr[rows + 1].astype(np.int64)
    if isinstance(a.pattern, FullPattern):
        return low + cols if bool(to_host(xp.all(high > low))) else None
    end = high
    for _ in range(int(to_host(xp.max(high - low))).bit_length()):
        middle = (low + high) >> 1
        right = (low < high) & (a.indices[xp.minimum(middle, a.nvals - 1)] < cols)
        low, high = xp.where(right, middle + 1, low), xp.where(right, high, middle)
    return _all_found(a.indices, low, end, cols)


def _all_found(indices: Array, at: Array, end: Any, wanted: Array) -> Array | None:
    """Return `at` if each lies below its `end` and has the wanted index, else None.  Synchronizes."""
    xp = array_module(device_of(indices))
    if not indices.size:
        return None
    found = (at < end) & (indices[xp.minimum(at, indices.size - 1)] == wanted)
    return at if bool(to_host(xp.all(found))) else None


@dispatched()
def element(a: CSR | VectorStore, row: int, col: int = 0) -> np.generic | None:
    """Return A(i, j) or u(i), or None where nothing is stored.  Synchronizes."""
    if traced.users and (traced.is_traced(a) or isinstance(row, Symbolic)):
        return cast(np.generic, traced.current().element(a, row))
    if isinstance(a, CSR):
        if a.pattern.every_row:
            return _value(a, row * a.ncols + col)
        columns, begin = columns_around(a, row, col)
        at = _find(columns, col)
        return None if at is None else _value(a, begin + at)
    if a.format == "full":
        return _value(a, row)
    if a.format == "bitmap":
        word = int(to_host(a.words[row // 32 : row // 32 + 1])[0])
        return _value(a, row) if word >> (row % 32) & 1 else None
    at = _find(a.indices, row)
    return None if at is None else _value(a, at)


def _find(ascending: Array, wanted: int) -> int | None:
    if ascending.size <= _SHORT:
        ascending = to_host(ascending)
    if isinstance(ascending, np.ndarray):
        at = int(ascending.searchsorted(ascending.dtype.type(wanted)))
        return at if at < ascending.size and ascending[at] == wanted else None
    xp = array_module(device_of(ascending))
    at = int(to_host(xp.searchsorted(ascending, xp.asarray([wanted], dtype=ascending.dtype)))[0])
    if at < ascending.size and int(to_host(ascending[at : at + 1])[0]) == wanted:
        return at
    return None


def _value(a: CSR | VectorStore, at: int) -> np.generic:
    if a.iso is not None:
        return a.iso
    assert a.values is not None
    return cast(np.generic, to_host(a.values[at : at + 1])[0])
