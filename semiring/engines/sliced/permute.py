"""Permutation of rows and columns: columns in slices of the stored rows, then each row to its position."""

from __future__ import annotations

import numpy as np

from ...formats import CSR, Pattern, array_module, index_dtype
from ...memory.allocation import require
from ..registry import run, slicing_rule
from ..requests.storage import Permute
from ..rows.bounds import slice_bounds
from ..rows.slices import note_slices, walk


@slicing_rule(Permute)
def permute(q: Permute, engine: str) -> CSR:
    """t(i, cols[j]) = a(rows[i], j).  Memory: the result, and a few times a slice."""
    a = q.a
    xp = array_module(a.device)
    index, offset = index_dtype(a.ncols), index_dtype(a.nvals)
    width = index.itemsize + (0 if a.values is None else a.dtype.itemsize)
    require("permute", a.device, a.nvals * width + (a.nrows + 1) * (offset.itemsize + 16))
    offsets = xp.zeros(a.nrows + 1, dtype=offset)
    xp.cumsum((a.indptr[1:] - a.indptr[:-1])[q.rows], dtype=offset, out=offsets[1:])
    shift = xp.empty(a.nrows, dtype=np.int64)  # entry p of row i goes to p + shift[i]
    shift[q.rows] = offsets[:-1]
    shift -= a.indptr[:-1]
    indices = xp.empty(a.nvals, dtype=index)
    values = None if a.values is None else xp.empty(a.nvals, dtype=a.dtype)
    where = slice_bounds(a.pattern)
    (rows, entries), selected = where, where.filled()
    note_slices(rows, selected)
    for s, row_slice in zip(selected, walk(a, engine, rows, selected), strict=True):
        part = row_slice.rows
        row_identity = xp.arange(part.nrows, dtype=q.rows.dtype)
        made = run(Permute(part, row_identity, q.cols), engine)
        positions = xp.arange(part.nvals, dtype=np.int64)
        row = xp.searchsorted(made.indptr, positions, side="right") - 1
        positions += entries[s]
        positions += shift[rows[s] : rows[s + 1]][row]
        indices[positions] = made.indices
        if values is not None:
            values[positions] = made.values
    return CSR(Pattern(a.nrows, a.ncols, offsets, indices), a.dtype, values, a.iso)
