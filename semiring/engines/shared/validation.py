"""Errors for arrays that do not form a valid matrix, worded alike for all engines, and validation in host memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...exceptions import DuplicateIndex, InvalidFormat
from ...formats import Array

__all__ = [
    "check_columns",
    "check_offsets",
    "check_size",
    "column_outside",
    "offsets_end",
    "offsets_fall",
    "offsets_start",
    "repeated",
]


def check_size(size: int, nrows: int) -> None:
    """Raise InvalidFormat unless there is one more row offset than there are rows."""
    if size != nrows + 1:
        raise InvalidFormat(f"indptr has {size} offsets; expected nrows + 1 = {nrows + 1}")


def offsets_start(first: Any) -> InvalidFormat:
    """Return the error for a first row offset that is not 0."""
    return InvalidFormat(f"indptr[0] is {first}; expected 0")


def offsets_fall(k: int, before: Any, after: Any) -> InvalidFormat:
    """Return the error for an offset k + 1 that is less than offset k."""
    return InvalidFormat(f"indptr[{k + 1}] is {after}, less than indptr[{k}] = {before}; row offsets must not decrease")


def offsets_end(nrows: int, last: Any, nvals: int) -> InvalidFormat:
    """Return the error for a last row offset that is not the number of columns."""
    return InvalidFormat(f"indptr[{nrows}] is {last}; expected the number of columns given, {nvals}")


def column_outside(p: int, column: Any, ncols: int) -> InvalidFormat:
    """Return the error for an entry p whose column is out of range."""
    return InvalidFormat(f"indices[{p}] is {column}; expected a column from 0 to {ncols - 1}")


def repeated(place: int | tuple[int, int]) -> DuplicateIndex:
    """Return the error for an index, or a (row, column) position, that is repeated where no `dup` is given."""
    text = f"entry {place} is given more than once; say how to combine values with dup_op="
    return DuplicateIndex(text, place=place if isinstance(place, tuple) else (place,))


def check_offsets(indptr: Array, nrows: int, nvals: int) -> None:
    """Raise InvalidFormat unless offsets in host memory rise from 0 to the number of columns."""
    check_size(indptr.size, nrows)
    if indptr[0] != 0:
        raise offsets_start(indptr[0])
    falls = np.flatnonzero(indptr[1:] < indptr[:-1])
    if falls.size:
        k = int(falls[0])
        raise offsets_fall(k, indptr[k], indptr[k + 1])
    if indptr[nrows] != nvals:
        raise offsets_end(nrows, indptr[nrows], nvals)


def check_columns(indices: Array, ncols: int, begin: int = 0) -> None:
    """Raise InvalidFormat unless all columns in host memory, those of the entries from `begin` on, are in range."""
    if indices.size and (indices.min() < 0 or indices.max() >= ncols):
        p = int(np.flatnonzero((indices < 0) | (indices >= ncols))[0])
        raise column_outside(begin + p, indices[p], ncols)
