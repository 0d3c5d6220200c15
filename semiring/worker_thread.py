"""Work on a separate thread, which signal handlers do not interrupt.

Python runs signal handlers on the main thread, between any two of its bytecodes.  An exception of a handler
(KeyboardInterrupt, or that of a test's time limit) interrupts the computation of the main thread at that point and
leaves inconsistent state: a compiler's tables, an import, a kernel on several threads.  On other threads this cannot
happen.  Meanwhile the main thread waits for a lock, and signals do interrupt that wait: an exception can end the wait
for a kernel that runs for minutes immediately.

All state belongs to one job, and the thread that pops `claim` does the work: after an exception at any bytecode below
a job is either never started or runs to its end.  Its state is not used again.
"""

from __future__ import annotations

import _thread
import atexit
import os
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")

# Seconds of one wait: not every system wakes the main thread when a signal arrives.
_TICK = 0.1
# Seconds after which a thread that has not started counts as dead (of lack of memory).
_OVERDUE = 2.0
# Seconds that the interpreter waits at exit for unfinished work: a thread inside the compiler crashes when the process
# ends.
_LAST_WAIT = 30.0

# Running work; its threads add and remove it themselves.
_running: set[_Job] = set()
# Work that several callers share, by its key, until it ends.
_shared: dict[object, _Job] = {}


class _Job:
    """One task: not started, running, or finished with a result or an exception."""

    def __init__(self, work: Callable[[], Any]) -> None:
        self.claim = [work]
        self.finished = False
        self.result: Any = None
        self.raised: BaseException | None = None
        self._ended = _thread.allocate_lock()
        self._ended.acquire()

    def run(self) -> None:
        """Do the work, unless it was withdrawn; the body of the thread."""
        work = self.withdrawn()
        if work is None:
            return
        try:
            _running.add(self)
            self.result = work()
        except BaseException as error:
            self.raised = error
        finally:
            del work
            self.finished = True
            _running.discard(self)
            self._ended.release()

    def withdrawn(self) -> Callable[[], Any] | None:
        """Return the work, if it has not been started, and prevent that another thread starts it; else None."""
        try:
            return self.claim.pop()
        except IndexError:
            return None

    def wait(self, seconds: float) -> bool:
        """Wait at most `seconds` and return whether the work is finished; may be called repeatedly."""
        return self.finished or self._ended.acquire(timeout=seconds) or self.finished


def apart(work: Callable[[], T], stop: Callable[[], Any] | None = None) -> T:
    """Return ``work()``, which runs on a separate thread if this is the main thread.

    stop: makes `work` return soon, with any result.  It is called if an exception interrupts the wait, which then
    propagates after the end of `work`.  Without it the exception propagates immediately, and `work` continues.
    """
    if threading.get_ident() != threading.main_thread().ident:
        return work()
    job = _Job(work)
    try:
        try:
            _thread.start_new_thread(job.run, ())
        except (RuntimeError, MemoryError):  # no thread can be started
            if job.withdrawn() is not None:
                return work()
        overdue = time.monotonic() + _OVERDUE
        while not job.wait(_TICK):
            if job.claim and time.monotonic() > overdue and job.withdrawn() is not None:
                return work()
    except BaseException:
        if stop is not None and job.withdrawn() is None:
            stop()
            _wait_for(job)
        raise
    if job.raised is not None:
        raise job.raised
    result: T = job.result
    return result


def apart_once(key: object, work: Callable[[], T]) -> T:
    """Return ``apart(work)``; where work of the same key is running, wait for its result instead of starting more.

    For imports: after an exception the first import continues, and a second one at the same time could deadlock with
    it (CPython before 3.12.4 misses some cycles of import locks).  The next call repeats work that failed.
    """
    job = _shared.setdefault(key, _Job(work))
    try:
        # One thread pops the claim and does the work; the others wait for its end.
        apart(job.run)
        while not job.wait(_TICK):
            pass
    finally:
        if job.finished and _shared.get(key) is job:
            _shared.pop(key, None)
    if job.raised is not None:
        raise job.raised
    result: T = job.result
    return result


def processors() -> list[int]:
    """Return the processors on which this process may run."""
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else list(range(os.cpu_count() or 1))


def _wait_for(job: _Job) -> None:
    """Wait until the job is finished; drop further exceptions, because the first one is about to propagate."""
    while not job.finished:
        try:
            job.wait(_TICK)
        except BaseException:
            continue


def _wait_for_all() -> None:
    deadline = time.monotonic() + _LAST_WAIT
    for job in list(_running):
        job.wait(max(deadline - time.monotonic(), 0))


atexit.register(_wait_for_all)
if hasattr(os, "register_at_fork"):
    # A child process has no threads of the parent.
    os.register_at_fork(after_in_child=_running.clear)
    os.register_at_fork(after_in_child=_shared.clear)
