"""Threads of the CPU engine: several callers at once, exceptions at any bytecode, threads that cannot be started."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring import Matrix, worker_thread
from semiring.engines.cpu import threads
from semiring.engines.cpu.atomics import ABORTED

PARTS = 4


class Injected(BaseException):
    """What the signal handler of a test raises."""


class Traced:
    """Raises `Injected` before the k-th bytecode that this thread executes in the modules under test."""

    def __init__(self, k: int) -> None:
        self.left = k
        self.files = {threads.__file__, worker_thread.__file__}

    def __call__(self, frame: FrameType, event: str, arg: Any) -> Any:
        if frame.f_code.co_filename not in self.files:
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            self.left -= 1
            if self.left < 0:
                raise Injected
        return self


def interrupted(call: Callable[[], None], k: int) -> bool:
    """Make the call with an exception before its k-th bytecode; False if it ended before that."""
    before = sys.gettrace()
    sys._getframe().f_trace_opcodes = True  # Python 3.12 searches for such a frame when tracing starts
    sys.settrace(Traced(k))
    try:
        call()
    except Injected:
        return True
    finally:
        sys.settrace(before)
    return False


class Parts:
    """A kernel in Python that counts the threads inside it and runs long enough for them to overlap."""

    def __init__(self) -> None:
        self.inside = 0
        self.entered = 0
        self.lock = threading.Lock()

    def __call__(self, t: int, parts: int, control: np.ndarray, out: np.ndarray) -> None:
        with self.lock:
            self.inside += 1
            self.entered += 1
        for _ in range(3):
            time.sleep(0.0002)
            if control[ABORTED]:
                break
        else:
            out[t] += 1
        with self.lock:
            self.inside -= 1


@pytest.fixture
def four_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three helpers on every machine."""
    monkeypatch.setattr(threads, "available", lambda: PARTS)
    threads.run(Parts(), PARTS, np.zeros(PARTS))


def idle(limit: float = 5.0) -> bool:
    """Whether every worker takes calls (soon)."""
    taken: list[int] = []

    class Probe(threads._Call):
        def help(self, t: int) -> None:
            taken.append(t)

    ready = threads._ready_workers(PARTS - 1)
    for t, worker in enumerate(ready):
        worker.offer(Probe(None, PARTS, ()), t)
    deadline = time.monotonic() + limit
    while len(taken) < len(ready) and time.monotonic() < deadline:
        time.sleep(0.0005)
    return len(taken) == len(ready)


@pytest.mark.parametrize("work", [0, 1 << 40], ids=["led here", "led apart"])
def test_an_exception_before_any_bytecode_reaches_no_later_call(four_threads: None, work: int) -> None:
    k, before = 0, len(threads._workers)
    while True:
        kernel = Parts()
        if not interrupted(lambda kernel=kernel: threads.run(kernel, PARTS, np.zeros(PARTS), work=work), k):
            break
        assert kernel.inside == 0, f"at work after an exception before bytecode {k}"
        entered = kernel.entered
        out = np.zeros(PARTS)
        threads.run(Parts(), PARTS, out)
        assert out.tolist() == [1.0] * PARTS, f"after an exception before bytecode {k}"
        assert kernel.entered == entered, f"begun after an exception before bytecode {k}"
        k += 1
    assert k > 100  # the call was traced
    assert idle()
    assert len(threads._workers) <= max(before, PARTS)


def test_an_exception_before_any_bytecode_of_a_search(four_threads: None, monkeypatch: pytest.MonkeyPatch) -> None:
    from semiring.engines.cpu import closure

    monkeypatch.setattr(closure, "MANY_TO_SHARE", 100)
    monkeypatch.setattr(closure, "available", lambda: PARTS)
    with sr.use("cpu"):
        A: Matrix = sr.random.kronecker(10, seed=1)
        source = int(A.to_coo()[0][0])
        levels = sr.algorithms.bfs_levels(A, source).wait()
        k = 0
        while interrupted(lambda: sr.algorithms.bfs_levels(A, source).wait(), k):
            assert sr.algorithms.bfs_levels(A, source).isequal(levels), k
            k += 1
    assert k > 50
    assert idle()


def test_an_exception_while_a_thread_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "available", lambda: PARTS)
    before = threading.active_count()
    k = 0
    while True:
        monkeypatch.setattr(threads, "_workers", [])
        out = np.zeros(PARTS)
        if not interrupted(lambda out=out: threads.run(Parts(), PARTS, out), k):
            break
        out = np.zeros(PARTS)
        threads.run(Parts(), PARTS, out)
        assert out.tolist() == [1.0] * PARTS, k
        k += 7
    assert out.tolist() == [1.0] * PARTS
    assert idle()
    assert threading.active_count() == before


@pytest.mark.parametrize("error", [RuntimeError("can't start new thread"), MemoryError()])
def test_without_threads_the_caller_does_the_work(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def refuse(*args: Any) -> int:
        raise error

    monkeypatch.setattr(threads, "available", lambda: PARTS)
    monkeypatch.setattr(threads, "_workers", [])
    monkeypatch.setattr("_thread.start_new_thread", refuse)
    for work in (0, 1 << 40):
        out = np.zeros(PARTS)
        threads.run(Parts(), PARTS, out, work=work)
        assert out.tolist() == [1.0] * PARTS


def test_a_thread_that_dies_at_birth_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "available", lambda: PARTS)
    monkeypatch.setattr(threads, "_workers", [])
    monkeypatch.setattr(worker_thread, "_OVERDUE", 0.0)
    monkeypatch.setattr("_thread.start_new_thread", lambda function, args: 1)
    for work in (0, 1 << 40):
        out = np.zeros(PARTS)
        threads.run(Parts(), PARTS, out, work=work)
        assert out.tolist() == [1.0] * PARTS


def test_a_worker_whose_thread_died_gets_another(four_threads: None, monkeypatch: pytest.MonkeyPatch) -> None:
    worker = threads._Worker()
    monkeypatch.setattr(threads, "_workers", [worker])
    monkeypatch.setattr(threads, "_OVERDUE", 0.0)

    class Deadly(threads._Call):
        def help(self, t: int) -> None:
            raise SystemExit  # ends the thread without a message

    assert worker.ready()
    worker.offer(Deadly(None, PARTS, ()), 1)
    deadline = time.monotonic() + 5
    while worker._calls.qsize() or worker._serving.locked():
        assert time.monotonic() < deadline
        time.sleep(0.001)
    assert idle()


def test_a_helper_that_fails_fails_the_call(four_threads: None) -> None:
    def failing(t: int, parts: int, control: np.ndarray) -> None:
        time.sleep(0.002)
        if threading.get_ident() != caller:
            raise MemoryError("no room for a helper")

    caller = threading.get_ident()
    with pytest.raises(MemoryError, match="no room for a helper"):
        threads.run(failing, 64)
    assert idle()


@pytest.mark.skipif(not hasattr(signal, "SIGUSR1"), reason="needs SIGUSR1")
def test_a_long_kernel_lets_a_signal_handler_through() -> None:
    def handler(number: int, frame: FrameType | None) -> None:
        raise Injected

    with sr.use("cpu"):
        A: Matrix = sr.random.kronecker(15, seed=1)
        A[:32, :].mxm(A, "plus_times").wait()  # compiles
        before = signal.signal(signal.SIGUSR1, handler)
        sent: list[float] = []

        def send() -> None:
            sent.append(time.perf_counter())
            os.kill(os.getpid(), signal.SIGUSR1)

        timer = threading.Timer(0.5, send)
        C = Matrix.from_coo([0], [0], [7], nrows=A.nrows, ncols=A.ncols)
        try:
            timer.start()
            with pytest.raises(Injected):
                C << A.mxm(A, "plus_times")  # seconds
            assert time.perf_counter() - sent[0] < 1.0
        finally:
            timer.join()
            signal.signal(signal.SIGUSR1, before)
        assert C.to_coo()[2].tolist() == [7]


def test_searches_at_once() -> None:
    with sr.use("cpu"):
        A: Matrix = sr.random.kronecker(12, seed=1, weights="uniform")
        source = int(A.to_coo()[0][0])
        distances, levels = sr.algorithms.sssp(A, source).wait(), sr.algorithms.bfs_levels(A, source).wait()
        wrong: list[str] = []

        def search() -> None:
            for _ in range(10):
                if not sr.algorithms.sssp(A, source).isequal(distances):
                    wrong.append("distances")
                if not sr.algorithms.bfs_levels(A, source).isequal(levels):
                    wrong.append("levels")

        threads = [threading.Thread(target=search) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(timeout=120)
        assert not any(thread.is_alive() for thread in threads)
        assert wrong == []
