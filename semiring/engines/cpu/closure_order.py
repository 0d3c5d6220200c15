"""Relaxation in the order of values, for closures of min and max: delta-stepping with adaptive buckets.

Shortest paths, widest paths and other closures whose products are no better than their operand need each row once if
rows are expanded from the best value on (Dijkstra).  The buckets here order approximately: a range of values is divided
into slots of equal width, a list of changed rows each, and one list holds all rows beyond the range.  A round expands
the rows of the best slot together; a slot is repeated until no row of it changes.  When all slots are empty, the list
beyond is distributed over new slots, whose width follows from the values in it.  So no width is to be chosen, and the
method does not depend on the operator that is multiplied.

The order affects speed only: what improves is relaxed again, in any order.  A product that is better than its operand
(a negative weight, for shortest paths) ends this search, because the number of repetitions is then unbounded;
`closure_relax` continues from its state.

Each row is in at most one list.  Lists are doubly linked through arrays, so a row whose value improves moves to its new
slot in constant time, and memory is bounded: three indices a row.

Sources: Dijkstra, "A Note on Two Problems in Connexion with Graphs", 1959; Brown, "Calendar Queues", CACM 31(10), 1988;
Meyer, Sanders, "Delta-Stepping: A Parallelizable Shortest Path Algorithm", J. Algorithms 49, 2003.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.core import types as numba_types

from .atomics import prefetch, stopped, trailing_zeros
from .closure_state import (
    CONVERGED,
    FRONTIER_EDGES,
    FRONTIER_SIZE,
    HEAD,
    PAUSED,
    SLICE,
    STATUS,
    STEPS,
    UNORDERED,
    VISITED,
)
from .compile import inlined, kernel
from .types import by_types, combine, position, product, put, value_at

# The slots of a range, and the list beyond it.
SLOTS = 4096
BEYOND = SLOTS
# Slots for the range of the values beyond are at least as many as these, and one for so many rows: fewer are slower
# because rows are repeated, more because rounds are short.
_FEWEST = 32
# Of so few rows or less the range is short, because they say little about the values of those that follow.
_SMALL = 16
_ROWS_A_SLOT = 4
_AHEAD = 4
# Up to this many waiting rows are kept in an array from which the best is expanded, once there are half as many.
_MOST_FEW, _FEW = 8, 4
# Visits between two checks for an abort.
_POLLED = 1 << 16
# Marks of a row that is in no list: never reached; expanded with its value; or in the round and not yet expanded.
ABSENT, _DONE, _WAITS = -2, -3, -4
# Indices of `window`: value = best + slot / scale.
_BEST, _SCALE = 0, 1


@by_types
def better(add, a, b):
    """Return whether `a` is better than `b`; False for NaN."""
    return (lambda add, a, b: a < b) if add.expr.order < 0 else lambda add, a, b: a > b


@inlined
def finite(value):
    """Return whether a number is neither infinite nor NaN."""
    return value - value == value - value


def worst(order: int, dtype: np.dtype[Any]) -> Any:
    """Return the value of a type that no other is worse than; `order` as that of an expression."""
    least = order > 0
    if dtype.kind == "f":
        return dtype.type(-np.inf if least else np.inf)
    return np.iinfo(dtype).min if least else np.iinfo(dtype).max


def chain(frontier: Any, links: Any, heads: Any) -> None:
    """Link the rows of a frontier, an array, into the list beyond."""
    if frontier.size == 0:
        return
    heads[BEYOND] = frontier[0]
    links[2 * frontier[1:] + 1], links[2 * frontier[0] + 1] = frontier[:-1], -1 - BEYOND
    links[2 * frontier[:-1]], links[2 * frontier[-1]] = frontier[1:], -1


@kernel
def ordered(t, threads, control, rows, add, mult, values, parents, seen, lists, queue, window, state):
    """Expand slot after slot until nothing changes or Python must act; the frontier is in the list beyond at first.

    values: the worst one where no bit of `seen` is set.  parents: the row that each value was computed from, or None.
    lists: links, two columns, the next row of a list (-1 for none, or a mark) and the previous one (-1 - slot for the
    first); heads, the first row of each list; occupied, bits of the slots that may have rows.
    """
    indptr, operators = rows[0], (add, mult)
    _, heads, occupied = lists
    monotone = True
    slot = state[HEAD]
    while monotone:
        if state[VISITED] >= SLICE or stopped(control):
            state[STATUS], state[VISITED] = PAUSED, 0
            state[HEAD] = slot
            return
        slot = _first(heads, occupied, slot)
        if slot == BEYOND:
            if heads[BEYOND] < 0:
                state[FRONTIER_SIZE] = 0
                state[STATUS] = CONVERGED
                return
            size = _take(lists, queue, BEYOND)
            if size <= _FEW:
                visits, monotone = _expand_few(rows, operators, values, parents, seen, lists, queue, size, state)
            else:
                visits = _distribute(add, values, lists, queue, window, size)
                slot = 0
            state[VISITED] += visits
            continue
        size = _take(lists, queue, slot)
        state[STEPS] += 1
        visits, monotone = _expand(rows, operators, values, parents, seen, lists, queue, window, slot, size)
        state[VISITED] += visits
    size = 0
    edges = np.int64(0)
    for slot in range(BEYOND + 1):
        first = size
        size += _take(lists, queue[size:], slot)
        for s in range(first, size):
            k = position(queue, s)
            seen[k >> 5] |= np.uint32(1) << np.uint32(k & 31)
            edges += np.int64(indptr[k + 1]) - np.int64(indptr[k])
    state[FRONTIER_SIZE], state[FRONTIER_EDGES] = size, edges
    state[STATUS] = UNORDERED


@inlined
def _slot_of(value, window):
    """Return the slot of a value: -1 for one better than the best of the range, BEYOND past its end and for NaN."""
    place = (np.float64(value) - window[_BEST]) * window[_SCALE]
    if place < SLOTS:
        return np.int64(max(place, -1.0))
    return BEYOND


@inlined
def _first(heads, occupied, slot):
    """Return the first slot with rows from `slot` on; BEYOND for none."""
    w = slot >> 6
    bits = occupied[w] & (~np.uint64(0) << np.uint64(slot & 63)) if w < occupied.size else np.uint64(0)
    while w < occupied.size:
        while bits != 0:
            found = (w << 6) + trailing_zeros(bits)
            if heads[found] >= 0:
                return found
            bits &= bits - np.uint64(1)
            occupied[w] = bits
        w += 1
        if w < occupied.size:
            bits = occupied[w]
    return BEYOND


@inlined
def insert(lists, slot, v):
    """Insert row v, which is in no list, at the head of a list."""
    links, heads, occupied = lists
    following = np.int64(heads[slot])
    links[2 * v], links[2 * v + 1] = following, -1 - slot
    if following >= 0:
        links[2 * following + 1] = v
    elif slot < BEYOND:
        occupied[slot >> 6] |= np.uint64(1) << np.uint64(slot & 63)
    heads[slot] = v


@inlined
def _remove(lists, v):
    """Remove row v from its list."""
    links, heads, _ = lists
    following, previous = np.int64(links[2 * v]), np.int64(links[2 * v + 1])
    if previous >= 0:
        links[2 * previous] = following
    else:
        heads[-1 - previous] = following
    if following >= 0:
        links[2 * following + 1] = previous


@inlined
def _take(lists, queue, slot):
    """Move the rows of a list to the queue, and return their number."""
    links, heads, _ = lists
    size = 0
    v = np.int64(heads[slot])
    while v >= 0:
        queue[size] = v
        size += 1
        following = np.int64(links[2 * v])
        links[2 * v] = _WAITS
        v = following
    heads[slot] = -1
    return size


@inlined
def _distribute(add, values, lists, queue, window, size):
    """Choose the range of the slots from the values of the rows in the queue, and distribute them; return their number.

    The best row is always in a slot, so that the search progresses.
    """
    some = False
    best = last = values[position(queue, 0)]
    for s in range(size):
        value = values[position(queue, s)]
        if not finite(value):
            continue
        if not some or better(add, value, best):
            best = value
        if not some or better(add, last, value):
            last = value
        some = True
    span = np.float64(last) - np.float64(best)
    slots = min(max(size // _ROWS_A_SLOT, _FEWEST), SLOTS // 2) if size > _SMALL else SLOTS // 2
    window[_BEST] = np.float64(best) if some else 0.0
    most = 1e300 if is_floating(best) else 1.0  # finite, so that the best value has a slot
    scale = most if span == 0 else min(slots / abs(span), most)
    window[_SCALE] = scale if better(add, 0, 1) else -scale
    for s in range(size):
        v = position(queue, s)
        insert(lists, max(_slot_of(values[v], window), 0) if some else 0, v)
    return size


@inlined
def _expand_few(rows, operators, values, parents, seen, lists, queue, size, state):
    """Expand the best row of the queue, until there is none or there are many; return as `_expand`.

    What is left is moved to the list beyond.
    """
    indptr, indices, avals = rows
    add, mult = operators
    links = lists[0]
    visits = np.int64(size)
    steps = np.int64(0)
    monotone = True
    while 0 < size <= _MOST_FEW and visits < _POLLED and monotone:
        best = np.int64(0)
        k = position(queue, 0)
        x = values[np.uintp(k)]
        for s in range(1, size):
            v = position(queue, s)
            value = values[np.uintp(v)]
            nearer = better(add, value, x)
            best, k, x = (s, v, value) if nearer else (best, k, x)
        size -= 1
        queue[np.uintp(best)] = queue[np.uintp(size)]
        links[np.uintp(2 * k)] = _DONE
        seen[np.uintp(k) >> np.uintp(5)] |= np.uint32(1) << np.uint32(k & 31)
        p, end = np.int64(indptr[np.uintp(k)]), np.int64(indptr[np.uintp(k + 1)])
        visits += 1 + end - p
        steps += 1
        while p < end:
            o = position(indices, p)
            new = product(mult, True, value_at(avals, p), x, o, k, 0)
            p += 1
            old = values[np.uintp(o)]
            if better(add, old, new):
                continue
            mark = np.int64(links[np.uintp(2 * o)])
            if not better(add, new, old) and mark != ABSENT:  # equal, or NaN
                new = combine(add, old, new)
                if new == old or (new != new and old != old):
                    continue
            if better(add, new, x):
                monotone = False
            values[np.uintp(o)] = new
            put(parents, o, k)
            if mark in (ABSENT, _DONE):
                if size <= _MOST_FEW:
                    queue[np.uintp(size)] = o
                    links[np.uintp(2 * o)] = _WAITS
                    size += 1
                else:
                    insert(lists, BEYOND, o)
    for s in range(size):
        insert(lists, BEYOND, position(queue, s))
    state[STEPS] += steps
    return visits, monotone


@inlined
def _expand(rows, operators, values, parents, seen, lists, queue, window, slot, size):
    """Relax the rows of a round; return (visits, whether no product was better than its operand)."""
    indptr, indices, avals = rows
    add, mult = operators
    links = lists[0]
    visits = size
    monotone = True
    for s in range(size):
        if s + 3 * _AHEAD < size:
            prefetch(indptr, queue[s + 3 * _AHEAD])
        if s + 2 * _AHEAD < size:
            later = np.int64(indptr[position(queue, s + 2 * _AHEAD)])
            prefetch(indices, later)
            prefetch(avals, later)
        if s + _AHEAD < size:
            later = position(queue, s + _AHEAD)
            for e in range(np.int64(indptr[later]), min(np.int64(indptr[later + 1]), np.int64(indptr[later]) + 8)):
                neighbor = position(indices, e)
                prefetch(values, neighbor)
                prefetch(links, 2 * neighbor)
        k = position(queue, s)
        links[2 * k] = _DONE
        seen[k >> 5] |= np.uint32(1) << np.uint32(k & 31)
        x = values[k]
        p, end = np.int64(indptr[k]), np.int64(indptr[k + 1])
        visits += end - p
        while p < end:
            o = position(indices, p)
            new = product(mult, True, value_at(avals, p), x, o, k, 0)
            p += 1
            old = values[o]
            if better(add, old, new):
                continue
            mark = np.int64(links[2 * o])
            if not better(add, new, old) and mark != ABSENT:  # equal, or NaN
                new = combine(add, old, new)
                if new == old or (new != new and old != old):
                    continue
            if better(add, new, x):
                monotone = False
            values[o] = new
            put(parents, o, k)
            if mark == _WAITS:
                continue
            to = max(_slot_of(new, window), slot)
            if mark >= -1:
                if max(_slot_of(old, window), slot) == to:
                    continue
                _remove(lists, o)
            insert(lists, to, o)
    return visits, monotone


@by_types
def is_floating(value):
    """Return whether a value is of a floating type."""
    found = isinstance(value, numba_types.Float)
    return lambda value: found
