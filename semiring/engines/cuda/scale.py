"""A matrix and a full vector, entry by entry: a product with a diagonal matrix."""

from __future__ import annotations

import functools
from typing import Any

import cupy
import numpy as np

from ...dtypes import FP32, INT8, INT32, INT64
from ...formats import CSR, Array, Full, with_values
from ...operators.types import TypedBinary
from ..recording import note
from ..registry import implements
from ..requests.operations import Scale
from ..shared.iso_results import binary_value
from . import compile_samples, tuning
from .kernel import Handles, Kernel, kernel
from .launch import multiprocessors, one_wave, values_of
from .mxv_ranked import Ranked, ranked, ranked_table
from .primitives import gather
from .row_tiles import TILE_BLOCK, row_tiles
from .specialize import binary, constants, typedefs

_POSITIONS = frozenset({"xi", "xj", "yi", "yj"})
# Threads of a block that keeps elements of the vector in shared memory.
_THREADS = 1024


@implements(Scale, engine="cuda")
def scale(q: Scale) -> CSR:
    """t(i, j) = op(a(i, j), u(j)), or op(u(i), a(i, j)): one launch; none where the result is iso-valued.

    On skewed patterns `op(a(i, j), u(j))` reads ranked columns after some operations, as products do: see `ranked`.
    """
    a: CSR = q.a
    x: CSR | Full = q.u if q.by_rows else a
    y: CSR | Full = a if q.by_rows else q.u
    constant = binary_value(q.op, x.iso, y.iso)
    if constant is not None:
        return with_values(a, q.op.z, None, constant)
    out = cupy.empty(a.nvals, q.op.z)
    found = ranked(a.pattern) if _gathers(q) else None  # synchronizes where it ranks the columns
    if found is not None:
        _scale_ranked(q, found, out)
        return with_values(a, q.op.z, out, None)
    run = _plan(q.op, q.by_rows, a.indptr.dtype, a.indices.dtype, x.dtype, y.dtype)
    if q.by_rows or q.op.uses & _POSITIONS:
        first_row = row_tiles(a.pattern, tuning.WARP_TILE)
        tiles = int(first_row.size) - 1
        blocks = -(-32 * tiles // TILE_BLOCK)
    else:
        first_row, tiles = None, 0
        blocks = one_wave(run, a.nvals, 4)
    run(blocks, TILE_BLOCK, a.nvals, a.indptr, a.nrows, a.indices, *values_of(x), *values_of(y), first_row, tiles, out)
    return with_values(a, q.op.z, out, None)


def _gathers(q: Scale) -> bool:
    """Return True if an element of the vector is read for each entry, by its column alone."""
    reads = "y" in q.op.uses and not q.op.uses & _POSITIONS
    return reads and not q.by_rows and q.u.values is not None and q.u.dtype.itemsize <= 8


def _scale_ranked(q: Scale, found: Ranked, out: Array) -> None:
    """Write the values of the result, by ranked columns."""
    a, u = q.a, q.u
    assert u.values is not None
    table = min(ranked_table(u.dtype.itemsize, tuning.SCALE_SHARED), u.size)
    _plan_ranked(q.op, a.indices.dtype, a.dtype, u.dtype)(
        multiprocessors(), _THREADS, a.nvals, found.ranks, *values_of(a), gather(u.values, found.columns), table, out,
        shared=table * u.dtype.itemsize,
    )  # fmt: skip
    note(kernel="ranked", ranked_bytes=int(found.ranks.nbytes + found.columns.nbytes))


@functools.lru_cache(maxsize=1024)
def _plan_ranked(op: TypedBinary, *types: np.dtype[Any]) -> Kernel:
    named = typedefs(**dict(zip(("J", "X", "Y"), types, strict=True)))
    return kernel("scale_ranked.cuh", "scale_ranked", named + constants(THREADS=_THREADS) + binary("combine", op))


@functools.lru_cache(maxsize=1024)
def _plan(op: TypedBinary, by_rows: bool, *types: np.dtype[Any]) -> Kernel:
    named = typedefs(**dict(zip(("P", "I", "X", "Y"), types, strict=True)))
    named += constants(FORM=2, BY_ROWS=by_rows, TILE=tuning.WARP_TILE)
    return kernel("scale.cuh", "scale_entries", named + binary("combine", op))


def samples() -> Handles:
    """Return the kernels of this module for representative types and operators: see `catalog`."""
    some = tuple(_plan(compile_samples.TIMES, by_rows, INT32, INT32, FP32, INT8) for by_rows in (False, True))
    others = tuple(_plan(compile_samples.SECONDI, by_rows, INT64, INT64, INT8, FP32) for by_rows in (False, True))
    return some, others, _plan_ranked(compile_samples.TIMES, INT32, FP32, INT8)
