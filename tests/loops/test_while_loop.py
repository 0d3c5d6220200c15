"""`sr.while_loop`: the result of the plain loop, programs that are kept, and what runs step by step."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Callable
from typing import Annotated, Any, NamedTuple

import numpy as np
import pytest

import semiring as sr
from semiring import Matrix, Vector, binary
from semiring.engines.cpu import program
from semiring.exceptions import InvalidType, InvalidValue, NotSupported
from semiring.loops import plans, while_loop
from tests.loops import interpreted
from tests.loops.function_loops import PROGRAMS, Loop, compiled, levels, plain, rank
from tests.loops.programs import symmetric
from tests.loops.test_programs import same


@pytest.fixture(autouse=True)
def _interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run kernels of the CPU engine as Python: each would be compiled."""
    monkeypatch.setattr(program, "_kernel", interpreted.kernel)


def reasons(function: Callable[..., Any], *arguments: Any) -> list[str]:
    """Return why the loops of a call run step by step, or ''."""
    with plans.recorded() as loops:
        function(*arguments)
    return [loop.reason for loop in loops]


@pytest.mark.costly
@pytest.mark.parametrize("function", PROGRAMS, ids=lambda function: function.__name__)
def test_programs_give_the_results_of_plain_loops(function: Any, traces: list[int]) -> None:
    for n in (3, 5, 3):
        A = symmetric(60, 120, n)
        argument = 0.1 * n if function is rank else n
        expected = function(plain, A, argument)
        assert same(expected, function(compiled, A, argument)), (expected, function(compiled, A, argument))
        count = len(traces)
        assert same(expected, function(compiled, A, argument))
        assert len(traces) == count  # functions that are made anew have the same program
        with sr.use("reference"):
            B = A.to("cpu")
            assert same(function(plain, B, argument), function(sr.while_loop, B, argument))


def test_numbers_and_vectors_are_inputs(traces: list[int]) -> None:
    for factor in (1, 2, 5):
        w = Vector.from_coo([0, factor], [1.0, 1.5], size=6)
        found = compiled(lambda v, k: k < factor, lambda v, k: (v + w * factor, k + 1), (w, 0))  # noqa: B023
        assert same(found, plain(lambda v, k: k < factor, lambda v, k: (v + w * factor, k + 1), (w, 0)))  # noqa: B023
    assert len(traces) == 1


def test_annotations_are_not_read(traces: list[int]) -> None:
    def body(v: Vector, k: Hint) -> tuple[Vector, int]:
        return v + k, k + 1

    for _ in range(2):
        assert compiled(lambda v, k: k < 3, body, (Vector.full(1, 2), 0))[1] == 3
    assert len(traces) == 1


def test_zero_iterations_return_the_state_itself() -> None:
    v = Vector.full(1, 3)
    state = (v, 3)
    assert compiled(lambda v, k: k < 3, lambda v, k: (v + 1, k + 1), state) is state
    assert compiled(lambda v: v.nvals > 3, lambda v: v + 1, v) is v


Hint = Annotated[int, object()]


class State(NamedTuple):
    """A state with names."""

    v: Vector
    k: int


def test_a_named_tuple_is_kept() -> None:
    for body in (lambda v, k: State(v + k, k + 1), lambda v, k: (v + k, k + 1)):
        found = compiled(lambda v, k: k < 4, body, State(Vector.full(1, 2), 0))
        assert type(found) is State
        assert (found.v.to_dict(), found.k) == ({0: 7, 1: 7}, 4)
    found = sr.while_loop(lambda v, k: k < 2, lambda v, k: (v, k + int(str(1))), State(Vector.full(1, 2), 0))
    assert type(found) is State


def test_types_that_settle_after_an_iteration(traces: list[int]) -> None:
    A = symmetric(60, 120, 0)

    def weights(loop: Loop) -> Any:
        v = Vector.from_coo([0], True, size=60)
        return loop(lambda v, k: k < 4, lambda v, k: (v.vxm(A, "plus_times"), k + 1), (v, 0))

    assert same(weights(plain), weights(compiled))
    count = len(traces)
    assert same(weights(plain), weights(compiled))
    assert len(traces) == count


def test_compiled_functions_are_accepted() -> None:
    @sr.compile
    def body(v: Vector, k: int) -> tuple[Vector, int]:
        for _ in range(2):
            v = v + k
        return v, k + 1

    def cond(v: Vector, k: int) -> bool:
        return k < 3

    expected = plain(cond, body, (Vector.full(1, 2), 0))
    assert same(compiled(sr.compile(cond), body, (Vector.full(1, 2), 0)), expected)


def test_errors_of_the_body_leave_vectors_as_they_were() -> None:
    v, w = Vector.full(1, 3), Vector.full(2, 3)

    def fails(v: Vector, k: int) -> tuple[Vector, int]:
        v << v + 1
        w(accum="plus") << k
        if k == 3:
            raise KeyError(k)
        return v, k + 1

    with pytest.raises(KeyError):
        sr.while_loop(lambda v, k: True, fails, (v, 0))
    assert v.isequal(Vector.full(1, 3))
    assert w.isequal(Vector.full(2, 3))


def test_another_structure_is_an_error() -> None:
    v = Vector.full(1, 3)

    def wrong(given: Any, state: Any) -> None:
        def body(*items: Any) -> Any:
            items[0] << items[0] + 1
            return given

        sr.while_loop(lambda *items: True, body, state)

    with pytest.raises(InvalidType, match="body returned a Vector, the state is a tuple"):
        wrong(v, (v, 1))
    with pytest.raises(InvalidType, match="body returned a tuple, the state is a Vector"):
        wrong((v,), v)
    with pytest.raises(InvalidValue, match="body returned 1 items, the state has 2"):
        wrong((v,), (v, 1))
    with pytest.raises(InvalidType, match="body returned an int for item 0 of the state, which is a Vector"):
        wrong((1, v), (v, 1))
    with pytest.raises(InvalidType, match="body returned a NoneType for the state, which is a Vector"):
        wrong(None, v)
    assert v.isequal(Vector.full(1, 3))
    with pytest.raises(InvalidValue, match="body returned 3 items"):
        sr.while_loop(lambda v, k: k < 2, lambda v, k: (v, k, k), (v, 1))
    for state in ([v], {"v": v}):
        with pytest.raises(InvalidType, match="expects a state that is a tuple, a Vector or a number"):
            sr.while_loop(lambda v: False, lambda v: v, state)
    with pytest.raises(InvalidType, match="expects functions for cond and body, got int"):
        sr.while_loop(lambda v: False, 3, v)  # type: ignore[arg-type]


def test_what_is_not_compiled_runs_step_by_step() -> None:
    A = symmetric(60, 120, 0)

    printed = []

    def body(v: Vector, k: int) -> tuple[Vector, int]:
        printed.append(k)
        return v + k, k + 1

    found = sr.while_loop(lambda v, k: k < 3, body, (Vector.full(0, 2), 0))
    assert found[0].to_dict() == {0: 3, 1: 3}
    assert printed == [0, 1, 2]
    (reason,) = reasons(sr.while_loop, lambda v, k: k < 3, body, (Vector.full(0, 2), 0))
    assert "the variable printed" in reason or "a call of list.append" in reason
    with pytest.raises(NotSupported, match=r"while_loop of .*body, line \d+: the loop is not compiled: "):
        compiled(lambda v, k: k < 3, body, (Vector.full(0, 2), 0))
    scope: dict[str, Any] = {}
    exec("body = lambda v, k: (v + k, k + 1)\ncond = lambda v, k: k < 3", scope)
    assert sr.while_loop(scope["cond"], scope["body"], (Vector.full(0, 2), 0))[1] == 3
    with pytest.raises(NotSupported, match="is not available"):
        compiled(scope["cond"], scope["body"], (Vector.full(0, 2), 0))
    assert sr.while_loop(bool, abs, 0) == 0
    with pytest.raises(NotSupported, match="abs is no function defined by def or lambda"):
        compiled(lambda k: k, abs, 1)
    M = sr.while_loop(lambda M, k: k < 2, lambda M, k: (M @ A, k + 1), (A, 0))[0]
    assert M.isclose(A @ A @ A)
    with sr.explain() as log:
        sr.while_loop(lambda M, k: k < 2, lambda M, k: (M @ A, k + 1), (A, 0))
    assert "step by step" in repr(log)


def test_a_condition_that_writes() -> None:
    def counted(loop: Loop) -> Any:
        calls = Vector.full(0, 2)

        def cond(k: int) -> bool:
            calls(accum="plus") << 1
            return k < 3

        return loop(cond, lambda k: k + 1, 0), calls

    assert same(counted(plain), counted(sr.while_loop))

    def count(calls: Vector, k: int) -> bool:
        calls(accum="plus") << 1
        return k < 3

    @sr.compile
    def written(calls: Vector) -> int:
        k = 0
        while count(calls, k):
            k += 1
        return k

    calls = Vector.full(0, 2)
    assert written(calls) == 3
    assert calls.to_dict() == {0: 4, 1: 4}


def test_closures_change_between_calls() -> None:
    name: Any = 1

    def body(v: Vector, k: int) -> tuple[Vector, int]:
        return v + name, k + 1

    for name in (1, 2.5, Vector.full(7, 2), 3, True):
        state = (Vector.full(1, 2), 0)
        assert same(sr.while_loop(lambda v, k: k < 3, body, state), plain(lambda v, k: k < 3, body, state)), name


def test_operators_of_equal_code_and_other_numbers_differ() -> None:
    def of(n: int) -> Any:
        return compiled(lambda v, k: k < 2, lambda v, k: (v.apply(lambda x: x * n), k + 1), (Vector.full(1, 2), 0))[
            0
        ].to_dict()

    assert [of(n)[0] for n in (2, 3, 2)] == [4, 9, 4]


def test_functions_of_one_code_and_other_cells_are_apart() -> None:
    def made(v: Vector, w: Vector) -> Any:
        return lambda x, k: (x + v * 2 - w, k + 1)

    v, w = Vector.full(1, 2), Vector.full(5, 2)
    for first, second in ((v, w), (w, v), (v, v)):
        body = made(first, second)
        state = (Vector.full(0, 2), 0)
        assert same(compiled(lambda x, k: k < 3, body, state), plain(lambda x, k: k < 3, body, state))

    def step(k: int) -> int:
        v << v + 1
        return k + 1

    def also(k: int) -> bool:
        return k < w.get(0, 0)

    w = v  # both read one Vector
    before = v.dup()
    assert plain(lambda k: also(k) and k < 9, step, 0) == 9
    after = v.dup()
    v << before
    assert compiled(lambda k: also(k) and k < 9, step, 0) == 9
    assert v.isequal(after)


def test_within_compiled_functions() -> None:
    A = symmetric(60, 120, 0)

    @sr.compile
    def outside(A: Matrix, s: int) -> Any:
        level, depth = levels(sr.while_loop, A, s)
        for _ in range(2):
            level << level + depth
        return level

    level, depth = levels(plain, A, 1)
    assert outside(A, 1).isequal(level + 2 * depth)
    assert [loop.compiled for loop in outside.plan(A, 1).loops[-2:]] == [True, True]  # type: ignore[attr-defined]

    @sr.compile(strict=True)
    def inside(A: Matrix, n: int) -> Any:
        total = Vector(np.int64, A.nrows)
        for s in range(n):
            seen = Vector(bool, A.nrows)
            seen[s] = True
            start = seen.dup()
            found = sr.while_loop(
                lambda f, seen, k: f.nvals and k < 3,
                lambda f, seen, k: (f.vxm(A, "any_pair").dup(bool, mask=~seen.S), seen.ewise_add(f, "lor"), k + 1),
                (start, seen, 0),
            )
            total(found[1].S, accum="plus") << found[2]
        return total

    assert inside(A, 4).isequal(inside.__wrapped__(A, 4))  # type: ignore[attr-defined]

    @sr.compile(strict=True)
    def in_place(n: int) -> Any:
        total = Vector.full(0, 3)
        k = 0
        while k < n:
            k = while_loop(cond=lambda k: k % 4 != 3, body=lambda k: k + 1, state=k + 1)
            v = total + k
            v = while_loop(lambda v: v.reduce("plus").get(0) < 50, lambda v: v + total + 1, v)
            total << total + v
        return total, k

    assert same(in_place(13), in_place.__wrapped__(13))  # type: ignore[attr-defined]


@sr.compile
def around(n: int) -> Any:
    """A loop around one whose body it cannot call."""
    v = Vector.full(0, 2)
    for k in range(n):
        j = sr.while_loop(lambda j: j < 0, abs, k)
        v << v + j
    return v


@sr.compile
def conditional(n: int) -> int:
    """A while_loop that is not evaluated always."""
    k = 0
    while k < n:
        k = k + 1 if k < 3 else sr.while_loop(lambda j: j < 9, lambda j: j + 2, k)
    return k


def test_a_reason_within_a_loop() -> None:
    assert around(4).isequal(around.__wrapped__(4))  # type: ignore[attr-defined]
    found = around.plan(4).loops  # type: ignore[attr-defined]
    assert any("a while_loop in the loop whose body is abs" in loop.reason for loop in found)
    assert not any(loop.compiled for loop in found)
    assert conditional(8) == conditional.__wrapped__(8)  # type: ignore[attr-defined]
    assert "assign its result to a variable" in repr(conditional.plan(8))  # type: ignore[attr-defined]


def test_threads_share_a_loop() -> None:
    A = symmetric(60, 120, 0)

    found: dict[int, Any] = {}

    def run(s: int) -> None:
        found[s] = levels(compiled, A, s)

    threads = [threading.Thread(target=run, args=(s,)) for s in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for s in range(6):
        assert same(found[s], levels(plain, A, s))


def test_functions_are_not_kept() -> None:
    def run() -> list[weakref.ref[Any]]:
        M, v = symmetric(20, 40, 1), Vector.full(1.0, 20)
        compiled(lambda w, k: k < 3, lambda w, k: (w.vxm(M) + v, k + 1), (v, 0))
        return [weakref.ref(v), weakref.ref(M), weakref.ref(M.operand[0].pattern)]

    made = run()
    gc.collect()
    assert [reference() for reference in made] == [None, None, None]


def test_a_definition_in_the_body_is_refused() -> None:
    def body(k: int) -> int:
        def more(k: int) -> int:
            return k + 1

        return more(k)

    assert sr.while_loop(lambda k: k < 3, body, 0) == 3
    (reason,) = reasons(sr.while_loop, lambda k: k < 3, body, 0)
    assert reason.endswith("a definition")


def test_tuples_on_several_paths() -> None:
    def body(v: Vector, k: int) -> tuple[Vector, int]:
        if k % 3 == 0:
            return v + k, k + 1
        elif k % 3 == 1:
            return v * 2, k + 2
        return v - 1, k + 1

    state = Vector.full(1, 3), 0
    assert same(compiled(lambda v, k: k < 9, body, state), plain(lambda v, k: k < 9, body, state))


def test_operators_are_constants() -> None:
    for op in (binary.plus, binary.times, "max"):
        state = (Vector.full(3, 2), 0)
        body = lambda v, k: (v.ewise_add(v, op), k + 1)  # noqa: B023, E731
        assert same(compiled(lambda v, k: k < 3, body, state), plain(lambda v, k: k < 3, body, state))
