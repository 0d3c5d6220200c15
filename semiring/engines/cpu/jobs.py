"""Helpers that join a call when they can: the first thread opens a job, and whoever is there takes part.

The first thread never waits for a thread that has not come: it opens a job, works on it piece by piece, closes it, and
waits only for those that joined meanwhile to end the piece they are at.  Alone, it does everything itself.  All of
this happens in one array of words, the call's own: nothing of a call that was left can reach the next one.

A kernel that divides its work by parts needs nothing of it: `threads.run` opens the one job of such a call, and hands
the parts out (`next_part`, `enlist`, `leave`, `give_up`).  A kernel with a sequence of jobs, called by
`threads.assisted`, has this form::

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
            ...        # the same, without an allocation: what raises here does not leave the job
            leave_job(control)

What helpers read is written before the job is opened; what they wrote may be read after it is closed.
"""

from __future__ import annotations

from typing import Any

from .atomics import ABORTED, CHUNK, JOB, PART, RETIRED, compare_swap, fetch_add, give_way, load, stopped, store
from .compile import device, kernel

# The word of a job: its number, whether it is open, and how many helpers are at it.
_NUMBER_SHIFT = 16
_OPEN = 1 << 15
DISMISSED = -1
# The word of a call whose first job is open.
OPENED = (1 << _NUMBER_SHIFT) | _OPEN
# How long a helper waits for the next job: a while without giving its core away, then giving it away each time (half
# a microsecond where nobody else wants it), then it retires.
_PATIENCE = 200
_RETIREMENT = 2000


@device
def open_job(control: Any) -> None:
    """Let helpers join; chunks are handed out from 0.  By the first thread."""
    store(control, CHUNK, 0)
    store(control, JOB, (((load(control, JOB) >> _NUMBER_SHIFT) + 1) << _NUMBER_SHIFT) | _OPEN)


@device
def close_job(control: Any) -> None:
    """No helper may join any more; wait for those that are at it.  By the first thread, when no chunk is left."""
    fetch_add(control, JOB, -_OPEN)
    _wait_for_helpers(control)


@device
def _wait_for_helpers(control: Any) -> None:
    waited = 0
    while load(control, JOB) & (_OPEN - 1):
        waited += 1
        if waited > _PATIENCE:
            give_way()


@device
def dismiss(control: Any) -> None:
    """There are no more jobs.  By the first thread."""
    store(control, JOB, DISMISSED)


@device
def join_job(control: Any, last: int) -> int:
    """The number of a job after `last` that this helper is now at, or 0: it must return at once."""
    waited = 0
    while True:
        word = load(control, JOB)
        if word == DISMISSED:
            return 0
        number = word >> _NUMBER_SHIFT
        if word & _OPEN and number != last and compare_swap(control, JOB, word, word + 1) == word:
            return number  # type: ignore[no-any-return]
        waited += 1
        if waited > _RETIREMENT:
            fetch_add(control, RETIRED, 1)
            return 0
        if waited > _PATIENCE:
            give_way()


@device
def leave_job(control: Any) -> None:
    """The part of this helper is done.  By a helper that joined."""
    fetch_add(control, JOB, -1)


@kernel
def next_part(control: Any, parts: int) -> int:
    """The next part of the open job that no thread has taken; -1 if none is left, or the call is given up."""
    if stopped(control):
        return -1
    t = fetch_add(control, PART, 1)
    return t if t < parts else -1


@kernel
def next_part_or_end(control: Any, parts: int) -> int:
    """`next_part` for the first thread: when none is left, it closes the job and ends the call."""
    if not stopped(control):
        t = fetch_add(control, PART, 1)
        if t < parts:
            return t  # type: ignore[no-any-return]
    close_job(control)
    dismiss(control)
    return -1


@kernel
def give_up(control: Any) -> None:
    """End a call whatever state it is in: nobody joins any more, and those that are at it have left.  Idempotent."""
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
def enlist(control: Any) -> bool:
    """Join the job if it is open.  By a helper."""
    while True:
        word = load(control, JOB)
        if word == DISMISSED or word & _OPEN == 0:
            return False
        if compare_swap(control, JOB, word, word + 1) == word:
            return True


@kernel
def leave(control: Any) -> None:
    """`leave_job`, for helpers in Python."""
    leave_job(control)
