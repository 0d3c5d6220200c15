"""One array from each process to all others by each transport: semiring launch -n 2 -m benchmarks messages.

Each row is a collective of arrays of one size: `alltoall`, in which every process sends each other one an array of its
own, and `allgather`, in which it sends one array to all.  A time is that of one of many calls in a row, from a barrier
until the last process has synchronized with its GPU.  The arrays that arrived in the last call of a run are compared
with what was sent.  The first of the ways that is there is the row, the others are beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from semiring import distributed
from semiring.distributed import nccl, peer
from semiring.distributed.communicator import Communicator
from semiring.distributed.mpi import world
from semiring.memory.arrays import array_module

from ..case import Run
from ..harness import Samples
from .grids import Clock

# The bytes of an array, and the calls of one run.
SIZES: Mapping[str, tuple[int, int]] = {
    "64 B": (64, 200),
    "64 KiB": (64 << 10, 200),
    "4 MiB": (4 << 20, 20),
    "64 MiB": (64 << 20, 5),
}


def connected(transport: str, inner: Communicator, device: str) -> Communicator | None:
    """Return a communicator of a transport; None if it does not connect the processes."""
    if transport == "mpi":
        return inner
    if device != "cuda":
        return None
    if transport == "peer":
        return peer.PeerCommunicator(inner) if peer.usable(inner) else None
    return nccl.NcclCommunicator(inner) if nccl.usable(inner.allgather(nccl.device_info())) else None


def exchanged(group: Communicator, arrays: Any, size: int) -> Callable[[], Any]:
    """Return a call in which each process sends each other one an array of its own."""
    sent = [arrays.full(size, target, np.uint8) for target in range(group.size)]
    return lambda: group.alltoall(sent)


def gathered(group: Communicator, arrays: Any, size: int) -> Callable[[], Any]:
    """Return a call in which each process sends one array to all."""
    sent = arrays.full(size, group.rank, np.uint8)
    return lambda: group.allgather(sent)


CALLS: Mapping[str, Callable[[Communicator, Any, int], Callable[[], Any]]] = {
    "alltoall": exchanged,
    "allgather": gathered,
}


def measured(clock: Clock, name: str, group: Communicator, size: int, count: int, runs: int) -> Samples:
    """Return the times of one call, in milliseconds; AssertionError if other bytes arrive than were sent."""
    call = CALLS[name](group, array_module(clock.grid.local), size)

    def repeated() -> Any:
        for _ in range(count):
            found = call()
        return found

    def check(found: Any) -> None:
        for rank, array in enumerate(found):
            assert array.shape == (size,)
            assert bool((array == (group.rank if name == "alltoall" else rank)).all()), f"{name} from rank {rank}"

    return clock.time(repeated, runs, check, takes_part=True).divided(count)


OPTIONS = {
    "transports": (("peer", "nccl", "mpi"), "those that connect the processes", ("peer", "nccl", "mpi")),
    "sizes": (tuple(SIZES), "of an array", tuple(SIZES)),
    "runs": (5, "of each collective"),
}


def main(run: Run) -> int:
    """Measure both collectives at each size; process 0 reports them."""
    grid = distributed.Grid(world(), device=run.device)
    clock = Clock(grid)
    groups = {name: connected(name, grid.comm, run.device) for name in run.options.transports}
    run.result = f"messages-{grid.size}"
    for name in CALLS:
        for size_name in run.options.sizes:
            size, count = SIZES[size_name]
            times = {
                transport: measured(clock, name, group, size, count, run.options.runs)
                for transport, group in groups.items()
                if group is not None
            }
            if grid.rank == 0 and times:
                first, samples = next(iter(times.items()))
                note = f"{(grid.size - 1) * size / samples.median / 1e6:.4g} GB/s arrive at each process"
                run.timed(f"{name} of {size_name}, {grid.size} processes, {first}", times, note=note)
    return int(grid.rank == 0 and run.report.failed)
