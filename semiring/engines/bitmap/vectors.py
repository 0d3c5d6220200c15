"""Matrices as vectors of nrows ncols entries, and such vectors as matrices in the format that the rule selects."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import numpy as np

from ...formats import CSR, Array, Bitmap, Full, VectorStore, array_module, is_bitmap
from ...formats.bitmap import bits_shaped, prefers_bitmap
from ...formats.full import every_row_full
from ...formats.placement import place
from .. import registry
from ..requests.operands import Index, Mask
from ..requests.operations import Convert
from ..rows.bits import bits_of, list_of_rows, listed, rows_of_list
from ..rows.residency import resident


def flat(a: Any, engine: str) -> VectorStore:
    """Return a matrix as a vector: of its bits, full where every position holds a value, or an index list."""
    assert isinstance(a, CSR)
    if is_bitmap(a):
        return bits_of(a)
    if a.pattern.every_row:
        held = place(a, "device")
        return Full(a.nvals, a.dtype, held.values, held.iso, a.device)
    return list_of_rows(resident(a), engine)


def flat_mask(mask: Mask, engine: str) -> Mask:
    """Return a mask of a matrix as one of a vector."""
    return replace(mask, store=flat(mask.store, engine))


def shaped(u: VectorStore, shape: tuple[int, int], engine: str, *, grows: bool = False, rows: bool = False) -> CSR:
    """Return a vector of nrows ncols entries as a matrix in the format that the rule selects.

    grows: the result has the entries of a bitmap operand at least, so it is one, and their number is not
    read.  rows: it has rows, whatever its density.  Synchronizes on the GPU if neither holds.
    """
    nrows, ncols = shape
    if isinstance(u, Full):
        return CSR(every_row_full(nrows, ncols, u.device), u.dtype, u.values, u.iso)
    if not rows:
        has_bits = isinstance(u, Bitmap)
        if grows or prefers_bitmap(u.nvals, u.size, has_bits=has_bits):
            bits = cast(Bitmap, u if has_bits else registry.run(Convert(u, "bitmap"), engine))
            return bits_shaped(bits, nrows, ncols)
    return rows_of_list(listed(u, engine), shape)


def members(index: Index, device: str) -> Array:
    """Return the positions of an index, as int64."""
    if index.array is not None:
        return index.array.astype(np.int64, copy=False)
    return array_module(device).arange(index.count, dtype=np.int64) * index.step + index.start
