"""What operators are related to: monoids, mirror images, types, and NumPy's names."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from semiring import Matrix, Vector, agg, binary, indexunary, monoid, op, select, semiring, unary
from semiring.exceptions import UnknownOperator
from semiring.operators import table
from semiring.operators.binary import BITS


def test_binary_operators_and_their_monoids() -> None:
    for name in table.names("binary"):
        family = getattr(binary, name)
        found = family.monoid
        assert (found is None) == (table.find("monoid", name) is None)
        assert found is None or found.binaryop is family
    assert binary.plus[int].monoid is monoid.plus[int]
    assert (binary.plus[bool].monoid, binary.minus[int].monoid) == (None, None)
    assert monoid.plus.identities == dict.fromkeys(monoid.plus.types, 0)
    assert monoid.band.identities[np.dtype(bool)] is True
    assert set(monoid.bor.types) == set(BITS)


@pytest.mark.parametrize("name", table.names("binary"))
def test_a_mirror_image_is_mutual(name: str) -> None:
    family = getattr(binary, name)
    other = family.commutes_to
    if other is not None:
        assert other.commutes_to is family
        assert family.is_commutative == (other is family)
        assert all(family[dtype].commutes_to is other[dtype] for dtype in family.types)


@pytest.mark.costly
@pytest.mark.parametrize("name", ["plus_times", "min_first", "any_secondi", "plus_minus", "max_pow", "any_firstj1"])
def test_a_mirrored_semiring_is_that_of_the_transposed_product(name: str) -> None:
    A = Matrix.from_dense(np.arange(1, 7).reshape(2, 3))
    B = Matrix.from_dense(np.arange(2, 8).reshape(3, 2) % 3 + 1)
    family = getattr(semiring, name)
    mirrored = B.T.mxm(A.T, family.commutes_to).T
    if "any" in name:  # any of the products: the values are those of one
        assert mirrored.nvals == A.mxm(B, family).nvals
    else:
        assert mirrored.isequal(A.mxm(B, family))


def test_semirings_have_parts() -> None:
    family = semiring.min_plus
    assert (family.monoid, family.binaryop) == (monoid.min, binary.plus)
    assert (family[int].monoid, family[int].binaryop) == (monoid.min[int], binary.plus[int])
    assert family[int].parent is family
    assert semiring.plus_times.is_commutative
    assert semiring.any_firsti.commutes_to is semiring.any_secondj
    assert binary.atan2.commutes_to is None


def test_attributes_for_positions_and_types() -> None:
    for operator in (unary.positioni, binary.firsti, binary.secondj1[int], semiring.any_firsti, indexunary.rowindex):
        assert operator.is_positional
    for operator in (unary.exp, unary.abs[bool], binary.plus, monoid.plus[int], semiring.any_first, indexunary.valueeq):
        assert not operator.is_positional
    assert (binary.eq[int].type, binary.eq[int].type2, binary.eq[int].return_type) == (np.int64, np.int64, np.bool_)
    assert ("int64" in binary.bor, float in binary.bor, (int, float) in binary.plus) == (True, False, True)
    assert monoid.min.is_idempotent
    assert monoid.max[int].is_idempotent
    assert not monoid.plus.is_idempotent


@pytest.mark.parametrize(
    "operator", [binary.plus[int], unary.abs["int8"], select.tril[bool], semiring.min_plus[float], monoid.min["uint8"]]
)
def test_typed_operators_pickle_to_themselves(operator: Any) -> None:
    assert pickle.loads(pickle.dumps(operator)) is operator


def test_numpy_functions_by_name() -> None:
    assert unary.numpy.arcsin is unary.asin
    assert binary.numpy.add is binary.plus
    assert binary.numpy.mod is binary.numpy.remainder is binary.mod
    assert monoid.numpy.maximum is monoid.max
    assert semiring.numpy.add_multiply is semiring.plus_times
    assert (op.numpy.sin, op.numpy.subtract) == (unary.sin, binary.minus)
    assert {"sin", "sqrt"} < set(dir(unary.numpy))
    assert "minimum_add" in dir(semiring.numpy)
    with pytest.raises(UnknownOperator, match="no_such"):
        _ = unary.numpy.no_such
    for names in (unary.numpy, binary.numpy, monoid.numpy):
        assert all(getattr(names, name) is not None for name in dir(names))


def test_operators_by_text() -> None:
    assert binary.from_string("true_divide") is binary.truediv
    assert select.from_string("row<=") is select.rowle
    assert op.from_string("-") is unary.ainv
    assert op.from_string("+") is binary.plus
    assert op.from_string("min.plus") is semiring.min_plus
    assert op.from_string("count") is agg.count
    for text in ("min.plus.times", "plus[int][float]", "bad"):
        with pytest.raises(UnknownOperator):
            op.from_string(text)


@pytest.mark.costly
def test_operators_with_parameters() -> None:
    def plus_all(x: int = 0) -> Any:
        def inner(left: Any, right: Any) -> Any:
            return left + right + x

        return inner

    v = Vector.from_coo([0, 2], [1, 2], size=3)
    added = binary.register_anonymous(plus_all, parameterized=True)
    assert v.ewise_mult(v, added).to_dict() == {0: 2, 2: 4}
    assert v.ewise_mult(v, added(1)).to_dict() == {0: 3, 2: 5}
    assert added(x=1) is added(1)
    total = monoid.register_anonymous(added, lambda x=0: -x, name="total")
    assert (v.reduce(total), v.reduce(total(1))) == (3, 4)
    A = Matrix.from_coo([0, 0, 1, 1], [0, 1, 0, 1], [1, 2, 3, 4])
    x = Vector.from_dense([10, 20])
    both = semiring.register_anonymous(total, added, name="both")
    assert A.mxv(x, both).isequal(A.mxv(x, semiring.plus_plus))
    assert A.mxv(x, both(1)).to_dict() == {0: 36, 1: 40}
    assert A.mxv(x, semiring.register_anonymous(total, binary.plus)).to_dict() == {0: 33, 1: 37}
    for bad in (
        lambda: binary.register_anonymous("x + y", parameterized=True),
        lambda: monoid.register_anonymous(added, lambda y: -y),
        lambda: monoid.register_anonymous(binary.plus, lambda: 0),
        lambda: monoid.register_anonymous(total, 0),
    ):
        with pytest.raises(ValueError, match=r"operator|parameters|function"):
            bad()


def test_a_declared_law_is_an_attribute() -> None:
    greatest = monoid.register_anonymous("max(x, y)", 0, name="greatest", is_idempotent=True)
    assert greatest.is_idempotent
    assert not monoid.register_anonymous("max(x, y)", 0).is_idempotent
