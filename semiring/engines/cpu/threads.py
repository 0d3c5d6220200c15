"""A gang of threads that run one kernel together.

A kernel is called as ``kernel(t, threads, control, *args)`` with ``t`` from 0 to ``threads - 1``; it shares the work
out by `t` or by `next_chunk(control)`.  There are two ways to call it:

- `run`: all threads truly take part, and may wait for each other at `barrier(control, threads)`.  One such gang runs
  at a time; a Python thread that finds it busy runs its kernel alone.
- `assisted`: the calling thread does the work, and the others join when they can (`team`).  Where the cores are busy
  with something else that costs little more than one thread does.

Python threads that release the GIL cost 30 microseconds a call, compile several times faster than numba's own
parallel loops, and need no threading layer, so they are safe under fork and in any Python thread.
"""

from __future__ import annotations

import ctypes
import os
import threading
from queue import SimpleQueue
from typing import Any

import numba
import numpy as np

from .atomics import ABORTED, CONTROL_SIZE, JOB
from .team import DISMISSED

# Work (entries visited) below which a second thread costs more than it brings.
_WORK_PER_THREAD = 32768


def available() -> int:
    """The number of threads of a gang: numba's (NUMBA_NUM_THREADS, by default the cores of this process)."""
    settings: Any = numba.config
    return int(settings.NUMBA_NUM_THREADS)


def threads_for(work: int) -> int:
    """How many threads `work` entries keep busy."""
    return max(1, min(available(), work // _WORK_PER_THREAD))


class _Worker:
    """A thread that makes the calls it is given, one after another."""

    def __init__(self) -> None:
        # Every call lies in a list of its own: whoever pops it makes it, so that it can be taken back.
        self._calls: SimpleQueue[list[tuple[Any, ...]]] = SimpleQueue()
        self._done: SimpleQueue[BaseException | None] = SimpleQueue()
        self._places: set[int] = set()
        self._thread = threading.Thread(target=self._serve, name="semiring", daemon=True)
        self._thread.start()

    def keep_to(self, places: set[int]) -> None:
        """Run on these processors."""
        if places != self._places:
            os.sched_setaffinity(self._thread.native_id or 0, places)
            self._places = places

    def start(self, report: bool, *call: Any) -> list[tuple[Any, ...]]:
        """Ask for call[0](*call[1:]); `report`: somebody will `wait` for its end."""
        offered = [(report, *call)]
        self._calls.put(offered)
        return offered

    def wait(self) -> BaseException | None:
        """What the oldest call that reports has raised."""
        return self._done.get()

    def _serve(self) -> None:
        while True:
            self._take(self._calls.get())

    def _take(self, offered: list[tuple[Any, ...]]) -> None:
        """Make a call, and let go of its arrays."""
        try:
            report, kernel, *arguments = offered.pop()
        except IndexError:
            return
        raised: BaseException | None = None
        try:
            kernel(*arguments)
        except BaseException as error:
            arguments[2][ABORTED] = 1
            raised = error
        if report:
            self._done.put(raised)


# The processor that the calling thread is on, where the system says so and lets threads be placed.
_processor: Any = getattr(ctypes.CDLL(None), "sched_getcpu", None) if hasattr(os, "sched_setaffinity") else None

_workers: list[_Worker] = []
_hiring = threading.Lock()
_busy = threading.Lock()


def _forget() -> None:
    """In a forked child: the threads of the parent are not there."""
    global _busy, _hiring
    _workers.clear()
    _busy, _hiring = threading.Lock(), threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def _hired(count: int) -> list[_Worker]:
    if len(_workers) < count:
        with _hiring:
            while len(_workers) < count:
                _workers.append(_Worker())
    hired = _workers[:count]
    if _processor is not None:
        # Left to itself a thread often wakes on the processor of the thread that wakes it, and stays there for
        # milliseconds while another is idle.
        elsewhere = os.sched_getaffinity(0) - {_processor()}
        if elsewhere:
            for worker in hired:
                worker.keep_to(elsewhere)
    return hired


def run(kernel: Any, threads: int, *args: Any) -> None:
    """Run `kernel` on `threads` threads, this one included, and wait for all of them."""
    control = np.zeros(CONTROL_SIZE, np.int64)
    if threads == 1 or not _busy.acquire(blocking=False):
        kernel(0, 1, control, *args)
        return
    try:
        _together(kernel, threads, control, args)
    finally:
        _busy.release()


def _together(kernel: Any, threads: int, control: np.ndarray[Any, Any], args: tuple[Any, ...]) -> None:
    started: list[_Worker] = []
    raised: BaseException | None = None
    try:
        for t, worker in enumerate(_hired(threads - 1), start=1):
            worker.start(True, kernel, t, threads, control, *args)
            started.append(worker)
        kernel(0, threads, control, *args)
    except BaseException as error:
        control[ABORTED] = 1
        raised = error
    for worker in started:
        raised = worker.wait() or raised
    if raised is not None:
        raise raised


def assisted(kernel: Any, threads: int, *args: Any) -> None:
    """Run `kernel`, which opens jobs as `team` says, on this thread, with up to ``threads - 1`` helpers.

    Returns when the first thread is done: helpers that have not come are not waited for, and touch nothing any more.
    """
    control = np.zeros(CONTROL_SIZE, np.int64)
    if threads == 1:
        kernel(0, 1, control, *args)
        return
    offers: list[list[tuple[Any, ...]]] = []
    try:
        for t, worker in enumerate(_hired(threads - 1), start=1):
            offers.append(worker.start(False, kernel, t, threads, control, *args))
        kernel(0, threads, control, *args)
    finally:
        control[JOB] = DISMISSED
        for offered in offers:
            offered.clear()
