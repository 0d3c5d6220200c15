"""Level-synchronous search that pushes or pulls, for closures whose entries are final on arrival.

Method: direction-optimizing breadth-first search (Beamer, Asanović, Patterson, SC 2012).  Push walks the rows of
the frontier and claims new entries by an atomic test-and-set of their presence bit; pull tests, for each absent
entry, whether its hub is in the frontier, and otherwise scans its row of the transpose up to the first neighbor in
the frontier.  Presence and frontier are bits, 32 entries a word, so that on a large graph the randomly probed words
stay in the cache, and a pull writes each word from one thread only.

The first thread leads: it decides, computes small levels alone, and opens large ones to its helpers.
"""

from __future__ import annotations

import numpy as np
from numba.extending import register_jitable

from ..shared.direction import Work, expected_probes, prefers_pull
from .atomics import CHUNK, RETIRED, bit_count, fetch_add, fetch_or, load, next_chunk, prefetch, stopped, trailing_zeros
from .closure_push import BUFFER, blocks_of, flush, push_alone, push_shared, push_short
from .closure_state import (
    FEW,
    FLIPPED,
    FOUND,
    FOUND_EDGES,
    FRONTIER_EDGES,
    FRONTIER_SIZE,
    HEAD,
    NEEDS_ROWS,
    NEEDS_THREADS,
    PHASE,
    PULL_ALLOWED,
    PULLING,
    REACHED,
    ROWS,
    STATUS,
    TAIL,
    UNSEEN_EDGES,
    VISITED,
    must_stop,
    record,
)
from .compile import device, kernel
from .jobs import close_job, dismiss, join_job, leave_job, open_job
from .tuning import COSTS
from .types import position, present, product, put, value_at

# The cost model is a function of Python that all engines share; kernels compile it.
for _shared in (expected_probes, prefers_pull):
    register_jitable(_shared)
# Edges of a level that is always pushed by one thread: few, or few beside the words that a pull passes over.
_SHORT, _WORDS_AN_EDGE = 64, 8
_QUEUE_CHUNK = 64
# The rows of a chunk of words fit into the buffer.
_WORD_CHUNK = BUFFER // 32
_AHEAD = 12
# The kinds of job.
_PUSH, _PULL, _MARK, _LIST = range(4)


@device
def _decide(state, control, entries, nwords, threads, most_threads, many):
    """Return the visits of this level; -1 if Python must act first.  Sets state[PULLING] to 2 * old + new."""
    edges, size, pulling = state[FRONTIER_EDGES], state[FRONTIER_SIZE], state[PULLING]
    allowed = state[PULL_ALLOWED]
    # Reached sources may have empty rows, so there may be more of them than non-empty rows.
    open_rows = max(state[ROWS] - state[REACHED], 0)
    # A push after a pull lists the frontier from its bits: one array of words, of the four of a pull.
    listed = nwords * pulling // 4
    work = Work(entries, open_rows, state[UNSEEN_EDGES] - edges, True, listed, open_rows, nwords, 0, False)
    following = 1 if allowed == 3 or (allowed > 0 and prefers_pull(COSTS, work, size, edges)) else 0
    if following == 1 and allowed == 1:
        state[STATUS] = NEEDS_ROWS
        return -1
    visits = edges if following == 0 else nwords + open_rows + np.int64(expected_probes(work, edges))
    if most_threads > 1 and visits >= many and (threads == 1 or load(control, RETIRED) == threads - 1):
        state[STATUS] = NEEDS_THREADS
        return -1
    state[PULLING] = following + 2 * pulling
    return visits


@kernel
def levels(t, threads, control, push, pull, mult, values, seen, bits, queue, buffers, scratch, state, trace, limits):
    """Run levels until the frontier is empty or Python must act; `bits`: two rows, this frontier and the next.

    push: the matrix.  pull: its transpose, hubs (empty where a pull must not use them), and the rows that have entries.
    scratch: of `closure_push`.  limits: the most threads, the visits from which helpers join, the most steps.
    """
    nwords = seen.size
    buffer, blocks = buffers[t], blocks_of(scratch, t)
    most_threads, many, max_steps = limits
    if t > 0:
        job = 0
        alone = threads == 1  # always False here: a constant would compile the work a second time
        while True:
            job = join_job(control, job)
            if job == 0:
                return
            _work(alone, control, push, pull, mult, values, seen, bits, queue, buffer, blocks, state)
            leave_job(control)
    while not stopped(control):
        if state[PULLING] == 0 and state[PULL_ALLOWED] != 3:
            most = max(_SHORT, nwords // _WORDS_AN_EDGE)
            push_short(control, most, push, mult, values, seen, queue, blocks, state, trace, max_steps)
        if must_stop(state, trace, max_steps):
            break
        work = _decide(state, control, np.int64(push[0][-1]), nwords, threads, most_threads, many)
        if work < 0:
            break
        pulling, was_pulling, size = state[PULLING] & 1, state[PULLING] >> 1, state[FRONTIER_SIZE]
        record(state, trace, pulling)
        state[VISITED] += work + size
        # Convert the frontier to the format of the direction, then run the level: one call site for all jobs, because
        # each call site is compiled separately.
        for part in range(0 if pulling != was_pulling else 1, 2):
            visits = work
            if part == 1:
                state[PHASE] = _PULL if pulling else _PUSH
                state[TAIL] = state[HEAD] + size
                state[FOUND] = state[FOUND_EDGES] = 0
            else:
                visits = max(nwords, size)
                if pulling:
                    state[PHASE] = _MARK
                    bits[state[FLIPPED]] = 0
                else:
                    state[PHASE] = _LIST
                    state[HEAD] = state[TAIL] = 0
            alone = threads == 1 or visits * (FEW if state[PHASE] != _PUSH else 1) < many
            if alone:
                control[CHUNK] = 0
            else:
                open_job(control)
            _work(alone, control, push, pull, mult, values, seen, bits, queue, buffer, blocks, state)
            if not alone:
                close_job(control)
        _advance(state)
        state[PULLING] = pulling
        state[FLIPPED] ^= pulling
    dismiss(control)


@kernel
def pushes(t, threads, control, indptr, indices, avals, mult, values, seen, queue, scratch, state, trace, max_steps):
    """Levels by pushes of one thread until the frontier is empty; compiles in a third of the time of `levels`."""
    matrix, blocks, most = (indptr, indices, avals), blocks_of(scratch, t), indices.size
    while not stopped(control) and not must_stop(state, trace, max_steps):
        push_short(control, most, matrix, mult, values, seen, queue, blocks, state, trace, max_steps)
    dismiss(control)


@device
def _advance(state):
    """The entries that a level found are the next frontier."""
    size = state[FRONTIER_SIZE]
    state[UNSEEN_EDGES] -= state[FRONTIER_EDGES]
    state[FRONTIER_EDGES] = state[FOUND_EDGES]
    state[FRONTIER_SIZE] = state[FOUND]
    state[REACHED] += state[FOUND]
    state[HEAD] += size


@device
def _work(alone, control, push, pull, mult, values, seen, bits, queue, buffer, blocks, state):
    """Compute the part of a thread in the open job."""
    phase = state[PHASE]
    near, far = bits[state[FLIPPED]], bits[1 - state[FLIPPED]]
    if phase == _PUSH and alone:
        head = state[HEAD]
        level = head + state[FRONTIER_SIZE]
        tail, edges = push_alone(control, push, mult, values, seen, queue, head, level, level, blocks)
        state[FOUND], state[FOUND_EDGES] = tail - level, edges
    elif phase == _PUSH:
        push_shared(control, push, mult, values, seen, queue, buffer, blocks, state)
    elif phase == _PULL:
        _pull(control, push[0], pull, mult, values, seen, near, far, buffer, state)
    elif phase == _MARK:
        _mark(control, near, queue, state)
    else:
        _list(control, near, queue, buffer, state)


@device
def _pull(control, indptr, rows, mult, values, seen, near, far, buffer, state):
    """Search the frontier, bits `near`, from every absent entry: test its hub, then scan its row."""
    t_indptr, t_indices, t_avals, hubs, occupied = rows
    has_hubs = hubs.size > 0
    nwords = seen.size
    found = 0
    edges = 0
    while True:
        first = next_chunk(control) * _WORD_CHUNK
        if first >= nwords:
            break
        last = min(first + _WORD_CHUNK, nwords)
        missed = 0
        for w in range(first, last):
            absent = ~seen[w] & occupied[w]
            fresh = np.uint32(0)
            while absent:
                bit = absent & (~absent + np.uint32(1))
                absent ^= bit
                o = (np.int64(w) << 5) + trailing_zeros(bit)
                k = np.int64(hubs[np.uintp(o)]) if has_hubs else np.int64(-1)
                if k >= 0 and present(near, k):
                    put(values, o, product(mult, True, value_at(t_avals, 0), value_at(values, k), o, k, 0))
                    fresh |= bit
                    edges += np.int64(indptr[np.uintp(o + 1)]) - np.int64(indptr[np.uintp(o)])
                else:
                    buffer[missed] = o
                    missed += 1
            far[w] = fresh
        # Rows are far apart in memory: prefetch their first entries.
        for b in range(missed):
            if b + _AHEAD < missed:
                prefetch(t_indices, t_indptr[np.uintp(buffer[b + _AHEAD])])
            o = np.int64(buffer[b])
            p, end = np.int64(t_indptr[np.uintp(o)]), np.int64(t_indptr[np.uintp(o + 1)])
            if has_hubs and end - p == 1:
                continue
            while p < end and not present(near, position(t_indices, p)):
                p += 1
            if p < end:
                k = position(t_indices, p)
                put(values, o, product(mult, True, value_at(t_avals, p), value_at(values, k), o, k, 0))
                far[o >> 5] |= np.uint32(1) << np.uint32(o & 31)
                edges += np.int64(indptr[np.uintp(o + 1)]) - np.int64(indptr[np.uintp(o)])
        for w in range(first, last):
            seen[w] |= far[w]
            found += bit_count(far[w])
    fetch_add(state, FOUND, found)
    fetch_add(state, FOUND_EDGES, edges)


@device
def _mark(control, near, queue, state):
    """Set the bits of the frontier in the queue."""
    size, head = state[FRONTIER_SIZE], state[HEAD]
    while True:
        start = next_chunk(control) * _QUEUE_CHUNK
        if start >= size:
            return
        for s in range(head + start, head + min(start + _QUEUE_CHUNK, size)):
            k = position(queue, s)
            fetch_or(near, k >> 5, np.uint32(1) << np.uint32(k & 31))


@device
def _list(control, near, queue, buffer, state):
    """Write the frontier from its bits to the start of the queue."""
    filled = 0
    while True:
        first = next_chunk(control) * _WORD_CHUNK
        if first >= near.size:
            break
        for w in range(first, min(first + _WORD_CHUNK, near.size)):
            bits = near[np.uintp(w)]
            while bits:
                bit = bits & (~bits + np.uint32(1))
                bits ^= bit
                if filled == BUFFER:
                    filled = flush(queue, buffer, filled, state, TAIL)
                buffer[filled] = (np.int64(w) << 5) + trailing_zeros(bit)
                filled += 1
    flush(queue, buffer, filled, state, TAIL)
