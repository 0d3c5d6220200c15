"""Compiled loops that are called with other matrices: the program is that of the first one, where kinds are equal."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring import Matrix, Vector
from semiring.engines.cpu import program
from tests.loops import interpreted
from tests.loops.programs import PROGRAMS, symmetric


@pytest.fixture(autouse=True)
def _interpreted(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(program, "_kernel", interpreted.kernel)
    with sr.use("cpu"):
        yield


def directed(seed: int, dtype: Any = float, n: int = 12, edges: int = 30) -> Matrix:
    """A random directed graph; almost surely no structure of two seeds is equal."""
    rng = np.random.default_rng(seed)
    rows, cols = rng.integers(0, n, edges), rng.integers(0, n, edges)
    return Matrix.from_coo(rows, cols, rng.integers(1, 9, edges).astype(dtype), nrows=n, ncols=n, dup_op="min")


def same(a: Any, b: Any) -> bool:
    """Return whether two results are equal."""
    if isinstance(a, tuple):
        return all(map(same, a, b))
    return bool(a.isclose(b, rel_tol=1e-9)) if isinstance(a, Vector) else a == pytest.approx(b)


def reached(A: Matrix, s: int) -> Vector:
    """The vertices that are reached, along edges."""
    seen = Vector.from_coo([s], True, size=A.nrows)
    frontier = seen.dup()
    while frontier.nvals:
        frontier(~seen.S, replace=True) << frontier.vxm(A, "any_pair")
        seen(frontier.S) << True
    return seen


def reached_back(A: Matrix, s: int) -> Vector:
    """The vertices that are reached, against edges."""
    seen = Vector.from_coo([s], True, size=A.nrows)
    frontier = seen.dup()
    while frontier.nvals:
        frontier(~seen.S, replace=True) << frontier.vxm(A.T, "any_pair")
        seen(frontier.S) << True
    return seen


def lengths(A: Matrix, s: int) -> Vector:
    """Lengths of shortest paths along edges of a weight of 2 or more."""
    B = A.select(">=", 2)
    length = Vector.from_coo([s], 0.0, size=A.nrows)
    for _ in range(A.nrows):
        length(accum="min") << length.vxm(B, "min_plus")
    return length


@pytest.mark.parametrize("function", [reached, reached_back, lengths])
def test_another_matrix_of_the_same_kind_is_not_traced(function: Callable[..., Vector], traces: list[int]) -> None:
    compiled = sr.compile(strict=True)(function)
    graphs = [directed(seed) for seed in range(5)]
    found = [compiled(A, 0) for A in graphs]
    assert len(traces) == 1
    assert [v.to_dict() for v in found] == [function(A, 0).to_dict() for A in graphs]
    assert len({str(v.to_dict()) for v in found}) > 1


@pytest.mark.costly
@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_programs_with_several_matrices(name: str, traces: list[int]) -> None:
    function, rest = PROGRAMS[name]
    compiled = sr.compile(function)
    for seed in (1, 2):
        A = symmetric(20, 120, seed)  # every vertex has edges
        expected = function(A, *rest)
        before = len(traces)
        found = compiled(A, *rest)
        if "parents" in name:
            found, expected = found.apply("one"), expected.apply("one")
        assert same(found, expected)
    assert before == len(traces)


@pytest.mark.parametrize("dtype", [np.int32, bool])
def test_another_type_is_traced(dtype: Any, traces: list[int]) -> None:
    compiled = sr.compile(strict=True)(lengths)
    for A in (directed(1), directed(1, dtype), directed(2), directed(2, dtype)):
        assert same(compiled(A, 0), lengths(A, 0))
    assert len(traces) == 2


def test_a_symmetric_structure_is_another_kind(traces: list[int]) -> None:
    compiled = sr.compile(strict=True)(reached)
    graphs = [directed(1), symmetric(12, 30, 1), directed(2), symmetric(12, 30, 2)]
    for A in graphs:
        assert same(compiled(A, 0), reached(A, 0))
    assert len(traces) == 2


def by_entries(A: Matrix, v: Vector) -> Vector:
    """The loop reads the number of entries."""
    for _ in range(3):
        v = v.vxm(A, "plus_times") + A.nvals
    return v


def by_element(A: Matrix, v: Vector) -> Vector:
    """The loop reads an element."""
    for _ in range(3):
        v = v.vxm(A, "plus_times") + A.get(0, 1, 0.5)
    return v


def by_rows(A: Matrix, v: Vector) -> Vector:
    """The loop has an operation on the matrix alone."""
    for _ in range(3):
        v = v.vxm(A, "plus_times").ewise_add(A.reduce_rowwise("plus"), "plus")
    return v


def by_transpose(A: Matrix, v: Vector) -> Vector:
    """The loop reads what the transpose has."""
    for _ in range(3):
        v = v.vxm(A, "plus_times") + A.T.nvals + len(A.T.to_coo()[0])
    return v


@pytest.mark.parametrize("function", [by_entries, by_element, by_rows, by_transpose])
def test_a_loop_that_reads_the_contents_is_traced(function: Callable[..., Vector], traces: list[int]) -> None:
    compiled = sr.compile(function)
    for seed in range(3):
        A, v = directed(seed, edges=20 + seed), Vector.full(1.0, 12)
        assert same(compiled(A, v), function(A, v))
    assert len(traces) == 3
    for seed in range(3):  # new matrices: traced once each
        A = directed(seed, edges=20 + seed)
        compiled(A, Vector.full(1.0, 12))
        compiled(A, Vector.full(1.0, 12))
    assert len(traces) == 6


def two(A: Matrix, B: Matrix, v: Vector) -> Vector:
    """Steps of two matrices by turns."""
    for _ in range(3):
        v = v.vxm(A, "max_plus").ewise_add(v, "max")
        v = v.vxm(B, "max_plus").ewise_add(v, "max")
    return v


@pytest.mark.costly
def test_two_variables_of_one_matrix_and_of_two(traces: list[int]) -> None:
    compiled = sr.compile(strict=True)(two)
    A, B, C, v = directed(1), directed(2), directed(3), Vector.from_coo([0], 0.0, size=12)
    for pair in ((A, A), (A, B), (B, B), (B, C), (C, A), (A, A.T), (B, B.T), (A.T, A)):
        assert same(compiled(*pair, v), two(*pair, v))
    assert len(traces) == 4  # one matrix, two, one with its transpose, the transpose with it


def given_back(A: Matrix, v: Vector) -> Any:
    """Return the matrix from within the loop."""
    while True:
        v = v.vxm(A, "any_pair")
        if v.nvals < 12:
            return v, A
    return None


def test_a_matrix_that_a_loop_returns_is_that_of_the_caller() -> None:
    compiled = sr.compile(given_back)
    for seed in (1, 2):
        A = directed(seed)
        assert compiled(A, Vector.from_coo([0], True, size=12))[1] is A


def test_labels_of_the_matrix_are_those_of_the_result() -> None:
    compiled = sr.compile(reached)
    for names in ("abcd", "dcba"):
        A = Matrix.from_edgelist([(names[0], names[1]), (names[1], names[2]), (names[3], names[0])], relabel=True)
        assert compiled(A, 0).to_dict() == reached(A, 0).to_dict()


def test_the_plan_of_another_matrix_names_the_program() -> None:
    compiled = sr.compile(strict=True)(reached)
    first, second = (str(compiled.plan(directed(seed), 0)) for seed in (1, 2))
    assert first.splitlines()[2:] == second.splitlines()[2:] != []


def test_a_matrix_that_was_dropped_is_not_read(traces: list[int]) -> None:
    compiled = sr.compile(strict=True)(lengths)
    for seed in range(40):  # more than are kept; identities of dropped matrices return
        A = directed(seed % 7)
        assert same(compiled(A, 0), lengths(A, 0))
    assert len(traces) == 1


def test_a_program_is_traced_once_for_types(traces: list[int]) -> None:
    @sr.compile
    def steps(A: Matrix, v: Vector, x: float) -> Vector:
        for _ in range(2):
            v = v.vxm(A) * x
        return v

    A = Matrix.from_coo([0, 1], [1, 0], [1.0, 2.0], nrows=2, ncols=2)
    for x in (0.5, 2.0, 3.5):
        steps(A, Vector.from_dense([x, 1.0]), x)
    assert len(traces) == 1
    steps(A, Vector.from_dense([1, 1]), 1.0)
    assert len(traces) == 2
    doubled = steps(A * 2.0, Vector.from_dense([1.0, 1.0]), 1.0)  # another matrix of the same kind
    assert (len(traces), doubled.to_dict()) == (2, {0: 8.0, 1: 8.0})
    steps(A.dup(int), Vector.from_dense([1.0, 1.0]), 1.0)
    assert len(traces) == 3


def test_a_program_does_not_keep_matrices_alive() -> None:
    @sr.compile
    def steps(A: Matrix, v: Vector) -> Vector:
        for _ in range(2):
            v = v.vxm(A, "min_plus")
        return v

    A = Matrix.from_coo([0, 1], [1, 0], [1.0, 2.0], nrows=2, ncols=2)
    steps(A, Vector.from_dense([1.0, 1.0]))
    pattern, entries = weakref.ref(A.store.pattern), weakref.ref(A.store.pattern.entries)
    del A
    gc.collect()
    assert pattern() is None
    assert entries() is None
