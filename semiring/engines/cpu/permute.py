"""Permutation of rows and columns: rows are copied to their new positions, columns renumbered and sorted."""

from __future__ import annotations

import numpy as np

from ...exceptions import NotSupported
from ...formats import CSR, Pattern, index_dtype
from ..registry import implements
from ..requests.storage import Permute
from .atomics import stopped
from .compile import kernel
from .operands import bits_of, kernel_array, rows_of
from .rows import share, sort_range
from .threads import run, threads_for
from .types import put, value_at


@implements(Permute, engine="cpu")
def permute(q: Permute) -> CSR:
    """t(i, cols[j]) = a(rows[i], j), in one pass over the entries; each thread needs memory for its longest row."""
    a = q.a
    indptr, indices = rows_of(a)
    rows, cols = kernel_array(q.rows), kernel_array(q.cols)
    lengths = np.diff(indptr)[rows]
    made_indptr = np.zeros(a.nrows + 1, index_dtype(a.nvals))
    np.cumsum(lengths, dtype=made_indptr.dtype, out=made_indptr[1:])
    made_indices = np.empty(a.nvals, index_dtype(a.ncols))
    values = None if a.values is None else np.empty(a.nvals, a.dtype)
    threads = threads_for(a.nvals)
    longest = int(lengths.max(initial=0))
    # Where values move too, a column and the entry's position in its row are sorted together, as one 64-bit key.
    bits = longest.bit_length()
    if values is not None and bits + a.ncols.bit_length() > 63:
        raise NotSupported(f"permute: {a.ncols} columns and a row of {longest} entries do not fit into one 64-bit key")
    keys = np.empty((threads, 0 if values is None else longest), np.int64)
    parts = (indptr, indices, bits_of(a.values), rows, cols, bits, keys)
    run(_permute, threads, *parts, made_indptr, made_indices, bits_of(values), work=a.nvals)
    return CSR(Pattern(a.nrows, a.ncols, made_indptr, made_indices), a.dtype, values, a.iso)


@kernel
def _permute(t, threads, control, indptr, indices, values, rows, cols, bits, keys, out_indptr, out_indices, out_values):
    low = (np.int64(1) << bits) - 1
    mine = keys[t]
    for i in range(share(out_indptr, t, threads), share(out_indptr, t + 1, threads)):
        if stopped(control):
            return
        start, end = np.int64(out_indptr[i]), np.int64(out_indptr[i + 1])
        source = np.int64(indptr[rows[i]])
        if out_values is None:
            for p in range(start, end):
                out_indices[p] = cols[indices[source + p - start]]
            sort_range(out_indices, start, end)
            continue
        for k in range(end - start):
            mine[k] = (np.int64(cols[indices[source + k]]) << bits) | k
        sort_range(mine, 0, end - start)
        for k in range(end - start):
            out_indices[start + k] = mine[k] >> bits
            put(out_values, start + k, value_at(values, source + (mine[k] & low)))
