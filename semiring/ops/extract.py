"""Extract a part of an object:  w(p) = u(I[p]);  C(p, q) = A(I[p], J[q]);  w(j) = A(i, j);  w(i) = A(i, j)."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from ..engines import registry
from ..engines.operands import Index
from ..engines.residency import columns_around, resident
from ..engines.spec import ExtractMatrix, ExtractRow, ExtractVector
from ..formats import CSR, Array, IndexList, VectorStore, array_module, device_of, index_dtype
from ..memory.arrays import to_host
from . import check, structure
from .write import Plan


def extract_vector(u: VectorStore, index: Index) -> Plan[VectorStore]:
    """W = u(I).  Positions may repeat."""
    request: Any = (lambda: u) if index.is_all else ExtractVector(u, index)
    return Plan("extract", (index.count,), u.dtype, u.device, request)


def extract_matrix(a: CSR, rows: Index, cols: Index, *, transposed: bool = False) -> Plan[CSR]:
    """C = A(I, J).  Positions may repeat.  Execution synchronises for the size of the result."""

    def whole() -> CSR:
        return structure.transposed(a) if transposed else a

    if rows.is_all and cols.is_all:
        request: Any = whole
    elif transposed:

        def request() -> CSR:
            return cast(CSR, registry.run(ExtractMatrix(whole(), rows, cols), check.engine_of("extract", a)))

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
    line = resident(extract_matrix(a, Index(a.nrows, a.nrows), Index(a.ncols, 1, col)).into())
    return IndexList(a.nrows, a.dtype, row_numbers(line), line.values, line.iso)


def row_numbers(a: CSR) -> Array:
    """Return the row of each entry, in storage order."""
    xp = array_module(a.device)
    places = xp.arange(a.nvals, dtype=a.indptr.dtype)
    return (xp.searchsorted(a.indptr, places, side="right") - 1).astype(index_dtype(a.nrows))


def element(a: CSR | VectorStore, row: int, col: int = 0) -> np.generic | None:
    """Return A(i, j) or u(i), or None where nothing is stored.  Synchronises."""
    if isinstance(a, CSR):
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
