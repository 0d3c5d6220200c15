"""Compiled loops beside objects that hold the vectors, or the constants, that they read."""

from __future__ import annotations

import pytest

import semiring as sr
from semiring import Vector
from semiring.engines.cpu import program
from semiring.loops import build
from tests.loops import interpreted, test_programs

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


def test_two_variables_that_name_one_vector() -> None:
    @sr.compile
    def both(v: Vector, w: Vector) -> tuple[Vector, Vector]:
        for _ in range(3):
            v << v + 1
            w << w * 2
        return v, w

    for same in (False, True, False, True):
        v = Vector.full(1, 3)
        found = both(v, v if same else Vector.full(1, 3))
        assert [w.to_dict()[0] for w in found] == ([22, 22] if same else [4, 8])


def test_a_vector_of_one_value_that_differs_between_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    traces: list[int] = []
    traced = build.traced_program
    monkeypatch.setattr(build, "traced_program", lambda *arguments: traces.append(1) or traced(*arguments))

    @sr.compile(strict=True)
    def summed(v: Vector, w: Vector) -> Vector:
        for _ in range(2):
            v << v.ewise_add(w)
        return v

    for value in (1, 2, 3, 1, 4):
        single = Vector.from_coo([value], value, size=6, dtype=int)
        assert summed(Vector.full(value, 6), single).to_dict() == {
            i: value * (3 if i == value else 1) for i in range(6)
        }
    assert len(traces) <= 3


def test_functions_that_a_loop_calls_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    traces: list[int] = []
    traced = build.traced_program
    monkeypatch.setattr(build, "traced_program", lambda *arguments: traces.append(1) or traced(*arguments))

    @sr.compile
    def limited(v: Vector) -> Vector:
        return v.select("<", LIMIT)

    @sr.compile(strict=True)
    def by_function(v: Vector) -> Vector:
        for _ in range(2):
            v = limited(v)
        return v

    global LIMIT
    for limit in (3, 3, 2, 3, 2):
        LIMIT = limit
        assert by_function(Vector.from_dense([1, 2, 3])).nvals == limit - 1
    assert len(traces) == 2


def test_operations_before_a_branch_that_uses_them() -> None:
    """What is pending where a block begins is computed there: its steps may not be executed."""

    def program(v: Vector, times: int) -> tuple[float, Vector]:
        t = 0.0
        for k in range(times):
            total, first = v.reduce("plus"), v[0]
            pair = (v + 1, v * 2)
            x = v + 2
            if k == 1:
                t = t + total.value + first.value + x.reduce("max").get(0)
                w = pair[0] + pair[1]
                t = t + w.nvals
            t = t + 2 * total.value + first.value + pair[0].reduce("plus").get(0) + x[1].value
            v << v + pair[1]
            v += 1
        return t, v

    def zero(v: Vector, times: int) -> Vector:
        for _ in range(times):
            v = v + 1
        v(accum="plus") << 1
        return v

    compiled, start = sr.compile(strict=True)(program), Vector.from_dense([1.0, 2.0])
    found, expected = compiled(start.dup(), 4), program(start.dup(), 4)
    assert found[0] == expected[0]
    assert found[1].isequal(expected[1])
    for times in (0, 2):  # in no iteration the variable is assigned: it names the argument
        v = start.dup()
        assert sr.compile(strict=True)(zero)(v, times).to_dict() == {0: 2.0 + times, 1: 3.0 + times}
        assert v.to_dict() == ({0: 1.0, 1: 2.0} if times else {0: 2.0, 1: 3.0})


MATRIX = sr.Matrix.from_edgelist([(0, 1)], nrows=3, ncols=3)


def test_a_matrix_of_the_module_is_a_constant(monkeypatch: pytest.MonkeyPatch) -> None:
    traces: list[int] = []
    traced = build.traced_program
    monkeypatch.setattr(build, "traced_program", lambda *arguments: traces.append(1) or traced(*arguments))

    @sr.compile(strict=True)
    def reached(v: Vector) -> Vector:
        for _ in range(3):
            v(accum="lor") << v.vxm(MATRIX, "any_pair")
        return v

    for _ in range(3):
        assert reached(Vector.from_coo([0], True, size=3)).nvals == 2
    MATRIX << sr.Matrix.from_edgelist([(0, 1), (1, 2)], nrows=3, ncols=3)
    assert reached(Vector.from_coo([0], True, size=3)).nvals == 3
    assert len(traces) == 2


def test_a_variable_that_one_branch_makes_of_another_type() -> None:
    def program(v: Vector, times: int) -> tuple[Vector, int]:
        count = 0
        for k in range(times):
            if k % 2 == 0:
                count += 1
            else:
                v = v * 0.5
        return v, count

    def last(v: Vector, times: int) -> int:
        for k in range(times):
            if k % 2 == 0:
                found = v.nvals + k
        return found

    for function in (program, last):
        compiled, start = sr.compile(function), Vector.from_dense([4, 8])
        for times in (1, 2, 3):
            assert test_programs.same(compiled(start.dup(), times), function(start.dup(), times))
