"""Blocks of matrices as they are sent: their positions in the form of the fewest bytes, and the values of the entries.

    form      bytes of the positions of k entries in n rows
    flat      those of a vector of all positions in row-major order (`segments`)
    rows      the columns, of 2 bytes in a block of up to 65,536 columns; and 1, 2 or 4 bytes a row for the counts; of
              hypersparse rows only those that are listed, and their numbers
    stored    the arrays of a compressed block, or of dense rows, as they are

Flat positions suit dense blocks and blocks of few long rows, such as the frontiers of many sources; rows suit blocks of
a graph.  Values are not sent where all entries share one.  A block without entries is not sent at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..engines.bitmap.vectors import flat, shaped
from ..engines.rows.bits import rows_of_list
from ..engines.rows.residency import listed_or_resident
from ..formats import (
    CSR,
    AnyPattern,
    Array,
    Bitmap,
    FullPattern,
    HyperPattern,
    Pattern,
    array_module,
    device_of,
    index_dtype,
)
from ..formats.bitmap import bits_shaped
from ..formats.hypersparse import empty_matrix
from ..ops.convert import convert, index_list
from .communicator import Communicator
from .grid import Grid
from .vector_messages import Sent, chosen, decoded, encoded, note_form, position_bytes

_SHORT = 1 << 16


@dataclass(frozen=True)
class SentRows:
    """Rows: the numbers of those that are listed (None: all are), the count of each, and the columns."""

    listed: Array | None
    counts: Array
    columns: Array

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        arrays = self.listed, self.counts, self.columns
        return sum(int(array.nbytes) for array in arrays if array is not None)


@dataclass(frozen=True)
class SentBlock:
    """A block as it is sent.

    format: of the block, which is made again.  entries: a vector in row-major order, with its values; rows; or the
    block itself.  values, iso: of rows.
    """

    nrows: int
    ncols: int
    dtype: np.dtype[Any]
    format: str
    entries: Sent | SentRows | CSR
    values: Array | None = None
    iso: np.generic | None = None

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        return self.entries.nbytes + (0 if self.values is None else int(self.values.nbytes))


def flat_bytes(size: int, count: int, itemsize: int, *, compress: bool) -> int:
    """Return the bytes of the positions of `count` entries in a block of `size` positions, in row-major order."""
    return position_bytes(chosen(size, count, itemsize, compress=compress), size, count)


def row_bytes(nrows: int, ncols: int, count: int) -> int:
    """Return the bytes of the columns of entries, and of their numbers in rows of fewer than 256."""
    return count * (2 if ncols <= _SHORT else index_dtype(ncols).itemsize) + nrows


def encoded_block(a: CSR, group: Communicator, grid: Grid) -> SentBlock | None:
    """Return a block as it is sent to processes of a group; None if it has no entries."""
    (nrows, ncols), pattern, count = a.shape, a.pattern, a.nvals
    if not count:
        return None
    dense = pattern.by_position
    least = flat_bytes(nrows * ncols, count, 0 if a.iso is not None else a.dtype.itemsize, compress=group.between_hosts)
    if not dense:
        by_rows = row_bytes(nrows, ncols, count)
        other = pattern.placement == "device" and not isinstance(pattern, (Pattern, HyperPattern))
        if other and (isinstance(pattern, FullPattern) or pattern.nbytes < min(by_rows, least)):
            note_form("stored")
            return SentBlock(nrows, ncols, a.dtype, a.format, _alone(a))
        a = listed_or_resident(a)
        if isinstance(a.pattern, HyperPattern) or by_rows <= least:
            note_form("rows")
            return SentBlock(nrows, ncols, a.dtype, a.format, _rows(a), a.values, a.iso)
    sent = encoded(flat(a, grid.engine), group)
    assert sent is not None
    return SentBlock(nrows, ncols, a.dtype, a.format, sent)


def decoded_block(sent: SentBlock | None, shape: tuple[int, int], dtype: np.dtype[Any], grid: Grid) -> CSR:
    """Return the block that was sent, in its format; compressed rows may have become uncompressed ones."""
    if sent is None:
        return empty_matrix(*shape, dtype, grid.local)
    entries = sent.entries
    if isinstance(entries, CSR):
        return entries
    if isinstance(entries, SentRows):
        return CSR(_of_rows(entries, sent.nrows, sent.ncols), sent.dtype, sent.values, sent.iso)
    u = decoded(entries, sent.nrows * sent.ncols, sent.dtype, grid.local)
    if sent.format == "bitmap":
        bits = convert(u, "bitmap")
        assert isinstance(bits, Bitmap)
        return bits_shaped(bits, *shape)
    return shaped(u, shape, grid.engine) if sent.format == "full" else rows_of_list(index_list(u), shape)


def shared(
    block: CSR | None, root: int, shape: tuple[int, int], dtype: np.dtype[Any], group: Communicator, grid: Grid
) -> CSR:
    """Return the block of process `root` of a group, which is None on the others.  Collective."""
    if block is None:
        return decoded_block(group.bcast(None, root), shape, dtype, grid)
    if group.size > 1:
        group.bcast(encoded_block(block, group, grid), root)
    return block


def exchanged_blocks(
    blocks: Sequence[CSR | None],
    shapes: Sequence[tuple[int, int]],
    dtype: np.dtype[Any],
    group: Communicator,
    grid: Grid,
    sources: Sequence[int] | None = None,
) -> list[CSR]:
    """Send block k to process k of a group; return what each had for this one, which has shape k.  Collective.

    sources: the ranks whose blocks for this process are not None; by default those of all others.
    """
    if sources is None:
        sources = [rank for rank in range(group.size) if rank != group.rank]
    own = group.rank
    away = {id(a): a for k, a in enumerate(blocks) if k != own and a is not None}
    messages = {key: encoded_block(a, group, grid) for key, a in away.items()}
    arrived = group.exchange({k: messages[id(a)] for k, a in enumerate(blocks) if k != own and a is not None}, sources)
    found = [decoded_block(arrived.get(k), shape, dtype, grid) for k, shape in enumerate(shapes)]
    mine = blocks[own]
    return found if mine is None else [*found[:own], mine, *found[own + 1 :]]


def _alone(a: CSR) -> CSR:
    """Return a matrix without what is derived from it."""
    p = a.pattern
    arrays = {name: getattr(p, name) for name in p.ARRAYS}
    return CSR(p.with_arrays(arrays, {}, p.placement), a.dtype, a.values, a.iso)


def _rows(a: CSR) -> SentRows:
    """Return uncompressed or hypersparse rows as they are sent.  Synchronizes for the largest count."""
    p, xp = a.pattern, array_module(a.device)
    assert isinstance(p, (Pattern, HyperPattern))
    counts = xp.diff(p.offsets if isinstance(p, HyperPattern) else p.indptr)
    counts = counts.astype(np.min_scalar_type(int(counts.max())))
    columns = p.indices.astype(np.uint16) if a.ncols <= _SHORT else p.indices
    return SentRows(p.rows if isinstance(p, HyperPattern) else None, counts, columns)


def _of_rows(sent: SentRows, nrows: int, ncols: int) -> AnyPattern:
    columns = sent.columns.astype(index_dtype(ncols), copy=False)
    xp = array_module(device_of(columns))
    offsets = xp.zeros(sent.counts.size + 1, index_dtype(int(columns.size)))
    xp.cumsum(sent.counts, dtype=offsets.dtype, out=offsets[1:])
    if sent.listed is None:
        return Pattern(nrows, ncols, offsets, columns)
    return HyperPattern(nrows, ncols, sent.listed, offsets, columns)
