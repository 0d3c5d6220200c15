"""The varint codec, tile by tile (the layout is in `formats.codecs.varint`)."""

from __future__ import annotations

import numpy as np

from ....formats import TILE, AnyPattern
from ..atomics import trailing_zeros
from ..bits import bit_length, load_word
from ..compile import device, kernel
from ..operands import Array, kernel_array
from ..threads import run
from .walk import OWN_FAULT, open_tile, passes, row_of, share_tiles

FAULT_NUMBERS, FAULT_BASE = OWN_FAULT, OWN_FAULT + 1
FAULTS = {
    FAULT_NUMBERS: "stream: tile {tile} has another number of whole numbers of at most 9 bytes than entries",
    FAULT_BASE: "base[{tile}] is not the column of the tile's first entry",
}
_MOST_BYTES = 9
_TOP_BITS = np.uint64(0x8080808080808080)
_ONE = np.uint64(1)


def measure(indptr: Array, indices: Array, ncols: int, before: int, parts: int, sizes: Array, widths: Array) -> None:
    """sizes[k] = bytes of tile k."""
    run(measure_varint, parts, indptr, indices, before, sizes)


def encode(
    indptr: Array, indices: Array, ncols: int, before: int, parts: int, widths: Array, at: Array, stream: Array
) -> None:
    """Write the tiles of all entries."""
    run(encode_varint, parts, indptr, indices, before, at, stream)


def decode(pattern: AnyPattern, first: int, last: int, parts: int, out: Array) -> None:
    """out[p - first] = the column of entry p, for all p from `first` up to `last`."""
    stream, at, base, indptr = map(kernel_array, (pattern.entries, pattern.at, pattern.base, pattern.indptr))
    run(decode_varint, parts, stream, at, base, indptr, first, last, out)


def check(pattern: AnyPattern, parts: int, found: Array) -> None:
    """found[t] = (fault, tile, entry) of the first fault among the tiles of thread t."""
    arrays = map(kernel_array, (pattern.indptr, pattern.base, pattern.at, pattern.entries))
    run(check_varint, parts, *arrays, pattern.ncols, found)


@device
def _length(number):
    """Return the bytes of a number, 7 bits each, at least 1; the expression is ceil(bits / 7) for up to 63 bits."""
    return (bit_length(number | 1) * 37 + 219) >> 8


@kernel
def measure_varint(t, threads, control, indptr, indices, before, sizes):
    """sizes[k] = bytes of tile k."""
    begin, end = share_tiles(t, threads, 0, sizes.size)
    row, nvals = row_of(indptr, begin * TILE), indices.size
    for k in range(begin, end):
        size, p, stop = 0, k * TILE, min((k + 1) * TILE, nvals)
        while p < stop:
            while indptr[row + 1] <= p:
                row += 1
            if indptr[row] == p:
                size += _length(_first_number(indptr, indices, p, before))
                p += 1
            for q in range(np.uint64(p), np.uint64(min(stop, np.int64(indptr[row + 1])))):
                size += _length(indices[q] - indices[q - _ONE])
            p = min(stop, np.int64(indptr[row + 1]))
        sizes[k] = size


@device
def _first_number(indptr, indices, p, before):
    """Return the number of the first entry p of a row: its column, or the gap where row 0 continues after `before`."""
    if p == 0 and before >= 0 and indptr[1] > 0:
        return np.int64(indices[0]) - before
    return np.int64(indices[p])


@kernel
def encode_varint(t, threads, control, indptr, indices, before, at, stream):
    """Write the numbers of all entries."""
    begin, end = share_tiles(t, threads, 0, at.size - 1)
    p, stop = begin * TILE, min(end * TILE, indices.size)
    row, byte = row_of(indptr, p), np.uint64(at[begin])
    while p < stop:
        while indptr[row + 1] <= p:
            row += 1
        if indptr[row] == p:
            byte = _put_number(stream, byte, np.uint64(_first_number(indptr, indices, p, before)))
            p += 1
        for q in range(np.uint64(p), np.uint64(min(stop, np.int64(indptr[row + 1])))):
            byte = _put_number(stream, byte, np.uint64(indices[q] - indices[q - _ONE]))
        p = min(stop, np.int64(indptr[row + 1]))


@device
def _put_number(stream, byte, number):
    """Write a number; return the byte of the next one."""
    while number >= 128:
        stream[byte] = np.uint8(number | np.uint64(128))
        number >>= np.uint64(7)
        byte += _ONE
    stream[byte] = np.uint8(number)
    return byte + _ONE


@device
def _number(stream, byte):
    """Return (the number at `byte`, its length), without a branch for up to 8 bytes."""
    word = load_word(stream, byte)
    stops = ~word & _TOP_BITS
    if stops == 0:
        return _joined(word) | (np.uint64(stream[byte + np.uint64(8)]) << np.uint64(56)), np.uint64(_MOST_BYTES)
    kept = word & (stops ^ (stops - _ONE))
    return _joined(kept), np.uint64((trailing_zeros(stops) >> 3) + 1)


@device
def _joined(word):
    """Concatenate the low 7 bits of each of 8 bytes: join pairs of 7, of 14, and of 28 bits."""
    low, high = np.uint64(0x007F007F007F007F), np.uint64(0x7F007F007F007F00)
    word = (word & low) | ((word & high) >> np.uint64(1))
    low, high = np.uint64(0x00003FFF00003FFF), np.uint64(0x3FFF00003FFF0000)
    word = (word & low) | ((word & high) >> np.uint64(2))
    low, high = np.uint64(0x000000000FFFFFFF), np.uint64(0x0FFFFFFF00000000)
    return (word & low) | ((word & high) >> np.uint64(4))


@device
def _two_tiles(stream, at, k, out, to):
    """Decode the numbers of two whole tiles, interleaved, so that their dependency chains overlap."""
    one, two = np.uint64(at[k]), np.uint64(at[k + 1])
    slot, other = np.uint64(to), np.uint64(to + TILE)
    for _ in range(TILE):
        number, size = _number(stream, one)
        out[slot] = number
        one += size
        slot += _ONE
        number, size = _number(stream, two)
        out[other] = number
        two += size
        other += _ONE


@device
def _one_tile(stream, at, k, count, out, to):
    """Decode the numbers of one tile."""
    byte, slot = np.uint64(at[k]), np.uint64(to)
    for _ in range(count):
        number, size = _number(stream, byte)
        out[slot] = number
        byte += size
        slot += _ONE


@device
def _sum_up(indptr, row, base, p, stop, out, to):
    """Turn the numbers of a tile, entries p to stop, into columns; return the row of the last one."""
    while indptr[row + 1] <= p:
        row += 1
    column = np.int64(base)
    out[to] = column
    to += 1
    p += 1
    while p < stop:
        end = min(stop, np.int64(indptr[row + 1]))
        for slot in range(np.uint64(to), np.uint64(to + end - p)):
            column += out[slot]
            out[slot] = column
        to += end - p
        p = end
        while p < stop and indptr[row + 1] <= p:
            row += 1
            column = np.int64(0)
    return row


@kernel
def decode_varint(t, threads, control, stream, at, base, indptr, first, last, out):
    """out[p - first] = the column of entry p, for all p from `first` up to `last`."""
    begin, end = share_tiles(t, threads, first // TILE, (last + TILE - 1) // TILE)
    scratch = np.empty(TILE, out.dtype)
    nvals = np.int64(indptr[indptr.size - 1])
    row, k = row_of(indptr, begin * TILE), begin
    while k < end:
        start = k * TILE
        if start >= first and k + 2 <= end and start + 2 * TILE <= last:
            _two_tiles(stream, at, k, out, start - first)
            row = _sum_up(indptr, row, base[k], start, start + TILE, out, start - first)
            row = _sum_up(indptr, row, base[k + 1], start + TILE, start + 2 * TILE, out, start + TILE - first)
            k += 2
            continue
        count = min(TILE, nvals - start)
        _one_tile(stream, at, k, count, scratch, 0)
        row = _sum_up(indptr, row, base[k], start, start + count, scratch, 0)
        for p in range(max(start, first), min(start + count, last)):
            out[p - first] = scratch[p - start]
        k += 1


@device
def _check_tile(stream, byte, after, base, indptr, row, p, count, ncols, before, columns):
    """Return the fault of a tile between `byte` and `after`, or 0; then columns[s] is the column of entry p + s.

    row: the row of entry p, the tile's first.  before: the column before it, or -1 where unknown.  A column that is too
    large is written as ncols, which the check of columns rejects.
    """
    column = before
    for s in range(count):
        number, size, shift = np.uint64(0), 0, np.uint64(0)
        while True:
            if byte >= after or size == _MOST_BYTES:
                return FAULT_NUMBERS
            digit = np.uint64(stream[byte])
            number |= (digit & np.uint64(127)) << shift
            shift += np.uint64(7)
            size += 1
            byte += 1
            if digit < 128:
                break
        while indptr[row + 1] <= p + s:
            row += 1
        gap = min(np.int64(number), ncols)
        if indptr[row] == p + s:
            column = gap
        elif s > 0 or before >= 0:
            column = min(column + gap, ncols)
        else:
            column = np.int64(base)
        if s == 0 and column != base:
            return FAULT_BASE
        columns[s] = column
    return 0 if byte == after else FAULT_NUMBERS


@kernel
def check_varint(t, threads, control, indptr, base, at, stream, ncols, found):
    """found[t] = (fault, tile, entry) of the first fault among this thread's tiles."""
    columns = np.empty(TILE, np.int64)
    begin, end = share_tiles(t, threads, 0, base.size)
    before = np.int64(-1)
    for k in range(max(begin - 1, 0), end):
        row, count, fault = open_tile(indptr, base, k, ncols)
        if fault == 0:
            first, after = np.int64(at[k]), np.int64(at[k + 1])
            fault = _check_tile(stream, first, after, base[k], indptr, row, k * TILE, count, ncols, before, columns)
        if not passes(fault, k, begin, indptr, row, count, ncols, before, columns, found[t]):
            return
        before = columns[count - 1]
