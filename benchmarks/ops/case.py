"""A case of an operation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Case:
    """One call to be timed.

    axes: what distinguishes it from its neighbors: operator, types, formats, density.  call: computes the result,
    complete when the device has finished.  moved_bytes: the bytes that it must read and write at least, each once, so
    that its time gives a bandwidth.  check: raises AssertionError unless the result is correct.  parts: equal parts of
    the call; the time that is reported is that of one.
    """

    axes: str
    call: Callable[[], Any]
    moved_bytes: int
    check: Callable[[Any], None]
    parts: int = 1
