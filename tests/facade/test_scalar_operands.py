"""Every parameter that accepts a scalar: operands promote as in NumPy's result_type, assignment casts."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from semiring import Matrix, Scalar, Vector, binary, select
from semiring.exceptions import DomainMismatch, InvalidValue
from tests import sampling

VALUES = [1, 2, 3]


def vector(dtype: Any) -> Vector:
    return Vector.from_coo([0, 1, 3], np.array(VALUES, dtype), size=5)


def matrix(dtype: Any) -> Matrix:
    return Matrix.from_coo([0, 0, 1], [0, 1, 1], np.array(VALUES, dtype), shape=(2, 2))


# Operations of a scalar k on the values [1, 2, 3] of x, and NumPy's result for an array a of them.
OPERANDS: dict[str, tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]] = {
    "apply right": (lambda x, k: x.apply("plus", right=k), lambda a, k: a + k),
    "apply left": (lambda x, k: x.apply("minus", left=k), lambda a, k: k - a),
    "apply a function": (lambda x, k: x.apply(lambda x, y: x + y, right=k), lambda a, k: a + k),
    "+": (lambda x, k: x + k, lambda a, k: a + k),
    "reflected -": (lambda x, k: k - x, lambda a, k: k - a),
    "*": (lambda x, k: x * k, lambda a, k: a * k),
    "plus called": (lambda x, k: binary.plus(x, k), lambda a, k: a + k),
    "union, right default": (
        lambda x, k: x.ewise_union(x.dup(clear=True), "plus", 0, k),
        lambda a, k: a + k,
    ),
    "union, left default": (
        lambda x, k: x.dup(clear=True).ewise_union(x, "minus", k, 0),
        lambda a, k: k - a,
    ),
    ">": (lambda x, k: x > k, lambda a, k: a > k),
    "reflected <": (lambda x, k: k < x, lambda a, k: k < a),
    "==": (lambda x, k: x == k, lambda a, k: a == k),
    "compare by apply": (lambda x, k: x.apply("ge", right=k), lambda a, k: a >= k),
    "select": (lambda x, k: x.select(">=", k), lambda a, k: a[a >= k]),
    "select by comparison": (lambda x, k: select.value(x >= k), lambda a, k: a[a >= k]),
}
SCALARS: list[Any] = [2, 2.5, True, np.float32(2.5), np.int16(2), np.float64(2.5), np.uint8(2)]
TYPES = [np.int8, np.uint8, np.int64, np.float32]


# The CPU engine compiles a kernel for each, so a short run draws so many; the types of all are tested below.
COMPILED = sampling.draw("scalar operands", OPERANDS, 4)


@pytest.mark.parametrize(
    "place",
    [pytest.param(place, marks=sampling.marks(place, COMPILED, pytest.mark.wide)) for place in OPERANDS],
)
@pytest.mark.parametrize("make", [vector, pytest.param(matrix, marks=pytest.mark.wide)])
def test_operands_promote_as_numpy(place: str, make: Callable[[Any], Any], engine: str) -> None:
    ours, numpys = OPERANDS[place]
    # All types once, every scalar beside int8; on the CPU engine, which compiles a kernel for each, one of these pairs.
    pairs = [(np.int8, k) for k in SCALARS] + [(dtype, 2.5) for dtype in TYPES]
    few = engine == "cpu" and not sampling.exhaustive
    for dtype, k in sampling.draw(f"scalar operands, {place}", pairs, 1 if few else len(pairs)):
        found, expected = ours(make(dtype), k), numpys(np.array(VALUES, dtype), k)
        values = found.to_coo()[-1]
        assert values.dtype == expected.dtype, (dtype, k)
        assert values.tolist() == pytest.approx(expected.tolist()), (dtype, k)
        wrapped = Scalar.from_value(k)
        assert ours(make(dtype), wrapped).to_coo()[-1].tolist() == pytest.approx(expected.tolist())


@pytest.mark.parametrize("place", OPERANDS)
def test_types_promote_as_numpy(place: str) -> None:
    """The type alone, which needs no kernel."""
    ours, numpys = OPERANDS[place]
    for dtype in TYPES:
        for k in SCALARS:
            expected = numpys(np.array(VALUES, dtype), k)
            assert ours(vector(dtype), k).dtype == expected.dtype, (dtype, k)


def test_an_integer_that_does_not_fit_widens() -> None:
    x = vector(np.int8)
    assert (x + 300).to_dict() == {0: 301, 1: 302, 3: 303}
    assert x.ewise_union(x.dup(clear=True), "plus", 0, 300).to_dict() == {0: 301, 1: 302, 3: 303}
    assert x.select("<", 300).nvals == 3
    assert x.to_dense(300).tolist() == [1, 2, 300, 3, 300]
    assert (Scalar.from_value(1, np.int8) + 300, 300 - Scalar.from_value(1, np.int8)) == (301, 299)


LOSSY: dict[str, Callable[[], Any]] = {
    "apply": lambda: vector(np.uint64).apply("plus", right=-1),
    "+": lambda: vector(np.int64) + 2**63,
    "union": lambda: vector(np.uint64).ewise_union(vector(np.uint64), "plus", 0, -1),
    "select": lambda: vector(np.uint64).select(lambda x, i, j, k: x + k > 0, -1),
    "dense": lambda: vector(np.uint64).to_dense(-1),
    "beyond every type": lambda: vector(np.int64) * 2**64,
    "Scalar": lambda: Scalar.from_value(1, np.uint64) + -1,
}


@pytest.mark.parametrize("place", LOSSY)
def test_integers_do_not_become_floats_unasked(place: str) -> None:
    with pytest.raises(InvalidValue, match="no integer type holds both"):
        LOSSY[place]()


COMPARISONS = [operator.lt, operator.eq, operator.ge, operator.le, operator.gt, operator.ne]
COMPARED = sampling.draw("comparisons", COMPARISONS, 2)  # the CPU engine compiles a kernel for each


@pytest.mark.parametrize(
    "compare",
    [pytest.param(compare, marks=sampling.marks(compare, COMPARED, pytest.mark.wide)) for compare in COMPARISONS],
)
def test_comparisons_with_integers_are_exact(compare: Any) -> None:
    name = compare.__name__
    for dtype in (np.int64, np.uint64):
        low, high = (int(end) for end in (np.iinfo(dtype).min, np.iinfo(dtype).max))
        v = Vector.from_dense(np.array([low, low + 1, high - 1, high], dtype))
        for k in (
            low - 1,
            low,
            high,
            high + 1,
            2**70,
            -(2**70),
            np.uint64(2**63 + 1),
            np.int64(2**62 + 1),
            np.int8(-1),
        ):
            expected = [compare(x, int(k)) for x in v.to_numpy().tolist()]
            for found in (compare(v, k), v.apply(name, right=k), v.apply(f"value{name}", right=k)):
                assert found.to_numpy().tolist() == expected, (dtype, k)
            for kept in (select.value(compare(v, k)), v.select(f"value{name}", k), v.diag().select(f"value{name}", k)):
                assert kept.nvals == sum(expected), (dtype, k)
            expected = [compare(int(k), x) for x in v.to_numpy().tolist()]
            assert v.apply(name, left=k).to_numpy().tolist() == expected, (dtype, k)


@pytest.mark.parametrize("compare", COMPARISONS)
def test_comparisons_of_a_scalar_with_integers_are_exact(compare: Any) -> None:
    name = compare.__name__
    for dtype in (np.bool_, np.int8, np.uint8, np.int64, np.uint64):
        low, high = (0, 1) if dtype == np.bool_ else (int(end) for end in (np.iinfo(dtype).min, np.iinfo(dtype).max))
        for x in (low, high):
            s = Scalar.from_value(x, dtype)
            for k in (low - 1, low, high, high + 1, 2**70, -(2**70), np.uint64(2**63 + 1), np.int64(-1)):
                expected = compare(x, int(k))
                assert s.select(f"value{name}", k).is_empty is not expected, (dtype, x, k)
                assert s.apply(name, right=k).value == expected, (dtype, x, k)
                assert s.apply(name, left=k).value == compare(int(k), x), (dtype, x, k)


def test_a_comparison_by_position_has_the_bound_that_was_given() -> None:
    A = Matrix.from_coo([0, 500], [0, 0], np.array([1, 2], np.int8), shape=(501, 1))
    assert select.row(A > 300).to_dicts() == {500: {0: 2}}


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64])
def test_a_large_integer_beside_floats_is_one(dtype: Any) -> None:
    for x in (vector(dtype), Scalar.from_value(1, dtype)):
        made = x.apply("first", left=2**70)
        assert (made[0] if x.ndim else made).value == 2.0**70
        with pytest.raises(InvalidValue, match="integer of 3322 bits"):
            x.apply("plus", right=10**1000)


POSITIONS: dict[str, Callable[[Any], Any]] = {
    "tril": lambda k: matrix(int).select("tril", k),
    "rowle": lambda k: matrix(int).select("rowle", k),
    "diag": lambda k: select.diag(matrix(int), k),
    "rowindex": lambda k: matrix(int).apply("rowindex", k),
    "a function of positions": lambda k: matrix(int).select(lambda x, i, j, k: j - i < k, k),
}


@pytest.mark.parametrize("place", POSITIONS)
@pytest.mark.parametrize("k", [0.5, -1.5, np.nan, np.inf, 2**63, 1e300, np.float32(0.25)])
def test_a_position_is_no_fraction(place: str, k: Any) -> None:
    with pytest.raises(InvalidValue, match=r"position|no integer type"):
        POSITIONS[place](k)


@pytest.mark.parametrize("place", POSITIONS)
def test_a_whole_float_is_a_position(place: str) -> None:
    assert POSITIONS[place](1.0).isequal(POSITIONS[place](1))


# Where a scalar is written, it is cast: 2.7 to 2, 300 of int8 to 44.
TARGETS: dict[str, Callable[[Any], Any]] = {
    "element": lambda k: _written(vector(np.int8), lambda v: v.__setitem__(0, k))[0],
    "element <<": lambda k: _written(vector(np.int8), lambda v: v[0] << k)[0],
    "region": lambda k: _written(vector(np.int8), lambda v: v.__setitem__(slice(0, 2), k))[0],
    "all": lambda k: _written(vector(np.int8), lambda v: v << k)[4],
    "masked": lambda k: _written(vector(np.int8), lambda v: v(v.S) << k)[0],
    "matrix": lambda k: _written(matrix(np.int8), lambda A: A.__setitem__((0, 0), k))[0, 0],
    "diagonal": lambda k: _written(matrix(np.int8), lambda A: A.setdiag(k))[0, 0],
    "Vector.full": lambda k: Vector.full(k, 2, np.int8)[0],
    "Vector.from_coo": lambda k: Vector.from_coo([0], k, np.int8)[0],
    "Matrix.from_scalar": lambda k: Matrix.from_scalar(k, 1, 1, np.int8)[0, 0],
    "Matrix.identity": lambda k: Matrix.identity(1, np.int8, value=k)[0, 0],
    "Matrix.from_coo": lambda k: Matrix.from_coo([0], [0], k, np.int8)[0, 0],
    "Scalar.from_value": lambda k: Scalar.from_value(k, np.int8),
    "to_dense with a type": lambda k: Vector(np.int8, 1).to_dense(k, dtype=np.int8)[0],
    "Matrix.to_dense with a type": lambda k: Matrix(np.int8, 1, 1).to_dense(k, dtype=np.int8)[0, 0],
}


def _written(x: Any, write: Callable[[Any], Any]) -> Any:
    write(x)
    return x


@pytest.mark.parametrize("place", TARGETS)
@pytest.mark.parametrize(("k", "expected"), [(2.7, 2), (-2.7, -2), (300, 44), (1e9, 127), (np.nan, 0), (True, 1)])
def test_what_is_written_is_cast(place: str, k: Any, expected: int) -> None:
    found = TARGETS[place](k)
    assert (int(found), found.dtype) == (expected, np.int8)


@pytest.mark.parametrize("place", TARGETS)
def test_an_array_of_objects_is_refused_where_a_scalar_is_written(place: str) -> None:
    with pytest.raises((InvalidValue, DomainMismatch)):
        TARGETS[place](np.array(3, object))


# Where a new object takes its type from a scalar.
MADE: dict[str, Callable[[Any], Any]] = {
    "Vector.full": lambda k: Vector.full(k, 2).dtype,
    "Vector.from_coo": lambda k: Vector.from_coo([0], k).dtype,
    "Matrix.from_scalar": lambda k: Matrix.from_scalar(k, 1, 1).dtype,
    "Matrix.identity": lambda k: Matrix.identity(1, value=k).dtype,
    "Matrix.from_coo": lambda k: Matrix.from_coo([0], [0], k).dtype,
    "Scalar.from_value": lambda k: Scalar.from_value(k).dtype,
}


@pytest.mark.parametrize("place", MADE)
def test_a_new_object_has_the_type_of_its_scalar(place: str) -> None:
    for k in (1, 2.5, True, np.int8(1), np.float32(2.5), 2**63):
        assert MADE[place](k) == np.asarray(k).dtype


@pytest.mark.parametrize("dtype", [np.uint64, np.int8, np.float32, np.bool_])
def test_a_thunk_that_is_a_position_does_not_meet_the_values(dtype: Any) -> None:
    A = Matrix.from_coo([0, 1, 2], [1, 1, 0], np.ones(3, dtype), nrows=3, ncols=3)
    assert A.select("tril", -1).nvals == 1
    assert A.select("diag", 300).nvals == 0
    assert A.diag(-2).nvals == 1
    assert A.apply("rowindex", right=-1).to_coo()[2].tolist() == [-1, 0, 1]
    v = Vector.from_coo([0, 2], np.ones(2, dtype), size=3)
    assert v.select("rowle", -1).nvals == 0
