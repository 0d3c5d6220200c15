"""Products of large matrices, by every method: the sums of the rows of A B are A (B 1).

The rows of a product under a mask and under its complement have these sums together.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring.ops.mxm import METHODS

# (semiring, type): the product distributes over the sum, and sums of small numbers are exact.
SEMIRINGS = (
    ("plus_times", "int64"),
    ("plus_times", "float64"),
    ("min_plus", "int64"),
    ("max_min", "int32"),
    ("lor_land", "bool"),
    ("bxor_band", "uint8"),
)
# Rows, entries of a row on the CPU and elsewhere, and the exponent of the positions: 2 gathers them in few rows.
SHAPES = {"skewed": (50_000, 4, 16, 2), "many rows": (1_000_000, 2, 4, 1)}


def drawn(shape: str, dtype: str, engine: str, seed: int) -> sr.Matrix:
    n, few, many, exponent = SHAPES[shape]
    rng = np.random.default_rng(seed)
    nvals = n * (few if engine == "cpu" else many)
    rows, cols = ((n * rng.random(nvals) ** exponent).astype(np.int64) for _ in range(2))
    values = rng.integers(1, 6, nvals).astype(dtype)
    return sr.Matrix.from_coo(rows, cols, values, shape=(n, n), dup_op="second")


def sums(x: sr.Matrix, semiring: Any) -> sr.Vector:
    return x.reduce_rowwise(semiring.add)


@pytest.fixture(scope="module", params=SHAPES)
def shape(request: pytest.FixtureRequest, engine: str) -> str:
    if engine == "reference":
        pytest.skip("the specification is dense")
    return str(request.param)


@pytest.mark.wide
@pytest.mark.parametrize(("name", "dtype"), SEMIRINGS)
def test_sums_of_rows(shape: str, name: str, dtype: str, engine: str) -> None:
    semiring = sr.semiring.from_string(name)
    A, B = (drawn(shape, dtype, engine, seed) for seed in (1, 2))
    expected = A.mxv(sums(B, semiring), semiring)
    assert expected.nvals > A.nrows // 10
    M = drawn(shape, "bool", engine, 3)
    by_columns = B.T.dup().T
    for method in METHODS:
        whole = A.mxm(B, semiring, method=method)
        assert whole.dtype == expected.dtype
        assert sums(whole, semiring).isequal(expected), method
        for other in (B, by_columns):
            inside = A.mxm(other, semiring, method=method, mask=M.S)
            assert 0 < inside.nvals < whole.nvals, method
            outside = A.mxm(other, semiring, method=method, mask=~M.S)
            assert inside.nvals + outside.nvals == whole.nvals, method
            together = sums(inside, semiring).ewise_add(sums(outside, semiring), semiring.add)
            assert together.isequal(expected), method


@pytest.mark.wide
def test_counts_of_rows(shape: str, engine: str) -> None:
    """With plus_pair, the sums are numbers of products, which entries without values determine."""
    A, B = (drawn(shape, "bool", engine, seed) for seed in (4, 5))
    expected = A.mxv(B.reduce_rowwise("count"), "plus_second")
    for method in METHODS:
        assert A.mxm(B, "plus_pair", method=method).reduce_rowwise("plus").isequal(expected), method
