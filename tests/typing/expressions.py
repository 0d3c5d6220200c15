"""The static types of expressions: mypy and pyright check this file, `test_expressions` runs them."""

from __future__ import annotations

from typing import Any, assert_type

import numpy as np

import semiring as sr
from semiring import Matrix, Scalar, Vector, semiring


def products(A: Matrix, v: Vector) -> None:
    """``@`` and named products."""
    assert_type(A @ A, Matrix)
    assert_type(A @ v, Vector)
    assert_type(v @ A, Vector)
    assert_type(v @ v, Scalar)
    assert_type(A.T @ v, Vector)
    assert_type(A @ A.T @ v, Vector)
    assert_type(A.mxm(A, "min_plus", mask=A.S), Matrix)
    assert_type(A.mxv(v, semiring.max_plus), Vector)
    assert_type(v.vxm(A), Vector)
    assert_type(v.inner(v), Scalar)
    assert_type(v.outer(v), Matrix)


def elementwise(A: Matrix, v: Vector, s: Scalar) -> None:
    """Python's operators and the named operations."""
    assert_type(A + A, Matrix)
    assert_type(A * 2, Matrix)
    assert_type(2.0 - A, Matrix)
    assert_type(A / np.float32(3), Matrix)
    assert_type(A * s, Matrix)
    assert_type(A + v, Matrix)
    assert_type(v + A, Matrix)
    assert_type(v + v, Vector)
    assert_type(-v, Vector)
    assert_type(abs(A), Matrix)
    assert_type(v | v, Vector)
    assert_type(A & A, Matrix)
    assert_type(A.ewise_add(A, "max"), Matrix)
    assert_type(v.ewise_mult(A), Matrix)
    assert_type(v.apply("sqrt"), Vector)
    assert_type(A.select(">", 0), Matrix)


def arrays(A: Matrix, v: Vector) -> None:
    """Arrays of NumPy as operands: the dimensions of an array are no part of its type."""
    x, X = np.ones(4), np.ones((4, 4))
    assert_type(A @ x, Any)
    assert_type(v @ x, Any)
    assert_type(A.mxv(x), Vector)
    assert_type(v.vxm(X, "min_plus"), Vector)
    assert_type(A.mxm(X), Matrix)
    assert_type(A + x, Matrix)
    assert_type(A * X, Matrix)
    assert_type(v - x, Vector)
    assert_type(x - v, Vector)
    assert_type(x @ A, Any)
    assert_type(v == x, Vector)
    assert_type(v.ewise_add(x, "max"), Vector)
    assert_type(np.sqrt(A), Any)
    assert_type(A.matvec(x), Any)


def comparisons(A: Matrix, v: Vector) -> None:
    """Entry by entry: an object, and no bool."""
    assert_type(A > 3, Matrix)
    assert_type(A == A, Matrix)
    assert_type(v != 0, Vector)
    assert_type(v <= v, Vector)
    assert_type(A.isequal(A), bool)


def parts(A: Matrix, v: Vector) -> None:
    """Indices: integers take a dimension away."""
    assert_type(A[0], Vector)
    assert_type(A[0, 1], Scalar)
    assert_type(A[np.int64(0), 1], Scalar)
    assert_type(A[:, 1], Vector)
    assert_type(A[1, [0, 2]], Vector)
    assert_type(A[[0, 1]], Matrix)
    assert_type(A[:2, np.array([0, 1])], Matrix)
    assert_type(A[A.S], Matrix)
    assert_type(v[3], Scalar)
    assert_type(v[-1], Scalar)
    assert_type(v[1:], Vector)
    assert_type(v[v.S], Vector)
    assert_type(A.get(0, 1), Any)
    assert_type(A.nvals, int)


def reductions(A: Matrix, v: Vector) -> None:
    """To vectors and Scalars."""
    assert_type(A.reduce_rowwise(), Vector)
    assert_type(A.reduce_columnwise("max"), Vector)
    assert_type(A.reduce_scalar(), Scalar)
    assert_type(v.reduce("max"), Scalar)
    assert_type(A.minloc()[1], Vector)
    assert_type(v.reduce_by([0, 1, 1, 0]), Vector)
    assert_type(v.maxloc_by(np.array([0, 1, 1, 0]), size=2)[0], Vector)
    assert_type(A.diag(), Vector)
    assert_type(v.diag(), Matrix)
    assert_type(float(v.reduce()), float)


def writes(A: Matrix, v: Vector, s: Scalar) -> None:
    """``<<`` returns its target."""
    assert_type(v(v.S) << v + v, Vector)
    assert_type(v << 3, Vector)
    assert_type(A(A.S, accum="plus", replace=True) << A @ A, Matrix)
    assert_type(A(~A.S).update(A), Matrix)
    assert_type(v(mask=v.V)[1:] << 3, Vector)
    assert_type(s << 3, Scalar)
    v += v
    assert_type(v, Vector)
    A *= 2
    assert_type(A, Matrix)
    v[0] = 3
    A[:, 1] = v
    del A[0, 1]


def algorithms(A: Matrix) -> None:
    """Functions of modules."""
    assert_type(sr.algorithms.bfs_levels(A, 0), Vector)
    assert_type(sr.algorithms.bfs_levels(A, [0, 1]), Matrix)
    assert_type(sr.io.mmread("graph.mtx"), Matrix)
    assert_type(sr.concat([[A, A]]), Any)
    assert_type(sr.block([[A, None], [None, A]]), Matrix)
    assert_type(sr.random.rmat(4), Matrix)
