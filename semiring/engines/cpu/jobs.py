"""Jobs of a call that helper threads may join: the first thread opens a job, and available helpers join it.

The first thread never waits for a thread that has not joined: it opens a job, claims chunks of it, closes it, and waits
only until the helpers that joined have finished their current chunk.  Without helpers it does all the work itself.  The
state is one control array of the call, so an abandoned call cannot affect the next one.

A kernel that divides its work by parts does not use this module: `threads.run` opens the one job of such a call, and
hands out the parts (`next_part`, `enlist`, `leave`, `give_up`).  A kernel with a sequence of jobs, called by
`threads.assisted`, has this structure::

    if t == 0:
        open_job(control)
        ...            # chunks, by next_chunk(control), until none is left
        close_job(control)
        dismiss(control)
    else:
        job = 0
        while True:
            job = join_job(control, job)
            if job == 0:
                return
            ...        # the same, without an allocation: an exception here would not leave the job
            leave_job(control)

Data for the helpers is written before the job is opened; their results may be read after it is closed.
"""

from __future__ import annotations

from .atomics import ABORTED, CHUNK, JOB, PART, RETIRED, compare_swap, fetch_add, load, stopped, store, yield_core
from .compile import device, kernel

# The word of a job: its number, whether it is open, and the number of active helpers.
_NUMBER_SHIFT = 16
_OPEN = 1 << 15
DISMISSED = -1
# The word of a call whose first job is open.
OPENED = (1 << _NUMBER_SHIFT) | _OPEN
# Iterations that a helper waits for the next job: first spinning, then yielding its core each time (half a microsecond
# where no other thread is ready), until it retires.
_PATIENCE = 200
_RETIREMENT = 2000


@device
def open_job(control):
    """Let helpers join; chunks are claimed from 0 on.  Called by the first thread."""
    store(control, CHUNK, 0)
    store(control, JOB, (((load(control, JOB) >> _NUMBER_SHIFT) + 1) << _NUMBER_SHIFT) | _OPEN)


@device
def close_job(control):
    """Close the job and wait for its active helpers.  Called by the first thread, when no chunk is left."""
    fetch_add(control, JOB, -_OPEN)
    _wait_for_helpers(control)


@device
def _wait_for_helpers(control):
    waited = 0
    while load(control, JOB) & (_OPEN - 1):
        waited += 1
        if waited > _PATIENCE:
            yield_core()


@device
def dismiss(control):
    """Mark the call as having no more jobs.  Called by the first thread."""
    store(control, JOB, DISMISSED)


@device
def join_job(control, last):
    """Join the next job after `last`; return its number, or 0 if the helper must return."""
    waited = 0
    while True:
        word = load(control, JOB)
        if word == DISMISSED:
            return 0
        number = word >> _NUMBER_SHIFT
        if word & _OPEN and number != last and compare_swap(control, JOB, word, word + 1) == word:
            return number
        waited += 1
        if waited > _RETIREMENT:
            fetch_add(control, RETIRED, 1)
            return 0
        if waited > _PATIENCE:
            yield_core()


@device
def leave_job(control):
    """Leave the job.  Called by a helper that joined it."""
    fetch_add(control, JOB, -1)


@kernel
def next_part(control, parts):
    """Claim the next part of the open job; -1 if none is left, or the call is aborted."""
    if stopped(control):
        return -1
    t = fetch_add(control, PART, 1)
    return t if t < parts else -1


@kernel
def next_part_or_end(control, parts):
    """Claim the next part as the first thread: when none is left, close the job and end the call."""
    if not stopped(control):
        t = fetch_add(control, PART, 1)
        if t < parts:
            return t
    close_job(control)
    dismiss(control)
    return -1


@kernel
def give_up(control):
    """Abort a call in any state: no helper can join, and the active ones have left.  Idempotent."""
    store(control, ABORTED, 1)
    while True:
        word = load(control, JOB)
        if word == DISMISSED:
            return
        if word & _OPEN == 0 or compare_swap(control, JOB, word, word - _OPEN) == word:
            break
    _wait_for_helpers(control)
    store(control, JOB, DISMISSED)


@kernel
def enlist(control):
    """Join the job if it is open.  Called by a helper."""
    while True:
        word = load(control, JOB)
        if word == DISMISSED or word & _OPEN == 0:
            return False
        if compare_swap(control, JOB, word, word + 1) == word:
            return True


@kernel
def leave(control):
    """Call `leave_job` from Python."""
    leave_job(control)
