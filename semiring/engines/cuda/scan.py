"""Running totals of each row by a monoid."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import cupy
import numpy as np

from ...dtypes import BOOL, FP32, INT8, INT32, INT64
from ...formats import CSR, with_values, word_count
from ...operators.types import TypedMonoid
from ..constants import reduced_value
from ..registry import implements
from ..spec_rows import Scan
from . import samples
from .kernel import Kernel, kernel
from .launch import BLOCK, grid, values_of
from .specialise import monoid, typedefs

# Entries of a tile, and tiles of a group: TILE and GROUP of the kernels.
_TILE = 2048
_GROUP = 1024


@implements(Scan, engine="cuda")
def scan(q: Scan) -> CSR:
    """t(i, j) = (+)_l a(i, l), l <= j: four launches; does not synchronise."""
    a, z, n = q.a, q.monoid.z, q.a.nvals
    same = reduced_value(q.monoid, a.iso)
    if same is not None or n == 0:
        return with_values(a, z, None, z.type(0) if same is None else same)
    mark, tiles, groups, write = _plan(q.monoid, a.indptr.dtype, a.dtype)
    out, starts = cupy.empty(n, z), cupy.empty(word_count(n), np.uint32)
    starts.data.memset_async(0, starts.nbytes)
    mark(grid(a.nrows), BLOCK, a.nrows, a.indptr, starts)
    count, sums, flags = -(-n // _TILE), None, None
    values = n, *values_of(a), starts
    if count > 1:
        blocks = -(-count // _GROUP)
        sums, flags = cupy.empty(count + blocks, z), cupy.empty(count + blocks, np.uint8)
        tiles(count, BLOCK, *values, sums, flags)
        groups(blocks, _GROUP, count, sums, flags)
    write(count, BLOCK, *values, count, sums, flags, out)
    return with_values(a, z, out, None)


@functools.lru_cache(maxsize=1024)
def _plan(add: TypedMonoid, offset: np.dtype[Any], value: np.dtype[Any]) -> tuple[Kernel, ...]:
    text = _prologue(add, offset, value)
    names = "scan_rows_mark", "scan_rows_tiles", "scan_rows_groups", "scan_rows_write"
    return tuple(kernel("scan_rows.cuh", name, text) for name in names)


def _prologue(add: TypedMonoid, offset: np.dtype[Any], value: np.dtype[Any]) -> str:
    return typedefs(P=offset, A=value) + monoid("add", add)


def catalogue() -> Iterator[samples.Entry]:
    """Yield (kernel file, prologue): the rows of the catalogue for the kernels of this module."""
    for add, value in ((samples.PLUS, FP32), (samples.MIN8, INT8), (samples.LOR, BOOL), (samples.ANY, INT32)):
        yield "scan_rows.cuh", _prologue(add, INT64 if value == INT8 else INT32, value)
