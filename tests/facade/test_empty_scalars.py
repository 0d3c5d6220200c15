"""Writing an empty Scalar deletes; objects without a value (masks, left sides) have no truth value and no equality."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import pytest

from semiring import Matrix, Scalar, Vector, binary

EMPTY = Scalar(float)


def vector() -> Vector:
    return Vector.from_coo([0, 1, 3], [1, 2, 3], size=5)


def matrix() -> Matrix:
    return Matrix.from_coo([0, 0, 1, 2], [0, 1, 1, 2], [1, 2, 3, 4], shape=(3, 3))


def write(into: Any, how: Callable[[Any], Any]) -> Any:
    how(into)
    return into


def item(key: Any, value: Any) -> Callable[[Any], None]:
    return lambda target: target.__setitem__(key, value)


VECTOR_WRITES: dict[str, tuple[Callable[[Vector], Any], dict[int, int]]] = {
    "element": (item(1, EMPTY), {0: 1, 3: 3}),
    "element <<": (lambda v: v[1] << EMPTY, {0: 1, 3: 3}),
    "element that is missing": (item(2, EMPTY), {0: 1, 1: 2, 3: 3}),
    "an element of another": (item(1, vector()[2]), {0: 1, 3: 3}),
    "region": (item(slice(0, 2), EMPTY), {3: 3}),
    "all": (lambda v: v << EMPTY, {}),
    "accumulator": (lambda v: v[1](binary.plus) << EMPTY, {0: 1, 1: 2, 3: 3}),
    "mask": (lambda v: v(Vector.from_coo([1, 2], True, size=5).S) << EMPTY, {0: 1, 3: 3}),
    "mask, replace": (lambda v: v(Vector.from_coo([1, 2], True, size=5).S, replace=True) << EMPTY, {}),
    "mask of a region": (lambda v: v[0:2](Vector.from_coo([1], True, size=2).S) << EMPTY, {0: 1, 3: 3}),
    "mask, accumulator, replace": (
        lambda v: v(Vector.from_coo([1, 2], True, size=5).S, "plus", replace=True) << EMPTY,
        {1: 2},
    ),
}


@pytest.mark.parametrize("name", VECTOR_WRITES)
def test_an_empty_scalar_deletes_in_a_vector(name: str) -> None:
    how, left = VECTOR_WRITES[name]
    v = write(vector(), how)
    assert v.to_dict() == left
    assert (v.size, v.dtype) == (5, vector().dtype)


MATRIX_WRITES: dict[str, tuple[Callable[[Matrix], Any], dict[int, dict[int, int]]]] = {
    "element": (item((0, 1), EMPTY), {0: {0: 1}, 1: {1: 3}, 2: {2: 4}}),
    "element <<": (lambda A: A[0, 1] << EMPTY, {0: {0: 1}, 1: {1: 3}, 2: {2: 4}}),
    "row": (item(0, EMPTY), {1: {1: 3}, 2: {2: 4}}),
    "column": (item((slice(None), 1), EMPTY), {0: {0: 1}, 2: {2: 4}}),
    "region": (item(([0, 1], [1, 2]), EMPTY), {0: {0: 1}, 2: {2: 4}}),
    "all": (lambda A: A << EMPTY, {}),
    "accumulator": (lambda A: A[0, 1]("plus") << EMPTY, {0: {0: 1, 1: 2}, 1: {1: 3}, 2: {2: 4}}),
    "mask": (lambda A: A(Matrix.identity(3, bool).S) << EMPTY, {0: {1: 2}}),
    "complement": (lambda A: A(~Matrix.identity(3, bool).S) << EMPTY, {0: {0: 1}, 1: {1: 3}, 2: {2: 4}}),
    "mask, accumulator, replace": (
        lambda A: A(Matrix.identity(3, bool).S, "plus", replace=True) << EMPTY,
        {0: {0: 1}, 1: {1: 3}, 2: {2: 4}},
    ),
    "mask of a row": (
        lambda A: A(Vector.from_coo([1], True, size=3).S)[0, :] << EMPTY,
        {0: {0: 1}, 1: {1: 3}, 2: {2: 4}},
    ),
    "diagonal": (lambda A: A.setdiag(EMPTY), {0: {1: 2}}),
}


@pytest.mark.parametrize("name", MATRIX_WRITES)
def test_an_empty_scalar_deletes_in_a_matrix(name: str) -> None:
    how, left = MATRIX_WRITES[name]
    A = write(matrix(), how)
    assert A.to_dicts() == left
    assert (A.shape, A.dtype) == ((3, 3), matrix().dtype)


@pytest.mark.parametrize("target", [vector(), matrix()], ids=["vector", "matrix"])
def test_none_is_rejected_and_the_error_names_how_to_delete(target: Any) -> None:
    before = target.dup()
    with pytest.raises(ValueError, match="empty Scalar"):
        target[0:1] = None
    assert target.isequal(before)


NO_VALUE: dict[str, Callable[[Matrix], Any]] = {
    "truth of a mask": lambda A: bool(A.S),
    "truth of a complement": lambda A: bool(~A.V),
    "not a mask": lambda A: not A.S,
    "masks equal": lambda A: A.S == A.S,
    "masks unequal": lambda A: A.V != A.V,
    "complements equal": lambda A: ~A.V == ~A.V,
    "mask and None": lambda A: A.S == None,  # noqa: E711
    "matrix and mask": lambda A: A == A.S,
    "mask and matrix": lambda A: A.S == A,
    "masks in order": lambda A: A.S < A.S,
    "mask in a list": lambda A: A.S in [A.V],
    "hash of a mask": lambda A: {A.S},
    "truth of a left side": lambda A: bool(A(A.S)),
    "left side equal": lambda A: A(A.S) == A,
    "left side of a region": lambda A: A(A.S)[0, :] == 3,
    "matrix and object": lambda A: operator.eq(A, object()),
    "matrix and text": lambda A: A != "text",
    "matrix and list": lambda A: A == [1],
    "vector and matrix's kind": lambda A: A[0] == "text",
}


@pytest.mark.parametrize("name", NO_VALUE)
def test_what_has_no_value_is_neither_true_nor_equal(name: str) -> None:
    with pytest.raises(TypeError):
        NO_VALUE[name](matrix())


def test_hints() -> None:
    A = matrix()
    with pytest.raises(TypeError, match=r"A\.nvals"):
        bool(A.S)
    with pytest.raises(TypeError, match="isequal"):
        A.S == A.S  # noqa: B015
    with pytest.raises(TypeError, match=r"Matrix.*'text'.*'is'"):
        A == "text"  # noqa: B015


def test_a_foreign_object_may_compare_itself() -> None:
    class Any_:
        def __eq__(self, other: object) -> bool:
            return True

        def __ne__(self, other: object) -> bool:
            return False

        __hash__ = None  # type: ignore[assignment]

    assert (matrix() == Any_()) is True
    assert (matrix() != Any_()) is False
