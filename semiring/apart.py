"""Work on a thread of its own, so that no signal handler interrupts it.

Python runs signal handlers on the main thread, between any two of its bytecodes.  What a handler raises
(KeyboardInterrupt, or the exception of a test's time limit) leaves whatever the main thread computes there half-done:
a compiler's tables, an import, a kernel on several threads.  On any other thread nothing of the kind can happen.  The
main thread waits for a lock meanwhile, which signals do interrupt: a kernel that runs for minutes can be left at once.

All state belongs to one errand, and whoever takes `claim` does the work: an exception at any bytecode below leaves
an errand that nobody does, or one that ends by itself.  Nothing of it is used again.
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

# A wait is cut into so many seconds: not every system wakes the main thread when a signal arrives.
_TICK = 0.1
# A thread that has not begun after so many seconds has died for lack of memory.
_OVERDUE = 2.0
# The interpreter waits so long at its exit for work that was left: a thread inside the compiler does not survive that
# the process ends around it.
_LAST_WAIT = 30.0

# Work that is under way; its threads keep the list themselves.
_under_way: set[_Errand] = set()
# Work that is done once and shared, by its key, until it ends.
_shared: dict[object, _Errand] = {}


class _Errand:
    """One piece of work: not begun, under way, or finished with a result or an exception."""

    def __init__(self, work: Callable[[], Any]) -> None:
        self.claim = [work]
        self.finished = False
        self.result: Any = None
        self.raised: BaseException | None = None
        self._ended = _thread.allocate_lock()
        self._ended.acquire()

    def run(self) -> None:
        """Do the work, unless it was withdrawn.  The body of the thread."""
        work = self.withdrawn()
        if work is None:
            return
        try:
            _under_way.add(self)
            self.result = work()
        except BaseException as error:
            self.raised = error
        finally:
            del work
            self.finished = True
            _under_way.discard(self)
            self._ended.release()

    def withdrawn(self) -> Callable[[], Any] | None:
        """The work, if nobody has begun it: nobody else will."""
        try:
            return self.claim.pop()
        except IndexError:
            return None

    def wait(self, seconds: float) -> bool:
        """Wait until it is finished, at most so long; may be called again."""
        return self.finished or self._ended.acquire(timeout=seconds) or self.finished


def apart(work: Callable[[], T], stop: Callable[[], Any] | None = None) -> T:
    """Return ``work()``, which runs on a thread of its own if this is the main thread.

    stop: makes `work` return soon, with any result.  If an exception arrives meanwhile it is called, and the exception
    leaves when `work` has ended.  Without it the exception leaves at once, and `work` goes on to its end.
    """
    if threading.get_ident() != threading.main_thread().ident:
        return work()
    errand = _Errand(work)
    try:
        try:
            _thread.start_new_thread(errand.run, ())
        except (RuntimeError, MemoryError):  # no thread is to be had
            if errand.withdrawn() is not None:
                return work()
        overdue = time.monotonic() + _OVERDUE
        while not errand.wait(_TICK):
            if errand.claim and time.monotonic() > overdue and errand.withdrawn() is not None:
                return work()
    except BaseException:
        if stop is not None and errand.withdrawn() is None:
            stop()
            _wait_for(errand)
        raise
    if errand.raised is not None:
        raise errand.raised
    result: T = errand.result
    return result


def apart_once(key: object, work: Callable[[], T]) -> T:
    """Return ``apart(work)``; where work of the same key is under way, wait for its result instead of starting more.

    For imports: an exception leaves the first import under way, and a second one at the same time could deadlock with
    it (CPython before 3.12.4 misses some cycles of import locks).  Work that failed is done again by the next call.
    """
    errand = _shared.setdefault(key, _Errand(work))
    try:
        # Whoever takes the claim does the work; the others wait for it to end.
        apart(errand.run)
        while not errand.wait(_TICK):
            pass
    finally:
        if errand.finished and _shared.get(key) is errand:
            _shared.pop(key, None)
    if errand.raised is not None:
        raise errand.raised
    result: T = errand.result
    return result


def _wait_for(errand: _Errand) -> None:
    """Wait until the errand is finished; further exceptions are dropped, for the first one is about to leave."""
    while not errand.finished:
        try:
            errand.wait(_TICK)
        except BaseException:
            continue


def _wait_for_all() -> None:
    deadline = time.monotonic() + _LAST_WAIT
    for errand in list(_under_way):
        errand.wait(max(deadline - time.monotonic(), 0))


atexit.register(_wait_for_all)
if hasattr(os, "register_at_fork"):
    # The threads of the parent are not there.
    os.register_at_fork(after_in_child=_under_way.clear)
    os.register_at_fork(after_in_child=_shared.clear)
