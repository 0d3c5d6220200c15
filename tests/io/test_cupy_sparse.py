from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring.exceptions import DomainMismatch, InvalidValue

pytestmark = pytest.mark.gpu


def address(array: Any) -> int:
    return int(array.data.ptr)


@pytest.fixture
def X() -> Any:
    sparse = pytest.importorskip("cupyx.scipy.sparse")
    return sparse.random(50, 40, density=0.1, format="csr", dtype="float32", random_state=1)


def test_buffers_are_shared_both_ways(X: Any) -> None:
    X.sum_duplicates()
    A = sr.io.from_cupy_sparse(X, copy=False)
    assert A.device == "cuda"
    assert [address(part) for part in A.to_csr(index_dtype=None)] == [
        address(part) for part in (X.indptr, X.indices, X.data)
    ]
    back = sr.io.to_cupy_sparse(A)
    assert address(back.data) == address(X.data)
    assert address(back.indices) == address(X.indices)


@pytest.mark.parametrize("layout", ["csr", "csc", "coo"])
def test_values_survive(X: Any, layout: str) -> None:
    A = sr.io.from_cupy_sparse(X.asformat(layout))
    np.testing.assert_array_equal(sr.io.to_scipy_sparse(A).toarray(), X.get().toarray())


def test_types_that_cupy_does_not_support() -> None:
    with pytest.raises(DomainMismatch, match=r"bool, float32, float64.*int64"):
        sr.io.to_cupy_sparse(sr.Matrix(np.int64, 2, 2))
    pytest.importorskip("cupyx")
    with pytest.raises(InvalidValue, match="CuPy sparse matrix"):
        sr.io.from_cupy_sparse(np.eye(2))


@pytest.mark.parametrize(
    "make",
    [
        lambda: sr.random.kronecker(10, seed=5, weights="uniform"),
        lambda: sr.random.rmat(9, 8, seed=5),
        lambda: sr.random.uniform(1000, 4, seed=5),
        lambda: sr.random.grid2d(13, 17),
        lambda: sr.random.grid3d(3, 4, 5),
        lambda: sr.random.star(100),
        lambda: sr.random.path(100),
    ],
)
def test_generated_graphs_are_the_same_on_both_devices(make: Callable[[], sr.Matrix]) -> None:
    with sr.use("cpu"):
        host = make()
    with sr.use("cuda"):
        device = make()
    assert device.device == "cuda"
    assert device.to("cpu").isequal(host, check_dtype=True)
