"""Helpers that join a kernel when they can: the first thread opens jobs, and whoever is there takes part.

A gang that meets at barriers is as late as its latest thread, and on a machine with other work a thread may be late
by milliseconds.  Here the first thread never waits for a thread that has not come: it opens a job, works on it chunk
by chunk, closes it, and waits only for those that joined meanwhile to end the chunk they are at.  Alone, it does
everything itself.

A kernel is called as for `threads.assisted`, and has this form::

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
            ...        # the same
            leave_job(control)

What helpers read is written before the job is opened; what they wrote may be read after it is closed.
"""

from __future__ import annotations

from typing import Any

from .atomics import CHUNK, JOB, RETIRED, compare_swap, fetch_add, give_way, load, store
from .compile import device

# The word of a job: its number, whether it is open, and how many helpers are at it.
_NUMBER_SHIFT = 16
_OPEN = 1 << 15
DISMISSED = -1
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
