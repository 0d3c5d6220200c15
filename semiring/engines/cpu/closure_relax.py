"""Relaxation of what changed, for closures of any idempotent monoid: Bellman-Ford by frontiers.

Every thread owns a range of outputs and finds its part of each frontier row by search (rows are sorted), so values
are combined without atomics.  A value that was improved within a step may be used in the same step: that only
saves steps, for the entry is in the next frontier all the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .atomics import ABORTED, barrier, trailing_zeros
from .closure_state import (
    FEW,
    FOUND,
    FRONTIER_EDGES,
    FRONTIER_SIZE,
    STATUS,
    WANTS_ONE,
    WANTS_THREADS,
    must_stop,
    record,
)
from .compile import kernel
from .mxv import product
from .rows import lower_bound
from .types import combine, position, value_at


@kernel
def relax(
    t: int,
    threads: int,
    control: Any,
    indptr: Any,
    indices: Any,
    avals: Any,
    add: Any,
    mult: Any,
    values: Any,
    seen: Any,
    changed: Any,
    queue: Any,
    spare: Any,
    sums: Any,
    state: Any,
    trace: Any,
    most_threads: int,
    many: int,
    max_steps: int,
) -> None:
    """Steps until nothing changes or Python must help; `changed` are bits, `spare` room to list what changed."""
    nwords = seen.size
    first_word, last_word = t * nwords // threads, (t + 1) * nwords // threads
    first, last = np.int64(first_word) << 5, np.int64(last_word) << 5
    while control[ABORTED] == 0:
        if t == 0:
            leave = must_stop(state, trace, max_steps)
            edges = state[FRONTIER_EDGES]
            if not leave and threads == 1 and most_threads > 1 and edges >= many:
                state[STATUS] = WANTS_THREADS
                leave = True
            elif not leave and threads > 1 and edges * FEW < many:
                state[STATUS] = WANTS_ONE
                leave = True
            if not leave:
                record(state, trace, 0)
            state[FOUND] = -1 if leave else 0
        if not barrier(control, threads) or state[FOUND] < 0:
            return
        size = state[FRONTIER_SIZE]
        # One thread lists what changed as it goes, while there is room: a small step then costs nothing per entry
        # of the whole vector.
        listed = 0 if threads == 1 else spare.size + 1
        for s in range(size):
            k = position(queue, s)
            p, end = np.int64(indptr[k]), np.int64(indptr[k + 1])
            if threads > 1:
                p = np.int64(lower_bound(indices, p, end, first))
            x = values[k]
            while p < end:
                o = position(indices, p)
                if o >= last:
                    break
                w, bit = o >> 5, np.uint32(1) << np.uint32(o & 31)
                new = product(mult, True, value_at(avals, p), x, o, k)
                p += 1
                if seen[w] & bit:
                    old = values[o]
                    new = combine(add, old, new)
                    if new == old or (new != new and old != old):
                        continue
                else:
                    seen[w] |= bit
                values[o] = new
                if changed[w] & bit == 0:
                    changed[w] |= bit
                    if listed < spare.size:
                        spare[listed] = o
                        listed += 1
                    else:
                        listed = spare.size + 1
        if not barrier(control, threads):
            return
        found, edges = 0, 0
        if listed <= spare.size:
            for s in range(listed):
                o = position(spare, s)
                queue[s] = o
                changed[o >> 5] = 0
                edges += np.int64(indptr[o + 1]) - np.int64(indptr[o])
            found = listed
        else:
            for w in range(first_word, last_word):
                bits = changed[w]
                while bits:
                    bit = bits & (~bits + np.uint32(1))
                    bits ^= bit
                    o = (np.int64(w) << 5) + trailing_zeros(bit)
                    edges += np.int64(indptr[o + 1]) - np.int64(indptr[o])
                    found += 1
        sums[t, 0], sums[t, 1] = found, edges
        if not barrier(control, threads):
            return
        if listed > spare.size:
            place = 0
            for other in range(t):
                place += sums[other, 0]
            for w in range(first_word, last_word):
                bits = changed[w]
                changed[w] = 0
                while bits:
                    bit = bits & (~bits + np.uint32(1))
                    bits ^= bit
                    queue[place] = (np.int64(w) << 5) + trailing_zeros(bit)
                    place += 1
        if not barrier(control, threads):
            return
        if t == 0:
            state[FRONTIER_SIZE] = sums[:threads, 0].sum()
            state[FRONTIER_EDGES] = sums[:threads, 1].sum()
