"""Staging buffers are those of one upload at a time; no GPU is needed for that."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from semiring.memory import transfer


@pytest.fixture
def staging(monkeypatch: pytest.MonkeyPatch) -> transfer._Staging:
    monkeypatch.setattr(transfer, "_Buffers", object)
    return transfer._Staging(0)


def array(nbytes: int) -> Any:
    return SimpleNamespace(nbytes=nbytes)


def test_buffers_are_kept_from_one_upload_to_the_next(
    staging: transfer._Staging, monkeypatch: pytest.MonkeyPatch
) -> None:
    moved: list[int] = []

    def chunks(self: Any, own: Any, left: Iterator[tuple[Any, Any, int, int]], stream: Any) -> None:
        moved.extend(end - begin for _, _, begin, end in left)

    monkeypatch.setattr(transfer._Staging, "_copy_chunks", chunks)
    staging.upload([(lambda chunk, begin: None, array(10_000_000))], None)
    assert sum(moved) == 10_000_000
    before = staging.buffers
    staging.upload([(lambda chunk, begin: None, array(10_000_000))], None)
    assert staging.buffers is before


def test_an_upload_that_was_left_keeps_its_buffers_to_itself(
    staging: transfer._Staging, monkeypatch: pytest.MonkeyPatch
) -> None:
    used: list[Any] = []
    go_on = threading.Event()

    def chunks(self: Any, own: Any, left: Iterator[Any], stream: Any) -> None:
        used.append(own)
        if len(used) == 1:
            raise KeyboardInterrupt  # as if it met the main thread while that waits
        go_on.wait(10)

    monkeypatch.setattr(transfer._Staging, "_copy_chunks", chunks)
    threading.Timer(0.1, go_on.set).start()
    with pytest.raises(KeyboardInterrupt):
        staging.upload([(lambda chunk, begin: None, array(10_000_000))], None)
    assert staging.buffers is None
    first = list(used)
    staging.upload([(lambda chunk, begin: None, array(10_000_000))], None)
    assert not {id(own) for own in used[len(first) :]} & {id(own) for own in first}
