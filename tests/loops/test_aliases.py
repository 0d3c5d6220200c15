"""Compiled loops beside objects that hold the vectors, or the constants, that they read."""

from __future__ import annotations

import pytest

import semiring as sr
from semiring import Vector
from semiring.engines.cpu import program
from tests.loops import interpreted

LIMIT = 3


@pytest.fixture(autouse=True)
def _interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run kernels of the CPU engine as Python: each would be compiled."""
    monkeypatch.setattr(program, "_kernel", interpreted.kernel)


def test_a_vector_that_another_object_holds() -> None:
    class State:
        def __init__(self, v: Vector) -> None:
            self.v = v

    @sr.compile
    def by_attribute(state: State) -> Vector:
        v = state.v
        w = v.dup()
        for _ in range(3):
            v << v + 1
            w << state.v * 2
        return w

    @sr.compile
    def by_tuple(v: Vector) -> Vector:
        pair = (v, 1)
        w = v.dup()
        for _ in range(3):
            v << v + 1
            w << pair[0] * 2
        return w

    @sr.compile
    def limited(v: Vector) -> Vector:
        return v.select("<", LIMIT)

    @sr.compile
    def by_function(v: Vector) -> Vector:
        for _ in range(2):
            v = limited(v)
        return v

    global LIMIT
    for limit in (3, 2, 3):
        LIMIT = limit
        assert by_function(Vector.from_dense([1, 2, 3])).nvals == limit - 1
    assert by_attribute(State(Vector.from_dense([1, 2]))).to_dict() == {0: 8, 1: 10}
    assert by_tuple(Vector.from_dense([1, 2])).to_dict() == {0: 8, 1: 10}
    assert by_tuple(Vector.full(1, 2)).to_dict() == {0: 8, 1: 8}
