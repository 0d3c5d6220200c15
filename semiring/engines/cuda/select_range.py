"""Selection of a range of columns in each row, as by `tril`: rows are searched, and ranges of entries are copied."""

from __future__ import annotations

import functools
from typing import Any, Final, NamedTuple

import cupy
import numpy as np

from ...dtypes import INT32, INT64
from ...formats import CSR
from ...operators import indexunary
from ...operators.expression import Expression
from . import tuning
from .arguments import arguments
from .extract import copied_rows
from .kernel import Handles, Kernel, kernel
from .launch import read_one
from .row_tiles import TILE_BLOCK, TILE_TEXT, lookback_words
from .specialize import constants, typedefs

_LARGEST: Final = 1 << 62


class ColumnRange(NamedTuple):
    """The columns [low + i * low_step, high + i * high_step) of row i."""

    low: int
    low_step: int
    high: int
    high_step: int


def column_range(expr: Expression, k: Any) -> ColumnRange | None:
    """Return the range of columns for which a normalized condition holds; None if it is not a range.

    k: the thunk.
    """
    if np.asarray(k).dtype.kind not in "iu" or abs(int(k)) >= _LARGEST:
        return None
    k = int(k)
    none = (-_LARGEST, 0), (_LARGEST, 0)
    ranges = {
        indexunary.tril.expr: (none[0], (k + 1, 1)),
        indexunary.triu.expr: ((k, 1), none[1]),
        indexunary.diag.expr: ((k, 1), (k + 1, 1)),
        indexunary.colle.expr: (none[0], (k + 1, 0)),
        indexunary.colgt.expr: ((k + 1, 0), none[1]),
    }
    found = ranges.get(expr)
    return None if found is None else ColumnRange(*found[0], *found[1])


def select_range(a: CSR, columns: ColumnRange) -> CSR:
    """Return the entries of a in a range of columns of each row; `a` itself if these are all.

    Synchronizes: reads their number.
    """
    n, tiles = a.nrows, -(-a.nrows // tuning.TILE)
    starts, offsets = cupy.empty(n, a.indptr.dtype), cupy.empty(n + 1, a.indptr.dtype)
    words = lookback_words(tiles)
    packed = arguments("select_range.cuh", "RangeArguments")(
        nrows=n, ncols=a.ncols, indptr=a.indptr, indices=a.indices,
        low=columns.low, low_step=columns.low_step, high=columns.high, high_step=columns.high_step,
        starts=starts, offsets=offsets, words=words,
    )  # fmt: skip
    _kernel(a.indptr.dtype, a.indices.dtype)(tiles, TILE_BLOCK, packed)
    total = read_one(words)  # synchronizes
    if total == a.nvals:
        return a
    return copied_rows(a, np.dtype(np.int32), (None, 0, 1), n, starts, offsets, total)


@functools.cache
def _kernel(offset: np.dtype[Any], column: np.dtype[Any]) -> Kernel:
    types = typedefs(P=offset, I=column, V=np.dtype(np.uint8))
    return kernel("select_range.cuh", "range_offsets", types + TILE_TEXT + constants(FORM=2))


def samples() -> Handles:
    """Return the kernels of this module for representative types and operators: see `catalog`."""
    return _kernel(INT32, INT32), _kernel(INT64, INT32), _kernel(INT64, INT64)
