"""Every built-in operator evaluates on all its types, and every law of a row is satisfied."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from semiring import dtypes
from semiring.engines.shared.expression_numpy import FUNCTIONS, cast, evaluate
from semiring.operators import catalog
from semiring.operators.expression import HELPERS, VARIABLES, Expression, normalize
from semiring.operators.types import TypedBinary, TypedMonoid

POSITIONS = {"xi": 1, "xj": 2, "yi": 3, "yj": 4, "i": 5, "j": 6}


def samples(dtype: np.dtype) -> np.ndarray:
    """Small values, the ends of the type, and for floats infinities; no NaN."""
    if dtype.kind == "c":
        return np.array([0, 1, -1, 2j, -0.5 + 0.25j, 3 - 1j], dtype)
    low, high = dtypes.limits(dtype)
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.kind == "f":
        return np.array([-np.inf, -2.5, -1.0, 0.0, 0.5, 1.0, 3.0, np.inf], dtype)
    few = [low, low + low.dtype.type(1), 0, 1, 2, 5, high - high.dtype.type(1), high]
    return np.unique(np.array([*few, -1 if dtype.kind == "i" else 7], dtype))


def call(op: TypedBinary, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    made = evaluate(op.expr, {"x": cast(x, op.x), "y": cast(y, op.y), **POSITIONS}, op.z)
    return np.broadcast_to(made, np.broadcast_shapes(x.shape, y.shape))


def grids(dtype: np.dtype, n: int) -> list[np.ndarray]:
    return [np.array(column, dtype) for column in zip(*itertools.product(samples(dtype), repeat=n), strict=True)]


def same(a: np.ndarray, b: np.ndarray) -> bool:
    if a.dtype.kind not in "fc":
        return bool(np.array_equal(a, b))
    return bool(np.allclose(a, b, rtol=8 * np.finfo(a.dtype).eps, equal_nan=True))


@pytest.mark.parametrize("kind", ["unary", "binary", "indexunary", "select"])
def test_every_operator_evaluates_to_its_type(kind: str) -> None:
    for _, op in catalog(kind):
        if kind == "binary":
            made = evaluate(op.expr, {"x": samples(op.x), "y": samples(op.y), **POSITIONS}, op.z)
        elif kind == "unary":
            made = evaluate(op.expr, {"x": samples(op.x)}, op.z)
        else:
            made = evaluate(op.expr, {"x": samples(op.x), "k": op.k.type(1), **POSITIONS}, op.z)
        assert made.dtype == op.z, op
        assert op.uses <= set(VARIABLES["indexunary" if kind == "select" else kind]), op


@pytest.mark.parametrize("kind", ["unary", "binary", "indexunary", "select"])
def test_rows_are_in_normal_form(kind: str) -> None:
    for _, op in catalog(kind):
        assert normalize(op.expr.text, "indexunary" if kind == "select" else kind) is op.expr


def test_laws_of_binary_operators() -> None:
    for _, op in catalog("binary"):
        assert isinstance(op, TypedBinary)
        x, y = grids(op.x, 2)
        with np.errstate(invalid="ignore"):
            z = call(op, x, y)
            if "commutative" in op.laws and op.name != "any":
                assert same(z, call(op, y, x)), op
            if "idempotent" in op.laws:
                assert same(call(op, x, x), x), op
            if "selective" in op.laws:
                assert ((z == x) | (z == y)).all(), op


def test_laws_of_monoids() -> None:
    for _, monoid in catalog("monoid"):
        assert isinstance(monoid, TypedMonoid)
        op, dtype = monoid.op, monoid.dtype
        assert op.x == op.y == op.z == dtype
        x, y, w = grids(dtype, 3)
        finite = np.isfinite(x) & np.isfinite(y) & np.isfinite(w)
        keep = finite if monoid.name in ("plus", "times") else np.ones_like(finite)
        x, y, w = x[keep], y[keep], w[keep]
        assert same(call(op, call(op, x, y), w), call(op, x, call(op, y, w))), monoid
        assert {"commutative", "associative"} <= op.laws, monoid
        assert (monoid.identity is None) == monoid.is_any
        if monoid.identity is not None:
            assert monoid.identity.dtype == dtype
            assert same(call(op, np.full_like(x, monoid.identity), x), x), monoid
        if monoid.terminal is not None:
            assert monoid.terminal.dtype == dtype
            assert same(call(op, np.full_like(x, monoid.terminal), x), np.full_like(x, monoid.terminal)), monoid


def test_semirings_fit_together() -> None:
    for _, semiring in catalog("semiring"):
        assert semiring.mult.z == semiring.add.dtype, semiring
        assert semiring.uses == semiring.mult.uses


def test_keys_are_distinct_identifiers() -> None:
    for kind in ("unary", "binary", "indexunary", "monoid", "semiring"):
        keys = [op.key for _, op in catalog(kind)]
        assert len(set(keys)) == len(keys)
        assert all(key.isidentifier() for key in keys)


def test_the_vocabulary_is_implemented() -> None:
    assert FUNCTIONS.keys() == HELPERS.keys()


@pytest.mark.parametrize("dtype", dtypes.SIGNED)
def test_integer_division(dtype: np.dtype) -> None:
    low, high = dtypes.limits(dtype)
    x = np.array([7, -7, 7, -7, 0, 5, -5, low], dtype)
    y = np.array([2, 2, -2, -2, 0, 0, 0, -1], dtype)
    assert evaluate(Expression("div(x, y)"), {"x": x, "y": y}, dtype).tolist() == [3, -3, -3, 3, 0, high, low, low]
    assert evaluate(Expression("floordiv(x, y)"), {"x": x, "y": y}, dtype).tolist() == [3, -4, -4, 3, 0, high, low, low]
    assert evaluate(Expression("mod(x, y)"), {"x": x, "y": y}, dtype).tolist() == [1, 1, -1, -1, 0, 0, 0, 0]
    assert evaluate(Expression("fmod(x, y)"), {"x": x, "y": y}, dtype).tolist() == [1, -1, 1, -1, 0, 0, 0, 0]
    assert evaluate(Expression("minv(x)"), {"x": np.array([0, 1, -1, 2], dtype)}, dtype).tolist() == [high, 1, -1, 0]
    base, power = np.array([2, -1, 0, 3, 1, 2], dtype), np.array([3, -3, -1, -1, -2, 0], dtype)
    assert evaluate(Expression("pow(x, y)"), {"x": base, "y": power}, dtype).tolist() == [8, -1, high, 0, 1, 1]


def test_bits_past_the_width() -> None:
    x, k = np.array([-8], np.int8), np.array([9], np.int8)
    values = {"x": x, "k": k, "y": np.array([-1], np.int8)}
    assert evaluate(Expression("shl(x, k)"), values, "int8").tolist() == [0]
    assert evaluate(Expression("shr(x, k)"), values, "int8").tolist() == [-1]
    assert evaluate(Expression("shr(x, y)"), values, "int8").tolist() == [-1]
    assert evaluate(Expression("bshift(x, y)"), values, "int8").tolist() == [-4]
    assert evaluate(Expression("bget(x, 4)"), values, "int8").tolist() == [1]
    assert evaluate(Expression("bget(x, k)"), values, "int8").tolist() == [0]
    assert evaluate(Expression("bset(x, 1)"), values, "int8").tolist() == [-7]
    assert evaluate(Expression("bclr(x, 4)"), values, "int8").tolist() == [-16]


def test_min_and_max_pass_over_nan() -> None:
    x, y = np.array([np.nan, 1.0, np.nan]), np.array([2.0, np.nan, np.nan])
    np.testing.assert_array_equal(evaluate(Expression("min(x, y)"), {"x": x, "y": y}, "float64"), [2.0, 1.0, np.nan])


@pytest.mark.parametrize(
    ("values", "dtype", "expected"),
    [
        (np.array([-1.9, 1.9, 300.0, -300.0, np.nan, np.inf]), "int8", [-1, 1, 127, -128, 0, 127]),
        (np.array([-1.0, 255.9, 256.0, np.nan]), "uint8", [0, 255, 255, 0]),
        (np.array([9.3e18, -9.3e18, 2.0**62]), "int64", [2**63 - 1, -(2**63), 2**62]),
        (np.array([1.9e19, -1.0, 2.0**63]), "uint64", [2**64 - 1, 0, 2**63]),
        (np.array([-129, 128, 256]), "int8", [127, -128, 0]),
        (np.array([0.0, 0.1, np.nan]), "bool", [False, True, True]),
    ],
)
def test_cast(values: np.ndarray, dtype: str, expected: list[int]) -> None:
    made = cast(values, dtype)
    assert made.dtype == np.dtype(dtype)
    assert made.tolist() == expected
