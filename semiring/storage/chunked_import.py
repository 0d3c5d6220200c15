"""Import of compressed rows (CSR arrays), whole or in chunks.

Chunks serve a matrix for the GPU whose entries stay in host memory: the device checks and sorts one chunk at a time and
never holds all entries.  Each chunk is imported as a matrix of its own.  If every chunk comes back unchanged, the given
arrays become the entries of the matrix; otherwise the chunks are copied back into new arrays in host memory.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, cast

import numpy as np

from ..config import engine_for
from ..devices import local_device
from ..engines import registry
from ..engines.requests.operations import ImportCSR
from ..engines.shared.validation import check_columns, check_offsets, repeated
from ..exceptions import DuplicateIndex, InvalidFormat, InvalidValue
from ..formats import CSR, Array, Pattern, Placement, device_of, index_dtype
from ..memory.allocation import allocating, free_memory, require
from ..memory.arrays import address_of, as_type, to_device, to_host
from ..memory.placement import placed
from ..ops.build import duplicate_operator, entry_values
from ..ops.cast import cast_scalar
from .memory_plan import arriving, checked_placement, moved

# Entries of one chunk: enough that the cost of launches and copies is negligible.
_CHUNK = 1 << 25
# Device bytes that checking and sorting an entry need, besides its column and value.
_SCRATCH = 48


def import_csr(
    indptr: Array,
    indices: Array,
    values: Any,
    ncols: int,
    dtype: np.dtype[Any],
    dup_op: Any,
    device: str,
    placement: str = "device",
    *,
    copy: bool = False,
) -> CSR:
    """Return the matrix of checked compressed rows.  Synchronizes on the GPU.

    copy: False shares arrays that have the right types, are sorted and stay where they are.
    placement: of its entries.  Entries in host memory that stay there are imported in chunks.
    OutOfMemory, with what would fit, if the entries do not fit there.
    """
    for name, array in (("indptr", indptr), ("col_indices", indices)):
        if array.ndim != 1 or array.dtype.kind not in "iu":
            raise InvalidValue(f"{name} must be a one-dimensional array of integers, got {array.ndim}-d {array.dtype}")
    if indptr.size == 0:
        raise InvalidValue("indptr must have nrows + 1 elements, got none")
    chosen = arriving(indptr, indices, values, ncols, dtype, device, checked_placement(placement))
    dup = duplicate_operator(dup_op, dtype)
    if copy:
        here = "cpu" if chosen != "device" else device  # elsewhere they are copied on the way
        with allocating("from_csr", device):
            indptr = _own(indptr, index_dtype(int(indices.size)), here)
            indices, values = _own(indices, index_dtype(ncols), here), _own(values, dtype, here)
    if chosen != "device" and device == "cuda" and device_of(indices) == "cpu":
        x, iso = entry_values(to_host(values), int(indices.size), dtype, "cpu", convert=False)
        with allocating("from_csr", device):
            return import_chunks(to_host(indptr), indices, x, iso, ncols, dtype, dup, device, chosen)
    with allocating("from_csr", device):
        indptr, indices = to_device(indptr, device), to_device(indices, device)
        values, iso = entry_values(values, int(indices.size), dtype, device)
    spec = ImportCSR(int(indptr.size) - 1, ncols, dtype, indptr, indices, values, iso, dup)
    made = cast(CSR, registry.run(spec, engine_for(device)))
    return moved(made, chosen, None, "from_csr")


def _own(array: Array, dtype: np.dtype[Any], device: str) -> Array:
    """Return a copy of an array that the import would share: of the type of the result, on its device."""
    return array.copy() if array.ndim and array.dtype == dtype and device_of(array) == local_device(device) else array


def import_chunks(
    indptr: np.ndarray[Any, Any],
    indices: np.ndarray[Any, Any],
    values: np.ndarray[Any, Any] | None,
    iso: np.generic | None,
    ncols: int,
    dtype: np.dtype[Any],
    dup: Any,
    device: str,
    placement: Placement,
) -> CSR:
    """Return a matrix for `device` whose entries stay in host memory, ``"pinned"`` or ``"host"``.

    Parameters and errors as `ImportCSR`; errors report positions in the whole arrays.  `values` may be of another type
    than `dtype`.  Cost O(nvals) and one transfer of the entries to the device.  Synchronizes.
    """
    nrows, nvals, engine = int(indptr.size) - 1, int(indices.size), engine_for(device)
    check_offsets(indptr, nrows, nvals)
    indptr = indptr.astype(np.int64, copy=False)
    kept = _Kept(indptr, indices, values, iso, index_dtype(ncols), dtype)
    for first, last in _bounds(indptr, _most(device, dtype.itemsize if values is not None else 0)):
        begin, end = int(indptr[first]), int(indptr[last])
        if begin == end:
            kept.pass_over(first, last)
            continue
        offsets = to_device(indptr[first : last + 1] - begin, device)
        part = to_device(indices[begin:end], device)
        x = None if values is None else as_type(to_device(values[begin:end], device), dtype, copy=False)
        request = ImportCSR(last - first, ncols, dtype, offsets, part, x, iso, dup)
        try:
            made = registry.run(request, engine)
        except InvalidFormat:
            check_columns(indices[begin:end], ncols, begin)  # reports the position in the whole array
            raise
        except DuplicateIndex as error:
            rows = np.repeat(np.arange(first, last), np.diff(indptr[first : last + 1]))
            raise (_repeated(rows, indices[begin:end]) or error) from error
        kept.take(first, last, made, unchanged=address_of(made.indices) == address_of(part))
    indptr, indices, values = kept.finished()
    offsets = to_device(indptr.astype(index_dtype(int(indices.size)), copy=False), device)
    pattern = Pattern(nrows, ncols, offsets, placed(indices, placement, device), placement=placement)
    if values is None:
        assert iso is not None, "entries have values, or share one"
        return CSR(pattern, dtype, None, cast_scalar(iso, dtype))
    return CSR(pattern, dtype, placed(values, placement, device))


class _Kept:
    """The arrays of the result: those given while every chunk comes back unchanged, copies from then on."""

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
        """Continue in new arrays that begin with the entries so far."""
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
        """Add the rows `first` to `last` as the engine returned them."""
        if self.shared and not unchanged:
            self._copy()
        place = slice(self.filled, self.filled + made.nvals)
        if not self.shared:
            self.indices[place] = to_host(made.indices)  # synchronizes
            if self.values is None and made.values is not None:
                # All entries shared one value before repeated ones were combined.
                self.values, self.iso = np.full(self.indices.size, self.iso, self.dtypes[1]), None
            if self.values is not None:
                self.values[place] = made.iso if made.values is None else to_host(made.values)  # synchronizes
            # Combining repeated columns moves the start of all rows that follow.
            self.indptr[first : last + 1] = to_host(made.indptr).astype(np.int64) + self.filled  # synchronizes
        self.filled = place.stop

    def pass_over(self, first: int, last: int) -> None:
        """Add the rows `first` to `last`, which have no entries."""
        if not self.shared:
            self.indptr[first : last + 1] = self.filled

    def finished(self) -> tuple[Any, Any, Any]:
        """Return indptr, indices and values of the whole result."""
        values = None if self.values is None else self.values[: self.filled]
        return self.indptr, self.indices[: self.filled], values


def _most(device: str, itemsize: int) -> int:
    """Return the number of entries of a chunk, of values of `itemsize` bytes, that the device has room for."""
    free = free_memory(device)
    if free is None:
        free = 1 << 33
    return max(1, min(_CHUNK, free // (2 * (_SCRATCH + 2 * itemsize))))


def _bounds(indptr: np.ndarray[Any, Any], most: int) -> list[tuple[int, int]]:
    """Return ranges of rows with at most `most` entries each, or one row with more."""
    nrows, ends = int(indptr.size) - 1, [0]
    while ends[-1] < nrows:
        reach = int(np.searchsorted(indptr, int(indptr[ends[-1]]) + most, "right")) - 1
        ends.append(min(max(reach, ends[-1] + 1), nrows))
    return list(pairwise(ends))


def _repeated(rows: np.ndarray[Any, Any], columns: np.ndarray[Any, Any]) -> DuplicateIndex | None:
    """Return the error for the first repeated entry of a chunk, in the order of rows and columns."""
    order = np.lexsort((columns, rows))
    i, j = rows[order], columns[order]
    again = np.flatnonzero((i[1:] == i[:-1]) & (j[1:] == j[:-1]))
    if not again.size:
        return None
    return repeated((int(i[again[0]]), int(j[again[0]])))
