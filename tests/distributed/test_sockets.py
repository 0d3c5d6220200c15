"""Processes without a launcher of MPI: messages over TCP, the address where they meet, the variables of launchers."""

from __future__ import annotations

import os
import random
import socket
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring.config import config
from semiring.distributed import connect, process, sockets
from semiring.distributed.mpi import MpiCommunicator, _Channel
from semiring.distributed.sockets import Endpoint, Place
from semiring.exceptions import CollectiveTimeout, InvalidValue, NotSupported, SemiringError
from tests.distributed.launches import ENGINE
from tests.distributed.messages import same, turns
from tests.distributed.test_processes import COLLECTIVES

# Variables of launchers, which the processes of these tests have not.
_LAUNCHERS = ("OMPI_", "PMI", "MPI_", "MV2_", "SLURM_", "MASTER_", "RANK", "WORLD_SIZE", "LOCAL_")


def free_port() -> int:
    """Return a port at which nobody listens, nor at the next one."""
    for _ in range(100):
        port = random.randrange(20000, 60000)
        with socket.socket() as one, socket.socket() as other:
            try:
                one.bind(("127.0.0.1", port))
                other.bind(("127.0.0.1", port + 1))
            except OSError:
                continue
            return port
    raise AssertionError("no free port")


def in_threads(size: int, body: Callable[[Endpoint], Any]) -> list[Any]:
    """Call a function with the endpoint of each of `size` processes, which are threads."""
    port, results, errors = free_port(), [None] * size, []

    def run(rank: int) -> None:
        try:
            results[rank] = body(Place("127.0.0.1", port, rank, size).connect(30.0))
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(rank,)) for rank in range(size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return results


def waited(*requests: Any) -> None:
    while not all(request.Test() for request in requests):
        pass


def test_messages_match_by_tag_and_order() -> None:
    def body(endpoint: Endpoint) -> list[bytes]:
        other = 1 - endpoint.Get_rank()
        sent = [b"first", b"", b"x" * 3_000_000, b"last"]
        out = [endpoint.Isend(part, other, tag) for part, tag in zip(sent, (7, 7, 8, 7), strict=True)]
        into = [bytearray(9), bytearray(b"untouched"), bytearray(3_000_000), bytearray(4)]
        # The one that was sent third is received first: the others have arrived early.
        waited(endpoint.Irecv(into[2], other, 8))
        waited(*(endpoint.Irecv(into[k], other, 7) for k in (0, 1, 3)))
        waited(*out)
        return [bytes(part) for part in into]

    for found in in_threads(2, body):
        assert found == [b"first" + bytes(4), b"untouched", b"x" * 3_000_000, b"last"]


def test_a_message_that_is_too_long_is_an_error() -> None:
    def body(endpoint: Endpoint) -> None:
        if endpoint.Get_rank() == 0:
            waited(endpoint.Isend(b"12345", 1, 1))
            return
        with pytest.raises(InvalidValue, match="a message of 5 bytes has arrived where 4 are expected"):
            waited(endpoint.Irecv(bytearray(4), 0, 1))

    in_threads(2, body)


def test_groups_of_some_processes() -> None:
    def body(endpoint: Endpoint) -> tuple[int, int, list[bytes]]:
        rank = endpoint.Get_rank()
        half = endpoint.Split(rank % 2, -rank)
        own, size = half.Get_rank(), half.Get_size()
        got = [bytearray(1) for _ in range(size)]
        others = [other for other in range(size) if other != own]
        requests = [half.Irecv(got[other], other, 1) for other in others]
        waited(*requests, *(half.Isend(bytes([rank]), other, 1) for other in others))
        return own, size, [bytes(each) for each in got]

    assert in_threads(5, body) == [
        (2, 3, [b"\4", b"\2", b"\0"]),
        (1, 2, [b"\3", b"\0"]),
        (1, 3, [b"\4", b"\0", b"\0"]),
        (0, 2, [b"\0", b"\1"]),
        (0, 3, [b"\0", b"\2", b"\0"]),
    ]


@pytest.mark.parametrize("size", [2, pytest.param(5, marks=pytest.mark.exhaustive)])
def test_collectives(size: int) -> None:
    def body(endpoint: Endpoint) -> list[tuple[Any, Any]]:
        return turns(MpiCommunicator(_Channel(endpoint), endpoint.between_hosts), np, range(12), 200_000)

    for pairs in in_threads(size, body):
        assert pairs
        assert all(same(np, found, expected) for found, expected in pairs)


def test_a_process_that_waits_for_one_group_serves_the_others() -> None:
    """Process 0 begins collectives of two groups and waits for the second; the others begin that after the first."""

    def body(endpoint: Endpoint) -> list[int]:
        groups = [endpoint.Split(0, endpoint.Get_rank()) for _ in range(2)]
        totals = [np.zeros(1, np.int64) for _ in groups]
        requests = []
        for group, total in zip(groups, totals, strict=True):
            requests.append(group.Iallreduce(np.array([endpoint.Get_rank()]), total))
            if endpoint.Get_rank():
                waited(requests[-1])
        waited(*reversed(requests))
        return [int(total[0]) for total in totals]

    assert in_threads(3, body) == [[3, 3]] * 3


def test_processes_of_one_host_are_known_to_be() -> None:
    assert in_threads(3, lambda endpoint: endpoint.between_hosts) == [False] * 3


def test_a_process_that_ends_is_an_error_where_others_wait_for_it() -> None:
    def body(endpoint: Endpoint) -> None:
        if endpoint.Get_rank() == 1:
            endpoint.links[0].socket.close()
            return
        with pytest.raises(SemiringError, match="rank 1 has ended"):
            waited(endpoint.Irecv(bytearray(1), 1, 1))

    in_threads(2, body)


@pytest.mark.parametrize("size", [3, 5])
def test_a_process_that_ends_is_an_error_in_the_collectives_of_all_others(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also in those that receive nothing from it."""
    monkeypatch.setattr(sockets, "_GRACE_S", 0.2)

    def body(endpoint: Endpoint) -> str:
        group = MpiCommunicator(_Channel(endpoint), endpoint.between_hosts)
        assert group.sum(1) == size
        if group.rank == 1:
            for link in filter(None, endpoint.links):
                link.socket.close()
            return "rank 1 has ended"
        with pytest.raises(SemiringError) as caught:
            group.sum(1)
        with pytest.raises(InvalidValue, match="cannot follow one that has failed"):
            group.sum(1)
        return str(caught.value)

    assert all(text.startswith("rank 1 has ended") for text in in_threads(size, body))


@pytest.mark.parametrize("size", [2, 3, 4, 5, 7])
def test_collectives_of_endpoints(size: int) -> None:
    """As those of MPI: sums modulo 2^64, arrays by rank, of any size, elements to each, and bytes from each root."""

    def body(endpoint: Endpoint) -> None:
        rank = endpoint.Get_rank()
        mine, total = np.array([rank, 2**63, 1], np.uint64), np.zeros(3, np.uint64)
        waited(endpoint.Iallreduce(mine, total))
        assert total.tolist() == [size * (size - 1) // 2, size * 2**63 % 2**64, size]
        whole = np.zeros((size, 2), np.int64)
        waited(endpoint.Iallgather(np.array([rank, -rank]), whole))
        assert whole.tolist() == [[k, -k] for k in range(size)]
        counts = [3 * k for k in range(size)]
        arrived, places = np.zeros(sum(counts), np.uint8), np.cumsum([0, *counts[:-1]]).tolist()
        waited(endpoint.Iallgatherv(np.full(3 * rank, rank, np.uint8), [arrived, (counts, places)]))
        assert arrived.tolist() == np.repeat(np.arange(size), counts).tolist()
        found = np.zeros(size, np.uint8)
        waited(endpoint.Ialltoall(np.arange(size, dtype=np.uint8) + 10 * rank, found))
        assert found.tolist() == [10 * k + rank for k in range(size)]
        for root in range(size):
            content = bytearray([root] * 9) if rank == root else bytearray(9)
            waited(endpoint.Ibcast(memoryview(content), root))
            assert content == bytearray([root] * 9)

    in_threads(size, body)


def test_connections_of_other_programs_are_closed() -> None:
    port = free_port()
    results: list[Any] = []

    def rank_0() -> None:
        results.append(Place("127.0.0.1", port, 0, 2).connect(30.0))

    thread = threading.Thread(target=rank_0)
    thread.start()
    # They send something else, nothing, another number of processes, or a rank that does not exist.
    for sent in (b"GET / HTTP/1.0\r\n\r\n" * 9, b""):
        with _connected(port) as other:
            other.sendall(sent)
    for rank, size in ((1, 3), (2, 2)):
        with pytest.raises(CollectiveTimeout):
            Place("127.0.0.1", port, rank, size).connect(0.3)
    Place("127.0.0.1", port, 1, 2).connect(30.0)
    thread.join()
    assert results[0].Get_size() == 2


def _connected(port: int) -> socket.socket:
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=5.0)
        except ConnectionRefusedError:
            continue


def test_processes_that_do_not_come_are_named() -> None:
    port = free_port()
    with config.set(collective_timeout=0.2):
        with pytest.raises(
            CollectiveTimeout, match=f"rank 0 of 3 has waited for ranks 1, 2 to connect to 127.*:{port}"
        ):
            connect(f"127.0.0.1:{port}", 0, 3)
        with pytest.raises(CollectiveTimeout, match=rf"rank 1 of 3 cannot connect to 127.0.0.1:{port}"):
            connect(f"127.0.0.1:{port}", 1, 3)
    with socket.create_server(("", port)), pytest.raises(NotSupported, match=f"cannot listen at port {port}"):
        connect(f"127.0.0.1:{port}", 0, 2)


@pytest.mark.parametrize("address", ["", "host", "host:", ":5", "host:x", "host:70000"])
def test_an_address_has_a_host_and_a_port(address: str) -> None:
    with pytest.raises(InvalidValue, match="an address is 'host:port'"):
        connect(address, 0, 2)
    with pytest.raises(InvalidValue, match="a rank is from 0 to size - 1, 1; got 2"):
        connect("host:5", 2, 2)


def test_one_process_needs_no_address() -> None:
    group = connect("localhost:5", 0, 1)
    assert (group.size, group.allgather("mine")) == (1, ["mine"])


# -- what launchers set ----------------------------------------------------------------------------------


def test_where_launchers_let_processes_meet() -> None:
    torchrun = {"MASTER_ADDR": "node1", "MASTER_PORT": "29500", "RANK": "3", "WORLD_SIZE": "4"}
    assert Place.of_launcher(torchrun) == ("node1", 29501, 3, 4)
    assert Place.of_launcher({**torchrun, "WORLD_SIZE": "1", "RANK": "0"}) is None
    assert Place.of_launcher({"RANK": "3", "WORLD_SIZE": "4"}) is None
    slurm = {"SLURM_PROCID": "2", "SLURM_STEP_NUM_TASKS": "8", "SLURM_JOB_ID": "77", "SLURM_STEP_ID": "0"}
    for hosts, first in (
        ("node7", "node7"),
        ("node[01-04,9]", "node01"),
        ("gpu[3,5]-ib,login", "gpu3-ib"),
        ("a1,b[2-3]", "a1"),
    ):
        found = Place.of_launcher({**slurm, "SLURM_STEP_NODELIST": hosts})
        assert found is not None
        assert (found.host, found.rank, found.size) == (first, 2, 8)
        other = Place.of_launcher({**slurm, "SLURM_STEP_ID": "1", "SLURM_STEP_NODELIST": hosts})
        assert other is not None
        assert other.port != found.port
    assert Place.of_launcher({**slurm, "SLURM_STEP_NUM_TASKS": "1", "SLURM_STEP_NODELIST": "a"}) is None
    assert Place.of_launcher({}) is None


@pytest.mark.parametrize("name", ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "WORLD_SIZE", "SLURM_STEP_NUM_TASKS"])
def test_more_processes_than_have_found_each_other_are_an_error(name: str) -> None:
    announced = {name: "4", "RANK": "1", "SLURM_PROCID": "1"}
    with pytest.raises(InvalidValue, match=rf"one of 4 \({name}\), and has found 0 others.*semiring launch"):
        process.check_size(announced, 1)
    process.check_size(announced, 4)
    process.check_size({}, 1)
    process.check_size({"WORLD_SIZE": "4", "SLURM_STEP_NUM_TASKS": "4", "PMI_SIZE": "all"}, 1)


@pytest.fixture
def environment() -> dict[str, str]:
    """The variables of a process that no launcher has started."""
    return {name: value for name, value in os.environ.items() if not name.startswith(_LAUNCHERS)} | ENGINE


def started(folder: Path, program: str, environments: list[dict[str, str]]) -> list[tuple[int, str, str]]:
    """Run a program as several processes; return their exit statuses, outputs and messages."""
    path = folder / "program.py"
    path.write_text(textwrap.dedent(program), encoding="utf-8")
    running = [
        subprocess.Popen(
            [sys.executable, str(path)], env=each, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for each in environments
    ]
    ended = [(each.communicate(timeout=120), each) for each in running]
    return [(each.returncode, *texts) for texts, each in ended]


def by_torchrun(environment: dict[str, str], size: int) -> list[dict[str, str]]:
    place = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port()), "WORLD_SIZE": str(size)}
    return [{**environment, **place, "RANK": str(rank)} for rank in range(size)]


@pytest.mark.parametrize("size", [2, pytest.param(4, marks=pytest.mark.exhaustive)])
def test_processes_of_torchrun(size: int, environment: dict[str, str], tmp_path: Path) -> None:
    first, *others = started(tmp_path, COLLECTIVES, by_torchrun(environment, size))
    assert first == (0, f"as expected on {size}\n", "")
    assert others == [(0, "", "")] * (size - 1)


@pytest.mark.exhaustive
def test_processes_of_srun(environment: dict[str, str], tmp_path: Path) -> None:
    step = {"SLURM_STEP_NUM_TASKS": "3", "SLURM_JOB_ID": str(free_port()), "SLURM_STEP_ID": "0"}
    step |= {"SLURM_STEP_NODELIST": "localhost"}
    environments = [{**environment, **step, "SLURM_PROCID": f"{rank}", "SLURM_LOCALID": f"{rank}"} for rank in range(3)]
    first, *others = started(tmp_path, COLLECTIVES, environments)
    assert first == (0, "as expected on 3\n", "")
    assert others == [(0, "", "")] * 2


def test_one_process_needs_neither_a_launcher_nor_mpi(environment: dict[str, str], tmp_path: Path) -> None:
    program = """
        import sys
        sys.modules["mpi4py"] = sys.modules["mpi4py.MPI"] = None
        import semiring as sr
        grid = sr.distributed.Grid()
        print(grid.shape, sr.random.rmat(6, seed=1, device=grid.device).nvals)
    """
    (found,) = started(tmp_path, program, [environment])
    assert found[:2] == (0, f"(1, 1) {sr.random.rmat(6, seed=1).nvals}\n"), found
    ((status, _, message),) = started(tmp_path, program, [{**environment, "PMI_SIZE": "1"}])
    assert status == 1
    assert "needs mpi4py" in message


def test_an_exception_ends_all(environment: dict[str, str], tmp_path: Path) -> None:
    program = """
        from semiring.distributed import Grid
        grid = Grid()
        if grid.rank == 1:
            raise KeyError("gone")
        grid.comm.barrier()
    """
    zero, one = started(tmp_path, program, by_torchrun(environment, 2))
    assert (zero[0], one[0]) == (1, 1)
    assert "rank 1 of 2 failed:" in one[2]
    assert "KeyError: 'gone'" in one[2]
    assert "rank 1 has ended" in zero[2]


def test_processes_that_no_launcher_has_started(environment: dict[str, str], tmp_path: Path) -> None:
    program = f"""
        import os
        import semiring as sr
        group = sr.distributed.connect("127.0.0.1:{free_port()}", int(os.environ["NUMBER"]), 3)
        grid = sr.distributed.Grid(group)
        A = sr.random.rmat(6, seed=1, device=grid.device)
        print(grid.shape, A.reduce_rowwise("plus").reduce("plus").value == A.reduce_scalar("plus").value)
    """
    found = started(tmp_path, program, [{**environment, "NUMBER": str(rank)} for rank in range(3)])
    assert found == [(0, "(3, 1) True\n", "")] * 3


def test_a_grid_of_one_process_among_several_is_refused(environment: dict[str, str], tmp_path: Path) -> None:
    pytest.importorskip("mpi4py")
    program = """
        from semiring.distributed import Grid
        Grid()
    """
    ((status, _, message),) = started(tmp_path, program, [{**environment, "MV2_COMM_WORLD_SIZE": "4"}])
    assert status == 1
    assert "this process is one of 4 (MV2_COMM_WORLD_SIZE), and has found 0 others" in message
