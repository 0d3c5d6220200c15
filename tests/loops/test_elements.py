"""Compiled loops that read and write single elements."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring import Matrix, Vector
from semiring.engines.cpu import program
from tests.loops import interpreted

VECTORS: list[Callable[[], Vector]] = [
    lambda: Vector.from_coo([1, 3], [5, 6], size=5),
    lambda: Vector.from_dense([1, 2, 3, 4, 5]),
    lambda: Vector.from_dense([1.0, 2.0, -0.0, 4.0, 5.5]),
    lambda: Vector.full(True, 5),
    lambda: Vector.full(3, 5),
    lambda: Vector.from_coo([0, 1, 2], np.array([1, 2, 3], np.int8), size=5),
    lambda: Vector(float, 5),
]


@pytest.fixture(autouse=True)
def _interpreted(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(program, "_kernel", interpreted.kernel)
    with sr.use("cpu"):
        yield


def constant_index(v: Vector, n: int) -> Vector:
    """Write at constant positions, of which one counts from the end."""
    for k in range(n):
        v[2] = k
        v[-1] << 7
    return v


def computed_index(v: Vector, n: int) -> Vector:
    """Write where the loop computes."""
    k = 0
    while k < n:
        v[k] = k * k
        v[k](accum="plus") << 3
        k += 1
    return v


def augmented(v: Vector, n: int) -> Vector:
    """Combine with what is stored."""
    for k in range(n):
        v[k] += 2
        v[k] *= v[0]
        v[1] -= k
    return v


def copied(v: Vector, n: int) -> tuple[Vector, Vector]:
    """Write elements of another vector, which may lack them."""
    w = v.dup()
    for k in range(n):
        w[k] = v[n - k - 1]
        w[k] << v.get(k, 0)
    return v, w


def regions(v: Vector, n: int) -> Vector:
    """Write slices, and combine with them."""
    for k in range(n):
        v[1:3] = k
        v[2:] += 1
    return v


def members(v: Vector, n: int) -> tuple[int, Vector]:
    """Test for entries."""
    found = 0
    one = Vector(int, 1)
    for k in range(n):
        if k in v and k + 1 not in v:
            found += 1
        one[k - k] = found
    return found, one


FUNCTIONS = [constant_index, computed_index, augmented, copied, regions, members]


def outcome(function: Any, *arguments: Any) -> Any:
    """Return what a function returns, or its error, in a form that compares types and signs of zeros too."""
    try:
        found = function(*arguments)
    except Exception as error:
        return type(error).__name__, str(error)
    return [
        (item.to_dict().__repr__(), item.dtype) if isinstance(item, Vector) else repr(item)
        for item in (found if isinstance(found, tuple) else (found,))
    ]


@pytest.mark.costly
@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("kind", range(len(VECTORS)))
def test_elements_are_those_of_python(function: Any, kind: int) -> None:
    for n in (0, 2, 4, 9):
        assert outcome(function, VECTORS[kind](), n) == outcome(sr.compile(function), VECTORS[kind](), n)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_loops_over_elements_are_compiled(function: Any) -> None:
    (loop,) = sr.compile(function).plan(Vector.from_dense([1, 2, 3, 4, 5]), 3).loops
    assert loop.compiled, loop


def test_an_index_out_of_range_raises_as_in_python_and_changes_nothing() -> None:
    v = Vector.from_dense([1, 2, 3, 4, 5])
    with pytest.raises(sr.exceptions.IndexOutOfBound):
        sr.compile(strict=True)(computed_index)(v, 6)
    assert v.to_dict() == {0: 1, 1: 2, 2: 3, 3: 4, 4: 5}


def test_an_element_that_is_missing_deletes_step_by_step() -> None:
    v = Vector.from_coo([1, 3], [5, 6], size=5)
    (loop,) = sr.compile(copied).plan(v, 3).loops
    assert not loop.compiled
    assert not loop.reason
    assert "a check of the program failed" in str(loop)


def test_elements_of_a_matrix_run_step_by_step() -> None:
    def diagonal(A: Matrix, n: int) -> Matrix:
        k = 0
        while k < n:
            A[k, k] = k
            k += 1
        return A

    A = Matrix(int, 3, 3)
    assert sr.compile(diagonal)(A, 3).isequal(diagonal(Matrix(int, 3, 3), 3))
    assert sr.compile(diagonal).plan(A, 3).loops[0].reason


def test_element_reads_and_loops_that_end_by_them() -> None:
    @sr.compile(strict=True)
    def until(v: Vector, at: int) -> tuple[int, Any]:
        k = 0
        while v.get(at) is None or v.get(at, 0) < 8:
            v(accum="plus") << 3
            k += 1
            if k > 20:
                break
        return k, v.get(at, 0)

    assert until(Vector.from_coo([1], 1, size=4), 1) == (3, 10)
    assert until(Vector.from_coo([1], 1, size=4), 2) == (3, 9)
    assert until.__wrapped__(Vector.from_coo([1], 1, size=4), 2) == (3, 9)  # type: ignore[attr-defined]
    with pytest.raises(sr.exceptions.IndexOutOfBound):
        until(Vector.from_coo([1], 1, size=4), 4)
