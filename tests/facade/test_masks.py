"""Masks joined by & and |, masks in brackets, and `update` of a masked target."""

from __future__ import annotations

import operator
from itertools import product
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring.exceptions import DimensionMismatch, InvalidMask, InvalidValue

PARTS = list(product("SV", (False, True)))
N = 12


def made(form: str, seed: int, kind: str = "") -> Any:
    """An object of integers with zeros among them."""
    rng = np.random.default_rng(seed)
    shape = (N,) if form == "vector" else (N, N)
    values, missing = rng.integers(0, 3, shape), rng.random(shape) < 0.5
    values[missing] = -1
    cls = sr.Vector if form == "vector" else sr.Matrix
    x: Any = cls.from_dense(values, missing_value=-1)
    if kind:
        x = x.convert(kind) if form == "vector" else x.compress()
    return x


def admits(x: Any, part: str, complement: bool) -> Any:
    dense = x.to_numpy(-1)
    return ((dense > 0) if part == "V" else (dense >= 0)) != complement


def view(x: Any, part: str, complement: bool) -> Any:
    found = getattr(x, part)
    return ~found if complement else found


def positions(mask: Any, form: str) -> Any:
    """The positions that a mask admits, by a write."""
    target: Any = sr.Vector(bool, N) if form == "vector" else sr.Matrix(bool, N, N)
    target(mask) << True
    return target.to_numpy(False)


@pytest.mark.parametrize(("form", "kind"), [("vector", "bitmap"), ("vector", "index"), ("matrix", ""), ("matrix", "c")])
def test_joined_masks(form: str, kind: str) -> None:
    x, y = made(form, 1, kind), made(form, 2)
    for left, right in product(PARTS, PARTS):
        for join in (operator.and_, operator.or_):
            expected = join(admits(x, *left), admits(y, *right))
            assert (positions(join(view(x, *left), view(y, *right)), form) == expected).all(), (left, right, join)
    three = positions(~(x.S & y.V) | (x.V & ~y.S), form)
    assert (
        three == (~(admits(x, "S", False) & admits(y, "V", False)) | (admits(x, "V", False) & ~admits(y, "S", False)))
    ).all()


def test_a_boolean_object_joins_as_its_values() -> None:
    x, flags = made("vector", 1), made("vector", 2).apply("identity") > 0
    expected = admits(x, "S", False) & (flags.to_numpy(False))
    assert (positions(x.S & flags, "vector") == expected).all()
    assert (positions(flags & x.S, "vector") == expected).all()


def test_masks_that_do_not_join() -> None:
    x = made("vector", 1)
    with pytest.raises(DimensionMismatch):
        x.S & made("matrix", 1).S
    with pytest.raises(InvalidMask):
        x.S | x
    with pytest.raises(InvalidMask):
        x.S & 3


@pytest.mark.parametrize("form", ["vector", "matrix"])
def test_a_mask_in_brackets(form: str) -> None:
    x, m = made(form, 1), made(form, 2)
    assert x[m.S].isequal(x.dup(mask=m.S))
    assert x[~m.V].isequal(x.dup(mask=~m.V))
    assert x.select(m.S).isequal(x.dup(mask=m.S))
    assert x.select(m.S, mask=~m.V).isequal(x.dup(mask=m.S & ~m.V))
    for value in (7, m, x + m):
        one, two, three, four = (x.dup() for _ in range(4))
        one[m.V] = value
        two[m.V] << value
        three(m.V) << value
        four(m.V).update(value)
        assert one.isequal(three)
        assert two.isequal(three)
        assert four.isequal(three)
    one, two = x.dup(), x.dup()
    one[m.S]("plus") << 3
    two(m.S, "plus") << 3
    assert one.isequal(two)
    one, two = x.dup(), x.dup()
    one[m.S] += 3
    two(m.S) << two + 3
    assert one.isequal(two)
    del one[m.S]
    assert one.isequal(x.dup(mask=~m.S))
    with pytest.raises(InvalidMask, match="two masks"):
        one[m.S](m.V) << 3
    with pytest.raises(InvalidValue, match="part"):
        x[m.S].clear()


def test_update_of_a_region() -> None:
    v = made("vector", 1)
    w, m = v.dup(), made("vector", 2)
    v[2:6](accum="plus").update(5)
    w[2:6](accum="plus") << 5
    assert v.isequal(w)
    v(m.S)[2:6].update(9)
    w(m.S)[2:6] << 9
    assert v.isequal(w)
