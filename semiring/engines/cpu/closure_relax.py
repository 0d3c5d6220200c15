"""Relaxation of changed entries, for closures of any idempotent monoid: Bellman-Ford by frontiers.

The outputs are divided into ranges; each range finds its part of a frontier row by binary search (rows are sorted), so
values are combined without atomics.  A value that was improved within a step may be used in the same step: this only
saves steps, because the entry is in the next frontier in any case.

The first thread leads: it computes small steps alone, and opens large ones to its helpers.
"""

from __future__ import annotations

import numpy as np

from .atomics import CHUNK, FEW_STEPS, RETIRED, load, next_chunk, stopped, trailing_zeros
from .closure_state import (
    FEW,
    FRONTIER_EDGES,
    FRONTIER_SIZE,
    NEEDS_THREADS,
    PHASE,
    STATUS,
    VISITED,
    must_stop,
    record,
)
from .compile import device, kernel
from .jobs import close_job, dismiss, join_job, leave_job, open_job
from .rows import lower_bound
from .types import combine, position, product, put, value_at

# The kinds of job.
_RELAX, _COUNT, _LIST = range(3)


@kernel
def relax(t, threads, control, rows, add, mult, values, parents, seen, changed, lists, sums, state, trace, limits):
    """Run steps until nothing changes or Python must act; `changed`: bits, `lists`: the queue, and changed entries.

    parents: the row that each value was computed from, or None.  limits: as of `closure_levels`.
    """
    indptr, operators = rows[0], (add, mult)
    (queue, spare), (most_threads, many, max_steps) = lists, limits
    if t > 0:
        job = 0
        while True:
            job = join_job(control, job)
            if job == 0:
                return
            _work(control, threads, rows, operators, values, parents, seen, changed, queue, spare, sums, state)
            leave_job(control)
    while not stopped(control) and not must_stop(state, trace, max_steps):
        size, edges = state[FRONTIER_SIZE], state[FRONTIER_EDGES]
        if most_threads > 1 and edges >= many and (threads == 1 or load(control, RETIRED) == threads - 1):
            state[STATUS] = NEEDS_THREADS
            break
        record(state, trace, 0)
        alone = threads == 1 or edges * FEW < many
        parts = 1 if alone else threads
        # One thread lists changed entries directly, while they fit in `spare`: a small step then has no cost
        # proportional to the size of the vector.
        listed = spare.size + 1
        state[VISITED] += size + edges
        if alone:
            listed = _relax(control, 0, 1, True, rows, operators, values, parents, seen, changed, queue, spare, size)
        if alone and listed <= spare.size:
            edges = 0
            for s in range(listed):
                o = position(spare, s)
                queue[s] = o
                changed[o >> 5] = 0
                edges += np.int64(indptr[o + 1]) - np.int64(indptr[o])
            state[FRONTIER_SIZE], state[FRONTIER_EDGES] = listed, edges
            continue
        state[VISITED] += seen.size
        for phase in range(_COUNT if alone else _RELAX, _LIST + 1):
            state[PHASE] = phase
            if alone:
                control[CHUNK] = 0
            else:
                open_job(control)
            _work(control, parts, rows, operators, values, parents, seen, changed, queue, spare, sums, state)
            if not alone:
                close_job(control)
        size, edges = 0, 0
        for part in range(parts):
            size += sums[part, 0]
            edges += sums[part, 1]
        state[FRONTIER_SIZE], state[FRONTIER_EDGES] = size, edges
    dismiss(control)


@device
def _work(control, parts, rows, operators, values, parents, seen, changed, queue, spare, sums, state):
    """Compute the share of a thread in the open job: ranges of outputs, claimed one at a time."""
    phase, size = state[PHASE], state[FRONTIER_SIZE]
    while True:
        part = next_chunk(control)
        if part >= parts:
            return
        if phase == _RELAX:
            _relax(control, part, parts, False, rows, operators, values, parents, seen, changed, queue, spare, size)
        elif phase == _COUNT:
            sums[part, 0], sums[part, 1] = _count(part, parts, rows[0], changed)
        else:
            start = 0
            for other in range(part):
                start += sums[other, 0]
            _list(part, parts, changed, queue, start)


@device
def _relax(control, part, parts, listing, rows, operators, values, parents, seen, changed, queue, spare, size):
    """Relax the rows of the frontier into the outputs of a part.

    listing: write the changed entries to `spare`; return their number, or more than its size if they do not fit.
    """
    indptr, indices, avals = rows
    add, mult = operators
    nwords = seen.size
    first, last = np.int64(part * nwords // parts) << 5, np.int64((part + 1) * nwords // parts) << 5
    listed = 0 if listing else spare.size + 1
    for s in range(size):
        if s & FEW_STEPS == 0 and stopped(control):
            break
        k = position(queue, s)
        p, end = np.int64(indptr[k]), np.int64(indptr[k + 1])
        if parts > 1:
            p = np.int64(lower_bound(indices, p, end, first))
        x = values[k]
        while p < end:
            o = position(indices, p)
            if o >= last:
                break
            w, bit = o >> 5, np.uint32(1) << np.uint32(o & 31)
            new = product(mult, True, value_at(avals, p), x, o, k, 0)
            p += 1
            if seen[w] & bit:
                old = values[o]
                new = combine(add, old, new)
                if new == old or (new != new and old != old):
                    continue
            else:
                seen[w] |= bit
            values[o] = new
            put(parents, o, k)
            if changed[w] & bit == 0:
                changed[w] |= bit
                if listed < spare.size:
                    spare[listed] = o
                    listed += 1
                else:
                    listed = spare.size + 1
    return listed


@device
def _count(part, parts, indptr, changed):
    """Return (changed entries of a part, edges of their rows)."""
    found, edges = 0, np.int64(0)
    for w in range(part * changed.size // parts, (part + 1) * changed.size // parts):
        bits = changed[w]
        while bits:
            bit = bits & (~bits + np.uint32(1))
            bits ^= bit
            o = (np.int64(w) << 5) + trailing_zeros(bit)
            edges += np.int64(indptr[o + 1]) - np.int64(indptr[o])
            found += 1
    return found, edges


@device
def _list(part, parts, changed, queue, start):
    """Write the changed entries of a part to the queue from `start` on, and clear their bits."""
    for w in range(part * changed.size // parts, (part + 1) * changed.size // parts):
        bits = changed[w]
        changed[w] = 0
        while bits:
            bit = bits & (~bits + np.uint32(1))
            bits ^= bit
            queue[start] = (np.int64(w) << 5) + trailing_zeros(bit)
            start += 1
