"""A long iteration that is interrupted goes on from its last checkpoint, bit for bit, on any number of processes."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring import Vector, distributed
from semiring.distributed import Checkpoint, Grid
from semiring.exceptions import InvalidFormat, InvalidType, InvalidValue
from tests.distributed.grids import in_folder, ranks_are_threads, run

__all__ = ["in_folder", "ranks_are_threads"]

N, STEPS = 64, 17


class Interrupted(Exception):
    """Stands for a process that is killed."""


def pagerank(grid: Grid, interrupt_at: int | None = None) -> Vector:
    """PageRank by hand, saved after every fifth step."""
    A = sr.random.kronecker(6, 4, device=grid.device, seed=1)
    degrees = A.apply("one").dup(float).reduce_rowwise("plus")
    start = Vector.full(0.15 / N, N, device=grid.device)
    file = Checkpoint("pagerank", grid)
    saved = file.load()
    step, r = (0, start) if saved is None else (saved.step, saved.state["r"])
    while step < STEPS:
        if step == interrupt_at:
            raise Interrupted
        r = (start + 0.85 * A.T.mxv(r / degrees, "plus_second")).new()
        step += 1
        if step % 5 == 0:
            file.save(step, r=r, change=1 / step)
    return distributed.gather(r)


@pytest.mark.costly
@pytest.mark.parametrize("shape", [(1, 1), (2, 1), (2, 2)], ids=str)
def test_resumed_iterations_give_the_same_bits(shape: tuple[int, int]) -> None:
    whole = run(shape, pagerank)[0]
    for name in os.listdir("pagerank"):
        os.unlink(f"pagerank/{name}")
    with pytest.raises(Interrupted):
        run(shape, lambda grid: pagerank(grid, interrupt_at=12))
    assert json.loads(Path("pagerank/index.json").read_text())["step"] == 10
    resumed = run(shape, pagerank)[0]
    assert (resumed.to_dense() == whole.to_dense()).all()


def test_another_number_of_processes_resumes() -> None:
    whole = run((1, 1), pagerank)[0]
    os.unlink("pagerank/index.json")
    with pytest.raises(Interrupted):
        run((3, 1), lambda grid: pagerank(grid, interrupt_at=12))
    for shape in ((2, 2), (1, 1)):
        assert run(shape, pagerank)[0].isclose(whole, rel_tol=1e-14)


def test_an_interrupted_save_leaves_the_old_state(monkeypatch: pytest.MonkeyPatch) -> None:
    from semiring.distributed import part_files

    write, calls = part_files.write_srb, [0]

    def failing(path: Any, A: Any) -> None:
        calls[0] += 1
        if calls[0] == 2:
            raise OSError(28, "No space left on device", str(path))
        write(path, A)

    def program(grid: Grid) -> Any:
        file = Checkpoint("state", grid)
        file.save(1, v=Vector.full(1.5, 5, device=grid.device), name="first")
        files = sorted(os.listdir("state"))
        grid.comm.barrier()
        monkeypatch.setattr(part_files, "write_srb", failing)
        with pytest.raises(OSError, match="No space"):
            file.save(2, v=Vector.full(2.5, 5, device=grid.device))
        grid.comm.barrier()
        monkeypatch.setattr(part_files, "write_srb", write)
        saved = file.load()
        assert saved is not None
        assert sorted(os.listdir("state")) == files
        return saved.step, saved.state["v"].to_dict(), saved.state["name"]

    assert run((3, 1), program) == [(1, dict.fromkeys(range(5), 1.5), "first")] * 3


def test_numbers_are_exact_and_files_do_not_pile_up() -> None:
    def program(grid: Grid) -> Any:
        file = Checkpoint("state", grid)
        assert file.load() is None
        for step in range(3):
            A = sr.random.path(7, device=grid.device).compress("varint")
            file.save(step, A=A, x=0.1 + step, y=np.float32(0.1), z=None, t=True, big=2**70, inf=float("inf"))
        saved = file.load()
        assert saved is not None
        state = saved.state
        assert distributed.gather(state.pop("A")).isequal(sr.random.path(7))
        grid.comm.barrier()
        return saved.step, state, len(os.listdir("state"))

    numbers = {"x": 2.1, "y": float(np.float32(0.1)), "z": None, "t": True, "big": 2**70, "inf": float("inf")}
    assert run((2, 1), program) == [(2, numbers, 3)] * 2


def test_wrong_states_and_folders() -> None:
    os.makedirs("other/thing")

    def program(grid: Grid) -> None:
        v = Vector.full(1.0, 3, device=grid.device)
        file = Checkpoint("state", grid)
        with pytest.raises(InvalidType, match="v="):
            file.save(1, v=Vector.full(1.0, 3, device="cpu"))
        with pytest.raises(InvalidType, match="x="):
            file.save(1, x=[1, 2])
        for step in (-1, True, 1.5):
            with pytest.raises(InvalidValue, match="step"):
                file.save(step, v=v)  # type: ignore[arg-type]
        with pytest.raises(InvalidValue, match="thing"):
            Checkpoint("other", grid).save(1, v=v)
        file.save(1, v=v)
        for content in (
            "{",
            "[]",
            '{"semiring": 1}',
            '{"semiring": 1, "step": 1, "numbers": {}, "objects": {"v": {}}}',
        ):
            grid.comm.barrier()
            if grid.rank == 0:
                with open("state/index.json", "w") as stream:
                    stream.write(content)
            grid.comm.barrier()
            with pytest.raises(InvalidFormat, match=r"index\.json"):
                file.load()

    run((2, 1), program)
