"""The peak memory of each rank: ranks run in turns, so what is allocated in a turn belongs to its rank.

Messages are copied on arrival, as processes have them.  Arrays of NumPy are traced, and what Python allocates.
"""

from __future__ import annotations

import pickle
import threading
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest

from semiring import distributed
from semiring.distributed import Grid, threads


class _Meter:
    """What each rank holds and has held at most, since `begin`."""

    def __init__(self) -> None:
        self.held: dict[str, int] = {}
        self.peak: dict[str, int] = {}
        self._start = 0

    def resume(self) -> None:
        """A turn begins."""
        tracemalloc.reset_peak()
        self._start = tracemalloc.get_traced_memory()[0]

    def pause(self) -> None:
        """The turn of this thread ends."""
        name, (now, peak) = threading.current_thread().name, tracemalloc.get_traced_memory()
        held = self.held.get(name, 0)
        self.peak[name] = max(self.peak.get(name, 0), held + peak - self._start)
        self.held[name] = held + now - self._start

    def begin(self) -> None:
        """Count from here, for this rank."""
        self.pause()
        name = threading.current_thread().name
        self.held[name] = self.peak[name] = 0
        self.resume()


def peaks(
    shape: tuple[int, int], prepare: Callable[[Grid], Any], call: Callable[[Any], Any], patch: pytest.MonkeyPatch
) -> list[int]:
    """Return the most bytes that each rank holds during a call beside what has been prepared, its result included."""
    meter = _Meter()

    class Turns(threads._Turns):
        def __init__(self) -> None:
            super().__init__()
            wait = self.changed.wait

            def metered(timeout: float | None = None) -> bool:
                meter.pause()
                done = wait(timeout)
                meter.resume()
                return done

            self.changed.wait = metered  # type: ignore[method-assign]

    def copied(name: str) -> None:
        original = getattr(threads.ThreadCommunicator, name)

        def received(self: Any, *given: Any) -> Any:
            return pickle.loads(pickle.dumps(original(self, *given), protocol=5))

        patch.setattr(threads.ThreadCommunicator, name, received)

    def program(grid: Grid) -> int:
        prepared = prepare(grid)
        grid.comm.barrier()
        meter.begin()
        kept = call(prepared)
        meter.pause()
        peak = meter.peak[threading.current_thread().name]
        meter.resume()
        grid.comm.barrier()
        del kept
        return peak

    patch.setattr(threads, "_Turns", Turns)
    copied("_allgather")
    copied("_exchange")
    tracemalloc.start()
    try:
        return distributed.run(shape[0] * shape[1], program, shape=shape, device="cpu")
    finally:
        tracemalloc.stop()
