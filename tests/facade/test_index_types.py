"""Exported indices are int64, so that a user's arithmetic on them cannot wrap; other types are explicit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from semiring import Matrix, Vector
from semiring.exceptions import DomainMismatch, InvalidValue
from semiring.memory.arrays import to_host

# How to export, and how many of the arrays are indices.
EXPORTS: dict[str, tuple[Callable[..., tuple[Any, ...]], int]] = {
    "to_coo": (lambda A, v, **asked: A.to_coo(**asked), 2),
    "to_csr": (lambda A, v, **asked: A.to_csr(**asked), 2),
    "to_csc": (lambda A, v, **asked: A.to_csc(**asked), 2),
    "to_edgelist": (lambda A, v, **asked: A.to_edgelist(**asked), 1),
    "vector": (lambda A, v, **asked: v.to_coo(**asked), 1),
    "transpose": (lambda A, v, **asked: A.T.to_coo(**asked), 2),
    "compressed": (lambda A, v, **asked: A.compress("varint").to_coo(**asked), 2),
}


def objects() -> tuple[Matrix, Vector]:
    return Matrix.from_coo([0, 1, 2], [1, 2, 0], [1, 2, 3], shape=(3, 3)), Vector.from_coo([0, 2], [1.0, 2.0], size=3)


@pytest.mark.parametrize("name", EXPORTS)
def test_indices_are_int64_by_default(name: str) -> None:
    export, count = EXPORTS[name]
    A, v = objects()
    usual = export(A, v)
    assert {array.dtype for array in usual[:count]} == {np.dtype(np.int64)}
    for dtype in (np.int32, "uint16"):
        asked = export(A, v, index_dtype=dtype)
        assert {array.dtype for array in asked[:count]} == {np.dtype(dtype)}
        for array, known in zip(asked, usual, strict=True):
            assert (to_host(array) == to_host(known)).all()
    assert {array.dtype for array in export(A, v, index_dtype=None)[:count]} == {np.dtype(np.int32)}


def test_a_key_of_row_and_column_does_not_wrap() -> None:
    n = 100_000
    i, j, _ = Matrix.from_coo([n - 1], [n - 2], shape=(n, n)).to_coo()
    assert to_host(i * n + j).tolist() == [(n - 1) * n + n - 2]


def test_as_they_are_stored_costs_no_copy() -> None:
    A, v = (x.to("cpu") for x in objects())
    assert np.shares_memory(A.to_csr(index_dtype=None)[1], A.store.indices)
    assert np.shares_memory(A.to_csr(index_dtype=np.int32)[0], A.store.indptr)
    assert np.shares_memory(A.to_coo(index_dtype=None)[1], A.store.indices)
    v.convert("index")
    assert np.shares_memory(v.to_coo(index_dtype=None)[0], v.store.indices)


def test_a_type_that_is_too_narrow_is_refused() -> None:
    A = Matrix.from_coo([0], [0], shape=(3, 200))
    for export in (A.to_coo, A.to_csr, A.to_edgelist, A.T.to_csc, Vector(int, 200).to_coo):
        with pytest.raises(InvalidValue, match="index_dtype=int8 cannot hold 199"):
            export(index_dtype=np.int8)
    assert A.to_coo(index_dtype=np.uint8)[0].dtype == np.uint8
    many = Matrix.from_scalar(1, 2, 100)
    with pytest.raises(InvalidValue, match=r"to_csr.*int8 cannot hold 200"):  # the offsets count the entries
        many.to_csr(index_dtype=np.int8)


@pytest.mark.parametrize("dtype", [float, bool])
def test_indices_are_integers(dtype: type) -> None:
    with pytest.raises(DomainMismatch, match="index_dtype"):
        objects()[0].to_coo(index_dtype=dtype)


def test_rows_of_nested_dictionaries_count_without_entries() -> None:
    assert Matrix.from_dicts({1: {}}).shape == (2, 0)
    assert Matrix.from_dicts({4: {}, 0: {2: 1.5}}).shape == (5, 3)
    assert Matrix.from_dicts({4: {}, 0: {2: 1.5}}, nrows=7, ncols=3).to_dicts() == {0: {2: 1.5}}
    assert Matrix.from_dicts({}).shape == (0, 0)
    for wrong, message in (({5: {}}, r"rows\[0\] = 5"), ({-1: {}}, r"rows\[0\] = -1")):
        with pytest.raises(IndexError, match=message):
            Matrix.from_dicts(wrong, nrows=3, ncols=3)
    with pytest.raises(InvalidValue, match="rows must hold integers"):
        Matrix.from_dicts({"a": {}})
