"""A process without memory for what it receives: all processes raise OutOfMemory, and the program goes on."""

from __future__ import annotations

import os
import threading
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from semiring.distributed import mpi, serialization, sockets
from semiring.distributed.communicator import Failed
from semiring.distributed.mpi import MpiCommunicator, _Channel
from semiring.distributed.sockets import Endpoint
from semiring.exceptions import OutOfMemory
from tests.distributed.launches import launch
from tests.distributed.messages import same, turns
from tests.distributed.test_sockets import _LAUNCHERS, by_torchrun, in_threads, started, waited

# What each of the other processes sends: a block that fits in the first message, one that does not, with and without
# arrays.
MESSAGES: tuple[Any, ...] = (
    "short",
    "x" * 10_000,
    [np.arange(9000.0), "x" * 300_000, np.arange(40_000)],
    [np.zeros(700), np.arange(20_000, dtype=np.int16)],
)


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Messages are sent in many parts."""
    monkeypatch.setattr(mpi, "_LARGEST", 1 << 16)
    monkeypatch.setattr(serialization, "SMALL", 3000)
    mpi._spare.cache_clear()


@pytest.mark.parametrize("kind", ["alltoall", "allgather", "bcast"])
def test_what_a_process_has_no_memory_for_is_received(
    kind: str, small_parts: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever allocation fails: the next collectives work, and the other processes have what was sent to them, or the
    error if as much is gathered that all agree on it first."""

    def collective(group: MpiCommunicator, message: Any) -> list[Any]:
        if kind == "bcast":
            return [group.bcast(message if group.rank == 0 else None, 0)]
        return group.allgather(message) if kind == "allgather" else group.alltoall([message] * group.size)

    allocate, room, counts = mpi._empty, [1 << 60], list[int]()

    def empty(size: int) -> Any:
        if threading.current_thread() is lacking[0]:
            room[0] -= 1
            if room[0] == -1:
                raise MemoryError
        return allocate(size)

    lacking: list[Any] = [None]

    def body(endpoint: Endpoint) -> list[tuple[Any, Any]]:
        group = MpiCommunicator(_Channel(endpoint), endpoint.between_hosts)
        if group.rank == 1:
            lacking[0] = threading.current_thread()
        for message in MESSAGES:
            left, failed = 0, True
            while failed:
                room[0], failed = left if group.rank == 1 else room[0], False
                group.barrier()
                try:
                    found = collective(group, message)
                except OutOfMemory:
                    failed = True
                    assert group.report("no memory")() == [None, "no memory", None]
                except Failed as error:
                    failed = error.errors == [None, "no memory", None]
                    assert any(message is each for each in MESSAGES[2:])
                    assert kind == "allgather"
                else:
                    assert all(str(each) == str(message) for each in found)
                    try:
                        group.barrier()
                    except Failed as error:
                        failed = error.errors == [None, "no memory", None]
                assert not group.broken
                left += 1
            if group.rank == 1:
                counts.append(left - 1)
        room[0] = 1 << 60
        return turns(group, np, range(6), 100_000)

    monkeypatch.setattr(mpi, "_empty", empty)
    assert all(same(np, found, expected) for pairs in in_threads(3, body) for found, expected in pairs)
    # From each of two others: none, a block, a block and two arrays, two arrays; else what is gathered or broadcast.
    assert counts == {"alltoall": [0, 2, 6, 4], "allgather": [0, 1, 1, 1], "bcast": [1, 1, 1, 1]}[kind]


def test_free_memory_is_compared_with_what_follows(small_parts: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def body(endpoint: Endpoint) -> list[int]:
        group = MpiCommunicator(_Channel(endpoint), endpoint.between_hosts)
        group.alltoall([MESSAGES[2]] * 3)
        group.allgather(MESSAGES[2])
        return needed[threading.current_thread()]

    needed: defaultdict[Any, list[int]] = defaultdict(list)
    monkeypatch.setattr(
        mpi, "require", lambda operation, device, count: needed[threading.current_thread()].append(count)
    )
    for blocks, arrays, gathered in in_threads(3, body):
        assert 300_000 <= blocks / 2 < 301_000
        assert arrays == 2 * (9000 + 40_000) * 8
        assert blocks / 2 + arrays / 2 <= gathered / 3 < blocks / 2 + arrays / 2 + 100


def test_a_message_is_left_in_the_socket_until_there_is_memory_or_a_request(monkeypatch: pytest.MonkeyPatch) -> None:
    def body(endpoint: Endpoint) -> list[bytes]:
        other = 1 - endpoint.Get_rank()
        if other == 0:
            requests = [endpoint.Isend(bytes([number]) * 300_000, 0, tag) for number, tag in ((1, 1), (2, 2), (3, 3))]
            waited(*requests)
            endpoint.links[0].send(endpoint.Send_init(b"end", 0, 4))
            return []
        into = [bytearray(300_000) for _ in range(3)]
        waits = [endpoint.Irecv(into[1], other, 2)]
        while refused[0] < 2:
            assert not waits[0].Test()  # the first message precedes it, and has no memory
        waits.append(endpoint.Irecv(into[0], other, 1))  # it is read into the memory of the request
        waited(*waits)
        while endpoint.links[1]._delayed is None:
            endpoint.progress()
        refuses.clear()
        end = bytearray(3)
        waited(endpoint.Irecv(end, other, 4))  # the third is kept: there is memory again
        waited(endpoint.Irecv(into[2], other, 3))
        return [bytes(each[:1]) for each in into] + [bytes(end)]

    def buffer(size: int) -> bytearray:
        if refuses and size == 300_000 and threading.current_thread() is not threading.main_thread():
            refused[0] += 1
            raise MemoryError
        return bytearray(size)

    refuses, refused = [True], [0]
    monkeypatch.setattr(sockets, "bytearray", buffer, raising=False)
    found = in_threads(2, body)
    assert found[0] == [b"\1", b"\2", b"\3", b"end"]


# Each allocation for what arrives fails once on the last process, in algorithms and in exports of arrays.
PROGRAM = """
    import numpy as np
    import semiring as sr
    from semiring import distributed, exceptions
    from semiring.distributed import Grid, mpi, serialization

    serialization.SMALL, mpi._LARGEST, mpi._ROOM = 300, 1 << 12, 200
    grid = Grid()
    allocate, room = mpi._empty, 1 << 60

    def empty(size):
        global room
        room -= 1
        if room == -1:
            raise MemoryError
        return allocate(size)

    mpi._empty = empty
    A = sr.random.rmat(9, seed=1, weights="uniform", device=grid.device)
    u = sr.Vector.from_dense(np.arange(A.nrows) + 0.5, device=grid.device)
    rank, size = grid.rank, grid.size

    def product(w, B):
        w << B.mxv(u, "plus_times")

    def rows(w, B):
        w << B.T.new().mxm(B, "plus_times").new().reduce_rowwise("plus")

    def gathers(w, B):
        w << distributed.scatter(distributed.gather(B).reduce_rowwise("plus"), grid)

    for call in (product, rows, gathers):
        expected = sr.Vector.full(0.5, A.nrows, device=grid.device)
        call(expected, A)
        failures = left = 0
        while True:
            w = sr.Vector.full(0.5, A.nrows, device=grid.device)
            B = A.ewise_mult(A, "first").new()  # without anything that is kept with A
            B.nvals
            room = left if rank == size - 1 else 1 << 60
            error = None
            try:
                call(w, B)
            except exceptions.OutOfMemory as raised:
                error = str(raised)
            room, left = 1 << 60, left + 1
            errors = grid.comm.allgather(error)
            assert len(set(errors)) == 1, errors
            if error is None:
                break
            assert "out of memory on cpu" in error and f"(rank {size - 1} of {size})" in error, error
            assert distributed.gather(w).isequal(sr.Vector.full(0.5, A.nrows))
            call(w, B)
            assert distributed.gather(w).isclose(distributed.gather(expected))
            failures += 1
        assert failures, call
    if rank == 0:
        print("all went on")
"""


def test_processes_of_mpi_go_on(tmp_path: Path) -> None:
    pytest.importorskip("mpi4py")
    ran = launch(tmp_path, 2, PROGRAM)
    assert (ran.returncode, ran.stdout) == (0, "all went on\n"), ran.stderr


@pytest.mark.exhaustive
def test_processes_over_tcp_go_on(tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(_LAUNCHERS)}
    found = started(tmp_path, PROGRAM, by_torchrun(environment | {"SEMIRING_DEVICE": "reference"}, 3))
    assert [each[:2] for each in found] == [(0, "all went on\n"), (0, ""), (0, "")], found
