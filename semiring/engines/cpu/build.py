"""Vectors and matrices from arrays: grouping by row, sorting within rows, combining repeats in the order given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...formats import CSR, Pattern, VectorStore, index_dtype
from ..refusals import check_columns, check_offsets, repeated
from ..registry import implements
from ..spec import BuildMatrix, BuildVector, ImportCSR
from . import types
from .atomics import stopped
from .compile import kernel
from .members import is_few, is_wide, ranked, spread_offsets
from .operands import Array, plain
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
    """t(indices[p]) = values[p]; repeats combine by `dup` in the order given."""
    values = _given(q.values, q.iso)
    answer, again = scatter_entries(q.size, q.dtype, _index(q.indices), values, q.dup)
    if q.dup is None and again is not None:
        raise repeated(again)
    return answer


@implements(BuildMatrix, engine="cpu")
def build_matrix(q: BuildMatrix) -> CSR:
    """t(rows[p], cols[p]) = values[p]; repeats combine by `dup` in the order given."""
    return assemble(q.nrows, q.ncols, q.dtype, q.rows, q.cols, _given(q.values, q.iso), q.dup, keep_last=False)


@implements(ImportCSR, engine="cpu")
def import_csr(q: ImportCSR) -> CSR:
    """t(i, indices[p]) = values[p] for indptr[i] <= p < indptr[i + 1]; validated, sorted where it was not."""
    nvals = int(q.indices.size)
    check_offsets(q.indptr, q.nrows, nvals)
    check_columns(q.indices, q.ncols)
    indptr = plain(q.indptr.astype(index_dtype(nvals), copy=False))
    indices = plain(q.indices.astype(index_dtype(q.ncols), copy=False))
    if _ascending(indptr, indices):
        pattern = Pattern(q.nrows, q.ncols, indptr, indices)
        if q.values is None:
            return CSR(pattern, q.dtype, None, q.iso)
        return CSR(pattern, q.dtype, plain(q.values.astype(q.dtype, copy=False)))
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
    """A matrix from triples in any order.  `keep_last`: without `dup` the last of equal positions stays."""
    rows, cols = _index(rows), _index(cols)
    nvals = rows.size
    if is_few(nvals):
        made = _lexsorted(nrows, ncols, dtype, rows, cols, values)
        if made is not None:
            return made
    numbers: Array | None = None
    height = nrows
    if is_wide(nrows, nvals):  # the work is on the rows that have entries; the offsets of all are written once
        numbers, rows = ranked(rows)
        height = numbers.size
    offsets = index_dtype(nvals)
    threads = min(threads_for(nvals), max(1, 4 * nvals // max(height, 1)))
    indptr, order = np.empty(height + 1, offsets), np.empty(nvals, offsets)
    counters = np.zeros((threads, height), offsets)
    run(_count, threads, rows, counters, work=nvals)
    offsets_from_counts(counters, indptr)
    run(_group, threads, rows, counters, order, work=nvals)
    made = _sorted_rows(ncols, dtype, indptr, order, cols, values, dup, numbers, keep_last=keep_last)
    if numbers is None:
        return made
    indptr = spread_offsets(numbers, made.indptr, nrows)
    return CSR(Pattern(nrows, ncols, indptr, made.indices), dtype, made.values, made.iso)


def _lexsorted(nrows: int, ncols: int, dtype: np.dtype[Any], rows: Array, cols: Array, values: Values) -> CSR | None:
    """The matrix of triples by NumPy's sort; None where a position repeats.  Cost O(nvals log nvals + nrows)."""
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
    return CSR(pattern, dtype, values.astype(dtype, copy=False)[order])


def _sorted_rows(
    ncols: int,
    dtype: np.dtype[Any],
    indptr: Array,
    order: Array | None,
    cols: Array,
    values: Values,
    dup: TypedBinary | None,
    numbers: Array | None = None,
    *,
    keep_last: bool,
) -> CSR:
    """Rows that are grouped already (entry p of a row is given at order[p]), each sorted, repeats combined.

    numbers: what errors call the rows; None: their positions.
    """
    nrows, nvals = indptr.size - 1, cols.size
    columns: Array | None = None
    if ncols > 2**31:  # sort ranks: a column and a place within the row share one 64-bit key
        columns, cols = np.unique(cols, return_inverse=True)
    parts = parts_for(nvals + nrows)
    keys = np.empty(nvals, np.int64)
    distinct = np.zeros(nrows + 1, np.int64)
    run(_sort, parts, indptr, order, cols, keys, distinct)
    np.cumsum(distinct, out=distinct)
    total = int(distinct[nrows])
    offsets = indptr if total == nvals else distinct.astype(index_dtype(total))
    if total < nvals and dup is None and not keep_last:
        i, j = _first_repeat(indptr, distinct, keys)
        raise repeated((i if numbers is None else int(numbers[i]), j if columns is None else int(columns[j])))
    indices = np.empty(total, cols.dtype if columns is not None else index_dtype(ncols))
    iso = values if isinstance(values, np.generic) and (total == nvals or dup is None) else None
    made = None if iso is not None else np.empty(total, dtype)
    if total == nvals:  # nothing to combine: values only move, and need no kernel of their own
        sources = np.empty(nvals, index_dtype(nvals))
        run(_unpack, parts, indptr, order, keys, indices, sources)
        if made is not None:
            assert isinstance(values, np.ndarray)
            np.take(values.astype(dtype, copy=False), sources, out=made)
    else:
        folded = None if iso is not None else values
        op = None if dup is None else types.binary(dup)
        run(_fold, parts, indptr, order, keys, folded, op, offsets, indices, made)
    if columns is not None:
        indices = columns[indices].astype(index_dtype(ncols), copy=False)
    return CSR(Pattern(nrows, ncols, offsets, indices), dtype, made, iso)


# Entries (less one, a power of two) after which a thread looks whether the call is given up.
_POLLED = (1 << 16) - 1


@kernel
def _count(t: int, threads: int, control: Any, rows: Any, counters: Any) -> None:
    """counters[t, i] = how often row i is given in this part."""
    mine = counters[t]
    for p in range(t * rows.size // threads, (t + 1) * rows.size // threads):
        if p & _POLLED == 0 and stopped(control):
            return
        mine[rows[p]] += 1


@kernel
def _group(t: int, threads: int, control: Any, rows: Any, places: Any, order: Any) -> None:
    """order[indptr[i]:indptr[i + 1]] are the places where row i is given, ascending."""
    mine = places[t]
    for p in range(t * rows.size // threads, (t + 1) * rows.size // threads):
        if p & _POLLED == 0 and stopped(control):
            return
        place = mine[rows[p]]
        mine[rows[p]] = place + 1
        order[place] = p


_LOW = np.int64(0xFFFFFFFF)


@kernel
def _sort(t: int, threads: int, control: Any, indptr: Any, order: Any, cols: Any, keys: Any, distinct: Any) -> None:
    """keys[p] = (column, place within the row), ascending in each row; distinct[i + 1] = columns of row i."""
    for i in range(share(indptr, t, threads), share(indptr, t + 1, threads)):
        start, end = np.int64(indptr[i]), np.int64(indptr[i + 1])
        sorted_already = True
        for p in range(start, end):
            keys[p] = (np.int64(cols[position(order, p)]) << 32) | (p - start)
            sorted_already = sorted_already and (p == start or keys[p - 1] < keys[p])
        if not sorted_already:
            sort_range(keys, start, end)
        found = 0
        for p in range(start, end):
            found += p == start or keys[p] >> 32 != keys[p - 1] >> 32
        distinct[i + 1] = found


@kernel
def _unpack(t: int, threads: int, control: Any, indptr: Any, order: Any, keys: Any, indices: Any, sources: Any) -> None:
    """Columns, and where each entry was given."""
    for i in range(share(indptr, t, threads), share(indptr, t + 1, threads)):
        for p in range(indptr[i], indptr[i + 1]):
            indices[p] = keys[p] >> 32
            sources[p] = position(order, np.int64(indptr[i]) + (keys[p] & _LOW))


@kernel
def _fold(
    t: int,
    threads: int,
    control: Any,
    indptr: Any,
    order: Any,
    keys: Any,
    values: Any,
    dup: Any,
    offsets: Any,
    indices: Any,
    made: Any,
) -> None:
    """Columns without repeats; values of equal columns combined by `dup` in the order given, without it the last."""
    for i in range(share(indptr, t, threads), share(indptr, t + 1, threads)):
        place = np.int64(offsets[i]) - 1
        for p in range(indptr[i], indptr[i + 1]):
            value = converted(made, value_at(values, position(order, np.int64(indptr[i]) + (keys[p] & _LOW))))
            if p == indptr[i] or keys[p] >> 32 != keys[p - 1] >> 32:
                place += 1
                indices[place] = keys[p] >> 32
                put(made, place, value)
            else:
                put(made, place, converted(made, combine(dup, value_at(made, place), value)))


def _first_repeat(indptr: Array, distinct: Array, keys: Array) -> tuple[int, int]:
    """Row and column (rank) of the first entry, row by row, that is given more than once."""
    i = int(np.flatnonzero(np.diff(distinct) != np.diff(indptr))[0])
    cols = keys[indptr[i] : indptr[i + 1]] >> 32
    return i, int(cols[np.flatnonzero(cols[1:] == cols[:-1])[0]])


def _ascending(indptr: Array, indices: Array) -> bool:
    """True if every row is strictly ascending."""
    if indices.size < 2:
        return True
    rising = indices[1:] > indices[:-1]
    starts = indptr[1:-1]
    rising[starts[(starts > 0) & (starts < indices.size)] - 1] = True
    return bool(rising.all())


def _given(values: Array | None, iso: np.generic | None) -> Values:
    if values is not None:
        return plain(values)
    assert iso is not None
    return iso


def _index(array: Array) -> Array:
    """Indices as int32 or int64."""
    return plain(array if array.dtype in (np.int32, np.int64) else array.astype(np.int64))
