"""Transposition, and the test for a symmetric structure."""

from __future__ import annotations

import cupy
import numpy as np

from ...formats import CSR, Pattern, index_dtype, uncompressed_pattern
from ..registry import implements
from ..requests.operations import IsSymmetric, Transpose
from .build import check_kernel, csr_from_sorted, row_keys, starts
from .launch import BLOCK, grid, read_one
from .primitives import width
from .radix import by_digits, sort_keys, sorted_by_column


@implements(Transpose, engine="cuda")
def transpose(q: Transpose) -> CSR:
    """t(j, i) = a(i, j): a stable radix sort by column.

    Few entries are sorted by column and row at once, which synchronizes.
    """
    a = q.a
    if by_digits(a.nvals) and max(a.nrows, a.ncols) < 2**32:
        return _by_radix(a)
    keys = row_keys(a.nrows, a.ncols, a.indptr, a.indices, swapped=True)
    low = width(a.nrows)
    keys, values = sort_keys(keys, a.values, low + width(a.ncols))
    return csr_from_sorted(a.ncols, a.nrows, low, keys, a.dtype, values, a.iso)


def _by_radix(a: CSR) -> CSR:
    """Sort the entries by column; entries of one column stay in the order of their rows.

    Memory beside the result: a column, a row and a value for each entry.
    """
    rows, columns, values = sorted_by_column(a)
    indptr = cupy.empty(a.ncols + 1, index_dtype(a.nvals))
    starts(a.ncols, columns, 0, indptr)
    return CSR(Pattern(a.ncols, a.nrows, indptr, rows), a.dtype, values, a.iso)


# Every entry needs a search in another row, so entries are not read over the interconnect.
@implements(IsSymmetric, engine="cuda", when=lambda q: q.pattern.placement == "device")
def is_symmetric(q: IsSymmetric) -> bool:
    """Whether a(j, i) is present wherever a(i, j) is.  Synchronizes: one number is read back."""
    pattern = uncompressed_pattern(q.pattern)
    if pattern.nrows != pattern.ncols:
        return False
    missing = cupy.zeros(1, np.uint32)
    run = check_kernel("check_symmetric", pattern.indptr.dtype, pattern.indices.dtype)
    n = pattern.nvals
    run(grid(n), BLOCK, n, pattern.indptr, pattern.nrows, pattern.indices, missing)
    return read_one(missing) == 0  # synchronizes
