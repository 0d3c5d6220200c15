"""Programs as users write them are compiled, and have the results of the specification."""

from __future__ import annotations

import math
from typing import Any

import pytest

import semiring as sr
from semiring import Vector
from semiring.engines.cpu import program
from tests import sampling
from tests.loops import interpreted
from tests.loops.test_programs import same
from tests.loops.user_forests import FORESTS
from tests.loops.user_idioms import IDIOMS
from tests.loops.user_programs import USER_PROGRAMS, S, bipartite, msbfs

SCALE = 2.0


def _norm(v: Vector) -> float:
    """The length of a vector."""
    return math.sqrt(v.ewise_mult(v).reduce("plus").get(0.0))


def _scaled(v: Vector, by: float | None = None) -> Vector:
    if by is not None:  # noqa: SIM108
        w = v * by
    else:
        w = v * SCALE
    return w


def _limited(v: Vector, most: float) -> Vector:
    if v.nvals == 0:
        return v * 1.0
    if v.reduce("max").get(0) > most:
        w = v.dup()
        w(v.select(">", most).S) << most
        return w
    return v + 0.5


def _sign(x: float) -> int:
    if x < 0:
        return -1
    if x > 0:
        return 1
    return 0


def _mark(level: Vector, at: Vector, depth: int) -> None:
    level(at.S) << depth


# Of these a loop of Python runs step by step, and the loops after it or in it are compiled.
_IN_PART = (bipartite, msbfs)


@pytest.fixture(autouse=True)
def _interpreted(monkeypatch: pytest.MonkeyPatch, device: str) -> None:
    """Run kernels of the CPU engine as Python: each would be compiled."""
    if device == "cuda":
        pytest.skip("the kernels of the CPU engine")
    monkeypatch.setattr(program, "_kernel", interpreted.kernel)


PROGRAMS = {function.__name__: (function, arguments) for function, arguments in (*USER_PROGRAMS, *IDIOMS, *FORESTS)}
SAMPLE = sampling.draw("programs of users", PROGRAMS, 16)


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        pytest.param(*case, marks=sampling.marks(name, SAMPLE, pytest.mark.wide), id=name)
        for name, case in PROGRAMS.items()
    ],
)
def test_user_programs(function: Any, arguments: tuple[Any, ...]) -> None:
    with sr.use("reference"):
        expected = function(*arguments)
    compiled = sr.compile(strict=function not in _IN_PART)(function)
    found = compiled(*arguments)
    assert (expected is None and found is None) or same(expected, found)
    loops = compiled.plan(*arguments).loops
    assert any(loop.compiled for loop in loops)
    assert function in _IN_PART or all(loop.compiled for loop in loops)


def test_a_loop_of_python_around_others() -> None:
    printed: list[int] = []

    @sr.compile
    def searches(sources: list[int]) -> Vector:
        found = Vector(int, S.nrows)
        for s in sources:
            frontier = Vector.from_coo([s], True, size=S.nrows)
            level = Vector(int, S.nrows)
            d = 0
            while frontier.nvals:
                level(frontier.S) << d
                frontier(~level.S, replace=True) << frontier.vxm(S, "any_pair")
                d += 1
            found[s] = d
            printed.append(d)
        return found

    plan = searches.plan([0, 3, 3])
    assert [loop.compiled for loop in plan.loops] == [True] * 3
    assert searches([0, 3]).isequal(searches.__wrapped__([0, 3]))
    assert len(printed) == 7


def test_types_that_a_loop_does_not_settle_are_named() -> None:
    @sr.compile
    def alternating(v: Vector) -> Vector:
        k = 0
        while k < 4:
            v = v.apply("one").dup(bool) if k % 2 == 3 else v * 0.5
            k += 1
        return v

    @sr.compile
    def halved(v: Vector) -> Vector:
        for _ in range(3):
            v = v * 0.5
        return v

    assert halved(Vector.full(8, 2)).to_dict() == {0: 1.0, 1: 1.0}
    reason = halved.plan(Vector.full(8, 2)).loops[0].reason
    assert "v has no single type in the loop: a Vector of int64 and size 2 or a Vector of float64 and size 2" in reason


def test_functions_without_the_decorator() -> None:
    @sr.compile(strict=True)
    def program(v: Vector, times: int) -> tuple[Vector, Vector, int]:
        level, total = Vector(int, v.size), 0
        for k in range(times):
            v = _scaled(_scaled(v) / _norm(v), 3.0)
            _mark(level, v.select(">", 1.0), k)
            v = _limited(v, 4.0)
            total += _sign(v.get(0, 0) - 1.0) + k
        return v, level, total

    global SCALE
    start = Vector.from_dense([1.0, 2.0])
    for scale in (2.0, 3.0, 2.0):
        SCALE = scale
        assert same(program(start, 3), program.__wrapped__(start, 3))

    held = start.dup()

    def elsewhere() -> None:
        held << 1.0

    @sr.compile
    def written(v: Vector) -> Vector:
        for _ in range(2):
            elsewhere()
            v += held
        return v

    assert written(held).to_dict() == {0: 2.0, 1: 2.0}
