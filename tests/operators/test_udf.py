"""User-defined operators: what is understood, what it becomes, and what is refused with which words."""

from __future__ import annotations

import math
import pickle
from math import hypot

import numpy as np
import pytest

from semiring.engines.numpy_helpers import evaluate
from semiring.exceptions import DomainMismatch, InvalidValue, UdfParseError, UnknownOperator
from semiring.operators import binary, indexunary, monoid, select, semiring, unary
from semiring.operators.expression import normalise
from semiring.operators.infer import infer

LIMIT = 3


def clamp(x):
    """A docstring is no statement."""
    low: float = 0.0
    if x < low:
        return low
    elif x > 1:
        x = 1.0
    x += 2
    return x


def scaled(x, factor=2.5):
    return x * factor


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x + y * 2", "x + y * 2"),
        ("(x + y) * 2", "(x + y) * 2"),
        ("x - (y - 1)", "x - (y - 1)"),
        ("-(-x)", "-(-x)"),
        ("x / y // 2 % 3", "mod(floordiv(truediv(x, y), 2), 3)"),
        ("x ** 2 & ~y", "band(pow(x, 2), bnot(y))"),
        ("0 < x <= y", "land(0 < x, x <= y)"),
        ("(x < y) == (y < 3)", "(x < y) == (y < 3)"),
        ("x and not y or 1", "lor(land(x, lnot(y)), 1)"),
        ("x if x > y else y", "select(x > y, x, y)"),
        ("min(x, y, 3)", "min(min(x, y), 3)"),
        ("np.where(x > 0, math.sqrt(x), math.pi)", "select(x > 0, sqrt(x), 3.141592653589793)"),
        ("-np.inf", "-truediv(1.0, 0.0)"),
        ("True", "0 == 0"),
        ("x << 1_000", "shl(x, 1000)"),
        ("xi + yj", "xi + yj"),
    ],
)
def test_normal_form(text: str, expected: str) -> None:
    assert normalise(text, "binary") == expected
    assert normalise(expected, "binary") == expected


def test_functions() -> None:
    shift = np.float32(0.5)
    assert unary.register_anonymous(lambda x: min(max(x, 0.0), 1.0)).expr == "min(max(x, 0.0), 1.0)"
    assert unary.register_anonymous(lambda v: v * LIMIT + shift).expr == "x * 3 + 0.5"
    assert unary.register_anonymous(scaled).expr == "x * 2.5"
    assert binary.register_anonymous(lambda a, b: hypot(a, b) + np.exp(b)).expr == "hypot(x, y) + exp(y)"
    assert binary.register_anonymous(lambda x, yj: x + yj).expr == "x + yj"
    assert indexunary.register_anonymous(lambda i, j: i == j).expr == "i == j"
    assert indexunary.register_anonymous(lambda value, row: value + row).expr == "x + i"
    pair = [binary.register_anonymous(f).expr for f in (lambda x, y: x + y, lambda x, y: x - y)]
    assert pair == ["x + y", "x - y"]


def test_statements_become_one_expression() -> None:
    op = unary.register_anonymous(clamp)
    assert op.expr == "select(x < 0.0, 0.0, select(x > 1, 1.0 + 2, x + 2))"
    x = np.array([-1.0, 0.25, 7.0])
    np.testing.assert_array_equal(evaluate(op.expr, {"x": x}, float), [clamp(value) for value in x])


def bad_loop(x):
    total = 0
    for _ in range(3):
        total = total + x
    return total


def bad_path(x):
    if x > 0:
        return 1


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (bad_loop, r"for _ in range\(3\).*loops are not allowed"),
        (bad_path, "not every path"),
        (lambda x: x.real, "attribute 'real'"),
        (lambda x: sqroot(x), r"unknown function 'sqroot' \(did you mean sqrt"),  # noqa: F821
        (lambda x: print(x), "cannot call 'print'"),
        (lambda x: unknown + x, "unknown name 'unknown'"),  # noqa: F821
        (lambda x, y: x, "too many parameters"),
        (lambda *x: x, r"\*args"),
        (lambda x: sum(i for i in x), "cannot call 'sum'"),
        (lambda x: sqrt(x, 2), "sqrt takes 1 argument"),  # noqa: F821
        (lambda x: x is None, "the constant None"),
        ("x +", "is not an expression"),
        ("x + z", "unknown name 'z'"),
        ("'a'", "the constant 'a'"),
        ("99999999999999999999", "64 bits"),
        ("x.__class__", "attribute"),
        ("[x for x in y]", "a loop"),
    ],
)
def test_refusals(function: object, words: str) -> None:
    with pytest.raises(UdfParseError, match=words):
        unary.register_anonymous(function)


def test_no_source() -> None:
    scope: dict[str, object] = {}
    exec("f = lambda x: x + 1", scope)
    with pytest.raises(UdfParseError, match="give the operator as an expression"):
        unary.register_anonymous(scope["f"])
    with pytest.raises(InvalidValue, match="expected a Python function or an expression"):
        unary.register_anonymous(3)


def test_registration() -> None:
    made = binary.register_new("absdiff_test", "abs(x - y)")
    assert binary.absdiff_test is made
    assert binary.from_string("absdiff_test[int8]").z == np.int8
    assert semiring.from_string("max_absdiff_test").mult is made
    with pytest.raises(InvalidValue, match="built in"):
        binary.register_new("plus", "x + y")
    with pytest.raises(InvalidValue, match="expected a name"):
        binary.register_new("a.b", "x + y")
    with pytest.raises(UnknownOperator, match="absdiff_test"):
        _ = binary.absdiff_tes
    near = select.register_new("near_test", lambda x, i, j, k: abs(i - j) <= k)
    assert near.typed(float).z == np.bool_


def test_monoid_and_semiring() -> None:
    function = lambda x, y: max(x, y) + math.log1p(math.exp(-abs(x - y)))  # noqa: E731
    logadd = monoid.register_new("logadd_test", function, identity=-np.inf)
    assert logadd.typed("int32").dtype == np.float64
    assert logadd.typed("float32").identity == np.float32(-np.inf)
    made = semiring.register_new("log_test", logadd, binary.plus)
    assert made.typed(int, "float32").z == np.float64
    assert made.typed("float32").name == "log_test"
    again = pickle.loads(pickle.dumps(made))
    assert again.typed("float32") == made.typed("float32")
    assert again.typed("float32").key == made.typed("float32").key


@pytest.mark.parametrize(
    ("expr", "x", "y", "z"),
    [
        ("x + y", "int8", "int8", "int8"),
        ("x + y", "int8", "float32", "float32"),
        ("x * 0.5", "float32", "bool", "float32"),
        ("x * 0.5", "int32", "bool", "float64"),
        ("(x > 0) + (y > 0)", "int8", "int8", "int64"),
        ("truediv(x, y)", "int8", "int8", "float64"),
        ("sqrt(x)", "int8", "int8", "float32"),
        ("select(x > 1, x, y)", "int8", "int16", "int16"),
        ("land(x, y)", "int8", "int16", "bool"),
        ("toint(x)", "float32", "int8", "int64"),
        ("1", "int8", "int8", "int64"),
    ],
)
def test_inference(expr: str, x: str, y: str, z: str) -> None:
    assert infer(expr, {"x": np.dtype(x), "y": np.dtype(y)}) == np.dtype(z)


def test_inference_refuses_bits_of_floats() -> None:
    with pytest.raises(DomainMismatch, match="band is defined on integers, got float64"):
        binary.register_anonymous("band(x, y)").typed(float)
