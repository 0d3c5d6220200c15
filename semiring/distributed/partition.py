"""The parts of this process: taken out of stores, made into stores, and joined.

`local` is the inverse of `matrix` and `vector`.  `to_global` gives a part the positions of the whole object, for
operators that read positions; `restrict` is its inverse.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast, overload

import numpy as np

from ..config import engine_for
from ..engines import registry
from ..engines.requests.operands import Index, Mask
from ..engines.requests.operations import Ewise, ExtractVector
from ..engines.rows.residency import listed_or_resident
from ..engines.sliced.vectors import Part, joined
from ..formats import CSR, Bitmap, Full, HyperPattern, IndexList, VectorStore, index_dtype, with_values
from ..formats.hypersparse import hypersparse, settled
from ..formats.vectors import SingleEntry, Uncounted, empty_vector
from ..operators.expression import Expression
from ..operators.types import TypedBinary, TypedMonoid
from ..ops.convert import index_list
from ..ops.ewise import ewise_add
from .grid import Grid, grid_of
from .part_stores import PartPattern, PartValues, PartVector
from .vector_messages import Sent, decoded, encoded

# Positions of a word of presence bits.
_WORD = 32


@overload
def local(x: CSR) -> CSR: ...
@overload
def local(x: VectorStore) -> VectorStore: ...
def local(x: Any) -> Any:
    """Return the part that this process holds, with positions of its own."""
    if isinstance(x, CSR):
        pattern = x.pattern
        assert isinstance(pattern, PartPattern)
        values = x.values
        if values is None:
            return CSR(pattern.part, x.dtype, None, x.iso)
        assert isinstance(values, PartValues)
        known = x.cache.get("part")  # so that what is derived from the block is kept
        if known is None:
            known = x.cache["part"] = CSR(pattern.part, x.dtype, values.part, values.iso)
        return known
    if isinstance(x, PartVector):
        return x.part
    grid = grid_of(x)
    first, last = grid.segment(x.size)
    if isinstance(x, Full):
        return Full(last - first, x.dtype, None, x.iso, grid.local)
    assert isinstance(x, SingleEntry)
    if not first <= x.index < last:
        return empty_vector(last - first, x.dtype, grid.local)
    assert x.iso is not None
    return SingleEntry(last - first, x.dtype, x.index - first, x.iso, grid.local)


def local_mask(mask: Mask | None) -> Mask | None:
    """Return the part of a mask."""
    return None if mask is None else Mask(local(mask.store), mask.structural, mask.complement)


def matrix(grid: Grid, shape: tuple[int, int], block: CSR, *, keeps: CSR | None = None, iso: Any = None) -> CSR:
    """Return the matrix of which this process holds `block`.

    keeps: a matrix whose structure the result has, on every process; the result shares all that is known of it.  What
    is known decides which collectives follow, so it must not depend on the block of one process.
    iso: the value that all entries of all blocks share, if there is one.
    """
    if keeps is None:
        pattern = PartPattern(grid, *shape, block.pattern)
    else:
        assert isinstance(keeps.pattern, PartPattern)
        pattern = keeps.pattern.with_block(block.pattern)
    if iso is not None:
        return CSR(pattern, block.dtype, None, iso)
    made = CSR(pattern, block.dtype, cast(Any, PartValues(block.values, block.iso)))
    made.cache["part"] = block
    return made


def vector(grid: Grid, size: int, segment: VectorStore, *, iso: Any = None) -> PartVector:
    """Return the vector of which this process holds `segment`."""
    return PartVector(grid, size, segment.dtype, segment, iso)


# -- positions of the whole object -----------------------------------------------------------------------


def to_global(grid: Grid, x: Any) -> Any:
    """Return the part of this process with the shape and the positions of the whole object; other rows are empty."""
    if isinstance(x, CSR):
        return embed(local(x), x.shape, grid.rows(x.nrows)[0], grid.cols(x.ncols)[0])
    return embed_vector(local(x), x.size, grid.segment(x.size)[0])


def embed(block: CSR, shape: tuple[int, int], row: int, col: int) -> CSR:
    """Return a block as a matrix of the given shape, in which its first entry would be (row, col)."""
    rows = hypersparse(listed_or_resident(block))
    p = rows.pattern
    assert isinstance(p, HyperPattern)
    lines = p.rows.astype(index_dtype(shape[0]), copy=False) + index_dtype(shape[0]).type(row)
    columns = p.indices.astype(index_dtype(shape[1]), copy=False) + index_dtype(shape[1]).type(col)
    return CSR(HyperPattern(*shape, lines, p.offsets, columns), rows.dtype, rows.values, rows.iso)


def restrict(whole: CSR, rows: tuple[int, int], cols: tuple[int, int]) -> CSR:
    """Return a matrix, all of whose entries are in these rows and columns, as a block that begins there."""
    found = hypersparse(listed_or_resident(whole))
    p = found.pattern
    assert isinstance(p, HyperPattern)
    nrows, ncols = rows[1] - rows[0], cols[1] - cols[0]
    lines, columns = p.rows - p.rows.dtype.type(rows[0]), p.indices - p.indices.dtype.type(cols[0])
    made = HyperPattern(
        nrows,
        ncols,
        lines.astype(index_dtype(nrows), copy=False),
        p.offsets,
        columns.astype(index_dtype(ncols), copy=False),
    )
    return settled(CSR(made, found.dtype, found.values, found.iso))


def embed_vector(segment: VectorStore, size: int, first: int) -> IndexList:
    """Return a segment as a vector of the given size, in which its first entry would be `first`."""
    u, dtype = index_list(segment), index_dtype(size)
    return IndexList(size, u.dtype, u.indices.astype(dtype, copy=False) + dtype.type(first), u.values, u.iso)


def restrict_vector(whole: VectorStore, first: int, last: int) -> VectorStore:
    """Return a vector, all of whose entries are from `first` to `last`, as a segment that begins there."""
    u = index_list(whole)
    indices = (u.indices - u.indices.dtype.type(first)).astype(index_dtype(last - first), copy=False)
    return full_if_dense(IndexList(last - first, u.dtype, indices, u.values, u.iso))


def full_if_dense(u: VectorStore) -> VectorStore:
    """Return an index list that holds all positions as a full vector; any other vector as it is."""
    if isinstance(u, IndexList) and u.size and u.nvals == u.size:
        return Full(u.size, u.dtype, u.values, u.iso, u.device)
    return u


# -- vectors of neighboring segments ----------------------------------------------------------------------


def concatenate(segments: Sequence[VectorStore], engine: str, device: str) -> VectorStore:
    """Return consecutive segments as one vector."""
    parts, at = [], 0
    for segment in segments:
        if segment.size and (not isinstance(segment, IndexList) or segment.nvals):
            parts.append(Part(at, at + segment.size, segment))
        at += segment.size
    full = all(isinstance(part.entries, Full) for part in parts) and sum(p.last - p.first for p in parts) == at
    if not full and any(part.first % 32 for part in parts):
        parts = [Part(p.first, p.last, index_list(p.entries)) for p in parts]
    return full_if_dense(joined(at, segments[0].dtype, parts, engine, device))


def add_constant(u: VectorStore, by: int) -> VectorStore:
    """Return a vector with a number added to each value."""
    number = np.array(by).astype(u.dtype)[()]  # wraps as the values do
    if u.values is None:
        assert u.iso is not None
        return with_values(u, u.dtype, None, u.iso + number)
    return with_values(u, u.dtype, u.values + number, None)


def slice_vector(u: VectorStore, first: int, last: int, engine: str) -> VectorStore:
    """Return the positions from `first` to `last` of a vector, numbered from 0; views of a bitmap at whole words."""
    if first == 0 and last == u.size:
        return u
    if isinstance(u, Bitmap) and first % _WORD == 0 and (last % _WORD == 0 or last == u.size):
        words = u.words[first // _WORD : -(-last // _WORD)]
        values = None if u.values is None else u.values[first:last]
        return Bitmap(last - first, u.dtype, words, values, u.iso, Uncounted(words))
    return cast(VectorStore, registry.run(ExtractVector(u, Index(u.size, last - first, first)), engine))


def allgather_segments(grid: Grid, u: Any, segments: Callable[..., range]) -> VectorStore:
    """Return the positions of the rows, or of the columns, of the block of this process.  Collective.

    segments: `row_segments` or `col_segments`, the same on every process.
    """
    if len(segments(grid)) == 1:  # its own, on every process
        return cast(VectorStore, local(u))
    (found,) = exchange_segments(grid, (local(u), segments))
    return concatenate_received(grid, u, segments(grid), found)


def exchange_segments(
    grid: Grid, *given: tuple[VectorStore | None, Callable[..., range]]
) -> list[dict[int, Sent | None]]:
    """Send segments of vectors, each to the other processes whose `segments` include this one.  One collective.

    Returns for each vector what other processes have sent of it, by rank; one that is None is not sent by this process.
    """
    messages: dict[int, Any] = {}
    sources: set[int] = set()
    for k, (segment, segments) in enumerate(given):
        to = [rank for rank in readers(grid, segments) if rank != grid.rank]
        sent = encoded(segment, grid.comm) if segment is not None and to else None
        for rank in to:
            message = messages.setdefault(rank, None)
            if sent is not None:
                messages[rank] = message = message or [None] * len(given)
                message[k] = sent
        sources.update(segments(grid))
    found = grid.comm.exchange(messages, sources - {grid.rank})
    return [{rank: message[k] for rank, message in found.items()} for k in range(len(given))]


def concatenate_received(grid: Grid, u: Any, ranks: range, found: Mapping[int, Sent | None]) -> VectorStore:
    """Return the segments of some processes as one vector, of what each of them has sent."""
    segments = [
        local(u) if rank == grid.rank else decode_segment(grid, found.get(rank), u.size, u.dtype, rank)
        for rank in ranks
    ]
    return concatenate(segments, grid.engine, grid.local)


def decode_segment(grid: Grid, sent: Sent | None, size: int, dtype: Any, rank: int) -> VectorStore:
    """Return the segment of a vector that a process has sent."""
    first, last = grid.segment(size, rank)
    return decoded(sent, last - first, dtype, grid.local)


def row_segments(grid: Grid, rank: int | None = None) -> range:
    """Return the ranks whose segments are the rows of the block of a process, by default of this one."""
    i = (grid.rank if rank is None else rank) // grid.shape[1] * grid.shape[1]
    return range(i, i + grid.shape[1])


def col_segments(grid: Grid, rank: int | None = None) -> range:
    """Return the ranks whose segments are the columns of the block of a process, by default of this one."""
    j = (grid.rank if rank is None else rank) % grid.shape[1] * grid.shape[0]
    return range(j, j + grid.shape[0])


def readers(grid: Grid, segments: Callable[..., range]) -> range:
    """Return the ranks of which `row_segments`, or `col_segments`, include that of this process."""
    if segments is col_segments:
        return range(grid.rank // grid.shape[0], grid.size, grid.shape[1])
    return segments(grid)


def all_segments(grid: Grid, rank: int | None = None) -> range:
    """Return all ranks."""
    return range(grid.size)


def reduce_scatter(
    grid: Grid, t: VectorStore, segments: Callable[..., range], size: int, monoid: TypedMonoid
) -> PartVector:
    """Return the sums, by a monoid, of vectors over the positions of `segments`, one of each process.  Collective.

    Values are combined in the order of the ranks, so that the result is the same in every run.
    """
    ranks = segments(grid)
    if len(ranks) == 1:  # its own, on every process
        return vector(grid, size, t)
    begin = grid.segment(size, ranks.start)[0]
    own: VectorStore | None = None
    messages: dict[int, Sent | None] = {}
    for rank in ranks:
        first, last = grid.segment(size, rank)
        part = slice_vector(t, first - begin, last - begin, grid.engine)
        if rank == grid.rank:
            own = part
        else:
            messages[rank] = encoded(part, grid.comm)
    found = grid.comm.exchange(messages, [rank for rank in readers(grid, segments) if rank != grid.rank])
    terms = {rank: decode_segment(grid, sent, size, t.dtype, grid.rank) for rank, sent in found.items()}
    if own is not None:
        terms[grid.rank] = own
    if not terms:
        return vector(grid, size, decode_segment(grid, None, size, t.dtype, grid.rank))
    return vector(grid, size, functools.reduce(lambda a, b: union(a, b, monoid), [terms[k] for k in sorted(terms)]))


def union(a: Any, b: Any, monoid: TypedMonoid) -> Any:
    """Return the entries of both, combined by a monoid where both have one; of `any` those of a."""
    op = first_of(a.dtype) if monoid.is_any else monoid.op
    if a.dtype != b.dtype:
        return ewise_add(a, b, op).into()
    return registry.run(Ewise(a, b, op, "union"), engine_for(a.device))


@functools.lru_cache(maxsize=256)
def first_of(dtype: np.dtype[Any]) -> TypedBinary:
    """Return the operator whose result is its first operand."""
    return TypedBinary("first", dtype, dtype, dtype, Expression("x"))
