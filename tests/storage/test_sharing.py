"""Constructors and operations copy arrays: what the caller writes to them afterwards changes no object."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring import Matrix, Vector
from semiring.memory.arrays import to_host

OFFSETS, COLUMNS, LISTED = (np.array(array, np.int32) for array in ([0, 2, 3, 4], [1, 2, 0, 2], [1, 5, 7]))
VALUES = np.array([1.0, 2, 3, 4])
POSITIONS = np.array([4, 0, 3, 2], np.int32)
ORDER = np.array([3, 2, 1, 0], np.int32)

A = Matrix.from_dense(np.arange(36.0).reshape(6, 6), missing_value=0, device="cpu")
v = Vector.from_dense(np.arange(6.0), device="cpu")


def scipy_csr(p: Any, c: Any, x: Any) -> Any:
    made = pytest.importorskip("scipy.sparse").csr_array((x, c, p), shape=(3, 3), copy=False)
    assert np.shares_memory(made.data, x)
    return made


def assigned(target: Any, key: Any, values: Any) -> Any:
    target[key] = values
    return target


# An object of copies of these arrays.
COPIES: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "from_csr": (lambda p, c, x: Matrix.from_csr(p, c, x, ncols=3), (OFFSETS, COLUMNS, VALUES)),
    "from_csr of unsorted rows": (lambda p, c, x: Matrix.from_csr(p, c, x, ncols=3), (OFFSETS, COLUMNS[::-1], VALUES)),
    "from_csr in host memory": (
        lambda p, c, x: Matrix.from_csr(p, c, x, ncols=3, placement="host"),
        (OFFSETS, COLUMNS, VALUES),
    ),
    "from_csc": (lambda p, c, x: Matrix.from_csc(p, c, x, nrows=3), (OFFSETS, COLUMNS, VALUES)),
    "from_csc and back": (lambda p, c, x: Matrix.from_csc(p, c, x, nrows=3).T, (OFFSETS, COLUMNS, VALUES)),
    "from_dcsr": (
        lambda r, p, c, x: Matrix.from_dcsr(r, p, c, x, shape=(1 << 21, 3)),
        (LISTED, OFFSETS, COLUMNS, VALUES),
    ),
    "from_dcsc": (lambda r, p, c, x: Matrix.from_dcsc(r, p, c, x, shape=(3, 9)), (LISTED, OFFSETS, COLUMNS, VALUES)),
    "from_coo": (lambda i, c, x: Matrix.from_coo(i, c, x, shape=(9, 9)), (POSITIONS, COLUMNS, VALUES)),
    "from_coo of a vector": (lambda i, x: Vector.from_coo(i, x, size=9), (np.arange(4, dtype=np.int32), VALUES)),
    "from_dense": (Matrix.from_dense, (np.ones((2, 3)),)),
    "from_dense as bitmap": (lambda x: Matrix.from_dense(x, missing_value=7, format="bitmap"), (np.ones((2, 3)),)),
    "from_dense of a vector": (Vector.from_dense, (VALUES,)),
    "from_scipy_sparse": (lambda p, c, x: sr.io.from_scipy_sparse(scipy_csr(p, c, x)), (OFFSETS, COLUMNS, VALUES)),
    "operand of SciPy": (lambda p, c, x: Matrix(float, 3, 3) + scipy_csr(p, c, x), (OFFSETS, COLUMNS, VALUES)),
    "operand": (lambda x: Vector(float, 4) + x, (VALUES,)),
    "index": (lambda i: v[i], (POSITIONS,)),
    "index of rows and columns": (lambda i: A[i, i], (POSITIONS,)),
    "index of one row": (lambda i: A[1, i], (POSITIONS,)),
    "extract": (lambda i: v.extract(i), (POSITIONS,)),
    "permute": (lambda p: A[:4, :4].permute(p), (ORDER,)),
    "reduce_by": (lambda labels: v[:4].reduce_by(labels, "plus", size=5), (POSITIONS,)),
    "assigned": (lambda x: assigned(Vector(float, 4), slice(None), x), (VALUES,)),
    "assigned at an index": (lambda i, x: assigned(Vector(float, 9), i, x), (POSITIONS, VALUES)),
    "assigned to a row": (lambda x: assigned(Matrix(float, 3, 4), (1, slice(None)), x), (VALUES,)),
}


@pytest.mark.parametrize("name", COPIES)
def test_arrays_are_copied(name: str) -> None:
    make, given = COPIES[name]
    with sr.use("cpu"):
        wanted = make(*(array.copy() for array in given)).dup()
        assert wanted.nvals
        arrays = [array.copy() for array in given]
        made = make(*arrays)
        for array in arrays:
            array[...] = 0
        assert made.isequal(wanted)


@pytest.mark.parametrize("name", ["from_csr", "from_dcsr", "from_scipy_sparse", "from_dense"])
def test_arrays_are_shared_on_request(name: str) -> None:
    make: dict[str, Callable[..., Any]] = {
        "from_csr": Matrix.from_csr,
        "from_dcsr": lambda p, c, x, **how: Matrix.from_dcsr(LISTED, p, c, x, shape=(1 << 21, 3), **how),
        "from_scipy_sparse": lambda p, c, x, copy: sr.io.from_scipy_sparse(scipy_csr(p, c, x), copy=copy),
        "from_dense": lambda p, c, x, **how: Matrix.from_dense(x.reshape(2, 2), **how),
    }
    with sr.use("cpu"):
        for copy in (True, False):
            values = VALUES.copy()
            made = make[name](OFFSETS, COLUMNS, values, copy=copy)
            assert np.shares_memory(made.store.values, values) is not copy


@pytest.mark.gpu
def test_arrays_on_a_gpu_are_copied() -> None:
    cupy = pytest.importorskip("cupy")
    sparse = pytest.importorskip("cupyx.scipy.sparse")
    for copy in (True, False):
        arrays = [cupy.asarray(array) for array in (OFFSETS, COLUMNS, VALUES)]
        made = Matrix.from_csr(*arrays, ncols=3, copy=copy)
        arrays[2][...] = 0
        assert bool((to_host(made.to_coo()[2]) == VALUES).all()) is copy
        X = sparse.csr_matrix((cupy.asarray(VALUES), *(cupy.asarray(array) for array in (COLUMNS, OFFSETS))), (3, 3))
        made = sr.io.from_cupy_sparse(X, copy=copy)
        X.data[...] = 0
        assert bool((to_host(made.to_coo()[2]) == VALUES).all()) is copy
    positions = cupy.asarray(POSITIONS)
    part = v.to("cuda")[positions]
    positions[...] = 0
    assert to_host(part.to_coo()[1]).tolist() == POSITIONS.tolist()
