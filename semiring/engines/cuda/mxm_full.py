"""Products with full rows: which kernels compute them."""

from __future__ import annotations

import cupy
import numpy as np

from ...formats import CSR, FullPattern, Pattern, index_dtype
from ...formats.full import every_row_full
from ...memory.allocation import allocating
from .. import registry
from ..registry import RESIDENT_WITH_FULL, implements
from ..requests.operands import Rows
from ..requests.operations import Mxm, Transpose
from ..shared.iso_results import product_value
from . import tuning
from .mxm_full_gemm import full_times_full, is_blas
from .mxm_full_masked import sparse_full_under_mask
from .mxm_full_rows import product_rows
from .mxm_full_sddmm import full_under_mask
from .mxm_full_spmm import sparse_times_full
from .transpose_full import transposed_values


def _every_row(a: CSR) -> bool:
    return isinstance(a.pattern, FullPattern) and a.pattern.every_row


def _is_full(rows: Rows | None, other: Rows | None) -> bool:
    """Return True if the matrix `rows` has full rows, or its transpose `other` has no empty ones."""
    if rows is not None and rows.ready:
        return rows.get().format == "full"
    return rows is not None and other is not None and other.ready and _every_row(other.get())


def _sparse_first(q: Mxm) -> bool:
    return q.a.format == "csr" and q.method in ("auto", "rows") and _is_full(q.by_row, q.by_column)


def _lists_positions(q: Mxm) -> bool:
    """Return True for a mask that lists the positions that it admits."""
    mask = q.mask
    return mask is not None and not mask.complement and isinstance(mask.store, CSR) and mask.store.format == "csr"


def _sparse_first_under_mask(q: Mxm) -> bool:
    """Return True for sparse A and full B under a mask, unless all results share a value."""
    return _lists_positions(q) and _sparse_first(q) and product_value(q.semiring, q.a.iso, _either(q).iso) is None


def _either(q: Mxm) -> CSR:
    """Return B or its transpose, whichever is at hand."""
    return q.by_row.get() if q.by_row.ready or q.by_column is None else q.by_column.get()


def _under_mask(q: Mxm) -> bool:
    """Return True for a dot product of full rows for each entry of a mask.

    Not if the mask admits so many positions that computing all of them by cuBLAS costs less.
    """
    if q.a.format != "full" or q.method not in ("auto", "dot") or not _lists_positions(q):
        return False
    if not _is_full(q.by_column, q.by_row):
        return False
    assert q.mask is not None
    read, positions = q.mask.store.nvals * q.a.ncols, q.a.nrows * q.ncols
    few = read <= tuning.FULL_SAMPLED * positions
    return q.method == "dot" or few or not is_blas(q.semiring, q.a.dtype, _either(q).dtype)


def _knows_rows(q: Mxm) -> bool:
    """Return True unless the product reads row numbers of A, of which empty rows are left out."""
    return "xi" not in q.semiring.mult.uses or _every_row(q.a)


def _full_twice(q: Mxm) -> bool:
    if q.a.format != "full" or q.method != "auto" or _under_mask(q) or not _knows_rows(q):
        return False
    if not _is_full(q.by_row, q.by_column):
        return False
    if q.by_row.ready and not _every_row(q.by_row.get()):  # columns of A are left out
        return not q.semiring.mult.uses & {"xj", "yi"}
    return True


def _full_first(q: Mxm) -> bool:
    """Return True for a full A and a sparse B.

    Not under a mask that is not complemented: the product may have many more entries than the mask.
    """
    if q.a.format != "full" or q.method != "auto" or not _knows_rows(q):
        return False
    if q.mask is not None and not q.mask.complement:
        return False
    return all(rows.get().format == "csr" for rows in (q.by_row, q.by_column) if rows is not None and rows.ready)


@implements(Mxm, engine="cuda", accepts=RESIDENT_WITH_FULL, when=_sparse_first, priority=1)
def mxm_sparse_full(q: Mxm) -> CSR:
    """t(i, j) = (+)_k A(i, k) (x) B(k, j) for sparse A and full rows of B; the result has full rows.

    Synchronizes if the rows of the result are not cached with the pattern of A.
    """
    return sparse_times_full(q.a, q.b, q.semiring)


@implements(Mxm, engine="cuda", accepts=RESIDENT_WITH_FULL, when=_sparse_first_under_mask, fuses=("mask",), priority=2)
def mxm_sparse_full_mask(q: Mxm) -> CSR:
    """t(i, j) = (+)_k A(i, k) (x) B(k, j) for the entries (i, j) of the mask, for sparse A and full rows of B.

    Synchronizes: reads the number of rows of which all columns are computed, and that of the entries.
    """
    assert q.mask is not None
    return sparse_full_under_mask(q.a, q.b, q.semiring, q.mask)


@implements(Mxm, engine="cuda", accepts=RESIDENT_WITH_FULL, when=_under_mask, fuses=("mask",), priority=1)
def mxm_full_mask(q: Mxm) -> CSR:
    """t(i, j) = (+)_k A(i, k) (x) B(k, j) for the entries (i, j) of the mask; A and B' have full rows.

    Synchronizes where rows of A or B' are empty or the mask admits by value: the number of entries is read back.
    """
    assert q.by_column is not None
    assert q.mask is not None
    return full_under_mask(q.a, q.by_column.get(), q.semiring, q.mask)


@implements(Mxm, engine="cuda", accepts=RESIDENT_WITH_FULL, when=_full_twice, priority=1)
def mxm_full_full(q: Mxm) -> CSR:
    """t(i, j) = (+)_k A(i, k) (x) B(k, j) for full rows of A and B; the result has the rows of A."""
    return full_times_full(q.a, q.b, q.semiring)


@implements(Mxm, engine="cuda", accepts=RESIDENT_WITH_FULL, when=_full_first, priority=1)
def mxm_full_sparse(q: Mxm) -> CSR:
    """t(j, i) = (+)_k B'(j, k) (x) A'(k, i), transposed, for full A and sparse B.

    The result has full rows if no column of B is empty.  Memory beyond the result: A and the result again.
    Synchronizes if the columns of B that are not empty are not cached.
    """
    a, n = q.a, q.ncols
    t = registry.run(Transpose(q.b), "cuda") if q.by_column is None else q.by_column.get()
    nrows = a.nvals // max(a.ncols, 1)
    turned = None if a.values is None else transposed_values(a.values, nrows, a.ncols)
    made = sparse_times_full(
        t, CSR(every_row_full(a.ncols, nrows, "cuda"), a.dtype, turned, a.iso), q.semiring, flip=True
    )
    full = made.pattern
    assert isinstance(full, FullPattern)
    present = made.nvals // max(nrows, 1)  # columns of B that are not empty
    size = made.nvals * (made.dtype.itemsize + index_dtype(n).itemsize)
    with allocating("mxm", "cuda", needed=lambda: size):
        values = made.values
        if values is not None:
            values = transposed_values(values, present, nrows)
        if present == n:
            return CSR(product_rows(a.pattern).result(a.pattern, n), made.dtype, values, made.iso)
        columns = cupy.flatnonzero(cupy.diff(full.indptr)).astype(index_dtype(n))  # synchronizes
        offsets = (a.indptr.astype(np.int64) // max(a.ncols, 1) * present).astype(index_dtype(made.nvals))
        return CSR(Pattern(a.nrows, n, offsets, cupy.tile(columns, nrows)), made.dtype, values, made.iso)
