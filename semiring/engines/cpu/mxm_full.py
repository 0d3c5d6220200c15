"""Products of matrices of which one is full: on dense arrays, by the method that suits the two.

- A sparse, B full: multiples of rows of B (`mxm_full_rows`); the result is full.
- A full, B sparse: the same for the transposes, (B' A')'; the result is full if B has no empty column.
- Both full: `numpy.matmul` for sums of products of floats, whose rounding is that of its library; dot products if B has
  one column; else as with a sparse A, whose columns are generated.
- Both full, under a mask: a dot product for each entry of the mask (`mxm_full_dot`).
- One full, under a mask: see `mxm_full_masked`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...formats import CSR, Array, FullPattern, Pattern, dense_values, index_dtype, structure_only, uncompressed_pattern
from ...formats.csr import empty_csr
from ...formats.full import every_row_full, full_rows
from ...memory.allocation import require
from ...operators.types import TypedSemiring
from ..recording import note
from ..registry import WITH_FULL, implements
from ..requests.operands import Mask, Rows, simplified
from ..requests.operations import Mxm
from ..shared.iso_results import product_value
from .index_rank import is_wide
from .mxm_full_dot import dot_values
from .mxm_full_rows import row_products
from .operands import values_of
from .select import kept_rows, mask_pattern
from .tuning import COLUMNS, LEAST_COLUMNS, PANEL_BYTES, SAMPLED_SHARE

__all__ = ["by_transposes", "full_product", "gives_full", "is_blas", "reads_full", "stored_rows"]

# Rows or columns of a block of a transpose: no power of two, whose multiples share few sets of a cache (measured: half
# the time of one NumPy call on 64 x 65,536 values).
_BLOCK = 240


def gives_full(rows: Rows, other: Rows | None) -> bool:
    """Return whether `rows` is a full matrix, or the transpose of one without empty rows, which is full as well."""
    if rows.ready:
        return rows.get().format == "full"
    pattern = None if other is None or not other.ready else other.get().pattern
    return isinstance(pattern, FullPattern) and pattern.every_row


def reads_full(q: Mxm) -> bool:
    """Return whether the methods for unmasked products serve the operands."""
    if gives_full(q.by_row, q.by_column):
        return True
    if q.a.format != "full" or q.by_column is None:
        return False
    b = q.by_row.get() if q.by_row.ready else q.by_column.get()
    every_row = q.a.nvals == q.a.nrows * q.a.ncols
    return not is_wide(q.ncols, b.nvals) and (every_row or "xi" not in q.semiring.mult.uses)


def _is_sampled(q: Mxm) -> bool:
    """Return whether dot products at the entries of the mask compute the product of two full matrices."""
    mask = q.mask
    if mask is None or mask.complement or mask.store.format != "csr" or q.a.format != "full":
        return False
    if q.by_column is None or not (gives_full(q.by_column, q.by_row) or gives_full(q.by_row, q.by_column)):
        return False
    everywhere = q.a.nrows * q.ncols <= SAMPLED_SHARE * mask.store.nvals
    return not (everywhere and q.a.values is not None and is_blas(q.a.dtype, q.by_column, q.by_row, q.semiring))


@implements(Mxm, engine="cpu", accepts=WITH_FULL, when=reads_full, priority=1)
def mxm_full(q: Mxm) -> CSR:
    """t(i, j) = (+)_k A(i, k) (x) B(k, j), where A or B is full."""
    if gives_full(q.by_row, q.by_column):
        return full_product(q.a, q.b, q.semiring)
    return by_transposes(q)


@implements(Mxm, engine="cpu", accepts=WITH_FULL, when=_is_sampled, fuses=("mask",), priority=2)
def mxm_sampled(q: Mxm) -> CSR:
    """t(i, j) = (+)_k A(i, k) (x) B(k, j) for each entry (i, j) of the mask, where A and B are full."""
    semiring = q.semiring
    note(method="dot")
    mask = simplified(q.mask)
    t, columns = _columns(q)
    width = t.ncols if columns is None else columns.size
    if not isinstance(mask, Mask) or width == 0:
        return empty_csr(q.a.nrows, t.nrows, semiring.z, "cpu")
    entries = mask_pattern(mask)
    if q.a.nvals < q.a.nrows * q.a.ncols or t.nvals < t.nrows * width:
        present = np.repeat(np.diff(q.a.indptr) > 0, np.diff(entries.indptr)) & (np.diff(t.indptr) > 0)[entries.indices]
        entries = uncompressed_pattern(kept_rows(structure_only(entries), present).pattern)
    known = product_value(semiring, q.a.iso, t.iso)
    if known is not None:
        return CSR(entries, semiring.z, None, known)
    left = _with_columns(q.a, columns)
    sides = (stored_rows(q.a), left), (stored_rows(t), values_of(t))
    return CSR(entries, semiring.z, dot_values(entries, *sides, (width, columns), semiring))


def _columns(q: Mxm) -> tuple[CSR, Array | None]:
    """Return the transpose of B, full, and the numbers of its columns if the empty rows of B are left out."""
    assert q.by_column is not None
    if gives_full(q.by_column, q.by_row):
        return q.by_column.get(), None
    b = q.b
    rows = np.flatnonzero(np.diff(b.indptr))
    every = every_row_full(b.ncols, rows.size, "cpu")
    values = None if b.values is None else _turned(b.values, rows.size)
    return CSR(every, b.dtype, values, b.iso), rows


def _turned(values: Array, nrows: int) -> Array:
    """Return the values of the transpose of a dense matrix with `nrows` rows; by blocks that stay in a cache."""
    x = values.reshape(nrows, values.size // max(nrows, 1))
    made = np.empty(x.shape[::-1], x.dtype)
    for first in range(0, max(x.shape), _BLOCK):
        block = slice(first, first + _BLOCK)
        if x.shape[0] < x.shape[1]:
            made[block] = np.ascontiguousarray(x[:, block]).T
        else:
            made[:, block] = np.ascontiguousarray(x[block].T)
    return made.reshape(-1)


def _with_columns(a: CSR, columns: Array | None) -> Any:
    """Return the values of a full matrix in some of its columns, as a kernel argument."""
    if columns is None or a.values is None:
        return values_of(a)
    return np.ascontiguousarray(a.values.reshape(-1, a.ncols)[:, columns]).reshape(-1)


def stored_rows(a: CSR) -> Array | None:
    """Return the rank of each row of a full matrix among those that are not empty; None if none is empty."""
    if a.nvals == a.nrows * a.ncols:
        return None
    return np.asarray(a.indptr[:-1] // a.ncols, np.int64)


def full_product(a: CSR, b: CSR, semiring: TypedSemiring) -> CSR:
    """Return A B for a full B; A has uncompressed rows, or is full."""
    if a.format != "full":
        note(method="rows of B")
        return row_products(a, b, semiring)
    if a.values is not None and is_blas(a.dtype, Rows(b), None, semiring):
        note(method="matmul")
        return _matmul(a, b)
    if b.ncols == 1 and b.nvals and product_value(semiring, a.iso, b.iso) is None:
        note(method="dot")
        return _one_column(a, b, semiring)
    note(method="rows of B")
    panel = PANEL_BYTES // max(1, a.ncols * b.dtype.itemsize)
    return row_products(_with_entries(a), b, semiring, columns=min(COLUMNS, max(LEAST_COLUMNS, panel)))


def _with_entries(a: CSR) -> CSR:
    """Return a matrix with uncompressed rows; the columns of a full one are generated."""
    if not isinstance(a.pattern, FullPattern):
        return a
    require("mxm", "cpu", a.nvals * index_dtype(a.ncols).itemsize)
    return CSR(Pattern(a.nrows, a.ncols, a.indptr, a.pattern.columns(0, a.nvals)), a.dtype, a.values, a.iso)


def is_blas(dtype: np.dtype[Any], b: Rows, other: Rows | None, semiring: TypedSemiring) -> bool:
    """Return whether `numpy.matmul` computes the product of values of this type and those of B by BLAS."""
    store = b.get() if b.ready or other is None else other.get()
    arithmetic = semiring.add.expr.is_addition and semiring.mult.expr.is_multiplication
    return arithmetic and store.values is not None and dtype.kind == "f" and {dtype, store.dtype} == {semiring.z}


def _matmul(a: CSR, b: CSR) -> CSR:
    rows = None if b.nvals == b.nrows * b.ncols else np.flatnonzero(np.diff(b.indptr))
    inner = b.nrows if rows is None else rows.size
    pattern = full_rows((np.diff(a.indptr) > 0) & (inner > 0), b.ncols)
    require("mxm", "cpu", pattern.nvals * a.dtype.itemsize)
    if pattern.nvals == 0:
        return CSR(pattern, a.dtype, np.empty(0, a.dtype))
    x = dense_values(a).reshape(-1, a.ncols)
    with np.errstate(all="ignore"):
        made = (x if rows is None else x[:, rows]) @ dense_values(b).reshape(inner, b.ncols)
    return CSR(pattern, a.dtype, made.reshape(-1))


def _one_column(a: CSR, b: CSR, semiring: TypedSemiring) -> CSR:
    """Return the product with a full column, whose values are contiguous."""
    columns = None if b.nvals == b.nrows else np.flatnonzero(np.diff(b.indptr))
    pattern = full_rows(np.diff(a.indptr) > 0, 1)
    entries = Pattern(a.nrows, 1, pattern.indptr, np.zeros(pattern.nvals, index_dtype(1)))
    sides = (stored_rows(a), _with_columns(a, columns)), (None, values_of(b))
    return CSR(pattern, semiring.z, dot_values(entries, *sides, (b.nvals, columns), semiring))


def by_transposes(q: Mxm) -> CSR:
    """Return the product of a full A and a sparse B as (B' A')'."""
    note(method="rows of A'")
    a, n = q.a, q.ncols
    assert q.by_column is not None
    height = a.nvals // max(a.ncols, 1)
    values = None if a.values is None else _turned(a.values, height)
    t = CSR(every_row_full(a.ncols, height, "cpu"), a.dtype, values, a.iso)
    made = row_products(_with_entries(q.by_column.get()), t, q.semiring, flip=True)
    present, columns = np.diff(a.indptr) > 0, np.flatnonzero(np.diff(made.indptr))
    done = None if made.values is None else _turned(made.values, columns.size)
    if columns.size == n:
        return CSR(full_rows(present, n), made.dtype, done, made.iso)
    require("mxm", "cpu", made.nvals * index_dtype(n).itemsize)
    offsets = np.zeros(a.nrows + 1, np.int64)
    np.cumsum(present * columns.size, out=offsets[1:])
    indices = np.tile(columns.astype(index_dtype(n)), height)
    return CSR(Pattern(a.nrows, n, offsets.astype(index_dtype(indices.size)), indices), made.dtype, done, made.iso)
