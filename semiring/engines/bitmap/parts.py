"""Parts of a bitmap matrix, its transpose, and slices of its rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import cast

from ...formats import CSR, Bitmap, BitmapPattern, VectorStore, dense_values, index_dtype, structure_only
from ...formats.bitmap import bit_count, bits_shaped, flags_of_words, words_of_flags
from ...memory.allocation import require
from ...memory.arrays import to_host
from .. import registry
from ..registry import bitmap_rule
from ..requests.operands import Index
from ..requests.operations import ExtractMatrix, ExtractRow, ExtractVector, IsSymmetric, Transpose
from ..requests.storage import Slices
from ..rows.bits import bits_of, row_range
from ..sliced.dense_rows import dense_matrix
from .elementwise import note
from .vectors import members, shaped

# A part of at least one position in so many is read from arrays of all positions.
_LARGE_SHARE = 16


@bitmap_rule(Slices)
def row_slices(q: Slices, engine: str) -> Iterator[CSR]:
    """Yield the rows of each slice as uncompressed rows; of values in host memory only those of a slice are copied."""
    return (row_range(q.a, q.bounds[s], q.bounds[s + 1], engine) for s in q.wanted)


@bitmap_rule(ExtractRow)
def extract_row(q: ExtractRow, engine: str) -> VectorStore:
    """t(j) = a(row, j)."""
    note()
    index = Index(q.a.pattern.slots, q.a.ncols, q.row * q.a.ncols)
    return cast(VectorStore, registry.run(ExtractVector(bits_of(q.a), index), engine))


@bitmap_rule(ExtractMatrix)
def extract_matrix(q: ExtractMatrix, engine: str) -> CSR:
    """t(p, q) = a(rows[p], cols[q])."""
    note()
    a, shape = q.a, (q.rows.count, q.cols.count)
    index = _positions(q)
    if index is not None:
        return shaped(registry.run(ExtractVector(bits_of(a), index), engine), shape, engine)
    values, flags = (None if x is None else registry.run(replace(q, a=x), engine) for x in _dense(a))
    return shaped(_bits(a, values, flags), shape, engine)


def _positions(q: ExtractMatrix) -> Index | None:
    """Return the positions i ncols + j of a region, in its order; None if it is large, and no range of positions."""
    a, rows, cols = q.a, q.rows, q.cols
    size, ncols, count = a.pattern.slots, a.ncols, rows.count * cols.count
    if count and rows.array is None and (rows.step == 1 or rows.count == 1):
        if cols.is_all:
            return Index(size, count, rows.start * ncols)
        if cols.array is None and rows.count == 1:
            return Index(size, count, rows.start * ncols + cols.start, cols.step)
    if count * _LARGE_SHARE >= size:
        return None
    positions = members(rows, a.device)[:, None] * ncols + members(cols, a.device)[None, :]
    return Index(size, count, array=positions.reshape(-1).astype(index_dtype(size), copy=False))


@bitmap_rule(Transpose)
def transpose(q: Transpose, engine: str) -> CSR:
    """t(j, i) = a(i, j)."""
    note()
    a = q.a
    if not a.pattern.slots:
        return bits_shaped(bits_of(a), a.ncols, a.nrows)
    values, flags = (None if x is None else registry.run(Transpose(x), engine) for x in _dense(a))
    return bits_shaped(_bits(a, values, flags), a.ncols, a.nrows)


def _dense(a: CSR) -> tuple[CSR | None, CSR]:
    """Return the values of all positions, None where the matrix is iso-valued, and whether each has an entry."""
    bits = bits_of(a)
    require("convert", a.device, 2 * bits.size + (0 if bits.values is None else int(bits.values.nbytes)))
    values = None if bits.values is None else dense_matrix(bits.values, *a.shape)
    return values, dense_matrix(flags_of_words(bits.words, bits.size), *a.shape)


def _bits(a: CSR, values: CSR | None, flags: CSR | None) -> Bitmap:
    """Return values and flags as a vector; the value that all share is that of a."""
    assert flags is not None
    words = words_of_flags(dense_values(flags))
    return Bitmap(
        flags.nvals, a.dtype, words, None if values is None else dense_values(values), a.iso, bit_count(words)
    )


@bitmap_rule(IsSymmetric)
def is_symmetric(q: IsSymmetric, engine: str) -> bool:
    """Return True if a(j, i) is present wherever a(i, j) is.  Synchronizes."""
    pattern = q.pattern
    assert isinstance(pattern, BitmapPattern)
    if pattern.nrows != pattern.ncols:
        return False
    turned = transpose(Transpose(structure_only(pattern)), engine).pattern
    assert isinstance(turned, BitmapPattern)
    return bool(to_host((turned.words == pattern.words).all()))  # synchronizes
