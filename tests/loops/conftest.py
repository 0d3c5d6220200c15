"""Compiled loops run on the CPU engine, and with --engine=cuda on the GPU."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import semiring as sr


@pytest.fixture
def device(engine: str) -> str:
    """Return the device whose engine compiles loops."""
    return "cuda" if engine == "cuda" else "cpu"


@pytest.fixture(autouse=True)
def _on_the_device(device: str) -> Iterator[None]:
    with sr.use(device):
        yield
