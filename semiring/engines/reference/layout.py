"""Matrices side by side, in another shape, and with permuted rows and columns, by definition."""

from __future__ import annotations

import numpy as np

from ...formats import CSR
from ..registry import implements
from ..requests.operations import Concat, Reshape
from ..requests.storage import Permute
from ..shared.expression_numpy import cast
from .dense import densify, sparsify


@implements(Concat, engine="reference")
def concat(q: Concat) -> CSR:
    """t(rows[n] + i, cols[n] + j) = tiles[n](i, j)."""
    values, present = np.zeros((q.nrows, q.ncols), q.dtype), np.zeros((q.nrows, q.ncols), np.bool_)
    for row, col, tile in zip(q.rows, q.cols, q.tiles, strict=True):
        part = slice(row, row + tile.nrows), slice(col, col + tile.ncols)
        dense, present[part] = densify(tile)
        values[part] = cast(dense, q.dtype)
    t: CSR = sparsify(values, present, q.dtype)
    return t


@implements(Reshape, engine="reference")
def reshape(q: Reshape) -> CSR:
    """t(p // ncols, p % ncols) = a(i, j) for p = i * a.ncols + j."""
    values, present = (part.reshape(q.nrows, q.ncols) for part in densify(q.a))
    t: CSR = sparsify(values, present, q.a.dtype)
    return t


@implements(Permute, engine="reference")
def permute(q: Permute) -> CSR:
    """t(i, cols[j]) = a(rows[i], j)."""
    a, present = densify(q.a)
    values, held = np.zeros_like(a), np.zeros_like(present)
    for i in range(q.a.nrows):
        for j in range(q.a.ncols):
            values[i, q.cols[j]], held[i, q.cols[j]] = a[q.rows[i], j], present[q.rows[i], j]
    t: CSR = sparsify(values, held, q.a.dtype)
    return t
