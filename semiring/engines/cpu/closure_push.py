"""Levels of a search by pushes: the absent neighbors of the frontier are claimed and appended to a queue.

Whether a neighbor is absent, and where a short row ends, is hardly predictable: in a loop over rows and their entries
each is a branch that is often mispredicted, and a misprediction takes as long as several edges.  So the rows are pushed
in blocks of three passes, whose loops have no such branch:

1. The entries of the rows are copied to a buffer, four at a time: what is copied past the end of a row is overwritten.
2. Each is written to the end of a list, which advances by one if its presence bit was not set.
3. The values of the listed ones are computed, their edges counted, and their rows prefetched for the next level.

A level of few rows is pushed entry by entry: on a long path only the time from one row to the next counts.
"""

from __future__ import annotations

import numpy as np

from .atomics import fetch_add, fetch_or, next_chunk, prefetch, stopped
from .closure_state import (
    FOUND,
    FOUND_EDGES,
    FRONTIER_EDGES,
    FRONTIER_SIZE,
    HEAD,
    REACHED,
    SLICE,
    STEPS,
    TAIL,
    TRACE_SIZE,
    UNSEEN_EDGES,
    VISITED,
    record,
)
from .compile import device, inlined
from .operands import Array
from .types import by_types, is_none, position, product, put, row_at, value_at

# Entries that a thread collects before it reserves space in the shared queue.
BUFFER = 2048
# Entries of a block, those copied past its end, and the size of its arrays.
BLOCK, _SPARE = 256, 3
SPAN = 2 * BLOCK + _SPARE
_QUEUE_CHUNK = 64


def scratch(threads: int, rows: tuple[Array, Array], origins: bool, places: bool) -> tuple[Array | None, ...]:
    """Return the buffers of blocks: columns, and where values depend on them the rows and positions of the entries."""
    size = (threads, SPAN)
    indptr, indices = rows
    return (
        np.empty(size, indices.dtype),
        np.empty(size, indices.dtype) if origins else None,
        np.empty(size, indptr.dtype) if places else None,
    )


@inlined
def blocks_of(scratch, t):
    """Return the buffers of a thread."""
    columns, origins, places = scratch
    return row_at(columns, t), row_at(origins, t), row_at(places, t)


@inlined
def origin(origins, p, first):
    """Return the row that the p-th entry is in; where no value depends on it, the first one of the frontier."""
    return first if origins is None else np.int64(origins[np.uintp(p)])


@by_types
def operand(origins, values, k, same):
    """Return the value of row k; `same` where all rows of the frontier have one value."""
    if is_none(origins):
        return lambda origins, values, k, same: same
    return lambda origins, values, k, same: value_at(values, k)


@inlined
def copy_block(rows, queue, s, last, done, buffers, ahead):
    """Copy the rows s, s + 1, ... of the queue to a block, up to a long one, or a part of that from entry `done` on.

    ahead: how many rows before its visit a row is prefetched, or None.  Returns (the next row, entries, done).
    """
    s, filled = _copy(rows, queue, s, last, buffers, ahead)
    if filled == 0 and s < last:
        return _copy_part(rows, queue, s, done, buffers)
    return s, filled, done


@inlined
def _copy(rows, queue, s, last, buffers, ahead):
    indptr, indices, _ = rows
    columns, origins, places = buffers
    filled = np.int64(0)
    short = True
    while short and s < last and filled < BLOCK:
        if ahead is not None and s + ahead < last:
            prefetch(indices, indptr[np.uintp(position(queue, s + ahead))])
        k = position(queue, s)
        p, end = np.int64(indptr[np.uintp(k)]), np.int64(indptr[np.uintp(k + 1)])
        short = end - p <= BLOCK and end + _SPARE <= indices.size
        stop = end if short else p
        s += 1 if short else 0
        to = filled
        filled += stop - p
        while p < stop:
            for e in range(4):
                columns[np.uintp(to + e)] = indices[np.uintp(p + e)]
                put(origins, to + e, k)
                put(places, to + e, p + e)
            p += 4
            to += 4
    return s, filled


@device
def _copy_part(rows, queue, s, done, buffers):
    """Copy a part of a long row, or of one at the end of the matrix; apart from `_copy`, where rows are independent."""
    indptr, indices, _ = rows
    columns, origins, places = buffers
    k = position(queue, s)
    p, end = np.int64(indptr[np.uintp(k)]) + done, np.int64(indptr[np.uintp(k + 1)])
    filled = min(end - p, BLOCK)
    for e in range(filled):
        columns[np.uintp(e)] = indices[np.uintp(p + e)]
        put(origins, e, k)
        put(places, e, p + e)
    if p + filled == end:
        return s + 1, filled, np.int64(0)
    return s, filled, done + filled


@inlined
def _absent(seen, copied, columns, origins, places):
    """Keep the entries of a block whose bits are not set; return their number."""
    kept = np.int64(0)
    for e in range(copied):
        o = position(columns, e)
        columns[np.uintp(kept)] = o
        put(origins, kept, value_at(origins, e))
        put(places, kept, value_at(places, e))
        kept += np.int64((~seen[np.uintp(o) >> np.uintp(5)] >> np.uint32(o & 31)) & np.uint32(1))
    return kept


@device
def push_alone(control, rows, mult, values, seen, queue, head, last, tail, buffers):
    """Push the rows of the queue from `head` to `last` by one thread; return (the end of the queue, its new edges)."""
    columns, origins, places = buffers
    s, done = head, np.int64(0)
    edges = np.int64(0)
    while s < last and not stopped(control):
        s, copied, done = copy_block(rows, queue, s, last, done, buffers, None)
        first = tail
        for e in range(_absent(seen, copied, columns, origins, places)):
            o = position(columns, e)
            w, shift = np.uintp(o) >> np.uintp(5), np.uint32(o & 31)
            word = seen[w]
            seen[w] = word | (np.uint32(1) << shift)
            queue[np.uintp(tail)] = o
            put(origins, tail - first, value_at(origins, e))
            put(places, tail - first, value_at(places, e))
            tail += np.int64((~word >> shift) & np.uint32(1))
        edges += _finish(rows, mult, values, queue, first, tail, position(queue, head), origins, places)
    return tail, edges


@device
def push_thin(most, rows, mult, values, seen, queue, state, max_steps):
    """Levels of at most `most` edges and two rows each, while there are any.

    The rows of a level are kept in registers, and the queue has only those of the last one: a long path is a chain of
    loads, which others would lengthen.
    """
    indptr, indices, avals = rows
    size, steps, edges = state[FRONTIER_SIZE], state[STEPS], state[FRONTIER_EDGES]
    if not 0 < size <= 2 or edges > most or steps >= max_steps:
        return
    left = state[UNSEEN_EDGES]
    least = left - SLICE
    base = state[HEAD] + size
    row, other = position(queue, base - size), position(queue, base - 1)
    reached = -size
    while 0 < size <= 2 and steps < max_steps and left > least:
        p, end = np.int64(indptr[np.uintp(row)]), np.int64(indptr[np.uintp(row + 1)])
        edges = end - p
        if size == 2:
            edges += np.int64(indptr[np.uintp(other + 1)]) - np.int64(indptr[np.uintp(other)])
        if edges > most:
            break
        reached += size
        steps += 1
        left -= edges
        k = row
        found = first = last = np.int64(0)
        for s in range(size):
            if s > 0:
                k = other
                p, end = np.int64(indptr[np.uintp(k)]), np.int64(indptr[np.uintp(k + 1)])
            x = value_at(values, k)
            while p < end:
                o = position(indices, p)
                w, bit = np.uintp(o) >> np.uintp(5), np.uint32(1) << np.uint32(o & 31)
                if seen[w] & bit == 0:
                    seen[w] |= bit
                    put(values, o, product(mult, True, value_at(avals, p), x, o, k, 0))
                    queue[np.uintp(base + found)] = o
                    first = o if found == 0 else first
                    last = o
                    found += 1
                p += 1
        size, row, other = found, first, last
    edges = np.int64(0)
    for s in range(base, base + size):
        k = position(queue, s)
        edges += np.int64(indptr[np.uintp(k + 1)]) - np.int64(indptr[np.uintp(k)])
    state[VISITED] += state[UNSEEN_EDGES] - left + steps - state[STEPS]
    state[HEAD], state[FRONTIER_SIZE], state[FRONTIER_EDGES] = base, size, edges
    state[STEPS], state[UNSEEN_EDGES] = steps, left
    state[REACHED] += reached + size


@device
def push_short(control, most, rows, mult, values, seen, queue, buffers, state, trace, max_steps):
    """Levels of at most `most` edges, by pushes of one thread and without a decision."""
    while True:
        if trace.shape[0] == 0:
            push_thin(most, rows, mult, values, seen, queue, state, max_steps)
        size, edges = state[FRONTIER_SIZE], state[FRONTIER_EDGES]
        if size == 0 or edges > most or state[STEPS] >= max_steps or state[VISITED] >= SLICE:
            return
        if trace.shape[0] > 0 and state[TRACE_SIZE] == trace.shape[0]:
            return
        record(state, trace, 0)
        head = state[HEAD]
        level = head + size
        state[VISITED] += edges + size
        state[UNSEEN_EDGES] -= edges
        tail, edges = push_alone(control, rows, mult, values, seen, queue, head, level, level, buffers)
        state[HEAD], state[FRONTIER_SIZE], state[FRONTIER_EDGES] = level, tail - level, edges
        state[REACHED] += tail - level


@device
def push_shared(control, rows, mult, values, seen, queue, buffer, buffers, state):
    """Push the part of a thread in a level: chunks of rows of the queue, of which others may push more."""
    columns, origins, places = buffers
    size, head = state[FRONTIER_SIZE], state[HEAD]
    lead = position(queue, head)
    filled = 0
    found = 0
    edges = 0
    while True:
        start = next_chunk(control) * _QUEUE_CHUNK
        if start >= size:
            break
        s, last = head + start, head + min(start + _QUEUE_CHUNK, size)
        done = np.int64(0)
        while s < last:
            if filled + 2 * BLOCK > BUFFER:
                found += filled
                filled = flush(queue, buffer, filled, state, TAIL)
            s, copied, done = copy_block(rows, queue, s, last, done, buffers, None)
            kept = _absent(seen, copied, columns, origins, places)
            # Apart from the next loop: an atomic operation waits until the values before it are stored.
            first = filled
            for e in range(kept):
                o = position(columns, e)
                shift = np.uint32(o & 31)
                old = fetch_or(seen, np.uintp(o) >> np.uintp(5), np.uint32(1) << shift)
                buffer[np.uintp(filled)] = o
                put(origins, filled - first, value_at(origins, e))
                put(places, filled - first, value_at(places, e))
                filled += np.int64((~old >> shift) & np.uint32(1))
            edges += _finish(rows, mult, values, buffer, first, filled, lead, origins, places)
    found += filled
    flush(queue, buffer, filled, state, TAIL)
    fetch_add(state, FOUND, found)
    fetch_add(state, FOUND_EDGES, edges)


@inlined
def _finish(rows, mult, values, listed, first, last, lead, origins, places):
    """Compute the values of new entries, from `first` to `last` of a list; return the number of their edges."""
    indptr, indices, avals = rows
    edges = np.int64(0)
    same = value_at(values, lead)
    for e in range(first, last):
        o, k = position(listed, e), origin(origins, e - first, lead)
        a = value_at(avals, origin(places, e - first, 0))
        put(values, o, product(mult, True, a, operand(origins, values, k, same), o, k, 0))
        p, end = np.int64(indptr[np.uintp(o)]), np.int64(indptr[np.uintp(o + 1)])
        edges += end - p
        prefetch(indices, p)
        prefetch(indices, end - 1)
    return edges


@device
def flush(queue, buffer, filled, state, tail):
    """Move the collected entries of a thread to the end of the shared queue, which is ``state[tail]``."""
    start = fetch_add(state, tail, filled)
    for b in range(filled):
        queue[start + b] = buffer[b]
    return 0
