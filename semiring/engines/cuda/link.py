"""Union-find driven by the rows of a matrix: the linking pass of Afforest."""

from __future__ import annotations

import cupy
import numpy as np

from ...formats import Full
from ..registry import implements
from ..spec import Link
from . import tuning
from .compile import kernel
from .launch import counter, grid, multiprocessors
from .specialise import constants, typedefs


@implements(Link, engine="cuda")
def link(q: Link) -> Full:
    """Rows with few entries by a thread each, the entries of the others divided evenly; compare-and-swap hooking.

    Two or three launches; nothing waits for the device.
    """
    forest, pattern = q.forest, q.pattern
    assert isinstance(forest, Full)
    n = pattern.nrows
    old = cupy.full(n, forest.iso, forest.dtype) if forest.values is None else forest.values
    parent = old.copy()
    if n == 0:
        return Full(n, forest.dtype, parent)
    prologue = typedefs(P=pattern.indptr.dtype, J=pattern.indices.dtype, F=forest.dtype) + constants(
        BLOCK=tuning.LINK_BLOCK, SHORT_ROW=tuning.SHORT_ROW
    )
    last = -1 if q.last is None else q.last
    skip = forest.dtype.type(0 if q.skip is None else q.skip)
    shift = pattern.nvals.bit_length()
    row = start = before = count = None
    if last < 0 or last - q.first > tuning.SHORT_ROW:
        listed = min(n, pattern.nvals // (tuning.SHORT_ROW + 1))
        row = cupy.empty(listed, pattern.indices.dtype)
        start, before = cupy.empty((2, listed), pattern.indptr.dtype)
        count = counter()
    kernel("link.cuh", "link_rows", prologue)(
        grid(n, tuning.LINK_BLOCK), tuning.LINK_BLOCK, pattern.indptr, pattern.indices, old, parent, n, q.first, last,
        np.bool_(q.skip is not None), skip, row, start, before, count, shift,
    )  # fmt: skip
    if row is not None and row.size:
        kernel("link.cuh", "link_listed", prologue)(
            4 * multiprocessors(), tuning.LINK_BLOCK, pattern.indptr, pattern.indices, parent, row, start, before,
            count, shift,
        )  # fmt: skip
    kernel("link.cuh", "link_flatten", prologue)(grid(n, tuning.LINK_BLOCK), tuning.LINK_BLOCK, parent, n)
    return Full(n, forest.dtype, parent)
