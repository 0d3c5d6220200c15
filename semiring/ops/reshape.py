"""Resize vectors and matrices, and convert diagonals to vectors and back."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from .. import operators
from ..devices import dispatched
from ..engines import registry
from ..engines.requests.operands import Index
from ..engines.requests.operations import BuildMatrix, ExtractMatrix, ExtractVector, ReduceRows
from ..engines.rows.residency import listed_or_resident
from ..exceptions import DimensionMismatch
from ..formats import CSR, Array, Full, HyperPattern, IndexList, Pattern, VectorStore, array_module, index_dtype
from ..formats.hypersparse import prefers_hypersparse, settled
from ..memory.allocation import require_rows
from ..memory.arrays import as_type
from . import check, structure
from .build import from_triples
from .cast import cast_scalar, cast_store
from .convert import index_list
from .extract import extract_vector
from .select import select
from .write import merge


def resize_vector(u: VectorStore, size: int) -> VectorStore:
    """Return the vector with another size; entries past its end are dropped."""
    if size == u.size:
        return u
    if size < u.size:
        return cast(VectorStore, registry.run(ExtractVector(u, Index(u.size, size)), check.engine_of("resize", u)))
    return longer(u, size)


@dispatched()
def longer(u: VectorStore, size: int) -> VectorStore:
    """Return the vector with a larger size."""
    entries = index_list(u)
    indices = entries.indices.astype(index_dtype(size), copy=False)
    return IndexList(size, u.dtype, indices, entries.values, entries.iso)


def resize_matrix(a: CSR, nrows: int, ncols: int) -> CSR:
    """Return the matrix with another shape; entries outside it are dropped."""
    if nrows < a.nrows or ncols < a.ncols:
        rows, cols = Index(a.nrows, min(nrows, a.nrows)), Index(a.ncols, min(ncols, a.ncols))
        a = cast(CSR, registry.run(ExtractMatrix(a, rows, cols), check.engine_of("resize", a)))
    return a if (nrows, ncols) == a.shape else larger(a, nrows, ncols)


@dispatched()
def larger(a: CSR, nrows: int, ncols: int) -> CSR:
    """Return the matrix with a larger shape."""
    a = listed_or_resident(a)
    if prefers_hypersparse(nrows, a.nvals):
        a = structure.listed_rows(a)
    if isinstance(a.pattern, HyperPattern):
        held = a.pattern
        rows, columns = held.rows.astype(index_dtype(nrows), copy=False), held.indices.astype(index_dtype(ncols))
        return settled(CSR(HyperPattern(nrows, ncols, rows, held.offsets, columns), a.dtype, a.values, a.iso))
    require_rows("resize", a.device, nrows, a.nvals, 0)
    xp = array_module(a.device)
    more = xp.full(nrows - a.nrows, a.nvals, dtype=a.indptr.dtype)
    indices = a.indices.astype(index_dtype(ncols), copy=False)
    pattern = Pattern(nrows, ncols, xp.concatenate([a.indptr, more]), indices)
    return CSR(pattern, a.dtype, a.values, a.iso)


@dispatched()
def diagonal_matrix(u: VectorStore, k: int = 0, *, operation: str = "diag") -> CSR:
    """Return the square matrix of size n + |k| that holds u on its k-th diagonal (k > 0: above the main one)."""
    n = u.size + abs(k)
    if not prefers_hypersparse(n, u.nvals):
        # Positions as row, column and 64-bit number, besides the rows that are built from them.
        require_rows(operation, u.device, n, u.nvals, u.dtype.itemsize, scratch=24)
    entries = index_list(u)
    rows, cols = (_shifted(entries.indices, by, n) for by in (max(-k, 0), max(k, 0)))
    spec = BuildMatrix(n, n, u.dtype, rows, cols, entries.values, entries.iso, None)
    return from_triples(operation, spec, u.device)


def _shifted(indices: Array, by: int, n: int) -> Array:
    """Return indices plus a number, as indices below n."""
    wide = as_type(indices, index_dtype(n), copy=False)
    return wide + wide.dtype.type(by) if by else wide


def diagonal_vector(a: CSR, k: int = 0) -> VectorStore:
    """Return the k-th diagonal of A:  w(p) = A(p, p + k) for k >= 0, A(p - k, p) below."""
    engine = check.engine_of("diag", a)
    only = select(a, operators.select.diag, k).into()
    by_row = registry.run(ReduceRows(only, operators.monoid.any.typed(a.dtype)), engine)
    return extract_vector(by_row, Index(a.nrows, diagonal_length(a, k), max(-k, 0))).into()


def diagonal_length(a: CSR, k: int) -> int:
    """Return the number of positions on the k-th diagonal; 0 where it is outside the matrix."""
    return max(min(a.nrows + min(k, 0), a.ncols - max(k, 0)), 0)


def with_diagonal(a: CSR, source: Any, k: int) -> CSR:
    """Return A with the k-th diagonal replaced by the entries of `source`, a vector or a scalar."""
    length = diagonal_length(a, k)
    if not isinstance(source, VectorStore):
        source = full_vector(source, length, a.dtype, a.device)
    if source.size != length:
        raise DimensionMismatch(
            f"setdiag: diagonal {k} of a matrix of shape {a.shape} has {length} positions, the source {source.size}"
        )
    engine = check.engine_of("setdiag", a, source)
    rest = select(a, operators.select.offdiag, k).into()
    diagonal = diagonal_matrix(cast_store(source, a.dtype, engine), k, operation="setdiag")
    line = resize_matrix(diagonal, *a.shape)
    return merge(rest, line, engine)


def full_vector(value: Any, size: int, dtype: np.dtype[Any], device: str) -> Full:
    """Return the vector whose entries all equal `value`; it needs no memory."""
    return Full(size, dtype, None, cast_scalar(value, dtype), device)
