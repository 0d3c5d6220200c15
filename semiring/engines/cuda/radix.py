"""The radix sort: stable, by the bits that keys have, in one reading and one writing of the entries a digit."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import cupy
import numpy as np
from cupy.cuda import runtime

from ...dtypes import FC64, INT32, INT64, UINT8, UINT16, UINT32, UINT64
from ...formats import CSR, Array, index_dtype
from . import tuning
from .arguments import arguments
from .arrays import sorted_few
from .kernel import Handles, Kernel, kernel
from .launch import BLOCK, grid, multiprocessors
from .primitives import gather, key_dtype, moved, width
from .specialize import constants, typedefs

__all__ = ["by_digits", "sort_keys", "sorted_by_column", "sorted_keys", "sorted_triples"]

# Positions of a sort are 32-bit.
_MOST = 2**32
# As in radix.cuh.
_KEYS, _TRIPLES, _ROWS = 0, 1, 2
_HISTOGRAM = 512
# Words of shared memory of a block that counts digits: 48 KB.
_HISTOGRAM_WORDS = 12 << 10
# Entries of a launch: words of the look-back count up to 2^30 of them, and have 1 byte an entry or less.
_LAUNCH = 1 << 27
# Bytes of shared memory for a digit of a warp (RadixRanks).
_WARP_DIGIT = 6
_BYTE = np.dtype(np.uint8)
_INT32 = np.dtype(np.int32)
_UINT32 = np.dtype(np.uint32)


def by_digits(entries: int) -> bool:
    """True if so many entries are sorted by this module, not by CuPy."""
    return tuning.RADIX_ENTRIES <= entries < _MOST


class _Entries(NamedTuple):
    """Keys, or their major and minor indices, and values.  For rows of a matrix `major` holds their offsets."""

    keys: Array | None = None
    major: Array | None = None
    minor: Array | None = None
    values: Array | None = None


class _Source(NamedTuple):
    """The n entries that are sorted: their kind, the type of their keys, and the bits of minor indices in a key.

    nrows: of a matrix.
    """

    kind: int
    n: int
    key: np.dtype[Any]
    low: int
    entries: _Entries
    nrows: int = 0


class Shape(NamedTuple):
    """The constants of a pass."""

    digit: int
    threads: int
    items: int
    resident: int
    shared: int

    @property
    def tile(self) -> int:
        return self.threads * self.items


def sort_keys(keys: Array, values: Array | None, bits: int) -> tuple[Array, Array | None]:
    """Return keys of up to `bits` bits in ascending order, and the values in the order of their keys, stably.

    The given keys may be overwritten.  Few keys, and 2^32 of them or more, are sorted by CuPy, which synchronizes.
    Memory for an entry: a key, two values and 1 byte; by CuPy up to 16 bytes, three keys and two values.
    """
    n = int(keys.size)
    if by_digits(n):
        return sorted_keys(keys, values, bits)
    if values is None:
        keys.sort()
        return keys, None
    if n < _MOST and bits + width(n) <= 64:
        return sorted_few(keys, values, bits)
    order = cupy.argsort(keys)
    return gather(keys, order), gather(values, order)


def sorted_keys(keys: Array, values: Array | None, bits: int) -> tuple[Array, Array | None]:
    """As `sort_keys`, but few keys too without a kernel of CuPy's, and without waiting for the device."""
    if not keys.size:
        return keys, values
    if keys.size >= _MOST:
        return sort_keys(keys, values, bits)
    source = _Source(_KEYS, int(keys.size), keys.dtype, 0, _Entries(keys, values=values))
    made = _sorted(source, 0, bits, None)
    return made.keys, made.values


def sorted_triples(
    rows: Array | None, cols: Array, values: Array | None, key: np.dtype[Any], low: int, bits: int
) -> tuple[Array, Array | None]:
    """Return the sorted keys row << low | column (no `rows`: 0) of up to `bits` bits, and the values, stably."""
    source = _Source(_TRIPLES, int(cols.size), key, low, _Entries(None, rows, cols, values))
    made = _sorted(source, 0, bits, None)
    return made.keys, made.values


def sorted_by_column(a: CSR) -> tuple[Array, Array, Array | None]:
    """Return the rows, columns and values of the entries of a matrix, sorted by column and row."""
    low = width(a.nrows)
    key = key_dtype(low + width(a.ncols))
    source = _Source(_ROWS, a.nvals, key, low, _Entries(None, a.indptr, a.indices, a.values), a.nrows)
    made = _sorted(source, low, low + width(a.ncols), index_dtype(a.nrows))
    return made.minor, made.major, made.values


def _sorted(source: _Source, begin: int, end: int, split: np.dtype[Any] | None) -> _Entries:
    """Sort by the bits [begin, end) of the keys; split: return minor indices of this type and major ones, not keys."""
    n, read = source.n, source.entries
    value = None if read.values is None else moved(read.values.dtype)
    shape = _shape(runtime.getDevice(), source.key.itemsize, 0 if value is None else value.itemsize, end - begin)
    passes, digits = max(-(-(end - begin) // shape.digit), 1), 1 << shape.digit
    tiles, launch = -(-n // shape.tile), max(_LAUNCH // shape.tile, 1)
    major = _INT32 if read.major is None else read.major.dtype
    minor = _INT32 if read.minor is None else read.minor.dtype
    plan = _plan(source.kind, (source.key, major, minor), value, shape, split if passes == 1 else None)
    counts = cupy.empty(passes * digits, np.uint32)
    counts.data.memset_async(0, counts.nbytes)
    copies = 8
    while copies * passes * digits > _HISTOGRAM_WORDS:
        copies //= 2
    plan.histogram(
        min(-(-n // (8 * _HISTOGRAM)), 4 * multiprocessors()), _HISTOGRAM,
        _packed(plan.pack, source, begin, read, _Entries(), None), np.int32(passes), np.int32(copies), counts,
        shared=4 * copies * passes * digits,
    )  # fmt: skip
    plan.starts(passes, BLOCK, counts)
    first_row = None
    if source.kind == _ROWS:
        first_row = cupy.empty(tiles, np.uint32)
        plan.rows(grid(tiles), BLOCK, n, read.major, source.nrows, tiles, first_row)
    status = cupy.empty(min(tiles, launch) * digits, np.uint32)
    spare: Array | None = None  # keys that no later pass reads
    for number in range(passes):
        splits = split if number == passes - 1 else None
        if number > 0:
            plan = _plan(_KEYS, (source.key, _INT32, _INT32), value, shape, splits)
        written = _Entries(
            None if splits is not None else cupy.empty(n, source.key) if spare is None else spare,
            None if splits is None else cupy.empty(n, np.uint32),
            None if splits is None else cupy.empty(n, splits),
            None if read.values is None else cupy.empty(n, read.values.dtype),
        )
        starts: Array | None = counts[number * digits : (number + 1) * digits]
        for tile in range(0, tiles, launch):
            blocks = min(launch, tiles - tile)
            after = cupy.empty(digits, np.uint32) if tile + blocks < tiles else None
            status.data.memset_async(0, 4 * blocks * digits)
            packed = _packed(
                plan.pack, source, begin + number * shape.digit, read, written, first_row, first=tile * shape.tile,
                starts=starts, after=after, status=status,
            )  # fmt: skip
            plan.run(blocks, shape.threads, packed, shared=shape.shared)
            starts = after
        spare, read = read.keys, written
    return read


def _packed(
    pack: Callable[..., bytes],
    source: _Source,
    shift: int,
    read: _Entries,
    written: _Entries,
    first_row: Array | None,
    *,
    first: int = 0,
    starts: Array | None = None,
    after: Array | None = None,
    status: Array | None = None,
) -> bytes:
    """Return the arguments of the kernels; without `written`, those of the histogram."""
    return pack(
        n=source.n, first=first, shift=shift, low=source.low, keys=read.keys, major=read.major, minor=read.minor,
        values=read.values, nrows=source.nrows, first_row=first_row, starts=starts, next=after, status=status,
        out_keys=written.keys, out_minor=written.minor, out_major=written.major, out_values=written.values,
    )  # fmt: skip


@functools.cache
def _shape(device: int, key: int, value: int, bits: int) -> Shape:
    """Return the constants for keys and values of so many bytes: the widest digits and largest tiles that fit."""
    each = runtime.deviceGetAttribute(runtime.cudaDevAttrMaxSharedMemoryPerMultiprocessor, device)
    most = runtime.deviceGetAttribute(runtime.cudaDevAttrMaxSharedMemoryPerBlockOptin, device)
    return chosen(each, most, key, value, bits)


def chosen(each: int, most: int, key: int, value: int, bits: int) -> Shape:
    """As `_shape`, with `each` bytes of shared memory in a multiprocessor and at most `most` in a block."""
    threads = tuning.RADIX_THREADS
    for resident in range(tuning.RADIX_RESIDENT, 0, -1):
        room = min(each // resident, most) - 1536  # of which 1 KB is reserved
        for widest in range(tuning.RADIX_DIGIT, 7, -1):
            passes = max(-(-bits // widest), 1)
            digit = max(-(-bits // passes), 2)
            for items in range(tuning.RADIX_ITEMS, 3, -2):
                tile = threads * items
                if tile < 4 << digit:  # entries with one digit are too few to be written side by side
                    break
                stage = max(_WARP_DIGIT * (threads // 32) << digit, key * tile, 4 * tile + tile // 4)
                shared = stage + max(value * tile, 16) + 4 * (1 << digit) + 32
                if shared <= room:
                    return Shape(digit, threads, items, resident, shared)
    raise AssertionError("shared memory is smaller than that of any supported device")


class _Plan(NamedTuple):
    """The kernels of a pass, and the packer of their arguments."""

    histogram: Kernel
    starts: Kernel
    rows: Kernel
    run: Kernel
    pack: Callable[..., bytes]


@functools.lru_cache(maxsize=256)
def _plan(
    kind: int,
    types: tuple[np.dtype[Any], ...],
    value: np.dtype[Any] | None,
    shape: Shape,
    splits: np.dtype[Any] | None,
) -> _Plan:
    """Return the plan.  types: of keys, major and minor indices; splits: of minor indices that are written."""
    key, major, minor = types
    out, moves = _INT32 if splits is None else splits, _BYTE if value is None else value
    text = typedefs(KEY=key, MAJOR=major, MINOR=minor, O=out, V=moves)
    text += constants(SOURCE=kind, SPLIT=splits is not None, VALUED=value is not None, DIGIT=shape.digit)
    text += constants(THREADS=shape.threads, ITEMS=shape.items, RESIDENT=shape.resident, WINDOW=tuning.RADIX_WINDOW)
    names = ("radix_histogram", "radix_starts", "radix_rows", "radix_pass")
    histogram, starts, rows, run = (kernel("radix.cuh", name, text) for name in names)
    return _Plan(histogram, starts, rows, run, arguments("radix.cuh", "RadixArguments"))


def samples() -> Iterator[Handles]:
    """Yield the kernels of this module for representative types and operators: see `catalog`."""
    for kind, key, index, value, splits, digit in (
        (_KEYS, UINT64, INT32, UINT32, None, 9),
        (_KEYS, UINT32, INT32, None, None, 8),
        (_TRIPLES, UINT64, INT64, UINT64, None, 9),
        (_ROWS, UINT64, INT32, UINT32, None, 8),
        (_ROWS, UINT32, INT64, UINT16, INT32, 2),
        (_KEYS, UINT64, INT32, UINT8, INT64, 9),
        (_TRIPLES, UINT64, INT32, FC64, None, 9),
    ):
        size = 0 if value is None else value.itemsize
        shape = chosen(228 << 10, 227 << 10, key.itemsize, size, digit)
        yield _plan(kind, (key, index, INT32), value, shape, splits)
