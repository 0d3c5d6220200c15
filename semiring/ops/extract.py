"""Parts of an object:  w(p) = u(I[p]);  C(p, q) = A(I[p], J[q]);  w(j) = A(i, j);  w(i) = A(i, j)."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from ..engines import registry
from ..engines.spec import ExtractMatrix, ExtractRow, ExtractVector, Index
from ..formats import CSR, IndexList, VectorStore, array_module, index_dtype
from ..formats.arrays import to_host
from . import check, structure
from .index import everything
from .write import Plan


def extract_vector(u: VectorStore, index: Index) -> Plan[VectorStore]:
    """W = u(I).  Positions may repeat."""
    question: Any = (lambda: u) if index.is_all else ExtractVector(u, index)
    return Plan("extract", (index.count,), u.dtype, u.device, question)


def extract_matrix(a: CSR, rows: Index, cols: Index, *, transposed: bool = False) -> Plan[CSR]:
    """C = A(I, J).  Positions may repeat.  Carrying it out synchronises for the size of the result."""

    def whole() -> CSR:
        return structure.transposed(a) if transposed else a

    if rows.is_all and cols.is_all:
        question: Any = whole
    elif transposed:

        def question() -> CSR:
            return cast(CSR, registry.run(ExtractMatrix(whole(), rows, cols), check.engine_of("extract", a)))

    else:
        question = ExtractMatrix(a, rows, cols)
    return Plan("extract", (rows.count, cols.count), a.dtype, a.device, question)


def extract_row(a: CSR, row: int, *, transposed: bool = False) -> Plan[VectorStore]:
    """W = A(i, :) as a vector; a column of A under `transposed`.

    A column is taken from the cached transpose, if there is one, else by a pass over the rows.
    """
    size = a.nrows if transposed else a.ncols
    question: Any
    if not transposed:
        question = ExtractRow(a, row)
    elif structure.rows(a, True, values=True).ready:
        question = ExtractRow(structure.transposed(a), row)
    else:

        def question() -> VectorStore:
            return _column(a, row)

    return Plan("extract", (size,), a.dtype, a.device, question)


def _column(a: CSR, col: int) -> IndexList:
    narrow = extract_matrix(a, everything(a.nrows), Index(a.ncols, 1, col)).into()
    xp = array_module(a.device)
    indices = xp.flatnonzero(xp.diff(narrow.indptr)).astype(index_dtype(a.nrows))  # synchronises on the GPU
    return IndexList(a.nrows, a.dtype, indices, narrow.values, narrow.iso)


def element(a: CSR | VectorStore, row: int, col: int = 0) -> np.generic | None:
    """A(i, j) or u(i), or None where nothing is stored.  Synchronises."""
    if isinstance(a, CSR):
        begin, end = (int(p) for p in to_host(a.indptr[row : row + 2]))
        at = _find(a.indices[begin:end], col)
        return None if at is None else _value(a, begin + at)
    if a.format == "full":
        return _value(a, row)
    if a.format == "bitmap":
        word = int(to_host(a.words[row // 32 : row // 32 + 1])[0])
        return _value(a, row) if word >> (row % 32) & 1 else None
    at = _find(a.indices, row)
    return None if at is None else _value(a, at)


def _find(ascending: np.ndarray, wanted: int) -> int | None:  # type: ignore[type-arg]
    if ascending.size == 0:
        return None
    xp = array_module("cpu" if isinstance(ascending, np.ndarray) else "cuda")
    at = int(to_host(xp.searchsorted(ascending, xp.asarray([wanted], dtype=ascending.dtype)))[0])
    if at < ascending.size and int(to_host(ascending[at : at + 1])[0]) == wanted:
        return at
    return None


def _value(a: CSR | VectorStore, at: int) -> np.generic:
    if a.iso is not None:
        return a.iso
    return cast(np.generic, to_host(a.values[at : at + 1])[0])
