"""Matrix-vector products: pull scans the row of each output, push scatters the rows of the input's entries.

Pull stops a row at the first terminal value and skips outputs that the mask does not admit.  Push assigns a range of
outputs to each thread: rows are sorted, so a thread finds its part of a row by binary search and writes without
atomics, and the order of summation is that of pull.  A push of many edges to each output sums blocks of rows, and then
the blocks.  No result depends on the number of threads.
"""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ...formats import CSR, Array, Full, IndexList, Pattern, VectorStore
from ...formats.records import tuple_of
from ...operators.types import TypedSemiring
from .. import recording
from ..recording import note
from ..registry import implements
from ..requests.operands import Index, admitted_count
from ..requests.operations import ExtractVector, Mxv, WriteMxv
from ..shared.direction import Work, ends_early, prefers_pull, preset
from ..shared.iso_results import product_value
from . import presence, types
from .atomics import FEW_STEPS, bit_count, next_chunk, prefetch, stopped
from .compile import kernel
from .convert import as_index_list
from .extract import chosen_columns, extract_vector
from .index_rank import is_wide, ranked
from .jobs import close_job, dismiss, join_job, leave_job, open_job
from .operands import kernel_array, rows_of, values_of
from .rows import lower_bound, share_words
from .threads import assisted, parts_for, run, threads_for, total
from .tuning import COSTS, COUNTED_SHARE
from .types import combine, position, present, product, put, stops, value_at
from .write import written_slots

_CHUNKS_PER_THREAD = 16
# Entries between a prefetch and its use, also in the rows that follow (measured: it saves 15% of a product of kron18,
# whose vector exceeds the second-level cache, and nothing on kron16).
_AHEAD = 32
_SPARSE_RESULT = 64
# A push of so many edges, and of so many to an output and block, divides the rows into blocks with outputs of their
# own: if all threads passed over all rows, two would need as long as one.  The number of blocks depends on the sizes
# only.  Measured on column sums of kron16 and kron18 (29 edges to an output): 4 blocks cost a quarter more than 2.
_BLOCK_EDGES = 1 << 15
_EDGES_PER_OUTPUT = 8
_MOST_BLOCKS = 16
# Presence bits and slots of vectors up to this size cost less than renumbering columns does (reasoned: 2 MB of bits).
_DENSE_SIZE = 1 << 24


@implements(Mxv, engine="cpu", fuses=("mask",))
def mxv(q: Mxv) -> VectorStore:
    """t(o) = (+)_k M(o, k) (x) u(k), by push or by pull."""
    direction, listed = preset(q), None
    if direction is None:
        listed = as_index_list(q.vector) if q.vector.nvals * COUNTED_SHARE < q.ninner else None
        direction = _cheaper(q, listed)
    if recording.users:
        note(direction=direction)
    if direction == "pull":
        return _pulled(q)
    return _pushed(q, as_index_list(q.vector) if listed is None else listed)


@implements(WriteMxv, engine="cpu")
def write_mxv(q: WriteMxv) -> VectorStore:
    """C<M, replace> accum= T, for a product T, which becomes no vector."""
    return mxv(q)


def _cheaper(q: Mxv, listed: IndexList | None) -> str:
    """Return the direction of lower cost; the rows of both are at hand.  listed: the vector, if it has few entries."""
    entries, present, indptr = q.by_row.get().nvals, q.vector.nvals, q.by_column.get().indptr
    edges = entries * present // max(q.ninner, 1) if listed is None else _edges(indptr, listed.indices)
    admitted = admitted_count(q.mask, q.nout)
    early, open_edges = ends_early(q.semiring.add), entries * admitted // max(q.nout, 1)
    work = Work(entries, admitted, open_edges, early, pull_rows=q.nout, sums=bool(q.semiring.mult.uses))
    return "pull" if prefers_pull(COSTS, work, present, edges) else "push"


def _edges(indptr: Array, rows: Array) -> int:
    return int((indptr[rows + 1] - indptr[rows]).sum(dtype=np.int64))


class _Plan(NamedTuple):
    """The operators of a product as kernel arguments, and which operands they read."""

    add: Any
    mult: Any
    flip: bool | None
    matrix_read: bool
    vector_read: bool


_CONSTANT = _Plan(types.STRUCTURE, None, None, False, False)


@functools.lru_cache(maxsize=1024)
def product_plan(semiring: TypedSemiring, flip: bool) -> _Plan:
    """Return the operators of a product as kernel arguments."""
    add, mult, uses = types.monoid(semiring.add), types.binary(semiring.mult), semiring.mult.uses
    of_matrix, of_vector = ("y", "x") if flip else ("x", "y")
    return _Plan(add, mult, flip or None, of_matrix in uses, of_vector in uses)


class _Outputs(NamedTuple):
    """The outputs of a product; one compiled kernel handles all products with a constant value.

    words, values: presence bits and slots; no slots if all entries have the value `iso`.  admitted: the bits of the
    mask, None for all.
    """

    plan: _Plan
    words: presence.Words
    values: Any
    iso: np.generic | None
    admitted: presence.Words | None

    def result(self, q: Mxv, counts: Array) -> VectorStore:
        """Return the product, or the output that it is written to.  counts: the entries of each thread."""
        if type(q) is WriteMxv:
            return written_slots(q, self.words, self.values, self.iso, self.admitted, counts)
        return presence.from_slots(q.nout, q.semiring.z, self.words, self.values, self.iso, total(counts))


_outputs_of = tuple_of(_Outputs)


def _outputs(q: Mxv, a: CSR) -> _Outputs:
    size, operands = q.nout, (q.vector.iso, a.iso) if q.flip else (a.iso, q.vector.iso)
    iso = product_value(q.semiring, *operands)
    admitted = None if q.mask is None else presence.admitted(q.mask, size)
    words = presence.no_bits(size)
    if iso is not None:
        return _outputs_of((_CONSTANT, words, None, iso, admitted))
    values = presence.empty_slots("mxv", size, q.semiring.z)
    return _outputs_of((product_plan(q.semiring, q.flip), words, values, None, admitted))


def _pulled(q: Mxv) -> VectorStore:
    a, u = q.by_row.get(), q.vector
    if isinstance(u, IndexList) and _is_wide(q.ninner, a.nvals + u.nvals) and not q.semiring.mult.uses & {"xj", "yi"}:
        a = chosen_columns(a, Index(q.ninner, u.nvals, array=u.indices))
        u = Full(u.nvals, u.dtype, u.values, u.iso, u.device)
        q = replace(q, ninner=u.size, vector=u)
    made = _outputs(q, a)
    (add, mult, flip, matrix_read, vector_read), out_words, values, _, admitted = made
    words, uvals = presence.slots(u) if vector_read else (presence.presence(u), None)
    if admitted is None:
        admitted = presence.expanded(None, q.nout)
    indptr, indices = rows_of(a)
    avals = values_of(a, matrix_read)
    work = indices.size + a.nrows
    threads = threads_for(work)
    counts = np.zeros(threads, np.int64)
    written = (out_words, values, counts)
    assisted(_pull, threads, indptr, indices, avals, words, uvals, admitted, add, mult, flip, *written, work=work)
    return made.result(q, counts)


def _is_wide(size: int, entries: int) -> bool:
    return size > _DENSE_SIZE and is_wide(size, entries)


def _pushed(q: Mxv, u: IndexList) -> VectorStore:
    a = q.by_column.get()
    if _is_wide(q.nout, a.nvals) and ("yj" if q.flip else "xi") not in q.semiring.mult.uses:
        return _pushed_to_few(q, u, a)
    return _scattered(q, u, a)


def _scattered(q: Mxv, u: IndexList, a: CSR) -> VectorStore:
    made = _outputs(q, a)
    indptr, indices = rows_of(a)
    starts = kernel_array(u.indices)
    # Edges are not counted where all of the matrix are too few for blocks, and so for several threads.
    edges, offsets = indices.size, indptr
    if edges >= 2 * _BLOCK_EDGES:
        offsets = indptr if starts.size == indptr.size - 1 else _edge_offsets(indptr, starts)
        edges = int(offsets[-1])
    add, mult, flip, matrix_read, vector_read = made.plan
    avals, uvals = values_of(a, matrix_read), values_of(u, vector_read)
    operands = (starts, uvals, indptr, indices, avals, made.admitted, add, mult, flip)
    blocks = _blocks(edges, made.words.size if made.values is None else q.nout)
    if blocks > 1:
        bounds = np.searchsorted(offsets, np.arange(blocks + 1) * edges // blocks)
        _push_blocks(made, operands, q.nout, bounds, edges)
        return made.result(q, np.array([presence.count_bits(made.words)]))
    threads = threads_for(edges)
    counts = np.zeros(threads, np.int64)
    every = np.empty(2, np.int64)
    every[0], every[1] = 0, starts.size
    run(_push, threads, *operands, every, q.nout, made.words, made.values, counts, work=edges)
    result = made.result(q, counts)
    if type(q) is WriteMxv:
        return result
    return as_index_list(result) if result.nvals * _SPARSE_RESULT < q.nout else result


def _blocks(edges: int, outputs: int) -> int:
    """Return the number of blocks of rows of a push, a power of two.  outputs: values, or words of presence bits."""
    if edges < 2 * _BLOCK_EDGES:
        return 1
    worth = min(edges // _BLOCK_EDGES, edges // (_EDGES_PER_OUTPUT * max(outputs, 1)), _MOST_BLOCKS)
    return 1 << max(0, worth.bit_length() - 1)


def _push_blocks(made: _Outputs, operands: Any, nout: int, bounds: Array, edges: int) -> None:
    """Push rows bounds[b] to bounds[b + 1] of the vector's entries into outputs of block b, and combine the blocks."""
    blocks = bounds.size - 1
    words = np.zeros(blocks * made.words.size, np.uint32)
    values = None if made.values is None else presence.empty_slots("mxv", blocks * nout, made.values.dtype)
    run(_push, blocks, *operands, bounds, nout, words, values, np.zeros(blocks, np.int64), work=edges)
    run(_combine_blocks, parts_for(blocks * nout), blocks, nout, words, values, made.plan.add, made.words, made.values)


def _edge_offsets(indptr: Array, starts: Array) -> Array:
    """Return the number of edges before each of the rows `starts`, and of all."""
    offsets = np.zeros(starts.size + 1, np.int64)
    np.cumsum(indptr[starts + 1] - indptr[starts], out=offsets[1:])
    return offsets


def _pushed_to_few(q: Mxv, u: IndexList, a: CSR) -> IndexList:
    """Return the product where `a` has far fewer entries than columns: only non-empty columns have a slot."""
    columns, ranks = ranked(a.indices)
    compact = CSR(Pattern(a.nrows, columns.size, a.indptr, ranks), a.dtype, a.values, a.iso)
    mask = q.mask
    if mask is not None:
        assert not isinstance(mask.store, CSR)
        store = extract_vector(ExtractVector(mask.store, Index(q.nout, columns.size, array=columns)))
        mask = replace(mask, store=store)
    found = as_index_list(_scattered(replace(q, nout=columns.size, mask=mask), u, compact))
    return IndexList(q.nout, found.dtype, columns[found.indices], found.values, found.iso)


@kernel
def _pull(
    t, threads, control, indptr, indices, avals, words, uvals, mask, add, mult, flip, out_words, out_values, counts
):
    nrows, last = indptr.size - 1, indices.size - 1
    chunks = threads * _CHUNKS_PER_THREAD if threads > 1 else 1
    count = 0
    if t == 0:
        open_job(control)
    elif join_job(control, 0) == 0:
        return
    while True:
        chunk = next_chunk(control)
        if chunk >= chunks:
            break
        for w in range(share_words(indptr, chunk, chunks), share_words(indptr, chunk + 1, chunks)):
            admitted = mask[w]
            if admitted == 0:
                continue
            base = np.int64(w) << 5
            found = np.uint32(0)
            for i in range(base, min(base + 32, nrows)):
                bit = np.uint32(1) << np.uint32(i - base)
                if admitted & bit == 0:
                    continue
                p, end = np.int64(indptr[i]), np.int64(indptr[i + 1])
                while p < end and not present(words, position(indices, p)):
                    p += 1
                if p == end:
                    continue
                k = position(indices, p)
                total = product(mult, flip, value_at(avals, p), value_at(uvals, k), np.int64(i), k, 0)
                p += 1
                while p < end and not stops(add, total):
                    prefetch(uvals, position(indices, min(p + _AHEAD, last)))
                    k = position(indices, p)
                    if present(words, k):
                        term = product(mult, flip, value_at(avals, p), value_at(uvals, k), np.int64(i), k, 0)
                        total = combine(add, total, term)
                    p += 1
                found |= bit
                put(out_values, i, total)
            out_words[w] = found
            count += bit_count(found)
    counts[t] = count
    if t == 0:
        close_job(control)
        dismiss(control)
    else:
        leave_job(control)


@kernel
def _push(
    t,
    threads,
    control,
    starts,
    uvals,
    indptr,
    indices,
    avals,
    mask,
    add,
    mult,
    flip,
    bounds,
    nout,
    out_words,
    out_values,
    counts,
):
    """Push a range of outputs from all entries of the vector, or block t of entries into outputs of its own."""
    first, last, base = 0, nout, 0
    if bounds.size == 2:
        block = 0
        first = (nout * t // threads) & ~31
        if t + 1 < threads:
            last = (nout * (t + 1) // threads) & ~31
    else:
        block, base = t, t * nout
    word_base = block * ((nout + 31) >> 5)
    count = 0
    for s in range(bounds[block], bounds[block + 1]):
        if s & FEW_STEPS == 0 and stopped(control):
            return
        k = np.int64(starts[s])
        p, end = np.int64(indptr[k]), np.int64(indptr[k + 1])
        if first > 0:
            p = lower_bound(indices, p, end, first)
        u = value_at(uvals, s)
        while p < end:
            o = position(indices, p)
            if o >= last:
                break
            if present(mask, o):
                w, bit = np.uintp(word_base + (o >> 5)), np.uint32(1) << np.uint32(o & 31)
                if out_words[w] & bit == 0:
                    out_words[w] |= bit
                    count += 1
                    put(out_values, base + o, product(mult, flip, value_at(avals, p), u, o, k, 0))
                else:
                    total = value_at(out_values, base + o)
                    if not stops(add, total):
                        term = product(mult, flip, value_at(avals, p), u, o, k, 0)
                        put(out_values, base + o, combine(add, total, term))
            p += 1
    counts[t] = count


@kernel
def _combine_blocks(t, threads, control, blocks, nout, words, values, add, out_words, out_values):
    """Combine the outputs of all blocks, in order."""
    nwords = out_words.size
    for w in range(t * nwords // threads, (t + 1) * nwords // threads):
        found = np.uint32(0)
        for block in range(blocks):
            fresh = words[block * nwords + w]
            if fresh == 0:
                continue
            for o in range(w << 5, min((w + 1) << 5, nout)):
                bit = np.uint32(1) << np.uint32(o & 31)
                old, value = value_at(out_values, o), value_at(values, block * nout + o)
                both = combine(add, old, value)  # on unset values too: without branches on the bits
                put(out_values, o, (both if found & bit else value) if fresh & bit else old)
            found |= fresh
        out_words[w] = found
