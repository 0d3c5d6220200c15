"""Which writes of a program are updates in place, and products that need no multiplication."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring import Matrix, Vector
from semiring.engines.cpu import program
from tests.loops import interpreted
from tests.loops.user_programs import S, delta_stepping


@pytest.fixture(autouse=True)
def _interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run kernels of the CPU engine as Python: each would be compiled."""
    monkeypatch.setattr(program, "_kernel", interpreted.kernel)


def shorter(A: Matrix, d: Vector, limit: float) -> tuple[Vector, Vector]:
    """Lengths, and those that the last iteration improved: the select is used after the write to its operand."""
    last = Vector(float, d.size)
    while d.nvals:
        relaxed = d.vxm(A, "min_plus")
        better = relaxed.ewise_mult(d, "lt").select("==", True)
        d(accum="min") << relaxed
        last = relaxed.dup(mask=better.S)
        if last.nvals == 0 or d.reduce("min").get(0.0) > limit:
            break
    return d, last


def late(A: Matrix, d: Vector, steps: int) -> Vector:
    """The limit of the select is computed after the write: it cannot run before."""
    for _ in range(steps):
        grown = d.ewise_mult(d, "plus")
        d(accum="min") << d.vxm(A, "min_plus")
        limit = d.reduce("min").get(0.0)
        d(accum="max") << grown.select(">", limit)
    return d


def pushed_twice(A: Matrix, v: Vector, steps: int) -> tuple[Vector, int]:
    """Products of a vector that is read once more, and of one that is not."""
    seen = 0
    for _ in range(steps):
        w = v.vxm(A, "plus_times")
        x = v.vxm(A, "any_pair")
        seen += x.nvals
        v = w.vxm(A, "min_plus")
    return v, seen


def products(v: Vector, A: Matrix, x: Vector, y: Vector) -> tuple[Vector, Vector]:
    """Products from both sides."""
    for _ in range(2):
        x << v.vxm(A, "plus_times")
        y << A.mxv(v, "min_times")
    return x, y


def equal(a: Any, b: Any) -> bool:
    """Return whether results are equal, NaN included."""
    if isinstance(a, tuple):
        return all(map(equal, a, b))
    return bool(a.isequal(b, check_dtype=True)) if isinstance(a, Vector) else a == b


def both(function: Any, *arguments: Any) -> Any:
    """Return the result of a compiled function, which is that of plain Python on copies of the vectors."""
    copies = [value.dup() if isinstance(value, Vector) else value for value in arguments]
    expected = function(*copies)
    found = sr.compile(strict=True)(function)(*arguments)
    assert equal(expected, found)
    return found


def test_writes_of_delta_stepping_are_in_place() -> None:
    lines = str(sr.compile(strict=True)(delta_stepping).plan(S, 0)).splitlines()
    writes = [line for line in lines if "= write(dist" in line]
    assert len(writes) == 2
    assert all(line.endswith("in place)") for line in writes)


def test_a_reader_of_the_old_version_runs_before_the_write() -> None:
    d = Vector.from_coo([0, 3], [0.0, 1.0], size=S.nrows)
    both(shorter, S, d.dup(), 20.0)
    assert "min, in place" in str(sr.compile(strict=True)(shorter).plan(S, d, 20.0))


def test_a_reader_that_needs_a_later_number_stays() -> None:
    both(late, S, Vector.from_coo([0, 3, 7], [5.0, 1.0, 2.0], size=S.nrows), 4)


def test_a_vector_that_is_read_again_is_not_emptied() -> None:
    both(pushed_twice, S, Vector.from_coo([1, 5, 9], [1.0, 2.0, 3.0], size=S.nrows), 3)


@pytest.mark.costly
@pytest.mark.parametrize("value", [True, np.int8(1), 1.0, 2.0, np.nan])
@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.int64, np.float32, np.float64])
def test_products_with_a_matrix_of_one_value(value: Any, dtype: Any) -> None:
    n = 6
    at = np.arange(n)
    A = Matrix.from_coo(np.r_[at, at], np.r_[(at + 1) % n, (at + 3) % n], value, nrows=n, ncols=n)
    numbers = np.array([0.0, -0.0, np.nan, np.inf, -np.inf, 3.5]) if dtype().dtype.kind == "f" else [0, 1, 2, 3, 0, 100]
    for v in (
        Vector.from_dense(np.array(numbers).astype(dtype)),
        Vector.from_coo([0, 2, 5], np.array(numbers)[[0, 2, 5]].astype(dtype), size=n),
    ):
        x, y = v.vxm(A, "plus_times").dup(), A.mxv(v, "min_times").dup()
        both(products, v, A, x, y)


def leveled(A: Matrix, s: int) -> int:
    """A search with a list of its levels."""
    seen = Vector.from_coo([s], True, size=A.nrows)
    frontier = seen.dup()
    levels = [frontier.dup()]
    while frontier.nvals:
        frontier = frontier.vxm(A, "any_pair", mask=~seen.S).dup(bool)
        seen(frontier.S) << True
        levels.append(frontier)
    return sum(each.nvals for each in levels)


def test_a_program_has_hubs_and_lists() -> None:
    A = S.apply("one").dup(bool)
    A.T.wait()
    both(leveled, A, 0)


def indexed(v: Vector, w: Vector, p: Vector, steps: int) -> Vector:
    """An extraction from the old version of a vector, by positions that a step after the write checks."""
    for _ in range(steps):
        old = v
        v = v.dup()
        v(accum="plus") << w
        w << old[p]
    return v


@pytest.mark.parametrize("last", [2, 9])
def test_an_extraction_stays_behind_the_check_of_its_positions(last: int) -> None:
    def arguments() -> tuple[Vector, Vector, Vector]:
        return Vector.from_dense([1, 2, 3]), Vector.from_dense([4, 5, 6]), Vector.from_dense([0, 1, last])

    if last < 3:
        both(indexed, *arguments(), 3)
    else:
        for function in (indexed, sr.compile(indexed)):
            with pytest.raises(sr.exceptions.IndexOutOfBound):
                function(*arguments(), 3)
