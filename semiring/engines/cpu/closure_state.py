"""What the two searches keep between calls: places in one int64 array, and what they may ask for."""

from __future__ import annotations

from typing import Any

from .compile import device

# Places. The first group is read by all threads and written by the first one, where no other is at work.
STATUS, STEPS, PULLING, FRONTIER_SIZE, FRONTIER_EDGES, HEAD, UNSEEN_EDGES, TRACE_SIZE = range(8)
# 0: never pull; 1: the rows of the transpose must be asked for; 2: they are there; 3: always pull.
PULL_ALLOWED = 8
# Of a search by levels. PHASE: what the open job does. FLIPPED: which of two arrays of bits holds the frontier.
# REACHED: entries so far. ROWS: how many there can be, as far as is known.
SHRINKING, PHASE, FLIPPED, REACHED, ROWS = range(9, 14)
# Added to by all threads: each on a cache line of its own.
TAIL, FOUND, FOUND_EDGES = 16, 24, 32
STATE_SIZE = 40
# Work since Python was last there; what it is after which a search goes there, for signal handlers to run: some
# milliseconds.  One step may visit more.
VISITED = 14
SLICE = 1 << 21

CONVERGED, TOO_MANY, WANTS_THREADS, WANTS_ROWS, TRACE_FULL, PAUSED = range(6)

# Entries that a step visits from which threads help: in a relaxation, whose parts each go through the whole frontier,
# and in a search by levels.
MANY_ENTRIES = 1 << 20
MANY_TO_SHARE = 1 << 17
# Below a part of that threads are sent away again, or not let in.
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
    if state[VISITED] >= SLICE:
        state[STATUS], state[VISITED] = PAUSED, 0
        return True
    return False


@device
def record(state: Any, trace: Any, pulling: int) -> None:
    """One more step; by the first thread, where no other is at work."""
    state[STEPS] += 1
    if trace.shape[0] > 0:
        row = state[TRACE_SIZE]
        trace[row, 0] = pulling
        trace[row, 1] = state[FRONTIER_SIZE]
        trace[row, 2] = state[FRONTIER_EDGES]
        state[TRACE_SIZE] = row + 1
