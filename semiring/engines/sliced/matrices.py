"""Construction of a matrix from results that hold ranges of its rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...formats import CSR, Full, FullPattern, Pattern, array_module, dense_values, index_dtype
from ...memory.allocation import require
from ..rows.slices import RowSlice, same_iso


class RowRanges:
    """Collects matrices that hold consecutive ranges of rows; rows that are not added are empty."""

    def __init__(self, operation: str, nrows: int, ncols: int, dtype: np.dtype[Any], device: str) -> None:
        self.operation, self.device = operation, device
        self.nrows, self.ncols, self.dtype = nrows, ncols, dtype
        self._parts: list[tuple[int, int, CSR]] = []

    def add(self, row_slice: RowSlice, result: CSR) -> None:
        """Add the result of a slice: of the slice's height, or full-height with entries in its rows only."""
        kept = row_slice.detached(result)
        begin = row_slice.first if kept.nrows > row_slice.last - row_slice.first else 0
        self.put(row_slice.first, row_slice.last, kept, begin)

    def put(self, first: int, last: int, rows: CSR, begin: int = 0) -> None:
        """Add the rows from `first` to `last`, which are those of `rows` from its row `begin` on."""
        if rows.nvals:
            self._parts.append((first, last, _range(rows, begin, last - first)))

    def matrix(self) -> CSR:
        """Return the matrix of all rows; its rows are full if those of all parts are."""
        xp, parts = array_module(self.device), self._parts
        total = sum(part.nvals for _, _, part in parts)
        column, offset = index_dtype(self.ncols), index_dtype(total)
        iso = same_iso([part.iso for _, _, part in parts])
        full = bool(parts) and all(isinstance(part.pattern, FullPattern) for _, _, part in parts)
        width = (0 if full else column.itemsize) + (0 if iso is not None else self.dtype.itemsize)
        require(self.operation, self.device, total * width + (self.nrows + 1) * offset.itemsize)
        offsets = xp.zeros(self.nrows + 1, dtype=offset)
        columns = None if full else xp.empty(total, dtype=column)
        values = None if iso is not None else xp.empty(total, dtype=self.dtype)
        so_far = done = 0
        for first, last, part in parts:
            offsets[done : first + 1] = so_far
            offsets[first : last + 1] = part.indptr
            if so_far:
                offsets[first : last + 1] += so_far
            slot = slice(so_far, so_far + part.nvals)
            if columns is not None:
                pattern = part.pattern
                columns[slot] = pattern.columns(0, part.nvals) if isinstance(pattern, FullPattern) else part.indices
            if values is not None:
                values[slot] = part.iso if part.values is None else part.values
            so_far, done = so_far + part.nvals, last + 1
        offsets[done:] = so_far
        if columns is None:
            return CSR(FullPattern(self.nrows, self.ncols, total, offsets), self.dtype, values, iso)
        return CSR(Pattern(self.nrows, self.ncols, offsets, columns), self.dtype, values, iso)


def _range(rows: CSR, begin: int, count: int) -> CSR:
    """Return `count` rows from `begin` on of a matrix whose other rows are empty."""
    if begin == 0 and count == rows.nrows:
        return rows
    offsets, pattern = rows.indptr[begin : begin + count + 1], rows.pattern
    if isinstance(pattern, FullPattern):
        pattern = FullPattern(count, rows.ncols, rows.nvals, offsets)
    else:
        pattern = Pattern(count, rows.ncols, offsets, rows.indices)
    return CSR(pattern, rows.dtype, rows.values, rows.iso)


def values_together(parts: Sequence[CSR | Full], dtype: np.dtype[Any], device: str) -> tuple[Any, np.generic | None]:
    """Return (values, iso) of the entries of all parts, concatenated; there is at least one part."""
    iso = same_iso([part.iso for part in parts])
    if iso is not None:
        return None, iso
    return array_module(device).concatenate([dense_values(part) for part in parts]).astype(dtype, copy=False), None
