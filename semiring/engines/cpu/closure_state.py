"""The state of the two searches between calls: indices in one int64 array, and the requests to Python."""

from __future__ import annotations

from .compile import device

# Indices. The first group is read by all threads and written by the first one while no helper is active.
STATUS, STEPS, PULLING, FRONTIER_SIZE, FRONTIER_EDGES, HEAD, UNSEEN_EDGES, TRACE_SIZE = range(8)
# 0: never pull; 1: the rows of the transpose must be requested; 2: they are available; 3: always pull.
PULL_ALLOWED = 8
# For a search by levels. PHASE: the kind of the open job. FLIPPED: which of two arrays of bits holds the frontier.
# REACHED: entries so far. ROWS: an upper bound of reachable entries.
PHASE, FLIPPED, REACHED, ROWS = range(9, 13)
# Incremented by all threads: each on its own cache line.
TAIL, FOUND, FOUND_EDGES = 16, 24, 32
STATE_SIZE = 40
# Visits since the last return to Python, and the number after which a search returns so that signal handlers run:
# some milliseconds.  One step may visit more.
VISITED = 14
SLICE = 1 << 21

# UNORDERED: a search in the order of values found a product that is better than its operand.
CONVERGED, TOO_MANY, NEEDS_THREADS, NEEDS_ROWS, TRACE_FULL, PAUSED, UNORDERED = range(7)

# The visits of a step from which helpers join: in a relaxation, where each part reads the whole frontier, and in a
# search by levels.
MANY_ENTRIES = 1 << 20
MANY_TO_SHARE = 1 << 17
# Below this fraction of it a step is computed by one thread.
FEW = 8


@device
def must_stop(state, trace, max_steps):
    """Return whether the search must stop, with the status set: at its end, for a full trace, or for a pause."""
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
def record(state, trace, pulling):
    """Record a step; called by the first thread while no helper is active."""
    state[STEPS] += 1
    if trace.shape[0] > 0:
        row = state[TRACE_SIZE]
        trace[row, 0] = pulling
        trace[row, 1] = state[FRONTIER_SIZE]
        trace[row, 2] = state[FRONTIER_EDGES]
        state[TRACE_SIZE] = row + 1
