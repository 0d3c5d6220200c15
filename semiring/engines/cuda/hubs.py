"""Hubs: the top-degree neighbors of every row of a pattern, computed once and cached with it."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from itertools import product
from typing import Any

import cupy
import numpy as np

from ...dtypes import INT32, INT64
from ...formats import AnyPattern, Array, Pattern, index_dtype, structure_only
from ...formats.tiles import column_bits
from ...memory.budget import free_device_memory
from ..recording import note
from ..registry import run
from ..requests.storage import Slices
from ..rows.bounds import slice_bounds
from . import compile_samples, tuning
from .arguments import arguments
from .columns import column_types
from .kernel import Handles, Kernel, kernel
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


@functools.lru_cache(maxsize=256)
def _kernel(name: str, offset: np.dtype[Any], whole: np.dtype[Any], columns: str, bits: int, lanes: int) -> Kernel:
    sizes = constants(BITS=bits, GROUP=lanes, HUBS_LONG=tuning.HUBS_LONG, BLOCK=tuning.GRID_BLOCK)
    return kernel("hubs.cuh", f"hubs_{name}", typedefs(P=offset, D=whole) + columns + sizes)


def _rank_neighbors(whole: AnyPattern, first: int, part: Pattern, made: Array) -> None:
    """Compute the hubs of the rows of a slice, whose first row is row `first` of the whole pattern."""
    lanes = 1
    while lanes < 32 and 2 * lanes * part.nrows <= part.nvals:
        lanes *= 2
    block = tuning.GRID_BLOCK
    plan = part.indptr.dtype, whole.indptr.dtype, column_types(part), column_bits(whole.ncols), lanes
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
    _kernel("rows", *plan)(grid(part.nrows * lanes, block), block, found)
    if listed == 0:
        return
    _kernel("listed", *plan)(4 * multiprocessors(), block, found)
    _kernel("write", *plan)(grid(listed), BLOCK, found)


def samples() -> Iterator[Handles]:
    """Yield the kernels of this module for representative types and operators: see `catalog`."""
    columns = zip(compile_samples.ALL_COLUMNS[:2], (1, 32), strict=True)
    for (index, bits), (text, lanes) in product(((INT32, 31), (INT64, 62)), columns):
        yield from (_kernel(name, index, INT64, text, bits, lanes) for name in ("rows", "listed", "write"))
