"""Work outside the main thread that is done once and shared: a later call joins work that an interrupt left running."""

from __future__ import annotations

import _thread
import threading

import pytest

from semiring import worker_thread


def test_work_that_an_interrupt_left_is_joined() -> None:
    calls: list[int] = []
    go_on = threading.Event()

    def work() -> str:
        calls.append(threading.get_ident())
        if len(calls) == 1:
            _thread.interrupt_main()
        go_on.wait(10)
        return "done"

    with pytest.raises(KeyboardInterrupt):
        worker_thread.apart_once("joined", work)
    threading.Timer(0.05, go_on.set).start()
    assert worker_thread.apart_once("joined", work) == "done"
    assert len(calls) == 1
    assert calls[0] != threading.get_ident()
    assert worker_thread.apart_once("joined", work) == "done", "work that ended is done again"
    assert len(calls) == 2


def test_work_that_failed_is_done_again() -> None:
    results = [ValueError("no"), "yes"]

    def work() -> str:
        result = results.pop(0)
        if isinstance(result, Exception):
            raise result
        return str(result)

    with pytest.raises(ValueError, match="no"):
        worker_thread.apart_once("failed", work)
    assert worker_thread.apart_once("failed", work) == "yes"


def test_threads_share_one_result() -> None:
    started = threading.Barrier(4)
    calls: list[int] = []
    found: list[object] = []

    def work() -> object:
        calls.append(1)
        threading.Event().wait(0.2)
        return object()

    def caller() -> None:
        started.wait()
        found.append(worker_thread.apart_once("shared", work))

    threads = [threading.Thread(target=caller) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(calls) == 1
    assert len(found) == 4
    assert len(set(map(id, found))) == 1
