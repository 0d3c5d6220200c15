"""Transpose of a matrix in which every position holds a value, in tiles that fit into the first-level cache."""

from __future__ import annotations

import numpy as np

from ...formats import CSR, FullPattern
from ...formats.full import every_row_full
from ..recording import note
from ..registry import FULL, implements
from ..requests.operations import Transpose
from .compile import kernel
from .operands import bits_of
from .threads import parts_for, run

# Rows and columns of a tile: both tiles of 8-byte values take 16 KiB.
_TILE = 32


def _is_dense(q: Transpose) -> bool:
    pattern = q.a.pattern
    return isinstance(pattern, FullPattern) and pattern.every_row and q.a.values is not None


@implements(Transpose, engine="cpu", accepts=FULL, when=_is_dense)
def transpose_full(q: Transpose) -> CSR:
    """t(j, i) = a(i, j)."""
    a = q.a
    note(kernel="dense transpose")
    made = np.empty(a.nvals, a.dtype)
    if made.size:
        parts = min(parts_for(a.nvals), -(-a.ncols // _TILE))
        run(_transpose, parts, bits_of(a.values), a.nrows, a.ncols, bits_of(made), work=a.nvals)
    return CSR(every_row_full(a.ncols, a.nrows, "cpu"), a.dtype, made)


@kernel
def _transpose(t, threads, control, values, nrows, ncols, made):
    tiles = (ncols + _TILE - 1) // _TILE
    # A tile is read and written by whole rows: rows at a stride of a power of two would share few lines of the cache.
    buffer = np.empty(_TILE * _TILE, values.dtype)
    for tile in range(t * tiles // threads, (t + 1) * tiles // threads):
        first, last = tile * _TILE, min((tile + 1) * _TILE, ncols)
        for begin in range(0, nrows, _TILE):
            end = min(begin + _TILE, nrows)
            for i in range(begin, end):
                for j in range(first, last):
                    buffer[(j - first) * _TILE + i - begin] = values[i * ncols + j]
            for j in range(first, last):
                for i in range(begin, end):
                    made[j * nrows + i] = buffer[(j - first) * _TILE + i - begin]
