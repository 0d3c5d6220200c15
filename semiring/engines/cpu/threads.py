"""A gang of threads that run one kernel together.

A kernel is called as ``kernel(t, threads, control, *args)`` with ``t`` from 0 to ``threads - 1``; it shares the work
out by `t` or by `next_chunk(control)`, and may wait for the others at `barrier(control, threads)`: all of them are
truly running.  Python threads that release the GIL cost 30 microseconds a call, compile several times faster than
numba's own parallel loops, and need no threading layer, so they are safe under fork and in any Python thread.

One gang runs at a time.  A Python thread that finds it busy runs its kernel alone.
"""

from __future__ import annotations

import os
import threading
from typing import Any

import numba
import numpy as np

from .atomics import ABORTED, CONTROL_SIZE

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
    """A thread that waits for a call, makes it, and says so."""

    def __init__(self) -> None:
        self._go = threading.Lock()
        self._done = threading.Lock()
        self._go.acquire()
        self._done.acquire()
        self._call: tuple[Any, ...] = ()
        self._error: BaseException | None = None
        threading.Thread(target=self._serve, name="semiring", daemon=True).start()

    def start(self, *call: Any) -> None:
        self._call = call
        self._go.release()

    def wait(self) -> BaseException | None:
        self._done.acquire()
        error, self._error, self._call = self._error, None, ()
        return error

    def _serve(self) -> None:
        while True:
            self._go.acquire()
            _, _, control, *_ = self._call[1:]
            try:
                self._call[0](*self._call[1:])
            except BaseException as error:
                control[ABORTED] = 1
                self._error = error
            self._done.release()


_workers: list[_Worker] = []
_busy = threading.Lock()


def _forget() -> None:
    """In a forked child: the threads of the parent are not there."""
    global _busy
    _workers.clear()
    _busy = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def run(kernel: Any, threads: int, *args: Any) -> None:
    """Run `kernel` on `threads` threads, this one included, and wait for all of them."""
    control = np.zeros(CONTROL_SIZE, np.int64)
    if threads == 1 or not _busy.acquire(blocking=False):
        kernel(0, 1, control, *args)
        return
    try:
        while len(_workers) < threads - 1:
            _workers.append(_Worker())
        _together(kernel, threads, control, args)
    finally:
        _busy.release()


def _together(kernel: Any, threads: int, control: np.ndarray[Any, Any], args: tuple[Any, ...]) -> None:
    started: list[_Worker] = []
    raised: BaseException | None = None
    try:
        for t, worker in enumerate(_workers[: threads - 1], start=1):
            worker.start(kernel, t, threads, control, *args)
            started.append(worker)
        kernel(0, threads, control, *args)
    except BaseException as error:
        control[ABORTED] = 1
        raised = error
    for worker in started:
        raised = worker.wait() or raised
    if raised is not None:
        raise raised
