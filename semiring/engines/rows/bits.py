"""Bitmap matrices as uncompressed rows, and uncompressed rows as bitmaps, by conversion of vectors."""

from __future__ import annotations

from typing import cast

import numpy as np

from ...formats import (
    CSR,
    Array,
    Bitmap,
    BitmapPattern,
    IndexList,
    Pattern,
    VectorStore,
    array_module,
    dense_values,
    index_dtype,
    structure_only,
    word_count,
)
from ...formats.bitmap import bit_count, bits_shaped
from ...formats.pattern import scalar_facts
from ...formats.placement import place
from ...memory.allocation import require
from ...memory.arrays import to_device
from ...operators.expression import Expression
from ...operators.types import TypedIndexUnary
from .. import registry
from ..requests.operands import Index
from ..requests.operations import Apply, Convert, ExtractVector

_INT64 = np.dtype(np.int64)
# The number of a position in row-major order; k is the number of columns.
_POSITION = TypedIndexUnary("position", np.dtype(np.bool_), _INT64, _INT64, Expression("i * k + j"))


def bits_of(a: CSR) -> Bitmap:
    """Return the entries of a bitmap matrix as a vector of nrows ncols entries, in the memory of the device."""
    held = place(a, "device")
    pattern = held.pattern
    assert isinstance(pattern, BitmapPattern)
    return Bitmap(pattern.slots, held.dtype, pattern.words, held.values, held.iso, pattern.count)


def listed(u: VectorStore, engine: str) -> IndexList:
    """Return a vector as an index list.  Synchronizes."""
    return u if isinstance(u, IndexList) else cast(IndexList, registry.run(Convert(u, "index"), engine))


def rows_of(a: CSR, engine: str, operation: str = "convert") -> CSR:
    """Return a bitmap matrix as uncompressed rows in the memory of the device, cached with it.  Synchronizes.

    The columns are cached with the pattern.  Cost O(nrows ncols / 32 + nvals).
    """
    known: CSR | None = a.cache.get("rows")
    if known is None:
        pattern = a.pattern
        assert isinstance(pattern, BitmapPattern)
        width = index_dtype(pattern.slots).itemsize + index_dtype(a.ncols).itemsize
        require(operation, a.device, a.nvals * (width + (0 if a.values is None else a.dtype.itemsize)))
        entries = listed(bits_of(a), engine)
        columns: Pattern | None = pattern.facts.get("rows")
        if columns is None:
            facts = scalar_facts(pattern)
            columns = pattern.facts["rows"] = _pattern(entries.indices, a.shape, pattern.indptr, facts)
        known = a.cache["rows"] = CSR(columns, a.dtype, entries.values, entries.iso)
    return known


def _pattern(positions: Array, shape: tuple[int, int], indptr: Array, facts: dict[str, object]) -> Pattern:
    nrows, ncols = shape
    return Pattern(nrows, ncols, indptr, (positions % max(ncols, 1)).astype(index_dtype(ncols), copy=False), facts)


def rows_of_list(u: IndexList, shape: tuple[int, int]) -> CSR:
    """Return an index list of positions as a matrix of uncompressed rows."""
    xp = array_module(u.device)
    edges = (xp.arange(shape[0] + 1, dtype=np.int64) * shape[1]).astype(index_dtype(u.size), copy=False)
    indptr = xp.searchsorted(u.indices, edges).astype(index_dtype(u.nvals), copy=False)
    return CSR(_pattern(u.indices, shape, indptr, {}), u.dtype, u.values, u.iso)


def list_of_rows(a: CSR, engine: str) -> IndexList:
    """Return uncompressed rows in the memory of the device as an index list of positions i ncols + j."""
    size = a.nrows * a.ncols
    return IndexList(size, a.dtype, positions(a, engine).astype(index_dtype(size), copy=False), a.values, a.iso)


def positions(a: CSR, engine: str) -> Array:
    """Return i ncols + j, of int64, for each entry of uncompressed rows, in storage order."""
    return dense_values(registry.run(Apply(structure_only(a.pattern), _POSITION, np.int64(a.ncols)), engine))


def with_bits(a: CSR, engine: str, operation: str = "convert") -> CSR:
    """Return uncompressed rows in the memory of the device as a bitmap matrix.  Cost O(nrows ncols)."""
    slots = a.nrows * a.ncols
    require(operation, a.device, slots // 8 + (0 if a.values is None else slots * a.dtype.itemsize))
    bits: Bitmap = registry.run(Convert(list_of_rows(a, engine), "bitmap"), engine)
    made = bits_shaped(bits, a.nrows, a.ncols)
    made.pattern.facts.update(scalar_facts(a.pattern))
    return made


def row_range(a: CSR, first: int, last: int, engine: str) -> CSR:
    """Return rows `first` to `last` (exclusive) of a bitmap matrix as uncompressed rows; only these are read."""
    pattern = a.pattern
    assert isinstance(pattern, BitmapPattern)
    begin, end = first * a.ncols, last * a.ncols
    low, high = begin >> 5 << 5, min(32 * word_count(end), pattern.slots)  # whole words
    words = pattern.words[low >> 5 : word_count(high)]
    values = None if a.values is None else to_device(a.values[low:high], a.device)
    around: VectorStore = Bitmap(high - low, a.dtype, words, values, a.iso, bit_count(words))
    if (begin, end) != (low, high):
        around = registry.run(ExtractVector(around, Index(high - low, end - begin, begin - low)), engine)
    return rows_of_list(listed(around, engine), (last - first, a.ncols))
