"""Compiled loops run on the CPU engine, and with --engine=cuda on the GPU."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import semiring as sr
from semiring.loops import build


@pytest.fixture
def device(engine: str) -> str:
    """Return the device whose engine compiles loops."""
    return "cuda" if engine == "cuda" else "cpu"


@pytest.fixture(autouse=True)
def _on_the_device(device: str) -> Iterator[None]:
    with sr.use(device):
        yield


@pytest.fixture
def traces(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list that grows by one item for each loop that is traced."""
    made: list[int] = []
    trace = build.traced_program

    def counted(*arguments: Any) -> Any:
        made.append(1)
        return trace(*arguments)

    monkeypatch.setattr(build, "traced_program", counted)
    return made
