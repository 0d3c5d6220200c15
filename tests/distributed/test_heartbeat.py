"""A process may compute for longer than `collective_timeout`; one that makes no progress is found within it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from semiring.distributed import heartbeat
from semiring.distributed.heartbeat import Progress, Wait, address
from tests.distributed.launches import ENGINE, launch
from tests.distributed.test_sockets import _LAUNCHERS, by_torchrun, started

LIMIT = 2.0
# What rank 1 does while the others wait for it.  Of each kind: longer than the limit.
BUSY = {
    "python": "while time.monotonic() < end: pass",
    "native code": "while time.monotonic() < end: hashlib.sha256(block).digest()",
    "threads": "t = threading.Thread(target=spin); t.start(); t.join()",
    "half of the time": "while time.monotonic() < end: spin(0.05); time.sleep(0.05)",
}
HANGS = {
    "sleeps": "time.sleep(100)",
    "has locked itself out": "lock = threading.Lock(); lock.acquire(); lock.acquire()",
    "is stopped": "os.kill(os.getpid(), signal.SIGSTOP)",
    "looks for a file": "while not os.path.exists('never'): time.sleep(0.05)",
}
START = f"""
import hashlib, os, signal, threading, time
import semiring as sr
from semiring.distributed import Grid
grid = Grid(shape=(1, SIZE))
sr.config.collective_timeout = {LIMIT}
rank, end, block = grid.rank, time.monotonic() + 2 * {LIMIT}, bytes(1 << 24)
def spin(seconds=2 * {LIMIT}):
    begin = time.monotonic()
    while time.monotonic() < begin + seconds: pass
"""
QUICK = ("native code", "is stopped")


def program(does: str) -> str:
    ends = "total = grid.all_reduce_sum(1)\nif rank == 0: print(total)\n"
    return f"{START.replace('SIZE', '2')}\nif rank == 1:\n    {does}\n{ends}"


@pytest.fixture
def environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith(_LAUNCHERS)} | ENGINE


by_kind = pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=() if kind in QUICK else pytest.mark.exhaustive) for kind in BUSY]
)


@by_kind
def test_a_process_may_compute_for_longer_than_the_limit(
    kind: str, environment: dict[str, str], tmp_path: Path
) -> None:
    found = started(tmp_path, program(BUSY[kind]), by_torchrun(environment, 2))
    assert found == [(0, "2\n", ""), (0, "", "")]


@pytest.mark.exhaustive
@by_kind
def test_a_process_of_mpi_may_compute_for_longer_than_the_limit(kind: str, tmp_path: Path) -> None:
    pytest.importorskip("mpi4py")
    ran = launch(tmp_path, 2, program(BUSY[kind]))
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "2\n", "")


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=() if kind in QUICK else pytest.mark.exhaustive) for kind in HANGS]
)
def test_a_process_that_hangs_is_found_within_the_limit(kind: str, environment: dict[str, str], tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(textwrap.dedent(program(HANGS[kind])), encoding="utf-8")
    zero, one = (
        subprocess.Popen([sys.executable, str(path)], env=each, stderr=subprocess.PIPE, text=True)
        for each in by_torchrun(environment, 2)
    )
    try:
        _, text = zero.communicate(timeout=60)
    finally:
        one.kill()
        one.communicate()
    assert zero.returncode == 1
    waited = float(text.split("rank 0 of 2 has waited ")[1].split(" s")[0])
    assert LIMIT <= waited <= LIMIT + 1
    assert "for rank 1; that rank 1 made no progress for 2 s (the setting collective_timeout)" in text


@pytest.mark.exhaustive
@pytest.mark.parametrize("kind", list(HANGS))
def test_a_process_of_mpi_that_hangs_is_found_within_the_limit(kind: str, tmp_path: Path) -> None:
    pytest.importorskip("mpi4py")
    ran = launch(tmp_path, 2, program(HANGS[kind]))
    assert ran.returncode == 1, ran.stderr
    assert "that rank 1 made no progress for 2 s" in ran.stderr


def test_processes_that_wait_for_a_busy_one_make_progress(environment: dict[str, str], tmp_path: Path) -> None:
    """Rank 0 waits for rank 1, which waits for rank 2 in a group of both, which computes; rank 3 waits for all."""
    chain = f"""{START.replace("SIZE", "4")}
pair = grid.comm.split(rank in (1, 2), rank)
if rank == 2: spin()
if rank in (1, 2): pair.barrier()
total = grid.all_reduce_sum(1)
if rank == 0: print(total)
"""
    found = started(tmp_path, chain, by_torchrun(environment, 4))
    assert found == [(0, "4\n", "")] + [(0, "", "")] * 3


def test_one_of_several_hangs_while_another_computes(environment: dict[str, str], tmp_path: Path) -> None:
    """The one that computes does not hide the other."""
    both = f"""{START.replace("SIZE", "3")}
if rank == 1: spin(12)
if rank == 2: time.sleep(12)
grid.all_reduce_sum(1)
"""
    begin = time.monotonic()
    first, *_ = started(tmp_path, both, by_torchrun(environment, 3))
    assert time.monotonic() - begin < 30
    assert first[0] == 1
    assert "for ranks 1, 2; that rank 2 made no progress for 2 s" in first[2]


# -- idle times ------------------------------------------------------------------------------------------


def test_a_share_of_a_processor_is_progress() -> None:
    now, used = [0.0], [0.0]
    progress = Progress(lambda: now[0], lambda: used[0])

    def after(seconds: float, work: float) -> float:
        now[0] += seconds
        used[0] += work
        return round(progress.idle(), 6)

    assert after(10, 0.4) == 10
    assert after(10, 0.6) == 0
    assert after(0.05, 0) == 0.05  # too short to be measured
    assert after(0.05, 0.05) == 0
    assert after(100, 1) == 100
    progress.begin()
    assert after(1, 0) == 1


def test_a_process_replies_to_requests_with_its_key() -> None:
    place = address()
    assert place is not None
    assert address() is place
    wait = Wait([None, place, place._replace(key=place.key ^ 1), None])
    time.sleep(0.02)
    deadline = time.monotonic() + 10
    idle: list[int] = []
    while len(idle) < 3 and time.monotonic() < deadline:
        idle = wait.idle_ranks(0.5, lambda: [1, 2, 3])
        sum(range(20_000))  # this process computes
    wait.__exit__()
    assert idle == [2, 3]


def test_a_process_that_waits_is_as_idle_as_those_that_it_waits_for(monkeypatch: pytest.MonkeyPatch) -> None:
    progress = Progress(work=lambda: 0.0)
    monkeypatch.setattr(heartbeat, "_progress", progress)
    with Wait([None, None]) as outer:
        assert progress.idle() == 0
        outer._waited = 7.0
        assert progress.idle() == 7
        outer._idle = {0: 3.0, 1: 5.0}
        assert progress.idle() == 5
        with Wait([None]):
            assert progress.idle() == 0
        assert progress.idle() == 5
    assert progress.idle() < 1


def test_time_in_which_the_waiting_process_was_stopped_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    wait = Wait([None, None])
    now[0] = 1000.0
    assert wait.idle_ranks(10, lambda: [1]) == []
    for _ in range(10):
        now[0] += 0.95
        found = wait.idle_ranks(10, lambda: [1])
    assert found == [1]
    assert wait.idle_ranks(10, lambda: [0]) == []  # this one has not been waited for before
    assert wait.idle_ranks(10, list) == []  # it has arrived
    wait.__exit__()


def test_packets_of_others_are_ignored() -> None:
    place = address()
    assert place is not None
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        other.settimeout(0.3)
        for packet in (b"", b"GET / HTTP/1.0", heartbeat._REQUEST.pack(place.key ^ 1, 5)):
            other.sendto(packet, place[:2])
        with pytest.raises(TimeoutError):
            other.recv(64)
        other.sendto(heartbeat._REQUEST.pack(place.key, 5), place[:2])
        assert heartbeat._REPLY.unpack(other.recv(64))[0] == 5


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_replies_for_itself() -> None:
    place = address()
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.write(writer, str(address() not in (place, None)).encode())
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reader, 9) == b"True"
