"""Selection of entries: by a condition, by a mask, or outside a region."""

from __future__ import annotations

import numpy as np

from ...formats import (
    CSR,
    Bitmap,
    Count,
    IndexList,
    Pattern,
    VectorStore,
    index_dtype,
    structure_only,
    uncompressed_pattern,
    with_values,
)
from ..registry import implements
from ..requests.operands import Index, Mask, simplified
from ..requests.operations import Apply, Keep, Outside, Select
from . import presence
from .apply import apply
from .atomics import bit_count, trailing_zeros
from .compile import kernel
from .index_rank import contains, is_few
from .operands import Array, bits_of, kernel_array, rows_of
from .rows import share
from .scatter import positions
from .threads import parts_for, run
from .types import put, value_at


@implements(Select, engine="cpu")
def select(q: Select) -> CSR | VectorStore:
    """T = the entries for which op(a(i, j), i, j, k) holds."""
    flags = apply(Apply(q.a, q.op, q.k))
    if flags.iso is not None:
        return q.a if flags.iso else _none_of(q.a)
    assert flags.values is not None
    holds = flags.values.astype(np.bool_, copy=False)
    return kept_rows(q.a, holds) if isinstance(q.a, CSR) else _kept_slots(q.a, holds)


@implements(Keep, engine="cpu")
def keep(q: Keep) -> CSR | VectorStore:
    """T = the entries that the mask admits."""
    if isinstance(q.a, CSR):
        return kept_rows(q.a, _admitted_entries(q.a, q.mask))
    if isinstance(q.a, IndexList):
        return _kept_slots(q.a, presence.admits(q.mask, q.a.indices))
    words = presence.admitted(q.mask, q.a.size)
    return q.a if words is None else _kept_words(q.a, words)


@implements(Outside, engine="cpu")
def outside(q: Outside) -> CSR | VectorStore:
    """T = the entries outside rows x columns."""
    if isinstance(q.a, IndexList):
        return _kept_slots(q.a, ~contains(q.rows, q.a.indices))
    if not isinstance(q.a, CSR):
        return _kept_words(q.a, presence.complement(_members(q.rows), q.a.size))
    assert q.cols is not None
    inside = np.repeat(contains(q.rows, np.arange(q.a.nrows)), np.diff(q.a.indptr))
    inside &= contains(q.cols, q.a.indices)
    return kept_rows(q.a, ~inside)


def _members(index: Index) -> presence.Words:
    flags = np.zeros(index.size, np.bool_)
    flags[positions(index)] = True
    return presence.from_flags(flags)


def _none_of(a: CSR | VectorStore) -> CSR | VectorStore:
    if isinstance(a, CSR):
        return kept_rows(a, np.zeros(a.nvals, np.bool_))
    return _kept_words(a, presence.no_bits(a.size))


def _kept_words(a: VectorStore, words: presence.Words) -> VectorStore:
    """Return the entries of a whose bit is set."""
    if isinstance(a, IndexList):
        return _kept_slots(a, presence.probe(words, a.indices))
    if isinstance(a, Bitmap):
        words = words & a.words
    return Bitmap(a.size, a.dtype, words, a.values, a.iso, Count(presence.count_bits(words)))


def _kept_slots(a: VectorStore, holds: Array) -> VectorStore:
    """Return the entries of a in slots whose flag is set."""
    if isinstance(a, IndexList):
        return IndexList(a.size, a.dtype, a.indices[holds], None if a.values is None else a.values[holds], a.iso)
    return _kept_words(a, presence.from_flags(holds))


def kept_rows(a: CSR, holds: Array) -> CSR:
    """Return the entries of a whose flag is set."""
    return kept_columns(a, a.indices, holds, a.ncols)


def kept_columns(a: CSR, columns: Array, holds: Array, ncols: int) -> CSR:
    """Return the entries of a whose flag is set, each in its element of `columns`, which ascend within a row."""
    if is_few(a.nvals + a.nrows):
        return _few_kept(a, columns, holds, ncols)
    words = presence.from_flags(holds)
    starts = np.zeros(words.size + 1, np.int64)
    np.cumsum(np.bitwise_count(words), out=starts[1:])
    kept = int(starts[-1])
    if kept == a.nvals and columns is a.indices:
        return a
    indptr, indices = kernel_array(a.indptr), kernel_array(columns)
    made_indptr, made_indices = np.empty(a.nrows + 1, index_dtype(kept)), np.empty(kept, indices.dtype)
    values = None if a.values is None else np.empty(kept, a.dtype)
    arguments = (indptr, indices, bits_of(a.values), words, starts, made_indptr, made_indices, bits_of(values))
    run(_compress, parts_for(a.nvals + a.nrows), *arguments)
    return CSR(Pattern(a.nrows, ncols, made_indptr, made_indices), a.dtype, values, a.iso)


def _few_kept(a: CSR, columns: Array, holds: Array, ncols: int) -> CSR:
    """Return the result of `kept_columns` for few entries: one call of a kernel, and copies of what it fills."""
    indptr, indices = np.empty(a.nrows + 1, np.int32), np.empty(a.nvals, columns.dtype)
    values = None if a.values is None else np.empty(a.nvals, a.dtype)
    arguments = (kernel_array(a.indptr), kernel_array(columns), bits_of(a.values), kernel_array(holds))
    kept = _compress_few(*arguments, indptr, indices, bits_of(values))
    if kept == a.nvals and columns is a.indices:
        return a
    pattern = Pattern(a.nrows, ncols, indptr, indices[:kept].copy())
    return CSR(pattern, a.dtype, None if values is None else values[:kept].copy(), a.iso)


@kernel
def _compress_few(indptr, indices, values, holds, out_indptr, out_indices, out_values):
    """Copy the entries whose flag is set; return their number."""
    slot = 0
    out_indptr[0] = 0
    for i in range(indptr.size - 1):
        for p in range(np.int64(indptr[i]), np.int64(indptr[i + 1])):
            if holds[p]:
                out_indices[slot] = indices[p]
                put(out_values, slot, value_at(values, p))
                slot += 1
        out_indptr[i + 1] = slot
    return slot


@kernel
def _compress(t, threads, control, indptr, indices, values, words, starts, out_indptr, out_indices, out_values):
    """Copy the entries whose bit is set; starts[w] is the number of those before word w."""
    for w in range(t * words.size // threads, (t + 1) * words.size // threads):
        word, base, slot = np.uint64(words[w]), np.int64(w) << 5, int(starts[w])
        while word != 0:
            p = base + trailing_zeros(word)
            out_indices[np.uintp(slot)] = indices[np.uintp(p)]
            put(out_values, slot, value_at(values, p))
            slot += 1
            word &= word - np.uint64(1)
    for i in range(t * indptr.size // threads, (t + 1) * indptr.size // threads):
        at, bit = np.int64(indptr[i]) >> 5, np.uint64(indptr[i]) & np.uint64(31)
        earlier = np.uint64(words[at]) & ((np.uint64(1) << bit) - np.uint64(1)) if bit else np.uint64(0)
        out_indptr[i] = starts[at] + bit_count(earlier)


def mask_pattern(mask: Mask) -> Pattern:
    """Return the entries of a simplified matrix mask before complement: its structure, or its nonzero entries."""
    store = mask.store
    assert isinstance(store, CSR)
    if mask.structural:
        return uncompressed_pattern(store.pattern)
    present = with_values(store, np.dtype(np.bool_), None, np.bool_(True))
    return uncompressed_pattern(kept_rows(present, np.asarray(store.values != 0)).pattern)


def _admitted_entries(a: CSR, mask: Mask) -> Array:
    """Return for each entry of a whether the mask admits it.  A mask of the same structure is not searched."""
    simple = simplified(mask)
    if isinstance(simple, bool):
        return np.full(a.nvals, simple)
    if isinstance(simple.store, CSR) and simple.store.pattern is a.pattern and not simple.structural:
        return np.asarray((simple.store.values != 0) != mask.complement)
    pattern = mask_pattern(simple)
    if pattern is a.pattern:
        return np.full(a.nvals, not mask.complement)
    m_indptr, m_indices = rows_of(structure_only(pattern))
    holds = np.empty(a.nvals, np.bool_)
    run(_probe_mask, parts_for(a.nvals + a.nrows), *rows_of(a), m_indptr, m_indices, mask.complement, holds)
    return holds


@kernel
def _probe_mask(t, threads, control, indptr, indices, m_indptr, m_indices, complement, holds):
    for i in range(share(indptr, t, threads), share(indptr, t + 1, threads)):
        m, end = m_indptr[i], m_indptr[i + 1]
        for p in range(indptr[i], indptr[i + 1]):
            while m < end and m_indices[m] < indices[p]:
                m += 1
            holds[p] = (m < end and m_indices[m] == indices[p]) != complement
