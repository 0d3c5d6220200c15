"""Specs that move entries to other positions in their order: matrices side by side, another shape (see `spec`)."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..formats import CSR
from ..formats.records import record
from .operands import Spec

__all__ = ["Concat", "Reshape"]


@record
class Concat(Spec):
    """t(rows[n] + i, cols[n] + j) = tiles[n](i, j), of the given type; all other positions are empty.

    tiles: in the memory of the device, uncompressed or hypersparse; `ops.concat` copies others.  They do not overlap.
    They are in ascending order of (row, column), and tiles that have a row of the result in common have all of their
    rows in common.
    """

    name: ClassVar[str] = "concat"
    nrows: int
    ncols: int
    dtype: np.dtype[Any]
    rows: tuple[int, ...]
    cols: tuple[int, ...]
    tiles: tuple[CSR, ...]

    def alone(self, n: int) -> bool:
        """Return whether tile n is the only one in its rows, so that its entries stay neighbors."""
        return all(row != self.rows[n] for m, row in enumerate(self.rows) if m in (n - 1, n + 1))


@record
class Reshape(Spec):
    """t(p // ncols, p % ncols) = a(i, j) for p = i * a.ncols + j, of shape (nrows, ncols) with as many positions."""

    name: ClassVar[str] = "reshape"
    a: CSR
    nrows: int
    ncols: int
