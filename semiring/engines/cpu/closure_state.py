"""What the two searches keep between calls: places in one int64 array, and what they may ask for."""

from __future__ import annotations

from typing import Any

from .compile import device

# Places. The first group is read by all threads and written by the first one, between barriers.
STATUS, STEPS, PULLING, FRONTIER_SIZE, FRONTIER_EDGES, HEAD, UNSEEN_EDGES, TRACE_SIZE = range(8)
# 0: never pull; 1: the rows of the transpose must be asked for; 2: they are there; 3: always pull.
PULL_ALLOWED = 8
SHRINKING = 9
# Added to by all threads: each on a cache line of its own.
TAIL, FOUND, FOUND_EDGES = 16, 24, 32
STATE_SIZE = 40

CONVERGED, TOO_MANY, WANTS_THREADS, WANTS_ONE, WANTS_ROWS, TRACE_FULL = range(6)

# Entries that a step visits from which more threads are called (a millisecond of work: threads that must meet lose
# more than they gain where the cores are busy otherwise); below a part of that they are sent away again.
MANY_ENTRIES = 1 << 20
FEW = 8


@device
def must_stop(state: Any, trace: Any, max_steps: int) -> bool:
    """True, with the status set, if the search ends here or the trace must be emptied first."""
    if state[FRONTIER_SIZE] == 0:
        state[STATUS] = CONVERGED
        return True
    if state[STEPS] >= max_steps:
        state[STATUS] = TOO_MANY
        return True
    if trace.shape[0] > 0 and state[TRACE_SIZE] == trace.shape[0]:
        state[STATUS] = TRACE_FULL
        return True
    return False


@device
def record(state: Any, trace: Any, pulling: int) -> None:
    """One more step; by the first thread, between barriers."""
    state[STEPS] += 1
    if trace.shape[0] > 0:
        row = state[TRACE_SIZE]
        trace[row, 0] = pulling
        trace[row, 1] = state[FRONTIER_SIZE]
        trace[row, 2] = state[FRONTIER_EDGES]
        state[TRACE_SIZE] = row + 1
