"""The path of a call from the facade to the engine: how many Python functions it calls, which small calls pay for."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import semiring as sr
from semiring import Matrix, Vector, algorithms
from semiring.engines import registry

PACKAGE = str(Path(sr.__file__).parent)
# Masks, products, writes and results as well as the engine; and a search before its engine.
MOST_OF_A_PRODUCT = 60
MOST_BEFORE_A_SEARCH = 40


def functions_called(call: Callable[[], Any], *, until: str = "") -> list[str]:
    """Return the functions of the package (and generated ones) that a call enters, up to the one named `until`."""
    found: list[str] = []

    def entered(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and (code.co_filename.startswith(PACKAGE) or code.co_filename.startswith("<string>")):
            found.append(f"{Path(code.co_filename).name}:{code.co_qualname}")

    for _ in range(3):
        call()
    sys.setprofile(entered)
    try:
        call()
    finally:
        sys.setprofile(None)
    return found[: found.index(until)] if until else found


@pytest.fixture
def A() -> Iterator[Matrix]:
    with sr.use("cpu"):
        yield sr.random.kronecker(6, 8, seed=1).dup(float)


def test_a_masked_product_with_an_accumulator(A: Matrix) -> None:
    u, w = Vector.full(1.0, A.ncols), Vector.full(0.0, A.nrows)
    m = Vector.from_coo([1, 2, 3], True, size=A.nrows)
    called = functions_called(lambda: w(m.S, accum="plus") << A.mxv(u, "plus_times"))
    assert len(called) <= MOST_OF_A_PRODUCT, "\n".join(called)
    assert w.get(1) == 4 * sum(A[1, :].to_coo()[1])


def test_a_search_before_its_engine(A: Matrix) -> None:
    until = f"{Path(registry.__file__).name}:{registry.call.__qualname__}"
    called = functions_called(lambda: algorithms.bfs_levels(A, 0), until=until)
    assert len(called) <= MOST_BEFORE_A_SEARCH, "\n".join(called)
