"""Processes of MPI: what collectives carry, and that an error, an exit or a signal in one process ends all of them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.distributed.launches import launch

pytest.importorskip("mpi4py")

# Every process sends messages of every size that is sent differently: in the header, in a block, as arrays in segments.
COLLECTIVES = """
    import numpy as np
    import semiring as sr
    from semiring.distributed import Grid, gather, mpi, scatter, serialization

    serialization.SMALL, mpi._LARGEST = 3000, 1 << 16
    grid = Grid()
    group, rank, size = grid.comm, grid.rank, grid.size

    def message(source, target):
        if (source + target) % 3 == 0:
            return None
        count = (1, 40, 700, 5000, 100_001)[(source + 2 * target) % 5]
        arrays = np.arange(count) + source, np.full((3, count), target, np.int16).T, np.zeros(0)
        return (source, target), arrays, f"{source} to {target}"

    def same(a, b):
        if a is None or b is None:
            return a is b
        return (a[0], a[2]) == (b[0], b[2]) and all(map(np.array_equal, a[1], b[1]))

    for turn in range(8):
        found = group.alltoall([message(rank + turn, target) for target in range(size)])
        assert all(same(found[source], message(source + turn, rank)) for source in range(size))
        found = group.allgather(message(rank, turn))
        assert all(same(found[source], message(source, turn)) for source in range(size))
        assert found[0] is None or found[0][1][0].flags.writeable and found[0][1][0].ctypes.data % 8 == 0
    assert group.bcast("x" * 1000 if rank == size - 1 else None, size - 1) == "x" * 1000
    halves = group.split(rank % 2, -rank)
    assert halves.allgather(rank) == sorted(range(rank % 2, size, 2), reverse=True)
    assert group.allgather(Ellipsis) == [Ellipsis] * size

    second = Grid(shape=(1, size))
    A = sr.random.rmat(6, seed=1)
    for g in (grid, second, grid):
        D = scatter(A, g)
        assert gather(D).isequal(A) and D.nvals == A.nvals
        assert gather(sr.algorithms.bfs_levels(D, 0)).isequal(sr.algorithms.bfs_levels(A, 0))
    if rank == 0:
        print("as expected on", size)
"""


@pytest.mark.parametrize(
    "count", [2, *(pytest.param(n, marks=pytest.mark.exhaustive) for n in (1, 3, 4))], ids=lambda n: f"{n}"
)
def test_messages_of_every_size_and_results(count: int, tmp_path: Path) -> None:
    ran = launch(tmp_path, count, COLLECTIVES)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, f"as expected on {count}\n", "")


def test_grids_of_communicators_of_mpi4py(tmp_path: Path) -> None:
    program = """
        from mpi4py import MPI
        import semiring as sr
        world = MPI.COMM_WORLD
        half = world.Split(world.rank % 2, -world.rank)
        grid = sr.distributed.Grid(half)
        again = sr.distributed.Grid(half.Dup())
        whole = sr.distributed.Grid(shape=(4, 1))
        assert again.device is grid.device and again.comm is grid.comm and again.rank == grid.rank
        assert sr.distributed.Grid(world, shape=(4, 1)).device is whole.device
        assert sr.distributed.Grid(world.Split(0, -world.rank), shape=(4, 1)).device != whole.device
        A = sr.random.rmat(6, seed=world.rank % 2, device=grid.device)
        B = sr.random.rmat(6, seed=world.rank % 2)
        assert grid.size == 2 and grid.rank == half.rank and not grid.comm.between_hosts
        assert sr.distributed.gather(A).isequal(B)
        try:
            sr.distributed.Grid("world")
        except sr.exceptions.InvalidType as error:
            assert "got str" in str(error)
        if world.rank == 0:
            print("as expected")
    """
    ran = launch(tmp_path, 4, program)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "as expected\n", "")


START = """
import os, signal, sys, threading, time
import semiring as sr
from semiring.distributed import Grid
grid = Grid()
group, rank = grid.comm, grid.rank
"""

# What one process does, while the others wait for it; the exit status; what standard error must contain.
FAULTS = {
    "raises": ("raise ValueError('no such thing')", 1, ["rank 1 of 2 failed:", "ValueError: no such thing", "line 8"]),
    "exits": ("sys.exit(3)", 3, ["rank 1 of 2 has ended with exit status 3"]),
    "exits with a message": ("sys.exit('enough')", 1, ["rank 1 of 2 has ended with exit status 1: enough"]),
    "ends": (
        "sys.exit(0)",
        1,
        ["rank 0 called Grid.all_reduce_sum (sum", "program.py:9; rank 1 has ended its program"],
    ),
    "is killed": ("os.kill(os.getpid(), signal.SIGKILL)", 137, ["rank 1"]),
    "is interrupted": ("os.kill(os.getpid(), signal.SIGINT)", 130, ["rank 1 of 2 failed:", "KeyboardInterrupt"]),
    "lacks memory": ("sr.Vector.full(1.0, 2**50).to_dense()", 1, ["rank 1 of 2 failed:", "OutOfMemory: "]),
    "fails in a thread": (
        "threading.Thread(target=lambda: 1 // 0).start(); time.sleep(60)",
        1,
        ["rank 1 of 2 failed:", "ZeroDivisionError"],
    ),
    "calls another": (
        "grid.all_reduce_and(True)",
        1,
        ["rank 0 called Grid.all_reduce_sum", "rank 1 called Grid.all_reduce_and"],
    ),
    "is late": (
        "time.sleep(60)",
        1,
        [
            "rank 0 of 2 has waited 2 s in Grid.all_reduce_sum",
            "program.py:9 for rank 1; that rank 1 made no progress for 2 s (the setting collective_timeout)",
        ],
    ),
    "waits in a part of the grid": (
        "(grid.row_comm if grid.shape[1] > 1 else grid.col_comm).barrier()",
        1,
        ["has waited 2 s in", "for rank"],
    ),
}
SHORT = ("raises", "calls another")
LATE = ("is late", "waits in a part of the grid")


@pytest.mark.parametrize(
    "what", [pytest.param(name, marks=() if name in SHORT else pytest.mark.exhaustive) for name in FAULTS]
)
def test_one_process_that_fails_ends_all(what: str, tmp_path: Path) -> None:
    does, status, words = FAULTS[what]
    limit = f"sr.config.collective_timeout = {2 if what in LATE else 200}"
    ran = launch(tmp_path, 2, f"{START}{limit}\nif rank == 1: {does}\ngrid.all_reduce_sum(1)\n")
    assert ran.returncode == status, ran.stderr
    missing = [word for word in words if word not in ran.stderr]
    assert not missing, ran.stderr
    assert ran.stdout == ""


# Stands for ssh: it notes the host, and runs the command here.
AGENT = """#!/bin/sh
while [ "${1#-}" != "$1" ]; do case "$1" in -o) shift 2 ;; *) shift ;; esac; done
echo "$1" >> "$(dirname "$0")/hosts"
shift
exec sh -c "$*"
"""


@pytest.mark.exhaustive
@pytest.mark.skipif(os.name == "nt", reason="runs a shell")
def test_the_hosts_of_the_operator_of_kubernetes(tmp_path: Path) -> None:
    """Two hosts that do not exist, each with two processes."""
    agent, hostfile = tmp_path / "agent", tmp_path / "hostfile"
    agent.write_text(AGENT, encoding="utf-8")
    agent.chmod(0o755)
    hostfile.write_text("worker-0.semiring slots=2\nworker-1.semiring slots=2\n", encoding="utf-8")
    ran = launch(
        tmp_path,
        4,
        f"{START}print(grid.all_reduce_sum(1), flush=True)",
        OMPI_MCA_orte_default_hostfile=str(hostfile),
        OMPI_MCA_orte_keep_fqdn_hostnames="true",
        OMPI_MCA_plm_rsh_args="-o ConnectionAttempts=10",
        PRTE_MCA_plm_ssh_agent=str(agent),
    )
    assert (ran.returncode, ran.stdout) == (0, "4\n" * 4), ran.stderr
    assert (tmp_path / "hosts").read_text().split() == ["worker-0.semiring", "worker-1.semiring"]


@pytest.mark.costly
def test_only_those_that_are_missing_are_named(tmp_path: Path) -> None:
    """The others wait in the same collective, and reply to notices."""
    late = "if rank == 1: time.sleep(60)"
    ran = launch(tmp_path, 3, f"{START}sr.config.collective_timeout = 2\n{late}\ngrid.all_reduce_sum(1)\n")
    assert ran.returncode == 1
    assert "has waited 2 s in Grid.all_reduce_sum (sum" in ran.stderr
    assert "program.py:9 for rank 1;" in ran.stderr, ran.stderr


@pytest.mark.exhaustive
def test_an_error_on_all_is_reported_by_the_first(tmp_path: Path) -> None:
    ran = launch(tmp_path, 2, f"{START}grid.all_reduce_sum(1)\nraise ValueError('everywhere')\n")
    assert ran.returncode == 1
    assert "rank 0 of 2 failed" in ran.stderr
    assert "everywhere" in ran.stderr


@pytest.mark.exhaustive
def test_a_process_that_waits_handles_signals(tmp_path: Path) -> None:
    program = f"""{START}
if rank == 0:
    signal.signal(signal.SIGALRM, lambda *_: sys.exit(7))
    signal.alarm(1)
else:
    time.sleep(60)
group.barrier()
"""
    ran = launch(tmp_path, 2, program)
    assert ran.returncode == 7, ran.stderr


@pytest.mark.exhaustive
def test_an_interrupt_of_the_command_ends_all(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(START + "print('started', os.getpid(), flush=True)\ntime.sleep(100)\n", encoding="utf-8")
    words = [sys.executable, "-m", "semiring.cli", "launch", "-n", "2", str(path)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        processes = [int(running.stdout.readline().split()[1]) for _ in range(2)]
        running.send_signal(signal.SIGINT)
        assert running.wait(60) == 130
    latest = time.monotonic() + 20
    while left := [process for process in processes if exists(process)]:
        assert time.monotonic() < latest, f"{left} have not ended"
        time.sleep(0.1)


def exists(process: int) -> bool:
    """Whether a process runs, or has ended and is still listed until its parent reads its status."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True
