"""Kernels on several threads.

A kernel is called as ``kernel(t, threads, control, *args)``: it computes part `t` of `threads` parts, from 0 on.  Parts
are independent, and no result depends on their number.  There are two ways to call it:

- `run`: every part is computed once, by this thread or by a helper.  A kernel may divide by `t`, or claim chunks of
  all the work by `next_chunk(control)` in every running part.
- `assisted`: the kernel is entered once by every thread; the first one opens jobs that the others join (`jobs`).

Neither waits for a helper that has not joined: where no helper is available, the calling thread does all the work.  So
a thread that cannot be started, or that serves another Python thread, costs only time.

Interrupts
----------
Signal handlers run on the main thread, between any two bytecodes, and may raise.  The following holds for an exception
at every bytecode below:

1. Each call has its own state: its `control` array and its arguments.  A helper holds a reference to both while it
   works, and results of a call that raised are never used.  So a helper that outlives its call has no effect on other
   calls; it ends with its part.
2. Helpers are joined in compiled code, which no handler interrupts: a call that returns has no active helper
   (`next_part_or_end`, `close_job`).  A call that raises ends in `give_up`, which also waits for the helpers.
3. The state of a worker is consistent: it serves while it holds its lock, whichever thread started it; a stale offer
   refers to a closed call.  Callers hold no lock.
4. Long work (`work=`) runs on a separate thread, and the main thread waits interruptibly (`apart`): on an exception it
   sets `ABORTED`, so that no chunk or part is left, and waits for the end.  Short work is not interrupted; its parts
   are short enough that handlers run between them.

Python threads that release the GIL cost 30 microseconds a call, compile several times faster than numba's parallel
loops, and need no threading layer, so they are safe under fork and in any Python thread.
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

from ...worker_thread import apart
from .atomics import ABORTED, CONTROL_SIZE, JOB, PART
from .jobs import DISMISSED, OPENED, enlist, give_up, leave, next_part, next_part_or_end

# Work (entries visited) below which a second thread costs more than it saves.
_WORK_PER_THREAD = 32768
# Largest work of a part: some milliseconds, so that signal handlers run soon.
_WORK_PER_PART = 1 << 21
# Work from which the main thread only waits: above 10 ms, where starting a thread (0.1 ms) is negligible.
_LONG = 1 << 23
# Seconds after which a worker whose thread does not serve starts another.
_OVERDUE = 1.0


def available() -> int:
    """Return the number of threads of a call: numba's (NUMBA_NUM_THREADS, by default the cores of this process)."""
    settings: Any = numba.config
    return int(settings.NUMBA_NUM_THREADS)


def threads_for(work: int) -> int:
    """Return the number of threads for `work` entries: the parts of a kernel that needs memory for each of them.

    Such a kernel polls `stopped` or `next_chunk`, and is called with ``work=``.
    """
    if work < 2 * _WORK_PER_THREAD:
        return 1
    return max(1, min(available(), work // _WORK_PER_THREAD))


def parts_for(work: int) -> int:
    """Return the number of parts for `work` entries, where parts have no overhead: one a thread or more, and short."""
    if work < 2 * _WORK_PER_THREAD:
        return 1
    return max(threads_for(work), -(-work // _WORK_PER_PART))


class _Worker:
    """A thread that helps with the calls offered to it, in order."""

    def __init__(self) -> None:
        self._calls: SimpleQueue[tuple[_Call, int]] = SimpleQueue()
        self._serving = _thread.allocate_lock()  # held by the serving thread until it ends
        self._overdue = 0.0
        self._native_id = 0
        self._processors: set[int] = set()

    def ready(self) -> bool:
        """Return whether a thread serves or has just been started; False where none can be started."""
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

    def pin(self, processors: set[int]) -> None:
        """Restrict the thread to these processors."""
        if self._native_id and processors != self._processors:
            with contextlib.suppress(OSError):
                os.sched_setaffinity(self._native_id, processors)
            self._processors = processors

    def offer(self, call: _Call, t: int) -> None:
        """Queue a call to help with; the call does not wait for the worker."""
        self._calls.put((call, t))

    def _serve(self) -> None:
        if not self._serving.acquire(blocking=False):
            return  # an interrupt caused a second thread to be started
        try:
            self._native_id, self._processors = threading.get_native_id(), set()
            while True:
                call, t = self._calls.get()
                call.help(t)
                del call  # releases its arrays
        finally:
            self._serving.release()


# The processor of the calling thread, where the system reports it and supports affinity.
_processor: Any = getattr(ctypes.CDLL(None), "sched_getcpu", None) if hasattr(os, "sched_setaffinity") else None

_workers: list[_Worker] = []

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_workers.clear)  # a child process has no threads of the parent


def _ready_workers(count: int) -> list[_Worker]:
    """Return up to `count` workers with a running thread."""
    while len(_workers) < count:
        _workers.append(_Worker())
    ready = [worker for worker in _workers[:count] if worker.ready()]
    if _processor is not None:
        # By default a thread often wakes on the processor of the thread that wakes it, and stays there for
        # milliseconds while another processor is idle.
        elsewhere = os.sched_getaffinity(0) - {_processor()}
        if elsewhere:
            for worker in ready:
                worker.pin(elsewhere)
    return ready


class _Call:
    """A call of a kernel; `arguments` is None after its end."""

    def __init__(self, kernel: Any, parts: int, arguments: tuple[Any, ...]) -> None:
        self.kernel = kernel
        self.parts = parts
        self.arguments: tuple[Any, ...] | None = arguments
        self.control = np.zeros(CONTROL_SIZE, np.int64)
        self.raised: BaseException | None = None

    def lead(self) -> None:
        """Run the call on this thread; its helpers have ended when it returns or raises."""
        raise NotImplementedError

    def help(self, t: int) -> None:
        """Help on the thread of a worker, if the call has not ended.  Raises nothing."""
        raise NotImplementedError

    def stop(self) -> None:
        """Abort the call: it ends soon, and its results are discarded."""
        self.control[ABORTED] = 1

    def offer(self) -> None:
        """Offer the call to workers."""
        for t, worker in enumerate(_ready_workers(min(self.parts, available()) - 1), start=1):
            worker.offer(self, t)

    def run(self, work: int) -> None:
        """Run the call; on a separate thread if it is long and this is the main thread."""
        if work < _LONG:
            self.lead()
        else:
            apart(self.lead, self.stop)


class _Parts(_Call):
    """A call whose parts are claimed one at a time."""

    def lead(self) -> None:
        kernel, parts, control, arguments = self.kernel, self.parts, self.control, self.arguments
        assert arguments is not None
        if parts == 1:
            kernel(0, 1, control, *arguments)
            return
        _compile_jobs()
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
    """A call that each thread enters once."""

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
            # An error here precedes joining a job: the first thread does the work.
            with contextlib.suppress(Exception):
                self.kernel(t, self.parts, self.control, *arguments)


def _leave(control: np.ndarray[Any, Any]) -> None:
    """Leave a job, also after a MemoryError: its first thread waits for that."""
    while True:
        try:
            leave(control)
            return
        except MemoryError:
            time.sleep(0.001)


_jobs_compiled = False


def _compile_jobs() -> None:
    """Compile the functions of `jobs` before a call, so that no thread waits for the compiler with active helpers."""
    global _jobs_compiled
    if not _jobs_compiled:
        control = np.zeros(CONTROL_SIZE, np.int64)
        control[JOB] = OPENED
        enlist(control)
        leave(control)
        next_part(control, 0)
        next_part_or_end(control, 0)
        give_up(control)
        _jobs_compiled = True


def total(counts: np.ndarray[Any, Any]) -> int:
    """Return the sum of one count a thread, without a NumPy reduction where there is one thread."""
    return int(counts[0]) if counts.size == 1 else int(counts.sum())


def run(kernel: Any, parts: int, *args: Any, work: int = 0) -> None:
    """Compute all parts of `kernel`, on this thread and its helpers.

    work: the number of visited entries, where parts may be long; the kernel must then poll `stopped` or `next_chunk`.
    """
    if parts == 1 and work < _LONG:
        kernel(0, 1, np.zeros(CONTROL_SIZE, np.int64), *args)
    else:
        _Parts(kernel, parts, args).run(work)


def assisted(kernel: Any, threads: int, *args: Any, work: int = 0) -> None:
    """Run `kernel`, which opens jobs as in `jobs`, on this thread, with up to ``threads - 1`` helpers.

    Returns when the first thread is done, without waiting for helpers that have not joined; they do nothing later.
    """
    if threads == 1 and work < _LONG:
        kernel(0, 1, np.zeros(CONTROL_SIZE, np.int64), *args)
    else:
        _Assisted(kernel, threads, args).run(work)
