"""Registered operators: paths, parsing at the first use, parameters, and what is made of them."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from semiring import Matrix, Vector, agg, binary, indexunary, monoid, op, select, semiring, unary
from semiring.exceptions import (
    InvalidOperator,
    InvalidType,
    InvalidValue,
    NameTaken,
    NotAMonoid,
    NotSupported,
    UdfParseError,
    UnknownOperator,
)


def shifted(x: int = 0) -> Any:
    def inner(left: Any, right: Any) -> Any:
        return left + right + x

    return inner


def its_identity(x: int = 0) -> int:
    return -x


def no_identity(x: int = 0) -> int:
    raise RuntimeError("no identity")


def spread(high: Vector, low: Vector, options: dict[str, Any]) -> Vector:
    return high.ewise_mult(low, "minus")


def test_names_with_dots_are_paths() -> None:
    one = unary.register_new("steps_test.one", lambda x: x + 1)
    assert unary.steps_test.one is one
    assert op.steps_test.one is one
    assert unary.from_string("steps_test.one[int64]").parent is one
    assert Vector.from_dense([1, 2]).apply("steps_test.one").to_dict() == {0: 2, 1: 3}
    assert dir(unary.steps_test) == ["one"]
    assert "steps_test" in dir(unary)
    assert unary.register_new("numpy.half_test", lambda x: x / 2) is unary.numpy.half_test
    assert "half_test" in dir(unary.numpy)
    for taken in (
        "steps_test",
        "steps_test.one",
        "identity.new",
        "steps_test.one.more",
        "numpy",
        "numpy.sin",
        "math.x",
    ):
        with pytest.raises(NameTaken, match="choose another name"):
            unary.register_new(taken, lambda x: x)
    with pytest.raises(UnknownOperator, match=r"steps_test\.two"):
        _ = unary.steps_test.two
    with pytest.raises(InvalidValue, match="expected a name"):
        unary.register_new("steps_test.", lambda x: x)


def test_a_lazy_operator_is_made_at_its_first_use() -> None:
    assert unary.register_new("later_test", lambda x: x + 1, lazy=True) is None
    assert "later_test" in dir(unary)
    assert unary.later_test.expr.text == "x + 1"
    binary.register_new("later_plus_test", lambda x, y: x + y, lazy=True)
    monoid.register_new("later_plus_test", "later_plus_test", 0, lazy=True)
    semiring.register_new("later_ring_test", "later_plus_test", "later_plus_test", lazy=True)
    assert semiring.later_ring_test.add is monoid.later_plus_test
    assert op.later_ring_test is semiring.later_ring_test
    unary.register_new("wrong_test", lambda x: missing(x), lazy=True)  # type: ignore[name-defined]  # noqa: F821
    with pytest.raises(UdfParseError):
        _ = unary.wrong_test
    assert not hasattr(unary, "wrong_test")


def test_a_select_operator_is_an_index_unary_operator() -> None:
    made = select.register_new("near_column_test", lambda x, i, j, k: abs(i - j) <= k)
    assert indexunary.near_column_test is made
    A = Matrix.from_coo([0, 0], [0, 2], [5, 6], shape=(1, 3))
    assert A.apply("near_column_test", 1).to_dicts() == {0: {0: True, 2: False}}
    select.register_new("rowindex", lambda x, i: i > 0)
    assert indexunary.rowindex.builtin


def test_registered_operators_can_be_deleted() -> None:
    unary.register_new("gone_test", lambda x: x)
    unary.register_new("gone_later_test", lambda x: x, lazy=True)
    del unary.gone_test, unary.gone_later_test
    assert not hasattr(unary, "gone_test")
    assert "gone_later_test" not in dir(unary)
    with pytest.raises(AttributeError):
        del unary.no_such_test


def test_the_function_of_an_operator() -> None:
    function = lambda x: x + 1  # noqa: E731
    made = unary.register_anonymous(function)
    assert made.orig_func is function
    assert made["int8"].orig_func is function
    assert unary.abs.orig_func is None
    assert unary.register_anonymous("x + 1").orig_func is None
    assert pickle.loads(pickle.dumps(made)).expr == made.expr
    with pytest.raises(InvalidType):
        unary.register_anonymous(object())  # type: ignore[arg-type]


def test_functions_of_numpy_in_operators() -> None:
    assert binary.register_anonymous(lambda x, y: np.add(x, np.multiply(y, np.subtract(x, 1)))).expr.text == (
        "x + y * (x - 1)"
    )
    assert binary.register_anonymous(lambda x, y: np.less_equal(x, y)).expr.text == "x <= y"
    assert binary.register_anonymous("multiply(x + y, equal(x, y))").expr.text == "(x + y) * (x == y)"


def test_a_monoid_is_found_from_its_operator() -> None:
    plus = binary.register_anonymous(lambda x, y: x + y, "plus")
    v = Vector.from_dense([1, 2])
    assert plus.monoid is None
    assert plus["int64"].monoid is None
    with pytest.raises(NotAMonoid) as caught:
        v.reduce(plus)
    assert isinstance(caught.value, (NotSupported, TypeError))
    total = monoid.register_anonymous(plus, 0)
    assert plus.monoid is total
    assert plus["int64"].monoid is total["int64"]
    assert v.reduce(plus) == 3
    assert pickle.loads(pickle.dumps(plus)).expr == plus.expr
    assert binary.gcd["int8"].monoid is None
    for wrong in ((plus, plus), (total, total), (plus, total)):
        with pytest.raises(InvalidOperator, match="made of a monoid and a binary operator"):
            semiring.register_anonymous(*wrong)  # type: ignore[arg-type]


def test_an_identity_that_wraps() -> None:
    more = monoid.register_anonymous(lambda x, y: x + y + 1, -1)
    assert more["uint8"].identity == 255
    assert more["int8"].identity == -1
    assert Vector.from_dense(np.uint8([1, 2])).reduce(more) == 4
    assert np.dtype("uint8") not in monoid.register_anonymous("max(x, y)", -1).types


def test_a_semiring_of_either_kind() -> None:
    assert semiring.get_semiring(monoid.plus, monoid.times) is semiring.plus_times
    assert semiring.get_semiring(binary.plus, binary.times) is semiring.plus_times
    for wrong in ((binary.plus, monoid.times), (None, binary.times), (binary.minus, binary.times)):
        with pytest.raises(InvalidOperator):
            semiring.get_semiring(*wrong)


def test_parameters_pass_to_the_monoid() -> None:
    added: Any = binary.register_anonymous(shifted, parameterized=True)
    assert added.name == added(1).name == "shifted"
    assert added.orig_func is shifted
    before = added(1)
    total: Any = monoid.register_anonymous(added, its_identity, name="total")
    assert added.monoid is total
    assert added(1).monoid is total(1)
    assert total(2) is added(2).monoid
    assert before.monoid is None
    assert Vector.from_dense([1, 2]).reduce(added(1)) == 4
    broken: Any = binary.register_anonymous(shifted, parameterized=True)
    declared: Any = monoid.register_anonymous(broken, no_identity, is_idempotent=True)
    assert declared.is_idempotent
    assert broken(1).monoid is None


def test_operators_with_parameters_are_pickled() -> None:
    added: Any = binary.register_anonymous(shifted, parameterized=True)
    total: Any = monoid.register_anonymous(added, its_identity)
    ring = semiring.register_anonymous(total, added)
    again = pickle.loads(pickle.dumps({"added": added, "total": total, "ring": ring, "one": added(1)}))
    v = Vector.from_dense([1, 2])
    assert v.reduce(again["total"](1)) == 4
    assert again["added"].monoid is again["total"]
    assert v.ewise_mult(v, again["one"]).to_dict() == {0: 3, 1: 5}
    assert v.inner(v, again["ring"](1)) == v.inner(v, ring(1))


@pytest.mark.costly
def test_tolerances_are_parameters_of_isclose() -> None:
    v, w = Vector.from_dense([1.0, 100.0]), Vector.from_dense([1.05, 100.5])
    assert v.ewise_mult(w, binary.isclose).to_dict() == {0: False, 1: False}
    assert v.ewise_mult(w, binary.isclose(0.01)).to_dict() == {0: False, 1: True}
    assert binary.isclose(abs_tol=0.1)(v & w).to_dict() == {0: True, 1: False}
    assert binary.isclose(v, 1.0).to_dict() == {0: True, 1: False}
    assert binary.isclose(0.01, 0) is binary.isclose(rel_tol=0.01)
    assert binary.isclose(0.1).commutes_to is binary.isclose(0.1)
    assert pickle.loads(pickle.dumps(binary.isclose)) is binary.isclose
    assert pickle.loads(pickle.dumps(binary.isclose(0.1))).expr == binary.isclose(0.1).expr
    with pytest.raises(InvalidValue, match="tolerances"):
        binary.isclose(-1.0)


@pytest.mark.costly
def test_aggregators_of_aggregators() -> None:
    wide = agg.Aggregator("spread_test", composite=[agg.max, agg.min], finalize=spread, types=[agg.max])
    A = Matrix.from_coo([0, 0, 2], [0, 1, 1], [1, 2, 5], shape=(3, 2))
    assert A.reduce_rowwise(wide).to_dict() == {0: 1, 2: 0}
    assert wide(A, columnwise=True).to_dict() == {0: 0, 1: 3}
    assert A.reduce_scalar(wide) == 4
    assert A.reduce_scalar(wide["int64"]) == 4
    empty = Vector(int, 3).reduce(wide)
    assert empty.is_empty
    assert empty.dtype == np.int64
    assert "int64" in wide
    assert A.reduce_scalar(pickle.loads(pickle.dumps(wide))) == 4
    assert A.reduce_scalar(agg.Aggregator("greatest", monoid="max")) == 5
    none = agg.Aggregator("none", monoid=monoid.max, finalize=lambda high, options: high.ewise_mult(high, "minus"))
    assert A.reduce_scalar(none) == 0
    for wrong in ({"composite": [agg.max]}, {"composite": ["max"], "finalize": spread}, {"finalize": spread}):
        with pytest.raises(InvalidOperator, match="composite="):
            agg.Aggregator("wrong", **wrong)  # type: ignore[arg-type]
    bad = agg.Aggregator("bad", composite=[agg.max], finalize=lambda high, options: 3)
    with pytest.raises(InvalidType, match="must return a Vector"):
        A.reduce_rowwise(bad)


def test_a_name_that_is_registered_again_means_the_new_operator() -> None:
    """Typed operators are found by name without another look-up, until a name changes."""
    v = Vector.from_dense([5, 7])
    for expression, expected in (("x - y", {0: 0, 1: 0}), ("x + 2 * y", {0: 15, 1: 21})):
        binary.register_new("registered_again", expression)
        assert [v.ewise_mult(v, "registered_again").to_dict() for _ in range(2)] == [expected, expected]
    del binary.registered_again
    with pytest.raises(UnknownOperator):
        v.ewise_mult(v, "registered_again")
