"""A matrix: a pattern and its values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from .arrays import Array, array_module, index_dtype, to_device
from .pattern import Pattern


@dataclass(frozen=True, eq=False)
class CSR:
    """Compressed sparse rows.

    pattern: the structure, sorted and free of duplicates.
    dtype: of the values.
    values: one value for each entry of the pattern, in its order, or None for an iso-valued matrix.
    iso: the value that all entries share, a NumPy scalar of `dtype` on the host, else None.
    cache: derived stores, as long as this one lives (``"transpose"``).

    Exactly one of `values` and `iso` is given.  An empty matrix may be either.
    """

    pattern: Pattern
    dtype: np.dtype[Any]
    values: Array | None
    iso: np.generic | None = None
    cache: dict[str, Any] = field(default_factory=dict, repr=False)

    format: Literal["csr"] = field(default="csr", init=False)

    def __post_init__(self) -> None:
        assert (self.values is None) != (self.iso is None)

    @property
    def nrows(self) -> int:
        """Number of rows."""
        return self.pattern.nrows

    @property
    def ncols(self) -> int:
        """Number of columns."""
        return self.pattern.ncols

    @property
    def shape(self) -> tuple[int, int]:
        """(nrows, ncols)."""
        return (self.pattern.nrows, self.pattern.ncols)

    @property
    def nvals(self) -> int:
        """The number of stored entries."""
        return self.pattern.nvals

    @property
    def indptr(self) -> Array:
        """Row offsets."""
        return self.pattern.indptr

    @property
    def indices(self) -> Array:
        """Columns."""
        return self.pattern.indices

    @property
    def device(self) -> str:
        """Where the arrays live."""
        return self.pattern.device

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        return self.pattern.nbytes + (0 if self.values is None else int(self.values.nbytes))

    def to(self, device: str) -> CSR:
        """The same matrix on another device."""
        if device == self.device:
            return self
        values = None if self.values is None else to_device(self.values, device)
        return CSR(self.pattern.to(device), self.dtype, values, self.iso)


def empty_csr(nrows: int, ncols: int, dtype: np.dtype[Any], device: str) -> CSR:
    """A matrix without entries."""
    xp = array_module(device)
    pattern = Pattern(nrows, ncols, xp.zeros(nrows + 1, dtype=np.int32), xp.zeros(0, dtype=index_dtype(ncols)))
    return CSR(pattern, dtype, xp.zeros(0, dtype=dtype))
