"""Level-synchronous search that pushes or pulls, for closures whose entries are final on arrival.

Method: direction-optimising breadth-first search (Beamer, Asanović, Patterson, SC 2012).  Push walks the rows of
the frontier and claims new entries by an atomic test-and-set of their presence bit; pull looks, for each entry
that is still absent, along its row of the transpose until it meets the frontier.  The one trick: presence and
frontier are bits, 32 entries a word, so that on a large graph what is probed at random stays in the cache, and a
pull writes each word from one thread only.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .atomics import ABORTED, barrier, bit_count, fetch_add, fetch_or, next_chunk, trailing_zeros
from .closure_state import (
    FEW,
    FOUND,
    FOUND_EDGES,
    FRONTIER_EDGES,
    FRONTIER_SIZE,
    HEAD,
    PULL_ALLOWED,
    PULLING,
    SHRINKING,
    STATUS,
    TAIL,
    UNSEEN_EDGES,
    WANTS_ONE,
    WANTS_ROWS,
    WANTS_THREADS,
    must_stop,
    record,
)
from .compile import device, kernel
from .mxv import product
from .types import position, present, put, value_at

# Pull where the frontier has more than 1/ALPHA of the edges of absent entries; push again where it is shrinking
# and has fewer than n/BETA entries (Beamer: 14 and 24; GAP: 15 and 18).
_ALPHA = 15
_BETA = 18
# A pull ends each row early: it visits about one in so many entries (measured on Kronecker graphs).
_EARLY_EXIT = 16
# Entries that a thread collects before it reserves room in the shared queue.
BUFFER = 1024
_QUEUE_CHUNK = 64
_WORD_CHUNK = 64


@device
def _decide(state: Any, n: int, threads: int, most_threads: int, many: int) -> bool:
    """Choose push or pull for this level in state[PULLING] + 2 * (what it was); True if Python must help first."""
    edges, size, pulling = state[FRONTIER_EDGES], state[FRONTIER_SIZE], state[PULLING]
    allowed = state[PULL_ALLOWED]
    wanted = pulling
    if allowed == 3:
        wanted = 1
    elif pulling == 0:
        if allowed > 0 and edges * _ALPHA > state[UNSEEN_EDGES] and edges > n // 32:
            wanted = 1
    elif size * _BETA < n and state[SHRINKING] == 1:
        wanted = 0
    if wanted == 1 and allowed == 1:
        state[STATUS] = WANTS_ROWS
        return True
    # A pull visits every absent entry, and few of their neighbours.
    work = edges if wanted == 0 else n + state[UNSEEN_EDGES] // _EARLY_EXIT
    if threads == 1 and most_threads > 1 and work >= many:
        state[STATUS] = WANTS_THREADS
        return True
    if threads > 1 and work * FEW < many:
        state[STATUS] = WANTS_ONE
        return True
    state[PULLING] = wanted + 2 * pulling
    return False


@device
def _flush(queue: Any, buffer: Any, filled: int, state: Any) -> int:
    """Move what a thread has collected to the end of the shared queue."""
    start = fetch_add(state, TAIL, filled)
    for b in range(filled):
        queue[start + b] = buffer[b]
    return 0


@kernel
def levels(
    t: int,
    threads: int,
    control: Any,
    indptr: Any,
    indices: Any,
    avals: Any,
    t_indptr: Any,
    t_indices: Any,
    t_avals: Any,
    mult: Any,
    values: Any,
    seen: Any,
    near: Any,
    far: Any,
    queue: Any,
    buffers: Any,
    state: Any,
    trace: Any,
    most_threads: int,
    many: int,
    max_steps: int,
) -> None:
    """Levels until the frontier is empty or Python must help; `near` and `far` are bits of two frontiers."""
    n = indptr.size - 1
    nwords = seen.size
    buffer = buffers[t]
    w: Any
    bit: Any
    base: Any
    p: Any
    o: Any
    while control[ABORTED] == 0:
        if t == 0:
            leave = must_stop(state, trace, max_steps) or _decide(state, n, threads, most_threads, many)
            if not leave:
                record(state, trace, state[PULLING] & 1)
                state[TAIL] = state[HEAD] + state[FRONTIER_SIZE]
            state[FOUND] = -1 if leave else 0
            state[FOUND_EDGES] = 0
        if not barrier(control, threads) or state[FOUND] < 0:
            return
        pulling, was_pulling = state[PULLING] & 1, state[PULLING] >> 1
        size, head = state[FRONTIER_SIZE], state[HEAD]
        if was_pulling and not pulling:
            # The frontier lies in bits: list it.
            if not _list_frontier(t, threads, control, near, queue, buffer, state):
                return
            head = 0
        if pulling and not was_pulling and not _mark_frontier(t, threads, control, near, queue, head, size):
            return
        if not barrier(control, threads):
            return
        found: Any = 0
        edges: Any = 0
        if not pulling:
            filled = 0
            while True:
                start: Any = next_chunk(control) * _QUEUE_CHUNK
                if start >= size:
                    break
                for s in range(head + start, head + min(start + _QUEUE_CHUNK, size)):
                    k = position(queue, s)
                    x = value_at(values, k)
                    for p in range(np.int64(indptr[k]), np.int64(indptr[k + 1])):
                        o = position(indices, p)
                        w, bit = np.uintp(o) >> np.uintp(5), np.uint32(1) << np.uint32(o & 31)
                        if seen[w] & bit:
                            continue
                        if threads == 1:
                            seen[w] |= bit
                        elif fetch_or(seen, w, bit) & bit:
                            continue
                        put(values, o, product(mult, True, value_at(avals, p), x, o, k))
                        if filled == BUFFER:
                            found += filled
                            filled = _flush(queue, buffer, filled, state)
                        buffer[filled] = o
                        filled += 1
                        edges += np.int64(indptr[o + 1]) - np.int64(indptr[o])
            found += filled
            _flush(queue, buffer, filled, state)
        else:
            while True:
                first = next_chunk(control) * _WORD_CHUNK
                if first >= nwords:
                    break
                for w in range(first, min(first + _WORD_CHUNK, nwords)):
                    absent: Any = ~seen[w]
                    base = np.int64(w) << 5
                    if base + 32 > n:
                        absent &= (np.uint32(1) << np.uint32(n - base)) - np.uint32(1)
                    fresh = np.uint32(0)
                    while absent:
                        bit = absent & (~absent + np.uint32(1))
                        absent ^= bit
                        o = base + trailing_zeros(bit)
                        p, end = np.int64(t_indptr[np.uintp(o)]), np.int64(t_indptr[np.uintp(o + 1)])
                        while p < end:
                            k = position(t_indices, p)
                            if present(near, k):
                                term = product(mult, True, value_at(t_avals, p), value_at(values, k), o, k)
                                put(values, o, term)
                                fresh |= bit
                                edges += np.int64(indptr[np.uintp(o + 1)]) - np.int64(indptr[np.uintp(o)])
                                break
                            p += 1
                    far[w] = fresh
                    if fresh:
                        seen[w] |= fresh
                        found += bit_count(fresh)
        fetch_add(state, FOUND, found)
        fetch_add(state, FOUND_EDGES, edges)
        if not barrier(control, threads):
            return
        if t == 0:
            state[SHRINKING] = 1 if state[FOUND] < size else 0
            state[UNSEEN_EDGES] -= state[FRONTIER_EDGES]
            state[FRONTIER_EDGES] = state[FOUND_EDGES]
            state[FRONTIER_SIZE] = state[FOUND]
            state[HEAD] = 0 if pulling else head + size
            state[PULLING] = pulling
        if pulling:
            # Copied, not swapped: whoever enters the kernel next finds the frontier in `near`.
            for w in range(t * nwords // threads, (t + 1) * nwords // threads):
                near[w] = far[w]


@device
def _mark_frontier(t: int, threads: int, control: Any, near: Any, queue: Any, head: int, size: int) -> bool:
    """Set the bits of the frontier that is listed in the queue."""
    for w in range(t * near.size // threads, (t + 1) * near.size // threads):
        near[w] = 0
    if not barrier(control, threads):
        return False
    for s in range(head + t * size // threads, head + (t + 1) * size // threads):
        k = position(queue, s)
        fetch_or(near, k >> 5, np.uint32(1) << np.uint32(k & 31))
    return True


@device
def _list_frontier(t: int, threads: int, control: Any, near: Any, queue: Any, buffer: Any, state: Any) -> bool:
    """List the frontier whose bits are set at the start of the queue."""
    if t == 0:
        state[TAIL] = 0
    if not barrier(control, threads):
        return False
    filled = 0
    for w in range(t * near.size // threads, (t + 1) * near.size // threads):
        bits = near[w]
        while bits:
            bit = bits & (~bits + np.uint32(1))
            bits ^= bit
            if filled == BUFFER:
                filled = _flush(queue, buffer, filled, state)
            buffer[filled] = (np.int64(w) << 5) + trailing_zeros(bit)
            filled += 1
    _flush(queue, buffer, filled, state)
    return True
