"""Construction of vectors and matrices from arrays, with all checks."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...formats import CSR, VectorStore
from ..registry import implements
from ..requests.operations import BuildMatrix, BuildVector, ImportCSR
from ..shared.validation import check_size, column_outside, offsets_end, offsets_fall, offsets_start, repeated
from .assembly import Assembly
from .evaluation import Values


@implements(BuildVector, engine="reference")
def build_vector(q: BuildVector) -> VectorStore:
    """t(indices[p]) = values[p], in the order of the arrays."""
    t = Assembly((q.size,), q.dtype, q.dup)
    for i, value in zip(q.indices.tolist(), _values(q, q.indices.size), strict=True):
        t.put((i,), value)
    _check_repeats(t)
    result: VectorStore = t.store()
    return result


@implements(BuildMatrix, engine="reference")
def build_matrix(q: BuildMatrix) -> CSR:
    """t(rows[p], cols[p]) = values[p], in the order of the arrays."""
    t = Assembly((q.nrows, q.ncols), q.dtype, q.dup)
    for i, j, value in zip(q.rows.tolist(), q.cols.tolist(), _values(q, q.rows.size), strict=True):
        t.put((i, j), value)
    _check_repeats(t)
    result: CSR = t.store()
    return result


@implements(ImportCSR, engine="reference")
def import_csr(q: ImportCSR) -> CSR:
    """t(i, indices[p]) = values[p] for indptr[i] <= p < indptr[i + 1]."""
    indptr, columns = q.indptr.tolist(), q.indices.tolist()
    _check_offsets(indptr, q.nrows, len(columns))
    for p, j in enumerate(columns):
        if not 0 <= j < q.ncols:
            raise column_outside(p, j, q.ncols)
    t = Assembly((q.nrows, q.ncols), q.dtype, q.dup)
    values = _values(q, len(columns))
    for i in range(q.nrows):
        for p in range(indptr[i], indptr[i + 1]):
            t.put((i, columns[p]), values[p])
    _check_repeats(t)
    result: CSR = t.store()
    return result


def _check_offsets(indptr: list[int], nrows: int, nvals: int) -> None:
    check_size(len(indptr), nrows)
    if indptr[0] != 0:
        raise offsets_start(indptr[0])
    for i in range(nrows):
        if indptr[i + 1] < indptr[i]:
            raise offsets_fall(i, indptr[i], indptr[i + 1])
    if indptr[nrows] != nvals:
        raise offsets_end(nrows, indptr[nrows], nvals)


def _values(q: BuildVector | BuildMatrix | ImportCSR, count: int) -> Values:
    return q.values if q.values is not None else np.full(count, q.iso, q.dtype)


def _check_repeats(t: Assembly) -> None:
    at = t.first_repeated()
    if t.dup is None and at is not None:
        position: Any = at[0] if len(at) == 1 else at
        raise repeated(position)
