"""Measurement of a call: warm-up, synchronization, and verification outside the timing.

Every timed call follows an untimed one on another argument, so that code is compiled, the memory pool has blocks of
the right size and the caches are those after a previous call: the state in which a user's second call runs.  The
result of each timed call is verified before the next one starts.  Only verified results are reported.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any


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
        """Return the median wall time."""
        return statistics.median(self.wall_ms)

    @property
    def least(self) -> float:
        """Return the shortest wall time."""
        return min(self.wall_ms)

    @property
    def most(self) -> float:
        """Return the longest wall time."""
        return max(self.wall_ms)

    def divided(self, parts: int) -> Samples:
        """Return the times of one of so many equal parts."""
        return Samples(tuple(ms / parts for ms in self.wall_ms), tuple(ms / parts for ms in self.device_ms))

    @property
    def device_median(self) -> float | None:
        """Return the median time between the events, or None on the CPU."""
        return statistics.median(self.device_ms) if self.device_ms else None

    @property
    def spread(self) -> str:
        """Return the shortest and longest time, their number, and the median between the events."""
        events = "" if self.device_median is None else f", between events {self.device_median:.4g}"
        return f"min {self.least:.4g}, max {self.most:.4g} of {len(self.wall_ms)}{events}"

    def __str__(self) -> str:
        return f"{self.median:.4g} ms ({self.spread})"


class Clock:
    """Times one call after another on a device."""

    def __init__(self, device: str) -> None:
        self._cupy: Any = None
        if device == "cuda":
            import cupy

            self._cupy = cupy

    def time(self, call: Callable[[], Any]) -> tuple[Any, float, float | None]:
        """Return (result, wall ms, ms between CUDA events or None)."""
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
    result)`` raises AssertionError unless it is correct; not timed.  prepare: ``prepare(argument)`` returns what is
    passed to the call in place of the argument, new for each call; not timed.
    """

    call: Callable[[Any], Any]
    check: Callable[[Any, Any], None] = unchecked
    prepare: Callable[[Any], Any] | None = None

    def bound(self, argument: Any) -> Callable[[], Any]:
        """Return the call with its argument, prepared."""
        return partial(self.call, argument if self.prepare is None else self.prepare(argument))


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
    clock = Clock(device)
    times: dict[str, list[tuple[float, float | None]]] = {name: [] for name in contenders}
    for number, argument in enumerate(arguments):
        for name, contender in contenders.items():
            for _ in range(2 if number == 0 else 1):
                clock.time(contender.bound(arguments[number - 1]))
            result, wall_ms, device_ms = clock.time(contender.bound(argument))
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
    """Return the times of `compare` with one contender."""
    return compare({"": Contender(call, check)}, arguments, device)[""]
