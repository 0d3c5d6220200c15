"""What a case of an operation is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Case:
    """One call to be timed.

    axes: what distinguishes it from its neighbours: operator, types, formats, density.  call: makes the result, whole
    when the device has finished.  moved_bytes: what it must read and write at least, each byte once, so that its time
    reads as bandwidth.  check: raises AssertionError unless the result is right.
    """

    axes: str
    call: Callable[[], Any]
    moved_bytes: int
    check: Callable[[Any], None]
