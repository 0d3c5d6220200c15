"""Compiled functions on grids of processes: the results of one process; their loops run step by step, and say so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring import Matrix, Vector, distributed, use
from semiring.distributed import Grid
from semiring.exceptions import NotSupported
from tests.distributed.grids import ranks_are_threads, run, same

__all__ = ["ranks_are_threads"]

SHAPES = ((1, 1), (2, 1), (2, 2))


@pytest.fixture(autouse=True)
def on_the_specification(engine: str) -> Any:
    """Compute the parts with the reference engine, for which nothing is compiled; or on a GPU."""
    with use("reference" if engine == "cpu" else engine):
        yield


def levels(A: Matrix) -> Vector:
    level = Vector(np.int32, A.nrows, device=A.device)
    frontier = Vector.from_coo([0], True, size=A.nrows, device=A.device)
    depth = 0
    while frontier.nvals:
        level(frontier.S) << depth
        frontier(~level.S, replace=True) << frontier.vxm(A, "any_pair")
        depth += 1
    return level


def distances(A: Matrix) -> Vector:
    length = Vector.from_coo([0], 0, size=A.nrows, dtype=A.dtype, device=A.device)
    for _ in range(A.nrows):
        before = length.dup()
        length(accum="min") << length.vxm(A, "min_plus")
        if length.isequal(before):
            break
    return length


def sizes(A: Matrix) -> tuple[int, int]:
    """Two numbers that change: of vertices reached, and of steps, by a loop of two functions."""
    seen = Vector.from_coo([0], True, size=A.nrows, device=A.device)

    def step(frontier: Vector, steps: int) -> tuple[Vector, int]:
        new = frontier.vxm(A, "any_pair").dup(bool, mask=~seen.S)
        seen(new.S) << True
        return new, steps + 1

    _, steps = sr.while_loop(lambda frontier, steps: frontier.nvals, step, (seen.dup(), 0))
    return seen.nvals, steps


PROGRAMS: list[Callable[[Matrix], Any]] = [levels, distances, sizes]


def graph() -> Matrix:
    rng = np.random.default_rng(3)
    rows, cols = rng.integers(0, 40, 90), rng.integers(0, 40, 90)
    return Matrix.from_coo(rows, cols, rng.integers(1, 9, 90), nrows=40, ncols=40, dup_op="min")


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: "x".join(map(str, shape)))
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_the_result_of_one_process(program: Callable[[Matrix], Any], shape: tuple[int, int]) -> None:
    A = graph()
    expected = program(A)
    compiled = sr.compile(program)

    def ranks(grid: Grid) -> bool:
        found = compiled(distributed.scatter(A, grid))
        return same(found, expected) if isinstance(expected, Vector) else found == expected

    assert run(shape, ranks) == [True] * (shape[0] * shape[1])


def test_a_plan_says_that_loops_run_step_by_step() -> None:
    A = graph()

    def ranks(grid: Grid) -> tuple[str, bool]:
        B = distributed.scatter(A, grid)
        plan = sr.compile(levels).plan(B)
        with pytest.raises(NotSupported, match="one process"):
            sr.compile(strict=True)(levels)(B)
        return plan.loops[0].reason, plan.loops[0].compiled

    for reason, compiled in run((2, 1), ranks):
        assert "one process" in reason
        assert not compiled
