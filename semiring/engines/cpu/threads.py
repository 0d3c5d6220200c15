"""Kernels on several threads.

A kernel is called as ``kernel(t, threads, control, *args)``: it computes part `t` of `threads` parts, from 0 on.  Parts
are independent, and no result depends on their number.  There are two ways to call it:

- `run`: every part is computed once, by this thread or by a helper.  A kernel may divide by `t`, or hand out chunks of
  all the work by `next_chunk(control)` to whichever parts are under way.
- `assisted`: the kernel is entered once by every thread; the first one opens jobs that the others join (`team`).

Neither waits for a helper that has not come: alone, and where the cores are busy, the calling thread does all the
work.  So a thread that cannot be started, or that another Python thread has hired, costs time and nothing else.

Interrupts
----------
Signal handlers run on the main thread, between any two bytecodes, and may raise.  What follows holds for an exception
at every bytecode below:

1. The state of a call is the call's own: its `control` array and its arguments.  A helper holds a reference to both
   while it works, and results of a call that raised are never used.  So a helper that outlives its call disturbs
   nobody; it ends with its part.
2. The joins are compiled code, which no handler interrupts: a call that returns has no helper at work
   (`next_part_or_end`, `close_job`).  A call that raises ends in `give_up`, which waits for the helpers likewise.
3. Workers are never in doubt: one serves while it holds its lock, whoever started its thread; an offer that nobody
   takes back finds a call that is closed.  There is no lock that a caller holds.
4. Long work (`work=`) runs on a thread of its own, and the main thread waits where signals interrupt it (`apart`): it
   raises `ABORTED`, at which chunks and parts run out, and waits for the end.  Short work is not interrupted; parts
   are cut short enough that handlers run between them.

Python threads that release the GIL cost 30 microseconds a call, compile several times faster than numba's own
parallel loops, and need no threading layer, so they are safe under fork and in any Python thread.
"""

from __future__ import annotations

import _thread
import contextlib
import ctypes
import os
import threading
import time
from queue import SimpleQueue
from typing import Any

import numba
import numpy as np

from ...apart import apart
from .atomics import ABORTED, CONTROL_SIZE, JOB, PART
from .team import DISMISSED, OPENED, enlist, give_up, leave, next_part, next_part_or_end

# Work (entries visited) below which a second thread costs more than it brings.
_WORK_PER_THREAD = 32768
# Work of a part, at most: some milliseconds, so that a signal handler runs in time.
_WORK_PER_PART = 1 << 21
# Work from which the main thread only waits: above 10 milliseconds, where starting a thread (0.1) is not felt.
_LONG = 1 << 23
# Seconds after which a worker whose thread does not serve is given another.
_OVERDUE = 1.0


def available() -> int:
    """The number of threads that a call may have: numba's (NUMBA_NUM_THREADS, by default the cores of this process)."""
    settings: Any = numba.config
    return int(settings.NUMBA_NUM_THREADS)


def threads_for(work: int) -> int:
    """How many threads `work` entries keep busy: the parts of a kernel that needs memory for each of them.

    Such a kernel polls `stopped` or `next_chunk`, and is called with ``work=``.
    """
    return max(1, min(available(), work // _WORK_PER_THREAD))


def parts_for(work: int) -> int:
    """Into how many parts `work` entries are divided, where a part costs nothing: enough for all threads, and short."""
    return max(threads_for(work), -(-work // _WORK_PER_PART))


class _Worker:
    """A thread that helps with the calls that it is offered, one after another."""

    def __init__(self) -> None:
        self._calls: SimpleQueue[tuple[_Call, int]] = SimpleQueue()
        self._serving = _thread.allocate_lock()  # held by the thread that serves, for as long as it lives
        self._overdue = 0.0
        self._native_id = 0
        self._places: set[int] = set()

    def ready(self) -> bool:
        """True if a thread serves or has just been started; False where none is to be had."""
        if self._serving.locked():
            return True
        now = time.monotonic()
        if now > self._overdue:
            try:
                _thread.start_new_thread(self._serve, ())
            except (RuntimeError, MemoryError):
                return False
            self._overdue = now + _OVERDUE
        return True

    def keep_to(self, places: set[int]) -> None:
        """Run on these processors."""
        if self._native_id and places != self._places:
            with contextlib.suppress(OSError):
                os.sched_setaffinity(self._native_id, places)
            self._places = places

    def offer(self, call: _Call, t: int) -> None:
        """Let it help with a call when it comes to it; the call does not wait for it."""
        self._calls.put((call, t))

    def _serve(self) -> None:
        if not self._serving.acquire(blocking=False):
            return  # an interrupt had this thread started twice
        try:
            self._native_id, self._places = threading.get_native_id(), set()
            while True:
                call, t = self._calls.get()
                call.help(t)
                del call  # its arrays
        finally:
            self._serving.release()


# The processor that the calling thread is on, where the system says so and lets threads be placed.
_processor: Any = getattr(ctypes.CDLL(None), "sched_getcpu", None) if hasattr(os, "sched_setaffinity") else None

_workers: list[_Worker] = []

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_workers.clear)  # the threads of the parent are not there


def _hired(count: int) -> list[_Worker]:
    """Up to `count` workers, each with a thread."""
    while len(_workers) < count:
        _workers.append(_Worker())
    hired = [worker for worker in _workers[:count] if worker.ready()]
    if _processor is not None:
        # Left to itself a thread often wakes on the processor of the thread that wakes it, and stays there for
        # milliseconds while another is idle.
        elsewhere = os.sched_getaffinity(0) - {_processor()}
        if elsewhere:
            for worker in hired:
                worker.keep_to(elsewhere)
    return hired


class _Call:
    """A kernel that is called with some arguments; `arguments` is None once the call is over."""

    def __init__(self, kernel: Any, parts: int, arguments: tuple[Any, ...]) -> None:
        self.kernel = kernel
        self.parts = parts
        self.arguments: tuple[Any, ...] | None = arguments
        self.control = np.zeros(CONTROL_SIZE, np.int64)
        self.raised: BaseException | None = None

    def lead(self) -> None:
        """Make the call on this thread; its helpers have ended when it returns or raises."""
        raise NotImplementedError

    def help(self, t: int) -> None:
        """Take part, on a worker's thread, if the call is still going on.  Raises nothing."""
        raise NotImplementedError

    def stop(self) -> None:
        """Have the call end soon, whatever it has computed."""
        self.control[ABORTED] = 1

    def offer(self) -> None:
        """Call for helpers."""
        for t, worker in enumerate(_hired(min(self.parts, available()) - 1), start=1):
            worker.offer(self, t)

    def run(self, work: int) -> None:
        """Make the call; the main thread leaves it to another if it is long."""
        if work < _LONG:
            self.lead()
        else:
            apart(self.lead, self.stop)


class _Parts(_Call):
    """A call whose parts are handed out one by one."""

    def lead(self) -> None:
        kernel, parts, control, arguments = self.kernel, self.parts, self.control, self.arguments
        assert arguments is not None
        if parts == 1:
            kernel(0, 1, control, *arguments)
            return
        _compile_team()
        control[PART], control[JOB] = 1, OPENED
        try:
            self.offer()
            t = 0
            while t >= 0:
                kernel(t, parts, control, *arguments)
                t = next_part_or_end(control, parts)
        except BaseException:
            give_up(control)
            raise
        finally:
            self.arguments = None
        if self.raised is not None:
            raise self.raised

    def help(self, t: int) -> None:
        kernel, parts, control, arguments = self.kernel, self.parts, self.control, self.arguments
        if arguments is None or not enlist(control):
            return
        try:
            while (t := next_part(control, parts)) >= 0:
                kernel(t, parts, control, *arguments)
        except BaseException as error:
            self.raised = error
            self.stop()
        finally:
            _leave(control)


class _Assisted(_Call):
    """A call that every thread enters once."""

    def lead(self) -> None:
        assert self.arguments is not None
        try:
            self.offer()
            self.kernel(0, self.parts, self.control, *self.arguments)
        finally:
            self.control[JOB] = DISMISSED
            self.arguments = None

    def help(self, t: int) -> None:
        arguments = self.arguments
        if arguments is not None:
            # What fails here fails before the helper has joined a job: the first thread does the work.
            with contextlib.suppress(Exception):
                self.kernel(t, self.parts, self.control, *arguments)


def _leave(control: np.ndarray[Any, Any]) -> None:
    """Leave a job, whatever happens: its first thread waits for that."""
    while True:
        try:
            leave(control)
            return
        except MemoryError:
            time.sleep(0.001)


_team_compiled = False


def _compile_team() -> None:
    """Compile what threads meet by, before they do: nobody is to wait for the compiler with helpers at work."""
    global _team_compiled
    if not _team_compiled:
        control = np.zeros(CONTROL_SIZE, np.int64)
        control[JOB] = OPENED
        enlist(control)
        leave(control)
        next_part(control, 0)
        next_part_or_end(control, 0)
        give_up(control)
        _team_compiled = True


def run(kernel: Any, parts: int, *args: Any, work: int = 0) -> None:
    """Compute all parts of `kernel`, on this thread and its helpers.

    work: the entries that it visits, where parts may be long; the kernel must then poll `stopped` or `next_chunk`.
    """
    if parts == 1 and work < _LONG:
        kernel(0, 1, np.zeros(CONTROL_SIZE, np.int64), *args)
    else:
        _Parts(kernel, parts, args).run(work)


def assisted(kernel: Any, threads: int, *args: Any, work: int = 0) -> None:
    """Run `kernel`, which opens jobs as `team` says, on this thread, with up to ``threads - 1`` helpers.

    Returns when the first thread is done: helpers that have not come are not waited for, and touch nothing any more.
    """
    if threads == 1 and work < _LONG:
        kernel(0, 1, np.zeros(CONTROL_SIZE, np.int64), *args)
    else:
        _Assisted(kernel, threads, args).run(work)
