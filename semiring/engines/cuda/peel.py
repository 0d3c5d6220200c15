"""Peeling: rows with small counts are removed, level by level, in one launch."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import cupy
import numpy as np
from cupy.cuda import get_current_stream

from ...dtypes import INT32, INT64
from ...formats import Full, dense_values, index_dtype
from ...memory.arrays import copied
from ..registry import ADDRESSABLE, implements
from ..requests.graphs import Peel
from . import compile_samples, tuning
from .arguments import arguments
from .columns import codec_types, column_argument, column_types
from .degrees import degrees
from .kernel import Handles, Kernel, kernel
from .launch import BLOCK, grid, multiprocessors, scratch
from .packing import packing
from .specialize import constants, typedefs

# Bytes of the state of ``peel.cuh``.
_STATE = 128


class _Plan(NamedTuple):
    """The call plan: the kernels, and the packer of ``PeelArguments``."""

    rounds: Kernel
    levels: Kernel
    pack: Callable[..., bytes]


@functools.lru_cache(maxsize=256)
def _plan(offset: np.dtype[Any], count: np.dtype[Any], columns: str) -> _Plan:
    text = typedefs(P=offset, C=count) + columns
    text += constants(GRID_BLOCK=tuning.GRID_BLOCK, EAGER_EDGES=tuning.EAGER_EDGES)
    rounds, levels = (kernel("peel.cuh", name, text) for name in ("peel_grid", "peel_levels"))
    return _Plan(rounds, levels, arguments("peel.cuh", "PeelArguments"))


@implements(Peel, engine="cuda", accepts=ADDRESSABLE)
def peel(q: Peel) -> Full:
    """Remove the rows of one level after another, in a cooperative launch.

    Memory: two columns and two offsets a row.  Synchronizes the first time that a matrix is used, for its longest row.
    Raises NotSupported for more rows and entries than one word counts (`packing`).
    """
    t, n, dtype = q.by_column, q.counts.size, q.counts.dtype
    if n == 0:
        return Full(n, dtype, cupy.empty(0, dtype))
    shift = packing("peel", n, t.nvals, "with engine='cpu' it goes row by row")
    counts = copied(dense_values(q.counts))
    plan = _plan(t.indptr.dtype, dtype, column_types(t))
    column, offset = n * index_dtype(n).itemsize, n * t.indptr.dtype.itemsize
    memory, (state, left, start, before) = scratch(_STATE, 2 * column, offset, offset)
    memory.memset_async(0, _STATE, get_current_stream())
    given = plan.pack(
        indptr=t.indptr, indices=column_argument(t), counts=counts, left=left, row=None, start=start, before=before,
        state=state, n=n, least=q.least or 0, shift=shift, skewed=degrees(t).longest > tuning.SKEWED_ROW,
    )  # fmt: skip
    block = tuning.GRID_BLOCK
    plan.rounds(multiprocessors() * plan.rounds.resident_blocks(block), block, given, cooperative=True)
    plan.levels(grid(n), BLOCK, n, counts, q.least or 0)
    return Full(n, dtype, counts)


def samples() -> Iterator[Handles]:
    """Yield the kernels of this module for representative types and operators: see `catalog`."""
    for columns, offset, count in zip(
        compile_samples.ALL_COLUMNS, (INT32, INT64) * 9, (INT32, INT32, INT64, INT64) * 9, strict=False
    ):
        yield _plan(offset, count, columns)
    yield _plan(INT64, INT64, codec_types("uncompressed", INT32))
