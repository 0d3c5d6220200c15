"""The packed codec, tile by tile (the layout is in `formats.codecs.packed`)."""

from __future__ import annotations

import numpy as np

from ....formats import TILE, AnyPattern
from ....formats.tiles import column_bits
from ..bits import bit_length, bits_at, load_word, put_bits
from ..compile import device, kernel
from ..operands import Array, kernel_array
from ..threads import run
from .walk import OWN_FAULT, open_tile, passes, share_tiles

FAULT_SIZE, FAULT_EXCEPTIONS, FAULT_MIDDLE = OWN_FAULT, OWN_FAULT + 1, OWN_FAULT + 2
FAULTS = {
    FAULT_SIZE: "stream: tile {tile} has another number of words than its header states",
    FAULT_EXCEPTIONS: "stream: tile {tile}: expected 0 in slot 0, and exceptions at ascending slots",
    FAULT_MIDDLE: "stream: tile {tile}: the column of its entry 64 differs from the sum of its gaps",
}
# Up to this width a slot is read by one load.
_ONE_LOAD = 57
_MIDDLE = 64
_ONE, _TO_BYTES, _IN_BYTE = np.uint64(1), np.uint64(3), np.uint64(7)


def _modulus(ncols: int) -> tuple[np.uint64, int]:
    """Return (2^b - 1, words of the column of entry 64)."""
    bits = column_bits(ncols)
    return np.uint64((1 << bits) - 1), 1 if bits <= 31 else 2


def measure(indptr: Array, indices: Array, ncols: int, before: int, parts: int, sizes: Array, widths: Array) -> None:
    """sizes[k] = words of tile k, widths[k] = its width."""
    run(measure_packed, parts, indices, *_modulus(ncols), widths, sizes)


def encode(
    indptr: Array, indices: Array, ncols: int, before: int, parts: int, widths: Array, at: Array, stream: Array
) -> None:
    """Write the tiles of all entries into words that are 0."""
    run(encode_packed, parts, indices, *_modulus(ncols), widths, at, stream)


def decode(pattern: AnyPattern, first: int, last: int, parts: int, out: Array) -> None:
    """out[p - first] = the column of entry p, for all p from `first` up to `last`."""
    tiles = map(kernel_array, (pattern.entries, pattern.at, pattern.base))
    run(decode_packed, parts, *tiles, pattern.nvals, *_modulus(pattern.ncols), first, last, out)


def check(pattern: AnyPattern, parts: int, found: Array) -> None:
    """found[t] = (fault, tile, entry) of the first fault among the tiles of thread t."""
    arrays = map(kernel_array, (pattern.indptr, pattern.base, pattern.at, pattern.entries))
    run(check_packed, parts, *arrays, column_bits(pattern.ncols), *_modulus(pattern.ncols), pattern.ncols, found)


@device
def _gaps(indices, first, count, mask, gaps):
    """Compute the gaps of the tile that begins with entry `first`; return the bit length of the longest."""
    gaps[0] = 0
    all_bits = np.uint64(0)
    for s in range(1, count):
        gap = np.uint64(np.int64(indices[first + s]) - np.int64(indices[first + s - 1])) & mask
        gaps[s] = gap
        all_bits |= gap
    return bit_length(all_bits)


@device
def _best_width(gaps, count, longest, lengths):
    """Return (width, words of low parts and exceptions) of the least width that makes the tile smallest."""
    lengths[: longest + 1] = 0
    for s in range(count):
        lengths[bit_length(gaps[s])] += 1
    chunks = (count + 31) >> 5
    best, width, x = chunks * longest, longest, 0
    for w in range(longest - 1, -1, -1):
        x += lengths[w + 1]
        size = chunks * w + ((x + 3) >> 2) + ((x * (longest - w) + 31) >> 5)
        if size <= best:
            best, width = size, w
    return width, best


@kernel
def measure_packed(t, threads, control, indices, mask, anchor, widths, sizes):
    """sizes[k] = words of tile k, widths[k] = its width; `anchor`: words of the column of entry 64."""
    gaps, lengths = np.empty(TILE, np.uint64), np.empty(65, np.int64)
    begin, end = share_tiles(t, threads, 0, sizes.size)
    for k in range(begin, end):
        count = min(TILE, indices.size - k * TILE)
        longest = _gaps(indices, k * TILE, count, mask, gaps)
        width, size = _best_width(gaps, count, longest, lengths)
        widths[k] = width
        sizes[k] = 1 + (anchor if count > _MIDDLE else 0) + size


@kernel
def encode_packed(t, threads, control, indices, mask, anchor, widths, at, stream):
    """Write every tile with its measured width into words that are 0."""
    gaps = np.empty(TILE, np.uint64)
    begin, end = share_tiles(t, threads, 0, widths.size)
    for k in range(begin, end):
        count = min(TILE, indices.size - k * TILE)
        longest = _gaps(indices, k * TILE, count, mask, gaps)
        w, word = np.int64(widths[k]), np.int64(at[k])
        lows = word + 1
        if count > _MIDDLE:
            middle = np.uint64(indices[k * TILE + _MIDDLE])
            stream[lows] = np.uint32(middle)
            if anchor == 2:
                stream[lows + 1] = np.uint32(middle >> np.uint64(32))
            lows += anchor
        _put_lows(gaps, count, w, stream, lows)
        x, h = 0, 0
        slots = 4 * (lows + w * ((count + 31) >> 5))
        if w < longest:
            h = longest - w
            for s in range(count):
                if gaps[s] >> np.uint64(w):
                    put_bits(stream, 8 * (slots + x), np.uint64(s), 8)
                    x += 1
            highs, x = 8 * (slots + ((x + 3) & ~3)), 0
            for s in range(count):
                high = gaps[s] >> np.uint64(w)
                if high:
                    put_bits(stream, highs + x * h, high, h)
                    x += 1
        stream[word] = np.uint32(w + 64 * x + 16384 * h)


@device
def _put_lows(gaps, count, w, stream, word):
    """Write the low w bits of each gap from `word` on, collected in a register where w <= 32."""
    if w == 0:
        return
    mask = (np.uint64(1) << np.uint64(w)) - np.uint64(1)
    if w > 32:
        for s in range(count):
            put_bits(stream, 32 * word + s * w, gaps[s] & mask, w)
        return
    collected, held = np.uint64(0), 0
    for s in range(count):
        collected |= (gaps[s] & mask) << np.uint64(held)
        held += w
        if held >= 32:
            stream[word] = np.uint32(collected)
            word += 1
            collected >>= np.uint64(32)
            held -= 32
    if held:
        stream[word] = np.uint32(collected)


@device
def packed_tile(stream, word, base, count, mask, anchor, gaps, out, to):
    """out[to + s] = the column of entry s, for all `count` entries of a well-formed tile that begins at `word`.

    gaps: a buffer of one tile.  Indices are unsigned, so that numba omits the test for negative ones.
    """
    header = np.int64(stream[word])
    w, x, h = header & 63, (header >> 6) & 255, header >> 14
    lows = 32 * (np.int64(word) + 1 + (anchor if count > _MIDDLE else 0))
    slots = lows + 32 * w * ((count + 31) >> 5)
    highs = slots + 32 * ((x + 3) >> 2)
    step, low_mask = np.uint64(w), (np.uint64(1) << np.uint64(w)) - np.uint64(1)
    # Sums may exceed 2^b; the bits above are masked where a column is written.
    column = np.uint64(base)
    out[to] = column
    bit, slot = np.uint64(lows + w), np.uint64(to) + _ONE
    if x == 0 and w <= _ONE_LOAD:
        for _ in range(1, count):
            column += (load_word(stream, bit >> _TO_BYTES) >> (bit & _IN_BYTE)) & low_mask
            out[slot] = column & mask
            bit += step
            slot += _ONE
        return
    for s in range(_ONE, np.uint64(count)):
        if w <= _ONE_LOAD:
            gaps[s] = (load_word(stream, bit >> _TO_BYTES) >> (bit & _IN_BYTE)) & low_mask
        else:
            gaps[s] = bits_at(stream, lows + np.int64(s) * w, w)
        bit += step
    for e in range(x):
        gaps[bits_at(stream, slots + 8 * e, 8)] |= bits_at(stream, highs + e * h, h) << step
    for s in range(_ONE, np.uint64(count)):
        column += gaps[s]
        out[slot] = column & mask
        slot += _ONE


@kernel
def decode_packed(t, threads, control, stream, at, base, nvals, mask, anchor, first, last, out):
    """out[p - first] = the column of entry p, for all p from `first` up to `last`."""
    begin, end = share_tiles(t, threads, first // TILE, (last + TILE - 1) // TILE)
    gaps, scratch = np.empty(TILE, np.uint64), np.empty(TILE, out.dtype)
    for k in range(begin, end):
        low, high = max(k * TILE, first), min((k + 1) * TILE, last)
        count = min(TILE, nvals - k * TILE)
        if high - low == count:
            packed_tile(stream, at[k], base[k], count, mask, anchor, gaps, out, low - first)
        else:
            packed_tile(stream, at[k], base[k], count, mask, anchor, gaps, scratch, 0)
            for p in range(low, high):
                out[p - first] = scratch[p - k * TILE]


@device
def _check_tile(stream, word, after, base, count, bits, mask, anchor, gaps, columns):
    """Return the fault of a tile between `word` and `after`, or 0; then columns[s] is the column of entry s."""
    if after <= word:
        return FAULT_SIZE
    header = np.int64(stream[word])
    w, x, h = header & 63, (header >> 6) & 255, header >> 14
    lows = word + 1 + (anchor if count > _MIDDLE else 0)
    slots = lows + w * ((count + 31) >> 5)
    highs = slots + ((x + 3) >> 2)
    if x >= TILE or w + h > bits or highs + ((x * h + 31) >> 5) != after:
        return FAULT_SIZE
    if bits_at(stream, 32 * lows, w):
        return FAULT_EXCEPTIONS
    before = np.int64(0)
    for e in range(x):
        slot = np.int64(bits_at(stream, 32 * slots + 8 * e, 8))
        if slot <= before or slot >= count:
            return FAULT_EXCEPTIONS
        before = slot
    packed_tile(stream, word, base, count, mask, anchor, gaps, columns, 0)
    if count > _MIDDLE:
        middle = np.uint64(stream[word + 1])
        if anchor == 2:
            middle |= np.uint64(stream[word + 2]) << np.uint64(32)
        if middle != np.uint64(columns[_MIDDLE]):
            return FAULT_MIDDLE
    return 0


@kernel
def check_packed(t, threads, control, indptr, base, at, stream, bits, mask, anchor, ncols, found):
    """found[t] = (fault, tile, entry) of the first fault among this thread's tiles."""
    gaps, columns = np.empty(TILE, np.uint64), np.empty(TILE, np.int64)
    begin, end = share_tiles(t, threads, 0, base.size)
    before = np.int64(-1)
    for k in range(max(begin - 1, 0), end):
        row, count, fault = open_tile(indptr, base, k, ncols)
        if fault == 0:
            first, after = np.int64(at[k]), np.int64(at[k + 1])
            fault = _check_tile(stream, first, after, base[k], count, bits, mask, anchor, gaps, columns)
        if not passes(fault, k, begin, indptr, row, count, ncols, before, columns, found[t]):
            return
        before = columns[count - 1]
