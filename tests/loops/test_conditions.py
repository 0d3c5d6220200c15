"""Compiled loops whose conditions and expressions write to vectors."""

from __future__ import annotations

import pytest

import semiring as sr
from semiring import Vector
from semiring.engines.cpu import program
from tests.loops import interpreted
from tests.loops.test_compile import reasons


@pytest.fixture(autouse=True)
def _interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "_kernel", interpreted.kernel)


def increased(v: Vector) -> int:
    """Write to a vector, and return a number."""
    v << v.ewise_mult(v, "plus").apply("plus", right=1)
    return 1


def test_a_condition_that_writes_to_a_vector() -> None:
    def counted(v: Vector) -> int:
        k = 0
        while increased(v) > k / 3:
            k += 1
        return k

    v, w = Vector.full(1, 2), Vector.full(1, 2)
    assert counted(v) == sr.compile(counted)(w)
    assert v.isequal(w)  # the last evaluation writes, too
    assert reasons(counted, v) == ["a write to v in the condition of the loop"]


def test_expressions_that_write_and_may_not_be_evaluated() -> None:
    def chosen(v: Vector) -> None:
        for k in range(6):
            k += increased(v) if k % 2 else 2

    def both(v: Vector) -> int:
        found = 0
        for k in range(6):
            if k % 2 and increased(v):
                found += 1
        return found

    def either(v: Vector) -> int:
        found = 0
        for k in range(6):
            if k > 3 or increased(v):
                found += 1
        return found

    def chained(v: Vector) -> int:
        found = 0
        for k in range(6):
            if k < increased(v) < 4:
                found += 1
        return found

    def popped(v: Vector) -> int:
        levels, found = [v, v * 2, v * 3], 0
        for k in range(6):
            found += levels.pop().nvals if k % 3 == 0 else 1
        return found + len(levels)

    for function in (chosen, both, either, chained, popped):
        v, w = Vector.full(1, 2), Vector.full(1, 2)
        assert function(v) == sr.compile(function)(w), function
        assert v.isequal(w), function
        (reason,) = reasons(function, v)
        assert "within an expression that Python may not evaluate" in reason
