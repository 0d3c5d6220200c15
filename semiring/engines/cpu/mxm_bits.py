"""The structure of rows of a product as bits of their columns.

For a row with many products words of 64 columns cost less than a test for each product: a row of B with at least as
many entries as words is packed into bits once a product, and a row of the result is the disjunction of packed rows and
of the entries of others.  Listed in the order of columns, it needs no sort.
"""

from __future__ import annotations

import numpy as np

from ...formats import Array
from ...memory.allocation import require
from .atomics import bit_count
from .compile import inlined, kernel
from .threads import parts_for, run

# Products of a row for each word of its bits, from which on they are found by words (reasoned: a pass over the words
# clears, one counts, and a product costs a test of a mark in memory).
_PRODUCTS_PER_WORD = 4
_NONE = np.zeros(0, np.int32), np.zeros(0, np.uint64)


def words_of(ncols: int) -> int:
    """Return the number of words of bits of so many columns."""
    return (ncols + 63) >> 6


def packed_rows(indptr: Array, indices: Array, ncols: int, most: int) -> tuple[Array, Array]:
    """Return the number of each packed row of B, -1 for others, and their words; two empty arrays if none is packed.

    most: the products of the row of the result with the most of them.
    """
    words = words_of(ncols)
    if most < _PRODUCTS_PER_WORD * words:
        return _NONE
    is_packed = np.diff(indptr) >= max(words, 1)
    count = int(np.count_nonzero(is_packed))
    if count == 0:
        return _NONE
    require("mxm", "cpu", count * words * 8 + 4 * is_packed.size)
    rows = np.flatnonzero(is_packed)
    number = np.full(is_packed.size, -1, np.int32)
    number[rows] = np.arange(count, dtype=np.int32)
    packed = np.zeros(count * words, np.uint64)
    run(_pack, parts_for(indices.size), rows, indptr, indices, words, packed)
    return number, packed


@kernel
def _pack(t, threads, control, rows, indptr, indices, words, packed):
    for s in range(rows.size * t // threads, rows.size * (t + 1) // threads):
        begin = s * words
        for p in range(indptr[rows[s]], indptr[rows[s] + 1]):
            j = np.uint64(indices[p])
            packed[begin + np.int64(j >> np.uint64(6))] |= np.uint64(1) << (j & np.uint64(63))


@inlined
def is_found_by_words(products, words):
    """Return whether the structure of a row with so many products is found by words."""
    return products >= _PRODUCTS_PER_WORD * words


@inlined
def set_structure(word, begin, end, a_indices, b_indptr, b_indices, number, packed):
    """Set in `word` the bits of the columns of the rows of B that entries `begin` to `end` of A name."""
    words, any_packed = word.size, number.size > 0
    word[:] = 0
    for p in range(begin, end):
        k = a_indices[p]
        at = np.int64(number[k]) if any_packed else np.int64(-1)
        if at >= 0:
            first = at * words
            for w in range(words):
                word[w] |= packed[first + w]
        else:
            for r in range(b_indptr[k], b_indptr[k + 1]):
                j = np.uint64(b_indices[r])
                word[j >> np.uint64(6)] |= np.uint64(1) << (j & np.uint64(63))


@inlined
def clear_bits(word, indices, begin, end):
    """Clear the bits of the columns of entries `begin` to `end`."""
    for p in range(begin, end):
        j = np.uint64(indices[p])
        word[j >> np.uint64(6)] &= ~(np.uint64(1) << (j & np.uint64(63)))


@inlined
def clear_range(word, bits, first):
    """Clear the bits that are set in `bits`, an array of 32-bit words, from bit `first` on."""
    low, shift = first >> 5, np.uint64(first & 31)
    for w in range(word.size):
        if word[w] == 0:
            continue
        at = low + 2 * w
        held = np.uint64(0)
        for s in range(3):
            if at + s < bits.size:
                part = np.uint64(bits[at + s])
                if s < 2:
                    held |= (part << np.uint64(32 * s)) >> shift
                elif shift > 0:
                    held |= part << (np.uint64(64) - shift)
        word[w] &= ~held


@inlined
def count_bits(word):
    """Return the number of bits set."""
    found = 0
    for w in range(word.size):
        found += bit_count(word[w])
    return found
