"""Parts of a matrix, matrices written into a region, transposes, slices of rows, and construction."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, cast

import numpy as np

from ...exceptions import DuplicateIndex
from ...formats import CSR, Array, HyperPattern, Pattern, VectorStore, array_module, index_dtype
from ...formats.vectors import empty_vector
from ...memory.arrays import device_of, to_device, to_host
from .. import registry
from ..registry import hypersparse_rule
from ..requests.operands import Index
from ..requests.operations import BuildMatrix, ExtractMatrix, ExtractRow, ScatterMatrix, Transpose
from ..requests.storage import Slices
from ..shared.validation import repeated
from .elementwise import note, rows_within
from .lists import INT64, compacted, distinct, positions, restored, rows_of


@hypersparse_rule(ExtractMatrix)
def extract_matrix(q: ExtractMatrix, engine: str) -> CSR:
    """t(p, q) = a(rows[p], cols[q])."""
    listed = rows_of(q.a)
    note(listed)
    shape, count = (q.rows.count, q.cols.count), int(listed.rows.size)
    if q.rows.is_all:
        rows, chosen = listed.rows, Index(count, count)
    else:
        rows, here = rows_within(listed.rows, q.rows)
        chosen = Index(count, int(here.size), array=here.astype(index_dtype(count), copy=False))
    if chosen.is_all and q.cols.is_all:
        made = listed.matrix
    else:
        made = registry.run(ExtractMatrix(listed.matrix, chosen, q.cols), engine)
    return restored(made, shape, rows)


@hypersparse_rule(ExtractRow)
def extract_row(q: ExtractRow, engine: str) -> VectorStore:
    """t(j) = a(row, j), a vector of size ncols.  Synchronizes."""
    listed = rows_of(q.a)
    note(listed)
    at = row_position(listed.rows, q.row)
    if at is None:
        return empty_vector(q.a.ncols, q.a.dtype, q.a.device)
    return cast(VectorStore, registry.run(ExtractRow(listed.matrix, at), engine))


def row_position(rows: Array, row: int) -> int | None:
    """Return the position of a row in the list, None if it is not listed.  Synchronizes."""
    xp = array_module("cpu" if isinstance(rows, np.ndarray) else "cuda")
    at = int(to_host(xp.searchsorted(rows, xp.asarray([row], dtype=rows.dtype)))[0])
    return at if at < rows.size and int(to_host(rows[at : at + 1])[0]) == row else None


@hypersparse_rule(ScatterMatrix)
def scatter_matrix(q: ScatterMatrix, engine: str) -> CSR:
    """t(rows[p], cols[q]) = a(p, q), shape (rows.size, cols.size)."""
    listed = rows_of(q.a)
    note(listed)
    source = listed.rows
    if q.rows.array is None:
        target = source.astype(INT64, copy=False) * q.rows.step + q.rows.start
    else:
        target = q.rows.array[source].astype(INT64, copy=False)
    rows = distinct(target)
    index = Index(int(rows.size), int(target.size), array=positions(rows, target))
    made = registry.run(replace(q, a=listed.matrix, rows=index), engine)
    return restored(made, (q.rows.size, q.cols.size), rows)


@hypersparse_rule(Transpose)
def transpose(q: Transpose, engine: str) -> CSR:
    """t(j, i) = a(i, j): the columns that have entries are listed."""
    listed = compacted(q.a)
    note(listed)
    made = registry.run(Transpose(listed.matrix), engine)
    assert listed.columns is not None
    return restored(made, (q.a.ncols, q.a.nrows), listed.columns, listed.rows)


@hypersparse_rule(Slices)
def row_slices(q: Slices, engine: str) -> Iterator[CSR]:
    """Yield the rows of each slice with an offset for each of its rows.  Synchronizes."""
    rows, _, matrix = rows_of(q.a)
    xp, pattern = array_module(q.a.device), matrix.pattern
    assert isinstance(pattern, Pattern)
    ends = np.array([q.bounds[s + side] for s in q.wanted for side in (0, 1)], INT64)
    at = to_host(xp.searchsorted(rows, to_device(ends, q.a.device).astype(INT64))).tolist()  # synchronizes
    for k, s in enumerate(q.wanted):
        first, last, low, high = q.bounds[s], q.bounds[s + 1], at[2 * k], at[2 * k + 1]
        bounds = to_host(pattern.indptr[low : high + 1])  # synchronizes
        begin, end = int(bounds[0]), int(bounds[-1])
        offsets = xp.zeros(last - first + 1, dtype=index_dtype(end - begin))
        offsets[1:][rows[low:high] - first] = xp.diff(pattern.indptr[low : high + 1])
        offsets = xp.cumsum(offsets, dtype=offsets.dtype)
        values = None if matrix.values is None else matrix.values[begin:end]
        yield CSR(Pattern(last - first, q.a.ncols, offsets, pattern.indices[begin:end]), q.a.dtype, values, q.a.iso)


def built(q: BuildMatrix, engine: str) -> CSR:
    """Return a hypersparse matrix from (row, column, value) triples; as `BuildMatrix`."""
    if int(q.rows.size) <= 1:
        return _one_entry(q)
    rows = distinct(q.rows)
    columns = distinct(q.cols) if index_dtype(q.ncols) == INT64 else None
    ncols, cols = (q.ncols, q.cols) if columns is None else (int(columns.size), positions(columns, q.cols))
    request = replace(q, nrows=int(rows.size), ncols=ncols, rows=positions(rows, q.rows), cols=cols)
    try:
        made = registry.run(request, engine)
    except DuplicateIndex as error:
        raise _repeated(to_host(q.rows), to_host(q.cols)) from error
    return restored(made, (q.nrows, q.ncols), rows, columns)


def _one_entry(q: BuildMatrix) -> CSR:
    """Return the matrix of at most one entry, which needs no sort; it keeps the arrays of the request."""
    offsets = to_device(np.arange(int(q.rows.size) + 1, dtype=np.int32), device_of(q.rows))
    return CSR(HyperPattern(q.nrows, q.ncols, q.rows, offsets, q.cols), q.dtype, q.values, q.iso)


def _repeated(rows: np.ndarray[Any, Any], columns: np.ndarray[Any, Any]) -> DuplicateIndex:
    """Return the error for the first position that is given twice."""
    order = np.lexsort((columns, rows))
    rows, columns = rows[order], columns[order]
    at = int(np.flatnonzero((rows[1:] == rows[:-1]) & (columns[1:] == columns[:-1]))[0])
    return repeated((int(rows[at]), int(columns[at])))
