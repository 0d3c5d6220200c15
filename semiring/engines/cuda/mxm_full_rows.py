"""The rows of a sparse matrix for products with full rows, cached with its pattern."""

from __future__ import annotations

import functools
import weakref
from itertools import product
from typing import Any, ClassVar, NamedTuple

import cupy
import numpy as np

from ...dtypes import INT32, INT64
from ...formats import AnyPattern, Array, FullPattern, index_dtype, word_count
from ...formats.csr import uncompressed_pattern
from ...formats.full import every_row_full
from ...memory.arrays import copied
from . import tuning
from .degrees import degrees
from .kernel import Handles, Kernel, kernel
from .launch import BLOCK, grid, read_back, read_one
from .primitives import exclusive_scan
from .specialize import constants, typedefs

__all__ = ["ProductRows", "Segments", "product_rows", "whole_rows"]

_FILE = "mxm_full_rows.cuh"
_INT32 = np.dtype(np.int32)
_INT64 = np.dtype(np.int64)


class Segments(NamedTuple):
    """Rows with more than FULL_SEGMENT entries, divided into segments of so many.

    segments: the row and the first entry of each.  long_rows: the row and the first segment of each.
    """

    segment_count: int
    segments: Array | None
    long_count: int
    long_rows: Array | None


class ProductRows:
    """Facts about the rows of a sparse pattern."""

    __slots__ = ("_every", "_segments", "_some")

    # Remains valid if the entries of the pattern are moved to other memory.
    from_offsets: ClassVar[bool] = True

    def __init__(self) -> None:
        self._segments: Segments | None = None
        # The last result where no row of the full matrix is empty, and the last one where some are, with that matrix.
        self._every: FullPattern | None = None
        self._some: tuple[weakref.ref[AnyPattern], FullPattern] | None = None

    def segments(self, pattern: AnyPattern) -> Segments:
        """Return the segments of long rows.  Synchronizes the first time."""
        if self._segments is None:
            self._segments = _segments(pattern)
        return self._segments

    def result(self, pattern: AnyPattern, width: int, b: FullPattern | None = None) -> FullPattern:
        """Return the pattern of a product with `width` columns: the rows that are not empty.

        b: the full matrix, if rows of it are empty; rows of the result then have an entry whose column is a row of b
        that is not.  The last results are cached; a new one synchronizes.
        """
        if b is None:
            made = self._every
            if made is None or made.ncols != width:
                made = self._every = _result(pattern, width, None)
            return made
        if self._some is None or self._some[0]() is not b:
            self._some = weakref.ref(b), _result(pattern, width, b)
        return self._some[1]


def product_rows(pattern: AnyPattern) -> ProductRows:
    """Return the facts about a pattern's rows.  Does not wait for the device."""
    known = pattern.facts.get("cuda.product_rows")
    if isinstance(known, ProductRows):
        return known
    made = pattern.facts["cuda.product_rows"] = ProductRows()
    return made


@functools.cache
def _kernel(entry: str, segment: int, *types: np.dtype[Any]) -> Kernel:
    named = typedefs(**dict(zip(("P", "I", "BP", "R", "C"), types, strict=True)))
    return kernel(_FILE, entry, named + constants(SEGMENT=segment))


def _types(pattern: AnyPattern, other: Any = _INT32, rank: Any = _INT32, out: Any = _INT32) -> tuple[Any, ...]:
    """other: of the offsets of the full matrix or of the mask.  rank, out: of ranks, and of the offsets of a result."""
    return tuning.FULL_SEGMENT, pattern.indptr.dtype, index_dtype(pattern.ncols), other, rank, out


def _segments(pattern: AnyPattern) -> Segments:
    most = pattern.nvals // tuning.FULL_SEGMENT
    if most == 0 or degrees(pattern).longest <= tuning.FULL_SEGMENT:  # synchronizes
        return Segments(0, None, 0, None)
    state, listed = cupy.zeros(2, np.uint64), cupy.empty(6 * most, _INT64)
    run = _kernel("mxm_full_segments", *_types(pattern))
    run(grid(pattern.nrows), BLOCK, pattern.indptr, pattern.nrows, state, listed, listed[2 * most :])
    long_count, count = (int(number) for number in read_back(state))  # synchronizes
    return Segments(count, copied(listed[2 * most : 2 * (most + count)]), long_count, copied(listed[: 2 * long_count]))


def _result(pattern: AnyPattern, width: int, b: FullPattern | None) -> FullPattern:
    nrows = pattern.nrows
    if isinstance(pattern, FullPattern) and pattern.every_row:
        return every_row_full(nrows, width, "cuda")
    if b is None:
        words = degrees(pattern).words
    else:
        words = cupy.empty(word_count(nrows), np.uint32)
        run = _kernel("mxm_full_hits", *_types(pattern, b.indptr.dtype))
        run(grid(32 * words.size), BLOCK, pattern.indptr, uncompressed_pattern(pattern).indices, nrows, b.indptr, words)
    return _marked_rows(pattern, words, width)


def whole_rows(pattern: AnyPattern, present: Array, mask: AnyPattern, width: int, share: int) -> FullPattern:
    """Return the rows of a product with `width` columns of which all columns are computed under a mask.

    pattern: of the sparse matrix.  present: the rows of the product that are not empty.  share: rows for which the mask
    has an entry for so many columns or fewer are computed as a whole.  Rows divided into segments are as well, if the
    mask has any entry.  Synchronizes.
    """
    words = cupy.empty(word_count(pattern.nrows), np.uint32)
    run = _kernel("mxm_full_whole", *_types(pattern, mask.indptr.dtype))
    run(grid(pattern.nrows), BLOCK, pattern.indptr, mask.indptr, present, pattern.nrows, width, share, words)
    return _marked_rows(pattern, words, width)


def _marked_rows(pattern: AnyPattern, words: Array, width: int) -> FullPattern:
    """Return the pattern of `width` columns in which the marked rows are full, the others empty.  Synchronizes."""
    nrows = pattern.nrows
    ranks = exclusive_scan(words, index_dtype(nrows), popcount=True)
    count = read_one(ranks[-1:])  # synchronizes
    if count == nrows:
        return every_row_full(nrows, width, "cuda")
    indptr = cupy.empty(nrows + 1, index_dtype(count * width))
    run = _kernel("mxm_full_offsets", *_types(pattern, _INT32, ranks.dtype, indptr.dtype))
    run(grid(nrows + 1), BLOCK, words, ranks, nrows, width, indptr)
    return FullPattern(nrows, width, count * width, indptr)


def samples() -> Handles:
    """Return the kernels of this module for representative types and operators: see `catalog`."""
    names = "segments", "hits", "whole", "offsets"
    some, others = (INT32, INT64, INT32, INT64, INT32), (INT64, INT32, INT64, INT32, INT64)
    return tuple(
        _kernel(f"mxm_full_{name}", tuning.FULL_SEGMENT, *types) for name, types in product(names, (some, others))
    )
