"""Operators are found however they are written, and types are chosen by the stated rules."""

from __future__ import annotations

import operator
import pickle
import pydoc
import subprocess
import sys

import numpy as np
import pytest

import semiring as sr
from semiring import dtypes
from semiring.engines.shared.expression_numpy import evaluate
from semiring.exceptions import DomainMismatch, InvalidValue, UnknownOperator
from semiring.operators import (
    agg,
    binary,
    indexunary,
    lookup_agg,
    lookup_binary,
    lookup_indexunary,
    lookup_monoid,
    lookup_select,
    lookup_semiring,
    lookup_unary,
    monoid,
    op,
    select,
    semiring,
    unary,
)


@pytest.mark.parametrize(
    ("find", "obj", "expected"),
    [
        (lookup_unary, "sqrt", unary.sqrt),
        (lookup_unary, abs, unary.abs),
        (lookup_unary, np.negative, unary.ainv),
        (lookup_unary, operator.neg, unary.ainv),
        (lookup_unary, "positioni", unary.positioni),
        (lookup_binary, "+", binary.plus),
        (lookup_binary, operator.add, binary.plus),
        (lookup_binary, np.minimum, binary.min),
        (lookup_binary, max, binary.max),
        (lookup_binary, monoid.min, binary.min),
        (lookup_binary, "oneb", binary.pair),
        (lookup_indexunary, "rowindex", indexunary.rowindex),
        (lookup_select, ">", select.valuegt),
        (lookup_select, "tril", select.tril),
        (lookup_select, indexunary.tril, indexunary.tril),
        (lookup_monoid, sum, monoid.plus),
        (lookup_monoid, binary.times, monoid.times),
        (lookup_monoid, any, monoid.lor),
        (lookup_monoid, np.add, monoid.plus),
        (lookup_semiring, "min.+", semiring.min_plus),
        (lookup_semiring, "min_plus", semiring.min_plus),
        (lookup_semiring, "plus.shl", semiring.plus_shl),
        (lookup_agg, "mean", agg.mean),
    ],
)
def test_lookup(find, obj, expected) -> None:
    assert find(obj) is expected


@pytest.mark.parametrize(
    ("find", "text", "expr"),
    [
        (lookup_unary, "x + 1", "x + 1"),
        (lookup_binary, "abs(x - y)", "abs(x - y)"),
        (lookup_indexunary, "i == j", "i == j"),
        (lookup_select, "> 2", "x > 2"),
        (lookup_select, "0 < x <= 2", "land(0 < x, x <= 2)"),
    ],
)
def test_expressions_are_operators(find, text: str, expr: str) -> None:
    assert find(text).expr.text == expr


@pytest.mark.parametrize(
    "module", [agg, unary, binary, indexunary, select, monoid, semiring, op, sr.ops, sr.algorithms, sr.io, sr.random]
)
def test_completion_offers_what_there_is(module) -> None:
    offered = dir(module)
    assert not {"annotations", "np", "Any", "table", "ALL", "BOOL"} & set(offered)
    assert not [name for name in offered if name.startswith("_") or not hasattr(module, name)]


@pytest.mark.parametrize(
    ("obj", "words"),
    [
        (binary.plus, "x + y, commutative, associative. Types: bool, int8"),
        (binary.eq, "complex128 to bool"),
        (unary.sqrt, "sqrt(x). Types: float32, float64"),
        (monoid.min, "identity highest of the type, terminal lowest of the type"),
        (monoid.any, "either operand"),
        (monoid.times, "terminal by type"),
        (semiring.min_plus, "products x + y, reduced by min(x, y)"),
        (semiring.band_plus, "int8, int16, int32, int64, uint8, uint16, uint32, uint64."),
        (agg.mean, "plus of x * 1.0, plus of 1; then truediv(x, y)"),
        (agg.argmin, "the position of the min entry"),
    ],
)
def test_help(obj, words: str) -> None:
    assert words in obj.doc
    assert words in pydoc.plain(pydoc.render_doc(obj))
    assert "\n" not in obj.doc
    assert type(obj).__doc__ != obj.__doc__


def test_typed_names() -> None:
    assert lookup_semiring("plus_times[float]") == semiring.plus_times[float]
    assert lookup_binary("plus[int32]") == binary.plus["INT32"]
    assert lookup_monoid(binary.plus[int]) == monoid.plus[int]
    assert op.plus is binary.plus
    assert op.min_plus is semiring.min_plus
    assert op.any is binary.any


@pytest.mark.parametrize(
    ("find", "obj", "words"),
    [
        (lookup_binary, "pluss", "did you mean 'plus'"),
        (lookup_semiring, "min_pluss", "did you mean 'min_plus'"),
        (lookup_binary, "sqrt", "exists as unary.sqrt"),
        (lookup_monoid, binary.minus, "not known to be a monoid"),
        (lookup_monoid, lambda x, y: x, "identity"),
        (lookup_unary, binary.plus, "expected a unary operator, got binary.plus"),
        (lookup_binary, 3, "expected a binary operator"),
        (lookup_binary, "plus[int32", "written 'plus"),
        (lookup_agg, "men", "did you mean"),
        (lookup_unary, "x + q", "unknown name 'q'"),
        (lookup_unary, "foo.bar", "no unary operator is called"),
        (lookup_binary, "min.+", "no binary operator is called"),
        (lookup_unary, "3", "no unary operator is called"),
    ],
)
def test_unknown(find, obj, words: str) -> None:
    with pytest.raises(UnknownOperator, match=words):
        find(obj)


def test_unknown_attribute() -> None:
    assert not hasattr(binary, "pluss")
    assert not hasattr(semiring, "min_pluss")
    with pytest.raises(AttributeError, match="did you mean 'sqrt'"):
        _ = unary.sqrtt


def test_types_are_chosen() -> None:
    assert binary.plus.typed("int32", "float32").z == np.float64
    assert binary.first.typed("int64", "float32").z == np.int64
    assert binary.second.typed("int64", "float32").z == np.float32
    assert binary.firsti.typed("int32").z == np.int64
    assert binary.firsti["int32"].z == np.int32
    assert unary.sqrt.typed("int32") == unary.sqrt["float64"]
    assert unary.sqrt.typed("int8") == unary.sqrt["float32"]
    assert binary.truediv.typed("int8").z == np.float64
    assert monoid.plus.typed(bool).dtype == np.int64
    assert monoid.lor.typed(float).dtype == np.bool_
    assert semiring.plus_times.typed(bool, bool).z == np.int64
    assert semiring.lor_land.typed("int8", "int8").z == np.bool_
    assert semiring.min_first.typed("int64", "float32").z == np.int64
    assert indexunary.rowindex.typed(float) == indexunary.rowindex["int64"]
    assert select.valuegt.typed("int64", float).x == np.float64
    with pytest.raises(DomainMismatch, match=r"binary.band.*float64.*it supports bool, int8"):
        binary.band.typed(float)
    assert binary.plus.typed("float32", "complex64").z == binary.plus.typed("complex64").z == np.complex64
    assert unary.abs["complex64"].z == unary.arg["complex64"].z == np.float32
    assert binary.cmplx["float64"].z == np.complex128
    for family in (binary.min, binary.lt, binary.land, binary.mod, unary.lnot, monoid.max, semiring.min_plus):
        with pytest.raises(DomainMismatch, match="not defined on complex"):
            family.typed(complex)


def test_uses_and_laws() -> None:
    assert binary.pair[int].uses == frozenset()
    assert binary.first[int].uses == {"x"}
    assert semiring.any_secondi[int].uses == {"yi"}
    assert binary.min.selective
    assert binary.min.idempotent
    assert not binary.minus.commutative
    assert binary.min[int].laws == {"commutative", "associative", "idempotent", "selective"}
    assert monoid.min["int8"].identity == 127
    assert monoid.min[float].terminal == -np.inf
    assert monoid.times["int8"].terminal == 0
    assert monoid.times[float].terminal is None
    assert monoid.band["uint8"].identity == 255
    assert monoid.any[int].is_any


def test_calls_go_to_the_operand() -> None:
    class Taker:
        def _with_operator(self, *args: object) -> tuple[object, ...]:
            return args

    assert semiring.min_plus(Taker()) == (semiring.min_plus,)
    assert select.tril(Taker(), -1) == (select.tril, -1)
    assert unary.sqrt[float](Taker()) == (unary.sqrt[float],)
    assert select.value(Taker()) == (select.value,)
    assert select.value.operator("gt").expr.text == "x > k"
    with pytest.raises(InvalidValue, match="got int"):
        semiring.min_plus(3)


@pytest.mark.parametrize("obj", [binary.plus, semiring.min_plus, monoid.any, unary.positioni, agg.mean, select.tril])
def test_built_in_families_pickle_to_themselves(obj) -> None:
    assert pickle.loads(pickle.dumps(obj)) is obj


@pytest.mark.parametrize("obj", [binary.plus[int], semiring.min_plus["int8"], monoid.min[float]])
def test_typed_operators_pickle_and_hash(obj) -> None:
    again = pickle.loads(pickle.dumps(obj))
    assert again == obj
    assert hash(again) == hash(obj)
    assert again.key == obj.key


@pytest.mark.parametrize("dtype", dtypes.REALS)
def test_aggregators_have_plans(dtype: np.dtype) -> None:
    assert agg.mean.typed(dtype).dtype.kind == "f"
    assert agg.count.typed(dtype).dtype == np.int64
    assert agg.sum.typed(dtype).dtype == dtypes.widest(dtype)
    for plan in (agg.stds.typed(dtype), agg.L2norm.typed(dtype), agg.peak_to_peak.typed(dtype)):
        for init, collect in plan.parts:
            assert init.z == collect.dtype


@pytest.mark.parametrize(("name", "reference"), [("logaddexp", np.logaddexp), ("logaddexp2", np.logaddexp2)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_logarithms_of_sums(name: str, reference: np.ufunc, dtype: type) -> None:
    ((init, collect),) = lookup_agg(name).typed(dtype).parts
    assert init.z == collect.dtype == dtype
    x, y = (a.ravel().astype(dtype) for a in np.meshgrid(*[[-np.inf, -800.0, -1.0, 0.0, 1.5, 800.0, np.inf]] * 2))
    made = evaluate(collect.op.expr, {"x": x, "y": y}, dtype)
    np.testing.assert_allclose(made, reference(x, y), rtol=1e-6)
    np.testing.assert_array_equal(evaluate(collect.op.expr, {"x": x, "y": np.full_like(x, collect.identity)}, dtype), x)


def test_import_loads_numpy_only() -> None:
    code = (
        "import sys, semiring.operators;"
        "print([m for m in ('numba', 'cupy', 'scipy', 'networkx', 'matplotlib') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
