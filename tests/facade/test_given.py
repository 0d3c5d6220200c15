"""Input that is no index, no size, no mask or no operand raises an error that names it, before any work."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from semiring import Matrix, Vector, binary
from semiring import exceptions as ex

NAN = float("nan")
A = Matrix.from_dense(np.eye(4))
ONES = np.eye(4, dtype=bool)
MASKED = np.ma.masked_array(np.ones(4), [0, 1, 0, 0])
Case = tuple[type[Exception], str, Callable[[], Any]]

CASES: dict[str, Case] = {
    "NaN row": (ex.InvalidValue, r"rows.*integers.*float64", lambda: Matrix.from_coo([0, NAN], [0, 1])),
    "inf index": (ex.InvalidValue, r"indices.*float64", lambda: Vector.from_coo([float("inf")], [1])),
    "text index": (ex.InvalidValue, r"indices.*text such as 'a'", lambda: Vector.from_coo(["a"], [1])),
    "text key": (ex.InvalidValue, r"indices.*'a'", lambda: Vector.from_dict({"a": 1})),  # type: ignore[dict-item]
    "text edge": (ex.InvalidValue, r"edges.*'a'", lambda: Matrix.from_edgelist([("a", "b")])),
    "no edges": (ex.InvalidValue, r"from_edgelist.*\(i, j\)", lambda: Matrix.from_edgelist(3)),
    "ragged": (ex.InvalidValue, r"from_dense.*array", lambda: Matrix.from_dense([[1, 2], [3]])),
    "no pair": (ex.InvalidValue, r"from_pairs.*pairs", lambda: Vector.from_pairs([(1,)])),  # type: ignore[list-item]
    "no dictionary": (ex.InvalidValue, r"from_dicts", lambda: Matrix.from_dicts({0: 3})),  # type: ignore[dict-item]
    "float columns": (ex.InvalidValue, r"col_indices.*float64", lambda: Matrix.from_csr([0, 1], [0.5])),
    "lengths first": (ex.InvalidValue, r"2 and 1", lambda: Matrix.from_coo([0, 99], [1], shape=(2, 2))),
    "text values": (ex.DomainMismatch, r"values.*text such as 'a'", lambda: Vector.from_coo([1], ["a"])),
    "objects": (ex.DomainMismatch, r"from_dense.*objects", lambda: Vector.from_dense([object()])),
    "a list for a type": (ex.DomainMismatch, r"Vector\.from_dense", lambda: Vector([1, 2, 3])),
    "a size for a type": (ex.DomainMismatch, r"Matrix\(float, nrows, ncols\)", lambda: Matrix(3, 4)),
    "too large": (ex.InvalidValue, r"nrows.*2\*\*60", lambda: Matrix(bool, 2**61, 3)),
    "shape and size": (ex.InvalidValue, r"shape=.*nrows=3", lambda: Matrix.from_coo([0], [0], nrows=3, shape=(2, 2))),
    "long shape": (ex.InvalidValue, r"shape= must be \(size,\)", lambda: Vector(int, shape=(2, 3))),  # type: ignore[arg-type]
    "no size": (ex.InvalidValue, r"ncols", lambda: A.dup().resize(3)),
    "array as mask": (ex.InvalidMask, r"\.S or \.V.*ndarray.*Matrix\.from_dense", lambda: A.dup()(ONES) << A),
    "list as mask": (ex.InvalidMask, r"list", lambda: A.dup()([True]) << A),
    "list added": (TypeError, r"list.*from_dense", lambda: A * [1, 2, 3, 4]),
    "list on the left": (TypeError, r"list.*from_dense", lambda: [1, 2, 3, 4] @ A),
    "list compared": (TypeError, r"list.*from_dense", lambda: operator.eq(A, [1, 2, 3, 4])),
    "masked array": (ex.InvalidValue, r"from_dense: a masked array", lambda: Vector.from_dense(MASKED)),
    "masked operand": (ex.InvalidValue, r"operand: a masked array", lambda: A + MASKED),
    "list as operand": (TypeError, r"list.*from_dense", lambda: Vector.full(1, 3) * [1, 2, 3]),
    "unbound": (ex.InvalidValue, r"plus.*left= or right=", lambda: A.apply("plus")),
    "unbound operator": (ex.InvalidValue, r"plus.*left= or right=", lambda: A.apply(binary.plus)),
    "power -1": (ex.InvalidValue, r"power: n must be an integer from 0, got -1", lambda: A.power(-1)),
    "power 0": (ex.InvalidValue, r"has no power 0, because its mult", lambda: A.power(0, "any_secondi")),
    "sparse index": (ex.InvalidValue, r"full; 1 of 4", lambda: A[Vector.from_coo([3], [0], size=4), :].new()),
    "no diagonal": (ex.InvalidValue, r"diag.*0\.5", lambda: Vector(int, 2).diag(0.5)),  # type: ignore[arg-type]
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_the_error_names_the_argument(name: str) -> None:
    kind, message, operation = CASES[name]
    with pytest.raises(kind, match=f"(?s){message}"):
        operation()


def test_a_sparse_matrix_of_scipy() -> None:
    scipy_sparse = pytest.importorskip("scipy.sparse")
    S: Any = scipy_sparse.eye(4).tocsr()
    with pytest.raises(TypeError, match="from_scipy_sparse"):
        S @ A.select(">", 0)
    with pytest.raises(ex.InvalidMask, match="from_scipy_sparse"):
        A.dup()(S) << A
    with pytest.raises(ex.InvalidValue, match="from_scipy_sparse"):
        Matrix.from_dense(S)


def test_one_shape_everywhere() -> None:
    assert Matrix(float, shape=(2, 3)).shape == Matrix(float, 2, 3, shape=(2, 3)).shape == (2, 3)
    assert Vector(int, shape=(3,)).shape == Vector.full(1, shape=(3,)).shape == (3,)
    assert Vector.from_coo([0], [1], shape=(3,)).size == Vector.from_dict({0: 1}, shape=(3,)).size == 3
    assert Vector.from_pairs([(0, 1)], shape=(3,)).size == 3
    assert Matrix.from_csr([0, 1, 1], [0], shape=(2, 3)).shape == (2, 3)
    assert Matrix.from_csc([0, 1, 1, 1], [0], shape=(2, 3)).shape == (2, 3)
    assert Matrix.from_edgelist([(0, 1)], shape=(2, 3)).shape == (2, 3)
    assert Matrix.from_dicts({0: {1: 5}}, shape=(2, 3)).shape == Matrix.from_scalar(1, shape=(2, 3)).shape == (2, 3)
    C, v = A.dup(), Vector(int, 3)
    C.resize(shape=(5, 6))
    v.resize(shape=(4,))
    assert (C.shape, v.size) == ((5, 6), 4)


class Lent:
    """An array that only DLPack hands out."""

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self._array = array

    def __dlpack__(self, **how: Any) -> Any:
        return self._array.__dlpack__(**how)

    def __dlpack_device__(self) -> Any:
        return self._array.__dlpack_device__()


def test_arrays_by_dlpack() -> None:
    assert Vector.from_dense(Lent(np.array([1.0, 2.0]))).to_dict() == {0: 1.0, 1: 2.0}
    v = Vector.from_coo(Lent(np.array([3, 1])), Lent(np.array([30, 10])), size=5)
    assert v.to_dict() == {1: 10, 3: 30}
    assert (v + v).to_dict() == {1: 20, 3: 60}
    rows, columns = Lent(np.array([1, 0])), Lent(np.array([0, 2]))
    assert Matrix.from_coo(rows, columns, shape=(2, 3)).to_dicts() == {0: {2: True}, 1: {0: True}}


@pytest.mark.one_process("repr shows the part of one process")
def test_one_entry() -> None:
    assert "1 entry of" in repr(Vector.from_coo([1], [2.5], size=3))
    assert "2 entries of" in repr(Vector.from_coo([1, 2], [2.5, 1], size=3))


def test_a_scalar_is_formatted_as_its_value() -> None:
    assert f"{A[0, 0]:.3f}" == "1.000"
    assert f"{A[0, 0]}" == str(A[0, 0])
    with pytest.raises(ex.EmptyObject):
        f"{Vector(float, 2)[0]:.3f}"
