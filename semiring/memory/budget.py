"""The budget of GPU memory, which makes a large GPU behave like a small one.

All device memory of the library comes from CuPy's default pool, but for what other processes map (`reserve`); and
`config.device_memory` limits what that pool may hold beside it, in use or cached; so the process never holds more of
the driver's memory than the budget.  Not counted, because the library does not allocate it: the CUDA context and the
code and local memory of kernels (the same for every graph), allocations of other libraries outside the pool, and
page-locked host memory, which is host memory.

The limit applies to the device that is current when the setting is made.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ..config import config, cuda_available, on_change

_limited = False
# Bytes that are allocated outside of the pool.
_reserved = 0


def apply_budget() -> None:
    """Limit CuPy's pool to `config.device_memory`; without effect until CuPy is loaded.

    Cached blocks of the pool are freed if they exceed the budget; blocks in use remain.
    """
    global _limited
    budget = config.device_memory
    if "cupy" not in sys.modules or not cuda_available() or (budget is None and not _limited):
        return
    import cupy

    pool = cupy.get_default_memory_pool()
    limit = 0 if budget is None else max(budget - _reserved, 1)  # 0 is no limit
    pool.set_limit(size=limit)
    cupy.cuda.set_allocator(pool.malloc if budget is None else _allocate)
    _limited = budget is not None
    if limit and pool.total_bytes() > limit:
        pool.free_all_blocks()


on_change("device_memory", apply_budget)


def _allocate(size: int) -> Any:
    """Allocate from the pool.  At its limit the pool alone would raise, even if most of its blocks are unused."""
    import cupy

    pool = cupy.get_default_memory_pool()
    for collect in (False, True):
        try:
            return pool.malloc(size)
        except cupy.cuda.memory.OutOfMemoryError:
            if collect:
                gc.collect()
            pool.free_all_blocks()
    return pool.malloc(size)


def reserve(count: int) -> None:
    """Count bytes that are allocated outside of the pool, negative where they are freed: the pool may hold the rest."""
    global _reserved
    _reserved += count
    apply_budget()


def capacity() -> int:
    """Return the bytes of the current GPU that this process may use: the budget, or all."""
    import cupy

    total = int(cupy.cuda.runtime.memGetInfo()[1])
    return total if config.device_memory is None else min(total, config.device_memory)


def free_device_memory() -> int:
    """Return the bytes that can still be allocated on the current GPU: its free memory, or the rest of the budget."""
    import cupy

    pool = cupy.get_default_memory_pool()
    free = int(cupy.cuda.runtime.memGetInfo()[0] + pool.free_bytes())
    limit = int(pool.get_limit())
    return max(0, min(free, limit - int(pool.used_bytes()))) if limit else free


def free_when_held(held: int, limit: int) -> int:
    """Return the bytes that were free when the pool held `held` bytes, under a `limit` (0: none).

    Measured afterwards: memory that the pool has freed since is free now, so the sum of both has not changed.
    """
    import cupy

    pool = cupy.get_default_memory_pool()
    both = int(cupy.cuda.runtime.memGetInfo()[0]) + int(pool.total_bytes())
    return max(0, min(both, limit or both) - held)


@dataclass
class Peak:
    """used: the peak of bytes in arrays.  held: the peak of bytes that the pool had allocated from the driver."""

    used: int = 0
    held: int = 0


@contextmanager
def peak_device_memory() -> Iterator[Peak]:
    """Measure the peak of GPU memory inside the block, of this thread's allocations; for tests and benchmarks (slow).

    Memory in use before the block counts.  Memory that the pool only caches is freed first.
    """
    import cupy

    pool, peak = cupy.get_default_memory_pool(), Peak()

    class Watch(cupy.cuda.MemoryHook):  # type: ignore[misc]
        name = "semiring peak"

        def malloc_postprocess(self, **_: Any) -> None:
            peak.used = max(peak.used, int(pool.used_bytes()))
            peak.held = max(peak.held, int(pool.total_bytes()))

    pool.free_all_blocks()
    peak.used, peak.held = int(pool.used_bytes()), int(pool.total_bytes())
    with Watch():
        yield peak
