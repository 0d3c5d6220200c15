"""A.T is accepted wherever a matrix is; products read A in place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring import Matrix, Vector, agg, binary, select, semiring, unary
from semiring.exceptions import DimensionMismatch, InvalidValue

D = np.array([[0.0, 1.0, 2.0], [3.0, 0.0, 0.0]])
E = np.array([[1.0, 0.0], [4.0, 5.0], [0.0, 6.0]])
U, W = np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0])

USES: dict[str, Callable[[Matrix, Matrix, Vector, Vector], Any]] = {
    "itself": lambda A, B, u, w: A,
    "twice": lambda A, B, u, w: A.T.T,
    "dup": lambda A, B, u, w: A.dup(np.int32),
    "mxm left": lambda A, B, u, w: A @ B.T,
    "mxm right": lambda A, B, u, w: B.T @ A,
    "mxm pattern": lambda A, B, u, w: A.mxm(A.T, "plus_pair"),
    "mxv": lambda A, B, u, w: A.mxv(w, "min_plus"),
    "vxm": lambda A, B, u, w: u @ A,
    "ewise_add": lambda A, B, u, w: A.ewise_add(B, "max"),
    "ewise_mult": lambda A, B, u, w: B * A,
    "ewise_union": lambda A, B, u, w: A - B,
    "called": lambda A, B, u, w: binary.minus(A | B),
    "called product": lambda A, B, u, w: semiring.min_plus(A @ w),
    "apply": lambda A, B, u, w: unary.sqrt(A),
    "bound": lambda A, B, u, w: 3 - A,
    "compare": lambda A, B, u, w: select.value(A >= 2),
    "select": lambda A, B, u, w: A.select("tril"),
    "rows": lambda A, B, u, w: A.reduce_rowwise("max"),
    "columns": lambda A, B, u, w: A.reduce_columnwise(agg.mean),
    "search": lambda A, B, u, w: A.reduce_rowwise(agg.argmax),
    "extract": lambda A, B, u, w: A[[2, 0], :],
    "row": lambda A, B, u, w: A[1, :],
    "column": lambda A, B, u, w: A[:, 0],
    "transpose": lambda A, B, u, w: A.transpose(),
    "diag": lambda A, B, u, w: A.diag(-1),
    "power": lambda A, B, u, w: (A @ A.T).T.power(2),
}


@pytest.mark.costly
@pytest.mark.parametrize("use", USES)
def test_as_an_operand(use: str) -> None:
    A, B = Matrix.from_dense(D, missing_value=0), Matrix.from_dense(E, missing_value=0)
    u, w = Vector.from_dense(U), Vector.from_dense(W)
    plain = Matrix.from_dense(D.T, missing_value=0)
    found, expected = USES[use](A.T, B, u, w), USES[use](plain, B, u, w)
    assert found.shape == expected.shape
    assert found.isequal(expected, check_dtype=True)
    looked_at = A.T
    assert repr(looked_at) == repr(plain)
    assert USES[use](looked_at, B, u, w).isequal(expected, check_dtype=True)


@pytest.mark.parametrize("mask", [lambda m: m.S, lambda m: m.V, lambda m: ~m.S, lambda m: ~m.V])
def test_as_mask_source_and_output(mask: Any) -> None:
    M, T = Matrix.from_dense(D, missing_value=None), Matrix.from_dense(D.T, missing_value=None)
    first, second = Matrix.from_scalar(1.0, 3, 2), Matrix.from_scalar(1.0, 3, 2)
    first(mask(M.T), "plus", replace=True) << M.T
    second(mask(T), "plus", replace=True) << T
    assert first.isequal(second)
    flags = M.apply("!=", right=0)
    first(flags.T) << 9
    second(T.V) << 9
    assert first.isequal(second)
    first[:, 1:] << M.T[:, :1]
    assert first[:, 1].isequal(Vector.from_dense(D[0]))
    first(~flags.T) << 4
    assert first.isequal(second.dup()) is False


def test_it_is_a_snapshot_and_cannot_be_written_to() -> None:
    A = Matrix.from_dense(D, missing_value=0)
    T = A.T
    A << 7
    assert T.isequal(Matrix.from_dense(D.T, missing_value=0))
    for change in (lambda: T << 1, T.clear, lambda: T.resize(1, 1), lambda: T.__setitem__((0, 0), 1)):
        with pytest.raises(InvalidValue, match=r"dup\(\)"):
            change()
    own = T.dup()
    own << 1
    assert own.nvals == 6


def test_products_do_not_transpose_what_they_can_read_in_place() -> None:
    A, w = Matrix.from_dense(D, missing_value=0), Vector.from_dense(W)
    with sr.explain() as log:
        T = A.T
        assert T.shape == (3, 2)
        assert T.T.isequal(A)
    assert "transpose" not in {call.operation for call in log}
    assert T.operand == (A.store, True)
    assert T.mxv(w).nvals == 3


def test_the_hint_that_a_transpose_would_fit() -> None:
    A, B = Matrix.from_dense(D), Matrix.from_dense(D)
    for operation in (lambda: A @ B, lambda: A + B.T, lambda: A << B.T, lambda: A.mxv(Vector(float, 2)),
                      lambda: Vector(float, 3).vxm(A), lambda: A.apply("ainv", mask=B.T.S),
                      lambda: A.__setitem__((slice(None), slice(None)), B.T)):  # fmt: skip
        with pytest.raises(DimensionMismatch, match=r"\(\d, \d\).*\.T"):
            operation()
