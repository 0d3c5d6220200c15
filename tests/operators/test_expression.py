"""Expressions: one object for each, properties of their structure, and other variables."""

from __future__ import annotations

import copy
import gc
import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pytest

from semiring.dtypes import FP32, INT32
from semiring.operators import binary, catalog, indexunary, monoid, select, table, unary
from semiring.operators.expression import Expression, normalize
from semiring.operators.records import lowered


def test_equal_expressions_are_one_object() -> None:
    by_a_user: Any = binary.register_anonymous(lambda a, b: min(a, b))
    assert by_a_user.expr is binary.min.expr is Expression("min(x, y)") is normalize("np.minimum(x, y)", "binary")
    assert Expression("min(x, y)") != Expression("min(y, x)")
    assert binary.plus[INT32].expr is binary.plus[FP32].expr is monoid.plus[FP32].expr


def test_copies_and_pickles_are_the_same_object() -> None:
    expr = Expression("abs(x - y)")
    assert pickle.loads(pickle.dumps(expr)) is copy.deepcopy(expr) is copy.copy(expr) is expr
    with pytest.raises(FrozenInstanceError):
        expr.text = "x"  # type: ignore[misc]


def test_threads_get_one_object() -> None:
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda number: Expression(f"x + {number // 64} + 12345"), range(64 * 50)))
    assert len(set(made)) == 50


def test_unused_expressions_are_freed() -> None:
    from semiring.operators import expression

    _ = Expression("x + 271828").tree
    gc.collect()
    assert "x + 271828" not in expression._known


@pytest.mark.parametrize("kind", ["unary", "binary", "indexunary", "select"])
def test_the_text_follows_from_the_tree(kind: str) -> None:
    for _, op in catalog(kind):
        assert Expression.of(op.expr.tree) is op.expr
        assert op.expr.renamed({}) is op.expr


def test_structure_of_the_operators() -> None:
    def having(kind: str, name: str) -> dict[str, Any]:
        found = {each: table.find(kind, each) for each in table.names(kind)}
        return {each: value for each, op in found.items() if op.builtin and (value := getattr(op.expr, name))}

    assert having("binary", "order") == {"min": -1, "max": 1}
    assert having("binary", "is_addition").keys() == {"plus"}
    assert having("binary", "is_multiplication").keys() == {"times"}
    positions = {f"{side}{axis}": f"{'xy'[side == 'second']}{axis}" for side in ("first", "second") for axis in "ij"}
    operands = {"first": "x", "second": "y", "any": "x"}
    assert having("binary", "projection") == operands | positions
    assert having("binary", "translation") == operands | positions | {f"{k}1": v for k, v in positions.items()}
    assert having("unary", "projection")["identity"] == "x"
    assert having("select", "diagonal_condition") == {"tril": "<=", "triu": ">=", "diag": "==", "offdiag": "!="}


@pytest.mark.parametrize(
    ("text", "variables"),
    [("exp(k) - x * k", ("k", "x")), ("1", ()), ("x.y + y['k']", ("x", "y")), ("{'i': xj, 'j': (x, 1)}", ("xj", "x"))],
)
def test_variables(text: str, variables: tuple[str, ...]) -> None:
    expr = Expression(text)
    assert expr.variables == variables
    assert expr.uses == set(variables)
    assert expr.has_records == any(sign in text for sign in ".[{")


@pytest.mark.parametrize(
    ("text", "names", "expected"),
    [
        ("max(x, y) - x", {"x": "y", "y": "x"}, "max(y, x) - y"),
        ("x + xi * xj", {"xi": "xj", "xj": "0"}, "x + xj * 0"),
        ("exp(x) - 1e-07", {"x": "k", "e": "i"}, "exp(k) - 1e-07"),
        ("-(-x) - (-y - 1)", {"x": "k"}, "-(-k) - (-y - 1)"),
        ("x.x + y['a x'] + y['real']", {"x": "k", "y": "x"}, "k.x + x['a x'] + x['real']"),
        ("{'x': x, 'y': (y,)}", {"x": "k", "y": "x"}, "{'x': k, 'y': (x,)}"),
        ("-9223372036854775807 - 1 < x", {"x": "y"}, "-9223372036854775807 - 1 < y"),
    ],
)
def test_renamed(text: str, names: dict[str, str], expected: str) -> None:
    assert Expression(text).renamed(names).text == expected
    assert Expression(expected).renamed({}).text == expected


def test_fields_with_names_of_attributes() -> None:
    point: Any = np.dtype([("real", np.float32), ("__w", np.float32)])
    op: Any = unary.register_anonymous("x['real'] + x['__w']")
    assert normalize(op.expr.text, "unary") is op.expr
    assert [leaf.text for leaf in lowered(op.expr, {"x": point}).leaves] == ["x_0 + x_1"]


def test_signs_of_leaves_are_not_joined() -> None:
    point = np.dtype([("a", np.float32), ("b", np.float32)])
    op: Any = unary.register_anonymous("-(-x.a)")
    assert lowered(op.expr, {"x": point}).leaves[0].text == "-(-x_0)"  # in C++ `--x_0` subtracts 1


def test_a_bound_operand_keeps_its_side() -> None:
    assert indexunary.valuegt.expr is select.valuegt.expr
    assert binary.minus.expr.renamed({"x": "k", "y": "x"}).variables == ("k", "x")
