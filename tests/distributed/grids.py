"""What the tests of files and graphs on grids share: shapes of grids, and programs on their ranks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from semiring import Matrix, Vector, distributed, use
from semiring.config import default_device
from semiring.distributed import Grid
from tests import sampling

SHAPES = ((1, 1), (2, 1), (1, 2), (3, 1), (2, 2), (3, 2), (2, 3))
SAMPLE = sampling.draw("grids of files", SHAPES[2:], 1)
by_shape = pytest.mark.parametrize(
    "shape",
    [
        pytest.param(shape, id="x".join(map(str, shape)), marks=sampling.marks(shape, [(2, 1), *SAMPLE]))
        for shape in SHAPES
    ],
)


@pytest.fixture(autouse=True)
def ranks_are_threads(engine: str) -> None:
    """On a GPU the ranks share it."""
    if engine not in ("cpu", "cuda"):
        pytest.skip("ranks are threads on the CPU or one GPU")


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def local() -> str:
    """The device of the parts: that of the engine under test."""
    return default_device()


def run(shape: tuple[int, int], program: Callable[[Grid], Any]) -> list[Any]:
    return distributed.run(shape[0] * shape[1], program, shape=shape, device=local())


def same(A: Matrix | Vector, B: Matrix | Vector) -> bool:
    """Whether an object on a grid has the shape, type and entries of another one."""
    return distributed.gather(A).isequal(B, check_dtype=True)  # type: ignore[arg-type]


@pytest.fixture(
    autouse=True, params=["reference", pytest.param("cpu", marks=pytest.mark.exhaustive)], ids=lambda name: name
)
def parts_on(request: pytest.FixtureRequest, engine: str) -> Any:
    """The engine of the parts; nothing is compiled for the specification."""
    chosen = request.param if engine == "cpu" else engine
    with use(chosen):
        yield chosen
