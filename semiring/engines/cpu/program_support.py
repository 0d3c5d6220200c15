"""What generated programs call (`program_code`): the rows of vectors, and arithmetic as Python's.

A vector without all entries has presence bits from `at` on in `words`, the indices of its `count` entries from `base`
on in `lists`, and `order`: 0 where the list is not current, 1 where it is in any order, 2 where it ascends.
"""

from __future__ import annotations

import math

import numpy as np

from ..shared.direction import Work, prefers_pull
from . import closure_levels as _registers_the_cost_model  # noqa: F401
from .atomics import trailing_zeros
from .closure_push import SPAN, copy_block
from .compile import device
from .tuning import COSTS, COUNTED_SHARE

# One entry in so many words or more: a list is rebuilt from the words in place of being sorted.
_SORTED_WORDS = 4
# Words of a chunk whose open rows a pull collects in the block, and how many rows before its visit a row is prefetched.
WORDS, AHEAD = 32, 12


@device
def clear(words, lists, at, base, count, order, nwords):
    """Clear all presence bits."""
    if order != 0 and count < nwords:
        for q in range(base, base + count):
            words[np.uintp(at + (np.int64(lists[np.uintp(q)]) >> 5))] = 0
    else:
        for w in range(at, at + nwords):
            words[np.uintp(w)] = 0


@device
def relist(words, lists, at, base, count, order, nwords):
    """Write the list from the words, ascending."""
    filled = base
    for w in range(nwords):
        word = words[np.uintp(at + w)]
        while word != 0:
            bit = word & (~word + np.uint32(1))
            word ^= bit
            lists[np.uintp(filled)] = (w << 5) + trailing_zeros(bit)
            filled += 1


@device
def ascending(words, lists, at, base, count, order, nwords):
    """Sort the list."""
    if order == 0 or count * _SORTED_WORDS > nwords:
        relist(words, lists, at, base, count, order, nwords)
        return
    if count < 16:
        for q in range(base + 1, base + count):
            value = lists[np.uintp(q)]
            p = q - 1
            while p >= base and lists[np.uintp(p)] > value:
                lists[np.uintp(p + 1)] = lists[np.uintp(p)]
                p -= 1
            lists[np.uintp(p + 1)] = value
    else:
        lists[base : base + count].sort()


@device
def copy_structure(words, lists, at, base, count, order, to_at, to_base, nwords):
    """Copy the positions of a vector to a row without entries; return the order of the list there."""
    if order != 0 and count < nwords:
        for q in range(count):
            i = np.int64(lists[np.uintp(base + q)])
            lists[np.uintp(to_base + q)] = i
            w = i >> 5
            words[np.uintp(to_at + w)] = words[np.uintp(at + w)]
        return order
    for w in range(nwords):
        words[np.uintp(to_at + w)] = words[np.uintp(at + w)]
    return 0


@device
def copy_columns(indptr, indices, lists, base, s, count, done, block):
    """Copy entries of the listed rows s, s + 1, ... to the block, their columns: see `closure_push.copy_block`."""
    rows, buffers = (indptr, indices, None), (block, None, None)
    s, filled, done = copy_block(rows, lists, base + s, base + count, done, buffers, AHEAD)
    return s - base, done, filled


@device
def copy_entries(indptr, indices, lists, base, s, count, done, block):
    """Copy as `copy_columns`, and to the next parts of the block the row and the position of each entry."""
    rows, buffers = (indptr, indices, None), (block, block[SPAN:], block[2 * SPAN :])
    s, filled, done = copy_block(rows, lists, base + s, base + count, done, buffers, AHEAD)
    return s - base, done, filled


@device
def add_overflows(a, b, total):
    """Return whether total = a + b has left int64."""
    return ((a ^ total) & (b ^ total)) < 0


@device
def multiply_overflows(a, b):
    """Return whether a b may have left int64."""
    return abs(float(a) * float(b)) > 9.0e18


@device
def floor_divide(a, b):
    """a // b of floats, as Python computes it (b is not 0)."""
    remainder = math.fmod(a, b)
    quotient = (a - remainder) / b
    if remainder != 0.0 and (b < 0.0) != (remainder < 0.0):
        quotient -= 1.0
    if quotient != 0.0:
        floor = math.floor(quotient)
        return floor + 1.0 if quotient - floor > 0.5 else floor
    return math.copysign(0.0, a / b)


@device
def modulo(a, b):
    """A % b of floats, as Python computes it (b is not 0)."""
    remainder = math.fmod(a, b)
    if remainder != 0.0:
        return remainder + b if (b < 0.0) != (remainder < 0.0) else remainder
    return math.copysign(0.0, b)


@device
def shares_pull(lists, base, present, order, size, pushed, pulled, admitted, early, sums):
    """Return whether a product pulls: the rule of `engines.shared.direction`, as for products one by one.

    lists, base, present, order: of the vector.  pushed, pulled: the row offsets of both directions.
    """
    outputs = pulled.size - 1
    entries = np.int64(pulled[np.uintp(outputs)])
    if present * COUNTED_SHARE < size and order != 0:
        edges = 0
        for q in range(base, base + present):
            k = np.uintp(lists[np.uintp(q)])
            edges += np.int64(pushed[k + np.uintp(1)]) - np.int64(pushed[k])
        if COSTS.frontier_row * present + COSTS.edge * edges < COSTS.row * outputs:
            return False  # a pull costs more without its probes; most steps of a long search end here
    else:
        edges = entries * present // max(size, 1)
    work = Work(entries, admitted, entries * admitted // max(outputs, 1), early, 0, outputs, 0, 0, sums)
    return prefers_pull(COSTS, work, present, edges)
