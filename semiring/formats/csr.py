"""A matrix store: a pattern and its values."""

from __future__ import annotations

from dataclasses import field
from typing import Any, ClassVar, cast

import numpy as np

from ..devices import in_parts, moved
from ..memory.arrays import Array, array_module, index_dtype, to_device
from ..memory.placement import Placement
from .kinds import StorageKind
from .pattern import AnyPattern, Pattern
from .records import derived, record


def uncompressed_pattern(pattern: AnyPattern) -> Pattern:
    """Return `pattern`, which must not be compressed."""
    assert isinstance(pattern, Pattern), "only uncompressed rows have an array of columns"
    return pattern


@record
class CSR:
    """Compressed sparse rows: a pattern of any format, and the values of its entries.

    pattern: the structure, sorted and free of duplicates.
    dtype: of the values.
    values: one value for each entry of the pattern, in its order, or None for an iso-valued matrix.  They reside
        where the entries do, or in the device's memory.  In a bitmap matrix one for each position (`formats.bitmap`);
        those of positions without an entry have arbitrary contents.
    iso: the value that all entries share, a NumPy scalar of `dtype` on the host, else None.
    cache: derived stores, kept as long as this one (``"transpose"``).

    Exactly one of `values` and `iso` is not None.  An empty matrix may be either.
    """

    pattern: AnyPattern
    dtype: np.dtype[Any]
    values: Array | None
    iso: np.generic | None = None
    cache: dict[str, Any] = field(default_factory=dict, repr=False)

    invariant: ClassVar[str] = "(values is None) != (iso is None)"

    @derived
    def nrows(self) -> int:
        """Number of rows."""
        return self.pattern.nrows

    @derived
    def ncols(self) -> int:
        """Number of columns."""
        return self.pattern.ncols

    @derived
    def shape(self) -> tuple[int, int]:
        """(nrows, ncols)."""
        return (self.pattern.nrows, self.pattern.ncols)

    @derived
    def nvals(self) -> int:
        """The number of stored entries."""
        return self.pattern.nvals

    @derived
    def indptr(self) -> Array:
        """Row offsets."""
        return self.pattern.indptr

    @derived
    def indices(self) -> Array:
        """Columns, of an uncompressed pattern."""
        return uncompressed_pattern(self.pattern).indices

    @property
    def format(self) -> str:
        """The name of the pattern's format."""
        return self.pattern.format

    @property
    def placement(self) -> Placement:
        """Where the entries reside."""
        return self.pattern.placement

    @derived
    def kind(self) -> StorageKind:
        """Format, codec and placement of the entries."""
        return self.pattern.kind

    @derived
    def device(self) -> str:
        """The device that computes with it."""
        return self.pattern.device

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        return self.pattern.nbytes + (0 if self.values is None else int(self.values.nbytes))

    def to(self, device: str) -> CSR:
        """Return the same matrix on another device; on a grid of processes in parts, elsewhere whole."""
        if in_parts(self.device, device):
            return self if device == self.device else cast(CSR, moved(self, device))
        if device == self.device and self.placement == "device":
            return self
        values = None if self.values is None else to_device(self.values, device)
        return CSR(self.pattern.to(device), self.dtype, values, self.iso)

    def with_values(self, dtype: np.dtype[Any], values: Array | None, iso: np.generic | None) -> CSR:
        """Return the matrix of the same pattern with other values, or with one `iso` value."""
        return CSR(self.pattern, dtype, values, iso)


def structure_only(pattern: AnyPattern) -> CSR:
    """Return a matrix with this pattern whose entries are all true; no values are stored."""
    return CSR(pattern, np.dtype(np.bool_), None, np.bool_(True))


def empty_csr(nrows: int, ncols: int, dtype: np.dtype[Any], device: str) -> CSR:
    """Return a matrix without entries."""
    xp = array_module(device)
    pattern = Pattern(nrows, ncols, xp.zeros(nrows + 1, dtype=np.int32), xp.zeros(0, dtype=index_dtype(ncols)))
    return CSR(pattern, dtype, xp.zeros(0, dtype=dtype))
