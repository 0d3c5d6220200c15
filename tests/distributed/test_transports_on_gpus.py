"""Processes whose parts are on GPUs: arrays from the memory of the others, and by NCCL where it connects them.

One GPU each, or one for all: copies from memory need nothing else for that, NCCL 2.30 a variable (`nccl`).
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from semiring.config import cuda_available
from tests.distributed.launches import launch

pytest.importorskip("mpi4py")
ROOT = Path(__file__).resolve().parents[2]

GRID = """
    import cupy
    import numpy as np
    import semiring as sr
    from semiring import distributed as dist
    from semiring.distributed import ipc_buffers
    from semiring.distributed.mpi import world
    from semiring.distributed.nccl import NcclCommunicator
    from semiring.distributed.peer import PeerCommunicator
    from semiring.memory.arrays import to_device, to_host
    from tests.distributed.messages import same, turns

    def grid_of(shape, transport):
        if transport == "nccl":
            return dist.Grid(NcclCommunicator(world()), shape=shape)
        grid = dist.Grid(shape=shape)
        assert isinstance(grid.comm, PeerCommunicator), grid.comm
        return grid
"""

RESULTS = (
    GRID
    + """
    grid = grid_of({shape}, "{transport}")
    assert grid.local == "cuda"
    A = sr.random.rmat(10, seed=3, weights="uniform")
    G = sr.random.rmat(10, seed=3)
    D, H = dist.scatter(A, grid), dist.scatter(G, grid)
    al = sr.algorithms

    def equal(found, expected):
        found = dist.gather(found)
        assert found.device == "cuda"
        return found.isclose(expected, rel_tol=1e-5) if found.dtype.kind == "f" else found.isequal(expected)

    programs = dict(
        levels=lambda A, G: al.bfs_levels(G, 0),
        sources=lambda A, G: al.bfs_levels(G, [0, 5, 9]),
        parents=lambda A, G: al.bfs_levels(G.T, 1),
        distances=lambda A, G: al.sssp(A, 0),
        ranks=lambda A, G: al.pagerank(G),
        components=lambda A, G: al.connected_components(G),
        triangles=lambda A, G: al.triangles(G.ewise_add(G.T, "any").new()),
        dependencies=lambda A, G: al.betweenness_centrality(G, sources=[0, 1, 2]),
        square=lambda A, G: A.mxm(A, "plus_times").new(),
        transposed=lambda A, G: A.T.new(),
        rows=lambda A, G: A[[7, 3, 999], :].new(),
        sums=lambda A, G: A.reduce_columnwise("plus").new(),
        permuted=lambda A, G: A.permute(np.arange(A.nrows)[::-1].copy()),
    )
    wrong = [name for name, run in programs.items() if not equal(run(D, H), run(A, G))]
    assert not wrong, wrong
    assert D.reduce_scalar("max").value == A.reduce_scalar("max").value
    if grid.rank == 0:
        print("right:", len(programs), "on", grid.device)
"""
)

# Kernels delay the streams of some processes, so that copies wait for events.
MESSAGES = (
    GRID
    + """
    ipc_buffers._MOST = {most}
    grid = grid_of({shape}, "{transport}")
    group, kept, busy = grid.comm, [], cupy.ones(1 << 23)

    def delayed(number):
        if (grid.rank + number) % 3 == 0:
            for _ in range(100):
                cupy.sin(busy, out=busy)

    for start in range(0, 200, 4):
        delayed(start)
        for each, numbers in ((group, range(start, start + 4)), (grid.row_comm, range(start, start + 2))):
            kept += turns(each, cupy, numbers, 100_000)
        kept += turns(grid.col_comm, cupy, range(start, start + 3), 1000)
        if len(kept) > 300:
            assert all(same(cupy, *pair) for pair in kept), "bytes differ"
            kept.clear()

    def failing():
        if grid.rank == 1:
            raise sr.exceptions.InvalidValue("of one process")
        group.alltoall([cupy.ones(1000)] * grid.size)

    for start in range(200, 230, 3):
        try:
            grid.collective_call(failing)
        except sr.exceptions.InvalidValue as error:
            assert "of one process" in str(error)
        else:
            raise AssertionError("no error")
        kept += turns(group, cupy, range(start, start + 3), 5000)

    kind = np.dtype([("a", np.int32), ("b", np.float32)])
    found = group.allgather(to_device(np.array([(grid.rank, 0.5)] * 5, kind), "cuda"))
    for rank, each in enumerate(map(to_host, found)):
        assert each.dtype == kind and each.tolist() == [(rank, 0.5)] * 5

    # Arenas grow; or windows follow each other, where a half has at most 1 MiB.
    for number, count in enumerate((1 << 20, 3 << 20, 10, 40 << 20, 10, 300 << 20, 5, 7 << 20)):
        delayed(number)
        def large(rank):
            return cupy.arange((count + rank) // 4, dtype=np.int32) * (rank + 1) + number
        found = group.allgather(large(grid.rank))
        assert all(bool((each == large(rank)).all()) for rank, each in enumerate(found)), count
        found = group.alltoall([large(grid.rank) if (grid.rank + k) % 2 else None for k in range(grid.size)])
        for rank, each in enumerate(found):
            assert (each is None) if (grid.rank + rank) % 2 == 0 else bool((each == large(rank)).all()), count
    del found
    assert all(same(cupy, *pair) for pair in kept), "bytes differ"
    if grid.rank == 0:
        print("right: messages on", grid.device)
"""
)

BUDGET = (
    GRID
    + """
    sr.config.device_memory = "2 GiB"
    grid = grid_of((2, 1), "peer")
    pool = cupy.get_default_memory_pool()
    assert pool.get_limit() == 2 << 30
    values = cupy.arange(5 << 20, dtype=np.int64)
    for _ in range(3):
        found = grid.comm.allgather(values + grid.rank)
        assert bool((found[1 - grid.rank] == values + 1 - grid.rank).all())
    arena = 2 * grid.comm._outgoing.arena.half
    assert arena == 2 * (32 << 20), arena  # a half is at most a 64th of the budget
    assert pool.get_limit() == (2 << 30) - arena
    sr.config.device_memory = None
    assert pool.get_limit() == 0
    if grid.rank == 0:
        print("right: within the budget")
"""
)

DEATH = (
    GRID
    + """
    import os, signal

    grid = grid_of((2, 1), "peer")
    for _ in range(3):
        grid.comm.allgather(cupy.ones(1 << 20))
    if grid.rank == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    found = grid.comm.allgather(cupy.ones(1 << 20))
    print("never")
"""
)


@pytest.fixture(params=["peer", "nccl"])
def transport(request: pytest.FixtureRequest, engine: str) -> str:
    if engine != "cuda" or not cuda_available():
        pytest.skip("arrays on GPUs")
    if request.param == "nccl":
        import cupy

        version = getattr(pytest.importorskip("cupy.cuda.nccl"), "get_version", int)()
        shared = version >= 23000 and os.environ.get("NCCL_MULTI_RANK_GPU_ENABLE") == "1"
        if not version or not (shared or cupy.cuda.runtime.getDeviceCount() > 1):
            pytest.skip("NCCL, and two GPUs or a version that shares one")
    return str(request.param)


def run(folder: Path, count: int, program: str, **values: object) -> str:
    """Run a program as processes with their parts on GPUs; return what it printed."""
    if values.get("transport") == "nccl" and count > 2 and os.environ.get("NCCL_MULTI_RANK_GPU_ENABLE") != "1":
        pytest.skip("a GPU for each of four processes, or one that they share")
    for name, value in values.items():
        program = program.replace(f"{{{name}}}", str(value))
    ended = launch(folder, count, program, SEMIRING_DEVICE="cuda", PYTHONPATH=str(ROOT))
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.mark.parametrize("shape", [(2, 1), (1, 2), (2, 2)], ids=lambda shape: f"{shape[0]}x{shape[1]}")
def test_the_results_of_one_process(tmp_path: Path, shape: tuple[int, int], transport: str) -> None:
    assert "right: 13 on" in run(tmp_path, shape[0] * shape[1], RESULTS, shape=shape, transport=transport)


@pytest.mark.parametrize("most", [1 << 20, 1 << 27], ids=["windows", "growth"])
@pytest.mark.parametrize("shape", [(2, 1), (2, 2)], ids=lambda shape: f"{shape[0]}x{shape[1]}")
def test_all_bytes_arrive(tmp_path: Path, shape: tuple[int, int], most: int, transport: str) -> None:
    if transport == "nccl" and most < 1 << 27:
        pytest.skip("NCCL has no arena")
    printed = run(tmp_path, shape[0] * shape[1], MESSAGES, shape=shape, most=most, transport=transport)
    assert "right: messages" in printed


@pytest.mark.parametrize("transport", ["peer"], indirect=True)
def test_arenas_count_against_the_budget(tmp_path: Path, transport: str) -> None:
    assert "right: within the budget" in run(tmp_path, 2, BUDGET)


@pytest.mark.parametrize("transport", ["peer"], indirect=True)
def test_the_death_of_a_process_ends_all(tmp_path: Path, transport: str) -> None:
    begin = time.monotonic()
    ended = launch(tmp_path, 2, DEATH, SEMIRING_DEVICE="cuda", PYTHONPATH=str(ROOT))
    assert ended.returncode, ended.stderr
    assert "never" not in ended.stdout
    assert time.monotonic() - begin < 60
