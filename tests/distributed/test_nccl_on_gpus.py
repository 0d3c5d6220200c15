"""Processes whose parts are on GPUs send them by NCCL: one GPU each, or one for all where NCCL allows that."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from semiring.config import cuda_available
from tests.distributed.launches import launch

pytest.importorskip("mpi4py")

PROGRAM = """
    import numpy as np
    import semiring as sr
    from semiring import distributed as dist
    from semiring.distributed.nccl import NcclCommunicator

    grid = dist.Grid(shape={shape})
    assert isinstance(grid.all, NcclCommunicator), grid.all
    assert grid.local == "cuda"
    A = sr.random.rmat(10, seed=3, weights="uniform")
    G = sr.random.rmat(10, seed=3)
    D, H = dist.scatter(A, grid), dist.scatter(G, grid)
    al = sr.algorithms

    def same(found, expected):
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
        dependencies=lambda A, G: al.betweenness(G, sources=[0, 1, 2]),
        square=lambda A, G: A.mxm(A, "plus_times").new(),
        transposed=lambda A, G: A.T.new(),
        rows=lambda A, G: A[[7, 3, 999], :].new(),
        sums=lambda A, G: A.reduce_columnwise("plus").new(),
        permuted=lambda A, G: A.permute(np.arange(A.nrows)[::-1].copy()),
    )
    wrong = [name for name, run in programs.items() if not same(run(D, H), run(A, G))]
    assert not wrong, wrong
    assert D.reduce_scalar("max").value == A.reduce_scalar("max").value
    if grid.rank == 0:
        print("right:", len(programs), "on", grid.device)
"""


@pytest.fixture(autouse=True)
def connected(engine: str) -> None:
    if engine != "cuda" or not cuda_available():
        pytest.skip("arrays on GPUs")
    import cupy

    version = getattr(pytest.importorskip("cupy.cuda.nccl"), "get_version", int)()
    shared = version >= 23000 and os.environ.get("NCCL_MULTI_RANK_GPU_ENABLE") == "1"
    if not version or not (shared or cupy.cuda.runtime.getDeviceCount() > 1):
        pytest.skip("NCCL, and two GPUs or a version that shares one")


@pytest.mark.parametrize("shape", [(2, 1), (1, 2), (2, 2)], ids=lambda shape: f"{shape[0]}x{shape[1]}")
def test_the_results_of_one_process(tmp_path: Path, shape: tuple[int, int]) -> None:
    count = shape[0] * shape[1]
    if count > 2 and os.environ.get("NCCL_MULTI_RANK_GPU_ENABLE") != "1":
        pytest.skip("a GPU for each of four processes, or one that they share")
    ended = launch(tmp_path, count, PROGRAM.format(shape=shape), SEMIRING_DEVICE="cuda")
    assert ended.returncode == 0, ended.stderr
    assert "right: 13 on" in ended.stdout
