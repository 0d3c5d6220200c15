"""Collectives with small messages, and calls on small objects: semiring launch -n 2 -m benchmarks collectives.

Each line is the shortest mean of a series of calls, on process 0, in microseconds.  The objects are so small that the
time is that of the host: the messages of a call, what is computed to send them, and the waits for the other processes.
Messages are checked on arrival.

`python -m benchmarks collectives --replied 512` has the time of Python alone in a collective of as many processes, by a
transport that replies at once.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from semiring import Vector, algorithms, random
from semiring.distributed import Grid
from semiring.distributed.communicator import Communicator
from semiring.distributed.mpi import MpiCommunicator, _Channel
from semiring.exceptions import ConvergenceFailure

from ..case import Run
from ..machine import describe

SERIES = 7
LEVELS = 400


def shortest(function: Callable[[], Any], calls: int) -> float:
    """Return the shortest mean of several series of calls, in microseconds."""
    function()
    times = []
    for _ in range(SERIES):
        begin = time.perf_counter()
        for _ in range(calls):
            function()
        times.append((time.perf_counter() - begin) / calls)
    return min(times) * 1e6


def messages(grid: Grid) -> dict[str, Any]:
    """Return messages by their description."""
    numbers = np.arange(1 << 17, dtype=np.float64) + grid.rank
    return {
        "None": None,
        "a flag": True,
        "a count": 1 << 20,
        "a tuple of three counts": (1, 2, 3),
        "a number of NumPy": np.float64(0.5),
        "text": "abc",
        **{f"an array of {n * 8} bytes": numbers[:n] for n in (1, 16, 128, 512, 1 << 13, 1 << 17)},
    }


def segments(grid: Grid) -> dict[str, Any]:
    """Return vectors as they are sent, by their description."""
    from semiring.distributed.vector_messages import encoded

    few = Vector.from_coo([3, 50], 1.5, size=64, device=grid.local)
    some = Vector.from_dense(np.arange(64.0), device=grid.local)
    return {
        "a segment with 2 entries": encoded(few.store, grid.comm),
        "a segment with 64 entries": encoded(some.store, grid.comm),
    }


class Replies:
    """What mpi4py's communicators offer to rank 0 of `size` processes that make the same calls and have arrived.

    partners: the ranks that exchange messages with this one, each of which sends what it receives.
    """

    def __init__(self, size: int, partners: tuple[int, ...]) -> None:
        self.size, self.partners = size, partners
        self._sent: dict[int, Any] = {}

    def Get_rank(self) -> int:
        """Return the number of this process."""
        return 0

    def Get_size(self) -> int:
        """Return how many processes there are."""
        return self.size

    def Iallreduce(self, array: Any, total: Any) -> Any:
        """Return a request that is done."""
        np.multiply(array, array.dtype.type(self.size), out=total)
        return _Done

    def Iallgather(self, array: Any, whole: Any) -> Any:
        """Return a request that is done."""
        whole.reshape(self.size, -1)[:] = array.reshape(-1)
        return _Done

    def Ialltoall(self, array: Any, found: Any) -> Any:
        """Return a request that is done."""
        found[:] = array
        return _Done

    def Ibcast(self, content: Any, root: int) -> Any:
        """Return a request that is done."""
        return _Done

    def Send_init(self, content: Any, rank: int, tag: int) -> Any:
        """Return a request that is done."""
        self._sent[rank] = content
        return _Done

    def Recv_init(self, content: Any, rank: int, tag: int) -> Any:
        """Return a request that is done, with what is sent to the other process."""
        return _Echo(content, self._sent, rank)


class _Done:
    """A request that is done."""

    @staticmethod
    def Test() -> bool:
        """Return whether it is done."""
        return True

    @staticmethod
    def Startall(requests: Any) -> None:
        """Begin all."""


class _Echo(_Done):
    """Receives what has been written for the other process."""

    def __init__(self, content: Any, sent: dict[int, Any], rank: int) -> None:
        self._content, self._sent, self._rank = content, sent, rank

    def Test(self) -> bool:  # type: ignore[override]
        """Return whether it is done."""
        content = self._sent[self._rank]
        self._content[: len(content)] = content
        return True


def replied(size: int) -> dict[str, Callable[[], Any]]:
    """Return collectives of `size` processes that have arrived, by their description."""
    partners = (1, size - 1)
    group: Communicator = MpiCommunicator(_Channel(Replies(size, partners)), between_hosts=True)
    number = np.array([1.5])
    messages = {rank: (rank, 2) for rank in partners}
    return {
        "sum, and agreements": lambda: group.sum(3),
        "allgather_array of a number": lambda: group.allgather_array(number),
        "allgather of nothing": lambda: group.allgather(None),
        "bcast of a few numbers": lambda: group.bcast((1, 2), 0),
        "exchange without messages": lambda: group.exchange({}),
        "exchange with 2 known ranks": lambda: group.exchange(messages, partners),
        "exchange with 2 of any ranks": lambda: group.exchange(messages),
    }


def _nothing() -> None:
    """Do nothing."""


def _ranks(graph: Any) -> Any:
    try:
        return algorithms.pagerank(graph, max_iter=20, tol=0.0)
    except ConvergenceFailure:
        return None


OPTIONS = {
    "shape": ("", "rows and columns of the grid, as 2x1"),
    "calls": (300, "of a series"),
    "replied": (0, "processes that reply at once"),
}


def main(run: Run) -> int:
    """Print the table."""
    if run.options.replied:
        for name, function in replied(run.options.replied).items():
            print(f"{name:58}{shortest(function, run.options.calls):10.1f}", flush=True)
        return 0
    rows, _, cols = run.options.shape.partition("x")
    grid = Grid(shape=(int(rows), int(cols)) if cols else None, device=run.device)
    group, calls = grid.comm, run.options.calls

    def show(name: str, microseconds: float) -> None:
        if grid.rank == 0:
            print(f"{name:58}{microseconds:10.1f}", flush=True)

    if grid.rank == 0:
        print(describe(run.device))
        print(f"{grid.size} processes, {grid.device}; microseconds")
    for name, message in {**messages(grid), **segments(grid)}.items():
        show(f"allgather: {name}", shortest(lambda message=message: group.allgather(message), calls))  # type: ignore[misc]
        if name.startswith(("an array", "a segment")):
            each = [message] * grid.size
            show(f"alltoall:   {name}", shortest(lambda each=each: group.alltoall(each), calls))  # type: ignore[misc]
    show("collective_call: a function that does nothing", shortest(lambda: grid.collective_call(_nothing), calls))

    path = random.path(LEVELS, device=grid.device)
    small = random.rmat(8, 8, device=grid.device, seed=1)
    u = Vector.full(1.0, small.ncols, device=grid.device)
    v = Vector.from_dense(np.arange(256.0)).to(grid.device)
    operations: dict[str, tuple[Callable[[], Any], int, int]] = {
        "apply to a vector of 256": (lambda: v.apply("ainv").new(), 1, calls),
        "ewise_add of two vectors of 256": (lambda: v.ewise_add(v, "plus").new(), 1, calls),
        "reduce of a vector of 256": (lambda: v.reduce("plus").get(), 1, calls),
        "mxv, 256 rows": (lambda: small.mxv(u, "plus_times").new(), 1, calls),
        "bfs_levels of a path of 400, a level": (lambda: algorithms.bfs_levels(path, 0), LEVELS, 1),
        "bfs_parents of a path of 400, a level": (lambda: algorithms.bfs_parents(path, 0), LEVELS, 1),
        "pagerank of 256 vertices, an iteration": (lambda: _ranks(small), 20, 1),
    }
    for name, (function, steps, count) in operations.items():
        show(name, shortest(function, count) / steps)
    return 0
