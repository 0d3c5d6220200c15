"""Messages whose arrays go by NCCL: threads are the ranks, NumPy stands for CuPy, and copies of memory for NCCL."""

from __future__ import annotations

import ctypes
from collections import defaultdict
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring.distributed import Grid
from semiring.distributed.communicator import Communicator
from semiring.distributed.nccl import DeviceInfo, Library, NcclCommunicator, usable
from semiring.distributed.threads import ThreadCommunicator, run_ranks
from semiring.exceptions import CollectiveTimeout, OutOfMemory


class Copies:
    """What `cupy.cuda.nccl` offers to one rank: transfers are matched by source, target and their order.

    As with NCCL, a transfer is queued: memory is written when both sides have ended their group.
    """

    NCCL_UINT8 = 1
    connected: list[tuple[int, Any, int]]
    sent: dict[Any, list[bytes]]
    awaited: dict[Any, list[tuple[int, int]]]

    def __init__(self, shared: dict[str, Any]) -> None:
        self.shared = shared
        self.open = False

    def get_unique_id(self) -> tuple[str, int]:
        self.shared["groups"] += 1
        return "group", self.shared["groups"]

    def NcclCommunicator(self, size: int, identity: Any, rank: int) -> Transfers:
        return Transfers(self, identity, rank, size)

    def groupStart(self) -> None:
        assert not self.open
        if self.shared.pop("refuses", None):
            raise RuntimeError("NCCL_ERROR_SYSTEM_ERROR")
        self.open = True

    def groupEnd(self) -> None:
        assert self.open
        self.open = False
        for key, queue in self.shared["awaited"].items():
            arrived = self.shared["sent"][key]
            while queue and arrived:
                (address, count), data = queue.pop(0), arrived.pop(0)
                assert len(data) == count
                ctypes.memmove(address, data, count)


class Transfers:
    def __init__(self, library: Copies, identity: Any, rank: int, size: int) -> None:
        self.library, self.identity, self.rank = library, identity, rank
        self.others = [other for other in range(size) if other != rank]

    def abort(self) -> None:
        self.library.shared["aborted"] = self.library.shared.get("aborted", 0) + 1

    def allGather(self, source: int, target: int, count: int, dtype: int, stream: int) -> None:
        self.library.shared["gathered"] += 1
        ctypes.memmove(target + self.rank * count, source, count)
        for peer in self.others:
            self.send(source, count, dtype, peer, stream)
            self.recv(target + peer * count, count, dtype, peer, stream)

    def broadcast(self, source: int, target: int, count: int, dtype: int, root: int, stream: int) -> None:
        if root != self.rank:
            self.recv(target, count, dtype, root, stream)
            return
        for peer in self.others:
            self.send(source, count, dtype, peer, stream)

    def send(self, address: int, count: int, dtype: int, peer: int, stream: int) -> None:
        assert (self.library.open, dtype, stream) == (True, Copies.NCCL_UINT8, 7)
        self.library.shared["bytes"] += count
        self.library.shared["sent"][self.identity, self.rank, peer].append(ctypes.string_at(address, count))

    def recv(self, address: int, count: int, dtype: int, peer: int, stream: int) -> None:
        assert (self.library.open, dtype, stream) == (True, Copies.NCCL_UINT8, 7)
        self.library.shared["awaited"][self.identity, peer, self.rank].append((address, count))


class Arrived(NcclCommunicator):
    """Waits for the arrays, as kernels on the stream do."""

    def _allgather(self, message: Any) -> list[Any]:
        found = super()._allgather(message)
        self.inner._sum(0)
        return found

    def _exchange(self, messages: Any, sources: Any) -> dict[int, Any]:
        found = super()._exchange(messages, sources)
        self.inner._sum(0)
        return found

    def split(self, color: int, key: int) -> Arrived:
        return Arrived(self.inner.split(color, key), self._library)


class Memory:
    """NumPy, with memory for so many more arrays."""

    ndarray = np.ndarray

    def __init__(self) -> None:
        self.room = 1 << 60

    def empty(self, *args: Any) -> Any:
        self.room -= 1
        if self.room == -1:
            raise OutOfMemory("no room for an array")
        return np.empty(*args)

    def ascontiguousarray(self, array: Any) -> Any:
        return (
            array
            if array.flags.c_contiguous
            else np.copyto(made := self.empty(array.shape, array.dtype), array) or made
        )


def run(count: int, program: Any) -> tuple[list[Any], dict[str, Any]]:
    """Run a program on ranks that send arrays by copies; return its results, and what was sent."""
    shared = {"groups": 0, "bytes": 0, "gathered": 0, "sent": defaultdict(list), "awaited": defaultdict(list)}

    def rank(communicator: Communicator) -> Any:
        return program(Arrived(communicator, Library(Memory(), Copies(shared), lambda: 7)))

    results = run_ranks(count, rank)
    for queues in (shared["sent"], shared["awaited"]):
        assert not any(queues.values())
    return results, shared


@pytest.fixture(autouse=True)
def on_cpu(engine: str) -> None:
    if engine == "cuda":
        pytest.skip("NumPy stands for CuPy")


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_arrays_of_messages_arrive(count: int) -> None:
    def message(source: int, target: int) -> Any:
        if (source + target) % 3 == 0:
            return None
        transposed = np.arange(12, dtype=np.int16).reshape(3, 4).T + source
        return {"many": [np.arange(100) * target, transposed], "few": (np.float32(source), np.zeros((0, 3)), "text")}

    def same(a: Any, b: Any) -> bool:
        if a is None or b is None:
            return a is b
        arrays = zip([*a["many"], a["few"][1]], [*b["many"], b["few"][1]], strict=True)
        return a["few"][::2] == b["few"][::2] and all(x.dtype == y.dtype and np.array_equal(x, y) for x, y in arrays)

    def program(group: Communicator) -> None:
        for turn in range(4):
            found = group.alltoall([message(group.rank + turn, target) for target in range(count)])
            assert all(same(found[source], message(source + turn, group.rank)) for source in range(count))
            found = group.allgather(message(group.rank, turn))
            assert all(same(found[source], message(source, turn)) for source in range(count))

    _, shared = run(count, program)
    assert shared["groups"] == (count > 1)


@pytest.mark.parametrize("between_hosts", [True, False])
@pytest.mark.parametrize(("count", "gathered"), [(32, True), (33, False), (0, True)])
def test_arrays_of_one_size_are_gathered(count: int, gathered: bool, between_hosts: bool) -> None:
    def program(group: Communicator) -> Any:
        group.between_hosts = between_hosts
        values = np.arange(count, dtype=np.float64) + group.rank
        equal = group.allgather([values, (values[::-1],)])
        unequal = group.allgather(None if group.rank == 1 else np.arange(64) * group.rank)
        assert unequal[1] is None
        assert [each.tolist() for each in (unequal[0], unequal[2])] == [[0] * 64, list(range(0, 128, 2))]
        return [(one.tolist(), other.tolist()) for one, (other,) in equal]

    results, shared = run(3, program)
    expected = [[float(k + rank) for k in range(count)] for rank in range(3)]
    assert results == [[(each, each[::-1]) for each in expected]] * 3
    assert shared["gathered"] == 3 * 2 * (gathered and count > 0 and between_hosts)


def test_messages_without_arrays_connect_nobody() -> None:
    results, shared = run(3, lambda group: (group.allgather(group.rank), group.bcast("x", 1)))
    assert results == [([0, 1, 2], "x")] * 3
    assert (shared["groups"], shared["bytes"]) == (0, 0)


def test_algorithms_send_all_arrays_by_nccl() -> None:
    A = sr.random.rmat(7, seed=3)
    levels, square = sr.algorithms.bfs_levels(A, 0), A.mxm(A, "plus_pair").new()

    def program(group: Communicator) -> int:
        grid = Grid(group, shape=(2, 2), device="cpu")
        D = sr.distributed.scatter(A, grid)
        assert sr.distributed.gather(sr.algorithms.bfs_levels(D, 0)).isequal(levels)
        assert sr.distributed.gather(D.mxm(D, "plus_pair").new()).isequal(square)
        return grid.traffic.bytes

    counted, shared = run(4, program)
    # The rest of the counted bytes are numbers beside the arrays.
    assert 0.9 * sum(counted) < shared["bytes"] <= sum(counted)


@pytest.mark.parametrize("between_hosts", [True, False])
def test_no_array_is_sent_where_one_rank_lacks_memory_for_what_it_receives(between_hosts: bool) -> None:
    """All raise the error, nothing is queued, and the next calls send arrays."""

    def call(group: Communicator, grid: Grid, turn: int) -> None:
        rows = np.arange(128.0) * group.rank
        assert [found[1] for found in group.allgather(rows)] == [0.0, 1.0, 2.0]
        assert [found.size for found in group.allgather(np.ones((4, group.rank + 2)).T)] == [8, 12, 16]
        if turn:
            assert group.alltoall([np.full(9, rank) for rank in range(3)])[0].tolist() == [group.rank] * 9
        grid.row_comm.allgather(rows)

    def program(group: Any) -> int:
        group.between_hosts = between_hosts
        grid = Grid(group, shape=(1, 3), device="cpu")
        memory, failures = group._library.arrays, 0
        for turn, room in [(turn, room) for turn in (0, 1) for room in range(9)]:
            if group.rank == 1:
                memory.room = room
            caught = None
            try:
                grid.collective_call(call, group, grid, turn)
            except OutOfMemory as error:
                caught = str(error)
            memory.room = 1 << 60
            assert group.allgather(caught) == [caught] * 3
            assert caught in (None, "no room for an array (rank 1 of 3)")
            failures += caught is not None
            grid.collective_call(call, group, grid, turn)
        return failures

    results, shared = run(3, program)
    # The arrays that rank 1 allocates: two of the others, or one that all are gathered in, one that is made contiguous
    # and two more; in the second turn two of `alltoall`; and in the row, whose processes may be on several hosts, one.
    first = 2 - between_hosts + 1 + 2 + 1
    assert results == [first + first + 2] * 3
    assert "aborted" not in shared


class Late(ThreadCommunicator):
    """A group whose collectives fail from some time on."""

    late = False

    def _allgather(self, message: Any) -> list[Any]:
        if self.late:
            raise CollectiveTimeout("rank 1 is late")
        return super()._allgather(message)

    def _sum(self, count: int) -> int:
        if self.late:
            raise CollectiveTimeout("rank 1 is late")
        return super()._sum(count)

    @property
    def broken(self) -> bool:
        return self.late


@pytest.mark.parametrize("fails", ["nccl", "inner"])
def test_transfers_that_cannot_be_completed_are_aborted(fails: str) -> None:
    def program(communicator: Any) -> tuple[bool, bool, int]:
        shared: Any = {"groups": 0, "bytes": 0, "gathered": 0, "sent": defaultdict(list), "awaited": defaultdict(list)}
        inner = Late(communicator.rank, communicator._meeting)
        group = NcclCommunicator(inner, Library(Memory(), Copies(shared), lambda: 7))
        part = group.split(0, group.rank)
        for each in (group, part):
            each.allgather(np.ones(3))
        before = group.broken or part.broken
        shared["refuses"], inner.late = fails == "nccl", fails == "inner"
        with pytest.raises((RuntimeError, CollectiveTimeout), match=r"NCCL_ERROR_SYSTEM_ERROR|rank 1 is late"):
            group.allgather(np.ones(3))
        return before, group.broken and part.broken, shared["aborted"]

    assert run_ranks(2, program) == [(False, True, 2)] * 2


def _at(gpu: str, version: int = 22800, *, shares: bool = False, host: str = "a") -> DeviceInfo:
    return DeviceInfo(host, gpu, version, shares)


@pytest.mark.parametrize(
    ("places", "expected"),
    [
        ([_at("0"), _at("1")], True),
        ([_at("0"), _at("0", host="b")], True),
        ([_at("0"), _at("0")], False),
        ([_at("0", shares=True), _at("0", shares=True)], False),
        ([_at("0", 23000, shares=True), _at("0", 23000, shares=True)], True),
        ([_at("0", 23000, shares=True), _at("0", 23000)], False),
        ([_at("0", 23000), _at("1", 22800)], False),
        ([_at("0"), None], False),
    ],
)
def test_where_nccl_can_connect_all(places: list[DeviceInfo | None], expected: bool) -> None:
    assert usable(places) is expected
