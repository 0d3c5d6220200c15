"""Iteration, powers, diagonals and modes: what composes of other operations."""

from __future__ import annotations

from typing import Any
from unittest import mock

import numpy as np
import pytest

from semiring import Matrix, Vector, agg
from semiring.facade import entries


@pytest.fixture
def A() -> Matrix:
    return Matrix.from_coo([0, 0, 2, 3], [1, 3, 0, 3], [2, 3, 5, 7], shape=(4, 4))


@pytest.mark.parametrize("chunk", [1, 3, 100])
def test_entries(A: Matrix, chunk: int) -> None:
    expected = {(0, 1): 2, (0, 3): 3, (2, 0): 5, (3, 3): 7}
    with mock.patch.object(entries, "_CHUNK", chunk):
        assert dict(A.items()) == expected
        assert dict(A.T.items()) == {(j, i): x for (i, j), x in expected.items()}
        assert list(A[0, :].items()) == [(1, 2), (3, 3)]
    assert list(Matrix(float, 3, 3).items()) == []
    assert next(iter(A.apply("one").items())) == ((0, 1), 1)


def test_rows_and_columns(A: Matrix) -> None:
    for x in (A, A.compress("varint"), A.apply("one"), A.T):
        assert [(i, w.to_dict()) for i, w in x.iter_rows()] == list(x.to_dicts().items())
        assert all(w.to_dict() == x[:, j].to_dict() for j, w in x.iter_columns())
        assert [j for j, _ in x.iter_columns()] == [i for i, _ in x.T.iter_rows()]
    (i, w), *_ = A.iter_rows()
    assert (i, w.size, w.dtype) == (0, 4, np.int64)


@pytest.mark.parametrize(
    ("op", "dtype", "identity"), [("plus_times", "int64", 1), ("min_plus", "float32", 0), ("lor_land", "bool", True)]
)
def test_the_power_0_is_the_identity_of_the_product(A: Matrix, op: str, dtype: str, identity: Any) -> None:
    A = A.dup(dtype)
    unit = A.power(0, op)
    assert unit.to_dicts() == {i: {i: identity} for i in range(4)}
    assert unit.dtype == dtype
    if op == "plus_times":
        assert unit.mxm(A, op).isequal(A)


@pytest.mark.costly
@pytest.mark.parametrize("k", [0, 1, -2])
def test_a_diagonal_under_a_mask(A: Matrix, k: int) -> None:
    size = 4 - abs(k)
    values = Vector.from_coo([0, size - 1], [10, 20], size=size)
    mask = Vector.from_coo([size - 1], True, size=size)
    for named in ({"mask": mask.S}, {"accum": "plus"}, {"mask": ~mask.S, "accum": "minus"}, {"mask": mask.V}):
        B, diagonal = A.dup(), A.diag(k)
        B.setdiag(values, k, **named)
        diagonal(**named) << values
        assert B.diag(k).isequal(diagonal)
        assert B.select("offdiag", k).isequal(A.select("offdiag", k))
    B = A.dup()
    B.setdiag(1, accum="plus")
    assert B.diag().to_dict() == {0: 1, 1: 1, 2: 1, 3: 8}


@pytest.mark.parametrize("seed", range(3))
def test_the_mode_of_each_row(seed: int) -> None:
    """The most frequent value, of several the smallest; compared with counts by NumPy."""
    draw = np.random.default_rng(seed)
    values = draw.integers(-2, 3, (9, 12))
    present = draw.random((9, 12)) < draw.choice([0.0, 0.2, 0.9], (9, 1))
    A = Matrix.from_coo(*np.nonzero(present), values[present], shape=(9, 12))
    expected = {}
    for i in np.flatnonzero(present.any(axis=1)).tolist():
        found, counts = np.unique(values[i, present[i]], return_counts=True)
        expected[i] = int(found[counts.argmax()])
    assert A.reduce_rowwise("mode").to_dict() == expected
    assert A.T.reduce_columnwise(agg.mode).to_dict() == expected
    found, counts = np.unique(values[present], return_counts=True)
    assert A.reduce_scalar("mode").value == found[counts.argmax()]
    assert A[8, :].reduce("mode").get() == expected.get(8)
