"""What generated programs call (`program_code`): the rows of vectors, and arithmetic as Python's.

A vector without all entries has a row in `words` (presence bits), in `lists` (the indices of its entries), in `counts`
and in `listed`: 0 where the list is not current, 1 where it is in any order, 2 where it ascends.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..direction import Work, prefers_pull
from . import closure_levels as _registers_the_cost_model  # noqa: F401
from .atomics import trailing_zeros
from .compile import device
from .tuning import COSTS, COUNTED_SHARE

# One entry in so many words or more: a list is rebuilt from the words in place of being sorted.
_SORTED_WORDS = 4


@device
def clear(words: Any, lists: Any, counts: Any, listed: Any, row: int, nwords: int, size: int) -> None:
    """Remove all entries."""
    at = row * nwords
    if listed[row] and counts[row] < nwords:
        base = row * size
        for q in range(counts[row]):
            words[np.uintp(at + (np.int64(lists[np.uintp(base + q)]) >> 5))] = 0
    else:
        for w in range(at, at + nwords):
            words[np.uintp(w)] = 0
    counts[row] = 0
    listed[row] = 2


@device
def relist(words: Any, lists: Any, counts: Any, listed: Any, row: int, nwords: int, size: int) -> None:
    """Write the list from the words, ascending."""
    at, base, filled = row * nwords, row * size, 0
    for w in range(nwords):
        word = words[np.uintp(at + w)]
        while word != 0:
            bit = word & (~word + np.uint32(1))
            word ^= bit
            lists[np.uintp(base + filled)] = (w << 5) + trailing_zeros(bit)
            filled += 1
    counts[row] = filled
    listed[row] = 2


@device
def ascending(words: Any, lists: Any, counts: Any, listed: Any, row: int, nwords: int, size: int) -> None:
    """Sort the list."""
    if listed[row] == 2:
        return
    count = counts[row]
    if listed[row] == 0 or count * _SORTED_WORDS > nwords:
        relist(words, lists, counts, listed, row, nwords, size)
        return
    base = row * size
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
    listed[row] = 2


@device
def copy_structure(
    words: Any, lists: Any, counts: Any, listed: Any, source: int, target: int, nwords: int, size: int
) -> None:
    """Copy the positions of a vector."""
    clear(words, lists, counts, listed, target, nwords, size)
    count = counts[source]
    if listed[source] and count < nwords:
        for q in range(count):
            i: Any = np.int64(lists[np.uintp(source * size + q)])
            lists[np.uintp(target * size + q)] = i
            w: Any = i >> 5
            words[np.uintp(target * nwords + w)] = words[np.uintp(source * nwords + w)]
        listed[target] = listed[source]
    else:
        for w in range(nwords):
            words[np.uintp(target * nwords + w)] = words[np.uintp(source * nwords + w)]
        listed[target] = 0
    counts[target] = count


@device
def add_overflows(a: Any, b: Any, total: Any) -> bool:
    """Return whether total = a + b has left int64."""
    return ((a ^ total) & (b ^ total)) < 0  # type: ignore[no-any-return]


@device
def multiply_overflows(a: Any, b: Any) -> bool:
    """Return whether a b may have left int64."""
    return abs(float(a) * float(b)) > 9.0e18


@device
def floor_divide(a: float, b: float) -> float:
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
def modulo(a: float, b: float) -> float:
    """A % b of floats, as Python computes it (b is not 0)."""
    remainder = math.fmod(a, b)
    if remainder != 0.0:
        return remainder + b if (b < 0.0) != (remainder < 0.0) else remainder
    return math.copysign(0.0, b)


@device
def shares_pull(
    lists: Any, counts: Any, listed: Any, row: int, size: int, pushed: Any, pulled: Any, admitted: int, early: bool
) -> bool:
    """Return whether a product pulls: the rule of `engines.direction`, as for products one by one.

    lists, counts, listed, row: of the vector.  pushed, pulled: the row offsets of both directions.
    """
    present, outputs = counts[row], pulled.size - 1
    entries: Any = np.int64(pulled[np.uintp(outputs)])
    edges: Any
    if present * COUNTED_SHARE < size and listed[row]:
        edges = 0
        for q in range(row * size, row * size + present):
            k = np.uintp(lists[np.uintp(q)])
            edges += np.int64(pushed[k + np.uintp(1)]) - np.int64(pushed[k])
    else:
        edges = entries * present // max(size, 1)
    work = Work(entries, admitted, entries * admitted // max(outputs, 1), early, 0, outputs, 0, 0)
    return prefers_pull(COSTS, work, present, edges)
