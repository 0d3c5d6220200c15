"""Scatter: t(index[p]) = u(p), where positions may repeat."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...formats import CSR, Full, IndexList, VectorStore, index_dtype
from ..registry import implements
from ..requests.operands import Index
from ..requests.operations import ScatterMatrix, ScatterVector
from . import presence, types
from .atomics import MANY_STEPS, stopped
from .compile import kernel
from .convert import as_index_list
from .operands import Array
from .threads import run
from .types import combine, converted, put, value_at

if TYPE_CHECKING:
    from ...operators.types import TypedBinary

# Below one entry in this many, slots are allocated for the occurring indices only.
_SPARSE = 64


def positions(index: Index) -> Array:
    """Return the positions of an index set, in order."""
    if index.array is not None:
        return np.asarray(index.array)
    stop = index.start + index.step * index.count
    if index.count == 0:
        return np.zeros(0, index_dtype(index.size))
    return np.arange(index.start, stop, index.step, dtype=index_dtype(index.size))


def positions_at(index: Index, p: Array) -> Array:
    """index[p] for an array of p."""
    if index.array is not None:
        return np.asarray(index.array)[p]
    return (index.start + index.step * p.astype(np.int64, copy=False)).astype(index_dtype(index.size), copy=False)


def targets(index: Index, u: IndexList | Full) -> Array:
    """Return index[p] for each entry u(p), in order."""
    return positions(index) if isinstance(u, Full) else positions_at(index, u.indices)


@implements(ScatterVector, engine="cpu")
def scatter_vector(q: ScatterVector) -> VectorStore:
    """t(index[p]) = u(p), p ascending; a repeated index combines by `dup`, or keeps the last."""
    u = q.u if isinstance(q.u, Full) else as_index_list(q.u)
    values = u.values if u.iso is None else u.iso
    assert values is not None
    return scatter_entries(q.index.size, u.dtype, targets(q.index, u), values, q.dup)[0]


@implements(ScatterMatrix, engine="cpu")
def scatter_matrix(q: ScatterMatrix) -> CSR:
    """t(rows[p], cols[q]) = a(p, q); a repeated position combines by `dup`, or keeps the last."""
    from .build import assemble  # a cycle: build imports scatter_entries

    a = q.a
    rows = positions_at(q.rows, np.repeat(np.arange(a.nrows), np.diff(a.indptr)))
    values = a.values if a.iso is None else a.iso
    assert values is not None
    cols = positions_at(q.cols, a.indices)
    return assemble(q.rows.size, q.cols.size, a.dtype, rows, cols, values, q.dup, keep_last=True)


def scatter_entries(
    size: int, dtype: np.dtype[Any], indices: Array, values: Array | np.generic, dup: TypedBinary | None
) -> tuple[VectorStore, int | None]:
    """Build a vector from entries in order; also return the smallest duplicate index (None if there is none)."""
    if indices.size * _SPARSE < size:
        distinct, ranks = np.unique(indices, return_inverse=True)
        dense, repeated = scatter_entries(distinct.size, dtype, ranks, values, dup) if distinct.size else (None, None)
        slots = np.zeros(0, dtype) if dense is None else dense.values
        sparse = IndexList(size, dtype, distinct.astype(index_dtype(size)), slots, None if dense is None else dense.iso)
        return sparse, None if repeated is None else int(distinct[repeated])
    iso = values if isinstance(values, np.generic) and dup is None else None
    words, repeats = presence.no_bits(size), presence.no_bits(size)
    made = None if iso is not None else presence.empty_slots("scatter", size, dtype)
    op = None if dup is None else types.binary(dup)
    read = None if iso is not None else values
    run(_scatter, 1, indices, read, op, words, repeats, made, work=indices.size)
    repeated_indices = presence.to_indices(repeats, size)
    result = presence.from_slots(size, dtype, words, made, iso)
    return result, int(repeated_indices[0]) if repeated_indices.size else None


@kernel
def _scatter(t, threads, control, indices, values, dup, words, repeats, made):
    for p in range(indices.size):
        if p & MANY_STEPS == 0 and stopped(control):
            return
        i = np.int64(indices[p])
        value = converted(made, value_at(values, p))
        w, bit = i >> 5, np.uint32(1) << np.uint32(i & 31)
        if words[w] & bit:
            repeats[w] |= bit
            put(made, i, converted(made, combine(dup, value_at(made, i), value)))
        else:
            words[w] |= bit
            put(made, i, value)
