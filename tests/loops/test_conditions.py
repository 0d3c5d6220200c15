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
