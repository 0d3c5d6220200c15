"""User-defined operators: accepted functions, their expressions, and the errors for all others."""

from __future__ import annotations

import math
import os
import pickle
import subprocess
import sys
from math import hypot
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from semiring.engines.shared.expression_numpy import evaluate
from semiring.exceptions import DomainMismatch, InvalidValue, UdfParseError, UnknownOperator
from semiring.operators import binary, indexunary, monoid, select, semiring, unary
from semiring.operators.expression import Expression, normalize
from semiring.operators.infer import infer

LIMIT = 3
PATHS = {"PYTHONPATH": str(Path(__file__).resolve().parents[2])}


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
    assert normalize(text, "binary").text == expected
    assert normalize(expected, "binary").text == expected


def test_functions() -> None:
    shift = np.float32(0.5)
    assert unary.register_anonymous(lambda x: min(max(x, 0.0), 1.0)).expr.text == "min(max(x, 0.0), 1.0)"
    assert unary.register_anonymous(lambda v: v * LIMIT + shift).expr.text == "x * 3 + 0.5"
    assert unary.register_anonymous(scaled).expr.text == "x * 2.5"
    assert binary.register_anonymous(lambda a, b: hypot(a, b) + np.exp(b)).expr.text == "hypot(x, y) + exp(y)"
    assert binary.register_anonymous(lambda x, yj: x + yj).expr.text == "x + yj"
    assert indexunary.register_anonymous(lambda i, j: i == j).expr.text == "i == j"
    assert indexunary.register_anonymous(lambda value, row: value + row).expr.text == "x + i"
    pair = [binary.register_anonymous(f).expr.text for f in (lambda x, y: x + y, lambda x, y: x - y)]
    assert pair == ["x + y", "x - y"]


def test_statements_become_one_expression() -> None:
    op = unary.register_anonymous(clamp)
    assert op.expr.text == "select(x < 0.0, 0.0, select(x > 1, 1.0 + 2, x + 2))"
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
        (lambda x: x.__doc__, "attribute '__doc__'"),
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
    exec("f = lambda x: [x + 1][0]", scope)
    with pytest.raises(UdfParseError, match=r"before Python 3.13.*write the operator as a text"):
        unary.register_anonymous(scope["f"])
    with pytest.raises(InvalidValue, match="expected a Python function or an expression"):
        unary.register_anonymous(3)


# fmt: off
def test_lambdas_that_share_a_line() -> None:
    level = 3
    take = lambda f: f()  # noqa: E731
    assert take(lambda: unary.register_anonymous(lambda x: x if x > level else -x)).expr.text == "select(x > 3, x, -x)"
    functions = (lambda x: x + 1, lambda x: x + 1.0, lambda x: 2 if x else x)
    made = [unary.register_anonymous(f).expr.text for f in functions]
    assert made == ["x + 1", "x + 1.0", "select(x, 2, x)"]
# fmt: on


def test_lambdas_that_share_a_line_without_positions(tmp_path: Path) -> None:
    script = tmp_path / "two.py"
    script.write_text(
        "from semiring.operators import unary\n"
        "print((lambda: unary.register_anonymous(lambda x: x if x > 3 else -x))().expr)\n"
    )
    command = [sys.executable, "-X", "no_debug_ranges", str(script)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, **PATHS})
    assert done.stdout.strip() == "select(x > 3, x, -x)"


def test_functions_at_the_prompt() -> None:
    code = "from semiring.operators import unary; print(unary.register_anonymous(lambda x: abs(x - 1) * 2).expr)"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, **PATHS})
    assert done.stdout.strip() == "abs(x - 1) * 2"


NO_SOURCE = """
def make(k):
    return [
        lambda x: x + 1,
        lambda x: -x if x < 0 else x,
        lambda x: x and 3,
        lambda x: 0 < x <= 5,
        lambda x: x > 0 and x < 5 or x == 9,
        lambda x: (x if x > 0 else -x) + 1,
        lambda x: math.sqrt(abs(x)) + max(x, 2, 3),
        lambda x: not x,
        lambda x: +x * math.pi,
        lambda x: x ** 2 // 3 % 5,
        lambda x: x * k + k,
        lambda x: (0 < x < 3) * 2,
        lambda x: x if 0 < x < 3 else 4,
        lambda x: 1 if not x > 3 else np.exp(x),
        lambda x: 3 if x > 1 and x < 5 else x - 2,
        lambda x, half=0.5: x * half,
        lambda x: 7,
    ]

def statements(x, y=3):
    a = x + 1
    b = a * a
    if a > b:
        return a
    a += b
    return a if y else b
"""


def test_bytecode_means_the_same_as_the_source() -> None:
    scope: dict[str, Any] = {"math": math, "np": np}
    exec(NO_SOURCE, scope)
    x = np.array([-2.0, -0.5, 0.0, 0.5, 1.0, 2.0, 3.0, 5.0, 9.0])
    for function in [*scope["make"](4), scope["statements"]]:
        op = unary.register_anonymous(function)
        expected = [bool(function(v)) and 1.0 if "land(x, 3)" in op.expr.text else function(v) for v in x]
        np.testing.assert_allclose(evaluate(op.expr, {"x": x}, float), expected, err_msg=op.expr.text)
    assert unary.register_anonymous(scope["make"](4)[4]).expr.text.count("x == 9") >= 1


def test_bytecode_gives_the_same_text_as_the_source() -> None:
    for text in ("x + 1", "select(x < 0, -x, x)", "land(0 < x, x <= 5)", "min(max(x, 0.0), 1.0)", "hypot(x, y)"):
        source = f"lambda x, y: {text}" if "y" in text else f"lambda x: {text}"
        kind = binary if "y" in text else unary
        assert kind.register_anonymous(eval(source, {})).expr.text == text
    assert unary.register_anonymous(eval("lambda x: 0 < x <= 5")).expr.text == "land(0 < x, x <= 5)"


@pytest.mark.parametrize(
    "body",
    ["[x]", "x is None", "x in (1, 2)", "max(x, *[1])", "round(x, ndigits=1)", "(lambda y: y)(x)", "f'{x}'", "x[i]"],
)
def test_bytecode_that_is_not_an_expression(body: str) -> None:
    with pytest.raises(UdfParseError):
        unary.register_anonymous(eval(f"lambda x: {body}"))


@pytest.mark.parametrize("loop", ["for i in range(3): x = x + 1", "while x > 0: x = x - 1"])
def test_loops_without_source(loop: str) -> None:
    scope: dict[str, Any] = {}
    exec(f"def f(x):\n  {loop}\n  return x", scope)
    with pytest.raises(UdfParseError, match="not a single expression"):
        unary.register_anonymous(scope["f"])


@pytest.mark.parametrize("text", ["x +", "foo(x)", "y", "[x]"])
def test_messages_are_short(text: str) -> None:
    with pytest.raises(UdfParseError) as caught:
        unary.register_new("f", text)
    assert len(str(caught.value)) < 350
    assert "<unknown>" not in str(caught.value)


def test_registration() -> None:
    made = binary.register_new("absdiff_test", "abs(x - y)")
    assert binary.absdiff_test is made
    assert binary.from_string("absdiff_test[int8]").z == np.int8
    assert semiring.from_string("max_absdiff_test").mult is made
    with pytest.raises(InvalidValue, match="built in"):
        binary.register_new("plus", "x + y")
    for name in ("a..b", "if", "__x", 3):
        with pytest.raises(InvalidValue, match="expected a name"):
            binary.register_new(name, "x + y")
    for module, name in ((binary, "register_new"), (binary, "BITS"), (select, "value")):
        with pytest.raises(InvalidValue, match=f"{name} is already defined"):
            module.register_new(name, "x + x")
    again = binary.register_new("absdiff_test", "abs(y - x)")
    assert binary.absdiff_test is again
    assert semiring.from_string("max_absdiff_test").mult is again
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
    ("op", "identity", "error", "words"),
    [
        ("x + y", "x", InvalidValue, "expected as identity a number"),
        ("x + y", None, InvalidValue, "expected as identity a number"),
        ("x + y", {int: "x"}, InvalidValue, "expected as identity a number"),
        ("x + y", 1, InvalidValue, r"op\(1.0, 0.0\) is 1.0, so 1.0 is no identity"),
        ("min(x, y)", 0, InvalidValue, "no identity"),
        (binary.minus, 0, InvalidValue, "no identity"),
        (binary.div, 1, InvalidValue, "no identity"),
        ("abs(x - y)", 0, InvalidValue, r"op\(op\(.*\) is .* and op\(.*op\("),
        ("select(x != 0, x, y)", 0, InvalidValue, r"op\(1.0, 2.0\) is 1.0 and op\(2.0, 1.0\) is 2.0"),
        ("x > y", 5, DomainMismatch, "on no type"),
    ],
)
def test_what_is_no_monoid(op: object, identity: object, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        monoid.register_new("bad_test", op, identity)
    assert not hasattr(monoid, "bad_test")


@pytest.mark.parametrize(
    ("op", "identity"),
    [
        ("max(x, y)", 0),
        ("min(x, y)", 1),
        ("min(x, y)", "highest"),
        ("min(x + y, 1)", 0),
        ("max(x + y - 1, 0)", 1),
        ("x + y - x * y", 0),
        ("hypot(x, y)", 0),
        ("bxor(x, y)", 0),
        (binary.plus, {float: 0.0}),
        ("lgamma(x) + y", 0),  # a helper that is not tried
    ],
)
def test_what_is_a_monoid_somewhere(op: object, identity: object) -> None:
    assert monoid.register_anonymous(op, identity).types


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
    assert infer(Expression(expr), {"x": np.dtype(x), "y": np.dtype(y)}) == np.dtype(z)


def test_inference_refuses_bits_of_floats() -> None:
    with pytest.raises(DomainMismatch, match="band is defined on integers, got float64"):
        binary.register_anonymous("band(x, y)").typed(float)
