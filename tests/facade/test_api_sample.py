"""Every line of the public sample works, with the documented meaning."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import semiring as sr
from semiring import Matrix, Scalar, Vector, agg, binary, indexunary, monoid, select, semiring, unary

N = 8
S = sp.random_array((N, N), density=0.4, rng=np.random.default_rng(4), format="csr", dtype=np.float64)
D = S.toarray()


@pytest.fixture
def A() -> Matrix:
    return Matrix.from_csr(S.indptr, S.indices, S.data, ncols=N)


@pytest.fixture
def B() -> Matrix:
    return Matrix.from_dense(np.arange(N * N).reshape(N, N) % 5.0, missing_value=0)


@pytest.fixture
def x() -> Vector:
    return Vector.from_dense(np.arange(1.0, N + 1))


def dense(found: Any, fill: float = 0) -> np.ndarray[Any, Any]:
    return found.to_numpy(fill)  # type: ignore[no-any-return]


def test_construction(A: Matrix) -> None:
    assert (dense(A) == D).all()
    pattern = Matrix.from_csr(S.indptr, S.indices, None, ncols=N)
    assert pattern.dtype == bool
    assert pattern.reduce_scalar("land").value
    assert Matrix.from_csr(S.indptr, S.indices, 2.5, ncols=N).reduce_scalar("max").value == 2.5
    added = Matrix.from_coo([0, 1, 1], [2, 3, 3], [1.0, 2.0, 3.0], nrows=N, ncols=N, dup_op="plus")
    assert added.to_dicts() == {0: {2: 1.0}, 1: {3: 5.0}}
    assert Matrix.from_edgelist([(0, 1), (1, 2)], nrows=3, ncols=3).to_dicts() == {0: {1: True}, 1: {2: True}}
    assert Matrix.from_edgelist([(0, 1, 2.5)], nrows=3, ncols=3).to_dicts() == {0: {1: 2.5}}
    assert Matrix.from_dense(D, missing_value=0).isequal(A)
    assert Matrix.from_csc(*(lambda c: (c.indptr, c.indices, c.data))(sp.csc_array(S)), nrows=N).isequal(A)
    assert Matrix.identity(3, dtype=np.int32).to_dense(0).dtype == np.int32
    assert (dense(Matrix.identity(3)) == np.eye(3)).all()
    v = Vector.from_coo([0, 5], [1.0, 2.0], size=N)
    assert v.to_dict() == {0: 1.0, 5: 2.0}
    assert v.diag().to_dicts() == {0: {0: 1.0}, 5: {5: 2.0}}
    w = Vector.full(0.0, N)
    assert (w.nvals, w.format, w.is_iso, w.nbytes) == (N, "full", True, 0)
    e = Vector(np.int32, N)
    assert (e.nvals, e.dtype, e.size) == (0, np.int32, N)
    assert sr.io.from_scipy_sparse(sp.csr_array(S)).isequal(A)
    R = sr.random.rmat(6, 4, seed=1)
    assert R.shape == (64, 64)
    assert R.nvals > 0


@pytest.mark.one_process("repr shows the part of one process")
def test_looking(A: Matrix) -> None:
    lines = repr(A).splitlines()
    assert lines[0].startswith(f"Matrix: {N} x {N}, {S.nnz} entries of float64, csr on")
    assert "." in lines[1:][0] or len(lines) == N + 2
    assert "<table>" in A._repr_html_()
    assert (A.shape, A.nvals, A.nnz, A.dtype, A.format) == ((N, N), S.nnz, S.nnz, np.float64, "csr")
    assert A.placement == "device"
    assert A.nbytes > 0
    i, j = (int(part[0]) for part in np.nonzero(D))
    assert A[i, j].value == D[i, j]
    assert A.get(i, j, 0) == D[i, j]
    hole = tuple(int(part[0]) for part in np.nonzero(D == 0))
    assert A[hole].value is None
    assert A.get(*hole, 7) == 7
    assert hole not in A
    assert (i, j) in A
    for key in (np.s_[2:5, :], np.s_[2:5], ([3, 1], slice(None)), np.s_[:, 7], np.s_[::-2, 1:6:2], np.s_[-1]):
        assert (dense(A[key]) == D[key]).all()
    assert (dense(A.T) == D.T).all()
    assert "Matrix.S" in repr(A.S)
    assert "~Matrix.V" in repr(~A.V)


def test_products(A: Matrix, B: Matrix, x: Vector) -> None:
    b = dense(B)
    C = A @ B
    np.testing.assert_allclose(dense(C), D @ b)
    tropical = A.mxm(B, semiring.min_plus)
    assert semiring.min_plus(A @ B).isequal(tropical)
    paths = np.where(D == 0, np.inf, D)[:, :, None] + np.where(b == 0, np.inf, b)[None, :, :]
    np.testing.assert_allclose(dense(tropical, np.inf), paths.min(axis=1))
    for spelling in ("min_plus", "min.+", semiring.min_plus[float]):
        assert A.mxm(B, spelling).isequal(tropical)
    before, counts = dense(C), (D != 0).astype(int) @ (b.T != 0).astype(int)
    C(A.S, accum="plus", replace=True) << A.mxm(B.T, "plus_pair")
    np.testing.assert_allclose(dense(C), np.where(D != 0, before + counts, 0))
    largest = np.where((D != 0).any(axis=1), np.where(D != 0, dense(x), 0).max(axis=1), 0)
    assert (dense(A.mxv(x, "max_second")) == largest).all()
    parents = x.vxm(A, "any_secondi")
    assert all(D[k, j] for j, k in parents.to_dict().items())
    seen, y = Vector.from_coo([1, 2], True, size=N), Vector.full(2.0, N)
    y(~seen.S, "min") << A.mxv(x, "min_plus")
    shortest = np.where(D == 0, np.inf, D + dense(x)).min(axis=1)
    expected = np.minimum(2.0, shortest)
    expected[[1, 2]] = 2.0
    np.testing.assert_allclose(dense(y), expected)


def test_the_two_spellings_are_equal(A: Matrix, B: Matrix) -> None:
    first, second = B.dup(), B.dup()
    first(A.S, accum="min", replace=True) << A.mxm(B, "min_plus")
    given = A.mxm(B, "min_plus", mask=A.S, accum="min", replace=True, out=second)
    assert given is second
    assert first.isequal(second, check_dtype=True)


def test_elementwise(A: Matrix, B: Matrix) -> None:
    b = dense(B)
    np.testing.assert_allclose(dense(A.ewise_add(B, "plus")), D + b)
    np.testing.assert_allclose(dense(A.ewise_mult(B, "times")), D * b)
    np.testing.assert_allclose(dense(A.ewise_union(B, "minus", 0, 0)), D - b)
    for found, expected in ((A | B, D + b), (A & B, D * b), (A + B, D + b), (A - B, D - b), (A * B, D * b)):
        np.testing.assert_allclose(dense(found), expected)
    above = A > 3
    assert above.dtype == bool
    assert above.nvals == A.nvals
    np.testing.assert_allclose(dense(binary.minus(A | B)), np.where(D == 0, b, np.where(b == 0, D, D - b)))
    np.testing.assert_allclose(dense(monoid.min(A & B)), np.where((D == 0) | (b == 0), 0, np.minimum(D, b)))
    np.testing.assert_allclose(dense(A.apply("sqrt")), np.sqrt(D))
    np.testing.assert_allclose(dense(unary.sqrt(A)), np.sqrt(D))
    np.testing.assert_allclose(dense(A.apply("plus", right=1.0)), np.where(D == 0, 0, D + 1))
    rows = np.broadcast_to(np.arange(N)[:, None], (N, N))
    assert (dense(A.apply(indexunary.rowindex), -1) == np.where(D == 0, -1, rows)).all()
    assert (dense(A.select("tril", -1)) == np.tril(D, -1)).all()
    assert (dense(select.tril(A, -1)) == np.tril(D, -1)).all()
    assert (dense(A.select(">", 0.5)) == np.where(D > 0.5, D, 0)).all()
    assert A.select(">", 10).nvals == 0
    assert (dense(select.value(A > 0.3)) == np.where(D > 0.3, D, 0)).all()


def test_reductions(A: Matrix) -> None:
    np.testing.assert_allclose(dense(A.reduce_rowwise("plus")), D.sum(axis=1))
    assert (dense(A.reduce_columnwise(agg.count)) == (D != 0).sum(axis=0)).all()
    assert math.isclose(A.reduce_scalar("plus").value, D.sum())
    v = Vector.from_coo([0, 5], [1.0, 2.0], size=N)
    assert v.reduce(agg.mean).value == 1.5
    holds = (D != 0).any(axis=1)
    assert (dense(A.reduce_rowwise(agg.argmax), -1) == np.where(holds, D.argmax(axis=1), -1)).all()


def test_extract_assign_scatter(A: Matrix) -> None:
    C, block = Matrix(float, N, N), Matrix.from_dense([[0.0, 1.0], [2.0, 3.0]])
    C[[0, 2], 1:3] << block
    assert C.to_dicts() == {0: {1: 0.0, 2: 1.0}, 2: {1: 2.0, 2: 3.0}}
    rows, cols, M = [1, 2, 3], [0, 1, 2], A
    expected = dense(C, -1)
    expected[np.ix_(rows, cols)] = np.where(D[np.ix_(rows, cols)] != 0, 1, expected[np.ix_(rows, cols)])
    C(M.S)[rows, cols] << 1
    assert (dense(C, -1) == expected).all()
    part = A[rows, cols].dup()
    expected[np.ix_(rows, cols)] = np.where(dense(part) != 0, 7, expected[np.ix_(rows, cols)])
    C[rows, cols](part.S) << 7
    assert (dense(C, -1) == expected).all()
    parent = Vector.from_dense(np.array([0, 0, 1, 1, 2, 5]))
    assert parent[parent].to_numpy().tolist() == [0, 0, 0, 0, 1, 5]
    lowest = Vector.from_dense(np.array([5, 4, -1, 2, 3, 1]))
    parent(accum="min")[parent] << lowest
    assert parent.to_numpy().tolist() == [0, -1, 1, 1, 2, 1]


def test_shapes(A: Matrix, x: Vector) -> None:
    reach = A.power(3, "lor_land")
    assert (dense(reach) == (np.linalg.matrix_power((D != 0).astype(int), 3) > 0)).all()
    A.resize(5, 5)
    assert (dense(A) == D[:5, :5]).all()
    A.resize(9, 6)
    assert A.shape == (9, 6)
    w = Vector.from_coo([1, 3], [2.0, 3.0], size=N)
    assert x.inner(w).value == 2 * 2 + 4 * 3
    assert (x @ w).value == 16
    assert (dense(w.outer(x)) == np.outer(dense(w), dense(x))).all()


def test_user_defined_operators(A: Matrix, x: Vector) -> None:
    clip = unary.register_new("clip01", lambda x: min(max(x, 0.0), 1.0))
    absd = binary.register_new("absdiff", "abs(x - y)")
    near = indexunary.register_new("near_diag", lambda x, i, j, k: abs(i - j) <= k)
    logadd = monoid.register_new("logadd", lambda x, y: max(x, y) + log1p(exp(-abs(x - y))), identity=-np.inf)  # type: ignore[name-defined]  # noqa: F821
    log_semiring = semiring.register_new("log", logadd, binary.plus)
    assert (dense((A - 0.5).apply(clip)) == np.where(D == 0, 0, np.clip(D - 0.5, 0, 1))).all()
    assert A.ewise_mult(A, absd).reduce_scalar("max").value == 0
    distance = np.abs(np.subtract.outer(np.arange(N), np.arange(N)))
    assert (dense(A.select(near, 1)) == np.where(distance <= 1, D, 0)).all()
    found = A.mxv(x, log_semiring)
    holds = (D != 0).any(axis=1)
    sums = np.where(D != 0, np.exp(D + dense(x)), 0).sum(axis=1)
    np.testing.assert_allclose(dense(found)[holds], np.log(sums[holds]))


def bfs_levels(A: Matrix, s: int) -> Vector:
    level = Vector(np.int32, A.nrows)
    frontier = Vector.from_coo([s], True, size=A.nrows)
    depth = 0
    while frontier.nvals:
        level(frontier.S) << depth
        frontier(~level.S, replace=True) << frontier.vxm(A, "any_pair")
        depth += 1
    return level


def test_a_users_own_algorithm(A: Matrix) -> None:
    reached, frontier, depth = {0: 0}, {0}, 0
    while frontier:
        depth += 1
        frontier = {int(j) for i in frontier for j in np.flatnonzero(D[i])} - set(reached)
        reached |= dict.fromkeys(frontier, depth)
    level = bfs_levels(A, 0)
    assert level.to_dict() == reached
    assert level.dtype == np.int32
    source = Vector.from_coo([0], 0, size=N)
    assert sr.ops.closure(source, A.apply("one").apply("identity").dup(int), "min_plus").isequal(level)
    with sr.explain() as log:
        bfs_levels(A, 0)
    assert {call.operation for call in log} >= {"mxv"}
    assert "total" in repr(log)


def test_algorithms(A: Matrix) -> None:
    assert sr.algorithms.bfs_levels(A, 0).isequal(bfs_levels(A, 0))
    parents = sr.algorithms.bfs_parents(A, 0)
    assert set(parents.to_dict()) == set(bfs_levels(A, 0).to_dict())
    assert sr.algorithms.bfs_levels(A, [0, 3]).shape == (2, N)


def test_scalar_is_exported() -> None:
    assert Scalar.from_value(3).value == 3
