"""Hubs: the top-degree neighbors of every row of a pattern, computed once and cached with it."""

from __future__ import annotations

from collections.abc import Iterator

import cupy
import numpy as np

from ...dtypes import INT32, INT64
from ...formats import AnyPattern, Array, Pattern, index_dtype, structure_only
from ...formats.tiles import column_bits
from ...memory.budget import free_device_memory
from ..recording import note
from ..registry import run
from ..rows.bounds import slice_bounds
from ..spec_storage import Slices
from . import compile_samples, tuning
from .arguments import arguments
from .columns import column_types
from .kernel import kernel
from .launch import BLOCK, counter, grid, multiprocessors
from .packing import packing
from .specialize import constants, typedefs

__all__ = ["HUBS", "hubs"]

HUBS = 2

_FACT = "cuda.hubs"
# The hubs may occupy 1/_PARTS of the free memory, because the caller needs memory as well.
_PARTS = 4


def hubs(pattern: AnyPattern, *, build: bool) -> Array | None:
    """Return two columns for each row of a square pattern, an array (2, n): the neighbors k whose rows k are longest.

    -1 if a row has fewer neighbors; ties are broken arbitrarily.  None if they are not cached and `build` is false, or
    they would need more than a quarter of the free memory.

    Building is one pass over all entries, slice by slice, and synchronizes; two columns a row are cached with the
    pattern.
    """
    known: Array | None = pattern.facts.get(_FACT)
    if known is not None or not build or pattern.nrows != pattern.ncols:
        return known
    column = index_dtype(pattern.ncols)
    if _PARTS * HUBS * pattern.nrows * column.itemsize > free_device_memory():
        return None
    made = cupy.full((HUBS, pattern.nrows), -1, column)
    a = structure_only(pattern)
    where = slice_bounds(pattern)  # synchronizes
    rows, wanted = where.rows, tuple(where.filled())
    if wanted:
        for s, part in zip(wanted, run(Slices(a, rows, wanted), "cuda"), strict=True):  # synchronizes
            _rank_neighbors(pattern, rows[s], part.pattern, made)
    pattern.facts[_FACT] = made
    note(hubs_bytes=int(made.nbytes))
    return made


def _rank_neighbors(whole: AnyPattern, first: int, part: Pattern, made: Array) -> None:
    """Compute the hubs of the rows of a slice, whose first row is row `first` of the whole pattern."""
    lanes = 1
    while lanes < 32 and 2 * lanes * part.nrows <= part.nvals:
        lanes *= 2
    block = tuning.GRID_BLOCK
    prologue = (
        typedefs(P=part.indptr.dtype, D=whole.indptr.dtype)
        + column_types(part)
        + constants(BITS=column_bits(whole.ncols), GROUP=lanes, HUBS_LONG=tuning.HUBS_LONG, BLOCK=block)
    )
    listed = min(part.nrows, part.nvals // (tuning.HUBS_LONG + 1))
    row = cupy.empty(listed, part.indices.dtype)
    start, before = cupy.empty((2, listed), part.indptr.dtype)
    highest = cupy.zeros((listed, 2), np.uint64)
    count = counter()
    shift = packing("hubs", listed, part.nvals, "use smaller slices")  # fits up to 2**37 entries in a slice
    found = arguments("hubs.cuh", "HubArguments")(
        indptr=part.indptr, indices=part.indices, offsets=whole.indptr, rows=part.nrows, hubs=made[0, first:],
        n=whole.nrows, row=row if listed else None, start=start, before=before, count=count, shift=shift,
        highest=highest,
    )  # fmt: skip
    kernel("hubs.cuh", "hubs_rows", prologue)(grid(part.nrows * lanes, block), block, found)
    if listed == 0:
        return
    kernel("hubs.cuh", "hubs_listed", prologue)(4 * multiprocessors(), block, found)
    kernel("hubs.cuh", "hubs_write", prologue)(grid(listed), BLOCK, found)


def catalog() -> Iterator[compile_samples.Entry]:
    """Yield (kernel file, prologue): the rows of the catalog for the kernels of this module."""
    for index, half in ((INT32, 1), (INT64, 2)):
        for columns, lanes in zip(compile_samples.ALL_COLUMNS[:2], (1, 32), strict=True):
            text = typedefs(P=index, D=INT64) + columns
            yield "hubs.cuh", text + compile_samples.thresholds(BITS=31 * half, GROUP=lanes, BLOCK=tuning.GRID_BLOCK)
