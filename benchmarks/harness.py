"""Measurement of a call: warm-up, synchronization, verification outside the timing, and memory.

Every timed call follows an untimed one on another argument, so that code is compiled, the memory pool has blocks of
the right size and the caches are those after a previous call: the state in which a user's second call runs.  The
result of each timed call is verified before the next one starts.  Only verified results are reported.
"""

from __future__ import annotations

import statistics
import time
import tracemalloc
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

RUNS = 5
SOURCES = 16


@dataclass(frozen=True)
class Samples:
    """Times of one call, in milliseconds, in the order measured.

    wall_ms: by the host's clock, from the call until the device has finished.  device_ms: between CUDA events queued
    before and after the call; empty on the CPU.
    """

    wall_ms: tuple[float, ...]
    device_ms: tuple[float, ...] = ()

    @property
    def median(self) -> float:
        """The median wall time."""
        return statistics.median(self.wall_ms)

    @property
    def least(self) -> float:
        """The shortest wall time."""
        return min(self.wall_ms)

    @property
    def most(self) -> float:
        """The longest wall time."""
        return max(self.wall_ms)

    def divided(self, parts: int) -> Samples:
        """The times of one of so many equal parts."""
        return Samples(tuple(ms / parts for ms in self.wall_ms), tuple(ms / parts for ms in self.device_ms))

    @property
    def device_median(self) -> float | None:
        """The median time between the events, or None on the CPU."""
        return statistics.median(self.device_ms) if self.device_ms else None

    @property
    def spread(self) -> str:
        """The shortest and longest time, how many there are, and the median between the events."""
        events = "" if self.device_median is None else f", between events {self.device_median:.4g}"
        return f"min {self.least:.4g}, max {self.most:.4g} of {len(self.wall_ms)}{events}"

    def __str__(self) -> str:
        return f"{self.median:.4g} ms ({self.spread})"


class _Clock:
    """Times one call after another on a device."""

    def __init__(self, device: str) -> None:
        self._cupy: Any = None
        if device == "cuda":
            import cupy

            self._cupy = cupy

    def time(self, call: Callable[[], Any]) -> tuple[Any, float, float | None]:
        """(result, wall ms, ms between CUDA events or None)."""
        cupy = self._cupy
        if cupy is None:
            start = time.perf_counter()
            result = call()
            return result, 1e3 * (time.perf_counter() - start), None
        before, after = cupy.cuda.Event(), cupy.cuda.Event()
        cupy.cuda.runtime.deviceSynchronize()
        start = time.perf_counter()
        before.record()
        result = call()
        after.record()
        after.synchronize()
        wall = 1e3 * (time.perf_counter() - start)
        return result, wall, cupy.cuda.get_elapsed_time(before, after)


def unchecked(argument: Any, result: Any) -> None:
    """Accept a result that the tests verify."""


@dataclass(frozen=True)
class Contender:
    """A call to be timed, and how its result is verified.

    call: ``call(argument)`` returns a result that is complete when the device has finished.  check: ``check(argument,
    result)`` raises AssertionError unless it is correct; not timed.
    """

    call: Callable[[Any], Any]
    check: Callable[[Any, Any], None] = unchecked


def compare(contenders: Mapping[str, Contender], arguments: Sequence[Any], device: str) -> dict[str, Samples]:
    """Time every contender for every argument, in turns, so that other load on the machine affects all equally.

    Parameters
    ----------
    contenders : by name
    arguments : the sources of a search, or ``range(RUNS)`` for calls without an argument
    device : ``"cpu"`` or ``"cuda"``

    Raises
    ------
    AssertionError
        If a result is wrong: no time is reported.
    """
    clock = _Clock(device)
    times: dict[str, list[tuple[float, float | None]]] = {name: [] for name in contenders}
    for number, argument in enumerate(arguments):
        for name, contender in contenders.items():
            for _ in range(2 if number == 0 else 1):
                clock.time(partial(contender.call, arguments[number - 1]))
            result, wall_ms, device_ms = clock.time(partial(contender.call, argument))
            contender.check(argument, result)
            del result
            times[name].append((wall_ms, device_ms))
    return {
        name: Samples(tuple(wall for wall, _ in taken), tuple(ms for _, ms in taken if ms is not None))
        for name, taken in times.items()
    }


def measure(
    call: Callable[[Any], Any], check: Callable[[Any, Any], None], arguments: Sequence[Any], device: str
) -> Samples:
    """`compare` with one contender."""
    return compare({"": Contender(call, check)}, arguments, device)[""]


def peak_bytes(call: Callable[[], Any], device: str) -> int:
    """The peak memory of `call` beyond the memory in use before, its result included.

    On the GPU: blocks in use of CuPy's memory pool, from which the library allocates every array.  On the CPU:
    allocations that NumPy and Python report to ``tracemalloc``; kernels allocate nothing themselves.
    """
    if device == "cuda":
        return _peak_of_pool(call)
    tracemalloc.start()
    try:
        tracemalloc.reset_peak()
        before, _ = tracemalloc.get_traced_memory()
        result = call()
        _, most = tracemalloc.get_traced_memory()
        del result
    finally:
        tracemalloc.stop()
    return most - before


def _peak_of_pool(call: Callable[[], Any]) -> int:
    import cupy

    class Watch(cupy.cuda.MemoryHook):  # type: ignore[misc]
        name = "peak of the pool"
        now = most = 0

        def malloc_postprocess(self, **block: Any) -> None:
            self.now += block["mem_size"]
            self.most = max(self.most, self.now)

        def free_postprocess(self, **block: Any) -> None:
            self.now -= block["mem_size"]

    with Watch() as watch:
        result = call()
        cupy.cuda.runtime.deviceSynchronize()
    del result
    return int(watch.most)
