"""A reduction or a selection fused into a product has the result of computing the product first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring.ops.mxm import METHODS
from tests import sampling
from tests.ops.test_product_methods import drawn, masks

SEMIRINGS = ("plus_pair", "plus_times", "min_plus", "max_first", "any_pair", "min_secondi", "plus_firstj", "lor_land")
MONOIDS = ("plus", "max", "min", "times", "lor", "any")
SHAPES = {
    "even": (False, (70, 50, 90), np.int64),
    "skewed": (True, (400, 300, 500), np.int32),
    "long rows": (True, (30, 6000, 40), np.uint8),
    "one row": (False, (1, 40, 60), np.float32),
}
ROWS = [
    (ring, mask, shape)
    for ring in SEMIRINGS
    for mask in ("none", "structure", "value", "complement")
    for shape in SHAPES
]
SAMPLE = sampling.draw("fused products", ROWS, 6)


def uses(monoid: str) -> list[tuple[str, Callable[[Any], Any]]]:
    return [
        ("scalar", lambda C: C.reduce_scalar(monoid)),
        ("rows", lambda C: C.reduce_rowwise(monoid)),
        ("by value", lambda C: C.select(">=", 3)),
        ("by position", lambda C: C.select("tril", 1)),
    ]


def same(made: Any, expected: Any) -> bool:
    if isinstance(expected, sr.Scalar):
        a, b = made.value, expected.value
        return (a is None) == (b is None) and (a is None or bool(np.isclose(a, b, rtol=1e-5)))
    there = made.to("cpu")
    close = there.isclose(expected, rel_tol=1e-5, check_dtype=True)
    return bool(close)


@pytest.mark.costly
@pytest.mark.parametrize(
    ("ring", "mask", "shape"), [pytest.param(*row, marks=sampling.marks(row, SAMPLE)) for row in ROWS]
)
def test_fused_is_the_same_as_stored(ring: str, mask: str, shape: str) -> None:
    skewed, (m, n, p), dtype = SHAPES[shape]
    rng = np.random.default_rng(7)
    A = drawn(rng, (m, n), 6 * m + n, skewed=skewed, dtype=dtype)
    B = drawn(rng, (n, p), 4 * n, skewed=skewed, dtype=dtype)
    M = drawn(rng, (m, p), 5 * m + p, skewed=skewed, dtype=np.int8).apply("minus", right=1)
    transposed = B.T.dup()
    for monoid in sampling.draw(f"{ring} {mask} {shape}", MONOIDS, 3 if sampling.exhaustive else 1):
        for name, use in uses(monoid):
            if name == "scalar" and monoid == "any":  # any of the values
                continue
            with sr.use("cpu"), sr.config.set(fusion=False):
                expected = use(A.to("cpu").mxm(B.to("cpu"), ring, mask=masks(M.to("cpu"))[mask]))
                if name != "scalar":
                    expected.wait()
            for method in METHODS if sampling.exhaustive else ("auto", "dot"):
                for other in (B, transposed.T):
                    made = use(A.mxm(other, ring, method=method, mask=masks(M)[mask]))
                    if name == "rows" and monoid == "any":
                        made, wanted = made.apply("one"), expected.apply("one")
                        assert same(made, wanted), (name, method)
                    else:
                        assert same(made, expected), (name, monoid, method)


@pytest.mark.costly
def test_user_defined_operators() -> None:
    wider = sr.monoid.register_new("wider_of_fused", lambda x, y: x if x > y else y, identity=0)
    ring = sr.semiring.register_new("wider_of_fused", wider, sr.binary.times)
    A = sr.Matrix.from_coo([0, 0, 1], [0, 1, 1], [-3, 2, 5], shape=(2, 2))
    M = sr.Matrix.from_coo([0, 0, 1], [0, 1, 1], True, shape=(2, 2))

    def product(method: str) -> sr.Matrix:
        return A.mxm(A, ring, method=method, mask=M.S)  # 9, max(-6, 10), 25

    for method in ("auto", "dot"):
        assert product(method).reduce_scalar(wider).get(0) == 25
        assert product(method).reduce_scalar("plus").get(0) == 9 + 10 + 25
        assert product(method).reduce_rowwise(wider).to_coo()[1].tolist() == [10, 25]
        assert product(method).select(lambda x: x % 2 == 1).to_coo()[2].tolist() == [9, 25]
    B = sr.Matrix.from_coo([0, 1], [0, 1], [1, -1], shape=(2, 2))
    assert A.mxm(B, ring, method="dot", mask=M.S).reduce_rowwise(wider).to_coo()[1].tolist() == [-2, -5]


@pytest.mark.one_process("kernels and plans are of parts")
def test_a_product_is_fused_once_and_then_stored(engine: str) -> None:
    L = sr.random.kronecker(7, seed=3).select("tril", -1)
    dense = L.apply("one").to_numpy(fill_value=0).astype(np.int64)
    expected = (dense @ dense.T) * dense
    for together in (False, True):
        C = L.mxm(L.T, "plus_pair", mask=L.S, method="dot")
        w = C.reduce_rowwise("plus") if together else None  # pending when the sum is computed
        with sr.explain() as log:
            assert C.reduce_scalar("plus").get(0) == expected.sum()
            w = C.reduce_rowwise("plus") if w is None else w
            high = C.select(">=", 2)
            np.testing.assert_array_equal(w.to_numpy(0), expected.sum(axis=1))
            np.testing.assert_array_equal(high.to_numpy(0), np.where(expected >= 2, expected, 0))
            np.testing.assert_array_equal(C.to_numpy(0), expected)
        made = [call.operation for call in log if call.operation.startswith("mxm")]
        assert made == (["mxm"] if engine == "reference" or together else ["mxm_reduce_scalar", "mxm"])


def test_operands_are_those_of_the_call() -> None:
    A = sr.Matrix.from_coo([0, 1], [1, 0], [2, 3], shape=(2, 2))
    M = sr.Matrix.from_coo([0], [0], True, shape=(2, 2))
    C = A.mxm(A, mask=M.S)
    A[0, 1] = 100
    M.clear()
    assert C.reduce_scalar("plus").get(0) == 6


def test_masks_are_checked_at_once_and_writes_are_not_fused() -> None:
    A = sr.Matrix.from_coo([0, 1], [1, 0], [2, 3], shape=(2, 2))
    with pytest.raises(sr.exceptions.DimensionMismatch):
        A.mxm(A, mask=sr.Matrix(bool, 3, 3).S)
    M = sr.Matrix.from_coo([0, 0], [0, 1], True, shape=(2, 2))
    C = A.dup()
    C(M.S, accum="plus") << A.mxm(A, mask=A.S)  # the product is 6 at (0, 0) and (1, 1), where A has no entry
    assert C.isequal(A)
    assert A.mxm(A, mask=M.S, out=C).reduce_scalar("plus").get(0) == 6 + 3
    assert A.mxm(A, mask=M.S, replace=True, out=C).reduce_scalar("plus").get(0) == 6


@pytest.mark.parametrize("nothing", ["mask", "operand", "products"])
def test_nothing_is_reduced_to_nothing(nothing: str) -> None:
    A = sr.Matrix(np.int64, 3, 3) if nothing == "operand" else sr.Matrix.from_coo([0, 1], [0, 1], [4, 5], shape=(3, 3))
    M = sr.Matrix(bool, 3, 3) if nothing == "mask" else sr.Matrix.from_coo([0, 2], [1, 2], True, shape=(3, 3))
    for method in ("auto", "dot"):
        assert A.mxm(A.T, "plus_times", mask=M.S, method=method).reduce_scalar("plus").value is None
        assert A.mxm(A.T, "plus_times", mask=M.S, method=method).reduce_rowwise("plus").nvals == 0
        assert A.mxm(A.T, "plus_times", mask=M.S, method=method).select(">", 0).nvals == 0


@pytest.mark.parametrize("form", ["packed", "varint, host", "full mask"])
def test_other_storage_kinds_are_not_fused(form: str) -> None:
    L = sr.random.kronecker(6, seed=2).select("tril", -1)
    expected = L.mxm(L.T, "plus_pair", mask=L.S).wait()
    A = L.compress("packed") if form == "packed" else L
    A = L.compress("varint").to(placement="host") if form == "varint, host" else A
    mask = sr.Matrix.from_dense(np.tri(L.nrows, k=-1, dtype=bool)).V if form == "full mask" else A.S
    if form == "full mask":
        expected = L.mxm(L.T, "plus_pair").select("tril", -1)
    total = expected.reduce_scalar("plus").get(0)
    assert A.mxm(A.T, "plus_pair", mask=mask).reduce_scalar("plus").get(0) == total
    assert A.mxm(A.T, "plus_pair", mask=mask).reduce_rowwise("max").isequal(expected.reduce_rowwise("max"))
    assert A.mxm(A.T, "plus_pair", mask=mask).select(">", 2).isequal(expected.select(">", 2))
