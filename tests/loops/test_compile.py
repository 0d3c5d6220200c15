"""`sr.compile`: what is compiled, what runs step by step and why, and that nothing else differs."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring import Matrix, Vector, binary
from semiring.engines.cpu import program
from semiring.exceptions import InvalidType, NotSupported
from semiring.loops import Compiled
from tests.loops import interpreted

LIMIT = 3


@pytest.fixture(autouse=True)
def _interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run kernels of the CPU engine as Python: each would be compiled."""
    monkeypatch.setattr(program, "_kernel", interpreted.kernel)


@sr.compile
def doubled(v: Vector, times: int) -> Vector:
    """v times a power of two."""
    for _ in range(times):
        v << v + v
    return v


class Counter:
    """An object with a compiled method."""

    def __init__(self, start: int) -> None:
        self.start = start

    @sr.compile
    def count(self, v: Vector) -> int:
        """The steps until nothing is left."""
        k = self.start
        while v.nvals:
            v << v.select(">", k)
            k += 1
        return k


def reasons(function: Any, *arguments: Any) -> list[str]:
    """Return why the loops of a function run step by step, or ''."""
    return [loop.reason for loop in sr.compile(function).plan(*arguments).loops]


def test_a_compiled_function_is_a_function() -> None:
    assert isinstance(doubled, Compiled)
    assert doubled.__name__ == "doubled"
    assert doubled.__doc__ == "v times a power of two."
    assert pickle.loads(pickle.dumps(doubled)) is doubled
    assert doubled(Vector.full(1, 3), 4).to_dict() == {0: 16, 1: 16, 2: 16}
    assert doubled.__wrapped__(Vector.full(1, 3), 4).isequal(doubled(Vector.full(1, 3), 4))  # type: ignore[attr-defined]
    assert Counter(2).count(Vector.from_dense([1, 5, 3])) == 6
    assert Counter(3).count(Vector.from_dense([1, 5, 3])) == 6
    assert Counter(9).count(Vector.from_dense([1, 5, 3])) == 10


def test_arguments_that_are_no_function() -> None:
    for wrong in (3, len, lambda v: v, Counter):
        with pytest.raises(InvalidType, match=r"sr\.compile decorates a function"):
            sr.compile(wrong)
    scope: dict[str, Any] = {}
    exec("def hidden(v):\n    while v.nvals:\n        v.clear()\n", scope)
    with pytest.raises(NotSupported, match="source of a function, and that of 'hidden' is not available"):
        sr.compile(scope["hidden"])(Vector(int, 3))


def test_numbers_keep_the_types_of_python() -> None:
    def numbers(v: Vector) -> tuple[Any, ...]:
        k, x, flag = 7, 0.5, False
        for i in range(5):
            k = k * 3 - i // 2
            x = x / (i + 1) + k % 4
            flag = not flag or v.nvals > i
        return k, x, flag, i

    made = sr.compile(strict=True)(numbers)
    assert made(Vector.full(1, 2)) == numbers(Vector.full(1, 2))
    assert [type(value) for value in made(Vector.full(1, 2))] == [int, float, bool, int]


@pytest.mark.parametrize("dtype", [None, np.float32, int])
def test_full_vectors_of_a_number_that_changes(dtype: Any) -> None:
    def summed(v: Vector, x: float) -> Vector:
        for k in range(3):
            x = x * k + 1.5
            v << v + Vector.full(x, 2, dtype) + Vector.full(k, 2) + Vector.full(v.reduce("plus"), 2)
        return v

    assert sr.compile(strict=True)(summed)(Vector.full(1.0, 2), 0.5).isequal(summed(Vector.full(1.0, 2), 0.5))


def test_products_are_not_executed_while_a_loop_is_traced() -> None:
    def moved(A: Matrix, v: Vector) -> Vector:
        for _ in range(3):
            v << v + Vector.full(1.0, 2).vxm(A, "plus_first")
        return v

    A, made = Matrix.identity(2, float), sr.compile(strict=True)(moved)
    assert "mxv" in str(made.plan(A, Vector.full(1.0, 2)))  # type: ignore[attr-defined]
    assert made(A, Vector.full(1.0, 2)).isequal(moved(A, Vector.full(1.0, 2)))


def test_integers_beyond_64_bits_are_computed_step_by_step() -> None:
    def power(v: Vector, n: int) -> int:
        k = 1
        for _ in range(n):
            k = k * 10
        return k

    made = sr.compile(power)
    assert made(Vector.full(1, 2), 30) == 10**30
    assert not made.plan(Vector.full(1, 2), 30).loops[0].compiled
    assert "a check of the program failed" in repr(made.plan(Vector.full(1, 2), 30))
    assert made.plan(Vector.full(1, 2), 5).loops[0].compiled


def test_a_number_that_does_not_fit_beside_values() -> None:
    def grown(v: Vector, n: int) -> Vector:
        k = 100
        for _ in range(n):
            v = v + k
            k += 100
        return v

    v = Vector.full(1, 2, dtype=np.int8)
    assert sr.compile(grown)(v, 1).isequal(grown(v, 1), check_dtype=True)
    assert sr.compile(grown)(v, 3).isequal(grown(v, 3), check_dtype=True)


def test_errors_are_those_of_python_and_change_no_argument() -> None:
    @sr.compile
    def failing(v: Vector, k: int) -> Vector:
        while k > -2:
            v(accum="plus") << 1
            k -= 1 // k
        return v

    v = Vector.full(1, 3)
    with pytest.raises(ZeroDivisionError) as raised:
        failing(v, 1)
    assert raised.traceback[-1].path.name == "test_compile.py"
    assert raised.traceback[-1].lineno > 0
    assert v.to_dict() == {0: 1, 1: 1, 2: 1}

    @sr.compile
    def outside(v: Vector, w: Vector) -> Vector:
        for _ in range(3):
            w << v + 1
            v << v[w]
        return v

    w = Vector.full(0, 3)
    with pytest.raises(sr.exceptions.IndexOutOfBound):
        outside(Vector.from_dense([0, 1, 2]), w)
    assert w.to_dict() == {0: 0, 1: 0, 2: 0}


def test_raise_and_assert_in_a_loop() -> None:
    @sr.compile
    def checked(v: Vector, most: int) -> int:
        k = 0
        while v.nvals:
            assert k < 50
            if k > most:
                raise RuntimeError(f"more than {most}")
            v << v.select(">", k)
            k += 1
        return k

    assert checked(Vector.from_dense([3, 5]), 9) == 6
    with pytest.raises(RuntimeError, match="more than 2"):
        checked(Vector.from_dense([3, 5]), 2)
    with pytest.raises(AssertionError):
        checked(Vector.from_dense([100]), 99)


@pytest.mark.costly
def test_what_is_not_compiled_is_named() -> None:
    v, listed = Vector.full(3, 4), []

    def printed(v: Vector) -> None:
        while v.nvals > 4:
            print(v.nvals)

    def appended(v: Vector) -> None:
        for k in range(2):
            listed.append(k)
            v << v + 1

    def over_a_list(v: Vector) -> None:
        for k in [1, 2]:
            v << v + k

    def matrices(A: Matrix) -> Matrix:
        for _ in range(2):
            A = A.mxm(A)
        return A

    def of_vectors(v: Vector) -> dict[int, Vector]:
        kept = {0: v.dup()}
        while len(kept) < 3:
            kept[len(kept)] = v + len(kept)
        return kept

    def comprehended(v: Vector) -> None:
        while v.nvals > 4:
            v << v + sum(k for k in range(3))

    assert "a call of print" in reasons(printed, v)[0]
    assert "a call of list.append" in reasons(appended, v)[0]
    assert listed == [0, 1]
    assert "a for loop over anything but range" in reasons(over_a_list, v)[0]
    assert reasons(matrices, Matrix.identity(3, dtype=int))[0]
    assert "the variable kept is a dict of vectors" in reasons(of_vectors, v)[0]
    assert "GeneratorExp" in reasons(comprehended, v)[0]
    with pytest.raises(NotSupported, match=r"printed, line \d+: the loop is not compiled: a call of .*print"):
        sr.compile(strict=True)(printed)(v)
    with sr.explain() as log:
        sr.compile(appended)(v)
    assert log[-1].details["reason"].startswith("a call of list.append") or any(
        call.operation == "loop" and "list.append" in call.details["reason"] for call in log
    )


def test_a_program_is_one_call_of_the_engine() -> None:
    with sr.explain() as log:
        doubled(Vector.full(1, 3), 4)
    calls = [call.operation for call in log]
    assert calls.count("run_program") == 1
    assert log[calls.index("run_program")].details["iterations"] == 4


def test_aliases_and_writes_to_other_objects() -> None:
    def aliased(v: Vector) -> tuple[Vector, Vector]:
        w = v
        for _ in range(3):
            v << v + 1
        return v, w

    def becomes_one(v: Vector, w: Vector) -> tuple[Vector, Vector]:
        for _ in range(3):
            w = v
            v << v + 1
        return v, w

    def swapped(v: Vector, w: Vector) -> tuple[Vector, Vector]:
        for _ in range(3):
            v, w = w, v
            v << v + 1
        return v, w

    other = Vector.full(0, 4)

    def elsewhere(v: Vector) -> Vector:
        for _ in range(3):
            other(accum="plus") << v
        return other

    for function, count in ((aliased, 1), (becomes_one, 2), (swapped, 2), (elsewhere, 1)):
        before = other.dup()
        expected = function(*(Vector.full(k, 4) for k in range(1, count + 1)))  # type: ignore[operator]
        expected = tuple(each.dup() for each in expected) if isinstance(expected, tuple) else expected.dup()
        other << before
        found = sr.compile(function)(*(Vector.full(k, 4) for k in range(1, count + 1)))
        pairs = zip(expected, found, strict=True) if isinstance(expected, tuple) else [(expected, found)]
        assert all(a.isequal(b) for a, b in pairs), function.__name__
    assert reasons(aliased, Vector.full(1, 4)) == [""]
    v = Vector.full(1, 4)
    first, second = sr.compile(aliased)(v)
    assert first is second is v


def test_operators_of_the_user_and_constants_that_change() -> None:
    global LIMIT
    away = binary.register_new("away_from_loops", "abs(x - y) + 1")

    def uses(v: Vector, w: Vector) -> Vector:
        for _ in range(3):
            v(accum=away) << w
            v << v.select("<", 10 * LIMIT)
        return v

    made = sr.compile(strict=True)(uses)
    for limit in (1, 3, 1):
        LIMIT = limit
        v, w = Vector.from_dense([1, 9, 30]), Vector.from_dense([5, 1, 2])
        assert made(v.dup(), w).isequal(uses(v.dup(), w))


def test_negative_zero_differs_from_zero() -> None:
    def signs(v: Vector) -> tuple[float, Vector]:
        x, pair = 0.0, (0.0, 1)
        for k in range(3):
            if k == 1:
                v << v * x
            x = -0.0
            pair = (-0.0, 1)
        return x, v + pair[0]

    v = Vector.full(1.0, 2)
    for made in (signs, sr.compile(signs)):
        x, w = made(v.dup())  # type: ignore[operator]
        assert str(x) == "-0.0"
        assert [str(value) for value in w.to_dict().values()] == ["-0.0", "-0.0"]


def test_a_full_write_into_a_vector_that_is_read_later() -> None:
    def least(u: Vector, k: int) -> tuple[Vector, Vector]:
        before = u
        for _ in range(3):
            before = u.dup()
            u(accum="min") << k
            k = before.nvals
        return u, before

    u = Vector.from_coo([0, 2], [5, 6], size=4)
    found, expected = sr.compile(least)(u.dup(), 9), least(u, 9)
    assert all(a.isequal(b) for a, b in zip(found, expected, strict=True))


def test_other_compiled_functions_are_part_of_the_program() -> None:
    @sr.compile
    def grown(v: Vector, by: int) -> Vector:
        w = v + by
        if w.nvals > 2:
            w << w * 2
        return w

    def outer(v: Vector) -> Vector:
        k = 0
        while k < 3:
            v = grown(v, k)
            k += 1
        return v

    made = sr.compile(strict=True)(outer)
    v = Vector.from_dense([1, 2, 3])
    assert made(v).isequal(outer(v))
    assert made.plan(v).loops[0].compiled


def test_no_iteration_leaves_variables_unassigned() -> None:
    @sr.compile
    def late(v: Vector) -> int:
        while v.nvals:
            left = v.nvals
            v << v.select(">", left)
        return left

    assert late(Vector.from_dense([1, 2])) == 2
    with pytest.raises(UnboundLocalError):
        late(Vector(int, 2))


def test_large_iterations_continue_step_by_step(monkeypatch: pytest.MonkeyPatch, device: str) -> None:
    if device == "cuda":
        pytest.skip("a GPU has all its threads in a program")
    monkeypatch.setattr(program, "_LARGE", 100)
    monkeypatch.setattr(program, "_MANY", 1)
    monkeypatch.setattr(program, "available", lambda: 4)

    @sr.compile
    def levels(A: Matrix, s: int) -> tuple[Vector, int]:
        level = Vector(np.int32, A.nrows)
        frontier = Vector.from_coo([s], True, size=A.nrows)
        for depth in range(100):
            level(frontier.S) << depth
            frontier(~level.S, replace=True) << frontier.vxm(A, "any_pair")
            if not frontier.nvals:
                break
        return level, depth

    at = np.arange(39)
    A = Matrix.from_coo(np.r_[at, at + 1, 20, 30], np.r_[at + 1, at, 30, 20], True, nrows=300, ncols=300)
    B = A | sr.Matrix.from_coo(np.full(260, 20), np.arange(40, 300), True, nrows=300, ncols=300)
    for G in (A, B):
        expected, depth = levels.__wrapped__(G, 0)  # type: ignore[attr-defined]
        found, last = levels(G, 0)
        assert found.isequal(expected)
        assert last == depth
    (loop,) = levels.plan(B, 0).loops
    assert loop.result is not None
    assert loop.result.exit < 0
    assert 15 < loop.iterations < 30


def test_labels_stay() -> None:
    A = Matrix.from_edgelist([("ann", "bob"), ("bob", "eve")], relabel=True)

    @sr.compile
    def reached(A: Matrix, v: Vector) -> Vector:
        for _ in range(2):
            v(accum="lor") << v.vxm(A, "any_pair")
        return v

    v = Vector.from_coo([0], True, size=3)
    v.labels = A.labels
    assert list(reached(A, v).labels) == ["ann", "bob", "eve"]
    assert reached(A, v)["eve"].value is True
