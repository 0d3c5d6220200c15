"""The budget of GPU memory: a large GPU behaves like a small one.

All device memory of the library comes from CuPy's default pool, and `config.device_memory` limits what that pool may
hold, in use or kept for later; so the process never has more from the driver than the budget.  Not counted, as it is
no allocation of the library: the CUDA context and the code and local memory of kernels (the same
for every graph), what other libraries allocate past the pool, and page-locked host memory, which is host memory.
The limit holds for the device that is current when the setting is made.
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


def apply_budget() -> None:
    """Make CuPy's pool keep to `config.device_memory`; without CuPy there is nothing to do until it is loaded.

    Blocks that the pool keeps for later are given back if they exceed the budget; what is in use stays.
    """
    global _limited
    budget = config.device_memory
    if "cupy" not in sys.modules or not cuda_available() or (budget is None and not _limited):
        return
    import cupy

    pool = cupy.get_default_memory_pool()
    pool.set_limit(size=budget or 0)
    cupy.cuda.set_allocator(pool.malloc if budget is None else _allocate)
    _limited = budget is not None
    if budget is not None and pool.total_bytes() > budget:
        pool.free_all_blocks()


on_change("device_memory", apply_budget)


def _allocate(size: int) -> Any:
    """Memory from the pool.  At its limit the pool alone would refuse, though most of what it holds be unused."""
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


def free_device_memory() -> int:
    """Bytes that can still be allocated on the current GPU: what it has free, or what is left of the budget."""
    import cupy

    pool = cupy.get_default_memory_pool()
    free = int(cupy.cuda.runtime.memGetInfo()[0] + pool.free_bytes())
    limit = int(pool.get_limit())
    return max(0, min(free, limit - int(pool.used_bytes()))) if limit else free


def free_when_held(held: int, limit: int) -> int:
    """Bytes that were free when the pool held `held` bytes, under a `limit` (0: none).

    Measured afterwards: what the pool has given back since is free now, so that the sum of both has not changed.
    """
    import cupy

    pool = cupy.get_default_memory_pool()
    both = int(cupy.cuda.runtime.memGetInfo()[0]) + int(pool.total_bytes())
    return max(0, min(both, limit or both) - held)


@dataclass
class Peak:
    """used: the most bytes that arrays had at one time.  held: the most that the pool had from the driver."""

    used: int = 0
    held: int = 0


@contextmanager
def peak_device_memory() -> Iterator[Peak]:
    """The peak of GPU memory inside the block, of this thread's allocations; for tests and benchmarks (it costs time).

    What was in use before counts.  Memory that the pool merely keeps is given back first.
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
