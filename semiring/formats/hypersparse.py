"""Hypersparse rows: only the rows that have entries are listed, so memory is of the number of entries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Self, cast

import numpy as np

from ..config import config
from ..devices import in_parts, local_device, on_device
from ..memory.allocation import require_rows
from ..memory.arrays import Array, array_module, device_of, index_dtype, to_host
from ..memory.placement import Placement
from .csr import CSR, empty_csr
from .pattern import AnyPattern, Pattern, offset_facts
from .records import derived, record

# The offsets of fewer rows take less memory than the kernels of one operation: such matrices have an offset for each.
FEWEST_ROWS = 1 << 20


def prefers_hypersparse(nrows: int, listed: int) -> bool:
    """Return True if a matrix of `nrows` rows, of which at most `listed` have entries, is to become hypersparse.

    The rule: at least 2^20 rows, of which a share of at most `config.hyper_switch` has entries.
    """
    return nrows >= FEWEST_ROWS and listed <= config.hyper_switch * nrows and config.hyper_switch > 0


@record
class HyperPattern(AnyPattern):
    """The structure of a matrix of which few rows have entries ("DCSR").

    Row ``rows[p]`` holds the columns ``indices[offsets[p]:offsets[p + 1]]``, ascending, without duplicates; every other
    row is empty.

    nrows, ncols: the shape.
    rows: the rows that have entries, ascending; `index_dtype(nrows)`.
    offsets: one more than rows, rising strictly from 0 to ``nvals``; `index_dtype(nvals)`.
    indices: ``nvals`` columns; `index_dtype(ncols)`; stored according to `placement`.
    facts: see `AnyPattern`.
    """

    format = "hypersparse"
    ARRAYS = ("rows", "offsets", "indices")
    ENTRIES = "indices"
    COUNTED = "rows"
    codec = None
    base = at = None

    nrows: int
    ncols: int
    rows: Array
    offsets: Array
    indices: Array
    facts: dict[str, Any] = field(default_factory=dict, repr=False)
    placement: Placement = "device"

    @derived
    def nvals(self) -> int:
        """The number of stored entries."""
        return int(self.indices.size)

    @derived
    def device(self) -> str:
        """The device that computes with it."""
        return device_of(self.rows)

    @derived
    def inner(self) -> Pattern:
        """The listed rows as uncompressed rows, numbered from 0; they share the arrays."""
        return Pattern(self.offset_rows, self.ncols, self.offsets, self.indices, {}, self.placement)

    @property
    def offset_rows(self) -> int:
        """The number of rows that have an offset: the listed ones."""
        return int(self.rows.size)

    def all_offsets(self) -> Array:
        """Return an offset for each of all rows, as `Pattern.indptr` holds them; this format has no such array.

        Cost and memory O(nrows) on every call; OutOfMemory if it is short.
        """
        require_rows("convert", self.device, self.nrows, self.nvals, 0)
        xp = array_module(self.device)
        made = xp.zeros(self.nrows + 1, dtype=self.offsets.dtype)
        made[1:][self.rows] = xp.diff(self.offsets)
        return xp.cumsum(made, dtype=made.dtype)

    @classmethod
    def sections(
        cls, nrows: int, ncols: int, nvals: int, codec: str | None, elements: int
    ) -> dict[str, tuple[int, np.dtype[Any]]]:
        """Return the size and the dtype of each array; `elements` is the number of listed rows."""
        return {
            "rows": (elements, index_dtype(nrows)),
            "offsets": (elements + 1, index_dtype(nvals)),
            "indices": (nvals, index_dtype(ncols)),
        }

    @classmethod
    def wrong_ends(
        cls, arrays: Mapping[str, Array], nvals: int, codec: str | None, shape: tuple[int, ...]
    ) -> tuple[str, str | None] | None:
        """Check all rows and offsets, whose cost does not depend on the shape."""
        return wrong_list(arrays["rows"], shape[0]) or _wrong_offsets(arrays["offsets"], nvals)

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
        return cls(nrows, ncols, arrays["rows"], arrays["offsets"], arrays["indices"], facts, placement)


def wrong_list(rows: Array, nrows: int) -> tuple[str, str] | None:
    """Check a list of rows: ascending, without repeats, below `nrows`; return (expected and found, "rows"), or None."""
    listed = to_host(rows)
    falling = np.flatnonzero(listed[1:] <= listed[:-1])
    if falling.size:
        p = int(falling[0])
        found = f"rows[{p}] = {int(listed[p])} and rows[{p + 1}] = {int(listed[p + 1])}"
        return f"expected rows that ascend without repeats, found {found}", "rows"
    for p in (0, listed.size - 1) if listed.size else ():
        if not 0 <= int(listed[p]) < nrows:
            return f"expected rows from 0 to {nrows - 1}, found rows[{p}] = {int(listed[p])}", "rows"
    return None


def _wrong_offsets(offsets: Array, nvals: int) -> tuple[str, str] | None:
    bounds = to_host(offsets)
    if (int(bounds[0]), int(bounds[-1])) != (0, nvals):
        return f"expected offsets from 0 to {nvals}, found {int(bounds[0])} to {int(bounds[-1])}", "offsets"
    flat = np.flatnonzero(bounds[1:] <= bounds[:-1])
    if flat.size:
        return f"expected entries in every listed row, found none in number {int(flat[0])}", "offsets"
    return None


def hypersparse(a: CSR) -> CSR:
    """Return an uncompressed matrix with the rows that have entries listed; itself if they are.  Synchronizes.

    Columns and values are shared.  Cost O(nrows).
    """
    pattern = a.pattern
    if isinstance(pattern, HyperPattern):
        return a
    assert isinstance(pattern, Pattern)
    nrows, ncols = a.shape
    rows, offsets = listed_rows(pattern.indptr, None)
    rows = rows.astype(index_dtype(nrows), copy=False)
    made = HyperPattern(nrows, ncols, rows, offsets, pattern.indices, offset_facts(pattern), pattern.placement)
    return CSR(made, a.dtype, a.values, a.iso)


def listed_rows(indptr: Array, numbers: Array | None) -> tuple[Array, Array]:
    """Return the rows that have entries and their offsets; `numbers`: of the rows, by default from 0.  Synchronizes."""
    xp = array_module(device_of(indptr))
    used = xp.flatnonzero(indptr[1:] != indptr[:-1])
    if used.size == indptr.size - 1:
        return (used if numbers is None else numbers), indptr
    offsets = xp.concatenate([indptr[used], indptr[-1:]])
    return (used if numbers is None else numbers[used]), offsets


def with_all_rows(a: CSR) -> CSR:
    """Return a hypersparse matrix as uncompressed rows with an offset for each; itself if it has another format.

    Columns and values are shared.  Memory O(nrows); OutOfMemory if that does not fit.
    """
    pattern = a.pattern
    if not isinstance(pattern, HyperPattern):
        return a
    facts = offset_facts(pattern)
    made = Pattern(a.nrows, a.ncols, pattern.all_offsets(), pattern.indices, facts, pattern.placement)
    return CSR(made, a.dtype, a.values, a.iso)


def settled(a: CSR) -> CSR:
    """Return a hypersparse result in the format that the rule selects."""
    pattern = a.pattern
    if not isinstance(pattern, HyperPattern) or prefers_hypersparse(a.nrows, pattern.offset_rows):
        return a
    return with_all_rows(a)


def empty_matrix(nrows: int, ncols: int, dtype: np.dtype[Any], device: str) -> CSR:
    """Return a matrix without entries, hypersparse if the rule selects that."""
    if in_parts(device):
        return cast(CSR, on_device(device, empty_matrix(nrows, ncols, dtype, local_device(device))))
    if not prefers_hypersparse(nrows, 0):
        return empty_csr(nrows, ncols, dtype, device)
    none = empty_csr(0, ncols, dtype, device)
    assert isinstance(none.pattern, Pattern)
    rows = array_module(device).zeros(0, dtype=index_dtype(nrows))
    return CSR(HyperPattern(nrows, ncols, rows, none.indptr, none.pattern.indices), dtype, none.values)
