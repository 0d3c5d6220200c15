"""Every function of `semiring.algorithms` on grids of processes: the result of one process, or the same error."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pytest

from semiring import Matrix, Vector, algorithms, distributed, ops, random, use
from semiring.distributed import Grid
from semiring.distributed.operations import versions
from tests import sampling
from tests.algorithms.calls import FUNCTIONS, Call, calls, differences, outcome
from tests.algorithms.inputs import STRUCTURES, matrix
from tests.distributed.grids import ranks_are_threads, run

__all__ = ["ranks_are_threads"]

SHAPES = ((2, 1), (2, 2))
INPUTS = (("undirected-loops", "shares"), ("directed", "int64"), ("acyclic", "float32"), ("no-edges", "true"))
# Functions that need an operation which grids do not have, and its name.
LACKING: dict[str, str] = {}
SAMPLE = sampling.draw("algorithms on grids", FUNCTIONS, 2)


@pytest.fixture(autouse=True)
def on_the_specification(engine: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Compute the parts with the reference engine, for which nothing is compiled; or on a GPU.  None is whole."""
    monkeypatch.setattr(versions, "_SMALL", -1)
    with use("reference" if engine == "cpu" else engine):
        yield


def on_grid(call: Call, A: Matrix, grid: Grid) -> Any:
    """The outcome of a call whose matrices and vectors are on a grid."""
    B = distributed.scatter(A, grid)

    def moved(value: Any) -> Any:
        given = value(A) if callable(value) else value
        if given is A:
            return B
        return distributed.scatter(given, grid) if isinstance(given, (Matrix, Vector)) else given

    # As functions, because vectors are callable, and a call applies what is.
    arguments = {name: partial(lambda value, _: value, moved(value)) for name, value in call.given.items()}
    return outcome(Call(call.name, arguments), B)


def compared(name: str, shape: tuple[int, int], inputs: Any) -> list[str]:
    """How the calls of a function differ on a grid from those on one process."""
    wrong = []
    for structure, values in inputs:
        A = matrix(structure, values)
        for call in calls(name):
            expected = outcome(call, A)
            ranks = run(shape, partial(on_grid, call, A))
            for rank, found in enumerate(ranks):
                if different := differences(call, found, expected):
                    wrong.append(f"{call} of {structure}, {values}, rank {rank}: {different}")
    return wrong


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: "x".join(map(str, shape)))
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=sampling.marks(name, SAMPLE, pytest.mark.wide)) for name in FUNCTIONS]
)
def test_the_result_of_one_process(name: str, shape: tuple[int, int]) -> None:
    inputs = INPUTS if sampling.exhaustive else sampling.draw(f"grids {name}", INPUTS, 1)
    if name in LACKING:
        pytest.skip(f"needs {LACKING[name]}")
    found = compared(name, shape, inputs)
    assert not found, "\n".join(found)


WHOLE = ("ensemble_clustering", "label_propagation", "leiden", "louvain", "markov_clustering")


WHOLE_SAMPLE = sampling.draw("whole graphs on grids", WHOLE, 1)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=sampling.marks(name, WHOLE_SAMPLE, pytest.mark.wide)) for name in WHOLE]
)
def test_small_graphs_take_few_collectives(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every process computes the whole, and has its part of the result."""
    monkeypatch.setattr(versions, "_SMALL", 1 << 20)
    A = random.grid2d(4, 6)
    (call, *_) = calls(name)
    expected = outcome(call, A)

    def program(grid: Grid) -> tuple[Any, int]:
        before = grid.traffic.collectives
        return on_grid(call, A, grid), grid.traffic.collectives - before

    for found, collectives in run((2, 1), program):
        assert not differences(call, found, expected)
        assert collectives < 50

    def device(grid: Grid) -> bool:
        found: Any = getattr(algorithms, name)(A.to(grid.device))
        return (found if isinstance(found, Vector) else found.labels).device == grid.device

    assert run((2, 1), device) == [True, True]


class Found(NamedTuple):
    """A result with parts of every kind."""

    degrees: Vector
    graph: Matrix
    mean: Any
    count: int


@pytest.mark.parametrize("most", [1 << 20, 10], ids=["whole", "in parts"])
def test_results_of_whole_graphs_are_on_the_grid(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(versions, "_SMALL", most)
    devices: list[str] = []

    @ops.small_as_whole
    def found(A: Matrix) -> Found:
        devices.append(A.device)
        degrees = A.reduce_rowwise("plus").new()
        return Found(degrees, A.T.new(), np.float64(1.5), A.nrows)

    def program(grid: Grid) -> Any:
        made = found(random.path(9, device=grid.device))
        assert type(made) is Found
        assert {made.degrees.device, made.graph.device} == {grid.device}
        return made.degrees.to("cpu").to_numpy().tolist(), made.graph.nvals, made.mean, made.count

    assert run((2, 1), program) == [([1, 2, 2, 2, 2, 2, 2, 2, 1], 16, 1.5, 9)] * 2
    assert all((device == "cpu") == (most > 10) for device in devices)


def test_the_inputs_exist() -> None:
    assert {structure for structure, _ in INPUTS} <= STRUCTURES.keys()
