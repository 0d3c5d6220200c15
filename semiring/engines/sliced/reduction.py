"""Reductions of rows and of all entries, and operations on the entries of each row whose results are vectors."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import numpy as np

from ...formats import CSR, Full, Pattern, VectorStore, array_module, index_dtype
from ...memory.arrays import device_of, rebased, to_device
from .. import registry
from ..registry import slicing_rule
from ..requests.operations import Located, LocateRows, ReduceRows, ReduceScalar, ScalarResult, scalar_value
from ..rows.bounds import slice_bounds
from ..rows.slices import note_slices, value_chunks, walk
from .vectors import Part, joined


@slicing_rule(ReduceRows)
def reduce_rows(q: ReduceRows, engine: str) -> VectorStore:
    """t(i) = (+)_j a(i, j): entry p of a slice is assigned column p, so that nothing is decoded."""
    a = q.a
    where = slice_bounds(a.pattern)
    (rows, entries), selected = where, where.filled()
    note_slices(rows, selected)
    xp, parts = array_module(a.device), []
    for s in selected:
        count = entries[s + 1] - entries[s]
        offsets = rebased(a.indptr[rows[s] : rows[s + 1] + 1], entries[s], index_dtype(count))
        columns = xp.arange(count, dtype=index_dtype(count))
        pattern = Pattern(rows[s + 1] - rows[s], count, offsets, columns)
        values = None if a.values is None else to_device(a.values[entries[s] : entries[s + 1]], a.device)
        folded = registry.run(ReduceRows(CSR(pattern, a.dtype, values, a.iso), q.monoid), engine)
        parts.append(Part(rows[s], rows[s + 1], folded))
    return joined(a.nrows, q.monoid.z, parts, engine, a.device)


@slicing_rule(ReduceScalar)
def reduce_scalar(q: ReduceScalar, engine: str) -> ScalarResult:
    """(+) over all entries: over the values as a vector, or over partial sums of chunks from host memory."""
    a = q.a
    assert isinstance(a, CSR)
    if a.values is None or device_of(a.values) == a.device:
        values = Full(a.nvals, a.dtype, a.values, a.iso, a.device)
        return cast(ScalarResult, registry.run(replace(q, a=values), engine))
    folds = [scalar_value(registry.run(replace(q, a=here), engine)) for _, here in value_chunks(a)]
    together = to_device(np.array(folds, q.monoid.z), a.device)
    return cast(ScalarResult, registry.run(replace(q, a=Full(len(folds), q.monoid.z, together)), engine))


@slicing_rule(LocateRows)
def locate_rows(q: LocateRows, engine: str) -> Located:
    """w(i) = min_j a(i, j), p(i) = the first such j: no row is in two slices."""
    a = q.a
    where = slice_bounds(a.pattern)
    rows, selected = where.rows, where.filled()
    note_slices(rows, selected)
    values, positions = [], []
    for part in walk(a, engine, rows, selected):
        found = registry.run(replace(q, a=part.rows), engine)
        values.append(Part(part.first, part.last, part.detached(found.values)))
        positions.append(Part(part.first, part.last, part.detached(found.positions)))
    return Located(
        joined(a.nrows, a.dtype, values, engine, a.device),
        joined(a.nrows, np.dtype(np.int64), positions, engine, a.device),
    )
