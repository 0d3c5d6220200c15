"""`sr.while_loop` with Vectors that have several names: states, variables around the functions, lists and objects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import semiring as sr
from semiring import Vector
from semiring.engines.cpu import program
from tests.loops import interpreted
from tests.loops.function_loops import Loop, plain
from tests.loops.test_programs import same

CASES: list[Callable[[Loop, int], Any]] = []


@pytest.fixture(autouse=True)
def _interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "_kernel", interpreted.kernel)


def case(function: Callable[[Loop, int], Any]) -> Callable[[Loop, int], Any]:
    """Add a case: it returns the state, and all Vectors that the loop may have written to."""
    CASES.append(function)
    return function


def some(*positions: int) -> Vector:
    """Return a vector with few entries."""
    return Vector.from_coo(list(positions), [2 * i + 1 for i in positions], size=4)


def every(*values: int) -> Vector:
    """Return a vector of values."""
    return Vector.from_dense(list(values))


@case
def returns_a_captured_vector(loop: Loop, n: int) -> Any:
    """The state becomes a Vector that the body reads and writes to."""
    r, v = every(1, 2, 3, 4), some(1, 2)

    def body(v: Vector, k: int) -> Any:
        r << r + k
        return r, k + 1

    return loop(lambda v, k: k < n, body, (v, 0)), v, r


@case
def one_vector_twice(loop: Loop, n: int) -> Any:
    """Two items of the state are one Vector, which is written in place."""
    v = some(1, 2)

    def body(a: Vector, b: Vector, k: int) -> Any:
        a << a + k
        return a, b, k + 1

    return loop(lambda a, b, k: k < n, body, (v, v, 0)), v


@case
def one_vector_twice_and_new_ones(loop: Loop, n: int) -> Any:
    """Two items of the state are one Vector, and differ after an iteration."""
    v = some(1, 2)
    return loop(lambda a, b, k: k < n, lambda a, b, k: (a + b, b * 2, k + 1), (v, v, 0)), v


@case
def written_and_replaced(loop: Loop, n: int) -> Any:
    """The Vector of the caller is written to in the first iteration alone."""
    v = some(1, 2)

    def body(a: Vector, k: int) -> Any:
        a << a + k
        return a * 2, k + 1

    return loop(lambda a, k: k < n, body, (v, 0)), v


@case
def written_and_handed_on(loop: Loop, n: int) -> Any:
    """A Vector leaves the state after it was written to."""
    v, w = some(1, 2), every(1, 1, 1, 1)

    def body(a: Vector, b: Vector, k: int) -> Any:
        a(b.S) << k
        return b, a + 1, k + 1

    return loop(lambda a, b, k: k < n, body, (v, w, 0)), v, w


@case
def contents_exchanged(loop: Loop, n: int) -> Any:
    """A Vector of the function around gets the contents of the state."""
    v, w = some(1, 2), every(1, 1, 1, 1)

    def body(a: Vector, k: int) -> Any:
        w(a.S) << a + k
        b = w.dup()
        w << a
        return b, k + 1

    return loop(lambda a, k: k < n, body, (v, 0)), v, w


@case
def appended_to_a_list(loop: Loop, n: int) -> Any:
    """A list of the function around grows."""
    levels: list[Vector] = []

    def body(a: Vector, k: int) -> Any:
        levels.append(a)
        return a + k, k + 1

    return loop(lambda a, k: k < n, body, (some(1, 2), 0)), tuple(levels)


@case
def written_in_branches_by_a_helper(loop: Loop, n: int) -> Any:
    """A helper writes to Vectors that its caller does not name, in a branch."""
    v, w = some(1, 2), every(1, 1, 1, 1)

    def helper(x: Vector, k: int) -> Vector:
        if k % 2:
            v(x.S) << k
        else:
            w << w + v.reduce("plus").get(0)
        return x + 1

    def body(x: Vector, k: int) -> Any:
        if k > 1:
            x = helper(x, k)
            return x, k + 1
        return helper(x * 2, k + 1), k + 1

    return loop(lambda x, k: k < n, body, (some(3), 0)), v, w


@case
def a_local_name_of_a_captured_vector(loop: Loop, n: int) -> Any:
    """A parameter has the name of another Vector of the function around."""
    level, total = every(0, 0, 0, 0), every(1, 1, 1, 1)

    def add(level: Vector) -> None:
        total(accum="plus") << level

    def reset(k: int) -> None:
        level << level + k

    def body(k: int) -> int:
        found = total * 2
        for i in range(k):
            total2 = found + i
            add(total2)
            reset(i)
        return k + 1

    return loop(lambda k: k < n, body, 0), total, level


@case
def state_that_is_captured(loop: Loop, n: int) -> Any:
    """The first state is a Vector that the body writes to."""
    v = some(1, 3)

    def body(w: Vector, k: int) -> Any:
        v << v + k
        return w * 2, k + 1

    return loop(lambda w, k: k < n, body, (v, 0)), v


@case
def passed_by_a_function(loop: Loop, n: int) -> Any:
    """The body gets a Vector from a function, and writes to it in a branch."""
    v = every(1, 2, 3, 4)

    def get() -> Vector:
        return v

    def body(x: Vector, k: int) -> Any:
        g = get()
        g << g + x.reduce("plus").get(0)
        if k % 2:
            g << g * 2
        return x + 1, k + 1

    return loop(lambda x, k: k < n, body, (some(1), 0)), v


@case
def held_by_an_object(loop: Loop, n: int) -> Any:
    """An object has a Vector that the body writes to by another name."""
    held = Held()
    v = held.v

    def body(w: Vector, k: int) -> Any:
        v << v + k
        return w + held.v, k + 1

    return loop(lambda w, k: k < n, body, (some(1), 0)), v


class Held:
    """An object with a Vector."""

    def __init__(self) -> None:
        self.v = every(1, 2, 3, 4)


@case
def of_higher_order(loop: Loop, n: int) -> Any:
    """A function that another one gets as an argument."""
    v = every(1, 2, 3, 4)

    def twice(f: Callable[[Vector], Vector], x: Vector) -> Vector:
        return f(f(x))

    def add(x: Vector) -> Vector:
        v << v + 1
        return x + v

    return loop(lambda x, k: k < n, lambda x, k: (twice(add, x), k + 1), (some(1), 0)), v


@pytest.mark.parametrize("function", CASES, ids=lambda function: function.__name__)
def test_vectors_with_several_names(function: Callable[[Loop, int], Any]) -> None:
    for n in (0, 1, 4, 3):
        assert same(function(plain, n), function(sr.while_loop, n)), n
