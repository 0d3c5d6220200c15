"""Vectors and matrices from arrays: grouping by row, sorting within rows, combining duplicates in input order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ...formats import CSR, Pattern, VectorStore, index_dtype
from ...memory.arrays import as_type
from ..registry import implements
from ..requests.operations import BuildMatrix, BuildVector, ImportCSR
from ..shared.validation import check_columns, check_offsets, repeated
from . import types
from .atomics import MANY_STEPS, prefetch, stopped
from .compile import inlined, kernel
from .index_rank import is_few, is_wide, ranked, spread_offsets
from .operands import Array, bits_of, kernel_array
from .rows import share, sort_range
from .scatter import scatter_entries
from .threads import parts_for, run, threads_for
from .transpose import offsets_from_counts
from .types import combine, converted, position, put, value_at

if TYPE_CHECKING:
    from ...operators.types import TypedBinary

Values = Array | np.generic


@implements(BuildVector, engine="cpu")
def build_vector(q: BuildVector) -> VectorStore:
    """t(indices[p]) = values[p]; duplicates are combined by `dup` in input order."""
    values = _given(q.values, q.iso)
    result, duplicate = scatter_entries(q.size, q.dtype, _index(q.indices), values, q.dup)
    if q.dup is None and duplicate is not None:
        raise repeated(duplicate)
    return result


@implements(BuildMatrix, engine="cpu")
def build_matrix(q: BuildMatrix) -> CSR:
    """t(rows[p], cols[p]) = values[p]; duplicates are combined by `dup` in input order."""
    return assemble(q.nrows, q.ncols, q.dtype, q.rows, q.cols, _given(q.values, q.iso), q.dup, keep_last=False)


@implements(ImportCSR, engine="cpu")
def import_csr(q: ImportCSR) -> CSR:
    """t(i, indices[p]) = values[p] for indptr[i] <= p < indptr[i + 1]; validated, and sorted where necessary."""
    nvals = int(q.indices.size)
    check_offsets(q.indptr, q.nrows, nvals)
    check_columns(q.indices, q.ncols)
    indptr = kernel_array(q.indptr.astype(index_dtype(nvals), copy=False))
    indices = kernel_array(q.indices.astype(index_dtype(q.ncols), copy=False))
    if _ascending(indptr, indices):
        pattern = Pattern(q.nrows, q.ncols, indptr, indices)
        if q.values is None:
            return CSR(pattern, q.dtype, None, q.iso)
        return CSR(pattern, q.dtype, kernel_array(as_type(q.values, q.dtype, copy=False)))
    return _sorted_rows(q.ncols, q.dtype, indptr, None, indices, _given(q.values, q.iso), q.dup, keep_last=False)


def assemble(
    nrows: int,
    ncols: int,
    dtype: np.dtype[Any],
    rows: Array,
    cols: Array,
    values: Values,
    dup: TypedBinary | None,
    *,
    keep_last: bool,
) -> CSR:
    """Build a matrix from triples in any order.  `keep_last`: without `dup` the last duplicate is kept."""
    rows, cols = _index(rows), _index(cols)
    nvals = rows.size
    if is_few(nvals):
        made = _lexsorted(nrows, ncols, dtype, rows, cols, values)
        if made is not None:
            return made
    numbers: Array | None = None
    height = nrows
    if is_wide(nrows, nvals):  # compute on the non-empty rows; the offsets of all rows are written once
        numbers, rows = ranked(rows)
        height = numbers.size
    offsets = index_dtype(nvals)
    threads = min(threads_for(nvals), max(1, 4 * nvals // max(height, 1)))
    indptr = np.empty(height + 1, offsets)
    counters = np.zeros((threads, height), offsets)
    run(_count, threads, rows, counters, work=nvals)
    offsets_from_counts(counters, indptr)
    keyed = nvals <= _MOST_KEYED and ncols <= 2**31
    grouped = np.empty(nvals, np.int64 if keyed else offsets)
    run(_group, threads, rows, cols if keyed else None, counters, grouped, work=nvals)
    order, keys = (None, grouped) if keyed else (grouped, None)
    made = _sorted_rows(ncols, dtype, indptr, order, cols, values, dup, numbers, keys, keep_last=keep_last)
    if numbers is None:
        return made
    indptr = spread_offsets(numbers, made.indptr, nrows)
    return CSR(Pattern(nrows, ncols, indptr, made.indices), dtype, made.values, made.iso)


def _lexsorted(nrows: int, ncols: int, dtype: np.dtype[Any], rows: Array, cols: Array, values: Values) -> CSR | None:
    """Build a matrix of triples by NumPy's sort; None where a position repeats.  Cost O(nvals log nvals + nrows)."""
    nvals = rows.size
    order = np.lexsort((cols, rows))
    rows, cols = rows[order], cols[order]
    if nvals and not ((rows[1:] != rows[:-1]) | (cols[1:] != cols[:-1])).all():
        return None
    numbers, starts = np.unique(rows, return_index=True)
    offsets = spread_offsets(numbers, np.append(starts, nvals).astype(index_dtype(nvals)), nrows)
    pattern = Pattern(nrows, ncols, offsets, cols.astype(index_dtype(ncols), copy=False))
    if isinstance(values, np.generic):
        return CSR(pattern, dtype, None, values)
    return CSR(pattern, dtype, as_type(values, dtype, copy=False)[order])


def _sorted_rows(
    ncols: int,
    dtype: np.dtype[Any],
    indptr: Array,
    order: Array | None,
    cols: Array,
    values: Values,
    dup: TypedBinary | None,
    numbers: Array | None = None,
    keys: Array | None = None,
    *,
    keep_last: bool,
) -> CSR:
    """Sort each row of entries grouped by row (entry p is input order[p]), and combine duplicates.

    numbers: the row numbers for error messages; None: their positions.  keys: (column, input) of each entry, instead of
    `order`.
    """
    nrows, nvals = indptr.size - 1, cols.size
    columns: Array | None = None
    if ncols > 2**31:  # sort ranks: a column and a position within the row share one 64-bit key
        columns, cols = np.unique(cols, return_inverse=True)
    parts = parts_for(nvals + nrows)
    distinct = np.zeros(nrows + 1, np.int64)
    starts, unsorted = (indptr, cols) if keys is None else (None, None)  # keys hold the position within the row, or not
    keys = np.empty(nvals, np.int64) if keys is None else keys
    run(_sort, parts, indptr, order, unsorted, keys, distinct)
    np.cumsum(distinct, out=distinct)
    total = int(distinct[nrows])
    offsets = indptr if total == nvals else distinct.astype(index_dtype(total))
    if total < nvals and dup is None and not keep_last:
        i, j = _first_repeat(indptr, distinct, keys)
        raise repeated((i if numbers is None else int(numbers[i]), j if columns is None else int(columns[j])))
    indices = np.empty(total, cols.dtype if columns is not None else index_dtype(ncols))
    iso = values if isinstance(values, np.generic) and (total == nvals or dup is None) else None
    made = None if iso is not None else np.empty(total, dtype)
    given = None if iso is not None else values
    if total == nvals:  # no duplicates: values are only moved, which needs no kernel for their type
        moved = None if made is None else bits_of(as_type(cast("Array", values), dtype, copy=False))
        run(_unpack, parts, indptr, starts, order, keys, moved, indices, bits_of(made))
    else:
        op = None if dup is None else types.binary(dup)
        run(_fold, parts, indptr, starts, order, keys, given, op, offsets, indices, made)
    if columns is not None:
        indices = columns[indices].astype(index_dtype(ncols), copy=False)
    return CSR(Pattern(nrows, ncols, offsets, indices), dtype, made, iso)


@kernel
def _count(t, threads, control, rows, counters):
    """counters[t, i] = the number of entries of row i in this part."""
    mine = counters[t]
    for p in range(t * rows.size // threads, (t + 1) * rows.size // threads):
        if p & MANY_STEPS == 0 and stopped(control):
            return
        mine[rows[p]] += 1


@kernel
def _group(t, threads, control, rows, cols, cursors, grouped):
    """grouped[indptr[i]:indptr[i + 1]] = the input positions of row i, ascending; with `cols` (column, position)."""
    mine = cursors[t]
    for p in range(t * rows.size // threads, (t + 1) * rows.size // threads):
        if p & MANY_STEPS == 0 and stopped(control):
            return
        i = np.uintp(rows[np.uintp(p)])
        target = mine[i]
        mine[i] = target + 1
        grouped[np.uintp(target)] = p if cols is None else (np.int64(cols[np.uintp(p)]) << 32) | p


_LOW = np.int64(0xFFFFFFFF)
# Entries whose input positions fit in the low half of a key.
_MOST_KEYED = 1 << 32
# Entries between a prefetch of a value and its use, as in `transpose`.
_AHEAD = 32


@kernel
def _sort(t, threads, control, indptr, order, cols, keys, distinct):
    """Sort the keys of each row; distinct[i + 1] = the columns of row i.

    cols: the columns, to make keys (column, position within the row) of; None: there are keys (column, input position).
    """
    for i in range(share(indptr, t, threads), share(indptr, t + 1, threads)):
        start, end = np.int64(indptr[i]), np.int64(indptr[i + 1])
        sorted_already = True
        for p in range(start, end):
            if cols is not None:
                keys[p] = (np.int64(cols[position(order, p)]) << 32) | (p - start)
            sorted_already = sorted_already and (p == start or keys[p - 1] < keys[p])
        if not sorted_already:
            sort_range(keys, start, end)
        found = 0
        for p in range(start, end):
            found += p == start or keys[p] >> 32 != keys[p - 1] >> 32
        distinct[i + 1] = found


@inlined
def _input(starts, order, i, key):
    """Return the input position of an entry of row i.  starts: the row offsets; None: the key holds it."""
    if starts is None:
        return key & _LOW
    return position(order, np.int64(starts[i]) + (key & _LOW))


@inlined
def _prefetch_value(starts, keys, p, values):
    """Prefetch the value of an entry to come."""
    if starts is None and p + _AHEAD < keys.size:
        prefetch(values, keys[np.uintp(p + _AHEAD)] & _LOW)


@kernel
def _unpack(t, threads, control, indptr, starts, order, keys, values, indices, made):
    """Write the column and the value of each entry."""
    for i in range(share(indptr, t, threads), share(indptr, t + 1, threads)):
        for p in range(np.int64(indptr[i]), np.int64(indptr[i + 1])):
            _prefetch_value(starts, keys, p, values)
            indices[np.uintp(p)] = keys[np.uintp(p)] >> 32
            put(made, p, value_at(values, _input(starts, order, i, keys[np.uintp(p)])))


@kernel
def _fold(t, threads, control, indptr, starts, order, keys, values, dup, offsets, indices, made):
    """Write distinct columns; values of equal columns are combined by `dup` in input order, without it the last."""
    for i in range(share(indptr, t, threads), share(indptr, t + 1, threads)):
        out = np.int64(offsets[i]) - 1
        for p in range(np.int64(indptr[i]), np.int64(indptr[i + 1])):
            _prefetch_value(starts, keys, p, values)
            value = converted(made, value_at(values, _input(starts, order, i, keys[p])))
            if p == indptr[i] or keys[p] >> 32 != keys[p - 1] >> 32:
                out += 1
                indices[out] = keys[p] >> 32
                put(made, out, value)
            else:
                put(made, out, converted(made, combine(dup, value_at(made, out), value)))


def _first_repeat(indptr: Array, distinct: Array, keys: Array) -> tuple[int, int]:
    """Return row and column (rank) of the first duplicate in row order."""
    i = int(np.flatnonzero(np.diff(distinct) != np.diff(indptr))[0])
    cols = keys[indptr[i] : indptr[i + 1]] >> 32
    return i, int(cols[np.flatnonzero(cols[1:] == cols[:-1])[0]])


def _ascending(indptr: Array, indices: Array) -> bool:
    """Return whether every row is strictly ascending."""
    if indices.size < 2:
        return True
    rising = indices[1:] > indices[:-1]
    starts = indptr[1:-1]
    rising[starts[(starts > 0) & (starts < indices.size)] - 1] = True
    return bool(rising.all())


def _given(values: Array | None, iso: np.generic | None) -> Values:
    if values is not None:
        return kernel_array(values)
    assert iso is not None
    return iso


def _index(array: Array) -> Array:
    """Return indices as int32 or int64."""
    return kernel_array(array if array.dtype in (np.int32, np.int64) else array.astype(np.int64))
