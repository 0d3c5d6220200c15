"""Monoids of users: a sum of one or more products does not contain the identity that the user declared.

0 is no identity of a maximum of negative numbers: an engine whose sums start from it would return 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring.config import config
from semiring.ops.mxm import METHODS
from tests.storage_kinds import KINDS, in_kind, small_slices

N = 150
WIDE = pytest.mark.wide
# The same maximum by an expression of its own, and by the built-in operator, which has atomic instructions on a GPU.
OPERATORS: dict[str, Any] = {"own": lambda x, y: x if x > y else y, "builtin": sr.binary.max}
PLACES = ["own", pytest.param("builtin", marks=WIDE)]
TYPES = ["int64", *(pytest.param(name, marks=WIDE) for name in ("int8", "int32", "float32", "float64"))]


def ring(operator: str) -> Any:
    add = sr.monoid.register_new(f"declared_{operator}", OPERATORS[operator], identity=0)
    return sr.semiring.register_new(f"declared_{operator}", add, sr.binary.plus)


def negative(rng: np.random.Generator, *shape: int, dtype: str) -> np.ndarray[Any, Any]:
    """Numbers from -9 to -1, and 0 where there is no entry."""
    return np.where(rng.random(shape) < 0.05, rng.integers(-9, 0, shape), 0).astype(dtype)


def maxima(a: np.ndarray[Any, Any], u: np.ndarray[Any, Any]) -> dict[int, Any]:
    """(i, max_k a(i, k) + u(k)) over the entries, by definition."""
    present = (a != 0) & (u != 0)
    sums = np.where(present, a + u, np.asarray(-100, a.dtype))
    return {int(i): sums[i].max().item() for i in np.flatnonzero(present.any(axis=1))}


def of(a: np.ndarray[Any, Any]) -> Any:
    at = np.nonzero(a)
    make = sr.Matrix if a.ndim == 2 else sr.Vector
    return make.from_coo(*at, a[at], shape=a.shape)


@pytest.mark.costly
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("operator", PLACES)
@pytest.mark.parametrize("direction", ["auto", "push", "pull"])
def test_vectors(operator: str, direction: str, dtype: str) -> None:
    rng = np.random.default_rng(1)
    semiring, a, u = ring(operator), negative(rng, N, N, dtype=dtype), negative(rng, N, dtype=dtype)
    A, x, mask = of(a), of(u), of((rng.random(N) < 0.5).astype(np.int8))
    with config.set(direction=direction):
        for got, matrix in (
            (x.vxm(A, semiring), a.T),
            (A.mxv(x, semiring), a),
            (A.T.mxv(x, semiring), a.T),
            (x.vxm(A.T, semiring), a),
        ):
            assert got.to("cpu").to_dict() == maxima(matrix, u)
        masked = x.vxm(A, semiring, mask=mask.S).to("cpu").to_dict()
    kept = mask.to("cpu").to_dict()
    assert masked == {j: value for j, value in maxima(a.T, u).items() if j in kept}


@pytest.mark.wide
@pytest.mark.parametrize(("codec", "placement"), KINDS)
@pytest.mark.parametrize("operator", OPERATORS)
def test_storage_kinds(operator: str, codec: Any, placement: Any, engine: str) -> None:
    rng = np.random.default_rng(2)
    semiring, a, u = ring(operator), negative(rng, N, N, dtype="int32"), negative(rng, N, dtype="int32")
    A, x = of(a), of(u)
    A = A.with_store(in_kind(A.store, codec, placement, engine))
    with small_slices():
        for direction in ("auto", "push", "pull"):
            with config.set(direction=direction):
                assert x.vxm(A, semiring).to("cpu").to_dict() == maxima(a.T, u)
                assert A.mxv(x, semiring).to("cpu").to_dict() == maxima(a, u)


@pytest.mark.wide
@pytest.mark.parametrize("operator", OPERATORS)
def test_matrices_and_reductions(operator: str) -> None:
    rng = np.random.default_rng(3)
    semiring, a = ring(operator), negative(rng, N, N, dtype="int64")
    A, mask = of(a), of((rng.random((N, N)) < 0.5).astype(np.int8))
    expected = {(i, j): value for j in range(N) for i, value in maxima(a, a[:, j]).items()}
    kept = set(zip(*(part.tolist() for part in mask.to("cpu").to_coo()[:2]), strict=True))
    for method in METHODS:
        assert entries(A.mxm(A, semiring, method=method)) == expected
        masked = entries(A.mxm(A, semiring, method=method, mask=mask.S))
        assert masked == {at: value for at, value in expected.items() if at in kept}
    by_row = {i: row[row != 0].max().item() for i, row in enumerate(a) if row.any()}
    by_column = {j: row[row != 0].max().item() for j, row in enumerate(a.T) if row.any()}
    assert A.reduce_rowwise(semiring.add).to("cpu").to_dict() == by_row
    assert A.reduce_columnwise(semiring.add).to("cpu").to_dict() == by_column
    assert A.reduce_scalar(semiring.add).value == max(by_row.values())


def entries(found: sr.Matrix) -> dict[tuple[int, int], Any]:
    rows, cols, values = (part.tolist() for part in found.to("cpu").to_coo())
    return dict(zip(zip(rows, cols, strict=True), values, strict=True))


@pytest.mark.wide
def test_closures_over_a_built_in_operator() -> None:
    """The longest paths of a graph without cycles, whose arcs have negative weights."""
    a = np.triu(negative(np.random.default_rng(4), N, N, dtype="int64"), 1)
    found = sr.ops.closure(sr.Vector.from_coo([0], -1, "int64", size=N), of(a), ring("builtin"))
    expected: dict[int, int] = {0: -1}
    for k in range(N):  # the arcs lead to higher numbers
        for j in np.flatnonzero(a[k]).tolist() if k in expected else []:
            expected[j] = max(expected.get(j, -(10**9)), expected[k] + int(a[k, j]))
    assert found.to("cpu").to_dict() == expected
