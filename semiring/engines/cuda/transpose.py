"""Transposition, and the test for a symmetric structure."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import cupy
import numpy as np

from ...dtypes import INT32, INT64, UINT8, UINT64
from ...formats import CSR, Array, Pattern, index_dtype, uncompressed_pattern
from ..registry import implements
from ..spec import IsSymmetric, Transpose
from . import samples, tuning
from .arguments import arguments
from .build import csr_from_sorted, row_keys, starts
from .kernel import Kernel, kernel
from .launch import BLOCK, grid, multiprocessors, read_one
from .primitives import exclusive_scan, moved, sort_keys, width
from .specialise import constants, typedefs

_BYTE = np.dtype(np.uint8)
_INT32 = np.dtype(np.int32)
# As in radix.cuh.
_THREADS = 512
_TILE = 4096
_DIGIT = 8
# Positions of a sort are 32-bit.
_MOST = 2**32
# The columns, rows (None: those of the matrix) and values of entries.
_Entries = tuple[Array, Array | None, Array | None]


@implements(Transpose, engine="cuda")
def transpose(q: Transpose) -> CSR:
    """t(j, i) = a(i, j): a stable radix sort by column.

    Few entries are sorted by column and row at once, which synchronises.
    """
    a = q.a
    if tuning.RADIX_ENTRIES <= a.nvals < _MOST and a.indices.dtype == _INT32:
        return _by_radix(a)
    keys = row_keys(a.nrows, a.ncols, a.indptr, a.indices, swapped=True)
    low = width(a.nrows)
    keys, values = sort_keys(keys, a.values)
    return csr_from_sorted(a.ncols, a.nrows, low, keys, a.dtype, values, a.iso)


def _by_radix(a: CSR) -> CSR:
    """Sort the entries by column, digit by digit; entries of one column stay in the order of their rows.

    Memory beside the result: two columns, rows and values for each entry.
    """
    n, row = a.nvals, index_dtype(a.nrows)
    value = None if a.values is None else a.dtype
    passes = max(-(-width(a.ncols) // _DIGIT), 1)
    tiles = -(-n // _TILE)
    blocks = min(tiles, tuning.RADIX_RESIDENT * multiprocessors())
    chunk = -(-tiles // blocks) * _TILE
    blocks = -(-n // chunk)
    first_row = cupy.empty(tiles, row)
    columns, rows, values = a.indices, None, a.values
    for number in range(passes):
        low = number * width(a.ncols) // passes
        bits = max((number + 1) * width(a.ncols) // passes - low, 1)
        plan = _radix_plan(number == 0, bits, a.indptr.dtype, row, _BYTE if value is None else value)
        if number == 0:
            plan.find(grid(tiles), BLOCK, n, a.indptr, a.nrows, tiles, first_row)
        counts = cupy.empty(blocks << bits, np.uint32)
        moved_to = cupy.empty(n, np.uint32), cupy.empty(n, row), None if value is None else cupy.empty(n, value)
        part = plan, a, chunk, low, first_row, (columns, rows, values), moved_to
        plan.counted(blocks, _THREADS, _packed(*part, counts))
        offsets = exclusive_scan(counts, counts.dtype)
        plan.scatter(blocks, _THREADS, _packed(*part, offsets))
        columns, rows, values = moved_to
    indptr = cupy.empty(a.ncols + 1, index_dtype(n))
    starts(a.ncols, columns, 0, indptr)
    return CSR(Pattern(a.ncols, a.nrows, indptr, rows), a.dtype, values, a.iso)


def _packed(
    plan: _RadixPlan, a: CSR, chunk: int, low: int, first_row: Array, read: _Entries, written: _Entries, counts: Array
) -> bytes:
    """Return the arguments of a pass over the digit from bit `low`; entries are moved from `read` to `written`."""
    return plan.pack(
        n=a.nvals, chunk=chunk, shift=low, columns=read[0], rows=read[1], values=read[2], indptr=a.indptr,
        nrows=a.nrows, first_row=first_row, counts=counts, out_columns=written[0], out_rows=written[1],
        out_values=written[2],
    )  # fmt: skip


class _RadixPlan(NamedTuple):
    """The call plan of a pass: its kernels, and the packer of their arguments."""

    find: Kernel
    counted: Kernel
    scatter: Kernel
    pack: Callable[..., bytes]


@functools.lru_cache(maxsize=256)
def _radix_plan(first: bool, bits: int, offset: np.dtype[Any], row: np.dtype[Any], value: np.dtype[Any]) -> _RadixPlan:
    text = typedefs(P=offset, R=row, V=moved(value)) + constants(FIRST=first, DIGIT=bits)
    rows, count, scatter = (kernel("radix.cuh", name, text) for name in ("radix_rows", "radix_count", "radix_scatter"))
    return _RadixPlan(rows, count, scatter, arguments("radix.cuh", "RadixArguments"))


# Every entry needs a search in another row, so entries are not read over the interconnect.
@implements(IsSymmetric, engine="cuda", when=lambda q: q.pattern.placement == "device")
def is_symmetric(q: IsSymmetric) -> bool:
    """Whether a(j, i) is present wherever a(i, j) is.  Synchronises: one number is read back."""
    pattern = uncompressed_pattern(q.pattern)
    if pattern.nrows != pattern.ncols:
        return False
    missing = cupy.zeros(1, np.uint32)
    types = typedefs(MAJOR=pattern.indptr.dtype, MINOR=pattern.indices.dtype) + constants(FORM=2)
    run = kernel("check.cuh", "check_symmetric", types)
    n = pattern.nvals
    run(grid(n), BLOCK, n, pattern.indptr, pattern.nrows, pattern.indices, missing)
    return read_one(missing) == 0  # synchronises


def catalogue() -> Iterator[samples.Entry]:
    """Yield (kernel file, prologue): the rows of the catalogue for the kernels of this module."""
    for first, index, value in ((True, INT64, UINT8), (False, INT32, UINT64)):
        yield "radix.cuh", typedefs(P=index, R=index, V=value) + constants(FIRST=first, DIGIT=8)
