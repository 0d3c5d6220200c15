"""The ceilings of a machine, measured by NumPy or CuPy, and the least bytes of a kernel, as a share of them.

A model counts what any program must read and write once: offsets of 8 bytes a row, `index` bytes an entry, 4 bytes for
each vertex of a result (8 for distances and dependencies).

    bfs            reached rows: offset, one column (the edge to the parent), parent
    sssp           the entries of reached rows with their weights; offset and distance of each row
    pr             an iteration: all entries; offset, rank read, share written, rank written of each row
    cc             each row: offset, one column (the edge to its component), label
    bc             a source: the entries of reached rows, forward and backward; offset, paths, dependency of each row
    tc             each edge once; each offset
    construction   the edge list read; rows, columns and weights written in both directions

A model is a lower bound: a search that visits few entries stays near it, triangles intersect rows many times.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, Final

import numpy as np

import semiring as sr
from semiring.bridges.bench.measuring import Clock, Samples
from semiring.bridges.bench.rows import Row

#: Elements of 8 bytes of the arrays that are copied, of 4 bytes of those that are gathered from; by device.
_ELEMENTS: Final = {"cpu": 1 << 24, "cuda": 1 << 28}
_GATHERED: Final = {"cpu": 1 << 24, "cuda": 1 << 26}
_RUNS: Final = 7


def least_bytes(kernel: str, n: int, entries: int, index: int = 4, weight: int = 0, steps: int = 1) -> float:
    """Return the least bytes of a kernel: n rows, the entries that it must read, iterations or sources."""
    model = {
        "bfs": n * (8 + index + 4),
        "sssp": entries * (index + weight) + n * (8 + 8),
        "pr": steps * (entries * index + n * (8 + 3 * 4)),
        "cc": n * (8 + index + 4),
        "bc": steps * 2 * (entries * index + n * (8 + 8 + 8)),
        "tc": entries / 2 * index + n * 8,
        "construction": entries * (index + weight) + entries / 2 * (2 * index + weight) + n * 8,
    }
    return float(model[kernel])


def copied_bytes(device: str) -> Row:
    """Measure bytes read and written a second by a copy, by all processors or by the GPU."""
    xp, size = module_on(device), _ELEMENTS[device]
    source = xp.zeros(size)
    source += 1  # touch the pages
    target = source.copy()
    times = _times(_everywhere(lambda part: xp.copyto(target[part], source[part]), size, device), device)
    return _rate("copy", "GB/s", 16 * size / 1e9, times, "bytes read and written")


def measure(device: str) -> list[Row]:
    """Measure all ceilings of a device."""
    xp, size = module_on(device), _GATHERED[device]
    table = xp.ones(size, np.float32)
    places = xp.random.default_rng(1).integers(0, size, size, dtype=np.int32)
    out = xp.empty(size, np.float32)
    gathers = _everywhere(lambda part: xp.take(table, places[part], out=out[part]), size, device)
    rows = [copied_bytes(device), _rate("random gathers", "G/s", size / 1e9, _times(gathers, device), f"of {size:,}")]
    adds = _times(lambda: xp.add.at(table, places, out), device)
    if device == "cuda":
        rows.append(_rate("random atomic adds", "G/s", size / 1e9, adds, f"float32, to {size:,}"))
        rows.append(_latency("launch of one element", lambda: xp.empty(1, np.float32).fill(0), device))
    else:
        rows.append(_rate("random adds", "G/s", size / 1e9, adds, f"one thread, float32, to {size:,}"))
    one = sr.Vector.from_coo([0], [1.0], size=1)
    rows.append(_latency("empty call of the library", lambda: one.apply("ainv").wait(), device))
    return rows


def module_on(device: str) -> Any:
    """Return NumPy or CuPy, whichever makes the arrays of a device."""
    if device == "cpu":
        return np
    import cupy

    return cupy


def _everywhere(work: Callable[[slice], Any], size: int, device: str) -> Callable[[], Any]:
    """Return a call that does the work on slices, by a thread for each processor; on a GPU at once."""
    if device == "cuda":
        return lambda: work(slice(0, size))
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    bounds = [size * part // count for part in range(count + 1)]
    parts = [slice(*bound) for bound in pairwise(bounds)]

    def call() -> None:
        with ThreadPoolExecutor(count) as pool:
            list(pool.map(work, parts))

    return call


def _times(call: Callable[[], Any], device: str, runs: int = _RUNS) -> Samples:
    clock = Clock(device)
    clock.time(call)
    taken = [clock.time(call)[1:] for _ in range(runs)]
    return Samples(tuple(wall for wall, _ in taken), tuple(ms for _, ms in taken if ms is not None))


def _rate(what: str, unit: str, amount: float, times: Samples, note: str) -> Row:
    """Return the amount over the least time, between events on a GPU: a ceiling is what was reached once."""
    best = 1e-3 * (min(times.device_ms) if times.device_ms else times.least)
    return Row(
        what, unit, amount / best, at_most=False, note=note, samples=times.wall_ms, device_samples=times.device_ms
    )


def _latency(what: str, call: Callable[[], Any], device: str) -> Row:
    synchronize = module_on(device).cuda.runtime.deviceSynchronize if device == "cuda" else lambda: None
    taken = []
    for number in range(300):
        start = time.perf_counter()
        call()
        synchronize()
        if number >= 100:
            taken.append(1e6 * (time.perf_counter() - start))
    return Row(what, "us", statistics.median(taken), note="median of 200, synchronized", samples=tuple(taken))
