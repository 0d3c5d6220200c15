"""What operations on a grid send, for `explain`: the one place where it reads the counters of a communicator."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from ..engines import recording
from .grid import Grid


@contextmanager
def record_traffic(grid: Grid) -> Iterator[None]:
    """Note what this process sends inside the block in the record of the current call.  Synchronizes on the GPU."""
    wait, now = recording.waiter(grid.engine), grid.traffic
    wait()
    before = replace(now)
    yield
    wait()
    recording.note(
        collectives=now.collectives - before.collectives,
        messages=now.messages - before.messages,
        sent_bytes=now.bytes - before.bytes,
        communication_ms=round((now.seconds - before.seconds) * 1e3, 3),
    )


@contextmanager
def step(grid: Grid, number: int, **details: Any) -> Iterator[None]:
    """Record a step of the current call as a call ``step`` within it, with what this process sends.

    It does nothing while no call is recorded.
    """
    call = recording.current()
    if call is None:
        yield
        return
    with recording.timed("step", call.kernel, grid.engine, step=number, **details), record_traffic(grid):
        yield
