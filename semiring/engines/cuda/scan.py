"""Running totals of each row by a monoid."""

from __future__ import annotations

import functools
from typing import Any

import cupy
import numpy as np

from ...dtypes import BOOL, FP32, INT8, INT32, INT64
from ...exceptions import NotSupported
from ...formats import CSR, with_values
from ...operators.types import TypedMonoid
from ...record_types import zero
from ..registry import implements
from ..requests.operations import Scan
from ..shared.iso_results import reduced_value
from . import compile_samples
from .kernel import Handles, Kernel, kernel
from .launch import values_of
from .row_tiles import TILE_BLOCK, row_tiles
from .specialize import constants, monoid, typedefs

# Slots of a tile, by the bytes of a total, of which 32 are for aligned accesses.
_SLOTS, _SLOTS_OF_8_BYTES, _ALIGNED = 4096, 2048, 32


@implements(Scan, engine="cuda")
def scan(q: Scan) -> CSR:
    """t(i, j) = (+)_l a(i, l), l <= j: one pass over the entries; does not synchronize."""
    a, z, n = q.a, q.monoid.z, q.a.nvals
    same = reduced_value(q.monoid, a.iso)
    if same is not None or n == 0:
        return with_values(a, z, None, zero(z) if same is None else same)
    if z.itemsize not in (1, 2, 4, 8, 16):
        raise NotSupported(f"scan: records of {z.itemsize} bytes have no scan on a GPU; pad them to 4, 8 or 16 bytes")
    first_row = row_tiles(a.pattern, _tile(z))
    tiles = int(first_row.size) - 1
    out, words = cupy.empty(n, z), cupy.empty(tiles, np.uint64)
    sums = None if z.itemsize <= 4 else cupy.empty(2 * tiles, z)
    words.data.memset_async(0, words.nbytes)
    run = _plan(q.monoid, a.indptr.dtype, a.dtype)
    run(tiles, TILE_BLOCK, a.nrows, n, a.indptr, *values_of(a), first_row, words, sums, out)
    return with_values(a, z, out, None)


def _tile(z: np.dtype[Any]) -> int:
    return (_SLOTS if z.itemsize <= 4 else _SLOTS_OF_8_BYTES) - _ALIGNED


@functools.lru_cache(maxsize=1024)
def _plan(add: TypedMonoid, offset: np.dtype[Any], value: np.dtype[Any]) -> Kernel:
    return kernel("scan_rows.cuh", "scan_rows", _prologue(add, offset, value))


def _prologue(add: TypedMonoid, offset: np.dtype[Any], value: np.dtype[Any]) -> str:
    return typedefs(P=offset, A=value) + constants(TILE=_tile(add.z)) + monoid("add", add)


def samples() -> Handles:
    """Return the kernels of this module for representative types and operators: see `catalog`."""
    return (
        _plan(compile_samples.PLUS, INT32, FP32), _plan(compile_samples.MIN8, INT64, INT8),
        _plan(compile_samples.LOR, INT32, BOOL), _plan(compile_samples.ANY, INT32, INT32),
    )  # fmt: skip
