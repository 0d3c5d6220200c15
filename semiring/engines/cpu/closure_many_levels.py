"""Kernels of the closure of many sources: passes over rows of source bits, and their conversion to entries.

A row has `words` words of 64 sources, one row after the other in a flat array.  Passes claim chunks of rows; what they
count is summed by the caller (`tallies`, of each thread: sums, of rows, edges, and closed edges; alive; counted, by
source, empty if unread).  `group`: words, full, far, seen, planes, level.
"""

from __future__ import annotations

import numpy as np

from .atomics import fetch_add, fetch_or, next_chunk, trailing_zeros
from .closure_push import BUFFER, flush
from .compile import device, kernel

# Rows of a chunk; also those for which entries of one source have consecutive positions.
CHUNK = 256
_LIST_CHUNK = 64
# Neighbors between two tests whether a row is complete.
_TEST = 8


@device
def _enter(row, words, fresh, seen, full, planes, level, alive, counted):
    """Enter the new bits of a row, those in its words of `fresh`; return whether all sources have now reached it."""
    complete = True
    for w in range(words):
        at = np.uintp(row * words + w)
        bits = fresh[at]
        if bits:
            seen[at] |= bits
            alive[w] |= bits
            for b in range(planes.shape[0]):
                if (level >> b) & 1:
                    planes[b, at] |= bits
            if counted.size > 0:
                while bits:
                    counted[64 * w + trailing_zeros(bits)] += 1
                    bits &= bits - np.uint64(1)
        complete = complete and seen[at] == full[w]
    return complete


@device
def _gather(begin, end, indices, row, words, alive, near, far, seen):
    """Unite into a row of `far` the bits of its neighbors that it lacks; return whether there are any."""
    first = row * words
    missing = np.uint64(0)
    for w in range(words):
        far[np.uintp(first + w)] = np.uint64(0)
        missing |= alive[w] & ~seen[np.uintp(first + w)]
    if not missing:
        return False
    p = begin
    while p < end and missing:
        stop = min(p + _TEST, end)
        while p < stop:
            k = np.int64(indices[np.uintp(p)]) * words
            for w in range(words):
                far[np.uintp(first + w)] |= near[np.uintp(k + w)]
            p += 1
        missing = np.uint64(0)
        for w in range(words):
            missing |= alive[w] & ~seen[np.uintp(first + w)] & ~far[np.uintp(first + w)]
    found = np.uint64(0)
    for w in range(words):
        at = np.uintp(first + w)
        far[at] &= ~seen[at]
        found |= far[at]
    return found != 0


@kernel
def pull(t, threads, control, indptr, transpose, source_alive, near, group, tallies):
    """Compute every row of `far` from those of its neighbors in `near`."""
    t_indptr, t_indices = transpose
    words, full, far, seen, planes, level = group
    sums, alive, counted = tallies
    n = t_indptr.size - 1
    rows = 0
    edges = 0
    closed = 0
    while True:
        start = next_chunk(control) * CHUNK
        if start >= n:
            break
        for row in range(start, min(start + CHUNK, n)):
            begin, end = np.int64(t_indptr[row]), np.int64(t_indptr[row + 1])
            if _gather(begin, end, t_indices, row, words, source_alive, near, far, seen):
                rows += 1
                edges += np.int64(indptr[row + 1]) - np.int64(indptr[row])
                if _enter(row, words, far, seen, full, planes, level, alive[t], counted[t]):
                    closed += end - begin
    sums[t, 0], sums[t, 1], sums[t, 2] = rows, edges, closed


@kernel
def push(t, threads, control, indptr, indices, words, near, far, seen, queue, size, found, buffers, marks, tail):
    """Add the bits of the listed rows to those of their neighbors that lack them, and list these in `found`.

    tail[0]: the number of rows found; tail[8]: of their edges.
    """
    alone = threads == 1
    buffer = buffers[t]
    filled = 0
    edges = 0
    while True:
        start = next_chunk(control) * _LIST_CHUNK
        if start >= size:
            break
        for i in range(start, min(start + _LIST_CHUNK, size)):
            k = np.int64(queue[i])
            for p in range(np.int64(indptr[k]), np.int64(indptr[k + 1])):
                j = np.int64(indices[np.uintp(p)])
                added = False
                for w in range(words):
                    at = np.uintp(j * words + w)
                    bits = near[np.uintp(k * words + w)] & ~seen[at] & ~far[at]
                    if bits:
                        if alone:
                            far[at] |= bits
                        else:
                            fetch_or(far, at, bits)
                        added = True
                bit = np.uint32(1) << np.uint32(j & 31)
                if not added or marks[j >> 5] & bit:
                    continue
                if alone:
                    marks[j >> 5] |= bit
                elif fetch_or(marks, j >> 5, bit) & bit:
                    continue
                if filled == BUFFER:
                    filled = flush(found, buffer, filled, tail, 0)
                buffer[filled] = j
                filled += 1
                edges += np.int64(indptr[j + 1]) - np.int64(indptr[j])
    flush(found, buffer, filled, tail, 0)
    fetch_add(tail, 8, edges)


@kernel
def enter_listed(t, threads, control, t_indptr, near, group, old, old_size, queue, size, marks, tallies):
    """Enter the bits of the rows of `far` in `queue`; clear the rows of `near` in `old`."""
    words, full, far, seen, planes, level = group
    sums, alive, counted = tallies
    closed = 0
    while True:
        start = next_chunk(control) * _LIST_CHUNK
        if start >= max(size, old_size):
            break
        for i in range(start, min(start + _LIST_CHUNK, size)):
            row = np.int64(queue[i])
            marks[row >> 5] = 0  # all rows whose bits are set are in the list
            if _enter(row, words, far, seen, full, planes, level, alive[t], counted[t]):
                closed += np.int64(t_indptr[row + 1]) - np.int64(t_indptr[row])
        for i in range(start, min(start + _LIST_CHUNK, old_size)):
            for w in range(words):
                near[np.uintp(np.int64(old[i]) * words + w)] = np.uint64(0)
    sums[t, 2] = closed


@kernel
def list_rows(t, threads, control, words, near, queue, buffers, tail):
    """List the rows of `near` that are not 0."""
    n = near.size // words
    buffer = buffers[t]
    filled = 0
    while True:
        start = next_chunk(control) * CHUNK
        if start >= n:
            break
        for row in range(start, min(start + CHUNK, n)):
            bits = np.uint64(0)
            for w in range(words):
                bits |= near[np.uintp(row * words + w)]
            if bits:
                if filled == BUFFER:
                    filled = flush(queue, buffer, filled, tail, 0)
                buffer[filled] = row
                filled += 1
    flush(queue, buffer, filled, tail, 0)


@kernel
def count_rows(t, threads, control, words, sources, seen, counts):
    """Count the rows of each chunk that each source has reached: ``counts[source, chunk]``."""
    n = seen.size // words
    found = np.empty(64 * words, np.int64)
    while True:
        chunk = next_chunk(control)
        if chunk * CHUNK >= n:
            return
        found[:] = 0
        for row in range(chunk * CHUNK, min((chunk + 1) * CHUNK, n)):
            for w in range(words):
                bits = seen[np.uintp(row * words + w)]
                while bits:
                    found[64 * w + trailing_zeros(bits)] += 1
                    bits &= bits - np.uint64(1)
        for s in range(sources):
            counts[s, chunk] = found[s]


@kernel
def write_rows(t, threads, control, words, sources, seen, planes, offsets, indices, values):
    """Write the entries of each source: the rows that it has reached, and their levels."""
    n = seen.size // words
    place = np.empty(64 * words, np.int64)
    while True:
        chunk = next_chunk(control)
        if chunk * CHUNK >= n:
            return
        for s in range(sources):
            place[s] = offsets[s, chunk]
        for row in range(chunk * CHUNK, min((chunk + 1) * CHUNK, n)):
            for w in range(words):
                at = np.uintp(row * words + w)
                bits = seen[at]
                while bits:
                    bit = trailing_zeros(bits)
                    bits &= bits - np.uint64(1)
                    level = np.int64(0)
                    for b in range(planes.shape[0]):
                        level |= np.int64((planes[b, at] >> np.uint64(bit)) & np.uint64(1)) << b
                    p = place[64 * w + bit]
                    place[64 * w + bit] = p + 1
                    indices[p] = row
                    values[p] = level
