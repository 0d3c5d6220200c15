"""Threads that move bytes: every chunk is moved once, and no thread works after the call returns."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from types import FrameType
from typing import Any

import numpy as np
import pytest

from semiring import worker_thread
from semiring.memory import thread_pool


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thread_pool, "_CHUNK", 1000)


def test_every_chunk_is_moved(small_chunks: None) -> None:
    source = np.random.default_rng(0).integers(0, 256, 123_456).astype(np.uint8)
    target = np.zeros_like(source)
    thread_pool.parallel_copy(target, source)
    np.testing.assert_array_equal(target, source)


def test_the_exception_of_a_chunk_is_raised(small_chunks: None) -> None:
    def work(begin: int, end: int) -> None:
        if begin == 50_000:
            raise OSError("byte 50000")

    with pytest.raises(OSError, match="byte 50000"):
        thread_pool.parallel_for(100_000, work)


def test_an_exception_before_any_bytecode_leaves_no_active_thread(small_chunks: None) -> None:
    class Injected(BaseException):
        pass

    lock, state = threading.Lock(), {"inside": 0}

    def work(begin: int, end: int) -> None:
        with lock:
            state["inside"] += 1
        time.sleep(0.0005)
        with lock:
            state["inside"] -= 1

    def interrupted(k: int) -> bool:
        left = [k]

        def trace(frame: FrameType, event: str, arg: Any) -> Any:
            if frame.f_code.co_filename not in (thread_pool.__file__, worker_thread.__file__):
                return None
            frame.f_trace_opcodes = True
            if event == "opcode":
                left[0] -= 1
                if left[0] < 0:
                    raise Injected
            return trace

        before = sys.gettrace()
        sys._getframe().f_trace_opcodes = True  # Python 3.12 searches for such a frame when tracing starts
        sys.settrace(trace)
        try:
            thread_pool.parallel_for(20_000, work)
        except Injected:
            return True
        finally:
            sys.settrace(before)
        return False

    thread_pool.parallel_for(20_000, work)
    k = 0
    while interrupted(k):
        assert state["inside"] == 0, k
        k += 1
    assert k > 50


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_child_has_its_own_thread_pool(small_chunks: None) -> None:
    source = np.arange(200_000, dtype=np.uint8)
    thread_pool.parallel_copy(np.zeros_like(source), source)
    child = os.fork()
    if child == 0:
        signal.alarm(20)  # the end of a child that waits for threads which are not there
        target = np.zeros_like(source)
        thread_pool.parallel_copy(target, source)
        os._exit(0 if np.array_equal(target, source) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
