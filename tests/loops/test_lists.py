"""Compiled loops that add vectors to lists, and read them."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

import networkx as nx
import numpy as np
import pytest

import semiring as sr
from semiring import Matrix, Vector
from semiring.engines.cpu import program
from tests.loops import interpreted
from tests.loops.programs import symmetric


@pytest.fixture(autouse=True)
def _interpreted(request: Any, monkeypatch: pytest.MonkeyPatch, device: str) -> Iterator[None]:
    if "costly" not in request.keywords:
        monkeypatch.setattr(program, "_kernel", interpreted.kernel)
    with sr.use(device):
        yield


def dependencies(A: Matrix, s: int) -> Vector:
    """Dependencies of a source: a forward search, and a backward pass along its levels (Brandes)."""
    n = A.nrows
    paths = Vector.from_coo([s], 1.0, size=n)
    frontier = paths.dup()
    levels = []
    while frontier.nvals:
        levels.append(frontier)
        frontier = frontier.vxm(A, "plus_first", mask=~paths.S)
        paths(accum="plus") << frontier
    delta = Vector.full(0.0, n)
    for level in reversed(levels):
        share = (delta + 1.0).ewise_mult(paths, "truediv").dup(mask=level.S)
        arriving = A.mxv(share, "plus_second").ewise_mult(paths, "times")
        before = Vector(bool, n)
        before(~level.S) << True
        delta(accum="plus") << arriving.dup(mask=before.S)
    return delta


def betweenness(A: Matrix, most: int) -> Vector:
    """Betweenness centrality of the first sources: lists are made within a loop."""
    n = A.nrows
    total = Vector.full(0.0, n)
    for s in range(most):
        paths = Vector(float, n)
        paths[s] = 1.0
        frontier = paths.dup()
        levels = []
        while frontier.nvals:
            levels.append(frontier.dup())
            frontier(~paths.S, replace=True) << frontier.vxm(A, "plus_first")
            paths(accum="plus") << frontier
        delta = Vector.full(0.0, n)
        depth = len(levels) - 1
        while depth > 0:
            level = levels[depth]
            share = (delta + 1.0).ewise_mult(paths, "truediv").dup(mask=level.S)
            above = levels[depth - 1]
            delta(above.S, accum="plus") << A.mxv(share, "plus_second").ewise_mult(paths, "times")
            depth -= 1
        delta[s] = 0.0
        total << total + delta
    return total


def appended(v: Vector, n: int) -> tuple[Any, ...]:
    """Add, and remove in the end."""
    kept = [v]
    for k in range(n):
        v = v + k
        kept.append(v)
        kept.append(v * 2)
        if k % 3 == 2:
            kept.pop()
    total = Vector.full(0, 5)
    while kept:
        total << total + kept.pop()
        if len(kept) == 2:
            break
    return total, *kept


def items(v: Vector, n: int) -> tuple[Any, ...]:
    """Read items from both ends, and iterate forward."""
    kept = []
    k = 0
    while k < n:
        kept.append(v.select(">", k))
        v = kept[-1] + kept[k // 2]
        k += 1
    total = Vector(int, 5)
    for each in kept:
        total(accum="plus") << each
        total(accum="max") << kept[0]
    return total, v, *kept


def outcome(function: Any, *arguments: Any) -> Any:
    """Return the contents of what a function returns, or its error."""
    try:
        found = function(*arguments)
    except Exception as error:
        return type(error).__name__, str(error)
    return [(each.to_dict(), each.dtype) for each in (found if isinstance(found, tuple) else (found,))]


VECTORS = [
    lambda: Vector.from_coo([1, 3], [5, 6], size=5),
    lambda: Vector.from_dense([1, 2, 3, 4, 5]),
    lambda: Vector.full(4, 5),
    lambda: Vector.from_coo([1, 3], np.array([5, 6], np.int32), size=5),
    lambda: Vector(int, 5),
]


@pytest.mark.costly
@pytest.mark.parametrize("function", [appended, items])
def test_lists_are_those_of_python(function: Any) -> None:
    for make in VECTORS:
        for n in (0, 1, 2, 6):
            assert outcome(function, make(), n) == outcome(sr.compile(function), make(), n), (n, make())


@pytest.mark.parametrize("function", [appended, items])
def test_lists_are_compiled(function: Any) -> None:
    loops = sr.compile(function).plan(Vector.from_dense([1, 2, 3, 4, 5]), 4).loops
    assert len(loops) == 2
    assert all(loop.compiled for loop in loops), loops


def test_a_list_that_outgrows_its_arrays(monkeypatch: pytest.MonkeyPatch, device: str) -> None:
    module = importlib.import_module(f"semiring.engines.{device}.program_lists")
    monkeypatch.setattr(module, "_FIRST", 2)
    assert outcome(items, VECTORS[1](), 40) == outcome(sr.compile(strict=True)(items), VECTORS[1](), 40)


@pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=pytest.mark.costly)])
def test_betweenness_agrees_with_networkx(compiled: bool) -> None:
    A = symmetric(30, 60, 3)
    expected = nx.betweenness_centrality(nx.from_numpy_array(A.to_numpy(fill_value=0)), normalized=False)
    made = sr.compile(strict=True)(betweenness)
    found = made(A, 30)
    assert found.to_numpy() / 2 == pytest.approx([expected[v] for v in range(30)])
    (loop,) = made.plan(A, 30).loops
    assert loop.compiled
    for s in (0, 7):
        expected_dependencies = dependencies(A, s)
        assert sr.compile(strict=True)(dependencies)(A, s).isclose(expected_dependencies, rel_tol=1e-12)
    assert [loop.compiled for loop in sr.compile(dependencies).plan(A, 0).loops] == [True, True]


def test_a_list_of_the_caller_changes_as_in_python() -> None:
    def extended(kept: list[Vector], v: Vector, n: int) -> None:
        for k in range(n):
            kept.pop()
            kept.append(v + k)
            kept.append(v)

    first, second, v = Vector.full(1, 3), Vector.full(2, 3), Vector.from_dense([1, 2, 3])
    expected, found = [first, second], [first, second]
    extended(expected, v, 3)
    sr.compile(strict=True)(extended)(found, v, 3)
    assert found[0] is first
    assert [each.to_dict() for each in found] == [each.to_dict() for each in expected]


def test_lists_that_run_step_by_step() -> None:
    def written(v: Vector, n: int) -> list[Vector]:
        kept = [v.dup()]
        for k in range(n):
            kept.append(v)
            v << v + k
        return kept

    def item_written(v: Vector, n: int) -> list[Vector]:
        kept = [v.dup(), v.dup()]
        for k in range(n):
            w = kept[0]
            w << w + k
        return kept

    def changed(v: Vector, n: int) -> list[Vector]:
        kept = [v]
        for each in kept:
            if len(kept) < n:
                kept.append(each + 1)
        return kept

    def numbers(v: Vector, n: int) -> list[Any]:
        kept: list[Any] = []
        for k in range(n):
            kept.append(k)
        return kept

    def several(v: Vector, n: int) -> list[Vector]:
        kept = [v.dup(), v * 0.5]
        for _ in range(n):
            kept.append(v)
        return kept

    def popped(v: Vector, n: int) -> list[Vector]:
        kept = [v.dup(), v.dup(), v.dup()]
        for k in range(n):
            v = kept.pop()
            v << v + k
        return kept

    def named(v: Vector, n: int) -> list[Vector]:
        kept = []
        for _ in range(n):
            kept.append(v)
        v << v * 2
        return kept

    def beyond(v: Vector, n: int) -> Vector:
        kept = [v.dup()]
        for _ in range(n):
            v << v + kept.pop()
        return v

    reasons = {
        written: "a write to a Vector that a list holds, too",
        item_written: "a write to a Vector that a list holds, too",
        changed: "a change of a list in a loop over it",
        numbers: "a list of numbers",
        several: "a list of vectors",
        popped: "a write to a Vector that a list holds, too",
        named: "the vector v is held by a list, and used after the loop",
    }
    v = Vector.from_dense([1, 2, 3])
    for function, reason in reasons.items():
        loops = sr.compile(function).plan(v, 3).loops
        assert reason in loops[0].reason, function.__name__
        expected, found = function(v.dup(), 3), sr.compile(function)(v.dup(), 3)  # type: ignore[operator]
        assert repr(expected) == repr(found)
    with pytest.raises(IndexError):
        sr.compile(strict=True)(beyond)(v, 3)
