"""Rows and columns in another order: columns slice by slice as the rows lie, then each row to its place."""

from __future__ import annotations

import numpy as np

from ...formats import CSR, Pattern, array_module, index_dtype
from ...memory.allocation import require
from ..registry import run, slices
from ..spec_forms import Permute
from .bounds import cuts
from .pieces import note_slices, walk


@slices(Permute)
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
    where = cuts(a.pattern)
    (rows, entries), wanted = where, where.filled()
    note_slices(rows, wanted)
    for s, piece in zip(wanted, walk(a, engine, rows, wanted), strict=True):
        part = piece.rows
        as_they_lie = xp.arange(part.nrows, dtype=q.rows.dtype)
        made = run(Permute(part, as_they_lie, q.cols), engine)
        places = xp.arange(part.nvals, dtype=np.int64)
        row = xp.searchsorted(made.indptr, places, side="right") - 1
        places += entries[s]
        places += shift[rows[s] : rows[s + 1]][row]
        indices[places] = made.indices
        if values is not None:
            values[places] = made.values
    return CSR(Pattern(a.nrows, a.ncols, offsets, indices), a.dtype, values, a.iso)
