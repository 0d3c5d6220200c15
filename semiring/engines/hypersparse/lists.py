"""Ascending lists of rows and columns: which are listed, matrices renumbered by them, and results numbered back."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any, NamedTuple, TypeGuard

import numpy as np

from ...formats import (
    CSR,
    Array,
    Full,
    HyperPattern,
    IndexList,
    Pattern,
    VectorStore,
    array_module,
    index_dtype,
)
from ...formats.hypersparse import listed_rows, settled
from ...formats.placement import place
from ...memory.arrays import as_type, segments_of, to_host
from .. import registry
from ..requests.operands import Index, Mask, Rows
from ..requests.operations import Convert, ExtractVector, Transpose
from ..rows.residency import resident

INT64 = np.dtype(np.int64)
# The numbers that are united on the host: a copy of them takes less time than the launches of a sort.
_FEW = 256


class Listed(NamedTuple):
    """A matrix of which only listed rows, and perhaps columns, are numbered.

    rows, columns: ascending; row p of `matrix` is row ``rows[p]`` of the whole.  columns: None if all are numbered.
    matrix: uncompressed and device-resident.
    """

    rows: Array
    columns: Array | None
    matrix: CSR


def is_listed(a: Any) -> TypeGuard[CSR]:
    """Return True for a hypersparse matrix."""
    return isinstance(a, CSR) and isinstance(a.pattern, HyperPattern)


def can_list(a: CSR) -> bool:
    """Return True if `rows_of` accepts the matrix."""
    return is_listed(a) or (isinstance(a.pattern, Pattern) and a.placement == "device")


def rows_of(a: CSR) -> Listed:
    """Return the rows that have entries.  Synchronizes for a matrix that is not hypersparse."""
    known: Listed | None = a.cache.get("listed")
    if known is None:
        held = place(a, "device")
        pattern = held.pattern
        if isinstance(pattern, HyperPattern):
            rows, inner = pattern.rows, pattern.inner
        else:
            assert isinstance(pattern, Pattern)
            rows, offsets = listed_rows(pattern.indptr, None)
            rows = rows.astype(index_dtype(a.nrows), copy=False)
            inner = Pattern(int(rows.size), a.ncols, offsets, pattern.indices)
        known = a.cache["listed"] = Listed(rows, None, CSR(inner, held.dtype, held.values, held.iso))
    return known


def compacted(a: CSR) -> Listed:
    """Return the rows and the columns that have entries; cached with the matrix.  Cost O(nvals log nvals) once."""
    known: Listed | None = a.cache.get("compacted")
    if known is None:
        rows, _, inner = rows_of(a)
        columns = distinct(inner.indices)
        if inner.nvals == 1:  # the arrays of a matrix of one entry in one column: offsets 0 and 1, column 0
            pattern = Pattern(1, 1, inner.indptr, inner.indptr[:1])
            compact = CSR(pattern, inner.dtype, inner.values, inner.iso)
        else:
            compact = renumbered(inner, columns)
        known = a.cache["compacted"] = Listed(rows, columns, compact)
    return known


def distinct(*lists: Array) -> Array:
    """Return the distinct numbers of all lists, ascending.  Synchronizes on the GPU, except for one of one number."""
    given = list({id(numbers): numbers for numbers in lists}.values())
    if len(given) == 1 and given[0].size <= 1:
        return given[0]
    xp = array_module("cpu" if isinstance(given[0], np.ndarray) else "cuda")
    return xp.unique(given[0] if len(given) == 1 else xp.concatenate(given))


def few(*arrays: Array) -> bool:
    """Return True for device arrays so short that a copy of them takes less time than a launch or two."""
    return not isinstance(arrays[0], np.ndarray) and sum(int(array.size) for array in arrays) <= _FEW


def together_on_host(*arrays: Array) -> list[np.ndarray[Any, Any]]:
    """Return device arrays on the host, by one copy, as one type that holds them all.  Synchronizes."""
    whole = to_host(array_module("cuda").concatenate(arrays))
    return np.split(whole, list(itertools.accumulate(int(array.size) for array in arrays))[:-1])


def positions(numbers: Array, wanted: Array) -> Array:
    """Return the position in an ascending list of each wanted number: of itself, or of the next larger one."""
    xp = array_module("cpu" if isinstance(numbers, np.ndarray) else "cuda")
    found = xp.searchsorted(numbers, wanted.astype(numbers.dtype, copy=False))
    return found.astype(index_dtype(int(numbers.size)), copy=False)


def found_in(numbers: Array, wanted: Array) -> tuple[Array, Array]:
    """Return (p, q): ``wanted[p]`` is ``numbers[q]``, for the wanted numbers in the ascending list.  Synchronizes."""
    xp = array_module("cpu" if isinstance(numbers, np.ndarray) else "cuda")
    if not numbers.size:
        nothing = xp.zeros(0, dtype=INT64)
        return nothing, nothing
    at = xp.searchsorted(numbers, wanted.astype(numbers.dtype, copy=False))
    at = xp.minimum(at, numbers.size - 1)
    here = xp.flatnonzero(numbers[at] == wanted)
    return here, at[here]


def renumbered(a: CSR, columns: Array, shared: Array | None = None) -> CSR:
    """Return the matrix with columns numbered by an ascending list of all that occur.

    shared: the list by which they are numbered already.
    """
    pattern = a.pattern
    assert isinstance(pattern, Pattern)
    if columns is shared:
        return a
    numbers = pattern.indices if shared is None else shared[pattern.indices]
    made = Pattern(a.nrows, int(columns.size), pattern.indptr, positions(columns, numbers))
    return CSR(made, a.dtype, a.values, a.iso)


def laid_out(a: CSR, rows: Array, onto: Array) -> CSR:
    """Return a matrix of the listed rows as one of the rows `onto`, which include them; the others are empty."""
    pattern = a.pattern
    assert isinstance(pattern, Pattern)
    if rows is onto:
        return a
    xp = array_module(a.device)
    before = xp.searchsorted(rows, onto.astype(rows.dtype, copy=False))
    offsets = xp.concatenate([pattern.indptr[before], pattern.indptr[-1:]])
    made = Pattern(int(onto.size), a.ncols, offsets, pattern.indices)
    return CSR(made, a.dtype, a.values, a.iso)


def restored(t: CSR, shape: tuple[int, int], rows: Array, columns: Array | None = None) -> CSR:
    """Return the result whose rows, and perhaps columns, are numbered by lists, in the format that the rule selects.

    Rows without entries are no longer listed.  Synchronizes.
    """
    t = resident(t)
    if few(t.indptr) and bool((np.diff(to_host(t.indptr)) > 0).all()):  # one copy instead of a compaction
        used, offsets = rows, t.indptr
    else:
        used, offsets = listed_rows(t.indptr, rows)
    indices = t.indices if columns is None else columns[t.indices]
    pattern = HyperPattern(
        *shape,
        used.astype(index_dtype(shape[0]), copy=False),
        offsets,
        indices.astype(index_dtype(shape[1]), copy=False),
    )
    return settled(CSR(pattern, t.dtype, t.values, t.iso))


def row_numbers(rows: Array, offsets: Array, nvals: int) -> Array:
    """Return the listed row of each entry, as int64."""
    return as_type(rows[segments_of(offsets, nvals)], INT64, copy=False)


def transpose_of(a: CSR, engine: str) -> Rows:
    """Return the transposed orientation of a matrix, derived when it is read and cached with it."""

    def derive() -> CSR:
        made: CSR | None = a.cache.get("transpose")
        if made is None:
            made = a.cache["transpose"] = registry.run(Transpose(a), engine)
        return made

    return Rows(a.cache.get("transpose"), derive)


def index_list(u: VectorStore, engine: str) -> IndexList:
    """Return a vector as an index list."""
    made: IndexList = u if isinstance(u, IndexList) else registry.run(Convert(u, "index"), engine)
    return made


def gathered(u: VectorStore, numbers: Array, engine: str) -> VectorStore:
    """Return t(p) = u(numbers[p]) for an ascending list."""
    count = int(numbers.size)
    if isinstance(u, Full):
        values = None if u.values is None else u.values[numbers]
        return Full(count, u.dtype, values, u.iso, u.device)
    if isinstance(u, IndexList):
        here, there = found_in(u.indices, numbers)
        values = None if u.values is None else u.values[there]
        return IndexList(count, u.dtype, here.astype(index_dtype(count), copy=False), values, u.iso)
    index = Index(u.size, count, array=numbers.astype(index_dtype(u.size), copy=False))
    made: VectorStore = registry.run(ExtractVector(u, index), engine)
    return made


def spread(t: VectorStore, numbers: Array, size: int, engine: str) -> IndexList:
    """Return the vector u(numbers[p]) = t(p) of this size, for an ascending list."""
    entries = index_list(t, engine)
    indices = numbers[entries.indices].astype(index_dtype(size), copy=False)
    return IndexList(size, entries.dtype, indices, entries.values, entries.iso)


def gathered_mask(mask: Mask | None, numbers: Array, engine: str) -> Mask | None:
    """Return the mask of a vector at the listed positions."""
    if mask is None:
        return None
    assert not isinstance(mask.store, CSR)
    return replace(mask, store=gathered(mask.store, numbers, engine))
