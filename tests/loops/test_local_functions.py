"""Compiled functions whose loops call functions that are defined in them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring import Matrix, Vector
from semiring.engines.cpu import program
from semiring.loops import build
from tests.loops import interpreted
from tests.loops.programs import symmetric
from tests.loops.test_compile import reasons
from tests.loops.test_programs import same


@pytest.fixture(autouse=True)
def _interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "_kernel", interpreted.kernel)


def a_step(A: Matrix, n: int) -> Any:
    """A function reads a Matrix and a number, and writes to a Vector."""
    seen = Vector(bool, A.nrows)

    def step(v: Vector, k: int) -> Vector:
        seen(v.S) << True
        return v.vxm(A, "plus_times") + k * n

    v = Vector.from_coo([0], 1.0, size=A.nrows)
    for k in range(n):
        v = step(v, k)
    return v, seen


def inner_loops(A: Matrix, n: int) -> Any:
    """A while_loop of such functions."""
    damping = 0.5 / n

    def body(v: Vector, k: int) -> tuple[Vector, int]:
        return v.vxm(A) * damping, k + 1

    def cond(v: Vector, k: int) -> bool:
        return k < 3

    total = Vector.full(0.0, A.nrows)
    for i in range(n):
        v, _ = sr.while_loop(cond, body, (Vector.full(1.0, A.nrows), i))
        total << total + v
    return total


def several(A: Matrix, n: int) -> Any:
    """A function calls another one in a branch; the loop reads the Vector to which that writes."""
    a, b = Vector.full(0, 3), Vector.full(0, 3)

    def add(k: int) -> None:
        a(accum="plus") << k

    def odd(k: int) -> None:
        if k % 2:
            add(k)

    for k in range(n):
        if k > 1:
            odd(k)
        b << b + a
    return a, b


def of_a_lambda(A: Matrix, n: int) -> Any:
    """A lambda reads what does not change in the loop."""
    following = lambda x: x * n + 1  # noqa: E731
    x = 0
    for _ in range(n):
        x = following(x)
    return x


@pytest.mark.parametrize("function", [a_step, inner_loops, several, of_a_lambda], ids=lambda f: f.__name__)
def test_functions_that_are_made_anew_have_the_same_program(function: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    traces = []
    trace = build.traced_program

    def counted(*arguments: Any) -> Any:
        traces.append(1)
        return trace(*arguments)

    monkeypatch.setattr(build, "traced_program", counted)
    compiled = sr.compile(strict=True)(function)
    A = symmetric(6, 8, 0)
    for n in (3, 5, 4):
        assert same(function(A, n), compiled(A, n))
        count = len(traces)
        assert same(function(A, n), compiled(A, n))
        assert len(traces) == count


def test_a_variable_that_the_loop_assigns() -> None:
    def rebound(n: int) -> Any:
        v = Vector.full(0, 3)

        def total() -> Any:
            return v.reduce("plus").get(0)

        x = 0
        for k in range(n):
            v = v + k
            x += total()
        return x

    assert sr.compile(rebound)(5) == rebound(5)
    assert reasons(rebound, 5) == ["a function that the loop calls reads v, which the loop assigns"]


def test_functions_of_other_code() -> None:
    def applied(v: Vector, scale: float, up: bool) -> Any:
        step = (lambda v: v + scale) if up else (lambda v: v * scale)
        for _ in range(3):
            v = step(v)
        return v

    compiled = sr.compile(strict=True)(applied)
    for up in (True, False, True):
        for scale in (2.0, 3, np.float32(0.5)):
            v = Vector.full(1.0, 3)
            assert same(applied(v, scale, up), compiled(v, scale, up))
