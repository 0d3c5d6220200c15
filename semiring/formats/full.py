"""Dense rows: a row holds an entry in every column, or none at all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Self

import numpy as np

from ..memory.arrays import Array, array_module, cyclic, device_of, index_dtype, to_device, to_host
from ..memory.placement import Placement
from .pattern import AnyPattern, offset_facts, scalar_facts
from .records import derived, record


@record
class FullPattern(AnyPattern):
    """The structure of a matrix whose rows are full or empty.

    Entry p has the column ``p % ncols``, so columns are not stored, and the values of the rows that are not empty are a
    dense array in row-major order.  The product of a sparse matrix with a dense one has this form: its row is empty
    where the row of the sparse matrix is.

    nrows, ncols, nvals: shape and number of entries; `nvals` is a multiple of `ncols`.
    indptr: ``nrows + 1`` offsets, from 0 to ``nvals``, each 0 or ``ncols`` larger than the one before;
        `index_dtype(nvals)`; in the device's memory.
    facts: see `AnyPattern`.
    placement: that of the values.
    """

    format = "full"
    ARRAYS = ("indptr",)
    ENTRIES = None
    codec = None
    base = at = None

    nrows: int
    ncols: int
    nvals: int
    indptr: Array
    facts: dict[str, Any] = field(default_factory=dict, repr=False)
    placement: Placement = "device"

    @derived
    def every_row(self) -> bool:
        """True if no row is empty: all positions hold a value."""
        return self.nvals == self.nrows * self.ncols

    @derived
    def by_position(self) -> bool:
        """True if no row is empty."""
        return self.every_row

    @classmethod
    def sections(
        cls, nrows: int, ncols: int, nvals: int, codec: str | None, elements: int
    ) -> dict[str, tuple[int, np.dtype[Any]]]:
        """Return the size and the dtype of the offsets."""
        return {"indptr": (nrows + 1, index_dtype(nvals))}

    @classmethod
    def wrong_ends(
        cls, arrays: Mapping[str, Array], nvals: int, codec: str | None, shape: tuple[int, ...]
    ) -> tuple[str, str | None] | None:
        """Check all offsets: each row holds every column or none."""
        wrong = super().wrong_ends(arrays, nvals, codec, shape)
        if wrong is not None:
            return wrong
        lengths = np.diff(to_host(arrays["indptr"]))
        bad = np.flatnonzero((lengths != 0) & (lengths != shape[1]))
        if bad.size:
            row = int(bad[0])
            return f"expected 0 or {shape[1]} entries in row {row}, found {int(lengths[row])}", "indptr"
        return None

    @classmethod
    def of_arrays(
        cls,
        nrows: int,
        ncols: int,
        nvals: int,
        codec: str | None,
        arrays: Mapping[str, Array],
        facts: dict[str, Any],
        placement: Placement,
    ) -> Self:
        """Return the pattern with these arrays."""
        return cls(nrows, ncols, nvals, arrays["indptr"], facts, placement)

    def columns(self, first: int, last: int) -> Array:
        """Return the columns of the entries from `first` to `last` (exclusive), as an array on the device."""
        return cyclic(first, last, max(self.ncols, 1), index_dtype(self.ncols), self.device)

    def placed(self, placement: Placement, device: str) -> Self:
        """Return the same pattern for values with this placement."""
        facts = offset_facts(self) if self.device == device else scalar_facts(self)
        return self.with_arrays({"indptr": to_device(self.indptr, device)}, facts, placement)


def every_row_full(nrows: int, ncols: int, device: str) -> FullPattern:
    """Return the pattern in which every position holds a value."""
    nvals = nrows * ncols
    xp, index = array_module(device), index_dtype(nvals)
    offsets = xp.arange(0, nvals + 1, ncols, dtype=index) if ncols else xp.zeros(nrows + 1, dtype=index)
    facts = {"symmetric": True} if nrows == ncols else {}
    return FullPattern(nrows, ncols, nvals, offsets, facts)


def full_rows(present: Array, ncols: int) -> FullPattern:
    """Return the pattern with one boolean a row: whether the row is full."""
    xp = array_module(device_of(present))
    nrows = int(present.size)
    offsets = xp.zeros(nrows + 1, dtype=np.int64)
    xp.cumsum(present, out=offsets[1:])
    nvals = int(offsets[-1]) * ncols  # synchronizes on the GPU
    return FullPattern(nrows, ncols, nvals, (offsets * ncols).astype(index_dtype(nvals), copy=False))
