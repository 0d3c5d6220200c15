"""Compressed rows out of host memory, checked and sorted by the GPU slice by slice: never all of them are there.

Each slice is put to the engine as a matrix of its own.  Arrays of the right types whose rows turn out to be sorted are
taken as they are; otherwise the rows go, as they come back, into new arrays in host memory.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from ..engines import registry
from ..engines.memory import free_memory, require
from ..engines.refusals import check_columns, check_offsets, repeated
from ..engines.spec import ImportCSR
from ..exceptions import DuplicateIndex, InvalidFormat
from ..formats import CSR, Pattern, Placement, index_dtype
from ..formats.arrays import to_device, to_host
from ..formats.placement import placed

# Entries of one slice: enough that launches and copies cost nothing beside them.
_SLICE = 1 << 25
# Bytes that checking and sorting an entry need on the device, its column and value apart.
_SCRATCH = 48


def import_streamed(
    indptr: np.ndarray[Any, Any],
    indices: np.ndarray[Any, Any],
    values: np.ndarray[Any, Any] | None,
    iso: np.generic | None,
    ncols: int,
    dtype: np.dtype[Any],
    dup: Any,
    placement: Placement,
) -> CSR:
    """A matrix for the GPU whose entries stay in host memory, ``"pinned"`` or ``"host"``.

    Parameters and errors as `ImportCSR`; the positions that errors name are those of the whole arrays.  `values` may
    be of another type than `dtype`.  Cost O(nvals) and one way over the link.  Synchronises.
    """
    nrows, nvals = int(indptr.size) - 1, int(indices.size)
    check_offsets(indptr, nrows, nvals)
    indptr = indptr.astype(np.int64, copy=False)
    kept = _Kept(indptr, indices, values, iso, index_dtype(ncols), dtype)
    for first, last in _bounds(indptr, _most(dtype.itemsize if values is not None else 0)):
        begin, end = int(indptr[first]), int(indptr[last])
        if begin == end:
            kept.pass_over(first, last)
            continue
        offsets = to_device(indptr[first : last + 1] - begin, "cuda")
        part = to_device(indices[begin:end], "cuda")
        x = None if values is None else to_device(values[begin:end], "cuda").astype(dtype, copy=False)
        question = ImportCSR(last - first, ncols, dtype, offsets, part, x, iso, dup)
        try:
            made = registry.run(question, "cuda")
        except InvalidFormat:
            check_columns(indices[begin:end], ncols, begin)  # which names the place among all entries
            raise
        except DuplicateIndex as error:
            rows = np.repeat(np.arange(first, last), np.diff(indptr[first : last + 1]))
            raise (_repeated(rows, indices[begin:end]) or error) from error
        kept.take(first, last, made, unchanged=made.indices.data.ptr == part.data.ptr)
    indptr, indices, values = kept.finished()
    offsets = to_device(indptr.astype(index_dtype(int(indices.size)), copy=False), "cuda")
    pattern = Pattern(nrows, ncols, offsets, placed(indices, placement, "cuda"), placement=placement)
    if values is None:
        assert iso is not None, "entries have values, or share one"
        return CSR(pattern, dtype, None, dtype.type(iso))
    return CSR(pattern, dtype, placed(values, placement, "cuda"))


class _Kept:
    """The arrays of the result: those given, as long as every slice comes back as it went; then copies."""

    def __init__(
        self,
        indptr: Any,
        indices: Any,
        values: Any,
        iso: np.generic | None,
        columns: np.dtype[Any],
        dtype: np.dtype[Any],
    ) -> None:
        self.given = indices, values
        self.indptr, self.indices, self.values, self.iso = indptr, indices, values, iso
        self.dtypes = columns, dtype
        self.filled = 0
        self.shared = True
        if indices.dtype != columns or (values is not None and values.dtype != dtype):
            self._copy()

    def _copy(self) -> None:
        """Go on in new arrays, which begin as the old ones did."""
        columns, dtype = self.dtypes
        indices, values = self.given
        require("from_csr", "cpu", int(indices.size) * (columns.itemsize + (0 if values is None else dtype.itemsize)))
        self.indices = np.empty(indices.size, columns)
        self.indices[: self.filled] = indices[: self.filled]
        if values is not None:
            self.values = np.empty(indices.size, dtype)
            self.values[: self.filled] = values[: self.filled]
        self.indptr, self.shared = self.indptr.copy(), False

    def take(self, first: int, last: int, made: CSR, *, unchanged: bool) -> None:
        """The rows `first` to `last` as the engine gives them back."""
        if self.shared and not unchanged:
            self._copy()
        place = slice(self.filled, self.filled + made.nvals)
        if not self.shared:
            self.indices[place] = to_host(made.indices)  # synchronises
            if self.values is None and made.values is not None:
                # One value for all, until repeated entries were combined.
                self.values, self.iso = np.full(self.indices.size, self.iso, self.dtypes[1]), None
            if self.values is not None:
                self.values[place] = made.iso if made.values is None else to_host(made.values)  # synchronises
            # Where repeated columns have been combined, all rows that follow begin earlier.
            self.indptr[first : last + 1] = to_host(made.indptr).astype(np.int64) + self.filled  # synchronises
        self.filled = place.stop

    def pass_over(self, first: int, last: int) -> None:
        """The rows `first` to `last` have no entries."""
        if not self.shared:
            self.indptr[first : last + 1] = self.filled

    def finished(self) -> tuple[Any, Any, Any]:
        """indptr, indices and values of the whole result."""
        values = None if self.values is None else self.values[: self.filled]
        return self.indptr, self.indices[: self.filled], values


def _most(itemsize: int) -> int:
    free = free_memory("cuda") or 1 << 33
    return max(1, min(_SLICE, free // (2 * (_SCRATCH + 2 * itemsize))))


def _bounds(indptr: np.ndarray[Any, Any], most: int) -> list[tuple[int, int]]:
    """Runs of rows that hold at most so many entries, or one row that holds more."""
    nrows, cuts = int(indptr.size) - 1, [0]
    while cuts[-1] < nrows:
        reach = int(np.searchsorted(indptr, int(indptr[cuts[-1]]) + most, "right")) - 1
        cuts.append(min(max(reach, cuts[-1] + 1), nrows))
    return list(pairwise(cuts))


def _repeated(rows: np.ndarray[Any, Any], columns: np.ndarray[Any, Any]) -> DuplicateIndex | None:
    """The error for the first repeated entry of a slice, in the order of rows and columns."""
    order = np.lexsort((columns, rows))
    i, j = rows[order], columns[order]
    again = np.flatnonzero((i[1:] == i[:-1]) & (j[1:] == j[:-1]))
    if not again.size:
        return None
    return repeated((int(i[again[0]]), int(j[again[0]])))
