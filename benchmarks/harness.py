"""Measurement of calls, as `semiring.bridges.bench.measuring` has it, and their peak memory."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

from semiring.bridges.bench.measuring import Contender, Samples, compare, measure, unchecked

__all__ = ["RUNS", "SOURCES", "Contender", "Samples", "compare", "measure", "peak_bytes", "unchecked"]

RUNS = 5
SOURCES = 16


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
