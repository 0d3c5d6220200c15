"""The Kronecker product: the position of every entry of the result follows from the offsets of both operands."""

from __future__ import annotations

import numpy as np

from ...formats import CSR, Pattern, index_dtype
from ...memory.allocation import require
from ..registry import implements
from ..requests.operations import Kronecker
from ..shared.iso_results import binary_value
from . import types
from .atomics import stopped
from .compile import kernel
from .operands import rows_of, values_of
from .rows import lower_bound
from .threads import run, threads_for
from .types import call, put, value_at


@implements(Kronecker, engine="cpu")
def kronecker(q: Kronecker) -> CSR:
    """t(i r + k, j c + l) = op(a(i, j), b(k, l)), in one pass that writes every entry at its position."""
    a, b, z = q.a, q.b, q.op.z
    nrows, ncols, nvals = a.nrows * b.nrows, a.ncols * b.ncols, a.nvals * b.nvals
    known = binary_value(q.op, a.iso, b.iso)
    offset, column = index_dtype(nvals), index_dtype(ncols)
    entry = column.itemsize + (0 if known is not None else z.itemsize)
    require("kronecker", "cpu", nvals * entry + 2 * (nrows + 1) * offset.itemsize)
    indptr, indices = np.zeros(nrows + 1, offset), np.empty(nvals, column)
    values = None if known is not None else np.empty(nvals, z)
    # Row (i, k) has as many entries as the product of the lengths of row i of a and row k of b.
    lengths = np.multiply.outer(np.diff(a.indptr), np.diff(b.indptr).astype(offset, copy=False))
    np.cumsum(lengths.ravel(), dtype=offset, out=indptr[1:])
    op = None if known is not None else types.binary(q.op)
    operands = (*rows_of(a), values_of(a, known is None), *rows_of(b), values_of(b, known is None))
    run(_write, threads_for(nvals), *operands, op, b.ncols, indptr, indices, values, work=nvals)
    return CSR(Pattern(nrows, ncols, indptr, indices), z, values, known)


@kernel
def _write(
    t, threads, control, a_indptr, a_indices, avals, b_indptr, b_indices, bvals, op, b_ncols, indptr, indices, values
):
    """Write the entries of part t: equally many in each part, so a part may begin and end within a row."""
    b_nrows = b_indptr.size - 1
    p, end = indices.size * t // threads, indices.size * (t + 1) // threads
    row = lower_bound(indptr, 0, indptr.size, p + 1) - 1
    i, k = row // b_nrows, row % b_nrows
    while p < end:
        if stopped(control):
            return
        begin, row_end = np.int64(indptr[row]), min(np.int64(indptr[row + 1]), end)
        first, last = np.int64(b_indptr[k]), np.int64(b_indptr[k + 1])
        # The next entry of the result is that of entry r of a and entry s of b.
        r, s = np.int64(a_indptr[i]), first
        if p > begin:  # only in the first row of a part
            r += (p - begin) // (last - first)
            s += (p - begin) % (last - first)
        while p < row_end:
            if stopped(control):
                return
            j, x = np.int64(a_indices[r]), value_at(avals, r)
            count = min(last - s, row_end - p)
            for offset in range(count):
                column = np.int64(b_indices[s + offset])
                indices[p + offset] = j * b_ncols + column
                put(values, p + offset, call(op, x, value_at(bvals, s + offset), i, j, k, column))
            p += count
            r += 1
            s = first
        row += 1
        k += 1
        if k == b_nrows:
            i, k = i + 1, 0
