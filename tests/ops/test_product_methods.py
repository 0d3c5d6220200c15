"""Every method of `mxm` has the same result: semirings, masks, types, transposes, and rows that exceed each table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring.engines.requests.operations import Mxm
from semiring.ops.mxm import METHODS
from tests import sampling

SEMIRINGS = ("plus_times", "plus_pair", "min_plus", "max_first", "any_pair", "any_second", "min_secondi", "plus_firstj")


def drawn(rng: np.random.Generator, shape: tuple[int, int], nvals: int, *, skewed: bool, dtype: Any) -> sr.Matrix:
    """Random entries; if skewed, most are in few rows and columns."""
    places = [(n * rng.random(nvals) ** (4 if skewed else 1)).astype(np.int64) for n in shape]
    return sr.Matrix.from_coo(*places, rng.integers(1, 5, nvals).astype(dtype), shape=shape, dup_op="max")


def masks(m: sr.Matrix) -> dict[str, Any]:
    return {"none": None, "structure": m.S, "value": m.V, "complement": ~m.S}


# The CPU engine compiles several kernels for each.
SAMPLE = sampling.draw("semirings by method", SEMIRINGS, 2)


@pytest.mark.costly
@pytest.mark.parametrize(
    "ring", [pytest.param(name, marks=sampling.marks(name, SAMPLE, pytest.mark.wide)) for name in SEMIRINGS]
)
@pytest.mark.parametrize("mask", ["none", "structure", "value", "complement"])
def test_methods_agree(ring: str, mask: str) -> None:
    rng = np.random.default_rng(3)
    for skewed, (m, n, p), dtype in (
        (False, (70, 50, 90), np.int64),
        (True, (400, 300, 500), np.int32),
        (True, (30, 3000, 40), np.uint8),
        (False, (1, 40, 60), np.int64),
    ):
        A = drawn(rng, (m, n), 6 * m + n, skewed=skewed, dtype=dtype)
        B = drawn(rng, (n, p), 4 * n, skewed=skewed, dtype=dtype)
        M = drawn(rng, (m, p), 5 * m + p, skewed=skewed, dtype=np.int8).apply("minus", right=1)
        given = masks(M)[mask]
        with sr.use("cpu"):
            expected = A.to("cpu").mxm(B.to("cpu"), ring, mask=masks(M.to("cpu"))[mask])
        transposed = B.T.dup()
        for method in METHODS:
            for other in (B, transposed.T):
                made = A.mxm(other, ring, method=method, mask=given)
                if ring == "any_second":  # any of the values may be the result
                    assert made.apply("one").to("cpu").isequal(expected.apply("one"))
                else:
                    assert made.to("cpu").isequal(expected, check_dtype=True), (method, m, n, p)


@pytest.mark.wide
@pytest.mark.parametrize("ring", ["plus_times", "any_pair", "any_second", "min_secondi", "wider"])
@pytest.mark.parametrize("mask", ["none", "structure", "value", "complement"])
@pytest.mark.parametrize("stride", [1, 1 << 20])  # columns of 32 bits, and of 64
def test_rows_of_every_size(ring: str, mask: str, stride: int) -> None:
    """Row i of A has up to 2**(i % 10) entries: from no product to more than a table in shared memory has slots."""
    rng = np.random.default_rng(7)
    m, n, p = 60, 700, 5000
    given: Any = ring
    if ring == "wider":  # a monoid without an exact start value
        wider = sr.monoid.register_anonymous(lambda x, y: x if x > y else y, identity=0)
        given = sr.semiring.register_anonymous(wider, sr.binary.minus)
    rows = np.repeat(np.arange(m), (1 << np.arange(m) % 11) // 2)

    def right(nvals: int, nrows: int, dtype: Any) -> sr.Matrix:
        places = rng.integers(0, nrows, nvals), stride * (p * rng.random(nvals) ** 3).astype(np.int64)
        return sr.Matrix.from_coo(
            *places, rng.integers(0, 5, nvals).astype(dtype), shape=(nrows, p * stride), dup_op="max"
        )

    A = sr.Matrix.from_coo(
        rows, rng.integers(0, n, rows.size), rng.integers(1, 5, rows.size), shape=(m, n), dup_op="max"
    )
    B, M = right(16 * n, n, np.int64), right(40 * m, m, np.int8)
    expected = A.to("cpu").mxm(B.to("cpu"), given, mask=masks(M.to("cpu"))[mask])
    for method in ("hash", "rows", "sort") if stride == 1 else ("hash", "auto"):
        made = A.mxm(B, given, mask=masks(M)[mask], method=method)
        if ring == "any_second":
            assert made.apply("one").to("cpu").isequal(expected.apply("one"))
        else:
            assert made.to("cpu").isequal(expected, check_dtype=True), method


def test_rows_longer_than_the_table_of_a_block() -> None:
    rng = np.random.default_rng(5)
    n = 20_000
    A = drawn(rng, (3, n), 40_000, skewed=False, dtype=np.int64)
    B = drawn(rng, (n, 700), 60_000, skewed=False, dtype=np.int64)
    M = drawn(rng, (3, 700), 3_000, skewed=False, dtype=bool)
    expected = A.to("cpu").mxm(B.to("cpu"), mask=M.to("cpu").S)
    assert expected.nvals
    assert A.mxm(B, method="dot", mask=M.S).to("cpu").isequal(expected)
    assert A.mxm(B.T.dup().T, mask=M.S).to("cpu").isequal(expected)


@pytest.mark.parametrize("method", METHODS)
def test_a_mask_without_entries_admits_nothing(method: str) -> None:
    A = sr.Matrix.from_coo([0, 1], [1, 0], [2, 3], shape=(2, 2))
    B, none = A.T.dup(), sr.Matrix(bool, 2, 2)
    for mask in (none.S, none.V):
        assert A.mxm(B.T, method=method, mask=mask).nvals == 0
    assert A.mxm(B.T, method=method, mask=~none.S).nvals == 2


@pytest.mark.one_process("kernels and plans are of parts")
def test_triangles_of_a_generated_graph_by_dot_products(engine: str) -> None:
    L = sr.random.kronecker(10, seed=2).select("tril", -1)
    with sr.explain() as log:
        C = L.mxm(L.T, "plus_pair", mask=L.S, method="dot")
        count = int(C.reduce_scalar("plus").get(0))
    methods = [call.details.get("method") for call in log if call.operation.startswith("mxm")]
    assert engine == "reference" or methods == ["dot"]
    dense = L.apply("one").to_numpy(fill_value=0).astype(np.int64)
    assert count == int(((dense @ dense.T) * dense).sum())


def test_an_unknown_method_is_refused() -> None:
    A = sr.Matrix.from_coo([0], [0], 1, shape=(1, 1))
    with pytest.raises(sr.exceptions.InvalidValue, match="auto, dense, dot, hash, rows, sort"):
        A.mxm(A, method="heap")


def test_a_product_needs_columns_only_where_they_are_offered() -> None:
    A = sr.Matrix.from_coo([0, 1], [1, 0], [2, 3], shape=(2, 2)).store
    spec = Mxm.of(A, A, sr.semiring.plus_times.typed(A.dtype, A.dtype))
    assert spec.by_column is None
    assert spec.b is A
    assert spec.ncols == 2
